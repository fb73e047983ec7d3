#include "sim/belt.h"

#include <string.h>

enum {
    FIRST_SIZE = 256,
    MOST = 1 << 24, /* events on one belt */
    STEPS = 8,      /* how far back from the end an event looks for its place */
};

void sim_belt_init(struct sim_belt *b)
{
    *b = (struct sim_belt){.mask = FIRST_SIZE - 1};
    wr_pool_init(&b->room, "events", sizeof *b->ring, MOST);
    b->ring = wr_pool_at(&b->room, 0);
}

void sim_belt_fini(struct sim_belt *b)
{
    wr_pool_fini(&b->room);
    *b = (struct sim_belt){0};
}

/* Twice the ring, where it is: what had wrapped to the front goes behind the rest. */
static bool grow(struct sim_belt *b)
{
    uint32_t size = b->mask + 1;

    if (2 * size > b->room.cap)
        return false;
    memcpy(b->ring + size, b->ring, b->head * sizeof *b->ring);
    b->mask = 2 * size - 1;
    return true;
}

bool sim_belt_put_slow(struct sim_belt *b, const struct sim_event *e)
{
    uint32_t i = b->n, last = i > STEPS ? i - STEPS : 0;

    while (i > last && sim_before(e, sim_belt_at(b, i - 1)))
        i--;
    if (i && sim_before(e, sim_belt_at(b, i - 1)))
        return false;
    if (b->n >= b->mask && !grow(b))
        return false;
    for (uint32_t k = b->n++; k > i; k--)
        *sim_belt_at(b, k) = *sim_belt_at(b, k - 1);
    *sim_belt_at(b, i) = *e;
    return true;
}
