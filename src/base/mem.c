/* mem.c -- allocation that ends the process when it fails, arenas, growable arrays.
 *
 * An allocation that fails prints one line and exits with status 4. Chunks of an arena form a list,
 * the newest first; only the newest has space left.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CACHE_LINES = 128, /* two: processors fetch them in pairs */
    HUGE_PAGE = 2 << 20,
    HUGE_FROM = 2 * HUGE_PAGE,
    ARENA_CHUNK = 16 * 1024,
};

static void *mem_or_exit(void *p, size_t size)
{
    if (p || !size)
        return p;
    fprintf(stderr,
            "weir: out of memory asking for %zu bytes; `weir topo` prints what a run needs\n",
            size);
    exit(4);
}

void *wr_alloc(size_t size)
{
    return mem_or_exit(malloc(size), size);
}

void *wr_zalloc(size_t count, size_t size)
{
    return mem_or_exit(calloc(count, size), count * size);
}

void *wr_realloc(void *old, size_t count, size_t size)
{
    return mem_or_exit(reallocarray(old, count, size), count * size);
}

/* What is large is touched here and there: with small pages, finding one costs as much as fetching
 * what is in it. */
static void *mem_advise_huge(void *p, size_t bytes)
{
    uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t to = ((uintptr_t)p + bytes) / HUGE_PAGE * HUGE_PAGE;

    if (bytes >= HUGE_FROM && to > from)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
    return p;
}

void *wr_zalloc_aligned(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - CACHE_LINES)
        return mem_or_exit(NULL, SIZE_MAX);
    bytes = (bytes + CACHE_LINES - 1) / CACHE_LINES * CACHE_LINES;
    if (!bytes)
        bytes = CACHE_LINES;
    void *p = mem_advise_huge(mem_or_exit(aligned_alloc(CACHE_LINES, bytes), bytes), bytes);

    memset(p, 0, bytes);
    return p;
}

void *wr_alloc_pages(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return mem_or_exit(NULL, SIZE_MAX);
    if (!bytes)
        return NULL;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mem_advise_huge(mem_or_exit(p == MAP_FAILED ? NULL : p, bytes), bytes);
}

void wr_free_pages(void *p, size_t count, size_t size)
{
    assert(!p || (count && size));
    if (p)
        munmap(p, count * size);
}

char *wr_strdup(const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(wr_alloc(n), s, n);
}

struct wr_arena_chunk {
    struct wr_arena_chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

void *wr_arena_alloc(struct wr_arena *a, size_t size)
{
    struct wr_arena_chunk *c = a->head;

    size = (size + 15) & ~(size_t)15;
    if (!c || c->size - c->used < size) {
        size_t space = size > ARENA_CHUNK ? size : ARENA_CHUNK;

        c = wr_zalloc(1, sizeof *c + space);
        c->size = space;
        c->next = a->head;
        a->head = c;
    }
    void *p = c->bytes + c->used;
    c->used += size;
    return p;
}

char *wr_arena_strndup(struct wr_arena *a, const char *s, size_t n)
{
    assert(s || !n);
    char *copy = wr_arena_alloc(a, n + 1);

    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *wr_arena_strdup(struct wr_arena *a, const char *s)
{
    return wr_arena_strndup(a, s, strlen(s));
}

char *wr_arena_printf(struct wr_arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);

    char *s = wr_arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

void wr_arena_fini(struct wr_arena *a)
{
    while (a->head) {
        struct wr_arena_chunk *next = a->head->next;

        free(a->head);
        a->head = next;
    }
}

void wr_vec_grow(void **v, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return;
    assert(need <= SIZE_MAX / 2 && size > 0);
    size_t want = *cap ? *cap * 2 : 8;

    while (want < need)
        want *= 2;
    *v = wr_realloc(*v, want, size);
    *cap = want;
}
