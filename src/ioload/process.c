#include "process_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { ALIGN = 4096, NAP_NS = 20000000 };

static int64_t now(const struct ioload_process *p)
{
    return (int64_t)wr_clock_ns() + p->hall->mono_to_unix_ns;
}

/* Sleeps until then; false when told to stop before. Short naps, because nobody wakes us. */
static bool wait_until(const struct ioload_process *p, int64_t when_ns)
{
    for (;;) {
        int64_t left = when_ns - now(p);

        if (atomic_load(&p->hall->stop))
            return false;
        if (left <= 0)
            return true;
        struct timespec nap = {.tv_nsec = left < NAP_NS ? left : NAP_NS};

        nanosleep(&nap, NULL);
    }
}

static bool wait_for_all(struct ioload_process *p)
{
    atomic_fetch_add(&p->hall->ready, 1);
    while (!atomic_load(&p->hall->go_ns)) {
        struct timespec nap = {.tv_nsec = 1000000};

        if (atomic_load(&p->hall->stop))
            return false;
        nanosleep(&nap, NULL);
    }
    return wait_until(p, atomic_load(&p->hall->go_ns));
}

static bool book(struct ioload_process *p, enum account_kind kind, int64_t t0, uint64_t len_b,
                 struct wr_err *err)
{
    struct ioload_rank *r = &p->hall->desk[p->number].rank;
    int64_t t1 = now(p);

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
                       "there is no room for more than %zu slices; give a longer --slice",
                       p->account.n);
    return true;
}

static bool write_block(struct ioload_process *p, const char *block, uint64_t len, uint64_t at,
                        struct wr_err *err)
{
    for (uint64_t done = 0; done < len;) {
        int64_t t0 = now(p);
        ssize_t n = p->o->through ? send(p->fd, block + done, len - done, MSG_NOSIGNAL)
                                  : pwrite(p->fd, block + done, len - done, (off_t)(at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wr_fail_errno(err, "process %u cannot write %s; %s", p->number,
                                 p->o->through ? p->o->through : p->o->dir,
                                 p->o->through ? "is `weir io-limit` still running?"
                                               : "make room, or leave out --direct");
        if (!book(p, ACCOUNT_WRITE, t0, (uint64_t)n, err))
            return false;
        done += (uint64_t)n;
    }
    return true;
}

/* A limited path has taken all when it answers the end of our bytes with one of its own. */
static bool path_took_all(int fd)
{
    char answer;

    shutdown(fd, SHUT_WR);
    for (;;) {
        ssize_t n = read(fd, &answer, 1);

        if (n >= 0 || errno != EINTR)
            return n == 1;
    }
}

static bool sync_file(struct ioload_process *p, struct wr_err *err)
{
    int64_t t0 = now(p);

    if (p->o->through ? !path_took_all(p->fd) : fdatasync(p->fd) != 0)
        return wr_fail_errno(err, "process %u cannot flush what it wrote; check %s", p->number,
                             p->o->through ? p->o->through : p->o->dir);
    return book(p, ACCOUNT_SYNC, t0, 0, err);
}

/* Where block number k of this process lies: in a shared file the processes take turns. */
static uint64_t offset_of(const struct ioload_process *p, uint64_t k)
{
    const struct ioload_opts *o = p->o;
    uint64_t blocks = o->span_b / o->block_b;

    k %= blocks ? blocks : 1;
    return (o->file == IOLOAD_SHARED ? k * o->processes + p->number : k) * o->block_b;
}

static bool write_all(struct ioload_process *p, const char *block, struct wr_err *err)
{
    const struct ioload_opts *o = p->o;
    int64_t begin = now(p);
    int64_t end = o->length_s > 0 ? begin + (int64_t)(o->length_s * 1e9) : INT64_MAX;
    uint64_t left = o->total_b ? ioload_part_b(o, p->number) : UINT64_MAX;
    double pace_ns = o->rate_bps > 0 ? 1e9 * (double)o->block_b * o->processes / o->rate_bps : 0;

    for (uint64_t k = 0; left && now(p) < end; k++) {
        uint64_t len = left < o->block_b ? left : o->block_b;
        double due = (double)k * pace_ns;

        if (pace_ns > 0 && !wait_until(p, due < (double)(end - begin) ? begin + (int64_t)due : end))
            break;
        if (atomic_load(&p->hall->stop) || now(p) >= end)
            break;
        if (!write_block(p, block, len, offset_of(p, k), err) ||
            (o->sync == IOLOAD_SYNC_BLOCK && !o->through && !sync_file(p, err)))
            return false;
        left -= left == UINT64_MAX ? 0 : len;
    }
    /* A connection of all is flushed by the last of them. */
    bool last = atomic_fetch_sub(&p->hall->writing, 1) == 1;

    if (o->sync == IOLOAD_SYNC_NONE || (o->through && o->one_connection && !last))
        return true;
    return sync_file(p, err);
}

void ioload_process_live(struct ioload_process *p)
{
    struct ioload_desk *desk = &p->hall->desk[p->number];
    void *block;

    if (posix_memalign(&block, ALIGN, (size_t)p->o->block_b)) {
        desk->failed = !wr_fail(&desk->err, WR_SYSTEM, "not enough memory for a block; give less");
        return;
    }
    /* Bytes that no storage can compress or find again. */
    uint64_t x = ((uint64_t)getpid() << 32) ^ wr_clock_ns();

    for (uint64_t i = 0; i + sizeof x <= p->o->block_b; i += sizeof x) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        memcpy((char *)block + i, &x, sizeof x);
    }
    if (wait_for_all(p)) {
        desk->rank.begin_ns = now(p);
        desk->failed = !write_all(p, block, &desk->err);
        desk->rank.end_ns = now(p);
    }
    free(block);
}
