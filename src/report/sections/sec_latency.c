/* sec_latency.c -- the section "latency": quantiles and cumulative distribution (CDF) of latencies.
 */
#include <math.h>
#include <string.h>

#include "sections_priv.h"

static bool sec_latency_table(struct run_reader *r, struct report_section *s,
                              struct report_unit *ret_unit, struct wr_err *err)
{
    static const char *const heads[] = {"mean", "min", "p01", "p25",  "p50",
                                        "p75",  "p90", "p99", "p999", "max"};
    struct run_rows *q;
    double least_mean = INFINITY;
    bool found, more, ok;

    if (!run_number(r, "SELECT min(mean_ns) FROM latency WHERE n > 0", &least_mean, &found, err))
        return false;
    struct report_unit u = report_unit(found ? least_mean : 1);
    if (!run_query(&q, r,
                   "SELECT coalesce((SELECT name FROM app_stat a WHERE a.app = l.app), app, 'all'),"
                   " class, n, mean_ns, min_ns, p01_ns, p25_ns, p50_ns, p75_ns, p90_ns, p99_ns,"
                   " p999_ns, max_ns FROM latency l",
                   NULL, 0, err))
        return false;
    struct report_table *t = report_add_sheet(s, "table", "Latency by class.", 13, 2);
    report_table_add(t, "application");
    report_table_add(t, "class");
    report_table_add(t, "n");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        report_table_add(t, "%s %s", heads[i], u.name);
    while ((ok = run_rows_next(q, &more, err)) && more) {
        report_table_add(t, "%s", run_rows_text(q, 0, NULL));
        report_table_add(t, "%s", run_rows_text(q, 1, NULL));
        report_table_add(t, "%lld", (long long)run_rows_int(q, 2));
        for (int c = 3; c < 13; c++)
            report_table_number(t, run_rows_real(q, c) / u.ns, 3);
    }
    run_rows_close(q);
    if (t->cell.n == t->ncols)
        report_drop_sheet(s);
    *ret_unit = u;
    return ok;
}

/* Cumulative counts, turned into per cent when the total is known. */
static void sec_latency_to_percent(struct report_curves *c)
{
    for (size_t i = 0; i < c->v.n; i++) {
        struct report_curve *one = &c->v.v[i];
        double total = one->point.v[one->point.n - 1].y;

        for (size_t j = 0; j < one->point.n; j++)
            one->point.v[j].y *= 100 / total;
    }
}

/* Where a rising curve passes y. */
static double sec_latency_passes(const struct report_series *s, double y)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].y >= y)
            return s->point[i].x;
    return NAN;
}

/* Packets and requests have classes of their own. */
static bool sec_latency_is_of_messages(const struct report_series *series, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(series[i].name, "message", 7) != 0)
            return false;
    return true;
}

/* In the unit that suits it. */
static void sec_latency_add_time(struct wr_str *w, const char *before, double ns)
{
    struct report_unit u = report_unit(ns);

    wr_str_addf(w, "%s%.4g %s", before, ns / u.ns, u.name);
}

static const char *sec_latency_words(struct report_section *s, const struct report_series *series,
                                     size_t n, struct report_unit u)
{
    struct wr_str w = {0};

    for (size_t i = 0; i < n && i < 2; i++) {
        wr_str_addf(&w, "%smedian latency of %s", i ? "; " : "", series[i].name);
        sec_latency_add_time(&w, " ", u.ns * sec_latency_passes(&series[i], 50));
        sec_latency_add_time(&w, ", 99th percentile ", u.ns * sec_latency_passes(&series[i], 99));
    }
    wr_str_add(&w, ".");
    w.s[0] = 'M';
    const char *ret = wr_arena_strdup(s->arena, w.s);
    wr_str_fini(&w);
    return ret;
}

static bool sec_latency_make(const struct report_inputs *in, size_t which, struct report_section *s,
                             struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    struct report_curves curves = {0};
    struct report_unit u;
    struct run_rows *q;
    bool more, ok;

    if (!sec_latency_table(r, s, &u, err))
        return false;
    if (!run_query(&q, r,
                   "SELECT replace(class, '_', ' ') || CASE WHEN h.app IS NULL OR (SELECT count(*) "
                   "FROM app_stat) < 2 THEN ''"
                   " ELSE ' of ' || coalesce(a.name, h.app) END, low_ns, high_ns, n"
                   " FROM latency_hist h LEFT JOIN app_stat a ON a.app = h.app WHERE n > 0"
                   " ORDER BY h.app, class, low_ns",
                   NULL, 0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        struct report_curve *c = report_curve(s, &curves, run_rows_text(q, 0, NULL));
        double below = c->point.n ? c->point.v[c->point.n - 1].y : 0;

        if (!c->point.n)
            wr_vec_push(&c->point, (struct report_point){.x = run_rows_real(q, 1) / u.ns});
        wr_vec_push(&c->point, (struct report_point){.x = run_rows_real(q, 2) / u.ns,
                                                     .y = below + run_rows_real(q, 3)});
    }
    run_rows_close(q);
    sec_latency_to_percent(&curves);
    size_t n = curves.v.n;
    const struct report_series *series =
        report_series(s, &curves, (struct report_series){.line_only = true});
    if (!ok || !n)
        return ok;
    report_add_figure(s, "cdf", REPORT_LINES)->chart = (struct report_chart){
        .title =
            sec_latency_is_of_messages(series, n) ? "CDF of message latency" : "CDF of latency",
        .desc = sec_latency_words(s, series, n, u),
        .x = {.label = "latency", .unit = u.name, .log = true},
        .y = {.label = "CDF", .unit = "%", .max = 100},
        .series = series,
        .nseries = n};
    return true;
}

const struct report_maker report_latency = {
    .id = "latency", .group = "run", .title = "Latency", .each = true, .make = sec_latency_make};
