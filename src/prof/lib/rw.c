/* rw.c -- reads and writes of descriptors, in all their forms. */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* What a vector asks for; one that cannot be read gets the kernel's answer. */
LIB_HOT uint64_t iov_bytes(const struct iovec *v, int n)
{
    uint64_t sum = 0;

    if (n <= 0 || n > 1024 || !lib_reach(v, (size_t)n * sizeof *v))
        return 0;
    for (int i = 0; i < n; i++)
        sum += v[i].iov_len;
    return sum;
}

/* RW(pwrite, WRITE, n, (int fd, ...), (fd, ...)): the usual case keeps two words over the call and
 * calls nothing else; everything else is the second function. */
#define RW(name, op, ask, proto, args)                                               \
    static __typeof__(&name) name##_real;                                            \
    LIB_SLOW static ssize_t name##_slow proto                                        \
    {                                                                                \
        struct lib_call c = lib_begin(PROF_##op, lib_fd(fd), ask);                   \
        __typeof__(&name) real = name##_real;                                        \
                                                                                     \
        if (!real)                                                                   \
            real = (__typeof__(&name))lib_find((void **)&name##_real, #name);        \
        ssize_t r = real args;                                                       \
                                                                                     \
        lib_end(&c, PROF_##op, r);                                                   \
        return r;                                                                    \
    }                                                                                \
    LIB_API ssize_t name proto                                                       \
    {                                                                                \
        struct prof_slot *s = *lib_mine;                                             \
        uint32_t row = (unsigned)fd < LIB_FDS ? lib_fd_row[fd] : 0;                  \
        __typeof__(&name) real = name##_real;                                        \
        uint64_t n_ = ask;                                                           \
                                                                                     \
        if (lib_unlikely(!s || !row || !real || lib.rw > PROF_COARSE ||              \
                         (lib.rw && n_ >= LIB_BIG)))                                 \
            return name##_slow args;                                                 \
        uint64_t *word = lib_words(s, --row);                                        \
                                                                                     \
        __atomic_store_n(&s->want, n_, __ATOMIC_RELAXED);                            \
        __atomic_store_n(&s->flight, prof_flight(PROF_##op, row), __ATOMIC_RELAXED); \
        ssize_t r = real args;                                                       \
                                                                                     \
        if (lib_unlikely(lib.rw) && !lib_in_slice(s))                                \
            lib_next_slice(s);                                                       \
        lib_add(&word[PROF_CALLS + PROF_##op], 1);                                   \
        lib_add(&word[PROF_BYTES + PROF_##op], r > 0 ? (uint64_t)r : 0);             \
        __atomic_store_n(&s->flight, 0, __ATOMIC_RELAXED);                           \
        return r;                                                                    \
    }

RW(read, READ, n, (int fd, void *buf, size_t n), (fd, buf, n))
RW(write, WRITE, n, (int fd, const void *buf, size_t n), (fd, buf, n))
RW(pread, READ, n, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at))
RW(pread64, READ, n, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at))
RW(pwrite, WRITE, n, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
RW(pwrite64, WRITE, n, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, n, at))
/* A signal handler may be the first to call these: they are found before. */
void lib_rw_init(void)
{
    lib_find((void **)&read_real, "read");
    lib_find((void **)&write_real, "write");
}

#define V const struct iovec *v, int n
#define WANT iov_bytes(v, n)
RW(readv, READ, WANT, (int fd, V), (fd, v, n))
RW(writev, WRITE, WANT, (int fd, V), (fd, v, n))
RW(preadv, READ, WANT, (int fd, V, off_t at), (fd, v, n, at))
RW(preadv64, READ, WANT, (int fd, V, off64_t at), (fd, v, n, at))
RW(pwritev, WRITE, WANT, (int fd, V, off_t at), (fd, v, n, at))
RW(pwritev64, WRITE, WANT, (int fd, V, off64_t at), (fd, v, n, at))
RW(preadv2, READ, WANT, (int fd, V, off_t at, int how), (fd, v, n, at, how))
RW(preadv64v2, READ, WANT, (int fd, V, off64_t at, int how), (fd, v, n, at, how))
RW(pwritev2, WRITE, WANT, (int fd, V, off_t at, int how), (fd, v, n, at, how))
RW(pwritev64v2, WRITE, WANT, (int fd, V, off64_t at, int how), (fd, v, n, at, how))

/* What programs compiled with _FORTIFY_SOURCE call. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
RW(__read_chk, READ, n, (int fd, void *buf, size_t n, size_t room), (fd, buf, n, room))
RW(__pread_chk, READ, n, (int fd, void *buf, size_t n, off_t at, size_t room),
   (fd, buf, n, at, room))
RW(__pread64_chk, READ, n, (int fd, void *buf, size_t n, off64_t at, size_t room),
   (fd, buf, n, at, room))

/* From one descriptor to another: a read of the one and a write of the other. The time is the
 * writer's. */
#define MOVE(name, in, out, want, proto, args)                        \
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
        return r;                                                     \
    }

MOVE(sendfile, in, out, n, (int out, int in, off_t *at, size_t n), (out, in, at, n))
MOVE(sendfile64, in, out, n, (int out, int in, off64_t *at, size_t n), (out, in, at, n))
MOVE(splice, in, out, n, (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned how),
     (in, in_at, out, out_at, n, how))
MOVE(copy_file_range, in, out, n,
     (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned how),
     (in, in_at, out, out_at, n, how))

LIB_API ssize_t vmsplice(int fd, const struct iovec *v, size_t n, unsigned how)
{
    struct lib_call c = lib_begin(PROF_WRITE, lib_fd(fd), 0);
    ssize_t r = LIB_REAL(vmsplice)(fd, v, n, how);

    lib_end(&c, PROF_WRITE, r);
    return r;
}

/* Until it is on the disk. */
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
