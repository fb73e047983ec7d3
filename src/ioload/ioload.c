/* ioload.c -- starts the writing processes of a load, waits for them and collects what they did.
 *
 * Owns the shared mapping (control words, one outcome and one array of cells per process) from
 * ioload_run() to ioload_fini(), the descriptors and the child processes. Called by the verbs of
 * cli/ and by the experiments of interference.
 *
 * A child writes only its own outcome and cells and the atomic words of struct ioload_shared; the
 * parent reads outcomes after the child was reaped.
 */
#include "ioload/ioload.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "ioload_process_priv.h"

const char *const ioload_file_names[] = {"private", "shared", NULL};
const char *const ioload_sync_names[] = {"none", "end", "block", NULL};

enum { POLL_NS = 10000000 }; /* between two looks at the children */

/* Files may use this part of the free space: a full file system stops others too. */
static const double usable_space = 0.9;

static int64_t ioload_unix_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- is it a load that can be run? ---- */

static bool ioload_check_space(const struct ioload_opts *o, struct wr_err *err)
{
    struct statvfs vfs;
    double each = (double)o->span_b;

    if (o->total_b)
        each = fmin(each, (double)ioload_part_b(o, 0));
    if (statvfs(o->dir, &vfs))
        return wr_fail_read(err, "cannot write to %s; name a directory that exists", o->dir);
    double space = (double)vfs.f_bavail * (double)vfs.f_frsize, need = each * o->processes;

    if (need > usable_space * space)
        return wr_fail(err, WR_INPUT,
                       "the files may grow to %.4g MiB and %s has %.4g MiB of free space; give a "
                       "smaller span or total",
                       need / (1 << 20), o->dir, space / (1 << 20));
    return true;
}

static bool ioload_check_opts(const struct ioload_opts *o, struct wr_err *err)
{
    if (!o->processes || o->processes > IOLOAD_PROCESSES)
        return wr_fail(err, WR_INPUT, "there are %u processes; give from 1 to %d", o->processes,
                       IOLOAD_PROCESSES);
    if (!o->block_b || o->block_b > (1u << 30))
        return wr_fail(err, WR_INPUT, "a block is %s; give from 1 B to 1 GiB",
                       wr_text_bytes(o->block_b).s);
    if (!o->total_b && !(o->length_s > 0))
        return wr_fail(err, WR_INPUT, "the load has no end; give a total or a duration");
    if (o->slice_ns < 1000000)
        return wr_fail(err, WR_INPUT, "a slice is shorter than 1 ms; give a longer slice");
    if (o->direct && (o->block_b % 4096 || o->total_b % (4096ull * o->processes) || o->through))
        return wr_fail(
            err, WR_INPUT,
            "direct I/O writes files in pieces of 4 KiB; give a block and for each process a "
            "part of the total that are multiples of it");
    if (o->span_b < o->block_b)
        return wr_fail(err, WR_INPUT, "the span is less than a block; give a longer one");
    return o->through || ioload_check_space(o, err);
}

/* ---- where it writes ---- */

static bool ioload_open_file(int *ret, const struct ioload_opts *o, struct wr_err *err)
{
    char path[4096];

    if (snprintf(path, sizeof path, "%s/.weir-io-load-%ld-XXXXXX", o->dir, (long)getpid()) >=
        (int)sizeof path)
        return wr_fail(err, WR_INPUT, "the directory's path is too long; give a shorter one");
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd < 0)
        return wr_fail_read(err, "%s: cannot make a file there; name a directory you may write to",
                            o->dir);
    unlink(path);
    if (o->direct && fcntl(fd, F_SETFL, O_DIRECT)) {
        close(fd);
        return wr_fail_errno(err, "%s: its file system has no O_DIRECT; leave out direct I/O",
                             o->dir);
    }
    *ret = fd;
    return true;
}

/* One descriptor per process, or one for all. */
static bool ioload_open_targets(int *fd, const struct ioload_opts *o, struct wr_err *err)
{
    bool one = o->through ? o->one_connection : o->file == IOLOAD_SHARED;

    for (uint32_t i = 0; i < o->processes; i++) {
        if (i && one)
            fd[i] = fd[0];
        else if (!(o->through ? ioload_connect(&fd[i], o->through, err)
                              : ioload_open_file(&fd[i], o, err)))
            return false;
    }
    return true;
}

