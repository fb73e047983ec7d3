/* cmd_io_limit.c -- `weir io-limit SOCKET`: a path of limited bandwidth for experiments (ioload/).
 */
#include <math.h>

#include "base/signals.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_json.h"
#include "ioload/ioload.h"

struct limit_opts {
    const char *rate, *length;
    bool json;
};

static const struct cli_opt limit_rows[] = {
    {.name = "rate",
     .type = CLI_TEXT,
     .offset = offsetof(struct limit_opts, rate),
     .value = "RATE",
     .def = "100MB/s",
     .help = "what the path carries"},
    {.name = "for",
     .type = CLI_TEXT,
     .offset = offsetof(struct limit_opts, length),
     .value = "TIME",
     .help = "end after so long; without it Ctrl-C does"},
    CLI_JSON(struct limit_opts, json),
    CLI_OPT_END,
};

static bool io_limit_serve(const struct cli_call *call, struct wr_err *err)
{
    const struct limit_opts *o = call->opts;
    struct ioload_limit l = {.path = call->args[0], .stop = wr_interrupted};
    struct ioload_carried got;
    double ps = 0;

    if (!wr_parse_rate(&l.rate_bps, o->rate, err))
        return wr_wrap(err, "--rate");
    if (!(l.rate_bps >= 1000))
        return wr_fail(err, WR_INPUT, "--rate %s: give at least 1 kB/s", o->rate);
    if (o->length && !wr_parse_time(&ps, o->length, err))
        return wr_wrap(err, "--for");
    l.length_s = ps / 1e12;
    wr_interrupt_catch();
    bool ok = ioload_limit_serve(&got, &l, err);

    wr_interrupt_release();
    if (!ok)
        return false;
    double mib = (double)got.bytes / (1 << 20);

    if (o->json)
        cli_json_print(call->out,
                       json_pack("{s:I, s:I, s:o, s:o}", "carried_b", (json_int_t)got.bytes,
                                 "connections", (json_int_t)got.connections, "busy_s",
                                 cli_json_real(got.busy_s), "mib_s",
                                 cli_json_real(mib / got.busy_s)));
    else
        fprintf(call->out, "carried %.6g MiB of %llu connections in %.4g s: %.4g MiB/s\n", mib,
                (unsigned long long)got.connections, got.busy_s,
                got.busy_s > 0 ? mib / got.busy_s : 0);
    return true;
}

static int io_limit_main(const struct cli_call *call, struct wr_err *err)
{
    return io_limit_serve(call, err) ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_io_limit = {
    .name = "io-limit",
    .summary = "offer a path of limited bandwidth that loads can share",
    .args = "SOCKET",
    .min_args = 1,
    .max_args = 1,
    .about = "Listens on a Unix socket and takes what `weir io-load --through SOCKET` writes: a "
             "piece from each connection in turn, all together no faster than --rate, and forgets "
             "it. Writers feel the limit as calls that take longer, as on a busy server. It stands "
             "in for a file server where there is none and is no model of one. Ctrl-C ends it and "
             "removes the socket.",
    .examples = "weir io-limit path.sock --rate 50MB/s\n",
    .opts = limit_rows,
    .opts_size = sizeof(struct limit_opts),
    .main = io_limit_main,
};
