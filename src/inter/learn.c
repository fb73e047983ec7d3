#include "inter/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "stat/sample.h"

static const char *mode_of(const struct inter_job *j)
{
    return j->mode ? j->mode : "";
}

/* One process has its file for itself in either mode: when its mode is not told it is any. */
static bool any_mode(const char *mode, size_t processes)
{
    return !*mode && processes == 1;
}

/* ---- jobs alone ---- */

static const struct inter_alike *find_exactly(const struct inter_lesson *l, const char *mode,
                                              size_t processes, size_t nodes)
{
    for (size_t i = 0; i < l->alike.n; i++) {
        const struct inter_alike *a = &l->alike.v[i];

        if ((!mode || !strcmp(a->mode, mode)) && a->processes == processes && a->nodes == nodes)
            return a;
    }
    return NULL;
}

const struct inter_alike *inter_find_alike(const struct inter_lesson *l, const char *mode,
                                           size_t processes, size_t nodes)
{
    const struct inter_alike *a = find_exactly(l, mode, processes, nodes);

    if (!a && processes == 1)
        a = find_exactly(l, *mode ? "" : NULL, 1, nodes);
    return a;
}

static void add_alone(struct inter_lesson *l, const struct inter_job *j)
{
    const struct inter_alike *found = find_exactly(l, mode_of(j), inter_processes(j), j->nnodes);

    if (!found) {
        wr_vec_push(&l->alike, (struct inter_alike){.mode = wr_arena_strdup(&l->arena, mode_of(j)),
                                                    .processes = inter_processes(j),
                                                    .nodes = j->nnodes});
        found = &l->alike.v[l->alike.n - 1];
    }
    struct inter_alike *a = &l->alike.v[found - l->alike.v];

    wr_vec_push(&a->rates, j->volume_b / j->runtime_s);
}

static int by_size(const void *a, const void *b)
{
    const struct inter_alike *x = a, *y = b;
    int order = strcmp(x->mode, y->mode);

    if (!order)
        order = x->nodes < y->nodes ? -1 : x->nodes > y->nodes;
    return order ? order : x->processes < y->processes ? -1 : x->processes > y->processes;
}

static void finish_alone(struct inter_lesson *l)
{
    for (size_t i = 0; i < l->alike.n; i++) {
        struct inter_alike *a = &l->alike.v[i];

        stat_sort(a->rates.v, a->rates.n);
        a->mid_bps = stat_quantile(a->rates.v, a->rates.n, 0.5);
        a->low_bps = a->rates.v[0];
        a->high_bps = a->rates.v[a->rates.n - 1];
    }
    if (l->alike.n)
        qsort(l->alike.v, l->alike.n, sizeof *l->alike.v, by_size);
}

/* ---- the server ---- */

const struct inter_carried *inter_find_carried(const struct inter_lesson *l, const char *mode)
{
    for (size_t i = 0; i < l->carried.n; i++)
        if (!strcmp(l->carried.v[i].mode, mode))
            return &l->carried.v[i];
    return NULL;
}

static struct inter_carried *carried_of(struct inter_lesson *l, const char *mode)
{
    const struct inter_carried *found = inter_find_carried(l, mode);

    if (!found) {
        wr_vec_push(&l->carried, (struct inter_carried){.mode = mode, .n = 1, .low = 1, .high = 1});
        found = &l->carried.v[l->carried.n - 1];
    }
    return &l->carried.v[found - l->carried.v];
}

static void carry_alike(struct inter_carried *c, const struct inter_alike *a)
{
    c->runs[0] += a->rates.n;
    if (a->mid_bps > c->by_active[0]) {
        c->by_active[0] = a->mid_bps;
        c->low = a->low_bps / a->mid_bps;
        c->high = a->high_bps / a->mid_bps;
    }
}

/* The most that some kind of job reaches alone is what the server carries at least. */
static void carry_one(struct inter_lesson *l)
{
    for (size_t i = 0; i < l->alike.n; i++)
        carry_alike(carried_of(l, l->alike.v[i].mode), &l->alike.v[i]);
    for (size_t i = 0; i < l->alike.n; i++)
        for (size_t k = 0; k < l->carried.n; k++)
            if (*l->carried.v[k].mode && any_mode(l->alike.v[i].mode, l->alike.v[i].processes))
                carry_alike(&l->carried.v[k], &l->alike.v[i]);
}

/* All of one mode, or "" where they differ. */
static const char *group_mode(const struct inter_set *s)
{
    const char *mode = NULL;

    for (size_t i = 0; i < s->njobs; i++) {
        const struct inter_job *j = &s->job[i];

        if (any_mode(mode_of(j), inter_processes(j)))
            continue;
        if (mode && strcmp(mode_of(j), mode) != 0)
            return "";
        mode = mode_of(j);
    }
    return mode ? mode : "";
}

