/* pool.h -- fixed-size things addressed by 32-bit handles, never moved.
 *
 * Address space for the largest pool ever wanted is reserved when the pool is
 * made; the kernel gives memory page by page as handles are first used. So a
 * handler that takes a handle never allocates, never fails and never makes a
 * pointer stale, and a small run stays small. Freed handles are reused last
 * in, first out: they are still in the cache.
 *
 * Where address space is limited (ulimit -v) nothing is reserved. A pool is then mapped a piece at
 * a time, at the end of what it has, in a range of addresses that is as long as the limit and that
 * no other pool begins in: it grows in place, and pointers stay as they are.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_NIL UINT32_MAX

struct wr_pool {
    unsigned char *base;
    size_t size;    /* bytes per thing, at least 4 */
    uint32_t free;  /* first free handle; a free thing's first word is the next */
    uint32_t fresh; /* handles never used begin here */
    uint32_t cap;   /* handles below have memory behind them; all of them, unless it grows */
    uint32_t most;  /* up to so many it may grow */
    uint32_t used, peak;
    const char *what; /* "packets": for the message when it is full */
};

void wr_pool_init(struct wr_pool *p, const char *what, size_t size, uint32_t cap);
void wr_pool_fini(struct wr_pool *p);
/* The i-th of n shares of a pool that nothing was taken from: handles of its own, all from one
 * space, so that a caller without a pool can read the object behind any handle. The whole is
 * closed, not the shares. */
struct wr_pool wr_pool_share(const struct wr_pool *whole, uint32_t i, uint32_t n);
/* More handles behind `cap`, or the end of the program, with words. */
void wr_pool_grow(struct wr_pool *p) __attribute__((cold));

static inline void *wr_pool_at(const struct wr_pool *p, uint32_t handle)
{
    return p->base + (size_t)handle * p->size;
}

/* The thing is not cleared. */
static inline uint32_t wr_pool_take(struct wr_pool *p)
{
    uint32_t h = p->free;

    if (h != WR_NIL) {
        p->free = *(uint32_t *)wr_pool_at(p, h);
        __builtin_prefetch(wr_pool_at(p, p->free), 1);
    } else {
        if (__builtin_expect(p->fresh >= p->cap, 0))
            wr_pool_grow(p);
        h = p->fresh++;
    }
    if (++p->used > p->peak)
        p->peak = p->used;
    return h;
}

static inline void wr_pool_give(struct wr_pool *p, uint32_t h)
{
    *(uint32_t *)wr_pool_at(p, h) = p->free;
    p->free = h;
    p->used--;
}

#endif
