#include "base/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_FROM = 1 << 19 };

void wr_pool_init(struct wr_pool *p, const char *what, size_t size, uint32_t cap)
{
    size_t bytes = size * (size_t)cap;
    void *base;

    /* Under a limit on address space (ulimit -v) take what can be had. */
    while ((base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) == MAP_FAILED &&
           cap >= 2048) {
        cap /= 2;
        bytes = size * (size_t)cap;
    }
    if (base == MAP_FAILED) {
        fprintf(stderr, "weir: cannot reserve address space for %s; raise `ulimit -v`\n", what);
        exit(4);
    }
    /* Most pools stay small, and a large page is cleared as a whole when it is first touched. */
    if (bytes > HUGE_FROM)
        madvise((char *)base + HUGE_FROM, bytes - HUGE_FROM, MADV_HUGEPAGE);
    *p = (struct wr_pool){.base = base, .size = size, .free = WR_NIL, .cap = cap, .what = what};
}

void wr_pool_fini(struct wr_pool *p)
{
    if (p->base)
        munmap(p->base, p->size * (size_t)p->cap);
    *p = (struct wr_pool){0};
}

struct wr_pool wr_pool_share(const struct wr_pool *whole, uint32_t i, uint32_t n)
{
    struct wr_pool p = *whole;

    p.fresh = whole->cap / n * i;
    p.cap = whole->cap / n * (i + 1);
    return p;
}

void wr_pool_full(const struct wr_pool *p)
{
    fprintf(
        stderr,
        "weir: more than %u %s in flight: the machine is offered more than it carries; lower the "
        "load or shorten the run\n",
        p->cap, p->what);
    exit(4);
}
