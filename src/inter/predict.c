/* predict.c -- run times of jobs put together, from what other runs taught, and their range.
 *
 * A job reaches the server in flows: one for each node, for each process, or one, as the rule of
 * sharing says. It is done when its last flow is. What a flow gets varies between runs (a server
 * does not split evenly among connections), so the run time is the median over draws of the flows'
 * weights, w = q^b e^(sd z): q processes are behind the flow, z is a standard normal. The exponent
 * b and sd are those of the overlaps that were seen, without the group that is predicted; where
 * there are too few, both are 0 and the schedule is that of stat/share.h.
 *
 * The range is the prediction times the ratios observed / predicted of the other groups, which are
 * predicted in the same way: split-conformal prediction (Vovk and others, 2005), which holds the
 * part it promises if runs are exchangeable, whatever the model.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "learn_priv.h"
#include "stat/sample.h"

enum {
    DRAWS = 256,     /* in pairs of opposite signs */
    MOST_FLOWS = 32, /* of all jobs; beyond that a job is one flow that varies less */
    LEAST_PAIRS = 3, /* overlaps, to tell how much splits vary */
};

/* Before any pair is seen: the number of processes behind a flow does not matter, to within this
 * exponent (docs/models/interference.md). */
static const double prior_exponent_sd = 0.2;

/* The ratio observed / predicted of the measured pairs on NFS has these 10 % and 90 % quantiles
 * (its log); for servers of which too few pairs were seen. docs/models/interference.md. */
static const double prior_log_low = -0.13, prior_log_high = 0.28;

/* ---- how flows are weighed ---- */

struct flows {
    enum inter_rule rule;
    double exponent, sd;
};

static struct flows predict_flows(const struct inter_lesson *l, struct inter_how how,
                                  const struct inter_group *but)
{
    struct flows f = {.rule = how.rule};
    struct inter_pairs sum = {0};
    size_t n = 0;

    for (size_t i = 0; i < l->groups.n; i++) {
        const struct inter_group *g = &l->groups.v[i];
        const struct inter_pairs *p = &g->pairs[how.rule];

        if (!g->overlaps || (but && learn_same_run(g, but)))
            continue;
        n++;
        sum.xx += p->xx;
        sum.xy += p->xy;
        sum.yy += p->yy;
        sum.var += p->var;
    }
    if (n < LEAST_PAIRS)
        return f;
    if (how.fitted && sum.xx > 0) {
        double noise = sum.yy / sum.var * 2; /* of one pair of flows */

        f.exponent = sum.xy / (sum.xx + noise / (prior_exponent_sd * prior_exponent_sd));
    }
    double rest = sum.yy - 2 * f.exponent * sum.xy + f.exponent * f.exponent * sum.xx;

    f.sd = sqrt(fmax(rest, 0) / sum.var);
    return f;
}

static double predict_count(const struct inter_ask *a, enum inter_rule rule)
{
    return rule == INTER_RULE_NODES       ? (double)a->nodes
           : rule == INTER_RULE_PROCESSES ? (double)a->processes
                                          : 1;
}

/* ---- one set of jobs ---- */

/* Jobs to predict, divided into flows. */
struct plan {
    const struct inter_ask *ask;
    size_t njobs, nflows;
    double capacity[INTER_MOST_ACTIVE];
    size_t ncapacity;
    struct stat_share_job *flow;
    size_t *of;              /* flow -> job */
    double *weight, *sd;     /* of each flow */
    double *alone_s, *count; /* of each job */
};

static double predict_cap(const struct inter_lesson *l, const struct inter_ask *a, double capacity)
{
    const struct inter_alike *k = inter_find_alike(l, a->mode, a->processes, a->nodes);

    return k ? k->cap_bps : capacity;
}

/* A flow of a job that can fill the server can, too; one of a job that cannot has its part. */
static void plan_job(struct plan *p, const struct inter_lesson *l, size_t job, size_t flows,
                     const struct flows *f)
{
    const struct inter_ask *a = &p->ask[job];
    double count = predict_count(a, f->rule), each = count / (double)flows;
    double cap = predict_cap(l, a, p->capacity[0]), n = (double)flows;

    p->count[job] = count * pow((double)a->processes / count, f->exponent);
    p->alone_s[job] = a->volume_b / fmin(cap, p->capacity[0]);
    for (size_t i = 0; i < flows; i++, p->nflows++) {
        p->of[p->nflows] = job;
        p->weight[p->nflows] = p->count[job] / n;
        p->sd[p->nflows] = f->sd / sqrt(each);
        p->flow[p->nflows] =
            (struct stat_share_job){.volume = a->volume_b / n,
                                    .start = a->start_s,
                                    .weight = p->weight[p->nflows],
                                    .cap = cap < INTER_FILLS * p->capacity[0] ? cap / n : cap};
    }
}

