/* cmd_profile.c -- `weir profile -- CMD`: runs a command under the profiler and writes a run file.
 *
 * prof/launch.h runs it; the command's exit status is that of the verb. A profile that cannot be
 * made never keeps the command from running. Jobs whose launcher was killed are collected too.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/note.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/cli_json.h"
#include "cli/profile.h"
#include "prof/counters.h"
#include "prof/launch.h"
#include "prof/profile_dir.h"
#include "prof/sockets.h"
#include "run/reader.h"

static const char *const clocks[] = {"sampled", "coarse", "precise", NULL};

struct profile_opts {
    const char *out, *dir, *slice, *name, *counters, *capacity, *sockets;
    uint32_t clock, files, callers;
    bool force, json;
};

static const struct cli_opt profile_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, out),
     .value = "RUN",
     .help = "the run file to write; by default the command's name with the ending .weir"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct profile_opts, force),
     .help = "replace an existing run file"},
    {.name = "slice",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, slice),
     .value = "TIME",
     .def = "auto",
     .help = "length of the slices, 10 ms or more; they begin at multiples of it since 1970; auto: "
             "15.625 ms for a job of a second, twice as long for twice the time, 4 s at most"},
    {.name = "clock",
     .type = CLI_CHOICE,
     .offset = offsetof(struct profile_opts, clock),
     .value = "CLOCK",
     .def = "sampled",
     .names = clocks,
     .help =
         "where times come from: looked at from outside, the kernel's tick, or every call timed"},
    {.name = "files",
     .type = CLI_U32,
     .offset = offsetof(struct profile_opts, files),
     .value = "N",
     .def = "0",
     .help = "count up to N files of each process separately"},
    {.name = "callers",
     .type = CLI_U32,
     .offset = offsetof(struct profile_opts, callers),
     .value = "N",
     .def = "0",
     .help = "count calls separately by the N functions they came from, 8 at most"},
    {.name = "counters",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, counters),
     .value = "LIST",
     .help =
         "counters of PAPI to read at slice edges for each thread, as PAPI_TOT_INS,PAPI_L2_TCM"},
    {.name = "also-sockets",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, sockets),
     .value = "LIST",
     .help = "count connections to these servers as storage: ports, addresses, names, "
             "ADDRESS:PORT or paths of Unix sockets, with commas between"},
    {.name = "name",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, name),
     .value = "NAME",
     .help = "what the job is called; by default as the command"},
    {.name = "dir",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, dir),
     .value = "DIR",
     .help = "keep the processes' profiles in this directory, which other machines may share"},
    {.name = "memory",
     .former = "capacity room",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, capacity),
     .value = "SIZE",
     .def = "64MiB",
     .help = "memory for the profiles of running processes; those beyond it share one"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct profile_opts, json),
     .help = "print the totals as JSON, after what the command prints"},
    CLI_OPT_END,
};

bool profile_write_run(const char *dir, const char *path, const struct prof_run_how *how,
                       struct wr_err *err)
{
    struct wr_str warnings = {0};
    bool ok = prof_run_file(dir, path, how, &warnings, err);

    if (warnings.n)
        for (char *line = warnings.s, *end; (end = strchr(line, '\n')); line = end + 1)
            wr_note("%.*s", (int)(end - line), line);
    wr_str_fini(&warnings);
    return ok;
}

static const char *profile_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool profile_parse_slice(uint64_t *ret_ns, const char *text, struct wr_err *err)
{
    double ps;

    if (!strcmp(text, "auto")) {
        *ret_ns = 0;
        return true;
    }
    if (!wr_parse_time(&ps, text, err))
        return wr_wrap(err, "--slice");
    if (ps < 10e9 || ps > 3600e12)
        return wr_fail(err, WR_INPUT, "--slice %s: give a time from 10 ms to 1 h",
                       wr_text_clip(text).s);
    *ret_ns = (uint64_t)(ps / 1000 + 0.5);
    return true;
}

static bool profile_parse_capacity(uint64_t *ret_b, const char *text, struct wr_err *err)
{
    if (!wr_parse_bytes(ret_b, text, err))
        return wr_wrap(err, "--memory");
    return *ret_b || wr_fail(err, WR_INPUT, "--memory %s: give a size such as 64MiB", text);
}

/* The command runs whatever happens to the profile. */
static int profile_exec_unprofiled(const struct cli_call *call, struct prof_hold *hold,
                                   const struct wr_err *why, struct wr_err *err)
{
    prof_hold_end(hold);
    fprintf(stderr, "weir: this job is not profiled: %s\n", why->text);
    fflush(NULL);
    wr_xfsz_restore();
    execvp(call->args[0], call->args);
    wr_fail_read(err, "cannot run %s; look at its name", call->args[0]);
    return cli_error(err);
}

