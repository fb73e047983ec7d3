/* single_slices.c -- metrics over time, one picture each.
 *
 * A few entities (the machine, classes, applications) are drawn one by one;
 * many (every router) as their mean and their largest.
 */
#include <math.h>
#include <stdlib.h>

#include "single_priv.h"

enum { MAX_METRICS = 12, ONE_BY_ONE = 6 };

struct metric {
    const char *name, *unit;
    const char *title; /* the name in words */
    double entities;
};

/* Both give name, time and value, in order of time. */
static const char each_entity[] = "SELECT entity, t_ns, value FROM slice WHERE metric = ?1"
                                  " ORDER BY t_ns";
static const char all_entities[] =
    "SELECT 'mean of all', t_ns, avg(value), max(value) FROM slice WHERE metric = ?1"
    " GROUP BY t_ns ORDER BY t_ns";

static bool read_metric(struct single *s, const struct metric *m, struct single_unit u,
                        struct single_curves *curves, struct wr_err *err)
{
    bool many = m->entities > ONE_BY_ONE, more, ok;
    struct run_rows *q;

    if (!run_query(&q, s->run, many ? all_entities : each_entity, &m->name, 1, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        struct report_point p = {.x = run_rows_real(q, 1) / u.ns, .y = run_rows_real(q, 2)};
        struct single_curve *c = single_curve(s, curves, run_rows_text(q, 0, NULL));

        wr_vec_push(&c->point, p);
        if (many) {
            c = single_curve(s, curves, "largest");
            p.y = run_rows_real(q, 3);
            wr_vec_push(&c->point, p);
        }
    }
    run_rows_close(q);
    return ok;
}

/* Thousands of bytes as kB, MB, ...; other units keep their numbers. */
static const char *si_prefix(double *v, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    size_t k = 0;

    while (*unit == 'B' && fabs(*v) >= 1000 && k < 5) {
        *v /= 1000;
        k++;
    }
    return prefix[k];
}

/* A slice holds until its end: the last one, too, taken as long as the one before. */
static void hold_last(struct single_curves *c)
{
    for (size_t i = 0; i < c->v.n; i++) {
        struct single_curve *one = &c->v.v[i];
        size_t n = one->point.n;

        if (n < 2)
            continue;
        struct report_point end = one->point.v[n - 1];
        end.x += end.x - one->point.v[n - 2].x;
        wr_vec_push(&one->point, end);
    }
}

/* The highest point of the picture, in words. */
static const char *peak_words(struct single *s, const struct metric *m, struct single_unit u,
                              const struct report_series *series, size_t n)
{
    const struct report_point *top = NULL;
    const char *who = "";

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++)
            if (!isnan(series[i].point[j].y) && (!top || series[i].point[j].y > top->y)) {
                top = &series[i].point[j];
                who = series[i].name;
            }
    if (!top)
        return "No value was measured.";
    double y = top->y;
    const char *prefix = si_prefix(&y, m->unit);

    return wr_arena_printf(&s->text, "%s: highest at %.4g %s, where %s reaches %.6g%s%s%s.",
                           m->title, top->x, u.name, who, y, *m->unit ? " " : "", prefix, m->unit);
}

static bool draw_metric(struct single *s, const struct metric *m, struct single_unit u,
                        struct wr_err *err)
{
    struct single_curves curves = {0};
    bool ok = read_metric(s, m, u, &curves, err);
    size_t n = curves.v.n;

    hold_last(&curves);
    const struct report_series *series =
        single_series(s, &curves, (struct report_series){.line_only = true, .steps = true});

    if (ok && n)
        wr_vec_push(&s->chart,
                    (struct report_chart){
                        .title = wr_arena_printf(&s->text, "%s over time", m->title),
                        .desc = peak_words(s, m, u, series, n),
                        .x = {.label = wr_arena_printf(&s->text, "time, %s", u.name)},
                        .y = {.label = wr_arena_printf(&s->text, *m->unit ? "%s, %s" : "%s%s",
                                                       m->title, m->unit),
                              .zero = true},
                        .series = series,
                        .nseries = n,
                    });
    return ok;
}

static bool list_metrics(struct single *s, struct metric *ret, size_t *ret_n, struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, s->run,
                   "SELECT metric, max(unit), count(DISTINCT entity), replace(metric, '_', ' ') "
                   "FROM slice GROUP BY metric"
                   " ORDER BY metric LIMIT 12",
                   NULL, 0, err))
        return false;
    for (*ret_n = 0; (ok = run_rows_next(q, &more, err)) && more && *ret_n < MAX_METRICS; ++*ret_n)
        ret[*ret_n] = (struct metric){
            .name = wr_arena_strdup(&s->text, run_rows_text(q, 0, NULL)),
            .unit = wr_arena_strdup(&s->text, run_rows_text(q, 1, NULL)),
            .title = wr_arena_strdup(&s->text, run_rows_text(q, 3, NULL)),
            .entities = run_rows_real(q, 2),
        };
    run_rows_close(q);
    return ok;
}

bool single_slices(struct single *s, struct wr_err *err)
{
    struct metric metric[MAX_METRICS];
    size_t n = 0;
    double end = NAN;
    bool found;

    if (!list_metrics(s, metric, &n, err) ||
        !run_number(s->run, "SELECT max(t_ns) FROM slice", &end, &found, err))
        return false;
    struct single_unit u = single_unit(end);
    for (size_t i = 0; i < n; i++)
        if (!draw_metric(s, &metric[i], u, err))
            return false;
    return true;
}