static void plan_open(struct plan *ret, const struct inter_lesson *l, const struct inter_carried *c,
                      const struct inter_ask *ask, size_t n, const struct flows *f,
                      const struct inter_group *but)
{
    struct plan p = {.ask = ask, .njobs = n, .ncapacity = c->n};
    double all = 0;

    for (size_t i = 0; i < n; i++)
        all += predict_count(&ask[i], f->rule);
    /* A capacity by number of active jobs is not one by number of flows. */
    bool whole = !(f->sd > 0) || all > MOST_FLOWS || c->n > 1;
    size_t most = whole ? n : (size_t)all;

    learn_capacity(p.capacity, l, c, but);
    p.flow = wr_zalloc(most, sizeof *p.flow);
    p.of = wr_zalloc(most, sizeof *p.of);
    p.weight = wr_zalloc(most, sizeof *p.weight);
    p.sd = wr_zalloc(most, sizeof *p.sd);
    p.alone_s = wr_zalloc(n, sizeof *p.alone_s);
    p.count = wr_zalloc(n, sizeof *p.count);
    for (size_t i = 0; i < n; i++)
        plan_job(&p, l, i, whole ? 1 : (size_t)predict_count(&ask[i], f->rule), f);
    *ret = p;
}

static void plan_close(struct plan *p)
{
    free(p->flow);
    free(p->of);
    free(p->weight);
    free(p->sd);
    free(p->alone_s);
    free(p->count);
}

/* Run times with the weights as they are: a job ends with its last flow. */
static void plan_solve(const struct plan *p, double *runtime)
{
    struct stat_share_capacity capacity = {p->capacity, p->ncapacity};
    struct stat_share s;

    stat_share_solve(&s, p->flow, p->nflows, &capacity);
    memset(runtime, 0, p->njobs * sizeof *runtime);
    for (size_t i = 0; i < p->nflows; i++)
        runtime[p->of[i]] = fmax(runtime[p->of[i]], s.runtime[i]);
    stat_share_fini(&s);
}

/* The medians over draws; a draw and its opposite come in turns, so that equal jobs are told equal
 * times. */
static void plan_draw(struct plan *p, double sd, double *median)
{
    size_t draws = sd > 0 ? DRAWS : 1;
    double *runtime = wr_zalloc(p->njobs, sizeof *runtime);
    double *all = wr_zalloc(p->njobs * draws, sizeof *all);
    double *z = wr_zalloc(p->nflows, sizeof *z);
    struct wr_rng g;

    wr_rng_init(&g, 1, 0, 0x73706c69); /* the same draws for every prediction */
    for (size_t d = 0; d < draws; d++) {
        for (size_t i = 0; i < p->nflows; i++) {
            z[i] = d % 2 ? -z[i] : sd > 0 ? wr_rng_normal(&g) : 0;
            p->flow[i].weight = p->weight[i] * exp(p->sd[i] * z[i]);
        }
        plan_solve(p, runtime);
        for (size_t j = 0; j < p->njobs; j++)
            all[j * draws + d] = runtime[j];
    }
    for (size_t j = 0; j < p->njobs; j++) {
        stat_sort(all + j * draws, draws);
        median[j] = stat_quantile(all + j * draws, draws, 0.5);
    }
    free(runtime);
    free(all);
    free(z);
}

/* Jobs of several modes: the one of which the server carries least. */
static const struct inter_carried *predict_server(const struct inter_lesson *l,
                                                  const struct inter_ask *ask, size_t n,
                                                  struct wr_err *err)
{
    const struct inter_carried *least = NULL;
    bool modes = false;

    for (size_t i = 0; i < n; i++)
        modes |= !learn_any_mode(ask[i].mode, ask[i].processes);
    for (size_t i = 0; i < n; i++) {
        const struct inter_carried *c = inter_find_carried(l, ask[i].mode);

        if (learn_any_mode(ask[i].mode, ask[i].processes) && modes)
            continue; /* the others decide */
        if (!c && learn_any_mode(ask[i].mode, ask[i].processes))
            c = l->carried.v;
        if (!c) {
            wr_fail(err, WR_INPUT,
                    "no run alone has the mode \"%s\", so what the server carries then is not "
                    "known; add one with --from",
                    *ask[i].mode ? wr_text_clip(ask[i].mode).s : "unknown");
            return NULL;
        }
        if (!least || c->by_active[0] < least->by_active[0])
            least = c;
    }
    return least;
}

