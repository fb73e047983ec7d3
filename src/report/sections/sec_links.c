/* sec_links.c -- how busy the links of each class were, and for how long they were saturated.
 *
 * A cumulative curve per class: at x, the part of its links that were sending no more
 * than x of the time. A machine has many links and a picture few dots: a
 * class is drawn from at most MAX_POINTS evenly spaced ranks, the ends included.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sec_links_priv.h"
#include "sections_priv.h"
#include "stat/sample.h"

enum { MAX_POINTS = 200 };

static void sec_links_draw_class(struct report_section *s, const char *name, double *x, size_t n,
                                 size_t most, struct report_curves *curves)
{
    struct report_curve *curve = report_curve(s, curves, name);
    size_t points = n < most ? n : most;

    stat_sort(x, n);
    wr_vec_push(&curve->point, (struct report_point){.x = x[0], .y = 0});
    for (size_t i = 0; i < points; i++) {
        size_t rank = points > 1 ? i * (n - 1) / (points - 1) : 0;

        wr_vec_push(&curve->point, (struct report_point){
                                       .x = x[rank], .y = 100.0 * (double)(rank + 1) / (double)n});
    }
}

void links_draw(struct report_section *s, struct links_read *l, const char *of, size_t most,
                struct report_curves *busy, struct report_curves *saturated)
{
    for (size_t i = 0; i < l->cls.n; i++) {
        const char *name = of ? of : l->cls.v[i].name;

        sec_links_draw_class(s, name, l->cls.v[i].busy.v, l->cls.v[i].busy.n, most, busy);
        sec_links_draw_class(s, name, l->cls.v[i].saturated.v, l->cls.v[i].saturated.n, most,
                             saturated);
    }
}

bool links_read(struct links_read *ret, struct run_reader *r, const char *where,
                struct wr_arena *arena, struct wr_err *err)
{
    struct links_read l = {0};
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, r,
                   wr_arena_printf(arena,
                                   "SELECT class, 100 * utilization, 100 * saturated_ns /"
                                   " (SELECT value FROM summary WHERE key = 'sim_end_ns')"
                                   " FROM link_stat WHERE utilization IS NOT NULL%s ORDER BY class",
                                   where),
                   NULL, 0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        const char *name = run_rows_text(q, 0, NULL);

        if (!l.cls.n || strcmp(l.cls.v[l.cls.n - 1].name, name) != 0)
            wr_vec_push(&l.cls, (struct links_class){.name = wr_arena_strdup(arena, name)});
        struct links_class *c = &l.cls.v[l.cls.n - 1];
        double sat = run_rows_real(q, 2);

        wr_vec_push(&c->busy, run_rows_real(q, 1));
        wr_vec_push(&c->saturated, isfinite(sat) ? sat : 0);
    }
    run_rows_close(q);
    if (ok)
        *ret = l;
    else
        links_fini(&l);
    return ok;
}

void links_fini(struct links_read *l)
{
    for (size_t i = 0; i < l->cls.n; i++) {
        wr_vec_fini(&l->cls.v[i].busy);
        wr_vec_fini(&l->cls.v[i].saturated);
    }
    wr_vec_fini(&l->cls);
}

static double sec_links_mean_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* After they were drawn: the values are in order. */
static void sec_links_tabulate(struct report_section *s, const struct links_read *l)
{
    static const char *const heads[] = {"class", "links", "mean %", "min %",      "p50 %",
                                        "p90 %", "p99 %", "max %",  "saturated %"};
    static const double at[] = {0, 0.5, 0.9, 0.99, 1};
    struct report_table *t = report_add_sheet(s, "table", "Link utilisation by class.", 9, 1);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", heads[i]);
    for (size_t i = 0; i < l->cls.n; i++) {
        const struct links_class *c = &l->cls.v[i];

        report_table_add(t, "%s", c->name);
        report_table_add(t, "%zu", c->busy.n);
        report_table_number(t, sec_links_mean_of(c->busy.v, c->busy.n), 2);
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            report_table_number(t, stat_quantile(c->busy.v, c->busy.n, at[k]), 2);
        report_table_number(t, sec_links_mean_of(c->saturated.v, c->saturated.n), 2);
    }
}

/* The series that reaches farthest. */
static const struct report_series *sec_links_farthest(const struct report_series *series, size_t n)
{
    const struct report_series *top = &series[0];

    for (size_t i = 1; i < n; i++)
        if (series[i].point[series[i].n - 1].x > top->point[top->n - 1].x)
            top = &series[i];
    return top;
}

void links_figures(struct report_section *s, struct report_curves *busy,
                   struct report_curves *saturated, const char *what)
{
    size_t n = busy->v.n, nsat = saturated->v.n;
    struct report_series shape = {.line_only = true, .steps = true};
    const struct report_series *b = report_series(s, busy, shape);
    const struct report_series *w = report_series(s, saturated, shape);

    if (!n)
        return;
    const struct report_series *top = sec_links_farthest(b, n),
                               *worst = sec_links_farthest(w, nsat);
    report_add_figure(s, "busy", REPORT_LINES)->chart = (struct report_chart){
        .title = "CDF of link utilisation",
        .desc = wr_arena_printf(s->arena,
                                "The busiest link is of %s%s with a utilisation of %.3g %%; the "
                                "steeper a curve, the more evenly its links are loaded.",
                                what, top->name, top->point[top->n - 1].x),
        .x = {.label = "link utilisation", .unit = "%", .zero = true},
        .y = {.label = "CDF over links of the class", .unit = "%", .max = 100},
        .series = b,
        .nseries = n};
    report_add_figure(s, "saturated", REPORT_LINES)->chart = (struct report_chart){
        .title = "CDF of link saturation",
        .desc = wr_arena_printf(s->arena,
                                "The most saturated link is of %s%s: during %.3g %% of the time "
                                "a packet waited for it and had no credit.",
                                what, worst->name, worst->point[worst->n - 1].x),
        .x = {.label = "time saturated", .unit = "%", .zero = true},
        .y = {.label = "CDF over links of the class", .unit = "%", .max = 100},
        .series = w,
        .nseries = nsat};
}

static bool sec_links_make(const struct report_inputs *in, size_t which, struct report_section *s,
                           struct wr_err *err)
{
    struct report_curves busy = {0}, saturated = {0};
    struct links_read l;

    if (!links_read(&l, in->v.v[which].run, "", s->arena, err))
        return false;
    links_draw(s, &l, NULL, MAX_POINTS, &busy, &saturated);
    links_figures(s, &busy, &saturated, "class ");
    if (l.cls.n)
        sec_links_tabulate(s, &l);
    links_fini(&l);
    return true;
}

const struct report_maker report_links = {
    .id = "links", .group = "run", .title = "Links", .each = true, .make = sec_links_make};
