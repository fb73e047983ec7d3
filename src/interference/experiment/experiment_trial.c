/* experiment_trial.c -- one trial of an experiment: starts its jobs together, waits for them and
 * removes what they leave.
 *
 * Owns the scratch directories, the socket of the limited path and the job processes. Each job is
 * the leader of a process group, so that it ends with all its children. On failure or interruption
 * no run file of the trial stays. */
#include "experiment_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scratch.h"
#include "base/self.h"
#include "base/signals.h"
#include "ioload/ioload.h"
#include "run/reader.h"

/* {begin} is this long after the start of the first job. */
static const double head_start_s = 0.3;
enum {
    POLL_NS = 10000000, /* between two checks of the jobs */
    GRACE_S = 3,        /* from SIGTERM to SIGKILL */
};

/* The state of one trial, from trial_set_up to the end of experiment_trial_run. */
struct bench {
    const struct experiment *e;
    const struct experiment_trial *t;
    struct wr_scratch scratch; /* for the jobs' files */
    struct wr_scratch path;    /* for the socket, whose name must be short */
    const char *socket, *log;
    const char *run[EXPERIMENT_JOBS];
    pid_t pid[EXPERIMENT_JOBS], server; /* 0: not started, or waited for */
    struct wr_arena arena;
};

/* ---- directories ---- */

#define EXPERIMENT_SCRATCH ".weir-experiment-"
#define EXPERIMENT_PATH "weir-path-"

/* Removes what a killed experiment left, then makes a directory for each job. */
static bool trial_make_scratch(struct bench *b, struct wr_err *err)
{
    const char *directory = b->e->spec.directory;

    wr_scratch_clean(directory, EXPERIMENT_SCRATCH);
    if (!wr_scratch_make(&b->scratch, directory, EXPERIMENT_SCRATCH))
        return wr_fail_errno(err, "%s: cannot make a directory there; give another `directory`",
                             directory);
    for (size_t i = 0; i < b->t->n; i++) {
        const char *own = wr_arena_printf(&b->arena, "%s/%c", b->scratch.dir, run_trial_letter(i));

        if (mkdir(own, 0777))
            return wr_fail_errno(err, "%s: cannot make a directory; free some space", own);
    }
    return true;
}

/* ---- processes ---- */

static bool trial_fork(pid_t *ret, struct wr_err *err)
{
    fflush(NULL);
    *ret = fork();
    if (*ret < 0) {
        *ret = 0;
        return wr_fail_errno(err, "cannot start a process; close others");
    }
    if (!*ret) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    } else {
        setpgid(*ret, *ret);
    }
    return true;
}

/* The path of a Unix socket is limited to 107 bytes, so it is under TMPDIR. */
static bool trial_start_path(struct bench *b, struct wr_err *err)
{
    const char *tmp = getenv("TMPDIR");

    tmp = tmp && *tmp && strlen(tmp) < 60 ? tmp : "/tmp";
    wr_scratch_clean(tmp, EXPERIMENT_PATH);
    if (!wr_scratch_make(&b->path, tmp, EXPERIMENT_PATH))
        return wr_fail_errno(err, "cannot make a directory for the path's socket; set TMPDIR");
    b->socket = wr_arena_printf(&b->arena, "%s/path", b->path.dir);
    if (!trial_fork(&b->server, err))
        return false;
    if (!b->server) {
        struct ioload_limit limit = {.path = b->socket, .rate_bps = b->e->spec.path.rate_bps};
        struct ioload_carried ignored;
        struct wr_err why;

        _exit(!ioload_limit_serve(&ignored, &limit, &why));
    }
    for (int i = 0; i < 500 && access(b->socket, F_OK); i++)
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    return !access(b->socket, F_OK) ||
           wr_fail(err, WR_SYSTEM, "the limited path did not begin; try again");
}

static void trial_end_path(struct bench *b)
{
    if (b->server) {
        kill(b->server, SIGKILL);
        waitpid(b->server, NULL, 0);
    }
    wr_scratch_remove(&b->path);
}

/* In the child. The directory of this program is first in PATH, so that `weir` in a command is it.
 */
static void trial_exec_job(const struct bench *b, size_t i, const char *command)
{
    char exe[WR_SELF_PATH], slice[64], name[2] = {run_trial_letter(i)};
    int log = open(b->log, O_WRONLY | O_CREAT | O_APPEND, 0666);

    if (log >= 0) {
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    }
    struct wr_str path = {0};
    struct wr_err err;

    if (!wr_self_path(exe, &err)) {
        fprintf(stderr, "%s\n", err.text);
        _exit(127);
    }
    wr_self_folder(&path);
    wr_str_addf(&path, ":%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    setenv("PATH", path.s, 1);
    snprintf(slice, sizeof slice, "%.0fns", b->e->spec.slice_ps / 1e3);
    wr_xfsz_restore();
    if (experiment_writes_run(b->e))
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    else
        execl(exe, "weir", "profile", "--quiet", "--slice", slice, "--name", name, "--output",
              b->run[i], "--", "/bin/sh", "-c", command, (char *)NULL);
    fprintf(stderr, "cannot run a shell: %s\n", strerror(errno));
    _exit(127);
}

static bool trial_start_jobs(struct bench *b, struct wr_err *err)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    double begin = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + head_start_s;

    for (size_t i = 0; i < b->t->n; i++) {
        struct wr_str command = {0};
        struct experiment_values v = {
            .scratch = wr_arena_printf(&b->arena, "%s/%c", b->scratch.dir, run_trial_letter(i)),
            .socket = b->socket ? b->socket : "",
            .run = b->run[i],
            .begin_s = begin};

        experiment_command(b->e, b->t, i, &v, &command);
        bool ok = trial_fork(&b->pid[i], err);

        if (ok && !b->pid[i])
            trial_exec_job(b, i, wr_str_get(&command));
        wr_str_fini(&command);
        if (!ok)
            return false;
    }
    return true;
}

