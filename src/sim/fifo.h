/* fifo.h -- a FIFO of events that are scheduled (nearly) in the order in which they happen.
 *
 * A packet of one size takes the same time over every link of one class, so the arrivals over a
 * class are scheduled in order and need no sorting:
 *
 *      next to happen                      scheduled last
 *     [ e | e | e | e | e | e | ... | e | e ]
 *           ^       ^
 *           |       its packet is prefetched
 *           the ports of its packet are prefetched
 *
 * Owned and called by sim.h. An event that is a little out of order is inserted among the last
 * few; sim_fifo_put returns false for any other, and the caller puts it into the calendar.
 *
 * Invariants: events are in the order of event.h. One place of the ring stays free, because the
 * event that was taken last is still being handled there: n <= mask.
 */
#ifndef SIM_FIFO_H
#define SIM_FIFO_H

#include "base/pool.h"
#include "sim/event.h"

enum {
    SIM_GROUP = 4, /* FIFOs whose first events are compared together: sim.c */
    SIM_FIFOS = 3 * SIM_GROUP,
};

struct sim_fifo {
    struct sim_event *ring; /* set up once; grows in place */
    uint32_t head, n;       /* the first event's place, and how many there are */
    uint32_t mask;          /* the ring's size, a power of two, less one */
    uint32_t kind;          /* of all its events; set up once */
    struct wr_pool pool;    /* the memory of the ring */
};

void sim_fifo_init(struct sim_fifo *b);
void sim_fifo_fini(struct sim_fifo *b);

/* For an event that comes before the last one, or when the ring is full. False: not taken. */
bool sim_fifo_put_slow(struct sim_fifo *b, const struct sim_event *e);

static inline struct sim_event *sim_fifo_at(const struct sim_fifo *b, uint32_t i)
{
    return &b->ring[(b->head + i) & b->mask];
}

/* The fields are passed one by one so that they go from registers to the ring: copying a struct
 * that was just written elsewhere would stall on that store. */
static inline __attribute__((always_inline)) bool sim_fifo_put(struct sim_fifo *b, uint64_t t,
                                                               uint64_t key, uint32_t seq,
                                                               uint32_t arg, uint32_t arg2)
{
    if (__builtin_expect(b->n >= b->mask, 0) ||
        (b->n && sim_earlier(t, key, seq, sim_fifo_at(b, b->n - 1))))
        return sim_fifo_put_slow(
            b, &(struct sim_event){.t = t, .key = key, .seq = seq, .arg = arg, .arg2 = arg2});
    struct sim_event *e = sim_fifo_at(b, b->n++);

    e->t = t;
    e->key = key;
    e->seq = seq;
    e->arg = arg;
    e->arg2 = arg2;
    return true;
}

#endif
