/* cmd_profile.c -- `weir profile -- CMD`: a command's I/O in slices of the wall clock. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/units.h"
#include "cli/profile.h"
#include "prof/counters.h"
#include "prof/launch.h"
#include "prof/place.h"
#include "prof/store.h"
#include "run/reader.h"

static const char *const clocks[] = {"sampled", "coarse", "precise", NULL};

struct profile_opts {
    const char *out, *dir, *slice, *name, *counters, *room;
    uint32_t clock, files, callers;
    bool force, quiet;
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
     .def = "4s",
     .help = "length of the slices, 10 ms or more; they begin at multiples of it since 1970"},
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
     .help = "tell up to N files of each process apart"},
    {.name = "callers",
     .type = CLI_U32,
     .offset = offsetof(struct profile_opts, callers),
     .value = "N",
     .def = "0",
     .help = "tell calls apart by the N functions they came from, 8 at most"},
    {.name = "counters",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, counters),
     .value = "LIST",
     .help =
         "counters of PAPI to read at slice edges for each thread, as PAPI_TOT_INS,PAPI_L2_TCM"},
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
    {.name = "room",
     .type = CLI_TEXT,
     .offset = offsetof(struct profile_opts, room),
     .value = "SIZE",
     .def = "64MiB",
     .help = "memory for the profiles of running processes; those beyond it share one"},
    {.name = "quiet",
     .letter = 'q',
     .type = CLI_FLAG,
     .offset = offsetof(struct profile_opts, quiet),
     .help = "say nothing at the end"},
    CLI_OPT_END,
};

/* How far this machine's clock may be off, as its system says. */
static bool put_clock(struct run *run, struct wr_err *err)
{
    struct timex t = {0};
    int state = adjtimex(&t);

    return state < 0 ||
           (run_put_volatile(run, "clock_error_ns", (double)t.esterror * 1000, "ns", err) &&
            run_put_volatile(run, "clock_synchronised", state != TIME_ERROR, "", err));
}

bool profile_to_run(const char *dir, const char *path, const struct profile_made *made,
                    struct wr_err *err)
{
    struct run_meta meta = {
        .kind = "prof", .command = made->command, .force = made->force, .whole = true};
    struct prof_job job = {0};
    struct run *run;

    if (!prof_job_read(&job, dir, err))
        return false;
    if (job.warnings.n) {
        for (char *line = job.warnings.s, *end; (end = strchr(line, '\n')); line = end + 1)
            fprintf(stderr, "weir: %.*s\n", (int)(end - line), line);
    }
    bool ok = run_create(&run, path, &meta, err);

    if (ok) {
        struct wr_err later = {0};

        ok = prof_store(run, &job, err) && (!made->here || put_clock(run, err));
        bool ended = run_finish(run, !ok || made->failed ? RUN_FAILED : RUN_COMPLETE,
                                !ok            ? err->text
                                : made->failed ? made->reason
                                               : NULL,
                                &later);
        if (ok && !ended) {
            *err = later;
            ok = false;
        }
    }
    prof_job_fini(&job);
    return ok;
}

