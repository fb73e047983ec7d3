/* counter_file.c -- the file of a process's counters: its own, or the shared one.
 *
 *   own       HOST-PID-TIME.wprof, sparse: pages are allocated when needed and before they are
 * stored to, so that a full disk is never a SIGBUS shared    HOST-PID-shared.wprof of the launcher,
 * with all slots allocated. A process that cannot have a file (no memory, RLIMIT_FSIZE, the job's
 * capacity is used up) counts there: bytes and slices are right, but not attributed to the process.
 *
 * The library holds no descriptor, so it opens the file again where the kernel cannot allocate
 * pages through a mapping (before Linux 5.14).
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

_Static_assert(PROF_HEAD_B == (int)PAGE, "the head is one page");

static struct {
    char path[PATH];          /* of the process's own file */
    struct prof_head *shared; /* mapped once, kept by children; NULL: there is none */
    bool populate;            /* the kernel knows MADV_POPULATE_WRITE */
} counter_file;

/* Allocates blocks; a file system without fallocate gets zeros written. */
static bool counter_file_reserve(int fd, uint64_t from, uint64_t to)
{
    static const char zeros[PAGE];

    if (!lib_sys(SYS_fallocate, fd, 0, from, to - from))
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    for (; from < to; from += PAGE)
        if (lib_sys(SYS_pwrite64, fd, zeros, to - from < PAGE ? to - from : PAGE, from) < 0)
            return false;
    return true;
}

static bool counter_file_reserve_again(uint64_t from, uint64_t to)
{
    int fd = (int)lib_sys(SYS_openat, AT_FDCWD, counter_file.path, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && counter_file_reserve(fd, from, to);

    if (fd >= 0)
        lib_sys(SYS_close, fd);
    return ok;
}

bool lib_may_touch(void *at, size_t n)
{
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)(PAGE - 1), end = (uintptr_t)at + n;
    int saved = errno;
    bool ok = false;

    if (lib.quiet)
        return false;
    if (counter_file.populate)
        ok = !lib_sys(SYS_madvise, page, end - page, MADV_POPULATE_WRITE);
    else if (lib.map)
        ok = counter_file_reserve_again(page - (uintptr_t)lib.map, end - (uintptr_t)lib.map);
    errno = saved;
    return ok;
}

/* Fits the layout to RLIMIT_FSIZE: writing beyond it would raise SIGXFSZ. */
static bool counter_file_fit(struct prof_head *h)
{
    struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};

    lib_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, (void *)NULL, &most);
    if (prof_fit(h, most.rlim_cur))
        return true;
    errno = EFBIG;
    return false;
}

static size_t counter_file_put_host(char *path, const char *dir, const char *host, uint64_t pid)
{
    size_t n = lib_put(path, PATH, 0, dir);

    n = lib_put(path, PATH, n, "/");
    n = lib_put(path, PATH, n, host);
    n = lib_put(path, PATH, n, "-");
    return lib_put_u64(path, PATH, n, pid);
}

/* The hidden name of a file until its head is complete. */
static void counter_file_hide(char *hidden, const char *path)
{
    const char *leaf = strrchr(path, '/') + 1;
    size_t n = (size_t)(leaf - path);

    memcpy(hidden, path, n);
    lib_put(hidden, PATH, lib_put(hidden, PATH, n, "."), leaf);
}

/* Allocates what a profile starts with: the head, a page of names, one slot. */
static bool counter_file_begin(int fd, char *at, const struct prof_head *h)
{
    uint64_t slot = h->slots_at & ~(uint64_t)(PAGE - 1), end = h->slots_at + h->slot_b;

    counter_file.populate = !lib_sys(SYS_madvise, at, PROF_HEAD_B + PAGE, MADV_POPULATE_WRITE);
    if (counter_file.populate)
        return !lib_sys(SYS_madvise, at + slot, end - slot, MADV_POPULATE_WRITE);
    return counter_file_reserve(fd, 0, PROF_HEAD_B + PAGE) &&
           counter_file_reserve(fd, h->slots_at, end);
}

