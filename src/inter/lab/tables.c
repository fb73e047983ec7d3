/* tables.c -- what the runs of an experiment say together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inter/lab/lab.h"
#include "stat/moments.h"
#include "stat/share.h"

/* One job of one repetition. */
struct seen {
    double overall_bps, overlap_bps, runtime_s, spread, volume_b, start_s;
};

struct repetition {
    struct seen job[LAB_JOBS];
    double overlap_s;
};

struct gathered {
    WR_VEC(struct repetition) v;
};

static bool same_cell(const struct lab_trial *a, const struct lab_trial *b)
{
    return a->n == b->n && !strcmp(a->mode, b->mode) && !memcmp(a->size, b->size, sizeof a->size);
}

static bool read_trial(struct gathered *g, struct lab_cell *cell, const struct lab *l,
                       const struct lab_trial *t, struct wr_err *err)
{
    struct wr_arena arena = {0};
    const char *path[LAB_JOBS];
    struct inter_set s;
    struct inter_load how = {.op = INTER_BOTH};
    struct repetition r = {0};

    for (size_t i = 0; i < t->n; i++)
        path[i] = lab_run_path(l, t, i, &arena);
    bool ok = inter_load(&s, path, t->n, &how, err);

    wr_arena_fini(&arena);
    if (!ok)
        return false;
    if (s.njobs != t->n) {
        wr_fail(err, WR_INPUT, "%s has %zu jobs in %zu run files; give each command one job", t->id,
                s.njobs, t->n);
        inter_fini(&s);
        return false;
    }
    struct inter_analysis a;

    inter_analyse(&a, &s, NULL, INTER_ALL_PROCESSES);
    r.overlap_s = a.overlap_s;
    double begin = INFINITY;

    for (size_t i = 0; i < t->n; i++)
        begin = fmin(begin, s.job[i].start_s);
    for (size_t i = 0; i < t->n; i++) {
        r.job[i] =
            (struct seen){a.job[i].overall_bps, a.job[i].overlap_bps.mid, s.job[i].runtime_s,
                          a.job[i].spread,      s.job[i].volume_b,        s.job[i].start_s - begin};
        cell->job[i].processes = inter_processes(&s.job[i]);
        cell->job[i].nodes = s.job[i].nnodes;
    }
    wr_vec_push(&g->v, r);
    inter_analysis_fini(&a);
    inter_fini(&s);
    return true;
}

/* A repetition in which any job's throughput is an outlier is left out whole. */
static void drop_outliers(struct gathered *g, const struct lab_cell *cell,
                          const struct lab_spec *spec)
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
    /* When every one is odd in some way, none is. */
    size_t n = 0;

    for (size_t k = 0; kept && k < g->v.n; k++)
        if (!drop[k])
            g->v.v[n++] = g->v.v[k];
    g->v.n = kept ? n : g->v.n;
    free(x);
    free(out);
    free(drop);
}

static struct lab_mean mean_of(const struct gathered *g, size_t job, size_t offset)
{
    struct stat_moments m = {0};

    for (size_t k = 0; k < g->v.n; k++) {
        const void *at = (const char *)&g->v.v[k].job[job] + offset;
        double v = *(const double *)at;

        if (!isnan(v))
            stat_moments_add(&m, v);
    }
    return (struct lab_mean){m.n ? m.mean : NAN, stat_moments_stddev(&m)};
}

static void sum_up(struct lab_cell *cell, const struct gathered *g)
{
    double overlap = 0;

    for (size_t k = 0; k < g->v.n; k++)
        overlap += g->v.v[k].overlap_s / (double)g->v.n;
    cell->overlap_s = overlap;
    cell->kept = g->v.n;
    for (size_t i = 0; i < cell->n; i++) {
        struct lab_job *j = &cell->job[i];

        j->overall_bps = mean_of(g, i, offsetof(struct seen, overall_bps));
        j->overlap_bps = mean_of(g, i, offsetof(struct seen, overlap_bps));
        j->runtime_s = mean_of(g, i, offsetof(struct seen, runtime_s));
        j->spread = mean_of(g, i, offsetof(struct seen, spread));
        j->volume_b = mean_of(g, i, offsetof(struct seen, volume_b)).mean;
        j->start_s = mean_of(g, i, offsetof(struct seen, start_s)).mean;
    }
}

static bool add_cell(struct lab_tables *t, const struct lab *l, const struct lab_trial *first,
                     struct wr_err *err)
{
    struct lab_cell cell = {.mode = wr_arena_strdup(&t->arena, first->mode), .n = first->n};
    struct gathered g = {0};
    bool ok = true;

