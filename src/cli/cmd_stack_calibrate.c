/* cmd_stack_calibrate.c -- `weir stack calibrate`: timing models from real logs. */

#include "cli/cli_json.h"
#include "cli/stack_logs.h"

struct calib_opts {
    struct stack_log_opts l;
    const char *timings, *title, *output;
    bool force, json;
};

static const struct cli_opt calib_rows[] = {
    STACK_LOG_OPTS(struct calib_opts),
    STACK_TIMING(struct calib_opts, timings, "default",
                 "where states that are not in the logs have their times from"),
    STACK_OPT("title", CLI_TEXT, struct calib_opts, title, "TEXT", "calibrated",
              "what the timing models are called"),
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct calib_opts, output),
     .value = "FILE",
     .help = "write the timing models there instead of to standard output"},
    CLI_FORCE(struct calib_opts, force),
    CLI_JSON(struct calib_opts, json),
    CLI_OPT_END,
};

static const struct wr_format timings_format = {.name = "timing",
                                                .endings = ".yaml .yml",
                                                .begins = "title: \"",
                                                .holds = "\nsource: measured, "};

static bool calibrate_logs(const struct cli_call *call, struct stack_fs *fs,
                           struct stack_timings *base, struct wr_err *err)
{
    const struct calib_opts *o = call->opts;
    struct stack_log log;
    struct wr_str out = {0}, report = {0};
    struct stack_timings *check;
    enum stack_see see;
    unsigned flags = o->force ? WR_FORCE : 0;

    if (o->output && !wr_output_check(o->output, &timings_format, flags, err))
        return false;
    bool ok = cli_stack_logs(&log, &o->l, fs, err) && cli_stack_see(&o->l, &see, err) &&
              stack_calibrate(&out, &report, &log, base, o->title, see, err);

    if (ok && !stack_timings_open_text(&check, fs, "the timing models", out.s, out.n, err))
        ok = false;
    else if (ok) {
        stack_timings_close(check);
        ok = !o->output || wr_output_text(o->output, &timings_format, flags, &out, err);
        if (ok && o->json)
            cli_json_print(call->out,
                           json_pack("{s:o, s:o, s:o}", "output", cli_json_string(o->output),
                                     "timing", cli_json_string(out.s), "report",
                                     cli_json_string(wr_str_get(&report))));
        else if (ok)
            fputs(o->output ? wr_str_get(&report) : out.s, call->out);
    }
    wr_str_fini(&out);
    wr_str_fini(&report);
    stack_log_fini(&log);
    return ok;
}

static int calibrate_main(const struct cli_call *call, struct wr_err *err)
{
    const struct calib_opts *o = call->opts;

    return cli_stack_with(call, &o->l, o->timings, calibrate_logs, err);
}

const struct cli_verb cli_stack_calibrate = {
    .name = "calibrate",
    .summary = "fit timing models on real logs",
    .about =
        "Reads logs of state machines of clients and servers (client.N.log, server.N.log, also "
        "with .gz), the times of calls (mpi.N, adio.N), IOR's output (ior.out) and meta.json of "
        "each directory, or tables made of them with runs.csv beside, and writes timing models for "
        "--timing. Runs may be of several tests: sizes, transfer sizes, numbers of servers and "
        "processes, patterns. What a state works is a constant; flows are fitted by simulating all "
        "tests together: a constant from small calls, rates from large ones, how flows share the "
        "medium from tests with several processes. Tests are left out in turn to report how far "
        "each direction can be trusted, and which medium, shared or switched, predicts them "
        "better.\n\n"
        "A line that stops in its middle or a clock that jumps is refused with its place; "
        "--partial leaves out what they touch.",
    .examples = "weir stack calibrate --logs run1 --logs run2 -o timing.yaml\n"
                "weir stack calibrate --logs functions.csv --only A_,C_ -o timing.yaml\n",
    .opts = calib_rows,
    .opts_size = sizeof(struct calib_opts),
    .main = calibrate_main,
};
