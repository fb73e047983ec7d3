/* sweep_read.c -- reads the points of load sweeps from run files and CSV tables into curves.
 *
 * Points of one curve and load that differ only in their seed become one, with the interval of
 * their mean. Curves of equal name in several files get the file's name too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "report/sweep_curves.h"

const char *const sweep_names[SWEEP_COLS + 1] = {
    "series",     "load",       "offered",   "accepted",        "lat_mean_ns", "lat_p50_ns",
    "lat_p99_ns", "lat_max_ns", "hops_mean", "nonminimal_frac", "saturated"};

static struct sweep_curve *sweep_read_find_curve(struct sweep *s, size_t run, const char *name)
{
    for (size_t i = s->curve.n; i-- > 0;)
        if (s->curve.v[i].run == run && !strcmp(s->curve.v[i].name, name))
            return &s->curve.v[i];
    wr_vec_push(&s->curve,
                (struct sweep_curve){.name = wr_arena_strdup(s->text, name), .run = run});
    return &s->curve.v[s->curve.n - 1];
}

static bool sweep_read_points(struct sweep *s, size_t run, struct run_reader *r, struct wr_err *err)
{
    struct wr_str sql = {0};
    struct run_rows *q;
    bool more;
    size_t n = 0;

    for (int c = 0; c <= SWEEP_COLS; c++)
        wr_str_addf(&sql, "%s%s", c ? ", " : "SELECT ", sweep_names[c]);
    wr_str_add(&sql, " FROM sweep");
    bool ok = run_query(&q, r, sql.s, NULL, 0, err);
    wr_str_fini(&sql);
    if (!ok)
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        struct sweep_point p = {.seeds = 1};

        for (int c = 0; c < SWEEP_COLS; c++)
            p.col[c] = run_rows_real(q, c + 1);
        struct sweep_curve *curve = sweep_read_find_curve(s, run, run_rows_text(q, 0, NULL));
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

static int sweep_read_by_load(const void *a, const void *b)
{
    const struct sweep_point *x = a, *y = b;

    return (x->col[SWEEP_LOAD] > y->col[SWEEP_LOAD]) - (x->col[SWEEP_LOAD] < y->col[SWEEP_LOAD]);
}

/* One point of `n` that differ in the seed alone. */
static struct sweep_point sweep_read_fold(const struct sweep_point *p, size_t n)
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

static void sweep_read_fold_seeds(struct sweep_curve *c)
{
    size_t kept = 0;

    qsort(c->point.v, c->point.n, sizeof *c->point.v, sweep_read_by_load);
    for (size_t i = 0, j; i < c->point.n; i = j) {
        for (j = i + 1; j < c->point.n && !sweep_read_by_load(&c->point.v[i], &c->point.v[j]); j++)
            ;
        c->point.v[kept++] = sweep_read_fold(&c->point.v[i], j - i);
    }
    c->point.n = kept;
}

/* Curves of different files that share a name get their file's. */
static void sweep_read_name_apart(struct sweep *s, const char *const *runs)
{
    const char **name = wr_zalloc(s->curve.n, sizeof *name);

    for (size_t i = 0; i < s->curve.n; i++) {
        struct sweep_curve *c = &s->curve.v[i];

        name[i] = c->name;
        for (size_t j = 0; j < s->curve.n; j++)
            if (j != i && !strcmp(s->curve.v[j].name, c->name))
                name[i] = wr_arena_printf(s->text, "%s (%s)", c->name,
                                          report_short_name(s->text, runs[c->run]));
    }
    for (size_t i = 0; i < s->curve.n; i++)
        s->curve.v[i].name = name[i];
    free(name);
}

struct csv_reader {
    struct sweep *sweep;
    size_t file, rows;
};

static void sweep_read_add_row(void *ctx, const char *const *text, const double *col)
{
    struct csv_reader *r = ctx;
    struct sweep_curve *curve = sweep_read_find_curve(r->sweep, r->file, text[0]);
    struct sweep_point p = {.seeds = 1};

    memcpy(p.col, col + 1, sizeof p.col);
    curve->reference = true;
    wr_vec_push(&curve->point, p);
    r->rows++;
}

bool sweep_is_table(const char *path)
{
    static const char *const endings[] = {".csv", ".csv.gz", ".csv.zst"};
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t e = strlen(endings[i]);

        if (n > e && !strcmp(path + n - e, endings[i]))
            return true;
    }
    return false;
}

static bool sweep_read_table(struct sweep *s, size_t i, const char *path, struct wr_err *err)
{
    /* As report_sweep_csv writes them; `seeds` is known and not needed. */
    const char *names[SWEEP_COLS + 2];
    struct csv_reader reader = {s, i, 0};
    struct wr_csv_shape shape = {
        .names = names, .n = SWEEP_COLS + 2, .needed = 2, .row = sweep_read_add_row};

    memcpy(names, sweep_names, sizeof sweep_names);
    names[SWEEP_COLS + 1] = "seeds";
    if (!wr_csv_read(&shape, path, &reader, err))
        return false;
    if (!reader.rows)
        return wr_fail(err, WR_INPUT, "%s: no points; add lines below the names", path);
    return true;
}

/* Tables alone have nothing to be compared with: they are the curves. */
static void sweep_read_draw_lone_tables(struct sweep *s)
{
    bool alone = true;

    for (size_t i = 0; i < s->curve.n; i++)
        alone &= s->curve.v[i].reference;
    for (size_t i = 0; alone && i < s->curve.n; i++)
        s->curve.v[i].reference = false;
}

static bool sweep_read_run(struct sweep *s, size_t i, const char *path, struct wr_err *err)
{
    struct run_reader *r;

    if (!run_open(&r, path, err))
        return false;
    bool ok = sweep_read_points(s, i, r, err);
    run_close(r);
    return ok;
}

bool sweep_read(struct sweep *ret, struct wr_arena *text, const char *const *runs, size_t n,
                struct wr_err *err)
{
    struct sweep s = {.text = text};

    for (size_t i = 0; i < n; i++)
        if (!(sweep_is_table(runs[i]) ? sweep_read_table : sweep_read_run)(&s, i, runs[i], err)) {
            sweep_fini(&s);
            return false;
        }
    for (size_t i = 0; i < s.curve.n; i++)
        sweep_read_fold_seeds(&s.curve.v[i]);
    sweep_read_name_apart(&s, runs);
    sweep_read_draw_lone_tables(&s);
    *ret = s;
    return true;
}

void sweep_fini(struct sweep *s)
{
    for (size_t i = 0; i < s->curve.n; i++)
        wr_vec_fini(&s->curve.v[i].point);
    wr_vec_fini(&s->curve);
}
