/* sweep.c -- load sweeps: the table, and the section of a report. */
#include <math.h>

#include "sweep_priv.h"

/* For people: per cent, and latencies in one unit. */
static void fill_table(struct sweep *s, struct report_table *t)
{
    struct report_unit u = sweep_unit(s);
    bool seeds = false;

    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++)
            seeds |= s->curve.v[i].point.v[j].seeds > 1;
    *t = (struct report_table){.ncols = seeds ? 13 : 11, .nleft = 1};
    report_table_add(t, "curve");
    report_table_add(t, "load %%");
    report_table_add(t, "offered %%");
    report_table_add(t, "accepted %%");
    report_table_add(t, "mean %s", u.name);
    if (seeds) {
        report_table_add(t, "+- %s", u.name);
        report_table_add(t, "seeds");
    }
    report_table_add(t, "p50 %s", u.name);
    report_table_add(t, "p99 %s", u.name);
    report_table_add(t, "max %s", u.name);
    report_table_add(t, "hops");
    report_table_add(t, "non-minimal %%");
    report_table_add(t, "saturated");
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            const struct sweep_point *p = &s->curve.v[i].point.v[j];

            report_table_add(t, "%s", s->curve.v[i].name);
            report_table_number(t, 100 * p->col[SWEEP_LOAD], 2);
            report_table_number(t, 100 * p->col[SWEEP_OFFERED], 2);
            report_table_number(t, 100 * p->col[SWEEP_ACCEPTED], 2);
            report_table_number(t, p->col[SWEEP_MEAN] / u.ns, 3);
            if (seeds) {
                report_table_number(t, (p->mean_ns.high - p->mean_ns.mid) / u.ns, 3);
                report_table_add(t, "%zu", p->seeds);
            }
            for (int c = SWEEP_P50; c <= SWEEP_MAX; c++)
                report_table_number(t, p->col[c] / u.ns, 3);
            report_table_number(t, p->col[SWEEP_HOPS], 3);
            report_table_number(t, 100 * p->col[SWEEP_NONMINIMAL], 2);
            report_table_add(t, "%s", p->col[SWEEP_SATURATED] > 0 ? "yes" : "");
        }
    report_table_drop_empty(t);
}

/* For programs: the columns of the view `sweep`, unrounded. */
static void fill_columns(const struct sweep *s, struct report_table *t)
{
    *t = (struct report_table){.ncols = SWEEP_COLS + 2, .nleft = 1};
    for (size_t i = 0; i + 1 < t->ncols; i++)
        report_table_add(t, "%s", sweep_names[i]);
    report_table_add(t, "seeds");
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            const struct sweep_point *p = &s->curve.v[i].point.v[j];

            report_table_add(t, "%s", s->curve.v[i].name);
            for (int c = 0; c < SWEEP_COLS; c++) {
                if (isnan(p->col[c]))
                    report_table_add(t, "%s", "");
                else
                    report_table_add(t, "%.12g", p->col[c]);
            }
            report_table_add(t, "%zu", p->seeds);
        }
}

typedef void write_table(const struct report_table *t, struct wr_str *out);

static bool write_columns(const char *const *runs, size_t n, write_table *fn, struct wr_str *out,
                          struct wr_err *err)
{
    struct wr_arena text = {0};
    struct report_table t;
    struct sweep s;

    if (!sweep_read(&s, &text, runs, n, err)) {
        wr_arena_fini(&text);
        return false;
    }
    fill_columns(&s, &t);
    fn(&t, out);
    report_table_fini(&t);
    sweep_fini(&s);
    wr_arena_fini(&text);
    return true;
}

bool report_sweep_csv(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    return write_columns(runs, n, report_table_csv, out, err);
}

bool report_sweep_json(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    return write_columns(runs, n, report_table_json, out, err);
}

bool report_has_sweep(const char *run, bool *ret, struct wr_err *err)
{
    struct run_reader *r;
    double n = 0;
    bool found = false;

    if (!run_open(&r, run, err))
        return false;
    bool ok = run_number(r, "SELECT 1 FROM sweep LIMIT 1", &n, &found, err);
    run_close(r);
    if (ok)
        *ret = found;
    return ok;
}

static bool make_sweeps(const struct report_inputs *in, size_t which, struct report_section *s,
                        struct wr_err *err)
{
    const char **runs = wr_arena_alloc(s->arena, (in->v.n + 1) * sizeof *runs);
    struct sweep sweep;
    size_t n = 0;

    (void)which;
    for (size_t i = 0; i < in->v.n; i++)
        if (in->v.v[i].sweep)
            runs[n++] = in->v.v[i].path;
    if (!n)
        return true;
    if (!sweep_read(&sweep, s->arena, runs, n, err))
        return false;
    for (int k = 0; k < REPORT_PICTURES; k++) {
        struct report_figure *f = report_add_figure(s, report_picture_names[k], REPORT_LINES);

        f->chart = sweep_chart(&sweep, k);
    }
    fill_table(&sweep, report_add_sheet(s, "table",
                                        "Loads are per cent of the injection bandwidth; latencies "
                                        "are of messages.",
                                        0, 0));
    sweep_fini(&sweep);
    return true;
}

const struct report_maker report_sweeps = {
    .id = "sweep", .group = "sweep", .title = "Load sweep", .make = make_sweeps};