/* What a run of several carried: all volume over the time in which somebody was at work, which a
 * cache that takes bytes early does not distort, or the rate of the overlap where jobs began or
 * ended at different times. */
static double total_rate(const struct inter_set *s)
{
    struct inter_analysis a;

    inter_analyse(&a, s, NULL, INTER_NODES);
    double rate = a.overlaps ? a.total_bps : NAN;

    inter_analysis_fini(&a);
    return rate;
}

static void carry_more(struct inter_lesson *l, const char *mode, size_t active)
{
    struct inter_carried *c = carried_of(l, mode);
    double *rate = wr_zalloc(l->groups.n + 1, sizeof *rate);
    size_t n = 0;

    for (size_t i = 0; i < l->groups.n; i++) {
        const struct inter_set *s = &l->groups.v[i].set;

        if (l->groups.v[i].part & INTER_TEACHES && s->njobs == active &&
            !strcmp(group_mode(s), mode)) {
            rate[n] = total_rate(s);
            n += !isnan(rate[n]);
        }
    }
    if (n) {
        stat_sort(rate, n);
        c->by_active[active - 1] = stat_quantile(rate, n, 0.5);
        c->runs[active - 1] = n;
        c->n = active > c->n ? active : c->n;
    }
    free(rate);
}

/* Numbers of jobs that no run had carry what the next smaller one does. */
static bool fill_gaps(struct inter_lesson *l, struct wr_err *err)
{
    for (size_t i = 0; i < l->carried.n; i++) {
        struct inter_carried *c = &l->carried.v[i];

        for (size_t k = 0; k < c->n && !(c->by_active[0] > 0); k++)
            c->by_active[0] = c->by_active[k];
        for (size_t k = 1; k < c->n; k++)
            if (!(c->by_active[k] > 0))
                c->by_active[k] = c->by_active[k - 1];
    }
    return l->carried.n ||
           wr_fail(err, WR_INPUT,
                   "no run holds one job alone, so what the server carries is not known; add such "
                   "runs with --from, or --together to learn from jobs put together");
}

/* ---- rules of sharing ---- */

/* y = b x through the origin: equal jobs share alike by any rule. */
struct slope {
    double xx, xy, yy;
    size_t n;
};

static void slope_add(struct slope *s, double x, double y)
{
    if (x == 0 || !isfinite(y))
        return;
    s->xx += x * x;
    s->xy += x * y;
    s->yy += y * y;
    s->n++;
}

static void slope_end(struct inter_lesson *l, int which, const struct slope *s)
{
    double b = s->xy / s->xx, rest = s->yy - b * s->xy;

    l->pairs[which] = s->n;
    l->slope[which] = s->n ? b : NAN;
    l->slope_sd[which] = s->n > 2 ? sqrt(fmax(rest, 0) / (double)(s->n - 1) / s->xx) : NAN;
}

static void judge_group(const struct inter_set *s, struct slope *slope, double *off, size_t *n)
{
    struct inter_analysis a;

    inter_analyse(&a, s, NULL, INTER_NODES);
    for (size_t i = 0; i < s->njobs && a.overlaps; i++)
        for (size_t k = i + 1; k < s->njobs; k++) {
            double y = log(a.job[i].share / a.job[k].share);

            slope_add(
                &slope[INTER_SLOPE_PROCESSES],
                log((double)inter_processes(&s->job[i]) / (double)inter_processes(&s->job[k])), y);
            slope_add(&slope[INTER_SLOPE_NODES],
                      log((double)s->job[i].nnodes / (double)s->job[k].nnodes), y);
        }
    for (int r = 0; r < INTER_RULES && a.overlaps; r++)
        off[r] += a.off[r];
    *n += a.overlaps;
    inter_analysis_fini(&a);
}

static void judge_rules(struct inter_lesson *l)
{
    struct slope slope[2] = {0};
    double off[INTER_RULES] = {0};
    size_t n = 0;
    bool asked = false; /* then those count, and not the same ones twice */

    for (size_t i = 0; i < l->groups.n; i++)
        asked |= l->groups.v[i].part & INTER_IS_ASKED;
    for (size_t i = 0; i < l->groups.n; i++)
        if (l->groups.v[i].set.njobs > 1 && (!asked || l->groups.v[i].part & INTER_IS_ASKED))
            judge_group(&l->groups.v[i].set, slope, off, &n);
    for (int i = 0; i < 2; i++)
        slope_end(l, i, &slope[i]);
    for (int r = 0; r < INTER_RULES; r++)
        l->rule_off[r] = n ? off[r] / (double)n : NAN;
}

