/* cmd_io_load.c -- `weir io-load`: a job that writes at a given rate or volume (ioload/).
 *
 * Prints what it reached, and writes slices of it to a run file.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "ioload/ioload.h"

struct load_opts {
    const char *total, *length, *block, *span, *rate, *begin, *slice, *through, *run, *name;
    uint32_t processes, file, sync, node;
    bool direct, one_connection, force, json;
};

#define TEXT(name_, field_, value_, def_, help_)                                       \
    {                                                                                  \
        .name = name_, .type = CLI_TEXT, .offset = offsetof(struct load_opts, field_), \
        .value = value_, .def = def_, .help = help_                                    \
    }
#define FLAG(name_, field_, help_)                                                     \
    {                                                                                  \
        .name = name_, .type = CLI_FLAG, .offset = offsetof(struct load_opts, field_), \
        .help = help_                                                                  \
    }

static const struct cli_opt load_rows[] = {
    {.name = "processes",
     .letter = 'p',
     .type = CLI_U32,
     .offset = offsetof(struct load_opts, processes),
     .value = "N",
     .def = "1",
     .help = "how many processes write"},
    TEXT("total", total, "SIZE", NULL, "end when all processes together have written so much"),
    TEXT("for", length, "TIME", NULL, "end after so long"),
    TEXT("block", block, "SIZE", "1MiB", "what one call writes"),
    TEXT("rate", rate, "RATE", NULL,
         "write no faster than this, all processes together; without it as fast as it goes"),
    {.name = "file",
     .type = CLI_CHOICE,
     .offset = offsetof(struct load_opts, file),
     .value = "MODE",
     .def = "private",
     .help = "a file for each process, or one for all in which they take turns",
     .names = ioload_file_names},
    {.name = "sync",
     .type = CLI_CHOICE,
     .offset = offsetof(struct load_opts, sync),
     .value = "WHEN",
     .def = "end",
     .help = "wait until what was written is stored: never, when a process is done, or after "
             "every block",
     .names = ioload_sync_names},
    FLAG("direct", direct, "write past the page cache (O_DIRECT)"),
    TEXT("span", span, "SIZE", "1GiB",
         "a process begins again at its first byte after so many, so that files stay small"),
    TEXT("begin", begin, "SECONDS", NULL,
         "begin at this time of the clock, in seconds since 1970, so that several loads begin "
         "together"),
    TEXT("through", through, "SOCKET", NULL,
         "write through a path that `weir io-limit SOCKET` limits, instead of to files"),
    FLAG("one-connection", one_connection,
         "with --through: all processes share a connection, as those of a client node do"),
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct load_opts, run),
     .value = "RUN",
     .help = "write what was done in each slice of time to a run file"},
    {.name = "slice",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = offsetof(struct load_opts, slice),
     .value = "TIME",
     .def = "250ms",
     .help = "how long a slice is"},
    TEXT("name", name, "NAME", "io-load", "what the job is called in the run file"),
    {.name = "node",
     .type = CLI_U32,
     .offset = offsetof(struct load_opts, node),
     .value = "N",
     .def = "0",
     .help = "the number of this machine in the run file, when several take part"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct load_opts, force),
     .help = "replace an existing run file"},
    CLI_JSON(struct load_opts, json),
    CLI_OPT_END,
};

static bool io_load_parse_seconds(double *ret, const char *text, struct wr_err *err)
{
    double ps;

    if (!wr_parse_time(&ps, text, err))
        return false;
    *ret = ps / 1e12;
    return true;
}

/* Seconds of the clock keep their nanoseconds: a double of 1.8e9 s does not. */
static bool io_load_parse_moment(int64_t *ret, const char *text, struct wr_err *err)
{
    char *end;
    long long s = strtoll(text, &end, 10);
    double part = *end == '.' ? strtod(end, &end) : 0;

    if (end == text || *end || s < 0 || s > 9000000000)
        return wr_fail(err, WR_INPUT,
                       "\"%s\" is no time; write seconds since 1970, as `date +%%s` does",
                       wr_text_clip(text).s);
    *ret = (int64_t)s * 1000000000 + (int64_t)round(part * 1e9);
    return true;
}

static bool io_load_read_opts(struct ioload_opts *ret, const struct cli_call *call,
                              struct wr_err *err)
{
    const struct load_opts *o = call->opts;
    double slice = 0;
    struct ioload_opts p = {.dir = call->nargs ? call->args[0] : ".",
                            .through = o->through,
                            .one_connection = o->one_connection,
                            .file = (enum ioload_file)o->file,
                            .sync = (enum ioload_sync)o->sync,
                            .direct = o->direct,
                            .processes = o->processes,
                            .stop = wr_interrupted};

    if (o->through && call->nargs)
        return wr_fail(err, WR_INPUT, "--through takes the place of a directory; leave out %s",
                       call->args[0]);
    if (o->one_connection && !o->through)
        return wr_fail(err, WR_INPUT,
                       "--one-connection is of use with --through only; leave it out");
    if (o->total && !wr_parse_bytes(&p.total_b, o->total, err))
        return wr_wrap(err, "--total");
    if (o->length && !io_load_parse_seconds(&p.length_s, o->length, err))
        return wr_wrap(err, "--for");
    if (!wr_parse_bytes(&p.block_b, o->block, err))
        return wr_wrap(err, "--block");
    if (!wr_parse_bytes(&p.span_b, o->span, err))
        return wr_wrap(err, "--span");
    if (o->rate && !wr_parse_rate(&p.rate_bps, o->rate, err))
        return wr_wrap(err, "--rate");
    if (o->begin && !io_load_parse_moment(&p.begin_ns, o->begin, err))
        return wr_wrap(err, "--begin");
    if (!io_load_parse_seconds(&slice, o->slice, err) || !(slice <= 1e6))
        return err->code ? wr_wrap(err, "--slice")
                         : wr_fail(err, WR_INPUT, "--slice %s: give a shorter one", o->slice);
    p.slice_ns = (int64_t)round(slice * 1e9);
    *ret = p;
    return true;
}

