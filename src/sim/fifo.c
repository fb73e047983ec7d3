/* fifo.c -- a FIFO's memory, and the cold path of sim_fifo_put: insertion and growth. */
#include "sim/fifo.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_SIZE = 256,
    MAX_SIZE = 1 << 24, /* events of one FIFO */
    MAX_STEPS = 8,      /* an event that belongs farther from the end is refused */
};
_Static_assert((FIRST_SIZE & (FIRST_SIZE - 1)) == 0, "the ring's size is a power of two");

void sim_fifo_init(struct sim_fifo *b)
{
    *b = (struct sim_fifo){.mask = FIRST_SIZE - 1};
    wr_pool_init(&b->pool, "events", sizeof *b->ring, MAX_SIZE);
    b->ring = wr_pool_at(&b->pool, 0);
}

void sim_fifo_fini(struct sim_fifo *b)
{
    wr_pool_fini(&b->pool);
    *b = (struct sim_fifo){0};
}

/* Doubles the ring in place: events that had wrapped to the front move behind the others. */
static bool fifo_grow(struct sim_fifo *b)
{
    uint32_t size = b->mask + 1;

    if (2 * size > b->pool.cap)
        return false;
    memcpy(b->ring + size, b->ring, b->head * sizeof *b->ring);
    b->mask = 2 * size - 1;
    return true;
}

bool sim_fifo_put_slow(struct sim_fifo *b, const struct sim_event *e)
{
    uint32_t i = b->n, last = i > MAX_STEPS ? i - MAX_STEPS : 0;

    assert(b->ring && b->n <= b->mask);
    while (i > last && sim_before(e, sim_fifo_at(b, i - 1)))
        i--;
    if (i && sim_before(e, sim_fifo_at(b, i - 1)))
        return false;
    if (b->n >= b->mask && !fifo_grow(b))
        return false;
    for (uint32_t k = b->n++; k > i; k--)
        *sim_fifo_at(b, k) = *sim_fifo_at(b, k - 1);
    *sim_fifo_at(b, i) = *e;
    return true;
}
