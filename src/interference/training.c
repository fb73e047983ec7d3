/* training.c -- fits the model to the training set: rates of configurations alone, and the server
 * capacity by number of active jobs.
 *
 * interference_training_fit calls the parts in order: configurations, capacity with one active job,
 * capacity with several, sharing rule (sharing.c), gaps, caps. Predictions are in predict.c. */
#include "interference/training.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/sample.h"
#include "training_priv.h"

static const char *training_mode(const struct interference_job *j)
{
    return j->mode ? j->mode : "";
}

bool training_any_mode(const char *mode, size_t processes)
{
    return !*mode && processes == 1;
}

bool training_same_run(const struct interference_group *a, const struct interference_group *b)
{
    bool same = a->set.njobs == b->set.njobs && a->set.epoch_ns == b->set.epoch_ns &&
                !strcmp(a->name, b->name);

    for (size_t i = 0; same && i < a->set.njobs; i++)
        same = a->set.job[i].volume_b == b->set.job[i].volume_b &&
               a->set.job[i].runtime_s == b->set.job[i].runtime_s;
    return same;
}

bool training_seen_before(const struct interference_training *t, size_t group)
{
    assert(group < t->groups.n);
    for (size_t i = 0; i < group; i++)
        if (training_same_run(&t->groups.v[i], &t->groups.v[group]))
            return true;
    return false;
}

/* ---- jobs alone ---- */

static const struct interference_config *training_find_exactly(
    const struct interference_training *t, const char *mode, size_t processes, size_t nodes)
{
    for (size_t i = 0; i < t->configs.n; i++) {
        const struct interference_config *a = &t->configs.v[i];

        if ((!mode || !strcmp(a->mode, mode)) && a->processes == processes && a->nodes == nodes)
            return a;
    }
    return NULL;
}

const struct interference_config *interference_find_config(const struct interference_training *t,
                                                           const char *mode, size_t processes,
                                                           size_t nodes)
{
    const struct interference_config *a = training_find_exactly(t, mode, processes, nodes);

    if (!a && processes == 1)
        a = training_find_exactly(t, *mode ? "" : NULL, 1, nodes);
    return a;
}

static void training_add_alone(struct interference_training *t, const struct interference_job *j)
{
    const struct interference_config *found =
        training_find_exactly(t, training_mode(j), interference_processes(j), j->nnodes);

    if (!found) {
        wr_vec_push(&t->configs, (struct interference_config){
                                     .mode = wr_arena_strdup(&t->arena, training_mode(j)),
                                     .processes = interference_processes(j),
                                     .nodes = j->nnodes});
        found = &t->configs.v[t->configs.n - 1];
    }
    struct interference_config *a = &t->configs.v[found - t->configs.v];

    wr_vec_push(&a->rates, j->volume_b / j->runtime_s);
}

static int training_by_size(const void *a, const void *b)
{
    const struct interference_config *x = a, *y = b;
    int order = strcmp(x->mode, y->mode);

    if (!order)
        order = x->nodes < y->nodes ? -1 : x->nodes > y->nodes;
    return order ? order : x->processes < y->processes ? -1 : x->processes > y->processes;
}

static void training_finish_alone(struct interference_training *t)
{
    for (size_t i = 0; i < t->configs.n; i++) {
        struct interference_config *a = &t->configs.v[i];

        stat_sort(a->rates.v, a->rates.n);
        a->mid_bps = stat_quantile(a->rates.v, a->rates.n, 0.5);
        a->low_bps = a->rates.v[0];
        a->high_bps = a->rates.v[a->rates.n - 1];
    }
    if (t->configs.n)
        qsort(t->configs.v, t->configs.n, sizeof *t->configs.v, training_by_size);
}

/* ---- the server ---- */

const struct interference_capacity *interference_find_capacity(
    const struct interference_training *t, const char *mode)
{
    for (size_t i = 0; i < t->capacities.n; i++)
        if (!strcmp(t->capacities.v[i].mode, mode))
            return &t->capacities.v[i];
    return NULL;
}

static struct interference_capacity *training_capacity_of(struct interference_training *t,
                                                          const char *mode)
{
    const struct interference_capacity *found = interference_find_capacity(t, mode);

    if (!found) {
        wr_vec_push(&t->capacities, (struct interference_capacity){.mode = mode, .n = 1});
        found = &t->capacities.v[t->capacities.n - 1];
    }
    return &t->capacities.v[found - t->capacities.v];
}

static void training_add_config(struct interference_capacity *c,
                                const struct interference_config *a)
{
    c->runs[0] += a->rates.n;
    c->by_active[0] = fmax(c->by_active[0], a->mid_bps);
}

/* Capacity with one active job: the highest median rate of a configuration alone. */
static void training_capacity_alone(struct interference_training *t)
{
    for (size_t i = 0; i < t->configs.n; i++)
        training_add_config(training_capacity_of(t, t->configs.v[i].mode), &t->configs.v[i]);
    for (size_t i = 0; i < t->configs.n; i++)
        for (size_t k = 0; k < t->capacities.n; k++)
            if (*t->capacities.v[k].mode &&
                training_any_mode(t->configs.v[i].mode, t->configs.v[i].processes))
                training_add_config(&t->capacities.v[k], &t->configs.v[i]);
}

/* The file mode of all jobs, or "" where they differ. */
static const char *training_group_mode(const struct interference_set *s)
{
    const char *mode = NULL;

    for (size_t i = 0; i < s->njobs; i++) {
        const struct interference_job *j = &s->job[i];

        if (training_any_mode(training_mode(j), interference_processes(j)))
            continue;
        if (mode && strcmp(training_mode(j), mode) != 0)
            return "";
        mode = training_mode(j);
    }
    return mode ? mode : "";
}

