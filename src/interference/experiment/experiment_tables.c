/* experiment_tables.c -- statistics over the runs of an experiment, and predictions from its runs
 * alone.
 *
 * Reads the run files of finished trials only. A repetition that is an outlier for one of its jobs
 * is left out for all of them. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interference/experiment/experiment.h"
#include "stat/moments.h"
#include "stat/share.h"

/* Measurements of one job in one repetition. */
struct seen {
    double overall_bps, overlap_bps, runtime_s, spread, volume_b, start_s;
};

struct repetition {
    struct seen job[EXPERIMENT_JOBS];
    double overlap_s;
};

struct gathered {
    WR_VEC(struct repetition) v;
};

static bool tables_same_cell(const struct experiment_trial *a, const struct experiment_trial *b)
{
    return a->n == b->n && !strcmp(a->mode, b->mode) && !memcmp(a->size, b->size, sizeof a->size);
}

bool experiment_is_first(const struct experiment *e, size_t trial)
{
    for (size_t i = 0; i < trial; i++)
        if (tables_same_cell(&e->trials.v[i], &e->trials.v[trial]))
            return false;
    return true;
}

static bool tables_read_trial(struct gathered *g, struct experiment_cell *cell,
                              const struct experiment *e, const struct experiment_trial *t,
                              struct wr_err *err)
{
    struct wr_arena arena = {0};
    const char *path[EXPERIMENT_JOBS];
    struct interference_set s;
    struct interference_load how = {.op = INTERFERENCE_BOTH};
    struct repetition r = {0};

    for (size_t i = 0; i < t->n; i++)
        path[i] = experiment_run_path(e, t, i, &arena);
    bool ok = interference_load(&s, path, t->n, &how, err);

    wr_arena_fini(&arena);
    if (!ok)
        return false;
    if (s.njobs != t->n) {
        wr_fail(err, WR_INPUT, "%s has %zu jobs in %zu run files; give each command one job", t->id,
                s.njobs, t->n);
        interference_set_fini(&s);
        return false;
    }
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    r.overlap_s = a.overlap_s;
    double begin = INFINITY;

    for (size_t i = 0; i < t->n; i++)
        begin = fmin(begin, s.job[i].start_s);
    for (size_t i = 0; i < t->n; i++) {
        r.job[i] =
            (struct seen){a.job[i].overall_bps, a.job[i].overlap_bps.mid, s.job[i].runtime_s,
                          a.job[i].spread,      s.job[i].volume_b,        s.job[i].start_s - begin};
        cell->job[i].processes = interference_processes(&s.job[i]);
        cell->job[i].nodes = s.job[i].nnodes;
    }
    wr_vec_push(&g->v, r);
    interference_analysis_fini(&a);
    interference_set_fini(&s);
    return true;
}

/* Removes repetitions in which the throughput of any job is an outlier. */
static void tables_drop_outliers(struct gathered *g, const struct experiment_cell *cell,
                                 const struct experiment_spec *spec)
{
    double *x = wr_zalloc(g->v.n + 1, sizeof *x);
    bool *out = wr_zalloc(g->v.n + 1, sizeof *out), *drop = wr_zalloc(g->v.n + 1, sizeof *drop);
    size_t kept = 0;

    for (size_t i = 0; i < cell->n; i++) {
        for (size_t k = 0; k < g->v.n; k++)
            x[k] = g->v.v[k].job[i].overall_bps;
        stat_outliers(out, x, g->v.n, (enum stat_outlier)spec->outliers, spec->limit);
        for (size_t k = 0; k < g->v.n; k++)
            drop[k] |= out[k];
    }
    for (size_t k = 0; k < g->v.n; k++)
        kept += !drop[k];
    /* If all repetitions were outliers, all are kept. */
    size_t n = 0;

    for (size_t k = 0; kept && k < g->v.n; k++)
        if (!drop[k])
            g->v.v[n++] = g->v.v[k];
    g->v.n = kept ? n : g->v.n;
    free(x);
    free(out);
    free(drop);
}

static struct experiment_mean tables_mean(const struct gathered *g, size_t job, size_t offset)
{
    struct stat_moments m = {0};

    for (size_t k = 0; k < g->v.n; k++) {
        const void *at = (const char *)&g->v.v[k].job[job] + offset;
        double v = *(const double *)at;

        if (!isnan(v))
            stat_moments_add(&m, v);
    }
    return (struct experiment_mean){m.n ? m.mean : NAN, stat_moments_stddev(&m)};
}

static void tables_sum_up(struct experiment_cell *cell, const struct gathered *g)
{
    double overlap = 0;

    for (size_t k = 0; k < g->v.n; k++)
        overlap += g->v.v[k].overlap_s / (double)g->v.n;
    cell->overlap_s = overlap;
    cell->kept = g->v.n;
    for (size_t i = 0; i < cell->n; i++) {
        struct experiment_job *j = &cell->job[i];

        j->overall_bps = tables_mean(g, i, offsetof(struct seen, overall_bps));
        j->overlap_bps = tables_mean(g, i, offsetof(struct seen, overlap_bps));
        j->runtime_s = tables_mean(g, i, offsetof(struct seen, runtime_s));
        j->spread = tables_mean(g, i, offsetof(struct seen, spread));
        j->volume_b = tables_mean(g, i, offsetof(struct seen, volume_b)).mean;
        j->start_s = tables_mean(g, i, offsetof(struct seen, start_s)).mean;
    }
}