static bool predict_jobs(struct inter_told *ret, const struct inter_lesson *l,
                         const struct inter_ask *ask, size_t n, struct inter_how how,
                         const struct inter_group *but, struct wr_err *err)
{
    const struct inter_carried *c = predict_server(l, ask, n, err);

    if (!c)
        return false;
    struct flows f = predict_flows(l, how, but);
    double *median = wr_zalloc(n, sizeof *median);
    struct plan p;

    plan_open(&p, l, c, ask, n, &f, but);
    plan_draw(&p, f.sd, median);
    for (size_t i = 0; i < n; i++)
        ret[i] = (struct inter_told){
            .alone_s = p.alone_s[i],
            .runtime_s = median[i],
            .weight = p.count[i],
            .guessed = !inter_find_alike(l, ask[i].mode, ask[i].processes, ask[i].nodes)};
    plan_close(&p);
    free(median);
    return true;
}

/* ---- ranges ---- */

static size_t range_gather(double *ret, const struct inter_lesson *l, const struct inter_group *but)
{
    size_t n = 0;

    for (size_t i = 0; i < l->residuals.n; i++)
        if (!but || !learn_same_run(l->residuals.v[i].of, but)) {
            if (ret)
                ret[n] = l->residuals.v[i].log_ratio;
            n++;
        }
    return n;
}

size_t inter_range_cases(const struct inter_lesson *l, const struct inter_group *but)
{
    return range_gather(NULL, l, but);
}

/* Of n residuals and the one to come, each is as likely to be the k-th: below the k-th smallest
 * lies the next with a probability of k / (n + 1). */
static void range_set(struct inter_told *told, size_t n, const struct inter_lesson *l,
                      const struct inter_group *but)
{
    double *r = wr_zalloc(l->residuals.n + 1, sizeof *r), tail = (1 - INTER_RANGE) / 2;
    size_t cases = range_gather(r, l, but);
    double low = prior_log_low, high = prior_log_high;

    stat_sort(r, cases);
    if (cases >= INTER_RANGE_LEAST) {
        size_t below = (size_t)floor(tail * (double)(cases + 1) + 1e-9);

        low = r[below - 1];
        high = r[cases - below];
    } else if (cases) {
        low = fmin(low, r[0]);
        high = fmax(high, r[cases - 1]);
    }
    for (size_t i = 0; i < n; i++) { /* where all others erred to one side, up to the prediction */
        told[i].low_s = told[i].runtime_s * exp(fmin(low, 0));
        told[i].high_s = told[i].runtime_s * exp(fmax(high, 0));
    }
    free(r);
}

/* ---- what is asked ---- */

bool inter_predict(struct inter_told *ret, const struct inter_lesson *l,
                   const struct inter_ask *ask, size_t n, struct inter_how how, struct wr_err *err)
{
    if (!predict_jobs(ret, l, ask, n, how, NULL, err))
        return false;
    range_set(ret, n, l, NULL);
    return true;
}

static bool predict_group(struct inter_told *ret, const struct inter_lesson *l,
                          const struct inter_group *g, struct inter_how how, struct wr_err *err)
{
    struct inter_ask *ask = wr_zalloc(g->set.njobs, sizeof *ask);

    for (size_t i = 0; i < g->set.njobs; i++) {
        const struct inter_job *j = &g->set.job[i];

        ask[i] = (struct inter_ask){.mode = j->mode ? j->mode : "",
                                    .processes = inter_processes(j),
                                    .nodes = j->nnodes,
                                    .volume_b = j->volume_b,
                                    .start_s = j->start_s};
    }
    bool ok = predict_jobs(ret, l, ask, g->set.njobs, how, g, err);

    free(ask);
    return ok;
}

bool inter_predict_group(struct inter_told *ret, const struct inter_lesson *l,
                         const struct inter_group *g, struct inter_how how, struct wr_err *err)
{
    if (!predict_group(ret, l, g, how, err))
        return false;
    range_set(ret, g->set.njobs, l, g);
    return true;
}

/* A group of a mode that no job alone was seen in has no residuals. */
void inter_calibrate(struct inter_lesson *l, struct inter_how how)
{
    l->residuals.n = 0;
    for (size_t i = 0; i < l->groups.n; i++) {
        const struct inter_group *g = &l->groups.v[i];
        struct inter_told *told = wr_zalloc(g->set.njobs + 1, sizeof *told);
        struct wr_err unknown;
        bool ok = g->set.njobs > 1 && !learn_seen_before(l, i) &&
                  predict_group(told, l, g, how, &unknown);

        for (size_t j = 0; ok && j < g->set.njobs; j++)
            if (told[j].runtime_s > 0 && g->set.job[j].runtime_s > 0)
                wr_vec_push(&l->residuals, (struct inter_residual){g, log(g->set.job[j].runtime_s /
                                                                          told[j].runtime_s)});
        free(told);
    }
}