/* Ends all jobs: SIGTERM, then SIGKILL after GRACE_S. */
static void trial_end_jobs(struct bench *b)
{
    for (int hard = 0; hard < 2; hard++) {
        uint64_t until = wr_clock_ns() + (uint64_t)GRACE_S * 1000000000;
        size_t left = 0;

        for (size_t i = 0; i < b->t->n; i++)
            if (b->pid[i])
                kill(-b->pid[i], hard ? SIGKILL : SIGTERM);
        do {
            left = 0;
            for (size_t i = 0; i < b->t->n; i++) {
                if (b->pid[i] && waitpid(b->pid[i], NULL, hard ? 0 : WNOHANG) == b->pid[i])
                    b->pid[i] = 0;
                left += b->pid[i] != 0;
            }
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
        } while (left && wr_clock_ns() < until);
        if (!left)
            return;
    }
}

static bool trial_check_status(const struct bench *b, size_t i, int status, struct wr_err *err)
{
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return true;
    return wr_fail(err, WR_INPUT, "%s: job %c %s %d; see %s", b->t->id, run_trial_letter(i),
                   WIFEXITED(status) ? "ended with status" : "was ended by signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), b->log);
}

static bool trial_watch(struct bench *b, bool (*stop)(void), bool *ret_interrupted,
                        struct wr_err *err)
{
    uint64_t until = wr_clock_ns() + (uint64_t)fmin(b->e->spec.timeout_ps / 1e3, 9e18);
    size_t left = b->t->n;

    while (left) {
        if (stop && stop()) {
            *ret_interrupted = true;
            return true;
        }
        if (wr_clock_ns() > until)
            return wr_fail(err, WR_INPUT, "%s took longer than the timeout; give a longer one",
                           b->t->id);
        for (size_t i = 0; i < b->t->n; i++) {
            int status;

            if (!b->pid[i] || waitpid(b->pid[i], &status, WNOHANG) != b->pid[i])
                continue;
            b->pid[i] = 0;
            left--;
            if (!trial_check_status(b, i, status, err))
                return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return true;
}

/* ---- a trial ---- */

bool experiment_done(const struct experiment *e, const struct experiment_trial *t)
{
    struct wr_arena arena = {0};
    bool done = true;

    for (size_t i = 0; done && i < t->n; i++) {
        struct wr_err ignored = {0};
        struct run_reader *r;

        done = run_peek(&r, experiment_run_path(e, t, i, &arena), &ignored);
        if (done) {
            done = run_info(r)->status == RUN_COMPLETE;
            run_close(r);
        }
    }
    wr_arena_fini(&arena);
    return done;
}

static void trial_remove_runs(const struct bench *b)
{
    for (size_t i = 0; i < b->t->n; i++)
        unlink(b->run[i]);
}

static bool trial_set_up(struct bench *b, struct wr_err *err)
{
    for (size_t i = 0; i < b->t->n; i++)
        b->run[i] = experiment_run_path(b->e, b->t, i, &b->arena);
    b->log = wr_arena_printf(&b->arena, "%s/%s.log", b->e->out, b->t->id);
    trial_remove_runs(b);
    unlink(b->log);
    return trial_make_scratch(b, err) &&
           (!(b->e->spec.path.rate_bps > 0) || trial_start_path(b, err)) &&
           trial_start_jobs(b, err);
}

bool experiment_trial_run(const struct experiment *e, const struct experiment_trial *t,
                          bool (*stop)(void), bool *ret_interrupted, struct wr_err *err)
{
    assert(t->n > 0 && t->n <= EXPERIMENT_JOBS && !*ret_interrupted);
    struct bench b = {.e = e, .t = t, .scratch.lock = -1, .path.lock = -1};
    bool ok = trial_set_up(&b, err) && trial_watch(&b, stop, ret_interrupted, err);

    trial_end_jobs(&b);
    trial_end_path(&b);
    wr_scratch_remove(&b.scratch);
    if (ok && !*ret_interrupted && !experiment_done(e, t))
        ok = wr_fail(err, WR_INPUT, "%s: a job left no complete run file; see %s", t->id, b.log);
    if (!ok || *ret_interrupted)
        trial_remove_runs(&b);
    if (ok)
        unlink(b.log);
    wr_arena_fini(&b.arena);
    return ok;
}
