/* roofline_polling.c -- tables and pictures of `weir roofline polling`, from its run file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_roofline.h"
#include "rpc/rpc.h"

enum { METRICS = 4, RATE = 0, CLIENT_CPU, SERVER_CPU, POWER };
const char *const roofline_polling_metrics[] = {"rate", "client_cpu", "server_cpu", "power", NULL};

static const struct {
    const char *title, *label;
    double scale; /* of what is stored */
} drawn[METRICS] = {
    {"calls of all clients", "kops/s", 1e-3},
    {"processor time of the clients", "% of a processor", 100},
    {"processor time of the server", "% of a processor", 100},
    {"power of the packages", "W", 1},
};

/* ---- policies ---- */

static bool polling_number(struct run_reader *run, const char *sql, const char *arg, double *ret,
                           struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;
    double v = NAN;

    if (!run_query(&q, run, sql, &arg, 1, err))
        return false;
    if ((ok = run_rows_next(q, &more, err)) && more && run_rows_type(q, 0) != RUN_T_NULL)
        v = run_rows_real(q, 0);
    run_rows_close(q);
    if (ok)
        *ret = v;
    return ok;
}

static bool polling_word(struct run_reader *run, const char *key, char into[16], struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;
    size_t n;

    if (!run_query(&q, run, "SELECT value FROM summary WHERE key = ?1", &key, 1, err))
        return false;
    if ((ok = run_rows_next(q, &more, err)) && more)
        snprintf(into, 16, "%s", run_rows_text(q, 0, &n));
    run_rows_close(q);
    return ok;
}

static const struct cli_column policy_columns[] = {
    {"policy", NULL},
    {"server_waits", "server waits by"},
    {"client_waits", "clients by"},
    {"burst_rate", "calls/s in bursts"},
    {"p50_us", "p50, us"},
    {"p99_us", "p99, us"},
    {"burst_client_cpu_percent", "clients, % CPU"},
    {"burst_server_cpu_percent", "server in bursts, % CPU"},
    {"gap_server_cpu_percent", "in gaps, % CPU"},
    {"burst_power_w", "power in bursts, W"},
    {"gap_power_w", "in gaps, W"},
    {"faults", NULL},
};
enum { POLICY_COLUMNS = sizeof policy_columns / sizeof *policy_columns };

static bool polling_put_policy(struct cli_table *t, struct run_reader *run, const char *name,
                               struct wr_err *err)
{
    static const char *const keys[] = {"burst.rate",     "burst.client_cpu", "burst.server_cpu",
                                       "gap.server_cpu", "burst.power",      "gap.power",
                                       "faults"};
    static const char *const by_key = "SELECT value FROM summary WHERE key = ?1";
    double v[7], p50, p99;
    char key[64], server[16] = "?", client[16] = "?";

    for (size_t i = 0; i < 7; i++) {
        snprintf(key, sizeof key, "polling.%s.%s", name, keys[i]);
        if (!polling_number(run, by_key, key, &v[i], err))
            return false;
    }
    if (isnan(v[0])) /* not in this run */
        return true;
    snprintf(key, sizeof key, "polling.%s.server_waits", name);
    if (!polling_word(run, key, server, err))
        return false;
    snprintf(key, sizeof key, "polling.%s.client_waits", name);
    if (!polling_word(run, key, client, err) ||
        !polling_number(run, "SELECT p50_ns FROM latency WHERE class = ?1", name, &p50, err) ||
        !polling_number(run, "SELECT p99_ns FROM latency WHERE class = ?1", name, &p99, err))
        return false;
    cli_table_text(t, name);
    cli_table_text(t, server);
    cli_table_text(t, client);
    cli_table_real(t, cli_round_digits(v[0], 4));
    cli_table_real(t, cli_round_digits(p50 / 1e3, 3));
    cli_table_real(t, cli_round_digits(p99 / 1e3, 3));
    for (size_t i = 1; i < 4; i++)
        cli_table_real(t, cli_round_digits(100 * v[i], 3));
    cli_table_real(t, cli_round_digits(v[4], 3));
    cli_table_real(t, cli_round_digits(v[5], 3));
    cli_table_int(t, (int64_t)v[6]);
    return true;
}

static bool polling_print_policies(FILE *out, struct run_reader *run, enum cli_format format,
                                   struct wr_err *err)
{
    struct cli_table *t = cli_table_open(out, format, policy_columns, POLICY_COLUMNS);
    bool ok = true;

    for (size_t i = 0; ok && rpc_wait_names[i]; i++)
        ok = polling_put_policy(t, run, rpc_wait_names[i], err);
    cli_table_close(t);
    return ok;
}

