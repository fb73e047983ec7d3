/* learn.c -- what runs of jobs alone, and of several, tell of the server. */
#include "inter/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn_priv.h"
#include "stat/sample.h"

static const char *mode_of(const struct inter_job *j)
{
    return j->mode ? j->mode : "";
}

bool learn_any_mode(const char *mode, size_t processes)
{
    return !*mode && processes == 1;
}

bool learn_same_run(const struct inter_group *a, const struct inter_group *b)
{
    bool same = a->set.njobs == b->set.njobs && a->set.epoch_ns == b->set.epoch_ns &&
                !strcmp(a->name, b->name);

    for (size_t i = 0; same && i < a->set.njobs; i++)
        same = a->set.job[i].volume_b == b->set.job[i].volume_b &&
               a->set.job[i].runtime_s == b->set.job[i].runtime_s;
    return same;
}

bool learn_seen_before(const struct inter_lesson *l, size_t group)
{
    for (size_t i = 0; i < group; i++)
        if (learn_same_run(&l->groups.v[i], &l->groups.v[group]))
            return true;
    return false;
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
        wr_vec_push(&l->carried, (struct inter_carried){.mode = mode, .n = 1});
        found = &l->carried.v[l->carried.n - 1];
    }
    return &l->carried.v[found - l->carried.v];
}

static void carry_alike(struct inter_carried *c, const struct inter_alike *a)
{
    c->runs[0] += a->rates.n;
    c->by_active[0] = fmax(c->by_active[0], a->mid_bps);
}

/* The most that some kind of job reaches alone is what the server carries at least. */
static void carry_one(struct inter_lesson *l)
{
    for (size_t i = 0; i < l->alike.n; i++)
        carry_alike(carried_of(l, l->alike.v[i].mode), &l->alike.v[i]);
    for (size_t i = 0; i < l->alike.n; i++)
        for (size_t k = 0; k < l->carried.n; k++)
            if (*l->carried.v[k].mode &&
                learn_any_mode(l->alike.v[i].mode, l->alike.v[i].processes))
                carry_alike(&l->carried.v[k], &l->alike.v[i]);
}

/* All of one mode, or "" where they differ. */
static const char *group_mode(const struct inter_set *s)
{
    const char *mode = NULL;

    for (size_t i = 0; i < s->njobs; i++) {
        const struct inter_job *j = &s->job[i];

        if (learn_any_mode(mode_of(j), inter_processes(j)))
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

/* What the server carried in the runs of a mode with so many jobs, `but` left out; ascending. */
static size_t learn_totals(double *ret, const struct inter_lesson *l, const char *mode,
                           size_t active, const struct inter_group *but)
{
    size_t n = 0;

    for (size_t i = 0; i < l->groups.n; i++) {
        const struct inter_group *g = &l->groups.v[i];

        if (!(but && learn_same_run(g, but)) && g->part & INTER_TEACHES && g->set.njobs == active &&
            !isnan(g->total_bps) && !strcmp(group_mode(&g->set), mode))
            ret[n++] = g->total_bps;
    }
    stat_sort(ret, n);
    return n;
}

static void carry_more(struct inter_lesson *l, const char *mode, size_t active)
{
    struct inter_carried *c = carried_of(l, mode);
    double *rate = wr_zalloc(l->groups.n + 1, sizeof *rate);
    size_t n = learn_totals(rate, l, mode, active, NULL);

    if (n) {
        c->by_active[active - 1] = stat_quantile(rate, n, 0.5);
        c->runs[active - 1] = n;
        c->n = active > c->n ? active : c->n;
    }
    free(rate);
}

void learn_capacity(double *ret, const struct inter_lesson *l, const struct inter_carried *c,
                    const struct inter_group *but)
{
    double *rate = wr_zalloc(l->groups.n + 1, sizeof *rate);

    for (size_t k = 0; k < c->n; k++) {
        size_t n = k && c->runs[k] ? learn_totals(rate, l, c->mode, k + 1, but) : 0;

        ret[k] = n                     ? stat_quantile(rate, n, 0.5)
                 : k && c->runs[k] > 0 ? ret[k - 1]
                                       : c->by_active[k];
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

/* A kind of job of which one run came near what the server carries can fill it. What slowed its
 * other runs was no property of the job. */
static void learn_caps(struct inter_lesson *l)
{
    for (size_t i = 0; i < l->alike.n; i++) {
        struct inter_alike *a = &l->alike.v[i];
        const struct inter_carried *c = inter_find_carried(l, a->mode);

        a->fills = c && a->high_bps >= INTER_FILLS * c->by_active[0];
        a->cap_bps = a->fills ? fmax(a->mid_bps, c->by_active[0]) : a->mid_bps;
    }
}

bool inter_lesson_learn(struct inter_lesson *l, bool together, struct wr_err *err)
{
    for (size_t i = 0; i < l->groups.n; i++)
        if (l->groups.v[i].part & INTER_TEACHES && l->groups.v[i].set.njobs == 1)
            add_alone(l, &l->groups.v[i].set.job[0]);
    finish_alone(l);
    carry_one(l);
    for (size_t i = 0; i < l->groups.n; i++)
        l->groups.v[i].total_bps =
            together && l->groups.v[i].set.njobs > 1 ? total_rate(&l->groups.v[i].set) : NAN;
    for (size_t i = 0; together && i < l->groups.n; i++) {
        const struct inter_set *s = &l->groups.v[i].set;

        if (l->groups.v[i].part & INTER_TEACHES && s->njobs > 1 && s->njobs <= INTER_MOST_ACTIVE)
            carry_more(l, group_mode(s), s->njobs);
    }
    learn_sharing(l);
    if (!fill_gaps(l, err))
        return false;
    learn_caps(l);
    return true;
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
    wr_vec_fini(&l->residuals);
    wr_arena_fini(&l->arena);
}
