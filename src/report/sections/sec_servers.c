/* sec_servers.c -- the section "servers": utilisation and queue length of each storage device. */
#include <math.h>
#include <stdlib.h>

#include "sections_priv.h"

/* State while the rows of the devices are read. */
struct servers {
    struct report_section *s;
    struct report_curves curves;
    double busiest, n; /* largest utilisation so far; devices */
};

static bool sec_servers_on_server(void *ctx, const struct run_rows *q)
{
    struct servers *v = ctx;
    struct report_curve *c = report_curve(v->s, &v->curves, run_rows_text(q, 0, NULL));

    wr_vec_push(&c->point,
                (struct report_point){.x = run_rows_real(q, 1), .y = run_rows_real(q, 2)});
    v->busiest = fmax(v->busiest, run_rows_real(q, 2));
    v->n++;
    return v->n < 4000;
}

static bool sec_servers_make(const struct report_inputs *in, size_t which, struct report_section *s,
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
        NULL, sec_servers_on_server, &v, err);
    size_t n = v.curves.v.n;
    const struct report_series *series =
        report_series(s, &v.curves, (struct report_series){.marks_only = true});

    if (!ok || !n)
        return ok;
    report_add_figure(s, "busy", REPORT_LINES)->chart = (struct report_chart){
        .title = "Utilisation of storage devices",
        .desc =
            wr_arena_printf(s->arena, "%.0f devices were used; the highest utilisation is %.3g %%.",
                            v.n, v.busiest),
        .x = {.label = "server", .zero = true},
        .y = {.label = "utilisation", .unit = "%", .zero = true},
        .series = series,
        .nseries = n};
    return report_add_query(
        s, "table", "Storage by device type.", r,
        "SELECT role, device, model, count(*) AS devices, sum(reads) AS reads, sum(writes) AS "
        "writes,"
        " sum(bytes_read) AS \"read B\", sum(bytes_written) AS \"written B\", sum(seeks) AS seeks,"
        " round(avg(busy_ns) / 1e6, 3) AS \"mean busy ms\", max(queue_max) AS \"longest queue\""
        " FROM server_stat GROUP BY role, device, model",
        NULL, err);
}

const struct report_maker report_servers = {
    .id = "servers", .group = "run", .title = "Storage", .each = true, .make = sec_servers_make};
