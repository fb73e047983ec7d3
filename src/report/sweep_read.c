/* sweep_read.c -- run files -> curves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_priv.h"

/* As the columns of enum sweep_col. */
static const char query[] =
    "SELECT series, load, offered, accepted, lat_mean_ns, lat_p50_ns, lat_p99_ns, lat_max_ns,"
    " hops_mean, nonminimal_frac, saturated FROM sweep";

static struct sweep_curve *find_curve(struct sweep *s, size_t run, const char *name)
{
    for (size_t i = s->curve.n; i-- > 0;)
        if (s->curve.v[i].run == run && !strcmp(s->curve.v[i].name, name))
            return &s->curve.v[i];
    wr_vec_push(&s->curve,
                (struct sweep_curve){.name = wr_arena_strdup(&s->text, name), .run = run});
    return &s->curve.v[s->curve.n - 1];
}

static bool read_points(struct sweep *s, size_t run, struct run_reader *r, struct wr_err *err)
{
    struct run_rows *q;
    bool more;
    size_t n = 0;

    if (!run_query(&q, r, query, NULL, 0, err))
        return false;
    bool ok;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        struct sweep_point p = {.seeds = 1};

        for (int c = 0; c < SWEEP_COLS; c++)
            p.col[c] = run_rows_real(q, c + 1);
        struct sweep_curve *curve = find_curve(s, run, run_rows_text(q, 0, NULL));
        wr_vec_push(&curve->point, p);
        n++;
    }
    run_rows_close(q);
    if (ok && !n)
        return wr_fail(
            err, WR_INPUT,
            "%s holds no load sweep; make one with `weir sweep`, or report this run alone",
            run_path(r));
    return ok;
}

static int by_load(const void *a, const void *b)
{
    const struct sweep_point *x = a, *y = b;

    return (x->col[SWEEP_LOAD] > y->col[SWEEP_LOAD]) - (x->col[SWEEP_LOAD] < y->col[SWEEP_LOAD]);
}

/* One point of `n` that differ in the seed alone. */
static struct sweep_point fold(const struct sweep_point *p, size_t n)
{
    struct sweep_point one = {.seeds = n};
    double *x = wr_alloc(n * sizeof *x);

    for (int c = 0; c < SWEEP_COLS; c++) {
        for (size_t i = 0; i < n; i++)
            x[i] = p[i].col[c];
        struct stat_interval ci = stat_mean_interval(x, n, 0.95);

        one.col[c] = ci.mid;
        if (c == SWEEP_ACCEPTED)
            one.accepted = ci;
        if (c == SWEEP_MEAN)
            one.mean_ns = ci;
    }
    free(x);
    return one;
}

static void fold_seeds(struct sweep_curve *c)
{
    size_t kept = 0;

    qsort(c->point.v, c->point.n, sizeof *c->point.v, by_load);
    for (size_t i = 0, j; i < c->point.n; i = j) {
        for (j = i + 1; j < c->point.n && !by_load(&c->point.v[i], &c->point.v[j]); j++)
            ;
        c->point.v[kept++] = fold(&c->point.v[i], j - i);
    }
    c->point.n = kept;
}

/* Curves of different files that share a name get their file's. */
static void tell_apart(struct sweep *s, const char *const *runs)
{
    const char **name = wr_zalloc(s->curve.n, sizeof *name);

    for (size_t i = 0; i < s->curve.n; i++) {
        struct sweep_curve *c = &s->curve.v[i];

        name[i] = c->name;
        for (size_t j = 0; j < s->curve.n; j++)
            if (j != i && !strcmp(s->curve.v[j].name, c->name))
                name[i] = wr_arena_printf(&s->text, "%s (%s)", c->name,
                                          page_short_name(&s->text, runs[c->run]));
    }
    for (size_t i = 0; i < s->curve.n; i++)
        s->curve.v[i].name = name[i];
    free(name);
}

static bool read_run(struct sweep *s, size_t i, const char *path, struct wr_err *err)
{
    struct run_reader *r;

    if (!run_open(&r, path, err))
        return false;
    bool ok = page_sources_add(&s->sources, r, err) && read_points(s, i, r, err);
    run_close(r);
    return ok;
}

bool sweep_read(struct sweep *ret, const char *const *runs, size_t n, struct wr_err *err)
{
    struct sweep s = {0};

    page_sources_init(&s.sources);
    for (size_t i = 0; i < n; i++)
        if (!read_run(&s, i, runs[i], err)) {
            sweep_fini(&s);
            return false;
        }
    for (size_t i = 0; i < s.curve.n; i++)
        fold_seeds(&s.curve.v[i]);
    tell_apart(&s, runs);
    *ret = s;
    return true;
}

void sweep_fini(struct sweep *s)
{
    for (size_t i = 0; i < s->curve.n; i++)
        wr_vec_fini(&s->curve.v[i].point);
    wr_vec_fini(&s->curve);
    page_sources_fini(&s->sources);
    wr_arena_fini(&s->text);
}