/* ---- slices ---- */

static const struct cli_column slice_columns[] = {
    {"policy", NULL},
    {"t_ms", "t, ms"},
    {"rate", "calls/s"},
    {"client_cpu_percent", "clients, % CPU"},
    {"server_cpu_percent", "server, % CPU"},
    {"power_w", "power, W"},
};

static bool polling_print_slices(FILE *out, struct run_reader *run, enum cli_format format,
                                 struct wr_err *err)
{
    static const char *const sql = "SELECT t_ns, sum(CASE metric WHEN 'rate' THEN value END),"
                                   " sum(CASE metric WHEN 'client_cpu' THEN value END),"
                                   " sum(CASE metric WHEN 'server_cpu' THEN value END),"
                                   " sum(CASE metric WHEN 'power' THEN value END)"
                                   " FROM slice WHERE entity = ?1 GROUP BY t_ns ORDER BY t_ns";
    struct cli_table *t = cli_table_open(out, format, slice_columns, 6);
    bool ok = true, more;

    for (size_t i = 0; ok && rpc_wait_names[i]; i++) {
        struct run_rows *q;
        char entity[32];
        const char *arg = entity;

        snprintf(entity, sizeof entity, "policy:%s", rpc_wait_names[i]);
        ok = run_query(&q, run, sql, &arg, 1, err);
        while (ok && (ok = run_rows_next(q, &more, err)) && more) {
            cli_table_text(t, rpc_wait_names[i]);
            cli_table_real(t, run_rows_real(q, 0) / 1e6);
            for (int k = 0; k < METRICS; k++)
                cli_table_real(t, cli_round_digits(
                                      run_rows_real(q, k + 1) *
                                          (k == CLIENT_CPU || k == SERVER_CPU ? drawn[k].scale : 1),
                                      5));
        }
        if (ok)
            run_rows_close(q);
    }
    cli_table_close(t);
    return ok;
}

bool roofline_polling_print(FILE *out, struct run_reader *run, enum roofline_polling_view view,
                            enum cli_format format, struct wr_err *err)
{
    return (view == POLLING_SLICES ? polling_print_slices : polling_print_policies)(out, run,
                                                                                    format, err);
}

/* ---- picture ---- */

struct picture {
    struct wr_arena arena;
    WR_VEC(struct report_series) series;
};

static bool polling_add_series(struct picture *p, struct run_reader *run, const char *policy,
                               uint32_t metric, struct wr_err *err)
{
    char entity[32];
    const char *args[] = {entity, roofline_polling_metrics[metric]};
    WR_VEC(struct report_point) at = {0};
    struct run_rows *q;
    bool more, ok;

    snprintf(entity, sizeof entity, "policy:%s", policy);
    if (!run_query(&q, run,
                   "SELECT t_ns + dt_ns / 2, value FROM slice WHERE entity = ?1 AND metric = ?2 "
                   "ORDER BY 1",
                   args, 2, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        double y = run_rows_real(q, 1) * drawn[metric].scale;

        wr_vec_push(&at, ((struct report_point){run_rows_real(q, 0) / 1e9, y, y, y, false}));
    }
    run_rows_close(q);
    if (ok && at.n) {
        struct report_point *kept = wr_arena_alloc(&p->arena, at.n * sizeof *kept);

        memcpy(kept, at.v, at.n * sizeof *kept);
        wr_vec_push(&p->series, ((struct report_series){
                                    .name = policy, .point = kept, .n = at.n, .line_only = true}));
    }
    wr_vec_fini(&at);
    return ok;
}

bool roofline_polling_chart(struct wr_str *out, struct run_reader *run, uint32_t metric,
                            const struct report_text_style *style, struct wr_err *err)
{
    struct picture p = {0};
    bool ok = true;

    for (size_t i = 0; ok && rpc_wait_names[i]; i++)
        ok = polling_add_series(&p, run, rpc_wait_names[i], metric, err);
    if (ok && !p.series.n)
        ok = wr_fail(err, WR_INPUT, "%s holds no %s of policies; choose another --metric",
                     run_path(run), roofline_polling_metrics[metric]);
    struct report_chart c = {.title = drawn[metric].title,
                             .desc =
                                 "Bursts of calls with gaps between them, for each way to wait.",
                             .x = {.label = "time, s", .zero = true},
                             .y = {.label = drawn[metric].label, .zero = true},
                             .series = p.series.v,
                             .nseries = p.series.n};

    if (ok && style)
        report_chart_text(&c, style, out);
    else if (ok)
        report_chart_svg(&c, out);
    wr_vec_fini(&p.series);
    wr_arena_fini(&p.arena);
    return ok;
}
