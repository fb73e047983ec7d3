/* inline.c -- `prof-inline WHAT FILE MIB`: I/O by instructions of the program's own, which nothing
 * that is preloaded sees.
 *
 *   write    writes
 *   read     reads what is there
 *   ring     writes through a ring of io_uring
 *   exec     executes itself, without the environment, to write
 *   fork     a child without the environment, to write
 *   shell    a child that is a shell, with the environment: FILE is what it runs
 *   ignore   as fork, and it is not waited for: SIGCHLD is ignored
 *
 * As prof-inline-static it is a static program as well.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, NOT_BUILT = 77 };

static char buf[MIB];

static long sys(long n, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "+a"(n)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return n;
#else
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    exit(NOT_BUILT);
#endif
}

static int plain(const char *path, int mib, long call)
{
    long fd = sys(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT, 0600, 0, 0);

    for (int i = 0; i < mib; i++)
        if (sys(call, fd, (long)buf, MIB, 0, 0, 0) != MIB)
            return 8;
    return 0;
}

static int ring(const char *path, int mib)
{
    struct io_uring_params p = {0};
    long fd = sys(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT, 0600, 0, 0);
    long r = sys(SYS_io_uring_setup, 4, (long)&p, 0, 0, 0, 0);

    if (r < 0)
        return NOT_BUILT;
    char *sq = (char *)sys(SYS_mmap, 0, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE,
                           MAP_SHARED, r, IORING_OFF_SQ_RING);
    struct io_uring_sqe *e =
        (struct io_uring_sqe *)sys(SYS_mmap, 0, (long)(p.sq_entries * sizeof *e),
                                   PROT_READ | PROT_WRITE, MAP_SHARED, r, IORING_OFF_SQES);

    for (int i = 0; i < mib; i++) {
        unsigned *tail = (unsigned *)(sq + p.sq_off.tail), at = *tail % p.sq_entries;

        e[at] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
                                      .fd = (int)fd,
                                      .addr = (uintptr_t)buf,
                                      .len = MIB,
                                      .off = (uint64_t)i * MIB};
        ((unsigned *)(sq + p.sq_off.array))[at] = at;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        if (sys(SYS_io_uring_enter, r, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1)
            return 8;
    }
    return 0;
}

static int again(char **argv)
{
    char *next[] = {argv[0], (char *)"write", argv[2], argv[3], NULL}, *none[] = {NULL};

    execve("/proc/self/exe", next, none);
    return 7;
}

static int child(char **argv, bool waits)
{
    int status = 0;

    if (!waits)
        signal(SIGCHLD, SIG_IGN);
    if (!fork()) {
        if (!strcmp(argv[1], "shell"))
            execl("/bin/sh", "sh", "-c", argv[2], NULL);
        else
            again(argv);
        _exit(7);
    }
    if (wait(&status) > 0)
        return WEXITSTATUS(status);
    return waits ? 6 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 9;
    const char *what = argv[1];
    int mib = atoi(argv[3]);

    if (!strcmp(what, "write"))
        return plain(argv[2], mib, SYS_write);
    if (!strcmp(what, "read"))
        return plain(argv[2], mib, SYS_read);
    if (!strcmp(what, "ring"))
        return ring(argv[2], mib);
    if (!strcmp(what, "exec"))
        return again(argv);
    if (!strcmp(what, "fork") || !strcmp(what, "shell"))
        return child(argv, true);
    return strcmp(what, "ignore") ? 9 : child(argv, false);
}
