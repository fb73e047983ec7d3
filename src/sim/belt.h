/* belt.h -- events that are made in the order in which they happen.
 *
 * A packet of one size takes the same time over every link of one class, so
 * the arrivals over a class are made in order and need no sorting. They ride
 * a belt, first in, first out:
 *
 *      next to happen                      made last
 *     [ e | e | e | e | e | e | ... | e | e ]
 *           ^       ^
 *           |       its packet is asked for
 *           what the packet leads to is asked for
 *
 * A belt is a promise about cost, not about order: what comes a little out of
 * order finds its place among the last few, and anything else belongs in the
 * calendar, which sorts. One place of the ring stays free: the event that was taken last is
 * still being handled there.
 */
#ifndef SIM_BELT_H
#define SIM_BELT_H

#include "base/pool.h"
#include "sim/event.h"

enum { SIM_GROUP = 4, SIM_BELTS = 3 * SIM_GROUP };

struct sim_belt {
    struct sim_event *ring;
    uint32_t head, n;
    uint32_t mask;       /* the ring's size, a power of two, less one */
    uint32_t kind;       /* of all events on it */
    struct wr_pool room; /* holds the ring, which grows in place */
};

void sim_belt_init(struct sim_belt *b);
void sim_belt_fini(struct sim_belt *b);

/* Before some of those on the belt, or the ring is full; false: not taken. */
bool sim_belt_put_slow(struct sim_belt *b, const struct sim_event *e);

static inline struct sim_event *sim_belt_at(const struct sim_belt *b, uint32_t i)
{
    return &b->ring[(b->head + i) & b->mask];
}

/* An event's fields go from registers to the ring: a copy of one that was just written somewhere
 * else would wait until that is done. */
static inline __attribute__((always_inline)) bool sim_belt_put(struct sim_belt *b, uint64_t t,
                                                               uint64_t key, uint32_t seq,
                                                               uint32_t arg, uint32_t arg2)
{
    if (__builtin_expect(b->n >= b->mask, 0) ||
        (b->n && sim_earlier(t, key, seq, sim_belt_at(b, b->n - 1))))
        return sim_belt_put_slow(
            b, &(struct sim_event){.t = t, .key = key, .seq = seq, .arg = arg, .arg2 = arg2});
    struct sim_event *e = sim_belt_at(b, b->n++);

    e->t = t;
    e->key = key;
    e->seq = seq;
    e->arg = arg;
    e->arg2 = arg2;
    return true;
}

#endif
