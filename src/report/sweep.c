/* sweep.c -- load sweeps: the table, and text, CSV, SVG and a page of it. */
#include <math.h>

#include "sweep_priv.h"

/* For people: per cent, and latencies in one unit. */
static void fill_table(struct sweep *s, struct table *t)
{
    struct sweep_unit u = sweep_unit(s);
    bool seeds = false;

    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++)
            seeds |= s->curve.v[i].point.v[j].seeds > 1;
    *t = (struct table){.ncols = seeds ? 13 : 11, .nleft = 1};
    table_add(t, "curve");
    table_add(t, "load %%");
    table_add(t, "offered %%");
    table_add(t, "accepted %%");
    table_add(t, "mean %s", u.name);
    if (seeds) {
        table_add(t, "+- %s", u.name);
        table_add(t, "seeds");
    }
    table_add(t, "p50 %s", u.name);
    table_add(t, "p99 %s", u.name);
    table_add(t, "max %s", u.name);
    table_add(t, "hops");
    table_add(t, "non-minimal %%");
    table_add(t, "saturated");
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            const struct sweep_point *p = &s->curve.v[i].point.v[j];

            table_add(t, "%s", s->curve.v[i].name);
            table_number(t, 100 * p->col[SWEEP_LOAD], 2);
            table_number(t, 100 * p->col[SWEEP_OFFERED], 2);
            table_number(t, 100 * p->col[SWEEP_ACCEPTED], 2);
            table_number(t, p->col[SWEEP_MEAN] / u.ns, 3);
            if (seeds) {
                table_number(t, (p->mean_ns.high - p->mean_ns.mid) / u.ns, 3);
                table_add(t, "%zu", p->seeds);
            }
            for (int c = SWEEP_P50; c <= SWEEP_MAX; c++)
                table_number(t, p->col[c] / u.ns, 3);
            table_number(t, p->col[SWEEP_HOPS], 3);
            table_number(t, 100 * p->col[SWEEP_NONMINIMAL], 2);
            table_add(t, "%s", p->col[SWEEP_SATURATED] > 0 ? "yes" : "");
        }
    table_drop_empty(t);
}

bool report_sweep_text(const char *const *runs, size_t n, const struct report_text_style *style,
                       struct wr_str *out, struct wr_err *err)
{
    struct sweep s;
    struct table t;

    if (!sweep_read(&s, runs, n, err))
        return false;
    wr_str_add(out, wr_str_get(&s.sources.warnings));
    for (int which = 0; which < REPORT_PICTURES; which++) {
        struct report_chart c = sweep_chart(&s, which);

        report_chart_text(&c, style, out);
        report_wrap(out, c.desc, style->width ? style->width : 76);
        wr_str_add(out, "\n");
    }
    fill_table(&s, &t);
    table_text(&t, out);
    table_fini(&t);
    sweep_fini(&s);
    return true;
}

/* For programs: the columns of the view `sweep`, unrounded. */
static void fill_columns(const struct sweep *s, struct table *t)
{
    *t = (struct table){.ncols = SWEEP_COLS + 2, .nleft = 1};
    for (size_t i = 0; i + 1 < t->ncols; i++)
        table_add(t, "%s", sweep_names[i]);
    table_add(t, "seeds");
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            const struct sweep_point *p = &s->curve.v[i].point.v[j];

            table_add(t, "%s", s->curve.v[i].name);
            for (int c = 0; c < SWEEP_COLS; c++) {
                if (isnan(p->col[c]))
                    table_add(t, "%s", "");
                else
                    table_add(t, "%.12g", p->col[c]);
            }
            table_add(t, "%zu", p->seeds);
        }
}

bool report_sweep_csv(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    struct table t;
    struct sweep s;

    if (!sweep_read(&s, runs, n, err))
        return false;
    fill_columns(&s, &t);
    table_csv(&t, out);
    table_fini(&t);
    sweep_fini(&s);
    return true;
}

bool report_sweep_json(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    struct table t;
    struct sweep s;

    if (!sweep_read(&s, runs, n, err))
        return false;
    fill_columns(&s, &t);
    report_json(out, table_json(&t));
    table_fini(&t);
    sweep_fini(&s);
    return true;
}

bool report_sweep_svg(const char *const *runs, size_t n, enum report_picture which,
                      struct wr_str *out, struct wr_err *err)
{
    struct sweep s;

    if (!sweep_read(&s, runs, n, err))
        return false;
    struct report_chart c = sweep_chart(&s, which);
    report_chart_svg(&c, out);
    sweep_fini(&s);
    return true;
}

bool report_sweep_page(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    struct sweep s;
    struct table t;

    if (!sweep_read(&s, runs, n, err))
        return false;
    page_begin(s.sources.title, &s.sources, out);
    for (int which = 0; which < REPORT_PICTURES; which++) {
        struct report_chart c = sweep_chart(&s, which);

        page_figure(&c, report_picture_names[which], out);
    }
    wr_str_add(out, "<h2>The numbers</h2>\n");
    fill_table(&s, &t);
    table_html(&t, "Loads are per cent of the injection bandwidth; latencies are of messages.",
               out);
    table_fini(&t);
    page_end(&s.sources, out);
    sweep_fini(&s);
    return true;
}

bool report_sweep_html(const char *const *runs, size_t n, const char *out, struct wr_err *err)
{
    struct wr_str page = {0};
    bool ok = report_sweep_page(runs, n, &page, err) && report_write(out, &page, err);

    wr_str_fini(&page);
    return ok;
}

bool report_has_sweep(const char *run, bool *ret, struct wr_err *err)
{
    struct run_reader *r;
    double n = 0;
    bool found = false;

    if (sweep_is_table(run)) {
        *ret = true;
        return true;
    }
    if (!run_open(&r, run, err))
        return false;
    bool ok = run_number(r, "SELECT count(*) FROM sweep", &n, &found, err);
    run_close(r);
    if (ok)
        *ret = found && n > 0;
    return ok;
}
