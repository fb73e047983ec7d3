/* rw.c -- wrappers of read, write and their variants: the hot path of the library.
 *
 * The fast path calls nothing but the real function. Any change here changes the cost of every read
 * and write of a profiled program and must be measured. */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The bytes that a vector requests; 0 if it cannot be read, and the kernel answers. */
uint64_t lib_iov_bytes(const struct iovec *v, int n)
{
    uint64_t sum = 0;

    if (n <= 0 || n > 1024 || !lib_reach(v, (size_t)n * sizeof *v))
        return 0;
    for (int i = 0; i < n; i++)
        sum += v[i].iov_len;
    return sum;
}

/* RW(pwrite, WRITE, n, at, (int fd, ...), (fd, ...)): the fast path keeps two words over the call
 * and calls nothing else; all other cases are in name_slow. */
#define RW(name, op, ask, where, proto, args)                                              \
    static __typeof__(&name) name##_real;                                                  \
    LIB_SLOW static ssize_t name##_slow proto                                              \
    {                                                                                      \
        uint32_t row = lib_fd(fd);                                                         \
        uint64_t n_ = ask;                                                                 \
        struct lib_call c = lib_begin(PROF_##op, row, n_);                                 \
        __typeof__(&name) real = name##_real;                                              \
                                                                                           \
        if (!real)                                                                         \
            real = (__typeof__(&name))lib_find((void **)&name##_real, #name);              \
        lib_access_of(&c, PROF_##op, row, fd, n_, where);                                  \
        ssize_t r = real args;                                                             \
                                                                                           \
        lib_end(&c, PROF_##op, r);                                                         \
        return r;                                                                          \
    }                                                                                      \
    LIB_API ssize_t name proto                                                             \
    {                                                                                      \
        struct prof_slot *s = *lib_mine;                                                   \
        uint32_t row = (unsigned)fd < LIB_FDS ? lib_fd_row[fd] : 0;                        \
        __typeof__(&name) real = name##_real;                                              \
        uint64_t n_ = ask;                                                                 \
                                                                                           \
        if (lib_unlikely(!s || !row || !real || lib.rw > PROF_COARSE ||                    \
                         (lib.rw && n_ >= LIB_BIG)))                                       \
            return name##_slow args;                                                       \
        uint64_t *word = lib_words(s, --row);                                              \
                                                                                           \
        __atomic_store_n(&s->want, n_, __ATOMIC_RELAXED);                                  \
        __atomic_store_n(&s->in_flight, prof_in_flight(PROF_##op, row), __ATOMIC_RELAXED); \
        if (lib_likely(row != PROF_ROW_OTHER))                                             \
            lib_access(s, PROF_##op, fd, n_, where);                                       \
        ssize_t r = real args;                                                             \
                                                                                           \
        if (lib_unlikely(lib.rw) && !lib_in_slice(s))                                      \
            lib_next_slice(s);                                                             \
        lib_add(&word[PROF_CALLS + PROF_##op], 1);                                         \
        lib_add(&word[PROF_BYTES + PROF_##op], r > 0 ? (uint64_t)r : 0);                   \
        __atomic_store_n(&s->in_flight, 0, __ATOMIC_RELAXED);                              \
        return r;                                                                          \
    }

RW(read, READ, n, -1, (int fd, void *buf, size_t n), (fd, buf, n))
RW(write, WRITE, n, -1, (int fd, const void *buf, size_t n), (fd, buf, n))
RW(pread, READ, n, at, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at))
RW(pread64, READ, n, at, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at))
RW(pwrite, WRITE, n, at, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
RW(pwrite64, WRITE, n, at, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, n, at))
/* Resolved at load: a signal handler may be the first to call them. */
void lib_rw_init(void)
{
    lib_find((void **)&read_real, "read");
    lib_find((void **)&write_real, "write");
}

#define V const struct iovec *v, int n
#define WANT lib_iov_bytes(v, n)
RW(readv, READ, WANT, -1, (int fd, V), (fd, v, n))
RW(writev, WRITE, WANT, -1, (int fd, V), (fd, v, n))
RW(preadv, READ, WANT, at, (int fd, V, off_t at), (fd, v, n, at))
RW(preadv64, READ, WANT, at, (int fd, V, off64_t at), (fd, v, n, at))
RW(pwritev, WRITE, WANT, at, (int fd, V, off_t at), (fd, v, n, at))
RW(pwritev64, WRITE, WANT, at, (int fd, V, off64_t at), (fd, v, n, at))
RW(preadv2, READ, WANT, at, (int fd, V, off_t at, int how), (fd, v, n, at, how))
RW(preadv64v2, READ, WANT, at, (int fd, V, off64_t at, int how), (fd, v, n, at, how))
RW(pwritev2, WRITE, WANT, at, (int fd, V, off_t at, int how), (fd, v, n, at, how))
RW(pwritev64v2, WRITE, WANT, at, (int fd, V, off64_t at, int how), (fd, v, n, at, how))

/* What programs compiled with _FORTIFY_SOURCE call. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t cap);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t cap);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t cap);
RW(__read_chk, READ, n, -1, (int fd, void *buf, size_t n, size_t cap), (fd, buf, n, cap))
RW(__pread_chk, READ, n, at, (int fd, void *buf, size_t n, off_t at, size_t cap),
   (fd, buf, n, at, cap))
RW(__pread64_chk, READ, n, at, (int fd, void *buf, size_t n, off64_t at, size_t cap),
   (fd, buf, n, at, cap))

/* A seek to the current position is not a jump. */
#define SEEK(name, type)                                                        \
    LIB_API type name(int fd, type at, int whence)                              \
    {                                                                           \
        type r = LIB_REAL(name)(fd, at, whence);                                \
                                                                                \
        if (r >= 0 && (unsigned)fd < LIB_FDS && (uint64_t)r != lib_fd_next[fd]) \
            lib_fd_next[fd] = (uint64_t)r | LIB_JUMPED;                         \
        return r;                                                               \
    }

SEEK(lseek, off_t)
SEEK(lseek64, off64_t)

/* Copies between descriptors: a read of one and a write of the other; the time belongs to the
 * write. The kernel's counters include them, except splice. */
#define MOVE(name, in, out, want, counted, proto, args)               \
    LIB_API ssize_t name proto                                        \
    {                                                                 \
        uint32_t from = lib_fd(in);                                   \
        struct lib_call c = lib_begin(PROF_WRITE, lib_fd(out), want); \
                                                                      \
        if (c.slot)                                                   \
            c.slot->source = from + 1;                                \
        ssize_t r = LIB_REAL(name) args;                              \
                                                                      \
        lib_end(&c, PROF_WRITE, r);                                   \
        lib_end_source(&c, from, r);                                  \
        if (!counted) {                                               \
            lib_async(PROF_READ, from, r);                            \
            lib_async(PROF_WRITE, lib_fd(out), r);                    \
        }                                                             \
        return r;                                                     \
    }

MOVE(sendfile, in, out, n, true, (int out, int in, off_t *at, size_t n), (out, in, at, n))
MOVE(sendfile64, in, out, n, true, (int out, int in, off64_t *at, size_t n), (out, in, at, n))
MOVE(splice, in, out, n, false,
     (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned how),
     (in, in_at, out, out_at, n, how))
MOVE(copy_file_range, in, out, n, true,
     (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned how),
     (in, in_at, out, out_at, n, how))

LIB_API ssize_t vmsplice(int fd, const struct iovec *v, size_t n, unsigned how)
{
    struct lib_call c = lib_begin(PROF_WRITE, lib_fd(fd), 0);
    ssize_t r = LIB_REAL(vmsplice)(fd, v, n, how);

    lib_end(&c, PROF_WRITE, r);
    lib_async(PROF_WRITE, lib_fd(fd), r);
    return r;
}

/* Synchronisation. */
#define SYNC(name, row, proto, args)                      \
    LIB_API int name proto                                \
    {                                                     \
        struct lib_call c = lib_begin(PROF_SYNC, row, 0); \
        int r = LIB_REAL(name) args;                      \
                                                          \
        lib_end(&c, PROF_SYNC, r);                        \
        return r;                                         \
    }

SYNC(fsync, lib_fd(fd), (int fd), (fd))
SYNC(fdatasync, lib_fd(fd), (int fd), (fd))
SYNC(syncfs, lib_fd(fd), (int fd), (fd))
SYNC(sync_file_range, lib_fd(fd), (int fd, off64_t at, off64_t n, unsigned how), (fd, at, n, how))

LIB_API void sync(void)
{
    struct lib_call c = lib_begin(PROF_SYNC, PROF_ROW_REST, 0);

    LIB_REAL(sync)();
    lib_end(&c, PROF_SYNC, 0);
}
