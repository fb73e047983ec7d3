/* cmd_same.c -- `weir same A B`: did two runs give the same? */
#include "cli/cli.h"
#include "run/reader.h"

static int same_main(const struct cli_call *call, struct wr_err *err)
{
    if (!run_same(call->args[0], call->args[1], err))
        return cli_error(err);
    fprintf(call->out, "%s and %s hold the same\n", call->args[0], call->args[1]);
    return 0;
}

const struct cli_verb cli_cmd_same = {
    .name = "same",
    .summary = "tell whether two run files hold the same",
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
    .main = same_main,
};
