/* single_links.c -- how busy the links of each class were.
 *
 * A cumulative curve per class: at x, the part of its links that were sending no more
 * than x of the time. A machine has many links and a picture few dots: a
 * class is drawn from at most MAX_POINTS evenly spaced ranks, the ends included.
 */
#include <stdlib.h>
#include <string.h>

#include "single_priv.h"
#include "stat/sample.h"

enum { MAX_POINTS = 200 };

struct class
{
    const char *name;
    WR_VEC(double) busy; /* per cent, ascending */
    double saturated;    /* sum of per cent */
};

static void draw_class(struct single *s, const struct class *c, struct single_curves *curves)
{
    struct single_curve *curve = single_curve(s, curves, c->name);
    size_t n = c->busy.n, points = n < MAX_POINTS ? n : MAX_POINTS;

    wr_vec_push(&curve->point, (struct report_point){.x = c->busy.v[0], .y = 0});
    for (size_t i = 0; i < points; i++) {
        size_t rank = points > 1 ? i * (n - 1) / (points - 1) : 0;

        wr_vec_push(&curve->point,
                    (struct report_point){.x = c->busy.v[rank],
                                          .y = 100.0 * (double)(rank + 1) / (double)n});
    }
}

static void tabulate_class(struct table *t, const struct class *c)
{
    static const double q[] = {0, 0.5, 0.9, 0.99, 1};
    double sum = 0;

    for (size_t i = 0; i < c->busy.n; i++)
        sum += c->busy.v[i];
    table_add(t, "%s", c->name);
    table_add(t, "%zu", c->busy.n);
    table_number(t, sum / (double)c->busy.n, 2);
    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        table_number(t, stat_quantile(c->busy.v, c->busy.n, q[i]), 2);
    table_number(t, c->saturated / (double)c->busy.n, 2);
}

static void finish_class(struct single *s, struct class *c, struct single_curves *curves)
{
    if (c->busy.n) {
        draw_class(s, c, curves);
        tabulate_class(&s->links, c);
    }
    wr_vec_fini(&c->busy);
    c->saturated = 0;
}

static const char *busiest_words(struct single *s, const struct report_series *series, size_t n)
{
    const struct report_series *top = &series[0];

    for (size_t i = 1; i < n; i++)
        if (series[i].point[series[i].n - 1].x > top->point[top->n - 1].x)
            top = &series[i];
    return wr_arena_printf(&s->text,
                           "The busiest link is of class %s and sends %.3g %% of the time; the "
                           "steeper a curve, the more evenly its links share.",
                           top->name, top->point[top->n - 1].x);
}

static bool read_classes(struct single *s, struct single_curves *curves, struct wr_err *err)
{
    struct class now = {0};
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, s->run,
                   "SELECT class, 100 * utilization, 100 * saturated_ns /"
                   " (SELECT value FROM summary WHERE key = 'sim_end_ns')"
                   " FROM link_stat WHERE utilization IS NOT NULL ORDER BY class, utilization",
                   NULL, 0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        const char *name = run_rows_text(q, 0, NULL);

        if (!now.busy.n || strcmp(now.name, name) != 0) {
            finish_class(s, &now, curves);
            now.name = wr_arena_strdup(&s->text, name);
        }
        wr_vec_push(&now.busy, run_rows_real(q, 1));
        now.saturated += run_rows_real(q, 2);
    }
    finish_class(s, &now, curves);
    run_rows_close(q);
    return ok;
}

bool single_links(struct single *s, struct wr_err *err)
{
    static const char *const heads[] = {"class", "links", "mean %", "min %",      "p50 %",
                                        "p90 %", "p99 %", "max %",  "saturated %"};
    struct single_curves curves = {0};

    s->links = (struct table){.ncols = sizeof heads / sizeof *heads, .nleft = 1};
    for (size_t i = 0; i < s->links.ncols; i++)
        table_add(&s->links, "%s", heads[i]);
    bool ok = read_classes(s, &curves, err);
    size_t n = curves.v.n;
    const struct report_series *series =
        single_series(s, &curves, (struct report_series){.line_only = true, .steps = true});

    if (ok && n)
        wr_vec_push(&s->chart, (struct report_chart){
                                   .title = "How busy the links were",
                                   .desc = busiest_words(s, series, n),
                                   .x = {.label = "sending, % of the time", .zero = true},
                                   .y = {.label = "links of the class, %", .max = 100},
                                   .series = series,
                                   .nseries = n,
                               });
    return ok;
}
