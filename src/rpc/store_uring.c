/* store_uring.c -- a server's storage through io_uring.
 *
 * Invariant: a cookie is a slot of the server's pool (below `depth`) with one operation in flight
 * at most; want[cookie] is the length that it must have moved. The file has no name and disappears
 * with the process.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rpc/rpc.h"
#include "rpc/rpc_store.h"

struct rpc_store {
    struct io_uring ring;
    bool ring_open, writable;
    int fd;
    uint32_t depth, under_way;
    size_t *want; /* by place in the server's pool: bytes that should be moved */
};

/* Blocks that were never written are not read from the device. */
static bool store_fill(int fd, uint64_t size, struct wr_err *err)
{
    enum { PART = 1 << 20 };
    uint64_t *part = aligned_alloc(4096, PART);

    if (!part)
        return wr_fail(err, WR_SYSTEM, "no memory to fill the storage; free some");
    bool ok = true;

    for (uint64_t at = 0; ok && at < size; at += PART) {
        size_t n = size - at < PART ? (size_t)(size - at) : PART;

        for (size_t i = 0; i < n / 8; i++)
            part[i] = rpc_storage_pattern(at + 8 * i);
        if (pwrite(fd, part, n, (off_t)at) != (ssize_t)n)
            ok = wr_fail_errno(err, "cannot fill the storage; free some space there");
    }
    free(part);
    return ok && (!fsync(fd) || wr_fail_errno(err, "cannot fill the storage; check the disk"));
}

static bool store_open_file(struct rpc_store *s, const char *path, uint64_t size, bool direct,
                            struct wr_err *err)
{
    char name[4096];
    struct stat st;

    if (!stat(path, &st) && S_ISBLK(st.st_mode)) {
        s->fd = open(path, O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
        return s->fd >= 0 || wr_fail_errno(err, "cannot read %s; check its permissions", path);
    }
    bool dir = !stat(path, &st) && S_ISDIR(st.st_mode);

    if (!dir && !stat(path, &st))
        return wr_fail(err, WR_INPUT,
                       "%s is there already and would be overwritten; name a "
                       "directory, or a file that is not there",
                       path);
    snprintf(name, sizeof name, dir ? "%s/.weir-store-XXXXXX" : "%s.XXXXXX", path);
    s->fd = mkostemp(name, O_CLOEXEC);
    if (s->fd < 0)
        return wr_fail_errno(err, "cannot make %s; name a directory you may write to", name);
    unlink(name);
    s->writable = true;
    if (!store_fill(s->fd, size, err))
        return false;
    if (direct && fcntl(s->fd, F_SETFL, O_DIRECT))
        return wr_fail_errno(err, "%s has no O_DIRECT; set direct: false", path);
    return true;
}

bool rpc_store_open(struct rpc_store **ret, const char *path, uint64_t size, uint32_t depth,
                    bool direct, struct wr_err *err)
{
    struct rpc_store *s = wr_zalloc(1, sizeof *s);

    assert(depth && size);
    s->fd = -1;
    s->depth = depth;
    s->want = wr_zalloc(depth, sizeof *s->want);
    bool ok = store_open_file(s, path, size, direct, err);

    if (ok) {
        int failed = io_uring_queue_init(2 * depth, &s->ring, 0);

        errno = -failed;
        ok = !failed || wr_fail_errno(err, "io_uring is not to be had; allow it, or leave out the "
                                           "storage");
        s->ring_open = ok;
    }
    if (!ok) {
        rpc_store_close(s);
        return false;
    }
    *ret = s;
    return true;
}

void rpc_store_close(struct rpc_store *s)
{
    if (!s)
        return;
    if (s->ring_open)
        io_uring_queue_exit(&s->ring);
    if (s->fd >= 0)
        close(s->fd);
    free(s->want);
    free(s);
}

bool rpc_store_writable(const struct rpc_store *s)
{
    return s->writable;
}

bool rpc_store_start(struct rpc_store *s, bool write, void *at, size_t len, uint64_t place,
                     uint64_t cookie)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

    wr_check(cookie < s->depth);
    if (!sqe)
        return false;
    if (write)
        io_uring_prep_write(sqe, s->fd, at, (unsigned)len, place);
    else
        io_uring_prep_read(sqe, s->fd, at, (unsigned)len, place);
    io_uring_sqe_set_data64(sqe, cookie);
    s->want[cookie] = len;
    s->under_way++;
    return true;
}

uint32_t rpc_store_poll(struct rpc_store *s, void (*done)(void *ctx, uint64_t cookie, bool ok),
                        void *ctx)
{
    struct io_uring_cqe *cqe;
    uint32_t n = 0;

    io_uring_submit(&s->ring);
    while (s->under_way && !io_uring_peek_cqe(&s->ring, &cqe)) {
        uint64_t cookie = io_uring_cqe_get_data64(cqe);
        bool ok = cqe->res >= 0 && (size_t)cqe->res == s->want[cookie];

        io_uring_cqe_seen(&s->ring, cqe);
        s->under_way--;
        n++;
        done(ctx, cookie, ok);
    }
    if (n)
        io_uring_submit(&s->ring);
    return n;
}

uint32_t rpc_store_under_way(const struct rpc_store *s)
{
    return s->under_way;
}
