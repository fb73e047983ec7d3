/* mapped.c -- memory-mapped files: bytes are estimated from the pages that are present.
 *
 * Stores into a mapping cannot be intercepted. At msync, munmap and the end of the process the
 * present pages of the mapping are counted (/proc/self/pagemap, or mincore if that is not
 * readable). The increase counts as written if the mapping is shared and writable, otherwise as
 * read. The estimate has words of its own. A killed process comes to none of these: the head of its
 * profile says how much was mapped for writing, and the reader asks the kernel's counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
    bool memory; /* on a file system without a disk: the kernel does not count dirtied pages */
};

static struct map maps[MAPS];
static uint32_t maps_n; /* entries ever used */

static uint64_t map_in_core(uintptr_t at, uint64_t pages)
{
    unsigned char there[CHUNK];
    uint64_t n = 0;

    for (uint64_t i = 0; i < pages; i += CHUNK) {
        uint64_t k = pages - i < CHUNK ? pages - i : CHUNK;

        if (lib_sys(SYS_mincore, at + i * PAGE, k * PAGE, there))
            return n;
        for (uint64_t j = 0; j < k; j++)
            n += there[j] & 1;
    }
    return n;
}

static uint64_t map_present(uintptr_t at, size_t len)
{
    uint64_t pages = (len + PAGE - 1) / PAGE, n = 0, entry[CHUNK];

    pages = pages < LOOK_MOST ? pages : LOOK_MOST;
    int fd = (int)lib_sys(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return map_in_core(at, pages);
    for (uint64_t i = 0; i < pages; i += CHUNK) {
        uint64_t k = pages - i < CHUNK ? pages - i : CHUNK;
        long got = lib_sys(SYS_pread64, fd, entry, k * 8, (at / PAGE + i) * 8);

        lib_own_read(got > 0 ? (uint64_t)got : 0);
        for (long j = 0; j < got / 8; j++)
            n += entry[j] >> 63;
    }
    lib_sys(SYS_close, fd);
    return n;
}

static uint64_t map_pages(const struct map *m)
{
    return (m->len + PAGE - 1) / PAGE;
}

/* Pages that no estimate covers yet, more or less, for a reader if the process is killed. */
static void map_add_pending(const struct map *m, int64_t pages)
{
    if (m->op != PROF_WRITE || !lib.head || lib.shared)
        return;
    lib.head->mapped_row = m->row;
    __atomic_fetch_add(&lib.head->mapped_b[m->memory], (uint64_t)(pages * PAGE), __ATOMIC_RELAXED);
}

static void map_update(struct map *m)
{
    uint64_t n = lib.quiet ? 0 : map_present(m->at, m->len);

    if (n <= m->counted)
        return;
    lib_estimate(m->op, m->row, (n - m->counted) * PAGE);
    map_add_pending(m, -(int64_t)(n - m->counted));
    m->counted = n;
}

static bool map_in_memory(uint32_t row)
{
    const struct prof_name *n = &lib.names[row];

    if (n->kind == PROF_K_FILE)
        n = &lib.names[n->mount];
    return !strcmp(n->fs, "tmpfs") || !strcmp(n->fs, "ramfs");
}

void lib_mmap_made(void *at, size_t len, int prot, int flags, int fd)
{
    uint32_t row;
    bool writes = (prot & PROT_WRITE) && (flags & MAP_SHARED);

    if (at == MAP_FAILED || (flags & MAP_ANONYMOUS) || fd < 0 || !lib_slot() ||
        (row = lib_fd(fd)) == PROF_ROW_OTHER)
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
        maps[i].memory = map_in_memory(row);
        map_add_pending(&maps[i], (int64_t)map_pages(&maps[i]));
        if (i >= maps_n)
            maps_n = i + 1;
        __atomic_store_n(&maps[i].at, (uintptr_t)at, __ATOMIC_RELEASE);
        return;
    }
}

/* Updates every mapping that overlaps the range; with `goes` it is removed whole. */
void lib_mmap_touched(void *at, size_t len, bool goes)
{
    int saved = errno;
    uintptr_t a = (uintptr_t)at;

    for (uint32_t i = 0; i < maps_n && *lib_mine; i++) {
        uintptr_t m = __atomic_load_n(&maps[i].at, __ATOMIC_ACQUIRE);

        if (m <= 1 || m >= a + len || m + maps[i].len <= a)
            continue;
        map_update(&maps[i]);
        if (goes) {
            map_add_pending(&maps[i], -(int64_t)(map_pages(&maps[i]) - maps[i].counted));
            __atomic_store_n(&maps[i].at, 0, __ATOMIC_RELEASE);
        }
    }
    errno = saved;
}

/* A forked child has its parent's mappings. */
void lib_mmap_inherit(void)
{
    for (uint32_t i = 0; i < maps_n; i++)
        if (maps[i].at > 1)
            map_add_pending(&maps[i], (int64_t)(map_pages(&maps[i]) - maps[i].counted));
}

void lib_mmap_share(void)
{
    for (uint32_t i = 0; i < maps_n; i++)
        maps[i].row = PROF_ROW_REST;
}

void lib_mmap_end(void)
{
    lib_mmap_touched(NULL, UINTPTR_MAX, false);
}

#define MMAP(name, off)                                                              \
    LIB_API void *name(void *at, size_t len, int prot, int flags, int fd, off where) \
    {                                                                                \
        void *r = LIB_REAL(name)(at, len, prot, flags, fd, where);                   \
                                                                                     \
        lib_mmap_made(r, len, prot, flags, fd);                                      \
        return r;                                                                    \
    }

MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

LIB_API int munmap(void *at, size_t len)
{
    if (maps_n)
        lib_mmap_touched(at, len, true);
    return LIB_REAL(munmap)(at, len);
}

uint32_t lib_mmap_row(const void *at)
{
    uint32_t row = PROF_ROW_REST;

    for (uint32_t i = 0; i < maps_n; i++)
        if (maps[i].at <= (uintptr_t)at && (uintptr_t)at < maps[i].at + maps[i].len)
            row = maps[i].row;
    return row;
}

LIB_API int msync(void *at, size_t len, int flags)
{
    if (maps_n)
        lib_mmap_touched(at, len, false);
    struct lib_call c = lib_begin(PROF_SYNC, lib_mmap_row(at), 0);
    int r = LIB_REAL(msync)(at, len, flags);

    lib_end(&c, PROF_SYNC, r);
    return r;
}
