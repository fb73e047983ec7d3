/* meta.c -- wrappers of metadata calls: they are counted and timed, and move no bytes. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define META(type, name, row, proto, args)                \
    LIB_API type name proto                               \
    {                                                     \
        struct lib_call c = lib_begin(PROF_META, row, 0); \
        type r = LIB_REAL(name) args;                     \
                                                          \
        lib_end(&c, PROF_META, 0);                        \
        return r;                                         \
    }
#define PATH(name, proto, args) META(int, name, lib_path_row(AT_FDCWD, path), proto, args)
#define DIR_PATH(name, proto, args) META(int, name, lib_path_row(dir, path), proto, args)
#define FD(name, proto, args) META(int, name, lib_fd(fd), proto, args)
#define P const char *path
#define D int dir, const char *path

PATH(stat, (P, struct stat *s), (path, s))
PATH(lstat, (P, struct stat *s), (path, s))
FD(fstat, (int fd, struct stat *s), (fd, s))
DIR_PATH(fstatat, (D, struct stat *s, int how), (dir, path, s, how))
PATH(stat64, (P, struct stat64 *s), (path, s))
PATH(lstat64, (P, struct stat64 *s), (path, s))
FD(fstat64, (int fd, struct stat64 *s), (fd, s))
DIR_PATH(fstatat64, (D, struct stat64 *s, int how), (dir, path, s, how))
DIR_PATH(statx, (D, int how, unsigned mask, struct statx *s), (dir, path, how, mask, s))

/* What programs built before glibc 2.33 call. */
int __xstat(int version, const char *path, struct stat *s);
int __lxstat(int version, const char *path, struct stat *s);
int __fxstat(int version, int fd, struct stat *s);
int __fxstatat(int version, int dir, const char *path, struct stat *s, int how);
int __xstat64(int version, const char *path, struct stat64 *s);
int __lxstat64(int version, const char *path, struct stat64 *s);
int __fxstat64(int version, int fd, struct stat64 *s);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *s, int how);
PATH(__xstat, (int version, P, struct stat *s), (version, path, s))
PATH(__lxstat, (int version, P, struct stat *s), (version, path, s))
FD(__fxstat, (int version, int fd, struct stat *s), (version, fd, s))
DIR_PATH(__fxstatat, (int version, D, struct stat *s, int how), (version, dir, path, s, how))
PATH(__xstat64, (int version, P, struct stat64 *s), (version, path, s))
PATH(__lxstat64, (int version, P, struct stat64 *s), (version, path, s))
FD(__fxstat64, (int version, int fd, struct stat64 *s), (version, fd, s))
DIR_PATH(__fxstatat64, (int version, D, struct stat64 *s, int how), (version, dir, path, s, how))

