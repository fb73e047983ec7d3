/* cmd_same.c -- `weir same A B`: whether two run files hold the same results; exit status 1 if not.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_table.h"
#include "run/reader.h"

struct same_opts {
    bool json;
};

static const struct cli_opt same_rows[] = {CLI_JSON(struct same_opts, json), CLI_OPT_END};

static void same_print_json(const struct cli_call *call, const struct wr_err *err)
{
    fprintf(call->out, "{\"same\": %s, \"difference\": ", err->code ? "false" : "true");
    if (err->code)
        cli_json_text(call->out, err->text, strlen(err->text));
    else
        fputs("null", call->out);
    fputs("}\n", call->out);
}

static int same_main(const struct cli_call *call, struct wr_err *err)
{
    const struct same_opts *o = call->opts;
    bool same = run_same(call->args[0], call->args[1], err);
    int status = same ? 0 : cli_error(err);

    if (o->json && (same || err->code == WR_CHECK)) {
        same_print_json(call, err);
        *err = (struct wr_err){0}; /* the difference is the result */
    } else if (same) {
        fprintf(call->out, "%s and %s hold the same\n", call->args[0], call->args[1]);
    }
    return status;
}

const struct cli_verb cli_cmd_same = {
    .name = "same",
    .summary = "check whether two run files have the same content",
    .args = "RUN RUN",
    .min_args = 2,
    .max_args = 2,
    .about = "Compares everything that two run files say about their runs: configuration, seed, "
             "summary, applications, ranks, links, latencies, time series, sweeps. What may differ "
             "between equal runs is left out: host, times, version, command line, input files, and "
             "the lines that "
             "the summary marks as volatile.\n\n"
             "Exit status 0 when they are the same, 1 with the first difference when they are not.",
    .examples = "weir same before.run after.run\n",
    .opts = same_rows,
    .opts_size = sizeof(struct same_opts),
    .main = same_main,
};
