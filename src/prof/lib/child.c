/* child.c -- the kernel's counters of this process and of its children at their end.
 *
 * The counters of an ended child can be read until it is waited for. So every wait first waits with
 * WNOWAIT and records the child in the table of this profile: for an unprofiled child there is no
 * other record. Then the program's own wait follows.
 *
 * Nothing is recorded without /proc, or after a system-call filter was set.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { TICK_NS = 10000000 /* of start times in /proc: USER_HZ is 100 */ };

size_t lib_read_proc(char *to, size_t cap, uint64_t pid, const char *what)
{
    char path[64];
    size_t at = lib_put(path, sizeof path, 0, "/proc/");

    at = pid ? lib_put_u64(path, sizeof path, at, pid) : lib_put(path, sizeof path, at, "self");
    lib_put(path, sizeof path, at, what);
    int fd = (int)lib_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long n = fd >= 0 ? lib_sys(SYS_read, fd, to, cap - 1) : -1;

    if (fd >= 0)
        lib_sys(SYS_close, fd);
    n = n > 0 ? n : 0;
    to[n] = 0;
    lib_own_read((uint64_t)n);
    return (size_t)n;
}

void lib_own_read(uint64_t n)
{
    __atomic_fetch_add(&lib.own_rchar, n, __ATOMIC_RELAXED);
    if (lib.head && !lib.shared)
        __atomic_store_n(&lib.head->own_rchar, lib.own_rchar, __ATOMIC_RELAXED);
}

bool lib_io(struct prof_io *ret, uint64_t pid)
{
    char text[512];

    return lib_read_proc(text, sizeof text, pid, "/io") && prof_io_parse(ret, text);
}

/* At the end of the process, or before exec. */
void lib_io_note(uint32_t why)
{
    struct prof_io io;

    if (!lib.head || lib.shared || lib.quiet)
        return;
    uint32_t known = (lib.head->io_known & PROF_IO_START) | why;

    if (lib_io(&io, 0)) { /* a chroot may have no /proc */
        lib.head->io_end = io;
        known |= PROF_IO_END;
    }
    lib.head->io_known = known;
}

/* Resolved at load: a signal handler may be the first to wait. */
static __typeof__(&waitid) child_real_waitid(void)
{
    return &LIB_REAL(waitid);
}

static __typeof__(&waitpid) child_real_waitpid(void)
{
    return &LIB_REAL(waitpid);
}

void lib_child_init(void)
{
    child_real_waitid();
    child_real_waitpid();
}

