/* predict.c -- predicts run times of jobs that run together, with a range.
 *
 * A job reaches the server in flows: one per node, one per process, or one, depending on the rule
 * of sharing. It ends with its last flow. The rate of a flow varies between runs (a server does not
 * split evenly among connections), so the run time is the median over random draws of the flows'
 * weights, w = q^b e^(sd z): q is the number of processes of the flow, z a standard normal. The
 * exponent b and sd are fitted to the overlaps of the training set, without the predicted group;
 * with too few overlaps both are 0 and the schedule is that of stat/share.h.
 *
 * The range is the prediction times quantiles of the ratios observed / predicted of the other
 * groups: split-conformal prediction (Vovk, Gammerman and Shafer, 2005). Its coverage holds for any
 * model if runs are exchangeable.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "stat/sample.h"
#include "training_priv.h"

enum {
    DRAWS = 256,     /* in pairs of opposite signs */
    MOST_FLOWS = 32, /* over all jobs; with more, a job is one flow with a smaller sd */
    LEAST_PAIRS = 3, /* overlaps, at least, to fit the exponent and sd */
};

/* Prior of the exponent b: mean 0, this standard deviation (docs/models/interference.md). */
static const double prior_exponent_sd = 0.2;

/* 10 % and 90 % quantiles of log(observed / predicted) of the measured pairs on NFS
 * (docs/models/interference.md); used when there are too few residuals. */
static const double prior_log_low = -0.13, prior_log_high = 0.28;

/* ---- weights of flows ---- */

struct flows {
    enum interference_rule rule;
    double exponent, sd;
};

