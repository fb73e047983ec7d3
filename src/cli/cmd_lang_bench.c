/* cmd_lang_bench.c -- `weir lang bench`: a program compiled, run for real under `weir profile`,
 * and, if a machine is given, simulated beside. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/scratch.h"
#include "base/self.h"
#include "cli/cli.h"
#include "cli/cli_json.h"
#include "cli/lang.h"

static const char *const back_ends[] = {"mpi", "serial", NULL};
static const char *const file_calls[] = {"posix", "mpiio", NULL};

struct bench_opts {
    const char *out, *machine, *cc, *slice;
    uint32_t back_end, io, tasks;
    bool force, json;
};

static const struct cli_opt bench_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct bench_opts, out),
     .value = "PATH",
     .help = "write PATH-measured.weir and PATH-simulated.weir; by default the program's name"},
    CLI_FORCE(struct bench_opts, force),
    {.name = "backend",
     .letter = 'b',
     .type = CLI_CHOICE,
     .offset = offsetof(struct bench_opts, back_end),
     .value = "BACKEND",
     .def = "mpi",
     .names = back_ends,
     .help = "as of `weir lang compile`"},
    {.name = "io",
     .type = CLI_CHOICE,
     .offset = offsetof(struct bench_opts, io),
     .value = "CALLS",
     .def = "posix",
     .names = file_calls,
     .help = "how files are accessed"},
    {.name = "cc",
     .type = CLI_TEXT,
     .offset = offsetof(struct bench_opts, cc),
     .value = "CC",
     .help = "the C compiler; by default mpicc, or cc for the serial back end"},
    {.name = "slice",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = offsetof(struct bench_opts, slice),
     .value = "TIME",
     .def = "1s",
     .help = "length of the slices of the profile"},
    {.name = "machine",
     .former_letter = 'm',
     .type = CLI_TEXT,
     .offset = offsetof(struct bench_opts, machine),
     .value = "FILE",
     .help = "also simulate the program on the machine of this configuration; needs --tasks"},
    {.name = "tasks",
     .letter = 'T',
     .type = CLI_U32,
     .offset = offsetof(struct bench_opts, tasks),
     .value = "N",
     .def = "0",
     .help = "how many tasks COMMAND starts, for the simulation"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct bench_opts, json),
     .help = "print the names of the run files as JSON, after what the program prints"},
    CLI_OPT_END,
};

/* What is made of PROG, and where. */
struct bench {
    const struct cli_call *call;
    const struct bench_opts *o;
    const char *stem; /* of PROG, without directory and ending */
    const char *name; /* of the outputs */
    struct wr_scratch scratch;
    const char *exe;
};

static const char *bench_stem(const struct cli_call *call)
{
    const char *slash = strrchr(call->args[0], '/');
    const char *base = slash ? slash + 1 : call->args[0];

    return wr_arena_strndup(call->arena, base, strcspn(base, "."));
}

/* ---- command lines ---- */

struct bench_words {
    struct wr_arena *arena;
    WR_VEC(char *) v; /* ends with NULL, which is not counted */
};

static void bench_word(struct bench_words *w, const char *word)
{
    wr_vec_push(&w->v, wr_arena_strdup(w->arena, word));
    wr_vec_push(&w->v, NULL);
    w->v.n--;
}

static void bench_option(struct bench_words *w, const char *name, const char *value)
{
    bench_word(w, name);
    bench_word(w, value);
}

/* `weir` itself; takes the words. */
static int bench_weir(const struct bench *b, struct bench_words *w)
{
    char *unused = NULL;
    size_t n;
    /* The result is one JSON object, and not several. */
    FILE *own = b->o->json ? open_memstream(&unused, &n) : NULL;
    int status = cli_main((int)w->v.n, w->v.v, own ? own : b->call->out, stderr);

    if (own)
        fclose(own);
    free(unused);
    wr_vec_fini(&w->v);
    return status;
}

/* ---- compile ---- */

