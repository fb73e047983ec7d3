/* ioload_process.c -- one writing process: waits for the common start, writes, records each call.
 *
 * Runs in a child of ioload.c. Owns its block buffer and writes only its own outcome and cells, and
 * the atomic words ready and writing of struct ioload_shared. Times are Unix nanoseconds, derived
 * from the monotonic clock by one offset that is the same in all processes.
 */
#include "ioload_process_priv.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { ALIGN = 4096, POLL_NS = 20000000 }; /* of buffers for O_DIRECT; of looks at `stop` */

static int64_t process_now_ns(const struct ioload_process *p)
{
    return (int64_t)wr_clock_ns() + p->shared->mono_to_unix_ns;
}

/* Sleeps until then; false when the parent asks to stop before. It sleeps in short steps, because
 * the stop flag is polled. */
static bool process_wait_until(const struct ioload_process *p, int64_t when_ns)
{
    for (;;) {
        int64_t left = when_ns - process_now_ns(p);

        if (atomic_load(&p->shared->stop))
            return false;
        if (left <= 0)
            return true;
        struct timespec delay = {.tv_nsec = left < POLL_NS ? left : POLL_NS};

        nanosleep(&delay, NULL);
    }
}

static bool process_wait_for_start(struct ioload_process *p)
{
    atomic_fetch_add(&p->shared->ready, 1);
    while (!atomic_load(&p->shared->go_ns)) {
        struct timespec delay = {.tv_nsec = 1000000};

        if (atomic_load(&p->shared->stop))
            return false;
        nanosleep(&delay, NULL);
    }
    return process_wait_until(p, atomic_load(&p->shared->go_ns));
}

static bool process_record_call(struct ioload_process *p, enum account_kind kind, int64_t t0,
                                uint64_t len_b, struct wr_err *err)
{
    struct ioload_rank *r = &p->shared->outcome[p->number].rank;
    int64_t t1 = process_now_ns(p);

    if (kind == ACCOUNT_WRITE) {
        r->write_b += len_b;
        r->write_calls++;
        r->write_ns += (uint64_t)(t1 - t0);
    } else {
        r->sync_calls++;
        r->sync_ns += (uint64_t)(t1 - t0);
    }
    if (!account_add(&p->account, kind, t0, t1, len_b))
        return wr_fail(err, WR_INPUT,
                       "the load has more than %zu slices, which is the most; give a longer slice",
                       p->account.n);
    return true;
}

static bool process_write_block(struct ioload_process *p, const char *block, uint64_t len,
                                uint64_t at, struct wr_err *err)
{
    assert(len);
    for (uint64_t done = 0; done < len;) {
        int64_t t0 = process_now_ns(p);
        ssize_t n = p->o->through ? send(p->fd, block + done, len - done, MSG_NOSIGNAL)
                                  : pwrite(p->fd, block + done, len - done, (off_t)(at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wr_fail_errno(err, "process %u cannot write %s; %s", p->number,
                                 p->o->through ? p->o->through : p->o->dir,
                                 p->o->through ? "is `weir io-limit` still running?"
                                               : "free some space, or leave out direct I/O");
        if (!process_record_call(p, ACCOUNT_WRITE, t0, (uint64_t)n, err))
            return false;
        done += (uint64_t)n;
    }
    return true;
}

/* The server of a limited path (limit.c) sends one byte after it has read the end of the stream. */
static bool process_drain_path(int fd)
{
    char answer;

    shutdown(fd, SHUT_WR);
    for (;;) {
        ssize_t n = read(fd, &answer, 1);

        if (n >= 0 || errno != EINTR)
            return n == 1;
    }
}

static bool process_sync_file(struct ioload_process *p, struct wr_err *err)
{
    int64_t t0 = process_now_ns(p);

    if (p->o->through ? !process_drain_path(p->fd) : fdatasync(p->fd) != 0)
        return wr_fail_errno(err, "process %u cannot flush what it wrote; check %s", p->number,
                             p->o->through ? p->o->through : p->o->dir);
    return process_record_call(p, ACCOUNT_SYNC, t0, 0, err);
}

/* Where block number k of this process lies: in a shared file the processes take turns. */
static uint64_t process_block_offset(const struct ioload_process *p, uint64_t k)
{
    const struct ioload_opts *o = p->o;
    uint64_t blocks = o->span_b / o->block_b;

    k %= blocks ? blocks : 1;
    return (o->file == IOLOAD_SHARED ? k * o->processes + p->number : k) * o->block_b;
}

static bool process_write_all(struct ioload_process *p, const char *block, struct wr_err *err)
{
    const struct ioload_opts *o = p->o;
    int64_t begin = process_now_ns(p);
    int64_t end = o->length_s > 0 ? begin + (int64_t)(o->length_s * 1e9) : INT64_MAX;
    uint64_t left = o->total_b ? ioload_part_b(o, p->number) : UINT64_MAX;
    double pace_ns = o->rate_bps > 0 ? 1e9 * (double)o->block_b * o->processes / o->rate_bps : 0;

    for (uint64_t k = 0; left && process_now_ns(p) < end; k++) {
        uint64_t len = left < o->block_b ? left : o->block_b;
        double due = (double)k * pace_ns;

        if (pace_ns > 0 &&
            !process_wait_until(p, due < (double)(end - begin) ? begin + (int64_t)due : end))
            break;
        if (atomic_load(&p->shared->stop) || process_now_ns(p) >= end)
            break;
        if (!process_write_block(p, block, len, process_block_offset(p, k), err) ||
            (o->sync == IOLOAD_SYNC_BLOCK && !o->through && !process_sync_file(p, err)))
            return false;
        left -= left == UINT64_MAX ? 0 : len;
    }
    /* The last process flushes a connection that all share. */
    bool last = atomic_fetch_sub(&p->shared->writing, 1) == 1;

    if (o->sync == IOLOAD_SYNC_NONE || (o->through && o->one_connection && !last))
        return true;
    return process_sync_file(p, err);
}

void ioload_process_run(struct ioload_process *p)
{
    struct ioload_outcome *outcome = &p->shared->outcome[p->number];
    void *block;

    assert(p->number < p->o->processes && p->fd >= 0);
    if (posix_memalign(&block, ALIGN, (size_t)p->o->block_b)) {
        outcome->failed =
            !wr_fail(&outcome->err, WR_SYSTEM, "not enough memory for a block; give less");
        return;
    }
    /* Bytes that no storage can compress or find again. */
    uint64_t x = ((uint64_t)getpid() << 32) ^ wr_clock_ns();

    for (uint64_t i = 0; i + sizeof x <= p->o->block_b; i += sizeof x) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        memcpy((char *)block + i, &x, sizeof x);
    }
    if (process_wait_for_start(p)) {
        outcome->rank.begin_ns = process_now_ns(p);
        outcome->failed = !process_write_all(p, block, &outcome->err);
        outcome->rank.end_ns = process_now_ns(p);
    }
    free(block);
}
