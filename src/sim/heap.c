/* heap.c -- push and pop of the 4-ary heap; see heap.h. */
#include "sim/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void sim_heap_fini(struct sim_heap *h)
{
    wr_vec_fini(h);
}

void sim_heap_push(struct sim_heap *h, const struct sim_event *e)
{
    wr_vec_grow((void **)&h->v, &h->cap, h->n + 1, sizeof *h->v);
    size_t i = h->n++;

    while (i) {
        size_t up = (i - 1) / 4;

        if (!sim_before(e, &h->v[up]))
            break;
        h->v[i] = h->v[up];
        i = up;
    }
    h->v[i] = *e;
}

void sim_heap_pop(struct sim_heap *h, struct sim_event *ret)
{
    assert(h->n);
    *ret = h->v[0];
    struct sim_event last = h->v[--h->n];
    size_t i = 0;

    for (;;) {
        size_t first = 4 * i + 1, best = first, end = first + 4 < h->n ? first + 4 : h->n;

        if (first >= h->n)
            break;
        for (size_t c = first + 1; c < end; c++)
            if (sim_before(&h->v[c], &h->v[best]))
                best = c;
        if (!sim_before(&h->v[best], &last))
            break;
        h->v[i] = h->v[best];
        i = best;
    }
    if (h->n)
        h->v[i] = last;
}
