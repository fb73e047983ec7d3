/* sec_servers.c -- storage: how much each device worked, and how long its queue was. */
#include <math.h>
#include <stdlib.h>

#include "report/doc.h"

struct servers {
    struct report_section *s;
    struct report_curves curves;
    double busiest, n;
};

static bool take_server(void *ctx, const struct run_rows *q)
{
    struct servers *v = ctx;
    struct report_curve *c = report_curve(v->s, &v->curves, run_rows_text(q, 0, NULL));

    wr_vec_push(&c->point,
                (struct report_point){.x = run_rows_real(q, 1), .y = run_rows_real(q, 2)});
    v->busiest = fmax(v->busiest, run_rows_real(q, 2));
    v->n++;
    return v->n < 4000;
}

static bool make_servers(const struct report_inputs *in, size_t which, struct report_section *s,
                         struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    struct servers v = {.s = s};

    if (run_info(r)->format_minor < 3) /* older files know no storage */
        return true;
    bool ok = run_each(
        r,
        "SELECT role || ', ' || device, server, 100 * busy_ns / (SELECT value FROM summary WHERE "
        "key"
        " = 'sim_end_ns') FROM server_stat WHERE reads + writes > 0 ORDER BY role, device, server",
        NULL, take_server, &v, err);
    size_t n = v.curves.v.n;
    const struct report_series *series =
        report_series(s, &v.curves, (struct report_series){.marks_only = true});

    if (!ok || !n)
        return ok;
    report_add_figure(s, "busy", REPORT_LINES)->chart = (struct report_chart){
        .title = "How busy the storage devices were",
        .desc =
            wr_arena_printf(s->arena, "%.0f devices had work; the busiest for %.3g %% of the time.",
                            v.n, v.busiest),
        .x = {.label = "server", .zero = true},
        .y = {.label = "had work", .unit = "% of the time", .zero = true},
        .series = series,
        .nseries = n};
    return report_add_query(
        s, "table", "Storage, by sort of device.", r,
        "SELECT role, device, model, count(*) AS devices, sum(reads) AS reads, sum(writes) AS "
        "writes,"
        " sum(bytes_read) AS \"read B\", sum(bytes_written) AS \"written B\", sum(seeks) AS seeks,"
        " round(avg(busy_ns) / 1e6, 3) AS \"mean busy ms\", max(queue_max) AS \"longest queue\""
        " FROM server_stat GROUP BY role, device, model",
        NULL, err);
}

const struct report_maker report_servers = {
    .id = "servers", .group = "run", .title = "Storage", .each = true, .make = make_servers};
