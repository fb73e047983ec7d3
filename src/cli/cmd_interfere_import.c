/* cmd_interfere_import.c -- `weir interfere import`: slices of other tools as run files. */
#include "base/units.h"
#include "cli/cli_json.h"
#include "cli/interfere.h"
#include "interference/import.h"
#include "run/run.h"

struct import_opts {
    const char *out, *slice, *only, *jobs;
    uint32_t mode;
    bool force, json;
};

static const char *const mode_names[] = {"unknown", "private", "shared", NULL};

static const struct cli_opt import_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct import_opts, out),
     .value = "PATH",
     .def = "imported.weir",
     .help = "the run file; for a table with a column `run` the directory of run files, one for "
             "each"},
    {.name = "slice",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = offsetof(struct import_opts, slice),
     .value = "TIME",
     .help = "how long a slice is; without it the shortest distance between two"},
    {.name = "only",
     .type = CLI_TEXT,
     .offset = offsetof(struct import_opts, only),
     .value = "PATTERN",
     .help = "only runs with such names, as in 'A_*'"},
    {.name = "job-table",
     .former = "jobs",
     .type = CLI_TEXT,
     .offset = offsetof(struct import_opts, jobs),
     .value = "TABLE",
     .help = "a table with, for each run and app, its start_s, runtime_s or mode, more exactly "
             "than slices do"},
    {.name = "mode",
     .type = CLI_CHOICE,
     .offset = offsetof(struct import_opts, mode),
     .value = "MODE",
     .def = "unknown",
     .help = "whether processes wrote files of their own or shared one, where no table says so",
     .names = mode_names},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct import_opts, force),
     .help = "replace existing run files"},
    CLI_JSON(struct import_opts, json),
    CLI_OPT_END,
};

static bool interfere_import_file(const struct cli_call *call, size_t *ret_n, struct wr_err *err)
{
    const struct import_opts *o = call->opts;
    struct wr_str command = {0};
    struct interference_import im;
    double ps = 0;

    if (o->slice && !wr_parse_time(&ps, o->slice, err))
        return wr_wrap(err, "--slice");
    if (!interference_import_read(&im, call->args[0], ps / 1e12, err))
        return false;
    wr_str_add(&command, "weir interfere ");
    run_command_line(&command, call->argc, call->argv);
    struct interference_import_to to = {.path = o->out,
                                        .only = o->only,
                                        .mode = o->mode ? mode_names[o->mode] : NULL,
                                        .command = wr_str_get(&command),
                                        .force = o->force};
    bool ok = (!o->jobs || interference_import_jobs(&im, o->jobs, err)) &&
              interference_import_write(&im, &to, ret_n, err);

    wr_str_fini(&command);
    interference_import_fini(&im);
    return ok;
}

static int interfere_import_main(const struct cli_call *call, struct wr_err *err)
{
    const struct import_opts *o = call->opts;
    size_t n;

    if (!interfere_import_file(call, &n, err))
        return cli_error(err);
    if (o->json)
        cli_json_print(call->out, json_pack("{s:I, s:o}", "runs", (json_int_t)n, "path",
                                            cli_json_string(o->out)));
    else if (n == 1)
        fprintf(call->out, "1 run in %s; look at it with `weir interfere RUN`\n", o->out);
    else
        fprintf(call->out, "%zu runs in %s; look at one with `weir interfere RUN`\n", n, o->out);
    return 0;
}

const struct cli_verb cli_interfere_import = {
    .name = "import",
    .summary = "make run files of slices that other tools recorded",
    .args = "SLICES.csv",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Each line of the table is what one process did in one slice of time: app, rank, bytes "
        "written, slice_start_epoch (seconds since 1970) or t_s (seconds since the run's origin), "
        "and where they are known run, node, calls, write_s, read_bytes, read_calls, read_s and "
        "fsync_s. Columns come in any order. A table compressed with zstd is read as well. Either "
        "all run files are written or none.",
    .examples = "weir interfere import slices.csv -o a.weir\n"
                "weir interfere import study.csv -o runs --job-table jobs.csv --only 'A_*'\n",
    .opts = import_rows,
    .opts_size = sizeof(struct import_opts),
    .main = interfere_import_main,
};