static struct flows predict_flows(const struct interference_training *t,
                                  struct interference_weighting how,
                                  const struct interference_group *but)
{
    struct flows f = {.rule = how.rule};
    struct interference_pairs sum = {0};
    size_t n = 0;

    for (size_t i = 0; i < t->groups.n; i++) {
        const struct interference_group *g = &t->groups.v[i];
        const struct interference_pairs *p = &g->pairs[how.rule];

        if (!g->overlaps || (but && training_same_run(g, but)))
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

static double predict_count(const struct interference_query *a, enum interference_rule rule)
{
    return rule == INTERFERENCE_RULE_NODES       ? (double)a->nodes
           : rule == INTERFERENCE_RULE_PROCESSES ? (double)a->processes
                                                 : 1;
}

/* ---- one set of jobs ---- */

/* The jobs to predict, divided into flows. Set up by predict_plan_open; only the weights in `flow`
 * change between draws. */
struct plan {
    const struct interference_query *ask;
    size_t njobs, nflows;
    double capacity[INTERFERENCE_MOST_ACTIVE];
    size_t ncapacity;
    struct stat_share_job *flow;
    size_t *of;              /* job of each flow */
    double *weight, *sd;     /* of each flow */
    double *alone_s, *count; /* of each job */
};

static double predict_cap(const struct interference_training *t, const struct interference_query *a,
                          double capacity)
{
    const struct interference_config *k =
        interference_find_config(t, a->mode, a->processes, a->nodes);

    return k ? k->cap_bps : capacity;
}

/* A flow of a job that can saturate the server has the job's cap; otherwise the cap is divided
 * among the flows. */
static void predict_plan_job(struct plan *p, const struct interference_training *t, size_t job,
                             size_t flows, const struct flows *f)
{
    const struct interference_query *a = &p->ask[job];
    double count = predict_count(a, f->rule), each = count / (double)flows;
    double cap = predict_cap(t, a, p->capacity[0]), n = (double)flows;

    p->count[job] = count * pow((double)a->processes / count, f->exponent);
    p->alone_s[job] = a->volume_b / fmin(cap, p->capacity[0]);
    for (size_t i = 0; i < flows; i++, p->nflows++) {
        p->of[p->nflows] = job;
        p->weight[p->nflows] = p->count[job] / n;
        p->sd[p->nflows] = f->sd / sqrt(each);
        p->flow[p->nflows] = (struct stat_share_job){
            .volume = a->volume_b / n,
            .start = a->start_s,
            .weight = p->weight[p->nflows],
            .cap = cap < INTERFERENCE_FILLS * p->capacity[0] ? cap / n : cap};
    }
}

static void predict_plan_open(struct plan *ret, const struct interference_training *t,
                              const struct interference_capacity *c,
                              const struct interference_query *ask, size_t n, const struct flows *f,
                              const struct interference_group *but)
{
    struct plan p = {.ask = ask, .njobs = n, .ncapacity = c->n};
    double all = 0;

    for (size_t i = 0; i < n; i++)
        all += predict_count(&ask[i], f->rule);
    /* A capacity by number of active jobs cannot be used by number of flows. */
    bool whole = !(f->sd > 0) || all > MOST_FLOWS || c->n > 1;
    size_t most = whole ? n : (size_t)all;

    training_capacity(p.capacity, t, c, but);
    p.flow = wr_zalloc(most, sizeof *p.flow);
    p.of = wr_zalloc(most, sizeof *p.of);
    p.weight = wr_zalloc(most, sizeof *p.weight);
    p.sd = wr_zalloc(most, sizeof *p.sd);
    p.alone_s = wr_zalloc(n, sizeof *p.alone_s);
    p.count = wr_zalloc(n, sizeof *p.count);
    for (size_t i = 0; i < n; i++)
        predict_plan_job(&p, t, i, whole ? 1 : (size_t)predict_count(&ask[i], f->rule), f);
    *ret = p;
}

static void predict_plan_close(struct plan *p)
{
    free(p->flow);
    free(p->of);
    free(p->weight);
    free(p->sd);
    free(p->alone_s);
    free(p->count);
}

/* Run times for the current weights: a job ends with its last flow. */
static void predict_plan_solve(const struct plan *p, double *runtime)
{
    struct stat_share_capacity capacity = {p->capacity, p->ncapacity};
    struct stat_share s;

    stat_share_solve(&s, p->flow, p->nflows, &capacity);
    memset(runtime, 0, p->njobs * sizeof *runtime);
    for (size_t i = 0; i < p->nflows; i++)
        runtime[p->of[i]] = fmax(runtime[p->of[i]], s.runtime[i]);
    stat_share_fini(&s);
}

/* Medians over draws. Each draw is followed by its negative, so that equal jobs get equal times. */
static void predict_plan_draw(struct plan *p, double sd, double *median)
{
    assert(p->nflows > 0 && p->njobs > 0);
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
        predict_plan_solve(p, runtime);
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

/* For jobs of several modes, the mode with the smallest capacity. */
static const struct interference_capacity *predict_server(const struct interference_training *t,
                                                          const struct interference_query *ask,
                                                          size_t n, struct wr_err *err)
{
    const struct interference_capacity *least = NULL;
    bool modes = false;

    for (size_t i = 0; i < n; i++)
        modes |= !training_any_mode(ask[i].mode, ask[i].processes);
    for (size_t i = 0; i < n; i++) {
        const struct interference_capacity *c = interference_find_capacity(t, ask[i].mode);

        if (training_any_mode(ask[i].mode, ask[i].processes) && modes)
            continue; /* the other jobs decide */
        if (!c && training_any_mode(ask[i].mode, ask[i].processes))
            c = t->capacities.v;
        if (!c) {
            wr_fail(err, WR_INPUT,
                    "no run alone has the mode \"%s\", so the server capacity in that mode is not "
                    "known; add such a run (from)",
                    *ask[i].mode ? wr_text_clip(ask[i].mode).s : "unknown");
            return NULL;
        }
        if (!least || c->by_active[0] < least->by_active[0])
            least = c;
    }
    return least;
}

static bool predict_jobs(struct interference_prediction *ret, const struct interference_training *t,
                         const struct interference_query *ask, size_t n,
                         struct interference_weighting how, const struct interference_group *but,
                         struct wr_err *err)
{
    const struct interference_capacity *c = predict_server(t, ask, n, err);

    if (!c)
        return false;
    struct flows f = predict_flows(t, how, but);
    double *median = wr_zalloc(n, sizeof *median);
    struct plan p;

    predict_plan_open(&p, t, c, ask, n, &f, but);
    predict_plan_draw(&p, f.sd, median);
    for (size_t i = 0; i < n; i++)
        ret[i] = (struct interference_prediction){
            .alone_s = p.alone_s[i],
            .runtime_s = median[i],
            .weight = p.count[i],
            .guessed = !interference_find_config(t, ask[i].mode, ask[i].processes, ask[i].nodes)};
    predict_plan_close(&p);
    free(median);
    return true;
}

/* ---- ranges ---- */

static size_t predict_range_gather(double *ret, const struct interference_training *t,
                                   const struct interference_group *but)
{
    size_t n = 0;

    for (size_t i = 0; i < t->residuals.n; i++)
        if (!but || !training_same_run(t->residuals.v[i].of, but)) {
            if (ret)
                ret[n] = t->residuals.v[i].log_ratio;
            n++;
        }
    return n;
}

size_t interference_range_cases(const struct interference_training *t,
                                const struct interference_group *but)
{
    return predict_range_gather(NULL, t, but);
}

/* Of n residuals and the next one, each is equally likely to be the k-th smallest, so the next lies
 * below the k-th smallest with probability k / (n + 1). */
static void predict_set_range(struct interference_prediction *predicted, size_t n,
                              const struct interference_training *t,
                              const struct interference_group *but)
{
    double *r = wr_zalloc(t->residuals.n + 1, sizeof *r), tail = (1 - INTERFERENCE_RANGE) / 2;
    size_t cases = predict_range_gather(r, t, but);
    double low = prior_log_low, high = prior_log_high;

    stat_sort(r, cases);
    if (cases >= INTERFERENCE_RANGE_LEAST) {
        size_t below = (size_t)floor(tail * (double)(cases + 1) + 1e-9);

        low = r[below - 1];
        high = r[cases - below];
    } else if (cases) {
        low = fmin(low, r[0]);
        high = fmax(high, r[cases - 1]);
    }
    for (size_t i = 0; i < n; i++) { /* the range includes the prediction itself */
        predicted[i].low_s = predicted[i].runtime_s * exp(fmin(low, 0));
        predicted[i].high_s = predicted[i].runtime_s * exp(fmax(high, 0));
    }
    free(r);
}

/* ---- predictions ---- */

bool interference_predict(struct interference_prediction *ret,
                          const struct interference_training *t,
                          const struct interference_query *ask, size_t n,
                          struct interference_weighting how, struct wr_err *err)
{
    if (!predict_jobs(ret, t, ask, n, how, NULL, err))
        return false;
    predict_set_range(ret, n, t, NULL);
    return true;
}

static bool predict_one_group(struct interference_prediction *ret,
                              const struct interference_training *t,
                              const struct interference_group *g, struct interference_weighting how,
                              struct wr_err *err)
{
    struct interference_query *ask = wr_zalloc(g->set.njobs, sizeof *ask);

    for (size_t i = 0; i < g->set.njobs; i++) {
        const struct interference_job *j = &g->set.job[i];

        ask[i] = (struct interference_query){.mode = j->mode ? j->mode : "",
                                             .processes = interference_processes(j),
                                             .nodes = j->nnodes,
                                             .volume_b = j->volume_b,
                                             .start_s = j->start_s};
    }
    bool ok = predict_jobs(ret, t, ask, g->set.njobs, how, g, err);

    free(ask);
    return ok;
}

bool interference_predict_group(struct interference_prediction *ret,
                                const struct interference_training *t,
                                const struct interference_group *g,
                                struct interference_weighting how, struct wr_err *err)
{
    if (!predict_one_group(ret, t, g, how, err))
        return false;
    predict_set_range(ret, g->set.njobs, t, g);
    return true;
}

/* Groups in a mode without a run alone have no residuals. */
void interference_calibrate(struct interference_training *t, struct interference_weighting how)
{
    t->residuals.n = 0;
    for (size_t i = 0; i < t->groups.n; i++) {
        const struct interference_group *g = &t->groups.v[i];
        struct interference_prediction *predicted = wr_zalloc(g->set.njobs + 1, sizeof *predicted);
        struct wr_err unknown;
        bool ok = g->set.njobs > 1 && !training_seen_before(t, i) &&
                  predict_one_group(predicted, t, g, how, &unknown);

        for (size_t j = 0; ok && j < g->set.njobs; j++)
            if (predicted[j].runtime_s > 0 && g->set.job[j].runtime_s > 0)
                wr_vec_push(&t->residuals,
                            (struct interference_residual){
                                g, log(g->set.job[j].runtime_s / predicted[j].runtime_s)});
        free(predicted);
    }
}
