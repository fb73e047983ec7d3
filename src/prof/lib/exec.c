/* exec.c -- wrappers of exec: the kernel's counters of the process continue, the profile ends.
 *
 * The kernel's counters are recorded before exec, so that an unprofiled program in the same process
 * is separated from this one. If exec fails the record is withdrawn. List forms are copied into a
 * vector on the stack, as the C library does.
 */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wvla"

void lib_exec_before(void)
{
    int saved = errno;

    if (lib_slot() && !lib_borrowed()) {
        lib_mmap_end(); /* exec takes the mappings away */
        lib_io_note(PROF_IO_EXEC);
        if (lib.head && !lib.shared)
            lib.head->exec_ns = lib.still ? lib_now_coarse() : lib_now_precise();
    }
    errno = saved;
}

/* exec failed: this program continues. */
void lib_exec_failed(void)
{
    if (lib.head && !lib.shared && !lib_borrowed())
        lib.head->io_known &= PROF_IO_START;
}

#define EXEC(name, proto, args)      \
    LIB_API int name proto           \
    {                                \
        lib_exec_before();           \
        int r = LIB_REAL(name) args; \
                                     \
        lib_exec_failed();           \
        return r;                    \
    }

EXEC(execve, (const char *path, char *const *argv, char *const *envp), (path, argv, envp))
EXEC(execv, (const char *path, char *const *argv), (path, argv))
EXEC(execvp, (const char *file, char *const *argv), (file, argv))
EXEC(execvpe, (const char *file, char *const *argv, char *const *envp), (file, argv, envp))
EXEC(fexecve, (int fd, char *const *argv, char *const *envp), (fd, argv, envp))
EXEC(execveat, (int dir, const char *path, char *const *argv, char *const *envp, int how),
     (dir, path, argv, envp, how))

static size_t exec_count(va_list ap)
{
    size_t n = 1;

    while (va_arg(ap, char *))
        n++;
    return n;
}

#define EXECL(name, vector, more)                              \
    LIB_API int name(const char *path, const char *first, ...) \
    {                                                          \
        va_list ap, again;                                     \
                                                               \
        va_start(ap, first);                                   \
        va_copy(again, ap);                                    \
        size_t n = first ? exec_count(again) : 0;              \
                                                               \
        va_end(again);                                         \
        char *argv[n + 1];                                     \
                                                               \
        argv[0] = (char *)(uintptr_t)first;                    \
        for (size_t i = 1; i <= n && first; i++)               \
            argv[i] = va_arg(ap, char *);                      \
        more;                                                  \
        va_end(ap);                                            \
        return vector;                                         \
    }

EXECL(execl, execv(path, argv), (void)0)
EXECL(execlp, execvp(path, argv), (void)0)
EXECL(execle, execve(path, argv, envp), char *const *envp = va_arg(ap, char *const *))