static bool tables_add_cell(struct experiment_tables *t, const struct experiment *e,
                            const struct experiment_trial *first, struct wr_err *err)
{
    struct experiment_cell cell = {.mode = wr_arena_strdup(&t->arena, first->mode), .n = first->n};
    struct gathered g = {0};
    bool ok = true;

    for (size_t i = 0; i < cell.n; i++) {
        cell.job[i] = (struct experiment_job){.size = first->size[i], .equations_s = NAN};
        for (int r = 0; r < INTERFERENCE_RULES; r++)
            cell.job[i].model_s[r] = NAN;
    }
    for (size_t i = 0; ok && i < e->trials.n; i++)
        if (tables_same_cell(&e->trials.v[i], first) && experiment_done(e, &e->trials.v[i])) {
            ok = tables_read_trial(&g, &cell, e, &e->trials.v[i], err);
            cell.runs += ok;
        }
    if (ok && cell.runs) {
        tables_drop_outliers(&g, &cell, &e->spec);
        tables_sum_up(&cell, &g);
        wr_vec_push(&t->cells, cell);
    }
    wr_vec_fini(&g.v);
    return ok;
}

/* ---- predictions ---- */

static const struct experiment_cell *tables_find_alone(const struct experiment_tables *t,
                                                       const char *mode, uint32_t size)
{
    for (size_t i = 0; i < t->cells.n; i++) {
        const struct experiment_cell *c = &t->cells.v[i];

        if (c->n == 1 && !strcmp(c->mode, mode) && c->job[0].size == size)
            return c;
    }
    return NULL;
}

static double tables_capacity(const struct experiment_tables *t, const char *mode)
{
    double most = 0;

    for (size_t i = 0; i < t->cells.n; i++)
        if (t->cells.v[i].n == 1 && !strcmp(t->cells.v[i].mode, mode))
            most = fmax(most, t->cells.v[i].job[0].overall_bps.mean);
    return most;
}

static void tables_by_equations(struct experiment_cell *c, double alone_p, double alone_q)
{
    assert(c->n == 2);
    struct experiment_job *p = &c->job[0], *q = &c->job[1];
    bool first = p->processes > q->processes;
    double wp = (double)p->processes, wq = (double)q->processes;
    struct stat_share_pair got =
        first ? stat_share_pair_together((struct stat_share_pair){alone_p, alone_q},
                                         (struct stat_share_pair){wp, wq})
              : stat_share_pair_together((struct stat_share_pair){alone_q, alone_p},
                                         (struct stat_share_pair){wq, wp});

    p->equations_s = first ? got.large : got.small;
    q->equations_s = first ? got.small : got.large;
}

static double tables_weight(const struct experiment_job *j, enum interference_rule rule)
{
    return rule == INTERFERENCE_RULE_NODES       ? (double)j->nodes
           : rule == INTERFERENCE_RULE_PROCESSES ? (double)j->processes
                                                 : 1;
}

static void tables_by_model(struct experiment_cell *c, const double *cap_bps, double capacity,
                            enum interference_rule rule)
{
    struct stat_share_job job[EXPERIMENT_JOBS];
    struct stat_share_capacity server = {&capacity, 1};
    struct stat_share s;

    for (size_t i = 0; i < c->n; i++)
        job[i] = (struct stat_share_job){c->job[i].volume_b, c->job[i].start_s,
                                         tables_weight(&c->job[i], rule), cap_bps[i]};
    stat_share_solve(&s, job, c->n, &server);
    for (size_t i = 0; i < c->n; i++)
        c->job[i].model_s[rule] = s.runtime[i];
    stat_share_fini(&s);
}

/* Predicts a cell from the means of the runs alone; needs one for each of its sizes. */
static void tables_predict(struct experiment_tables *t, struct experiment_cell *c)
{
    double cap[EXPERIMENT_JOBS], capacity = tables_capacity(t, c->mode);

    for (size_t i = 0; i < c->n; i++) {
        const struct experiment_cell *a = tables_find_alone(t, c->mode, c->job[i].size);

        if (!a || !(c->job[i].volume_b > 0))
            return;
        cap[i] = a->job[0].overall_bps.mean;
    }
    if (c->n == 2)
        tables_by_equations(c, c->job[0].volume_b / cap[0], c->job[1].volume_b / cap[1]);
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        tables_by_model(c, cap, capacity, (enum interference_rule)r);
}

bool experiment_tables(struct experiment_tables *ret, const struct experiment *e,
                       struct wr_err *err)
{
    struct experiment_tables t = {0};
    bool ok = true;

    for (int together = 0; together < 2; together++)
        for (size_t i = 0; ok && i < e->trials.n; i++)
            if ((e->trials.v[i].n > 1) == together && experiment_is_first(e, i))
                ok = tables_add_cell(&t, e, &e->trials.v[i], err);
    if (ok && !t.cells.n)
        ok =
            wr_fail(err, WR_INPUT,
                    "%s holds no run of this experiment yet; run some of its trials first", e->out);
    for (size_t i = 0; ok && i < t.cells.n; i++)
        if (t.cells.v[i].n > 1)
            tables_predict(&t, &t.cells.v[i]);
    if (!ok) {
        experiment_tables_fini(&t);
        return false;
    }
    *ret = t;
    return true;
}

void experiment_tables_fini(struct experiment_tables *t)
{
    wr_vec_fini(&t->cells);
    wr_arena_fini(&t->arena);
}