/* False: it could not be started, or did not end well. */
static bool bench_spawn(char **argv, struct wr_err *err)
{
    extern char **environ;
    int status = 0;
    pid_t pid;

    errno = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (errno)
        return wr_fail_read(err, "cannot run %s; give the compiler with --cc", argv[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status)
        return wr_fail(err, WR_SYSTEM, "%s did not compile the program; is it an MPI compiler?",
                       argv[0]);
    return true;
}

static bool bench_compile(struct bench *b, struct wr_err *err)
{
    struct ncptl_target how = {.serial = b->o->back_end == 1, .mpiio = b->o->io == 1};
    const char *cc = b->o->cc ? b->o->cc : how.serial ? "cc" : "mpicc";
    const char *source = wr_arena_printf(b->call->arena, "%s/%s.c", b->scratch.dir, b->stem);
    struct wr_str text = {0};
    bool ok;

    b->exe = wr_arena_printf(b->call->arena, "%s/%s", b->scratch.dir, b->stem);
    struct bench_words words = {.arena = b->call->arena};

    bench_option(&words, cc, "-O2");
    bench_option(&words, "-o", b->exe);
    bench_option(&words, source, "-lm");
    ok = lang_compile(b->call->args[0], &how, &text, err) &&
         wr_output_text(source, &lang_c_format, 0, &text, err) && bench_spawn(words.v.v, err);
    wr_str_fini(&text);
    wr_vec_fini(&words.v);
    return ok;
}

/* ---- measure ---- */

/* Where {} stands in the command, or its length. */
static int bench_place(const struct cli_call *call)
{
    int i = 1;

    while (i < call->nargs && strcmp(call->args[i], "{}"))
        i++;
    return i;
}

static const char *bench_output(const struct bench *b, const char *kind)
{
    return wr_arena_printf(b->call->arena, "%s-%s.weir", b->name, kind);
}

/* The status of the command. */
static int bench_measure(const struct bench *b)
{
    const struct cli_call *call = b->call;
    struct bench_words words = {.arena = call->arena};
    int place = bench_place(call);

    bench_option(&words, "weir", "profile");
    bench_option(&words, "--output", bench_output(b, "measured"));
    bench_option(&words, "--name", b->stem);
    bench_option(&words, "--slice", b->o->slice);
    if (b->o->force)
        bench_word(&words, "--force");
    bench_word(&words, "--");
    for (int i = 1; i < call->nargs; i++)
        bench_word(&words, i == place ? b->exe : call->args[i]);
    if (place == call->nargs)
        bench_word(&words, b->exe);
    return bench_weir(b, &words);
}

/* ---- simulate ---- */

/* In YAML, within double quotes. */
static void bench_quote(struct wr_str *out, const char *s)
{
    for (; *s; s++)
        wr_str_addf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
}

static bool bench_simulate(const struct bench *b, struct wr_err *err)
{
    const struct cli_call *call = b->call;
    char *path = realpath(call->args[0], NULL);
    struct wr_str set = {0};

    if (!path)
        return wr_fail_read(err, "cannot find %s", call->args[0]);
    wr_str_add(&set, "jobs=[{program: {kind: ncptl, file: \"");
    bench_quote(&set, path);
    wr_str_add(&set, "\", options: \"");
    for (int i = bench_place(call) + 1; i < call->nargs; i++) {
        wr_str_add(&set, i > bench_place(call) + 1 ? " " : "");
        bench_quote(&set, call->args[i]);
    }
    wr_str_addf(&set, "\"}, ranks: %u}]", b->o->tasks);
    struct bench_words words = {.arena = call->arena};

    bench_option(&words, "weir", "run");
    bench_word(&words, b->o->machine);
    bench_option(&words, "--set", wr_str_get(&set));
    bench_option(&words, "--output", bench_output(b, "simulated"));
    if (b->o->force)
        bench_word(&words, "--force");
    int status = bench_weir(b, &words);

    free(path);
    wr_str_fini(&set);
    return !status || wr_fail(err, WR_CHECK, "the program was measured, but not simulated");
}

/* ---- the verb ---- */

/* Before the program is measured, which may take long. */
static bool bench_find_machine(const char *machine, struct wr_err *err)
{
    struct wr_str shipped = {0};
    bool found = !access(machine, F_OK) || wr_self_find_file(&shipped, machine);

    wr_str_fini(&shipped);
    return found ||
           wr_fail(err, WR_INPUT, "cannot read %s: no such file; check the file name", machine);
}

static bool bench_options(const struct bench *b, struct wr_err *err)
{
    if (b->call->nargs < 2)
        return wr_fail(err, WR_INPUT,
                       "weir lang bench needs a command that starts the program; write it after "
                       "the program and --, as in -- mpirun -n 4");
    if (b->o->machine && !b->o->tasks)
        return wr_fail(err, WR_INPUT, "--machine needs --tasks, as many as the command starts");
    return !b->o->machine || bench_find_machine(b->o->machine, err);
}

static void bench_print_json(const struct bench *b, int status)
{
    cli_json_print(
        b->call->out,
        json_pack("{s:o, s:i, s:o, s:o}", "program", cli_json_string(b->call->args[0]), "status",
                  status, "measured", cli_json_string(bench_output(b, "measured")), "simulated",
                  b->o->machine && !status ? cli_json_string(bench_output(b, "simulated"))
                                           : json_null()));
}

static int bench_main(const struct cli_call *call, struct wr_err *err)
{
    struct bench b = {.call = call, .o = call->opts, .stem = bench_stem(call)};
    int status = 0;

    b.name = b.o->out ? b.o->out : b.stem;
    if (!bench_options(&b, err))
        return cli_error(err);
    if (!wr_scratch_make(&b.scratch, ".", ".weir-bench-")) {
        wr_fail_errno(err, "cannot make a directory for the program here");
        return cli_error(err);
    }
    bool ok = bench_compile(&b, err);

    if (ok) {
        status = bench_measure(&b);
        ok = status || !b.o->machine || bench_simulate(&b, err);
    }
    if (ok && b.o->json)
        bench_print_json(&b, status);
    wr_scratch_remove(&b.scratch);
    return ok ? status : cli_error(err);
}

const struct cli_verb cli_lang_bench = {
    .name = "bench",
    .summary = "run a program for real, into a run file beside the simulated one",
    .args = "PROG -- COMMAND...",
    .min_args = 1,
    .max_args = -1,
    .input = 1,
    .about =
        "Compiles PROG as `weir lang compile` does, in a directory of its own here, which other "
        "machines of the job must share, and runs COMMAND under `weir profile`: {} in it is the "
        "compiled program, what follows are its options; without {} the program is appended. The "
        "measured run file is PATH-measured.weir.\n\n"
        "With --machine the same program with the same options is also simulated, on the machine "
        "and "
        "storage of that configuration, into PATH-simulated.weir.",
    .examples = "weir lang bench ring.ncptl -- mpirun -n 4\n"
                "weir lang bench ring.ncptl --machine ring.yaml -T 8 -- mpirun -n 8 {} --reps=9\n",
    .opts = bench_rows,
    .opts_size = sizeof(struct bench_opts),
    .main = bench_main,
};
