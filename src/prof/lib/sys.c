/* sys.c -- syscall(): file calls that a program makes by number.
 *
 * A table lists the numbers that are counted. Others are passed on by a jump with the stack
 * unchanged (a clone with its own stack returns on that). Listed calls use the next syscall(), not
 * the wrappers of the same name: syscall() is no cancellation point.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { NUMBERS = 512 };

enum sys_shape {
    SYS_PASS, /* passed on */
    SYS_RW,   /* descriptor first, bytes third */
    SYS_VECTOR,
    SYS_MOVE, /* from one descriptor to another */
    SYS_FD,   /* no bytes; descriptor at `at` */
    SYS_PATH, /* path at `at` */
    SYS_DIR,  /* directory at `at`, then the path */
    SYS_OPEN, /* the same two, and a descriptor comes back */
    SYS_OPENAT,
    SYS_OWN, /* a function of its own, below */
};

struct sys_args {
    long a[6];
};

typedef long sys_go(long number, const struct sys_args *x);

struct sys_kind {
    uint8_t shape, op, at, out; /* of a move: from where, and where to */
    bool placed;                /* of a read or write: the fourth is where in the file */
    sys_go *own;
};

static long (*sys_real)(long, long, long, long, long, long, long);

static long sys_call(long number, const struct sys_args *x)
{
    const long *a = x->a;

    return sys_real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long sys_move(const struct sys_kind *k, long number, const struct sys_args *x)
{
    uint32_t from = lib_fd((int)x->a[k->at]);
    struct lib_call c =
        lib_begin(PROF_WRITE, lib_fd((int)x->a[k->out]), (uint64_t)x->a[k->out == 2 ? 4 : 3]);

    if (c.slot)
        c.slot->source = from + 1;
    long r = sys_call(number, x);

    lib_end(&c, PROF_WRITE, r);
    lib_end_source(&c, from, r);
    if (number == SYS_splice) {
        lib_async(PROF_READ, from, r);
        lib_async(PROF_WRITE, lib_fd((int)x->a[k->out]), r);
    }
    return r;
}

static uint32_t sys_row(const struct sys_kind *k, const struct sys_args *x)
{
    const long *a = x->a + k->at;

    switch (k->shape) {
    case SYS_PATH:
    case SYS_OPEN:
        return lib_path_row(AT_FDCWD, (const char *)a[0]);
    case SYS_DIR:
    case SYS_OPENAT:
        return lib_path_row((int)a[0], (const char *)a[1]);
    default:
        return lib_fd((int)a[0]);
    }
}

static uint64_t sys_want(const struct sys_kind *k, const struct sys_args *x)
{
    if (k->shape == SYS_RW)
        return (uint64_t)x->a[2];
    if (k->shape == SYS_VECTOR)
        return lib_iov_bytes((const struct iovec *)x->a[1], (int)x->a[2]);
    return 0;
}

static long sys_counted(const struct sys_kind *k, long number, const struct sys_args *x)
{
    uint32_t row = sys_row(k, x);
    uint64_t want = sys_want(k, x);
    struct lib_call c = lib_begin(k->op, row, want);

    if (k->op <= PROF_WRITE)
        lib_access_of(&c, k->op, row, (int)x->a[0], want, k->placed ? x->a[3] : -1);
    long r = sys_call(number, x);

    if (k->op == PROF_OPEN)
        lib_call_opened(&c, (int)r);
    lib_end(&c, k->op, r);
    return r;
}

static long sys_close(long number, const struct sys_args *x)
{
    lib_fd_closed((int)x->a[0]);
    return sys_call(number, x);
}

static long sys_close_range(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (!r && !(x->a[2] & 4 /* only CLOEXEC is set */))
        lib_fd_closed_range((unsigned)x->a[0], (unsigned)x->a[1]);
    return r;
}

static long sys_dup(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (r >= 0)
        lib_fd_copied((int)x->a[0], (int)r);
    return r;
}

static long sys_fcntl(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (r >= 0 && (x->a[1] == F_DUPFD || x->a[1] == F_DUPFD_CLOEXEC))
        lib_fd_copied((int)x->a[0], (int)r);
    return r;
}

static long sys_chdir(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (!r)
        lib_cwd_changed();
    return r;
}

static long sys_sync(long number, const struct sys_args *x)
{
    struct lib_call c = lib_begin(PROF_SYNC, PROF_ROW_REST, 0);
    long r = sys_call(number, x);

    lib_end(&c, PROF_SYNC, r);
    return r;
}

static long sys_mmap(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    lib_mmap_made((void *)r, (size_t)x->a[1], (int)x->a[2], (int)x->a[3], (int)x->a[4]);
    return r;
}

static long sys_munmap(long number, const struct sys_args *x)
{
    lib_mmap_touched((void *)x->a[0], (size_t)x->a[1], true);
    return sys_call(number, x);
}

static long sys_msync(long number, const struct sys_args *x)
{
    lib_mmap_touched((void *)x->a[0], (size_t)x->a[1], false);
    struct lib_call c = lib_begin(PROF_SYNC, lib_mmap_row((void *)x->a[0]), 0);
    long r = sys_call(number, x);

    lib_end(&c, PROF_SYNC, r);
    return r;
}

static long sys_getevents(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (!lib_in_libaio)
        lib_aio_done((const struct io_event *)x->a[3], r);
    return r;
}

static long sys_ring_setup(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (r >= 0) {
        lib_fd_closed((int)r);
        lib_ring_made((int)r, (const struct io_uring_params *)x->a[1]);
    }
    return r;
}

static long sys_ring_enter(long number, const struct sys_args *x)
{
    if (!lib_rings)
        return sys_call(number, x);
    unsigned seen = lib_ring_before((int)x->a[0], (unsigned)x->a[1]);
    long r = sys_call(number, x);

    lib_ring_after((int)x->a[0], seen, r);
    return r;
}

static long sys_ring_register(long number, const struct sys_args *x)
{
    long r = sys_call(number, x);

    if (r >= 0)
        lib_ring_registered((int)x->a[0], (unsigned)x->a[1], (const void *)x->a[2],
                            (unsigned)x->a[3]);
    return r;
}

static long sys_seccomp(long number, const struct sys_args *x)
{
    bool sets = x->a[0] == SECCOMP_SET_MODE_STRICT || x->a[0] == SECCOMP_SET_MODE_FILTER;
    bool began = sets && lib_quiet_begin();
    long r = sys_call(number, x);

    if (began && r < 0)
        lib_quiet_undo();
    return r;
}

static long sys_prctl(long number, const struct sys_args *x)
{
    (void)number;
    return prctl((int)x->a[0], x->a[1], x->a[2], x->a[3], x->a[4]);
}

static long sys_exec(long number, const struct sys_args *x)
{
    lib_exec_before();
    long r = sys_call(number, x);

    lib_exec_failed();
    return r;
}

static long sys_wait4(long number, const struct sys_args *x)
{
    return lib_child_before((pid_t)x->a[0], (int)x->a[2]) ? sys_call(number, x) : -1;
}

static long sys_waitid(long number, const struct sys_args *x)
{
    bool ok = lib_child_before_id((int)x->a[0], (unsigned)x->a[1], (int)x->a[3]);

    return ok ? sys_call(number, x) : -1;
}

static long sys_exit_group(long number, const struct sys_args *x)
{
    if (!lib_borrowed())
        lib_end_process();
    return sys_call(number, x);
}

#define RW(name, op_) [SYS_##name] = {.shape = SYS_RW, .op = PROF_##op_}
#define PLACED(name, shape_, op_) [SYS_##name] = {.shape = shape_, .op = PROF_##op_, .placed = true}
#define VECTOR(name, op_) [SYS_##name] = {.shape = SYS_VECTOR, .op = PROF_##op_}
#define KIND(name, shape_, op_, at_) [SYS_##name] = {.shape = shape_, .op = PROF_##op_, .at = at_}
#define META(name, shape_, at_) KIND(name, shape_, META, at_)
#define OWN(name, f) [SYS_##name] = {.shape = SYS_OWN, .own = f}

static const struct sys_kind sys_kinds[NUMBERS] = {
    RW(read, READ),
    RW(write, WRITE),
    PLACED(pread64, SYS_RW, READ),
    PLACED(pwrite64, SYS_RW, WRITE),
    VECTOR(readv, READ),
    VECTOR(writev, WRITE),
    PLACED(preadv, SYS_VECTOR, READ),
    PLACED(pwritev, SYS_VECTOR, WRITE),
    PLACED(preadv2, SYS_VECTOR, READ),
    PLACED(pwritev2, SYS_VECTOR, WRITE),
    [SYS_sendfile] = {.shape = SYS_MOVE, .at = 1, .out = 0},
    [SYS_splice] = {.shape = SYS_MOVE, .at = 0, .out = 2},
    [SYS_copy_file_range] = {.shape = SYS_MOVE, .at = 0, .out = 2},
    KIND(fsync, SYS_FD, SYNC, 0),
    KIND(fdatasync, SYS_FD, SYNC, 0),
    KIND(syncfs, SYS_FD, SYNC, 0),
    KIND(sync_file_range, SYS_FD, SYNC, 0),
    OWN(sync, sys_sync),
    OWN(msync, sys_msync),
    OWN(mmap, sys_mmap),
    OWN(munmap, sys_munmap),
    KIND(openat, SYS_OPENAT, OPEN, 0),
#ifdef SYS_openat2
    KIND(openat2, SYS_OPENAT, OPEN, 0),
#endif
#ifdef SYS_open
    KIND(open, SYS_OPEN, OPEN, 0),
    KIND(creat, SYS_OPEN, OPEN, 0),
    META(stat, SYS_PATH, 0),
    META(lstat, SYS_PATH, 0),
    META(access, SYS_PATH, 0),
    META(unlink, SYS_PATH, 0),
    META(rmdir, SYS_PATH, 0),
    META(mkdir, SYS_PATH, 0),
    META(rename, SYS_PATH, 0),
    META(link, SYS_PATH, 0),
    META(symlink, SYS_PATH, 1),
    META(readlink, SYS_PATH, 0),
    META(chmod, SYS_PATH, 0),
    META(chown, SYS_PATH, 0),
    OWN(dup2, sys_dup),
#endif
    META(fstat, SYS_FD, 0),
#ifdef SYS_newfstatat
    META(newfstatat, SYS_DIR, 0),
#endif
    META(statx, SYS_DIR, 0),
    META(statfs, SYS_PATH, 0),
    META(fstatfs, SYS_FD, 0),
    META(faccessat, SYS_DIR, 0),
    META(unlinkat, SYS_DIR, 0),
    META(mkdirat, SYS_DIR, 0),
    META(renameat2, SYS_DIR, 0),
    META(linkat, SYS_DIR, 0),
    META(symlinkat, SYS_DIR, 1),
    META(readlinkat, SYS_DIR, 0),
    META(truncate, SYS_PATH, 0),
    META(ftruncate, SYS_FD, 0),
    META(fallocate, SYS_FD, 0),
    META(fchmod, SYS_FD, 0),
    META(fchmodat, SYS_DIR, 0),
    META(fchown, SYS_FD, 0),
    META(fchownat, SYS_DIR, 0),
    META(utimensat, SYS_DIR, 0),
    META(getdents64, SYS_FD, 0),
    OWN(close, sys_close),
#ifdef SYS_close_range
    OWN(close_range, sys_close_range),
#endif
    OWN(dup, sys_dup),
    OWN(dup3, sys_dup),
    OWN(fcntl, sys_fcntl),
    OWN(chdir, sys_chdir),
    OWN(fchdir, sys_chdir),
    OWN(io_getevents, sys_getevents),
#ifdef SYS_io_pgetevents
    OWN(io_pgetevents, sys_getevents),
#endif
    OWN(io_uring_setup, sys_ring_setup),
    OWN(io_uring_enter, sys_ring_enter),
    OWN(io_uring_register, sys_ring_register),
    OWN(seccomp, sys_seccomp),
    OWN(prctl, sys_prctl),
    OWN(exit_group, sys_exit_group),
    OWN(execve, sys_exec),
    OWN(execveat, sys_exec),
    OWN(wait4, sys_wait4),
    OWN(waitid, sys_waitid),
};

LIB_SLOW static long sys_ours(long number, long a, long b, long c, long d, long e, long f)
{
    const struct sys_kind *k = &sys_kinds[number];
    struct sys_args x = {{a, b, c, d, e, f}};

    if (k->shape == SYS_OWN)
        return k->own(number, &x);
    return k->shape == SYS_MOVE ? sys_move(k, number, &x) : sys_counted(k, number, &x);
}

/* syscall() takes what registers hold and one word of the stack, however many there are. */
long lib_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
LIB_API long lib_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (lib_unlikely(!sys_real))
        lib_find((void **)&sys_real, "syscall");
    if ((unsigned long)number < NUMBERS && sys_kinds[number].shape)
        return sys_ours(number, a, b, c, d, e, f);
    return sys_real(number, a, b, c, d, e, f);
}