static double profile_summary_mb(struct run_reader *r, const char *key)
{
    struct wr_err ignored = {0};
    char sql[128];
    double value = 0;
    bool found;

    snprintf(sql, sizeof sql, "SELECT value FROM summary WHERE key = '%s'", key);
    run_number(r, sql, &value, &found, &ignored);
    return value / 1e6;
}

static void profile_add_volume(struct wr_str *line, double mb, const char *what, double estimate_mb)
{
    wr_str_addf(line, "%.6g MB %s", mb, what);
    if (estimate_mb > 0)
        wr_str_addf(line, " (and an estimated %.6g)", estimate_mb);
}

static void profile_print_json(struct run_reader *r, const char *path, int status, FILE *out)
{
    cli_json_print(
        out,
        json_pack("{s:o, s:i, s:o, s:o, s:o, s:o}", "run", cli_json_string(path), "status", status,
                  "read_mb", cli_json_real(profile_summary_mb(r, "read_bytes")),
                  "read_estimated_mb", cli_json_real(profile_summary_mb(r, "read_estimate")),
                  "written_mb", cli_json_real(profile_summary_mb(r, "write_bytes")),
                  "written_estimated_mb", cli_json_real(profile_summary_mb(r, "write_estimate"))));
}

static void profile_print_totals(const struct cli_call *call, const char *path, int status)
{
    const struct profile_opts *o = call->opts;
    struct run_reader *r;
    struct wr_str line = {0};
    struct wr_err ignored = {0};

    if (!run_open(&r, path, &ignored))
        return;
    if (o->json) {
        profile_print_json(r, path, status, call->out);
        run_close(r);
        return;
    }
    profile_add_volume(&line, profile_summary_mb(r, "read_bytes"), "read",
                       profile_summary_mb(r, "read_estimate"));
    wr_str_add(&line, ", ");
    profile_add_volume(&line, profile_summary_mb(r, "write_bytes"), "written",
                       profile_summary_mb(r, "write_estimate"));
    wr_note("%s; see `weir profile show %s`", line.s, path);
    wr_str_fini(&line);
    run_close(r);
}

/* Without them the job is profiled all the same. */
static struct prof_counters *profile_open_counters(const char *list)
{
    struct prof_counters *c = NULL;
    struct wr_err why = {0};

    if (list && !prof_counters_open(&c, list, &why))
        fprintf(stderr, "weir: counters are not recorded: %s\n", why.text);
    return c;
}

static void profile_close_counters(struct prof_counters *c)
{
    const char *why;
    size_t missed = c ? prof_counters_missed(c, &why) : 0;

    if (missed)
        fprintf(stderr, "weir: %zu threads have no counters: %s\n", missed, why);
    prof_counters_close(c);
}

/* Where the run file of a job whose launcher was killed goes: where it would have gone, or beside
 * what is there now. */
static char *profile_choose_left_output(const struct prof_left *l)
{
    size_t n = strlen(l->out), end = strlen(".weir");
    struct wr_str other = {0};

    if (access(l->out, F_OK))
        return wr_strdup(l->out);
    n -= n > end && !strcmp(l->out + n - end, ".weir") ? end : 0;
    wr_str_addf(&other, "%.*s-left.weir", (int)n, l->out);
    if (access(other.s, F_OK))
        return other.s;
    wr_str_fini(&other);
    return NULL;
}

static void profile_collect_left(void *ctx, struct prof_left *l)
{
    struct prof_run_how how = {.command = l->command,
                               .failed = true,
                               .reason =
                                   "weir profile was killed, or could not write; collected later"};
    char *out = l->running ? NULL : profile_choose_left_output(l);
    struct wr_err why = {0};

    (void)ctx;
    if (l->running)
        fprintf(stderr,
                "weir: `%.200s` was killed, its command still runs; see `weir profile show %s`\n",
                l->command, l->place->dir);
    else if (!out || !profile_write_run(l->place->dir, out, &how, &why))
        fprintf(
            stderr,
            "weir: `%.200s` ended without a run file%s%s; keep what it left by `weir profile show "
            "%s -o RUN`, or remove that directory\n",
            l->command, *why.text ? ": " : "", why.text, l->place->dir);
    else {
        fprintf(stderr, "weir: `%.200s` ended without a run file; what it left is now in %s\n",
                l->command, out);
        wr_scratch_remove(l->place);
    }
    free(out);
}