static char *counter_file_map(int fd, const struct prof_head *h)
{
    uint64_t size = prof_file_b(h);

    if (lib_sys(SYS_ftruncate, fd, size))
        return MAP_FAILED;
    char *at =
        (char *)lib_sys(SYS_mmap, (void *)NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);

    if (at == MAP_FAILED)
        return at;
    /* No read-ahead: it would allocate and clear thousands of pages. */
    lib_sys(SYS_madvise, at, size, MADV_RANDOM);
    if (counter_file_begin(fd, at, h))
        return at;
    int error = errno;

    lib_sys(SYS_munmap, at, size);
    errno = error;
    return MAP_FAILED;
}

/* Reserves bytes of the job's capacity. The sampler returns them when it has archived the profile.
 */
static bool counter_file_take(uint64_t n)
{
    if (!counter_file.shared ||
        __atomic_add_fetch(&counter_file.shared->used_b, n, __ATOMIC_RELAXED) <=
            counter_file.shared->capacity_b)
        return true;
    __atomic_fetch_sub(&counter_file.shared->used_b, n, __ATOMIC_RELAXED);
    errno = ENOSPC;
    return false;
}

static void counter_file_give_back(uint64_t n)
{
    if (counter_file.shared)
        __atomic_fetch_sub(&counter_file.shared->used_b, n, __ATOMIC_RELAXED);
}

char *lib_counter_file_own(struct prof_head *h, const char *dir)
{
    char hidden[PATH], *at = MAP_FAILED;
    uint64_t need;
    size_t n;

    if (!counter_file_fit(h))
        return NULL;
    need = prof_first_b(h);
    if (!counter_file_take(need))
        return NULL;
    n = counter_file_put_host(counter_file.path, dir, h->host, h->pid);
    n = lib_put(counter_file.path, PATH, n, "-");
    n = lib_put_u64(counter_file.path, PATH, n, (uint64_t)h->real_ns);
    lib_put(counter_file.path, PATH, n, PROF_ENDING);
    counter_file_hide(hidden, counter_file.path);
    int fd =
        (int)lib_sys(SYS_openat, AT_FDCWD, hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        at = counter_file_map(fd, h);
    int error = errno;

    if (fd >= 0)
        lib_sys(SYS_close, fd);
    if (at != MAP_FAILED)
        return at;
    if (fd >= 0)
        lib_sys(SYS_unlink, hidden);
    counter_file_give_back(need);
    errno = error;
    return NULL;
}

bool lib_counter_file_publish(void)
{
    char hidden[PATH];

    counter_file_hide(hidden, counter_file.path);
    return !lib_sys(SYS_rename, hidden, counter_file.path);
}

/* Whether a file is a shared profile that the launcher wrote. */
static bool counter_file_is_shared(const struct prof_head *h, uint64_t size)
{
    return !memcmp(h->magic, PROF_MAGIC, sizeof h->magic) && h->version == PROF_VERSION &&
           h->shared == 1 && h->names_max == PROF_ROW_FIRST && h->slots_max <= PROF_SLOTS &&
           h->log_max <= PROF_LOG && prof_file_b(h) <= size;
}

struct prof_head *lib_counter_file_shared(const char *dir, const char *host, uint64_t launcher)
{
    char path[PATH];
    long size;

    if (counter_file.shared || !launcher)
        return counter_file.shared;
    lib_put(path, PATH, counter_file_put_host(path, dir, host, launcher), PROF_SHARED);
    int fd = (int)lib_sys(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    char *at = MAP_FAILED;

    if ((size = lib_sys(SYS_lseek, fd, 0L, SEEK_END)) >= PROF_HEAD_B)
        at = (char *)lib_sys(SYS_mmap, (void *)NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                             0L);
    lib_sys(SYS_close, fd);
    if (at == MAP_FAILED)
        return NULL;
    if (!counter_file_is_shared((struct prof_head *)at, (uint64_t)size)) {
        lib_sys(SYS_munmap, at, size);
        return NULL;
    }
    counter_file.populate = !lib_sys(SYS_madvise, at, PROF_HEAD_B, MADV_POPULATE_WRITE);
    counter_file.shared = (struct prof_head *)at;
    return counter_file.shared;
}

/* A child unmaps its parent's file, so that it can be archived when the parent ends. Private memory
 * replaces it: a signal handler may have forked during a call. */
void lib_counter_file_leave(char *map, uint64_t size)
{
    if (map)
        lib_sys(SYS_mmap, map, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1L, 0L);
}