static int64_t child_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The number of a child in /proc, where /proc is that of another PID namespace; 0: not known. */
LIB_SLOW static uint64_t child_in_proc(pid_t pid)
{
    char what[40], text[1024];
    uint64_t found = 0;
    int fd = (int)lib_sys(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return 0;
    lib_put_u64(what, sizeof what, lib_put(what, sizeof what, 0, "/fdinfo/"), (uint64_t)fd);
    const char *s = lib_read_proc(text, sizeof text, 0, what) ? strstr(text, "\nPid:\t") : NULL;

    for (s = s ? s + 6 : ""; *s >= '0' && *s <= '9'; s++)
        found = found * 10 + (uint64_t)(*s - '0');
    lib_sys(SYS_close, fd);
    return found;
}

LIB_SLOW static void child_note(pid_t pid)
{
    struct prof_child c = {.pid = (uint32_t)pid};
    char text[1024];
    uint32_t parent;
    bool other = lib.proc_pid && lib.proc_pid != lib.pid;
    uint64_t in_proc = other ? child_in_proc(pid) : (uint64_t)pid;

    if (!in_proc || !lib_read_proc(text, sizeof text, in_proc, "/stat") ||
        !prof_stat_parse(text, c.comm, &parent, &c.pid_start) || !lib_io(&c.io, in_proc))
        return;
    c.end_ns = child_clock(CLOCK_MONOTONIC) + lib.offset_ns;
    int64_t age = child_clock(CLOCK_BOOTTIME) - (int64_t)c.pid_start * TICK_NS;

    c.pid_start = prof_start_in(c.pid_start, lib.pid_ns);
    c.start_ns = age > 0 && age < c.end_ns ? c.end_ns - age : c.end_ns;
    uint32_t i = __atomic_fetch_add(&lib.head->children_n, 1, __ATOMIC_RELAXED);

    if (i >= lib.head->children_max || !lib_may_touch(&lib.children[i], sizeof c))
        return;
    lib.children[i] = c;
    __atomic_store_n(&lib.children[i].ready, 1, __ATOMIC_RELEASE);
}

static bool child_ended(const siginfo_t *info)
{
    return info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
           info->si_code == CLD_DUMPED;
}

/* A system-call filter inherited through exec may forbid waitid(). */
static bool child_may_look(void)
{
    static uint32_t may; /* 0: not checked yet, 1: no, 2: yes */
    uint32_t now = __atomic_load_n(&may, __ATOMIC_RELAXED);

    if (!now) {
        char text[4096];
        int saved = errno;
        const char *mode =
            lib_read_proc(text, sizeof text, 0, "/status") ? strstr(text, "\nSeccomp:\t") : NULL;

        now = mode && mode[strlen("\nSeccomp:\t")] == '0' ? 2 : 1;
        __atomic_store_n(&may, now, __ATOMIC_RELAXED);
        errno = saved;
    }
    return now == 2;
}

/* Waits like the program, with WNOWAIT. False: interrupted, as the program's call would be. */
static bool child_look(idtype_t type, id_t id, int how)
{
    siginfo_t info;

    if (!lib_slot() || !lib.head || lib.quiet || !lib.head->children_max || lib_borrowed() ||
        !child_may_look())
        return true;
    info.si_pid = 0;
    if (child_real_waitid()(type, id, &info, how | WNOWAIT))
        return errno != EINTR;
    if (info.si_pid && child_ended(&info)) {
        int saved = errno;

        child_note(info.si_pid);
        errno = saved;
    }
    return true;
}

/* Translates the arguments of wait4(). */
static bool child_look4(pid_t pid, int how)
{
    int kept = how & (WNOHANG | WCONTINUED | __WALL | __WCLONE | __WNOTHREAD);
    int asks = WEXITED | kept | (how & WUNTRACED ? WSTOPPED : 0);

    if (how & ~(kept | WUNTRACED) || pid == INT32_MIN)
        return true; /* invalid: let the kernel answer */
    if (pid > 0)
        return child_look(P_PID, (id_t)pid, asks);
    if (pid == -1)
        return child_look(P_ALL, 0, asks);
    /* Group 0 is the caller's; waitid accepts 0 only since Linux 5.4. */
    return child_look(P_PGID, pid ? (id_t)-pid : (id_t)lib_sys(SYS_getpgid, 0), asks);
}

bool lib_child_before(pid_t pid, int how)
{
    return child_look4(pid, how);
}

bool lib_child_before_id(int type, unsigned id, int how)
{
    return !(how & WEXITED) || (how & WNOWAIT) || child_look((idtype_t)type, id, how & ~WNOWAIT);
}

LIB_API pid_t waitpid(pid_t pid, int *status, int how)
{
    return child_look4(pid, how) ? child_real_waitpid()(pid, status, how) : -1;
}

LIB_API pid_t wait(int *status)
{
    return child_look4(-1, 0) ? LIB_REAL(wait)(status) : -1;
}

LIB_API pid_t wait3(int *status, int how, struct rusage *usage)
{
    return child_look4(-1, how) ? LIB_REAL(wait3)(status, how, usage) : -1;
}

LIB_API pid_t wait4(pid_t pid, int *status, int how, struct rusage *usage)
{
    return child_look4(pid, how) ? LIB_REAL(wait4)(pid, status, how, usage) : -1;
}

LIB_API int waitid(idtype_t type, id_t id, siginfo_t *info, int how)
{
    return lib_child_before_id((int)type, id, how) ? child_real_waitid()(type, id, info, how) : -1;
}