bool inter_lesson_learn(struct inter_lesson *l, bool together, struct wr_err *err)
{
    for (size_t i = 0; i < l->groups.n; i++)
        if (l->groups.v[i].part & INTER_TEACHES && l->groups.v[i].set.njobs == 1)
            add_alone(l, &l->groups.v[i].set.job[0]);
    finish_alone(l);
    carry_one(l);
    for (size_t i = 0; together && i < l->groups.n; i++) {
        const struct inter_set *s = &l->groups.v[i].set;

        if (l->groups.v[i].part & INTER_TEACHES && s->njobs > 1 && s->njobs <= INTER_MOST_ACTIVE)
            carry_more(l, group_mode(s), s->njobs);
    }
    judge_rules(l);
    return fill_gaps(l, err);
}

void inter_lesson_fini(struct inter_lesson *l)
{
    for (size_t i = 0; i < l->groups.n; i++)
        inter_fini(&l->groups.v[i].set);
    for (size_t i = 0; i < l->alike.n; i++)
        wr_vec_fini(&l->alike.v[i].rates);
    wr_vec_fini(&l->groups);
    wr_vec_fini(&l->alike);
    wr_vec_fini(&l->carried);
    wr_arena_fini(&l->arena);
}

/* ---- prediction ---- */

static double weight_of(const struct inter_ask *a, enum inter_rule rule)
{
    return rule == INTER_RULE_NODES       ? (double)a->nodes
           : rule == INTER_RULE_PROCESSES ? (double)a->processes
                                          : 1;
}

enum luck { SLOW, USUAL, FAST };

static double pick(const struct inter_alike *a, enum luck luck)
{
    return luck == SLOW ? a->low_bps : luck == FAST ? a->high_bps : a->mid_bps;
}

static void solve(double *runtime, double *alone, const struct inter_lesson *l,
                  const struct inter_carried *c, const struct inter_ask *ask, size_t n,
                  enum inter_rule rule, enum luck luck)
{
    struct stat_share_job *job = wr_zalloc(n, sizeof *job);
    double by_active[INTER_MOST_ACTIVE];
    struct stat_share s;

    for (size_t k = 0; k < c->n; k++)
        by_active[k] = c->by_active[k] * (luck == SLOW ? c->low : luck == FAST ? c->high : 1);
    struct stat_share_capacity capacity = {by_active, c->n};

    for (size_t i = 0; i < n; i++) {
        const struct inter_alike *a =
            inter_find_alike(l, ask[i].mode, ask[i].processes, ask[i].nodes);
        double cap = a ? pick(a, luck) : by_active[0];

        job[i] = (struct stat_share_job){.volume = ask[i].volume_b,
                                         .start = ask[i].start_s,
                                         .weight = weight_of(&ask[i], rule),
                                         .cap = cap};
        alone[i] = ask[i].volume_b / fmin(cap, by_active[0]);
    }
    stat_share_solve(&s, job, n, &capacity);
    memcpy(runtime, s.runtime, n * sizeof *runtime);
    stat_share_fini(&s);
    free(job);
}

/* Jobs of several modes: the one of which the server carries least. */
static const struct inter_carried *server_for(const struct inter_lesson *l,
                                              const struct inter_ask *ask, size_t n,
                                              struct wr_err *err)
{
    const struct inter_carried *least = NULL;
    bool modes = false;

    for (size_t i = 0; i < n; i++)
        modes |= !any_mode(ask[i].mode, ask[i].processes);
    for (size_t i = 0; i < n; i++) {
        const struct inter_carried *c = inter_find_carried(l, ask[i].mode);

        if (any_mode(ask[i].mode, ask[i].processes) && modes)
            continue; /* the others decide */
        if (!c && any_mode(ask[i].mode, ask[i].processes))
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

bool inter_predict(struct inter_told *ret, const struct inter_lesson *l,
                   const struct inter_ask *ask, size_t n, enum inter_rule rule, struct wr_err *err)
{
    const struct inter_carried *c = server_for(l, ask, n, err);

    if (!c)
        return false;
    double *v = wr_zalloc(n, 4 * sizeof *v), *mid = v, *low = v + n, *high = v + 2 * n;
    double *alone = v + 3 * n;

    solve(low, alone, l, c, ask, n, rule, FAST);
    solve(high, alone, l, c, ask, n, rule, SLOW);
    solve(mid, alone, l, c, ask, n, rule, USUAL);
    for (size_t i = 0; i < n; i++)
        ret[i] = (struct inter_told){
            .alone_s = alone[i],
            .runtime_s = mid[i],
            .low_s = fmin(low[i], mid[i]),
            .high_s = fmax(high[i], mid[i]),
            .weight = weight_of(&ask[i], rule),
            .guessed = !inter_find_alike(l, ask[i].mode, ask[i].processes, ask[i].nodes)};
    free(v);
    return true;
}

bool inter_predict_group(struct inter_told *ret, const struct inter_lesson *l,
                         const struct inter_group *g, enum inter_rule rule, struct wr_err *err)
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
    bool ok = inter_predict(ret, l, ask, g->set.njobs, rule, err);

    free(ask);
    return ok;
}
