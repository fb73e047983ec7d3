/* pool.c -- address space for pools of fixed-size items.
 *
 * Called when a simulation is set up, and from wr_pool_take() when a pool that grows is full.
 * Invariant: items below `cap` are mapped, and an item never moves.
 */
#include "base/pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { HUGE_FROM = 1 << 19 };
/* Pieces are of so many things or a multiple: whole pages, whatever a thing's size. */
enum { PIECE = 4096 };

/* Programs, libraries and stacks are above, on all 64-bit systems with 47 bits of addresses or
 * more. Where that is not so, pools do not grow. */
#define GROW_FROM ((uintptr_t)0x200000000000)
#define GROW_TO ((uintptr_t)0x500000000000)

static void *pool_map(void *at, size_t bytes)
{
    int fixed = at ? MAP_FIXED_NOREPLACE : 0;
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (at && p != at) { /* a kernel that takes the address as a hint */
        munmap(p, bytes);
        return NULL;
    }
    return p;
}

/* 0: there is no limit. */
static size_t pool_limit(void)
{
    struct rlimit r;

    return getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY ? 0 : r.rlim_cur;
}

/* The first piece of a pool that grows. No pool becomes longer than the limit. */
static void *pool_map_growing(size_t first, size_t limit)
{
    size_t step = (limit + HUGE_FROM) / HUGE_FROM * HUGE_FROM;

    if (sizeof(void *) < 8 || step > GROW_TO - GROW_FROM)
        return NULL;
    for (uintptr_t at = GROW_FROM; at <= GROW_TO - step; at += step) {
        void *p = pool_map((void *)at, first);

        if (p)
            return p;
    }
    return NULL;
}

static void pool_no_space(const struct wr_pool *p)
{
    fprintf(stderr, "weir: cannot have address space for more than %u %s; raise `ulimit -v`\n",
            p->cap, p->what);
    exit(4);
}

/* Takes what can be had at once, where it cannot grow. */
static void pool_open_fixed(struct wr_pool *p)
{
    while (!(p->base = pool_map(NULL, p->size * (size_t)p->cap))) {
        if (p->cap < 2048)
            pool_no_space(p);
        p->cap /= 2;
    }
    p->most = p->cap;
}

void wr_pool_init(struct wr_pool *p, const char *what, size_t size, uint32_t cap)
{
    assert(size >= sizeof(uint32_t) && cap); /* a free item holds the next free handle */
    size_t limit = pool_limit();

    *p = (struct wr_pool){.size = size, .free = WR_NIL, .cap = cap, .what = what};
    if (limit && cap > PIECE && (p->base = pool_map_growing(size * PIECE, limit))) {
        p->cap = PIECE;
        p->most = limit / size < cap ? (uint32_t)(limit / size) : cap;
        p->most = p->most / PIECE * PIECE > PIECE ? p->most / PIECE * PIECE : PIECE;
        return;
    }
    pool_open_fixed(p);
    /* Most pools stay small, and a large page is cleared as a whole when it is first touched. */
    size_t bytes = size * (size_t)p->cap;
    if (bytes > HUGE_FROM)
        madvise((char *)p->base + HUGE_FROM, bytes - HUGE_FROM, MADV_HUGEPAGE);
}

void wr_pool_fini(struct wr_pool *p)
{
    if (p->base)
        munmap(p->base, p->size * (size_t)p->most);
    *p = (struct wr_pool){0};
}

struct wr_pool wr_pool_share(const struct wr_pool *whole, uint32_t i, uint32_t n)
{
    assert(n && i < n && !whole->used && !whole->fresh);
    struct wr_pool p = *whole;
    uint32_t each = whole->most / n;
    bool grows = whole->cap < whole->most;

    if (grows && each > PIECE)
        each = each / PIECE * PIECE;
    p.fresh = each * i;
    p.most = each * (i + 1);
    p.cap = !grows || p.most < whole->cap ? p.most : p.fresh > whole->cap ? p.fresh : whole->cap;
    return p;
}

static void pool_full(const struct wr_pool *p)
{
    fprintf(
        stderr,
        "weir: more than %u %s in flight: the machine is offered more than it carries; lower the "
        "load or shorten the run\n",
        p->cap, p->what);
    exit(4);
}

void wr_pool_grow(struct wr_pool *p)
{
    uint32_t more = p->used > PIECE ? p->used : PIECE; /* as much again */

    assert(p->fresh >= p->cap && p->cap <= p->most);
    if (p->cap == p->most)
        pool_full(p);
    if (more > p->most - p->cap)
        more = p->most - p->cap;
    /* Or as much of that as can be had. */
    for (more = (more + PIECE - 1) / PIECE * PIECE; more; more = more / 2 / PIECE * PIECE)
        if (pool_map(wr_pool_at(p, p->cap), more * p->size)) {
            p->cap += more;
            return;
        }
    pool_no_space(p);
}