PATH(access, (P, int how), (path, how))
DIR_PATH(faccessat, (D, int how, int flags), (dir, path, how, flags))
PATH(unlink, (P), (path))
DIR_PATH(unlinkat, (D, int how), (dir, path, how))
PATH(remove, (P), (path))
PATH(rmdir, (P), (path))
PATH(mkdir, (P, mode_t mode), (path, mode))
DIR_PATH(mkdirat, (D, mode_t mode), (dir, path, mode))
PATH(mknod, (P, mode_t mode, dev_t dev), (path, mode, dev))
PATH(rename, (P, const char *to), (path, to))
DIR_PATH(renameat, (D, int dir2, const char *to), (dir, path, dir2, to))
DIR_PATH(renameat2, (D, int dir2, const char *to, unsigned how), (dir, path, dir2, to, how))
PATH(link, (P, const char *to), (path, to))
DIR_PATH(linkat, (D, int dir2, const char *to, int how), (dir, path, dir2, to, how))
META(int, symlink, lib_path_row(AT_FDCWD, path), (const char *to, P), (to, path))
META(int, symlinkat, lib_path_row(dir, path), (const char *to, D), (to, dir, path))
META(ssize_t, readlink, lib_path_row(AT_FDCWD, path), (P, char *to, size_t n), (path, to, n))
META(ssize_t, readlinkat, lib_path_row(dir, path), (D, char *to, size_t n), (dir, path, to, n))
PATH(truncate, (P, off_t n), (path, n))
PATH(truncate64, (P, off64_t n), (path, n))
FD(ftruncate, (int fd, off_t n), (fd, n))
FD(ftruncate64, (int fd, off64_t n), (fd, n))
FD(fallocate, (int fd, int how, off_t at, off_t n), (fd, how, at, n))
FD(fallocate64, (int fd, int how, off64_t at, off64_t n), (fd, how, at, n))
FD(posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n))
FD(posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n))
PATH(chmod, (P, mode_t mode), (path, mode))
FD(fchmod, (int fd, mode_t mode), (fd, mode))
DIR_PATH(fchmodat, (D, mode_t mode, int how), (dir, path, mode, how))
PATH(chown, (P, uid_t u, gid_t g), (path, u, g))
PATH(lchown, (P, uid_t u, gid_t g), (path, u, g))
FD(fchown, (int fd, uid_t u, gid_t g), (fd, u, g))
DIR_PATH(fchownat, (D, uid_t u, gid_t g, int how), (dir, path, u, g, how))
DIR_PATH(utimensat, (D, const struct timespec t[2], int how), (dir, path, t, how))
FD(futimens, (int fd, const struct timespec t[2]), (fd, t))
PATH(utime, (P, const struct utimbuf *t), (path, t))
PATH(utimes, (P, const struct timeval t[2]), (path, t))
PATH(statfs, (P, struct statfs *s), (path, s))
PATH(statfs64, (P, struct statfs64 *s), (path, s))
FD(fstatfs, (int fd, struct statfs *s), (fd, s))
FD(fstatfs64, (int fd, struct statfs64 *s), (fd, s))
PATH(statvfs, (P, struct statvfs *s), (path, s))
PATH(statvfs64, (P, struct statvfs64 *s), (path, s))
FD(fstatvfs, (int fd, struct statvfs *s), (fd, s))
FD(fstatvfs64, (int fd, struct statvfs64 *s), (fd, s))

META(ssize_t, getxattr, lib_path_row(AT_FDCWD, path), (P, const char *k, void *v, size_t n),
     (path, k, v, n))
META(ssize_t, lgetxattr, lib_path_row(AT_FDCWD, path), (P, const char *k, void *v, size_t n),
     (path, k, v, n))
META(ssize_t, fgetxattr, lib_fd(fd), (int fd, const char *k, void *v, size_t n), (fd, k, v, n))
META(ssize_t, listxattr, lib_path_row(AT_FDCWD, path), (P, char *v, size_t n), (path, v, n))
META(ssize_t, flistxattr, lib_fd(fd), (int fd, char *v, size_t n), (fd, v, n))
PATH(setxattr, (P, const char *k, const void *v, size_t n, int how), (path, k, v, n, how))
FD(fsetxattr, (int fd, const char *k, const void *v, size_t n, int how), (fd, k, v, n, how))

META(struct dirent *, readdir, lib_fd(d ? dirfd(d) : -1), (DIR * d), (d))
META(struct dirent64 *, readdir64, lib_fd(d ? dirfd(d) : -1), (DIR * d), (d))

/* The new root may have no /proc: the mounts are read before. */
LIB_API int chroot(const char *path)
{
    lib_mounts_need();
    int r = LIB_REAL(chroot)(path);

    if (!r)
        lib_cwd_changed();
    return r;
}

LIB_API int chdir(const char *path)
{
    int r = LIB_REAL(chdir)(path);

    if (!r)
        lib_cwd_changed();
    return r;
}

LIB_API int fchdir(int fd)
{
    int r = LIB_REAL(fchdir)(fd);

    if (!r)
        lib_cwd_changed();
    return r;
}
