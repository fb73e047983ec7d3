/* room.c -- where a process's counters live: a file of its own, or a slot of the shared one.
 *
 *   own       HOST-PID-TIME.wprof, sparse: pages become real before they are stored to, so that a
 *             full disk is never a SIGBUS, and as they are needed, so that a process takes little
 *   shared    HOST-PID-shared.wprof of the launcher, all of whose slots are real from the
 * beginning. Who finds no room for a file (no memory, a limit on file sizes, the job's share is
 *             used up) counts there: bytes and slices are right, only whose they are is not told.
 *
 * The library holds no descriptor, so it opens the file again where the kernel cannot make pages
 * real through a mapping (before Linux 5.14).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, PATH = 1536 };

static struct {
    char path[PATH];          /* of the own file */
    struct prof_head *shared; /* mapped once, kept by children; NULL: there is none */
    bool populate;            /* the kernel knows MADV_POPULATE_WRITE */
} room;

/* Blocks for a part of the file; a file system without fallocate gets zeros. */
static bool room_reserve(int fd, uint64_t from, uint64_t to)
{
    static const char zeros[PAGE];

    if (!syscall(SYS_fallocate, fd, 0, from, to - from))
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    for (; from < to; from += PAGE)
        if (syscall(SYS_pwrite64, fd, zeros, to - from < PAGE ? to - from : PAGE, from) < 0)
            return false;
    return true;
}

static bool room_reserve_again(uint64_t from, uint64_t to)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, room.path, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && room_reserve(fd, from, to);

    if (fd >= 0)
        syscall(SYS_close, fd);
    return ok;
}

bool lib_may_touch(void *at, size_t n)
{
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)(PAGE - 1), end = (uintptr_t)at + n;
    int saved = errno;
    bool ok = false;

    if (lib.quiet)
        return false;
    if (room.populate)
        ok = !syscall(SYS_madvise, page, end - page, MADV_POPULATE_WRITE);
    else if (lib.map)
        ok = room_reserve_again(page - (uintptr_t)lib.map, end - (uintptr_t)lib.map);
    errno = saved;
    return ok;
}

/* Files may be limited in length (ulimit -f); to write beyond would end the program. */
static bool room_fit(struct prof_head *h)
{
    struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};

    syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &most);
    if (prof_fit(h, most.rlim_cur))
        return true;
    errno = EFBIG;
    return false;
}

static size_t room_put_host(char *path, const char *dir, const char *host, uint64_t pid)
{
    size_t n = lib_put(path, PATH, 0, dir);

    n = lib_put(path, PATH, n, "/");
    n = lib_put(path, PATH, n, host);
    n = lib_put(path, PATH, n, "-");
    return lib_put_u64(path, PATH, n, pid);
}

/* Under a hidden name first: who looks into the directory sees whole heads only. */
static void room_hide(char *hidden, const char *path)
{
    const char *leaf = strrchr(path, '/') + 1;
    size_t n = (size_t)(leaf - path);

    memcpy(hidden, path, n);
    lib_put(hidden, PATH, lib_put(hidden, PATH, n, "."), leaf);
}

static char *room_map(int fd, const struct prof_head *h)
{
    uint64_t size = prof_file_b(h);

    if (syscall(SYS_ftruncate, fd, size) || !room_reserve(fd, 0, PROF_HEAD_B + PAGE) ||
        !room_reserve(fd, h->slots_at, h->slots_at + h->slot_b))
        return MAP_FAILED;
    char *at = (char *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);

    if (at == MAP_FAILED)
        return at;
    /* Touching one page of a sparse file must not bring in, and clear, thousands ahead of it. */
    syscall(SYS_madvise, at, size, MADV_RANDOM);
    room.populate = !syscall(SYS_madvise, at, PROF_HEAD_B, MADV_POPULATE_WRITE);
    return at;
}

/* The job's share; a process that ends gives back what it took when the sampler has seen it. */
static bool room_take(uint64_t n)
{
    if (!room.shared ||
        __atomic_add_fetch(&room.shared->used_b, n, __ATOMIC_RELAXED) <= room.shared->room_b)
        return true;
    __atomic_fetch_sub(&room.shared->used_b, n, __ATOMIC_RELAXED);
    errno = ENOSPC;
    return false;
}

static void room_give_back(uint64_t n)
{
    if (room.shared)
        __atomic_fetch_sub(&room.shared->used_b, n, __ATOMIC_RELAXED);
}

char *lib_room_own(struct prof_head *h, const char *dir)
{
    char hidden[PATH], *at = MAP_FAILED;
    uint64_t need;
    size_t n;

    if (!room_fit(h))
        return NULL;
    need = prof_first_b(h);
    if (!room_take(need))
        return NULL;
    n = room_put_host(room.path, dir, h->host, h->pid);
    n = lib_put(room.path, PATH, n, "-");
    n = lib_put_u64(room.path, PATH, n, (uint64_t)h->real_ns);
    lib_put(room.path, PATH, n, PROF_ENDING);
    room_hide(hidden, room.path);
    int fd =
        (int)syscall(SYS_openat, AT_FDCWD, hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        at = room_map(fd, h);
    int error = errno;

    if (fd >= 0)
        syscall(SYS_close, fd);
    if (at != MAP_FAILED)
        return at;
    if (fd >= 0)
        syscall(SYS_unlink, hidden);
    room_give_back(need);
    errno = error;
    return NULL;
}

bool lib_room_show(void)
{
    char hidden[PATH];

    room_hide(hidden, room.path);
    return !syscall(SYS_rename, hidden, room.path);
}

/* What the launcher wrote; nothing else is believed. */
static bool room_is_shared(const struct prof_head *h, uint64_t size)
{
    return !memcmp(h->magic, PROF_MAGIC, sizeof h->magic) && h->version == PROF_VERSION &&
           h->shared == 1 && h->names_max == PROF_ROW_FIRST && h->slots_max <= PROF_SLOTS &&
           h->log_max <= PROF_LOG && prof_file_b(h) <= size;
}

struct prof_head *lib_room_shared(const char *dir, const char *host, uint64_t launcher)
{
    char path[PATH];
    long size;

    if (room.shared || !launcher)
        return room.shared;
    lib_put(path, PATH, room_put_host(path, dir, host, launcher), PROF_SHARED);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    char *at = MAP_FAILED;

    if ((size = syscall(SYS_lseek, fd, 0L, SEEK_END)) >= PROF_HEAD_B)
        at = (char *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED)
        return NULL;
    if (!room_is_shared((struct prof_head *)at, (uint64_t)size)) {
        syscall(SYS_munmap, at, size);
        return NULL;
    }
    room.populate = !syscall(SYS_madvise, at, PROF_HEAD_B, MADV_POPULATE_WRITE);
    room.shared = (struct prof_head *)at;
    return room.shared;
}

/* A child leaves its parent's file, which can be given back when the parent ends. What is there
 * stays mapped, as memory: a call may be under way that a signal handler forked in. */
void lib_room_leave(char *map, uint64_t size)
{
    if (map)
        syscall(SYS_mmap, map, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1L, 0L);
}
