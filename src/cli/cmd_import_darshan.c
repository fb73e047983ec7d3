/* cmd_import_darshan.c -- `weir import darshan`: a Darshan log as a run file, or as tables. */
#include <string.h>

#include "base/note.h"
#include "base/units.h"
#include "cli/cmd_import.h"
#include "cli/show.h"
#include "darshan/darshan.h"
#include "darshan/darshan_to_run.h"
#include "run/run.h"

struct import_darshan_opts {
    const char *out, *slice;
    uint32_t table;
    bool force, json;
};

enum { IMPORT_DARSHAN_RUN, IMPORT_DARSHAN_COUNTERS, IMPORT_DARSHAN_SEGMENTS };

static const char *const import_darshan_tables[] = {"none", "counters", "segments", NULL};

static const struct cli_opt import_darshan_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct import_darshan_opts, out),
     .value = "RUN",
     .help = "the run file to write; by default the log's name with the ending .weir"},
    {.name = "slice",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = offsetof(struct import_darshan_opts, slice),
     .value = "TIME",
     .help = "how long a slice is; without it as `weir profile` chooses it"},
    {.name = "table",
     .type = CLI_CHOICE,
     .offset = offsetof(struct import_darshan_opts, table),
     .value = "TABLE",
     .def = "none",
     .help = "write no run file, but print every counter or every segment of DXT as CSV, with the "
             "columns of Darshan's own parsers",
     .names = import_darshan_tables},
    CLI_FORCE(struct import_darshan_opts, force),
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct import_darshan_opts, json),
     .help = "print what `weir show RUN --json` prints of the new run file"},
    CLI_OPT_END,
};

/* "dir/a.darshan" -> "a.weir" */
static const char *import_darshan_default(struct wr_arena *arena, const char *log)
{
    const char *slash = strrchr(log, '/'), *name = slash ? slash + 1 : log;
    const char *dot = strrchr(name, '.');

    return wr_arena_printf(arena, "%.*s.weir", dot && dot > name ? (int)(dot - name) : 4096, name);
}

static void import_darshan_warn(const struct wr_str *lines)
{
    const char *line = wr_str_get(lines);

    for (size_t n; *line; line += n + 1) {
        n = strcspn(line, "\n");
        wr_note("%.*s", (int)n, line);
        if (!line[n])
            break;
    }
}

static bool import_darshan_write(const struct cli_call *call, const struct darshan_log *log,
                                 struct wr_err *err)
{
    const struct import_darshan_opts *o = call->opts;
    const char *path = o->out ? o->out : import_darshan_default(call->arena, call->args[0]);
    struct wr_str command = {0}, notes = {0};
    double ps = 0;

    if (o->slice && !wr_parse_time(&ps, o->slice, err))
        return wr_wrap(err, "--slice");
    if (o->slice && !(ps >= 1e9 && ps <= 1e18))
        return wr_fail(err, WR_INPUT, "--slice %s: a slice is 1 ms to 1e6 s long", o->slice);
    wr_str_add(&command, "weir import ");
    run_command_line(&command, call->argc, call->argv);
    struct darshan_to_run_how how = {
        .command = wr_str_get(&command), .slice_ns = (int64_t)(ps / 1000), .force = o->force};
    bool ok = darshan_to_run(log, path, &how, &notes, err);

    if (ok)
        import_darshan_warn(&notes);
    if (ok && o->json)
        ok = cli_show_json(call->out, path, err);
    else if (ok)
        fprintf(call->out, "%s: Darshan log %s, processes: %lld\n", path, log->version,
                (long long)log->nprocs);
    wr_str_fini(&command);
    wr_str_fini(&notes);
    return ok;
}

static int import_darshan_main(const struct cli_call *call, struct wr_err *err)
{
    const struct import_darshan_opts *o = call->opts;
    struct darshan_log log;
    bool ok = true;

    if (o->table && (o->out || o->json || o->slice)) {
        wr_fail(err, WR_INPUT,
                "--table prints and writes no run file; leave --output, --slice and "
                "--json out");
        return cli_error(err);
    }
    if (!darshan_open(&log, call->args[0], err))
        return cli_error(err);
    import_darshan_warn(&log.warnings);
    if (o->table == IMPORT_DARSHAN_COUNTERS)
        darshan_put_counters(&log, call->out);
    else if (o->table == IMPORT_DARSHAN_SEGMENTS)
        darshan_put_segments(&log, call->out);
    else
        ok = import_darshan_write(call, &log, err);
    darshan_fini(&log);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_import_darshan = {
    .name = "darshan",
    .summary = "make a run file of a Darshan log",
    .args = "LOG",
    .min_args = 1,
    .max_args = 1,
    .about = "Reads logs of Darshan 3 (versions 3.00 to 3.41 of the format, either byte order, "
             "compressed with zlib or bzip2): POSIX, STDIO and MPI-IO counters, HEATMAP and DXT. "
             "Modules that are not read or incomplete are named on standard error.\n"
             "\n"
             "Requests that DXT recorded are taken as they are. Others are known as counters per "
             "file: they are placed in the bins of the heatmap that have bytes or, without one, "
             "spread evenly from the first to the last. Bytes and requests add up to the counters "
             "exactly. MPI-IO counts only for files without POSIX records, since its bytes are "
             "those of POSIX. docs/formats/darshan.md has more.",
    .examples = "weir import darshan job.darshan -o job.weir\n"
                "weir import darshan job.darshan --table counters > counters.csv\n",
    .opts = import_darshan_rows,
    .opts_size = sizeof(struct import_darshan_opts),
    .main = import_darshan_main,
};
