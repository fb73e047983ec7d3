/* map.c -- files in memory: what was moved is estimated from the pages that are there.
 *
 * Nobody sees a store into a mapping. At msync, munmap and the end of the process the pages that
 * this process has in its tables are counted (/proc/self/pagemap; where that is closed, mincore),
 * and what is more than the last time counts as written when the mapping is shared and writable,
 * else as read. That is an estimate: it stands in words of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { MAPS = 1024, PAGE = 4096, CHUNK = 512, LOOK_MOST = 1 << 18 /* pages: 1 GiB */ };

struct map {
    uintptr_t at; /* 0: free, 1: being filled */
    size_t len;
    uint64_t counted;
    uint32_t row;
    enum prof_op op;
};

static struct map maps[MAPS];
static uint32_t maps_n; /* so many were ever used */

static uint64_t in_core(uintptr_t at, uint64_t pages)
{
    unsigned char there[CHUNK];
    uint64_t n = 0;

    for (uint64_t i = 0; i < pages; i += CHUNK) {
        uint64_t k = pages - i < CHUNK ? pages - i : CHUNK;

        if (syscall(SYS_mincore, at + i * PAGE, k * PAGE, there))
            return n;
        for (uint64_t j = 0; j < k; j++)
            n += there[j] & 1;
    }
    return n;
}

static uint64_t present(uintptr_t at, size_t len)
{
    uint64_t pages = (len + PAGE - 1) / PAGE, n = 0, entry[CHUNK];

    pages = pages < LOOK_MOST ? pages : LOOK_MOST;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return in_core(at, pages);
    for (uint64_t i = 0; i < pages; i += CHUNK) {
        uint64_t k = pages - i < CHUNK ? pages - i : CHUNK;
        long got = syscall(SYS_pread64, fd, entry, k * 8, (at / PAGE + i) * 8);

        for (long j = 0; j < got / 8; j++)
            n += entry[j] >> 63;
    }
    syscall(SYS_close, fd);
    return n;
}

static void look(struct map *m)
{
    uint64_t n = lib.quiet ? 0 : present(m->at, m->len);

    if (n > m->counted)
        lib_estimate(m->op, m->row, (n - m->counted) * PAGE);
    m->counted = n > m->counted ? n : m->counted;
}

static void remember(void *at, size_t len, int prot, int flags, int fd)
{
    uint32_t row = lib_fd(fd);
    bool writes = (prot & PROT_WRITE) && (flags & MAP_SHARED);

    if (row == PROF_ROW_OTHER)
        return;
    for (uint32_t i = 0; i < MAPS; i++) {
        uintptr_t none = 0;

        if (!__atomic_compare_exchange_n(&maps[i].at, &none, 1, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        maps[i].len = len;
        maps[i].row = row;
        maps[i].counted = 0;
        maps[i].op = writes ? PROF_WRITE : PROF_READ;
        if (i >= maps_n)
            maps_n = i + 1;
        __atomic_store_n(&maps[i].at, (uintptr_t)at, __ATOMIC_RELEASE);
        return;
    }
}

/* Every mapping that the range touches; one that goes is forgotten whole. */
static void touched(void *at, size_t len, bool goes)
{
    int saved = errno;
    uintptr_t a = (uintptr_t)at;

    for (uint32_t i = 0; i < maps_n && *lib_mine; i++) {
        uintptr_t m = __atomic_load_n(&maps[i].at, __ATOMIC_ACQUIRE);

        if (m <= 1 || m >= a + len || m + maps[i].len <= a)
            continue;
        look(&maps[i]);
        if (goes)
            __atomic_store_n(&maps[i].at, 0, __ATOMIC_RELEASE);
    }
    errno = saved;
}

void lib_mmap_share(void)
{
    for (uint32_t i = 0; i < maps_n; i++)
        maps[i].row = PROF_ROW_REST;
}

void lib_mmap_end(void)
{
    touched(NULL, UINTPTR_MAX, false);
}

#define MMAP(name, off)                                                              \
    LIB_API void *name(void *at, size_t len, int prot, int flags, int fd, off where) \
    {                                                                                \
        void *r = LIB_REAL(name)(at, len, prot, flags, fd, where);                   \
                                                                                     \
        if (r != MAP_FAILED && !(flags & MAP_ANONYMOUS) && fd >= 0 && lib_slot())    \
            remember(r, len, prot, flags, fd);                                       \
        return r;                                                                    \
    }

MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

LIB_API int munmap(void *at, size_t len)
{
    if (maps_n)
        touched(at, len, true);
    return LIB_REAL(munmap)(at, len);
}

LIB_API int msync(void *at, size_t len, int flags)
{
    struct lib_call c;
    uint32_t row = PROF_ROW_REST;

    for (uint32_t i = 0; i < maps_n; i++)
        if (maps[i].at <= (uintptr_t)at && (uintptr_t)at < maps[i].at + maps[i].len)
            row = maps[i].row;
    if (maps_n)
        touched(at, len, false);
    c = lib_begin(PROF_SYNC, row, 0);
    int r = LIB_REAL(msync)(at, len, flags);

    lib_end(&c, PROF_SYNC, r);
    return r;
}
