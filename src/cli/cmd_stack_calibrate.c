/* cmd_stack_calibrate.c -- `weir stack calibrate`: laws from real logs. */

#include "cli/stack_logs.h"

struct calib_opts {
    struct stack_log_opts l;
    const char *laws, *title, *output;
    bool force;
};

static const struct cli_opt calib_rows[] = {
    STACK_LOG_OPTS(struct calib_opts),
    STACK_OPT("laws", CLI_TEXT, struct calib_opts, laws, "NAME|FILE", "default",
              "where states that are not in the logs have their times from"),
    STACK_OPT("title", CLI_TEXT, struct calib_opts, title, "TEXT", "calibrated",
              "what the laws are called"),
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct calib_opts, output),
     .value = "FILE",
     .help = "write the laws there instead of to standard output"},
    CLI_FORCE(struct calib_opts, force),
    CLI_OPT_END,
};

static const struct wr_format laws_format = {.name = "laws",
                                             .endings = ".yaml .yml",
                                             .begins = "title: \"",
                                             .holds = "\nsource: measured, "};

static bool calibrate(const struct cli_call *call, struct stack_fs *fs, struct stack_laws *base,
                      struct wr_err *err)
{
    const struct calib_opts *o = call->opts;
    struct stack_log log;
    struct wr_str out = {0};
    struct stack_laws *check;
    enum stack_see see;
    unsigned flags = o->force ? WR_FORCE : 0;

    if (o->output && !wr_output_check(o->output, &laws_format, flags, err))
        return false;
    bool ok = cli_stack_logs(&log, &o->l, fs, err) && cli_stack_see(&o->l, &see, err) &&
              stack_calibrate(&out, &log, base, o->title, see, err);

    if (ok && !stack_laws_open_text(&check, fs, "the laws", out.s, out.n, err))
        ok = false;
    else if (ok) {
        stack_laws_close(check);
        ok = !o->output || wr_output_text(o->output, &laws_format, flags, &out, err);
        if (ok && !o->output)
            fputs(out.s, call->out);
    }
    wr_str_fini(&out);
    stack_log_fini(&log);
    return ok;
}

static int calibrate_main(const struct cli_call *call, struct wr_err *err)
{
    const struct calib_opts *o = call->opts;

    return cli_stack_with(call, &o->l, o->laws, calibrate, err);
}

const struct cli_verb cli_stack_calibrate = {
    .name = "calibrate",
    .summary = "take the laws of states from real logs",
    .about =
        "Reads logs of state machines of clients and servers (client.N.log, server.N.log, also "
        "with .gz), the times of calls (mpi.N, adio.N), IOR's output (ior.out) and meta.json of "
        "each directory, and writes laws for --laws. A state's law is a constant; that of data, "
        "and of data files that are removed, may be a line that does not fall, and that of data "
        "may have a knee beyond which bytes are dearer. The one is "
        "taken that tells best the size that is left out of its fit. What operations wait for "
        "answers beyond that is found by simulating them. All runs must be of the same number of "
        "servers and processes.\n\n"
        "A line that stops in its middle or a clock that jumps is refused with its place; "
        "--partial leaves out what they touch.",
    .examples = "weir stack calibrate --logs run1 --logs run2 -o laws.yaml\n"
                "weir stack calibrate --logs functions.csv --only F_ -o laws.yaml\n",
    .opts = calib_rows,
    .opts_size = sizeof(struct calib_opts),
    .main = calibrate_main,
};