    for (size_t i = 0; i < cell.n; i++) {
        cell.job[i] = (struct lab_job){.size = first->size[i], .equations_s = NAN};
        for (int r = 0; r < INTER_RULES; r++)
            cell.job[i].model_s[r] = NAN;
    }
    for (size_t i = 0; ok && i < l->trials.n; i++)
        if (same_cell(&l->trials.v[i], first) && lab_done(l, &l->trials.v[i])) {
            ok = read_trial(&g, &cell, l, &l->trials.v[i], err);
            cell.runs += ok;
        }
    if (ok && cell.runs) {
        drop_outliers(&g, &cell, &l->spec);
        sum_up(&cell, &g);
        wr_vec_push(&t->cells, cell);
    }
    wr_vec_fini(&g.v);
    return ok;
}

/* ---- predictions ---- */

static const struct lab_cell *alone(const struct lab_tables *t, const char *mode, uint32_t size)
{
    for (size_t i = 0; i < t->cells.n; i++) {
        const struct lab_cell *c = &t->cells.v[i];

        if (c->n == 1 && !strcmp(c->mode, mode) && c->job[0].size == size)
            return c;
    }
    return NULL;
}

static double most_carried(const struct lab_tables *t, const char *mode)
{
    double most = 0;

    for (size_t i = 0; i < t->cells.n; i++)
        if (t->cells.v[i].n == 1 && !strcmp(t->cells.v[i].mode, mode))
            most = fmax(most, t->cells.v[i].job[0].overall_bps.mean);
    return most;
}

static void by_equations(struct lab_cell *c, double alone_p, double alone_q)
{
    struct lab_job *p = &c->job[0], *q = &c->job[1];
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

static double weight(const struct lab_job *j, enum inter_rule rule)
{
    return rule == INTER_RULE_NODES       ? (double)j->nodes
           : rule == INTER_RULE_PROCESSES ? (double)j->processes
                                          : 1;
}

static void by_model(struct lab_cell *c, const double *cap_bps, double capacity,
                     enum inter_rule rule)
{
    struct stat_share_job job[LAB_JOBS];
    struct stat_share_capacity server = {&capacity, 1};
    struct stat_share s;

    for (size_t i = 0; i < c->n; i++)
        job[i] = (struct stat_share_job){c->job[i].volume_b, c->job[i].start_s,
                                         weight(&c->job[i], rule), cap_bps[i]};
    stat_share_solve(&s, job, c->n, &server);
    for (size_t i = 0; i < c->n; i++)
        c->job[i].model_s[rule] = s.runtime[i];
    stat_share_fini(&s);
}

/* From the means alone; a cell with a size that was not run alone is left without. */
static void predict(struct lab_tables *t, struct lab_cell *c)
{
    double cap[LAB_JOBS], capacity = most_carried(t, c->mode);

    for (size_t i = 0; i < c->n; i++) {
        const struct lab_cell *a = alone(t, c->mode, c->job[i].size);

        if (!a || !(c->job[i].volume_b > 0))
            return;
        cap[i] = a->job[0].overall_bps.mean;
    }
    if (c->n == 2)
        by_equations(c, c->job[0].volume_b / cap[0], c->job[1].volume_b / cap[1]);
    for (int r = 0; r < INTER_RULES; r++)
        by_model(c, cap, capacity, (enum inter_rule)r);
}

bool lab_tables(struct lab_tables *ret, const struct lab *l, struct wr_err *err)
{
    struct lab_tables t = {0};
    bool ok = true;

    for (int together = 0; together < 2; together++)
        for (size_t i = 0; ok && i < l->trials.n; i++)
            if (l->trials.v[i].repetition == 1 && (l->trials.v[i].n > 1) == together)
                ok = add_cell(&t, l, &l->trials.v[i], err);
    if (ok && !t.cells.n)
        ok = wr_fail(err, WR_INPUT, "%s holds no run of this experiment yet; leave out --tables",
                     l->out);
    for (size_t i = 0; ok && i < t.cells.n; i++)
        if (t.cells.v[i].n > 1)
            predict(&t, &t.cells.v[i]);
    if (!ok) {
        lab_tables_fini(&t);
        return false;
    }
    *ret = t;
    return true;
}

void lab_tables_fini(struct lab_tables *t)
{
    wr_vec_fini(&t->cells);
    wr_arena_fini(&t->arena);
}
