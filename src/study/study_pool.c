/* study_pool.c -- runs tasks in forked worker processes, a limited number at once.
 *
 * Owns the workers: one process and one pipe each. A worker writes its result to the pipe and
 * exits; the parent polls the pipes, reaps a worker when its pipe is complete or closed, and calls
 * `done`. When study_pool_run() returns, no worker is left, whatever happened.
 */
#include "study/study_pool.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"

struct worker {
    pid_t pid;        /* 0: idle */
    int fd;           /* reads the result */
    size_t task, got; /* got: bytes of the result so far */
    char *result;     /* [result_size] */
    uint64_t started_ns;
};

struct pool {
    const struct study_pool *p;
    struct worker *worker; /* [jobs] */
    struct pollfd *fds;    /* [jobs] the workers' pipes */
    pid_t *pids;           /* [jobs] scratch: the running workers */
    size_t next, busy;     /* the task to start next; running workers */
    bool stopped;          /* interrupted: start no more */
};

uint32_t study_pool_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 0 ? (uint32_t)cores : 1;
}

/* All that a child does: the task, then its result to the pipe. */
static void study_pool_child(const struct study_pool *p, size_t task, int fd, pid_t parent)
{
    char *result = wr_zalloc(1, p->result_size);

    /* Without its parent a worker has no reader for its result. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(4);
    p->work(p->ctx, task, result);
    for (size_t done = 0; done < p->result_size;) {
        ssize_t n = write(fd, result + done, p->result_size - done);

        if (n < 0 && errno != EINTR)
            _exit(4);
        done += n > 0 ? (size_t)n : 0;
    }
    _exit(0);
}

static bool study_pool_start(struct pool *s, struct worker *k, struct wr_err *err)
{
    pid_t parent = getpid();
    int fd[2];

    assert(!k->pid && s->next < s->p->ntasks);
    if (pipe(fd))
        return wr_fail_errno(err, "cannot open a pipe to a worker; use fewer workers");
    fflush(NULL);
    pid_t pid = fork();

    if (pid < 0) {
        close(fd[0]);
        close(fd[1]);
        return wr_fail_errno(err, "cannot start a worker; use fewer workers");
    }
    if (!pid) {
        close(fd[0]);
        study_pool_child(s->p, s->next, fd[1], parent);
    }
    close(fd[1]);
    k->pid = pid;
    k->fd = fd[0];
    k->task = s->next++;
    k->got = 0;
    k->started_ns = wr_clock_ns();
    s->busy++;
    return true;
}

/* Reads what is in the pipe; true when the result is complete or the pipe is closed. */
static bool study_pool_collect(struct worker *k, size_t size)
{
    ssize_t n = read(k->fd, k->result + k->got, size - k->got);

    if (n < 0)
        return errno != EINTR;
    k->got += (size_t)n;
    return n == 0 || k->got == size;
}

static void study_pool_describe_exit(int status, char *how, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(how, size, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, size, "ended with status %d", WEXITSTATUS(status));
}

static bool study_pool_finish(struct pool *s, struct worker *k, struct wr_err *err)
{
    struct rusage use = {0};
    char how[128];
    int status = 0;

    assert(k->pid && s->busy);
    close(k->fd);
    while (wait4(k->pid, &status, 0, &use) < 0 && errno == EINTR)
        continue;
    k->pid = 0;
    s->busy--;
    study_pool_describe_exit(status, how, sizeof how);

    bool whole = k->got == s->p->result_size;
    struct study_ended end = {.result = whole ? k->result : NULL,
                              .how = how,
                              .peak_b = (uint64_t)use.ru_maxrss * 1024,
                              .wall_s = (double)(wr_clock_ns() - k->started_ns) / 1e9};

    return s->p->done(s->p->ctx, k->task, &end, err);
}

static size_t study_pool_list_running(struct pool *s)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->p->jobs; i++)
        if (s->worker[i].pid)
            s->pids[n++] = s->worker[i].pid;
    return n;
}

static bool study_pool_start_some(struct pool *s, struct wr_err *err)
{
    const struct study_pool *p = s->p;

    for (uint32_t i = 0; i < p->jobs && s->next < p->ntasks; i++) {
        if (s->worker[i].pid)
            continue;
        if (s->busy && p->may_start &&
            !p->may_start(p->ctx, s->next, s->pids, study_pool_list_running(s)))
            return true;
        if (!study_pool_start(s, &s->worker[i], err))
            return false;
    }
    return true;
}

/* Once only: a second SIGTERM makes a worker end at once without saving its results. */
static void study_pool_ask_to_end(struct pool *s)
{
    for (uint32_t i = 0; !s->stopped && i < s->p->jobs; i++)
        if (s->worker[i].pid)
            kill(s->worker[i].pid, SIGTERM);
    s->stopped = true;
}

static bool study_pool_turn(struct pool *s, struct wr_err *err)
{
    const struct study_pool *p = s->p;

    if (!s->stopped && !study_pool_start_some(s, err))
        return false;
    for (uint32_t i = 0; i < p->jobs; i++)
        s->fds[i] =
            (struct pollfd){.fd = s->worker[i].pid ? s->worker[i].fd : -1, .events = POLLIN};
    int ready = poll(s->fds, p->jobs, 200);

    if (wr_interrupted())
        study_pool_ask_to_end(s);
    if (p->tick)
        p->tick(p->ctx, s->busy);
    for (uint32_t i = 0; ready > 0 && i < p->jobs; i++)
        if (s->worker[i].pid && s->fds[i].revents &&
            study_pool_collect(&s->worker[i], p->result_size) &&
            !study_pool_finish(s, &s->worker[i], err))
            return false;
    return true;
}

bool study_pool_run(const struct study_pool *p, bool *ret_interrupted, struct wr_err *err)
{
    struct pool s = {.p = p,
                     .worker = wr_zalloc(p->jobs, sizeof *s.worker),
                     .fds = wr_zalloc(p->jobs, sizeof *s.fds),
                     .pids = wr_zalloc(p->jobs, sizeof *s.pids)};
    bool ok = true;

    assert(p->jobs && p->work && p->done);
    for (uint32_t i = 0; i < p->jobs; i++)
        s.worker[i].result = wr_zalloc(1, p->result_size);
    while (ok && (s.busy || (s.next < p->ntasks && !s.stopped)))
        ok = study_pool_turn(&s, err);
    for (uint32_t i = 0; i < p->jobs; i++) {
        if (s.worker[i].pid) {
            kill(s.worker[i].pid, SIGKILL);
            close(s.worker[i].fd);
            waitpid(s.worker[i].pid, NULL, 0);
        }
        free(s.worker[i].result);
    }
    free(s.worker);
    free(s.fds);
    free(s.pids);
    if (ok)
        *ret_interrupted = s.stopped;
    return ok;
}
