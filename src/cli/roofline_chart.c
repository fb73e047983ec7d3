/* roofline_chart.c -- draws a roofline: bands of least and largest rate over clients per server.
 *
 * `weir roofline model` uses it for terminals and SVG.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/roofline_tables.h"

enum { STEPS = 72, MOST_SYSTEMS = 8 };

struct drawing {
    bool disturbed; /* a point is */
    struct wr_arena arena;
    WR_VEC(struct report_series) series;
    double from, to; /* x */
};

typedef struct report_point (*curve)(const struct stat_roof *r, double x);

/* A bound: the high end, with the range of its parameters below it. */
static struct report_point roofline_chart_roof(const struct stat_roof *r, double x)
{
    struct stat_range y = stat_roof_at(r, x, 1).client;

    return (struct report_point){x, y.hi, y.lo, y.hi, false};
}

/* From the parameters that the upper roof has, so that it is never above that. */
static struct report_point roofline_chart_round_knee(const struct stat_roof *r, double x)
{
    double y = stat_roof_mva(r, 1, x, 1, STAT_SERVICE_EXP);

    return (struct report_point){x, y, y, y, false};
}

static void roofline_chart_add_curve(struct drawing *d, const char *name, const struct stat_roof *r,
                                     curve y, bool band)
{
    struct report_point *at = wr_arena_alloc(&d->arena, (STEPS + 1) * sizeof *at);
    double x[STEPS + 1];

    stat_roof_steps(r, d->from, d->to, x, STEPS + 1);
    for (int i = 0; i <= STEPS; i++)
        at[i] = y(r, x[i]);
    wr_vec_push(&d->series,
                (struct report_series){
                    .name = name, .point = at, .n = STEPS + 1, .line_only = true, .fan = band});
}

static void roofline_chart_add_seen(struct drawing *d, const struct roofline_params *p,
                                    const struct roofline_system *s, enum roofline_metric m)
{
    struct report_point *at = wr_arena_alloc(&d->arena, (p->seen.n + 1) * sizeof *at);
    size_t n = 0;

    for (size_t i = 0; i < p->seen.n; i++) {
        const struct roofline_seen *seen = &p->seen.v[i];
        double y = seen->measured / seen->clients;

        if (seen->system != s->name || seen->metric != m)
            continue;
        d->disturbed = d->disturbed || seen->disturbed > 0;
        at[n++] =
            (struct report_point){seen->servers / seen->clients, y, y, y, seen->disturbed > 0};
    }
    if (n)
        wr_vec_push(&d->series, (struct report_series){
                                    .name = wr_arena_printf(&d->arena, "%s measured", s->name),
                                    .point = at,
                                    .n = n,
                                    .marks_only = true});
}

/* From well below the first knee to above the last, and all points. */
static void roofline_chart_choose_range(struct drawing *d, const struct roofline_params *p,
                                        enum roofline_metric m)
{
    d->from = INFINITY;
    for (size_t i = 0; i < p->system.n; i++)
        if (p->system.v[i].has[m]) {
            struct stat_range knee = stat_roof_knee(&p->system.v[i].roof[m]);

            d->from = fmin(d->from, knee.lo / 8);
            d->to = fmax(d->to, knee.hi * 8);
        }
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.v[i].metric == m) {
            d->from = fmin(d->from, p->seen.v[i].servers / p->seen.v[i].clients);
            d->to = fmax(d->to, p->seen.v[i].servers / p->seen.v[i].clients);
        }
    /* Thousands of clients at one server take long to add up and say nothing new. */
    d->from = fmax(d->from, 1e-4);
}

static void roofline_chart_draw(struct drawing *d, const struct roofline_params *p,
                                enum roofline_metric m)
{
    size_t systems = 0;

    roofline_chart_choose_range(d, p, m);
    for (size_t i = 0; i < p->system.n; i++)
        systems += p->system.v[i].has[m];
    for (size_t i = 0; i < p->system.n && i < MOST_SYSTEMS; i++) {
        const struct roofline_system *s = &p->system.v[i];

        if (!s->has[m])
            continue;
        if (systems == 1)
            roofline_chart_add_curve(d, "roof", &s->roof[m], roofline_chart_roof, true);
        roofline_chart_add_curve(d, systems == 1 ? "with queueing (MVA)" : s->name, &s->roof[m],
                                 roofline_chart_round_knee, false);
        roofline_chart_add_seen(d, p, s, m);
    }
}

static void roofline_chart_make(const struct roofline_params *p, enum roofline_metric m,
                                const struct report_text_style *style, struct wr_str *out)
{
    struct drawing d = {0};
    char title[96], y[64];

    roofline_chart_draw(&d, p, m);
    snprintf(title, sizeof title, "%s of a client", roofline_metrics[m].title);
    snprintf(y, sizeof y, "per client, %s", roofline_metrics[m].unit);
    struct report_chart c = {
        .title = title,
        .desc = "Left of the knee more servers help, right of it the clients are the limit.",
        .x = {.label = "servers per client", .log = true, .min = d.from, .max = d.to},
        .y = {.label = y, .log = true},
        .open_means = d.disturbed ? "measured while others used the machine" : NULL,
        .series = d.series.v,
        .nseries = d.series.n};

    if (style)
        report_chart_text(&c, style, out);
    else
        report_chart_svg(&c, out);
    wr_vec_fini(&d.series);
    wr_arena_fini(&d.arena);
}

void roofline_chart_text(const struct roofline_params *p, enum roofline_metric m,
                         const struct report_text_style *style, struct wr_str *out)
{
    roofline_chart_make(p, m, style, out);
}

void roofline_chart_svg(const struct roofline_params *p, enum roofline_metric m, struct wr_str *out)
{
    roofline_chart_make(p, m, NULL, out);
}
