/* cmd_lang_compile.c -- `weir lang compile`: a program in C, to be run for real. */
#include <stdlib.h>

#include "base/output.h"
#include "cli/cli.h"
#include "cli/lang.h"
#include "load/ncptl/ncptl_tool.h"

static const char *const back_ends[] = {"mpi", "serial", NULL};
static const char *const file_calls[] = {"posix", "mpiio", NULL};

struct compile_opts {
    const char *out;
    uint32_t back_end, io;
    bool force;
};

static const struct cli_opt compile_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct compile_opts, out),
     .value = "FILE.c",
     .help = "write the C program there; without it, print it"},
    CLI_FORCE(struct compile_opts, force),
    {.name = "backend",
     .letter = 'b',
     .type = CLI_CHOICE,
     .offset = offsetof(struct compile_opts, back_end),
     .value = "BACKEND",
     .def = "mpi",
     .names = back_ends,
     .help = "a process per task with MPI, or one process that plays task after task"},
    {.name = "io",
     .type = CLI_CHOICE,
     .offset = offsetof(struct compile_opts, io),
     .value = "CALLS",
     .def = "posix",
     .names = file_calls,
     .help = "how files are accessed"},
    CLI_OPT_END,
};

const struct wr_format lang_c_format = {.name = "a compiled program",
                                        .endings = ".c",
                                        .begins = "/* ",
                                        .holds = "compiled by `weir lang compile "};

bool lang_compile(const char *path, const struct ncptl_target *how, struct wr_str *out,
                  struct wr_err *err)
{
    struct ncptl_unit *unit;

    if (!ncptl_read(&unit, path, err))
        return false;
    bool ok = ncptl_generate(unit, how, out, err);

    ncptl_unit_close(unit);
    return ok;
}

static int compile_main(const struct cli_call *call, struct wr_err *err)
{
    const struct compile_opts *o = call->opts;
    struct ncptl_target how = {.serial = o->back_end == 1, .mpiio = o->io == 1};
    unsigned flags = o->force ? WR_FORCE : 0;
    struct wr_str text = {0};
    bool ok = (!o->out || wr_output_check(o->out, &lang_c_format, flags, err)) &&
              lang_compile(call->args[0], &how, &text, err);

    if (ok && o->out)
        ok = wr_output_text(o->out, &lang_c_format, flags, &text, err);
    else if (ok)
        fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_lang_compile = {
    .name = "compile",
    .summary = "write a program in C, to be run on a real machine",
    .args = "PROG",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "The C program does what the tasks of PROG do when they are simulated: messages and "
        "collectives with MPI, files by POSIX calls or MPI-IO, delays, counters and log tables. It "
        "needs nothing but libc, libm and MPI, takes the options of PROG, and prints its log "
        "tables "
        "at the end. Files are made in --io-dir and removed at the end without --io-keep.\n\n"
        "With WEIR_EVENTS=FILE in its environment it writes what its tasks do to FILE, line by "
        "line "
        "as `weir lang events` prints it; delays are left out then and timed loops run once.\n\n"
        "The serial back end plays one task after the other in one process: messages are counted, "
        "files and computation are real.",
    .examples = "weir lang compile ring.ncptl -o ring.c\n"
                "weir lang compile checkpoint.ncptl --io mpiio -o checkpoint.c\n",
    .opts = compile_rows,
    .opts_size = sizeof(struct compile_opts),
    .main = compile_main,
};