static const char *leaf(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool slice_of(uint64_t *ret_ns, const char *text, struct wr_err *err)
{
    double ps;

    if (!wr_parse_time(&ps, text, err))
        return wr_wrap(err, "--slice");
    if (ps < 10e9 || ps > 3600e12)
        return wr_fail(err, WR_INPUT, "--slice %s: give a time from 10 ms to 1 h",
                       wr_text_clip(text).s);
    *ret_ns = (uint64_t)(ps / 1000 + 0.5);
    return true;
}

static bool room_of(uint64_t *ret_b, const char *text, struct wr_err *err)
{
    if (!wr_parse_bytes(ret_b, text, err))
        return wr_wrap(err, "--room");
    return *ret_b || wr_fail(err, WR_INPUT, "--room %s: give a size such as 64MiB", text);
}

/* The command runs whatever happens to the profile. */
static int run_plainly(const struct cli_call *call, struct prof_hold *hold,
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

static void tell(const char *path)
{
    struct run_reader *r;
    struct wr_err ignored = {0};
    double read = 0, written = 0;
    bool found;

    if (!run_open(&r, path, &ignored))
        return;
    run_number(r, "SELECT value FROM summary WHERE key = 'read_bytes'", &read, &found, &ignored);
    run_number(r, "SELECT value FROM summary WHERE key = 'write_bytes'", &written, &found,
               &ignored);
    run_close(r);
    fprintf(stderr, "weir: %.6g MB read, %.6g MB written; see `weir profile show %s`\n", read / 1e6,
            written / 1e6, path);
}

/* Without them the job is profiled all the same. */
static struct prof_counters *open_counters(const char *list)
{
    struct prof_counters *c = NULL;
    struct wr_err why = {0};

    if (list && !prof_counters_open(&c, list, &why))
        fprintf(stderr, "weir: counters are not recorded: %s\n", why.text);
    return c;
}

static void close_counters(struct prof_counters *c)
{
    const char *why;
    size_t missed = c ? prof_counters_missed(c, &why) : 0;

    if (missed)
        fprintf(stderr, "weir: %zu threads have no counters: %s\n", missed, why);
    prof_counters_close(c);
}

/* Where the run file of a job whose launcher was killed goes: where it would have gone, or beside
 * what is there now. */
static char *left_out(const struct prof_left *l)
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

static void collect_left(void *ctx, struct prof_left *l)
{
    struct profile_made made = {.command = l->command,
                                .failed = true,
                                .reason =
                                    "weir profile was killed, or could not write; collected later"};
    char *out = l->running ? NULL : left_out(l);
    struct wr_err why = {0};

    (void)ctx;
    if (l->running)
        fprintf(stderr,
                "weir: `%.200s` was killed, its command still runs; see `weir profile show %s`\n",
                l->command, l->place->dir);
    else if (!out || !profile_to_run(l->place->dir, out, &made, &why))
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

static bool launch(struct prof_launch *l, const struct profile_opts *o,
                   const struct prof_hold *hold, int *ret_status, struct wr_err *err)
{
    l->counters = open_counters(o->counters);
    bool ran = prof_launch(l, hold, ret_status, err);

    close_counters(l->counters);
    signal(SIGPIPE, SIG_IGN); /* nobody who reads what is said may end what is left to do */
    return ran;
}

static int profile_main(const struct cli_call *call, struct wr_err *err)
{
    const struct profile_opts *o = call->opts;
    const char *job = o->name ? o->name : leaf(call->args[0]);
    const char *out =
        o->out ? o->out : wr_arena_printf(call->arena, "%s.weir", leaf(call->args[0]));
    struct prof_launch l = {.argv = call->args,
                            .job = job,
                            .clock = clocks[o->clock],
                            .files = o->files,
                            .callers = o->callers};
    struct wr_scratch place;
    struct prof_hold hold;
    struct wr_str command = {0};
    struct wr_err why = {0};
    int status = 0;

    if (o->callers > PROF_FRAMES) {
        wr_fail(err, WR_INPUT, "--callers %u: give at most %d", o->callers, PROF_FRAMES);
        return cli_error(err);
    }
    if (!slice_of(&l.slice_ns, o->slice, err) || !room_of(&l.room_b, o->room, err) ||
        !run_check_path(out, o->force, err))
        return cli_error(err);
    prof_hold_begin(&hold); /* until the end: nothing is left behind */
    prof_place_left(collect_left, NULL);
    wr_str_addf(&command, "%s ", call->who);
    run_command_line(&command, call->argc - 1, call->argv + 1);
    if (!(o->dir ? prof_place_given(&place, o->dir, &why)
                 : prof_place_make(&place, out, command.s, &why))) {
        wr_str_fini(&command);
        return run_plainly(call, &hold, &why, err);
    }
    l.dir = place.dir;
    bool ran = launch(&l, o, &hold, &status, err);
    struct profile_made made = {.command = wr_str_get(&command), .force = o->force, .here = true};
    bool ok = ran && profile_to_run(place.dir, out, &made, err);

    if (ran && !ok)
        wr_wrap(err, "the profiles are kept in %s", place.dir);
    if (!o->dir && (ok || !ran))
        wr_scratch_remove(&place);
    else
        wr_scratch_fini(&place);
    if (ok && !o->quiet)
        tell(out);
    wr_str_fini(&command);
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
        "exit status is the command's. Processes that cannot be preloaded (static programs) are "
        "told by the kernel's own counters, and the run file says how many. With --dir the "
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
