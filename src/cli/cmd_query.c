/* cmd_query.c -- `weir query RUN SQL`: an SQL query of a run file, opened for reading only. */
#include "cli/cli.h"
#include "cli/cli_rows.h"

struct query_opts {
    bool json, csv;
    uint64_t limit;
};

static const struct cli_opt query_rows[] = {
    CLI_JSON(struct query_opts, json),
    CLI_CSV(struct query_opts, csv),
    {.name = "limit",
     .type = CLI_U64,
     .offset = offsetof(struct query_opts, limit),
     .value = "N",
     .help = "print at most N rows"},
    CLI_OPT_END,
};

static int query_main(const struct cli_call *call, struct wr_err *err)
{
    const struct query_opts *o = call->opts;
    struct cli_rows_opts rows = {.limit = o->limit};
    struct run_reader *r;

    if (!cli_format_of(o->json, o->csv, &rows.format, err) || !run_open(&r, call->args[0], err))
        return cli_error(err);
    run_limit(r, 0, NULL);
    bool ok = cli_rows_query(call->out, r, call->args[1], &rows, err);
    run_close(r);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_query = {
    .name = "query",
    .summary = "query a run file with SQL",
    .args = "RUN SQL",
    .min_args = 2,
    .max_args = 2,
    .about =
        "Runs one SELECT on the run file and prints its rows. The views and their columns are "
        "those that `weir show RUN VIEW` prints: summary, app_stat, rank_stat, link_stat, latency, "
        "latency_hist, slice, series, sweep, meta and input. Times are nanoseconds (_ns).\n\n"
        "The file is only read: statements that would change it, or reach any other file, are "
        "refused. Text tables shorten long words; --csv and --json give everything.",
    .examples =
        "weir query a.weir \"SELECT class, sum(bytes) FROM link_stat GROUP BY class\"\n"
        "weir query a.weir \"SELECT t_ns, value FROM slice WHERE metric = 'bytes'\" --csv\n",
    .opts = query_rows,
    .opts_size = sizeof(struct query_opts),
    .main = query_main,
};