static void ioload_close_targets(int *fd, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (fd[i] >= 0 && (!i || fd[i] != fd[0]))
            close(fd[i]);
}

/* ---- the processes ---- */

/* The child processes of one load. All but pid, started and running is fixed before the first
 * fork. */
struct ioload_writers {
    const struct ioload_opts *o;
    struct ioload_shared *shared; /* the beginning of the mapping */
    struct ioload_cell *cell;     /* cell[process * stride + slice], in the same mapping */
    size_t stride, mapped_b;      /* cells per process; bytes of the whole mapping */
    int *fd;                      /* [processes] what each writes to */
    pid_t *pid;                   /* [processes]; 0: not started, or reaped */
    uint32_t started, running;    /* forked so far; forked and not reaped */
};

/* Control words and cells in one mapping; pages that are never touched cost nothing. */
static bool ioload_map_shared(struct ioload_writers *c, struct wr_err *err)
{
    assert(c->o->processes && c->o->processes <= IOLOAD_PROCESSES);
    size_t n = c->o->processes, head = sizeof *c->shared + n * sizeof c->shared->outcome[0];

    head = (head + 4095) / 4096 * 4096;
    c->stride = IOLOAD_MOST_CELLS / n;
    if (c->stride > IOLOAD_MOST_SLICES)
        c->stride = IOLOAD_MOST_SLICES;
    c->mapped_b = head + n * c->stride * sizeof *c->cell;
    void *at = mmap(NULL, c->mapped_b, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return wr_fail_errno(err, "no memory for the slices; give fewer processes");
    c->shared = at;
    void *cells = (char *)at + head;

    c->cell = cells;
    return true;
}

static void ioload_set_clock(struct ioload_writers *c)
{
    int64_t now = ioload_unix_ns(), begin = c->o->begin_ns > now ? c->o->begin_ns : now;

    c->shared->mono_to_unix_ns = now - (int64_t)wr_clock_ns();
    c->shared->origin_ns = begin / c->o->slice_ns * c->o->slice_ns;
}

static bool ioload_fork_writer(struct ioload_writers *c, uint32_t i, pid_t parent,
                               struct wr_err *err)
{
    pid_t pid = fork();

    assert(i < c->o->processes && !c->pid[i]);
    assert(c->shared && c->fd[i] >= 0);
    if (pid < 0)
        return wr_fail_errno(err, "cannot start process %u; give fewer", i);
    if (pid) {
        c->pid[i] = pid;
        c->started++;
        c->running++;
        return true;
    }
    struct ioload_process p = {
        .o = c->o,
        .number = i,
        .shared = c->shared,
        .account = {.cell = c->cell + i * c->stride,
                    .n = c->stride,
                    .origin_ns = c->shared->origin_ns,
                    .slice_ns = c->o->slice_ns},
        .fd = c->fd[i],
    };

    /* The parent decides when to stop, and a child does not outlive it. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    ioload_process_run(&p);
    _exit(0);
}

static void ioload_poll_wait(void)
{
    struct timespec t = {.tv_nsec = POLL_NS};

    nanosleep(&t, NULL);
}

static bool ioload_any_failed(const struct ioload_writers *c)
{
    for (uint32_t i = 0; i < c->started; i++)
        if (c->shared->outcome[i].failed)
            return true;
    return false;
}

/* A process that was killed or exited with a status did not complete its part of the load. */
static void ioload_reap(struct ioload_writers *c)
{
    for (uint32_t i = 0; i < c->started; i++) {
        int status;
        struct ioload_outcome *outcome = &c->shared->outcome[i];

        if (!c->pid[i] || waitpid(c->pid[i], &status, WNOHANG) != c->pid[i])
            continue;
        c->pid[i] = 0;
        c->running--;
        if ((!WIFEXITED(status) || WEXITSTATUS(status)) && !outcome->failed)
            outcome->failed =
                !wr_fail(&outcome->err, WR_SYSTEM,
                         "process %u was killed; what the others wrote is not a whole load", i);
    }
}

static bool ioload_supervise(struct ioload_writers *c, bool *ret_interrupted)
{
    bool begun = false;

    while (c->running) {
        if (!begun && atomic_load(&c->shared->ready) == c->o->processes) {
            int64_t now = (int64_t)wr_clock_ns() + c->shared->mono_to_unix_ns;

            atomic_store(&c->shared->go_ns, c->o->begin_ns > now ? c->o->begin_ns : now + 1000000);
            begun = true;
        }
        if (c->o->stop && c->o->stop())
            *ret_interrupted = true;
        if (*ret_interrupted || ioload_any_failed(c))
            atomic_store(&c->shared->stop, true);
        ioload_poll_wait();
        ioload_reap(c);
    }
    return !ioload_any_failed(c);
}

static bool ioload_run_writers(struct ioload_writers *c, bool *ret_interrupted, struct wr_err *err)
{
    bool ok = true;
    pid_t self = getpid();

    fflush(NULL);
    atomic_store(&c->shared->writing, c->o->processes);
    for (uint32_t i = 0; ok && i < c->o->processes; i++)
        ok = ioload_fork_writer(c, i, self, err);
    if (!ok)
        atomic_store(&c->shared->stop, true);
    ok = ioload_supervise(c, ret_interrupted) && ok;
    for (uint32_t i = 0; i < c->started && !ok; i++)
        if (c->shared->outcome[i].failed) {
            *err = c->shared->outcome[i].err;
            break;
        }
    return ok;
}

static void ioload_take_results(struct ioload_result *ret, struct ioload_writers *c,
                                bool interrupted)
{
    int64_t last = c->shared->origin_ns;

    assert(!c->running);
    *ret = (struct ioload_result){.origin_ns = c->shared->origin_ns,
                                  .slice_ns = c->o->slice_ns,
                                  .n = c->o->processes,
                                  .rank = wr_zalloc(c->o->processes, sizeof *ret->rank),
                                  .cell = c->cell,
                                  .stride = c->stride,
                                  .mapped_b = c->mapped_b,
                                  .interrupted = interrupted};
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->rank[i] = c->shared->outcome[i].rank;
        last = ret->rank[i].end_ns > last ? ret->rank[i].end_ns : last;
    }
    ret->clock_step_ns = ioload_unix_ns() - (int64_t)wr_clock_ns() - c->shared->mono_to_unix_ns;
    ret->nslices = (size_t)((last - ret->origin_ns + ret->slice_ns - 1) / ret->slice_ns);
    if (ret->nslices > ret->stride)
        ret->nslices = ret->stride;
    /* The whole mapping stays until ioload_fini(). */
    ret->cell = c->cell;
}

bool ioload_run(struct ioload_result *ret, const struct ioload_opts *o, struct wr_err *err)
{
    struct ioload_writers c = {.o = o};
    bool interrupted = false;

    if (!ioload_check_opts(o, err) || !ioload_map_shared(&c, err))
        return false;
    c.fd = wr_alloc(o->processes * sizeof *c.fd);
    for (uint32_t i = 0; i < o->processes; i++)
        c.fd[i] = -1;
    c.pid = wr_zalloc(o->processes, sizeof *c.pid);
    ioload_set_clock(&c);
    bool ok = ioload_open_targets(c.fd, o, err) && ioload_run_writers(&c, &interrupted, err);

    ioload_close_targets(c.fd, o->processes);
    free(c.fd);
    free(c.pid);
    if (ok)
        ioload_take_results(ret, &c, interrupted);
    else
        munmap(c.shared, c.mapped_b);
    return ok;
}

void ioload_fini(struct ioload_result *r)
{
    assert(r->cell && r->n);
    size_t cells = (size_t)r->n * r->stride * sizeof *r->cell;
    void *shared = (char *)(uintptr_t)r->cell + cells - r->mapped_b;

    munmap(shared, r->mapped_b);
    free(r->rank);
    *r = (struct ioload_result){0};
}
