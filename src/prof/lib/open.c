/* open.c -- descriptors come and go. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

LIB_HOT void open_opened(struct lib_call *c, int fd)
{
    lib_call_opened(c, fd);
    lib_end(c, PROF_OPEN, fd);
}

#define OPEN(name, dirfd, path, proto, args)                                    \
    LIB_API int name proto                                                      \
    {                                                                           \
        struct lib_call c = lib_begin(PROF_OPEN, lib_path_row(dirfd, path), 0); \
        int fd = LIB_REAL(name) args;                                           \
                                                                                \
        open_opened(&c, fd);                                                    \
        return fd;                                                              \
    }

/* The mode follows only when a file may be made. */
#define OPEN_MODE(name, dirfd, path, proto, args)                               \
    LIB_API int name proto                                                      \
    {                                                                           \
        struct lib_call c = lib_begin(PROF_OPEN, lib_path_row(dirfd, path), 0); \
        mode_t mode = 0;                                                        \
                                                                                \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                  \
            va_list ap;                                                         \
                                                                                \
            va_start(ap, flags);                                                \
            mode = va_arg(ap, mode_t);                                          \
            va_end(ap);                                                         \
        }                                                                       \
        int fd = LIB_REAL(name) args;                                           \
                                                                                \
        open_opened(&c, fd);                                                    \
        return fd;                                                              \
    }

OPEN_MODE(open, AT_FDCWD, path, (const char *path, int flags, ...), (path, flags, mode))
OPEN_MODE(open64, AT_FDCWD, path, (const char *path, int flags, ...), (path, flags, mode))
OPEN_MODE(openat, dir, path, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_MODE(openat64, dir, path, (int dir, const char *path, int flags, ...),
          (dir, path, flags, mode))
OPEN(creat, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
OPEN(creat64, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
OPEN(__open_2, AT_FDCWD, path, (const char *path, int flags), (path, flags))
OPEN(__open64_2, AT_FDCWD, path, (const char *path, int flags), (path, flags))
OPEN(__openat_2, dir, path, (int dir, const char *path, int flags), (dir, path, flags))
OPEN(__openat64_2, dir, path, (int dir, const char *path, int flags), (dir, path, flags))

OPEN(mkstemp, AT_FDCWD, name, (char *name), (name))
OPEN(mkstemp64, AT_FDCWD, name, (char *name), (name))
OPEN(mkostemp, AT_FDCWD, name, (char *name, int flags), (name, flags))
OPEN(mkostemp64, AT_FDCWD, name, (char *name, int flags), (name, flags))
OPEN(mkstemps, AT_FDCWD, name, (char *name, int n), (name, n))
OPEN(mkstemps64, AT_FDCWD, name, (char *name, int n), (name, n))
OPEN(mkostemps, AT_FDCWD, name, (char *name, int n, int flags), (name, n, flags))
OPEN(mkostemps64, AT_FDCWD, name, (char *name, int n, int flags), (name, n, flags))

/* The table is cleared first: after close another thread may get the same number. */
LIB_API int close(int fd)
{
    struct lib_call c = lib_begin(PROF_OPEN, lib_fd(fd), 0);

    lib_fd_closed(fd);
    int r = LIB_REAL(close)(fd);

    lib_end_time(&c, PROF_OPEN);
    return r;
}

LIB_API int close_range(unsigned first, unsigned last, int flags)
{
    int r = LIB_REAL(close_range)(first, last, flags);

    if (!r && !(flags & 4 /* only CLOEXEC is set */))
        lib_fd_closed_range(first, last);
    return r;
}

LIB_API void closefrom(int first)
{
    LIB_REAL(closefrom)(first);
    lib_fd_closed_range(first < 0 ? 0 : (unsigned)first, LIB_FDS);
}

LIB_API int dup(int fd)
{
    int r = LIB_REAL(dup)(fd);

    if (r >= 0)
        lib_fd_copied(fd, r);
    return r;
}

LIB_API int dup2(int from, int to)
{
    int r = LIB_REAL(dup2)(from, to);

    if (r >= 0)
        lib_fd_copied(from, r);
    return r;
}

LIB_API int dup3(int from, int to, int flags)
{
    int r = LIB_REAL(dup3)(from, to, flags);

    if (r >= 0)
        lib_fd_copied(from, r);
    return r;
}

#define FCNTL(name)                                                 \
    LIB_API int name(int fd, int what, ...)                         \
    {                                                               \
        va_list ap;                                                 \
                                                                    \
        va_start(ap, what);                                         \
        void *arg = va_arg(ap, void *);                             \
                                                                    \
        va_end(ap);                                                 \
        int r = LIB_REAL(name)(fd, what, arg);                      \
                                                                    \
        if (r >= 0 && (what == F_DUPFD || what == F_DUPFD_CLOEXEC)) \
            lib_fd_copied(fd, r);                                   \
        return r;                                                   \
    }

FCNTL(fcntl)
FCNTL(fcntl64)

LIB_API DIR *opendir(const char *path)
{
    struct lib_call c = lib_begin(PROF_OPEN, lib_path_row(AT_FDCWD, path), 0);
    DIR *d = LIB_REAL(opendir)(path);

    open_opened(&c, d ? dirfd(d) : -1);
    return d;
}

LIB_API int closedir(DIR *d)
{
    int fd = d ? dirfd(d) : -1;
    struct lib_call c = lib_begin(PROF_OPEN, lib_fd(fd), 0);

    lib_fd_closed(fd);
    int r = LIB_REAL(closedir)(d);

    lib_end_time(&c, PROF_OPEN);
    return r;
}