static bool profile_launch(struct prof_launch *l, const struct profile_opts *o,
                           const struct prof_hold *hold, int *ret_status, struct wr_err *err)
{
    l->counters = profile_open_counters(o->counters);
    bool ran = prof_launch(l, hold, ret_status, err);

    profile_close_counters(l->counters);
    signal(SIGPIPE, SIG_IGN); /* a reader that closes the pipe must not end the collection */
    return ran;
}

static int profile_main(const struct cli_call *call, struct wr_err *err)
{
    const struct profile_opts *o = call->opts;
    const char *job = o->name ? o->name : profile_base_name(call->args[0]);
    const char *out =
        o->out ? o->out : wr_arena_printf(call->arena, "%s.weir", profile_base_name(call->args[0]));
    struct prof_launch l = {.argv = call->args,
                            .job = job,
                            .clock = clocks[o->clock],
                            .files = o->files,
                            .callers = o->callers};
    struct wr_scratch place;
    struct prof_hold hold;
    struct wr_str command = {0}, sockets = {0};
    struct wr_err why = {0};
    int status = 0;

    if (o->callers > PROF_FRAMES) {
        wr_fail(err, WR_INPUT, "--callers %u: give at most %d", o->callers, PROF_FRAMES);
        return cli_error(err);
    }
    if (!profile_parse_slice(&l.slice_ns, o->slice, err) ||
        !profile_parse_capacity(&l.capacity_b, o->capacity, err) ||
        !run_check_path(out, o->force, err))
        return cli_error(err);
    if (o->sockets && !prof_sockets(&sockets, o->sockets, err)) {
        wr_wrap(err, "--also-sockets");
        wr_str_fini(&sockets);
        return cli_error(err);
    }
    l.sockets = sockets.s;
    prof_hold_begin(&hold); /* until the end: nothing is left behind */
    prof_dir_left(profile_collect_left, NULL);
    wr_str_addf(&command, "%s ", call->who);
    run_command_line(&command, call->argc - 1, call->argv + 1);
    if (!(o->dir ? prof_dir_given(&place, o->dir, &why)
                 : prof_dir_make(&place, out, command.s, &why))) {
        wr_str_fini(&command);
        wr_str_fini(&sockets);
        return profile_exec_unprofiled(call, &hold, &why, err);
    }
    l.dir = place.dir;
    bool ran = profile_launch(&l, o, &hold, &status, err);
    struct prof_run_how how = {.command = wr_str_get(&command), .force = o->force, .here = true};
    bool ok = ran && profile_write_run(place.dir, out, &how, err);

    if (ran && !ok)
        wr_wrap(err, "the profiles are kept in %s", place.dir);
    if (!o->dir && (ok || !ran))
        wr_scratch_remove(&place);
    else
        wr_scratch_fini(&place);
    if (ok)
        profile_print_totals(call, out, status);
    wr_str_fini(&command);
    wr_str_fini(&sockets);
    if (!ran || !ok)
        return cli_error(err);
    return status;
}

static const struct cli_verb *const subs[] = {&cli_profile_show, NULL};

const struct cli_verb cli_cmd_profile = {
    .name = "profile",
    .summary = "record the I/O of a command in slices of the wall clock",
    .args = "-- COMMAND...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Runs COMMAND with libweir-prof.so preloaded into it and all that it starts, and leaves a "
        "run file: bytes, calls and times of reads, writes, syncs, opens and metadata, of every "
        "process, per mount and, if asked for, per file. Slices begin at multiples of their length "
        "since 1970, on every machine, so that those of different jobs lie side by side.\n\nThe "
        "exit status is the command's. Processes without the library (static programs, another "
        "environment) are counted by the kernel's own counters at their end. The balance says what "
        "the library saw, what the kernel counted, and what is unexplained: more than 1 % is a "
        "warning. With --dir the "
        "profiles stay; a job on several machines needs a directory that they share, and an MPI "
        "launcher that passes LD_PRELOAD and WEIR_PROF_* on.",
    .examples = "weir profile -- tar xf big.tar\n"
                "weir profile --slice 250ms -o job.weir -- mpirun -n 4 ./app\n"
                "weir profile show job.weir\n",
    .opts = profile_rows,
    .opts_size = sizeof(struct profile_opts),
    .subs = subs,
    .main = profile_main,
};