/* Throughput of the server in a run of several jobs: all bytes over the time in which all client
 * nodes were active. Flushes count, so a client cache that accepts bytes early has no effect. */
static double training_total_rate(const struct interference_set *s)
{
    struct interference_analysis a;

    interference_analyse(&a, s, NULL, INTERFERENCE_NODES);
    double rate = a.overlaps ? a.total_bps : NAN;

    interference_analysis_fini(&a);
    return rate;
}

/* The throughputs of the server in all groups of a mode with `active` jobs, ascending; group `but`
 * is left out. */
static size_t training_totals(double *ret, const struct interference_training *t, const char *mode,
                              size_t active, const struct interference_group *but)
{
    size_t n = 0;

    for (size_t i = 0; i < t->groups.n; i++) {
        const struct interference_group *g = &t->groups.v[i];

        if (!(but && training_same_run(g, but)) && g->role & INTERFERENCE_TRAINS &&
            g->set.njobs == active && !isnan(g->total_bps) &&
            !strcmp(training_group_mode(&g->set), mode))
            ret[n++] = g->total_bps;
    }
    stat_sort(ret, n);
    return n;
}

static void training_capacity_together(struct interference_training *t, const char *mode,
                                       size_t active)
{
    assert(active > 1 && active <= INTERFERENCE_MOST_ACTIVE);
    struct interference_capacity *c = training_capacity_of(t, mode);
    double *rate = wr_zalloc(t->groups.n + 1, sizeof *rate);
    size_t n = training_totals(rate, t, mode, active, NULL);

    if (n) {
        c->by_active[active - 1] = stat_quantile(rate, n, 0.5);
        c->runs[active - 1] = n;
        c->n = active > c->n ? active : c->n;
    }
    free(rate);
}

void training_capacity(double *ret, const struct interference_training *t,
                       const struct interference_capacity *c, const struct interference_group *but)
{
    assert(c->n > 0 && c->n <= INTERFERENCE_MOST_ACTIVE);
    double *rate = wr_zalloc(t->groups.n + 1, sizeof *rate);

    for (size_t k = 0; k < c->n; k++) {
        size_t n = k && c->runs[k] ? training_totals(rate, t, c->mode, k + 1, but) : 0;

        ret[k] = n                     ? stat_quantile(rate, n, 0.5)
                 : k && c->runs[k] > 0 ? ret[k - 1]
                                       : c->by_active[k];
    }
    free(rate);
}

/* A number of active jobs without a run has the capacity of the next smaller number. */
static bool training_fill_gaps(struct interference_training *t, struct wr_err *err)
{
    for (size_t i = 0; i < t->capacities.n; i++) {
        struct interference_capacity *c = &t->capacities.v[i];

        for (size_t k = 0; k < c->n && !(c->by_active[0] > 0); k++)
            c->by_active[0] = c->by_active[k];
        for (size_t k = 1; k < c->n; k++)
            if (!(c->by_active[k] > 0))
                c->by_active[k] = c->by_active[k - 1];
    }
    return t->capacities.n ||
           wr_fail(err, WR_INPUT,
                   "no run holds one job alone, so the server capacity is not known; add such "
                   "runs (from), or use runs of several jobs as well (together)");
}

/* A configuration with one run near the capacity can saturate the server: the job itself sets no
 * cap, and its slower runs were disturbed. */
static void training_caps(struct interference_training *t)
{
    for (size_t i = 0; i < t->configs.n; i++) {
        struct interference_config *a = &t->configs.v[i];
        const struct interference_capacity *c = interference_find_capacity(t, a->mode);

        a->fills = c && a->high_bps >= INTERFERENCE_FILLS * c->by_active[0];
        a->cap_bps = a->fills ? fmax(a->mid_bps, c->by_active[0]) : a->mid_bps;
    }
}

bool interference_training_fit(struct interference_training *t, bool together, struct wr_err *err)
{
    assert(t->configs.n == 0 && t->capacities.n == 0);
    for (size_t i = 0; i < t->groups.n; i++)
        if (t->groups.v[i].role & INTERFERENCE_TRAINS && t->groups.v[i].set.njobs == 1)
            training_add_alone(t, &t->groups.v[i].set.job[0]);
    training_finish_alone(t);
    training_capacity_alone(t);
    for (size_t i = 0; i < t->groups.n; i++)
        t->groups.v[i].total_bps = together && t->groups.v[i].set.njobs > 1
                                       ? training_total_rate(&t->groups.v[i].set)
                                       : NAN;
    for (size_t i = 0; together && i < t->groups.n; i++) {
        const struct interference_set *s = &t->groups.v[i].set;

        if (t->groups.v[i].role & INTERFERENCE_TRAINS && s->njobs > 1 &&
            s->njobs <= INTERFERENCE_MOST_ACTIVE)
            training_capacity_together(t, training_group_mode(s), s->njobs);
    }
    training_sharing(t);
    if (!training_fill_gaps(t, err))
        return false;
    training_caps(t);
    return true;
}

void interference_training_fini(struct interference_training *t)
{
    for (size_t i = 0; i < t->groups.n; i++)
        interference_set_fini(&t->groups.v[i].set);
    for (size_t i = 0; i < t->configs.n; i++)
        wr_vec_fini(&t->configs.v[i].rates);
    wr_vec_fini(&t->groups);
    wr_vec_fini(&t->configs);
    wr_vec_fini(&t->capacities);
    wr_vec_fini(&t->residuals);
    wr_arena_fini(&t->arena);
}
