/* async.c -- asynchronous I/O: POSIX AIO, libaio, liburing.
 *
 * POSIX AIO is counted in aio_return, libaio when events are taken: the bytes moved are known then.
 * Most of liburing is inline in the program, but its submission functions are not, so its requests
 * are counted when they are submitted, with the bytes that they request.
 */
#include <aio.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/uio.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static void async_posix_done(int fd, int opcode, ssize_t r)
{
    switch (opcode & 127) {
    case LIO_READ:
        lib_count(PROF_READ, lib_fd(fd), 1, r > 0 ? (uint64_t)r : 0);
        break;
    case LIO_WRITE:
        lib_count(PROF_WRITE, lib_fd(fd), 1, r > 0 ? (uint64_t)r : 0);
        break;
    default:
        lib_count(PROF_SYNC, lib_fd(fd), 1, 0);
    }
}

LIB_API ssize_t aio_return(struct aiocb *cb)
{
    int fd = cb->aio_fildes, opcode = cb->aio_lio_opcode;
    ssize_t r = LIB_REAL(aio_return)(cb);

    async_posix_done(fd, opcode, r);
    return r;
}

LIB_API ssize_t aio_return64(struct aiocb64 *cb)
{
    int fd = cb->aio_fildes, opcode = cb->aio_lio_opcode;
    ssize_t r = LIB_REAL(aio_return64)(cb);

    async_posix_done(fd, opcode, r);
    return r;
}

/* libaio, as the kernel's header lays it out. */
void lib_aio_done(const struct io_event *e, long n)
{
    for (long i = 0; i < n; i++) {
        const struct iocb *cb = (const struct iocb *)(uintptr_t)e[i].obj;
        uint64_t bytes = e[i].res > 0 ? (uint64_t)e[i].res : 0;

        /* The request has completed; the program may have freed its control block. */
        if (!cb || !lib_reach(cb, sizeof *cb))
            continue;
        uint32_t row = lib_fd((int)cb->aio_fildes);

        if (cb->aio_lio_opcode == IOCB_CMD_PREAD || cb->aio_lio_opcode == IOCB_CMD_PREADV)
            lib_count_async(PROF_READ, row, bytes);
        else if (cb->aio_lio_opcode == IOCB_CMD_PWRITE || cb->aio_lio_opcode == IOCB_CMD_PWRITEV)
            lib_count_async(PROF_WRITE, row, bytes);
        else if (cb->aio_lio_opcode == IOCB_CMD_FSYNC || cb->aio_lio_opcode == IOCB_CMD_FDSYNC)
            lib_count(PROF_SYNC, row, 1, 0);
    }
}

/* libaio takes events by syscall(): they are counted once, here. */
LIB_TLS bool lib_in_libaio;

int io_getevents(void *ctx, long least, long most, struct io_event *e, struct timespec *t);
LIB_API int io_getevents(void *ctx, long least, long most, struct io_event *e, struct timespec *t)
{
    bool before = lib_in_libaio;

    lib_in_libaio = true;
    int n = LIB_REAL(io_getevents)(ctx, least, most, e, t);

    lib_in_libaio = before;
    lib_aio_done(e, n);
    return n;
}

int io_pgetevents(void *ctx, long least, long most, struct io_event *e, struct timespec *t,
                  sigset_t *mask);
LIB_API int io_pgetevents(void *ctx, long least, long most, struct io_event *e, struct timespec *t,
                          sigset_t *mask)
{
    bool before = lib_in_libaio;

    lib_in_libaio = true;
    int n = LIB_REAL(io_pgetevents)(ctx, least, most, e, t, mask);

    lib_in_libaio = before;
    lib_aio_done(e, n);
    return n;
}

/* The first fields of liburing's public struct, unchanged since its first version. */
struct io_uring {
    const unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *kdropped, *array;
    const struct io_uring_sqe *sqes;
    unsigned sqe_head, sqe_tail;
};

static uint64_t async_vector_bytes(const struct io_uring_sqe *e)
{
    const struct iovec *v = (const struct iovec *)(uintptr_t)e->addr;
    uint64_t sum = 0;

    if (e->len > 1024 || !lib_reach(v, e->len * sizeof *v))
        return 0;
    for (unsigned i = 0; i < e->len; i++)
        sum += v[i].iov_len;
    return sum;
}

static void async_count_submitted(const struct io_uring_sqe *e)
{
    static const struct {
        uint8_t opcode, op;
        bool vector;
    } kinds[] = {
        {IORING_OP_READ, PROF_READ, false},       {IORING_OP_WRITE, PROF_WRITE, false},
        {IORING_OP_READ_FIXED, PROF_READ, false}, {IORING_OP_WRITE_FIXED, PROF_WRITE, false},
        {IORING_OP_READV, PROF_READ, true},       {IORING_OP_WRITEV, PROF_WRITE, true},
        {IORING_OP_FSYNC, PROF_SYNC, false},      {IORING_OP_SYNC_FILE_RANGE, PROF_SYNC, false},
        {IORING_OP_OPENAT, PROF_OPEN, false},     {IORING_OP_OPENAT2, PROF_OPEN, false},
        {IORING_OP_FALLOCATE, PROF_META, false},  {IORING_OP_STATX, PROF_META, false},
        {IORING_OP_UNLINKAT, PROF_META, false},   {IORING_OP_RENAMEAT, PROF_META, false},
    };

    if (e->opcode == IORING_OP_CLOSE)
        lib_fd_closed(e->fd);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].opcode != e->opcode)
            continue;
        enum prof_op op = kinds[i].op;
        /* A registered file is an index, not a descriptor. */
        bool known = !(e->flags & IOSQE_FIXED_FILE) && op <= PROF_SYNC;

        lib_count_async(op, known ? lib_fd(e->fd) : PROF_ROW_REST,
                        op > PROF_WRITE   ? 0
                        : kinds[i].vector ? async_vector_bytes(e)
                                          : e->len);
        return;
    }
}

static void async_ring_submitted(const struct io_uring *r)
{
    if (!r || !lib_slot())
        return;
    for (unsigned i = r->sqe_head; i != r->sqe_tail && i - r->sqe_head < 65536; i++)
        async_count_submitted(&r->sqes[i & *r->kring_mask]);
}

/* Counted before the call: afterwards the program may have reused the entries. */
#define SUBMIT(name, proto, args)   \
    int name proto;                 \
    LIB_API int name proto          \
    {                               \
        async_ring_submitted(r);    \
        return LIB_REAL(name) args; \
    }

SUBMIT(io_uring_submit, (struct io_uring * r), (r))
SUBMIT(io_uring_submit_and_wait, (struct io_uring * r, unsigned n), (r, n))
SUBMIT(io_uring_submit_and_get_events, (struct io_uring * r), (r))
SUBMIT(io_uring_submit_and_wait_timeout,
       (struct io_uring * r, void **cqe, unsigned n, void *t, void *mask), (r, cqe, n, t, mask))
