/* sqlite_heap.h -- memory for SQLite that the sanitizer does not watch.
 *
 * SQLite allocates often, and each of its allocations costs a watched one's price; it is not what
 * is fuzzed. Blocks are powers of two from one mapping, freed ones are kept by size. One thread.
 */
#ifndef FUZZ_SQLITE_HEAP_H
#define FUZZ_SQLITE_HEAP_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAP_BYTES = 512 << 20, HEAP_HEAD = 16, HEAP_LEAST = 5 /* log2 */ };

static struct fuzz_heap {
    unsigned char *base;
    size_t used;
    void *freed[32];
} fuzz_heap;

#if defined __clang__
#define UNWATCHED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define UNWATCHED
#endif

UNWATCHED static inline int heap_class(int n)
{
    return n <= 1 << HEAP_LEAST ? HEAP_LEAST : 32 - __builtin_clz((unsigned)n - 1);
}

UNWATCHED static inline int heap_size(void *p)
{
    return 1 << *(int *)((unsigned char *)p - HEAP_HEAD);
}

UNWATCHED static inline void *heap_malloc(int n)
{
    int c = heap_class(n);
    void *p = fuzz_heap.freed[c];

    if (p) {
        memcpy(&fuzz_heap.freed[c], p, sizeof p);
        return p;
    }
    size_t bytes = HEAP_HEAD + ((size_t)1 << c);
    if (fuzz_heap.used + bytes > HEAP_BYTES)
        return NULL;
    unsigned char *at = fuzz_heap.base + fuzz_heap.used;
    fuzz_heap.used += bytes;
    *(int *)at = c;
    return at + HEAP_HEAD;
}

UNWATCHED static inline void heap_free(void *p)
{
    int c = *(int *)((unsigned char *)p - HEAP_HEAD);

    memcpy(p, &fuzz_heap.freed[c], sizeof p);
    fuzz_heap.freed[c] = p;
}

UNWATCHED static inline void *heap_realloc(void *p, int n)
{
    if (n <= heap_size(p))
        return p;
    void *to = heap_malloc(n);

    if (to) {
        memcpy(to, p, (size_t)heap_size(p));
        heap_free(p);
    }
    return to;
}

UNWATCHED static inline int heap_roundup(int n)
{
    return 1 << heap_class(n);
}

UNWATCHED static inline int heap_init(void *unused)
{
    (void)unused;
    return SQLITE_OK;
}

static inline void heap_shutdown(void *unused)
{
    (void)unused;
}

/* Before anything else of SQLite. */
static inline void fuzz_heap_use(void)
{
    static const struct sqlite3_mem_methods methods = {heap_malloc,   heap_free,    heap_realloc,
                                                       heap_size,     heap_roundup, heap_init,
                                                       heap_shutdown, NULL};

    if (fuzz_heap.base)
        return;
    fuzz_heap.base = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fuzz_heap.base == MAP_FAILED || sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
        abort();
}

#endif