static bool io_load_write_run(const struct cli_call *call, const struct ioload_opts *p,
                              const struct ioload_result *r, struct wr_err *err)
{
    const struct load_opts *o = call->opts;
    struct wr_str command = {0};
    struct run *run;

    wr_str_add(&command, "weir ");
    run_command_line(&command, call->argc, call->argv);
    struct run_meta meta = {
        .kind = "io-load", .command = wr_str_get(&command), .force = o->force, .whole = true};
    bool ok = run_create(&run, o->run, &meta, err);

    if (ok) {
        struct ioload_job job = {
            .name = o->name, .workload = wr_str_get(&command), .node = o->node};
        struct wr_err ignored;

        ok = ioload_put(run, r, p, &job, err);
        if (!ok)
            run_finish(run, RUN_FAILED, err->text, &ignored);
        else
            ok = run_finish(run, r->interrupted ? RUN_INCOMPLETE : RUN_COMPLETE,
                            r->interrupted ? "interrupted" : NULL, err);
    }
    wr_str_fini(&command);
    return ok;
}

static const struct cli_column columns[] = {
    {"process", NULL},
    {"bytes", NULL},
    {"calls", NULL},
    {"seconds", NULL},
    {"throughput_mib_s", "MiB/s"},
    {"write_s", "writing, s"},
    {"sync_s", "flushing, s"},
};

static void io_load_print_table(FILE *out, const struct ioload_result *r, bool json)
{
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns,
                                         sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < r->n; i++) {
        const struct ioload_rank *k = &r->rank[i];
        double s = (double)(k->end_ns - k->begin_ns) / 1e9;

        cli_table_int(t, i);
        cli_table_int(t, (int64_t)k->write_b);
        cli_table_int(t, (int64_t)k->write_calls);
        cli_table_real(t, s);
        cli_table_real(t, (double)k->write_b / (1 << 20) / s);
        cli_table_real(t, (double)k->write_ns / 1e9);
        cli_table_real(t, (double)k->sync_ns / 1e9);
    }
    cli_table_close(t);
}

static void io_load_print_sum(FILE *out, const struct ioload_result *r, const char *run)
{
    int64_t from = INT64_MAX, to = 0;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        from = r->rank[i].begin_ns < from ? r->rank[i].begin_ns : from;
        to = r->rank[i].end_ns > to ? r->rank[i].end_ns : to;
        bytes += r->rank[i].write_b;
    }
    double s = (double)(to - from) / 1e9, mib = (double)bytes / (1 << 20);

    fprintf(out, "\n%.6g MiB in %.4g s: %.4g MiB/s\n", mib, s, s > 0 ? mib / s : 0);
    if (run)
        fprintf(out, "slices are in %s; look at them with `weir interfere %s`\n", run, run);
}

static int io_load_main(const struct cli_call *call, struct wr_err *err)
{
    const struct load_opts *o = call->opts;
    struct ioload_result r;
    struct ioload_opts p;

    if (!io_load_read_opts(&p, call, err) || (o->run && !run_check_path(o->run, o->force, err)))
        return cli_error(err);
    wr_interrupt_catch();
    bool ok = ioload_run(&r, &p, err);

    if (!ok) {
        wr_interrupt_release();
        return cli_error(err);
    }
    ok = !o->run || io_load_write_run(call, &p, &r, err);
    wr_interrupt_release();
    if (ok) {
        io_load_print_table(call->out, &r, o->json);
        if (!o->json)
            io_load_print_sum(call->out, &r, o->run);
        if (r.interrupted)
            ok = wr_fail(err, WR_INTERRUPTED, "interrupted; %s",
                         o->run ? "the run file holds what was written so far"
                                : "nothing was left behind");
    }
    ioload_fini(&r);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_io_load = {
    .name = "io-load",
    .summary = "write to storage with many processes, as a job would",
    .args = "[DIRECTORY]",
    .max_args = 1,
    .about =
        "Processes write blocks into a file of their own or into one that all share, all beginning "
        "at the same moment, and each slice of time is accounted for: bytes, calls, and the time "
        "spent in them. A call that spans several slices is spread over them. Files have no name "
        "once they are open, so nothing is left behind however the load ends. Ctrl-C ends it after "
        "the blocks that are under way.\n"
        "\n"
        "With --through the bytes go through a path of limited bandwidth on this machine, so that "
        "jobs that share a server can be tried anywhere.",
    .examples = "weir io-load /scratch/me --processes 4 --total 1GiB --output a.weir\n"
                "weir io-load . --for 10s --block 4KiB --direct --file shared --processes 8\n"
                "weir io-load --through path.sock --total 100MiB --rate 20MB/s\n",
    .opts = load_rows,
    .opts_size = sizeof(struct load_opts),
    .main = io_load_main,
};
