/* calendar.h -- the event queue for events at any time: a calendar queue (Brown, CACM 1988).
 *
 *    current bucket, sorted   the buckets after it                   beyond the last
 *   +---+---+---+---+        +---+---+---+---+---+-- ... --+---+      +--------+
 *   | e | e | e |   |        | e | - | e | - | - |         | e |      |  heap  |
 *   +---+---+---+---+        +-|-+---+---+---+---+---------+-|-+      +--------+
 *     ^ next to happen         e                             e
 *
 * A bucket covers 2^shift picoseconds and is a list of its events, mostly none or one. Pushing
 * writes the event and prefetches the head of its bucket; the event is linked into the list later
 * (sim_calendar_link), when that head is in the cache. A bucket is sorted when it becomes the
 * current one. A bitmap finds the next occupied bucket. Buckets are opened in order, so the memory
 * that the next one needs is prefetched in time. The width and the number of buckets follow the
 * rate of events; they change the cost, never the order.
 *
 * Owned and called by sim.h, one per partition.
 */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include "base/pool.h"
#include "sim/event.h"
#include "sim/heap.h"

enum { SIM_KINDS = 32, SIM_UNLINKED = 8 };

/* What the calendar prefetches before events of one kind are executed: the object whose handle is
 * the event's argument, and, one bucket or more later, what that object points to. Set up by the
 * model, then constant. */
struct sim_prefetch {
    const char *thing;                                        /* the array of objects; NULL: none */
    size_t size;                                              /* bytes of an object */
    void (*more)(const void *ctx, const struct sim_event *e); /* only prefetches; may be NULL */
    const void *ctx;                                          /* of `more` */
};

struct sim_calendar {
    /* Change with every push and pop: */
    uint64_t next;          /* lower bound of the time of all events */
    uint64_t after;         /* lower bound of all events outside the current bucket */
    uint64_t current;       /* the current bucket's number: time >> shift */
    uint32_t shift;         /* a bucket covers 2^shift ps; changed by calendar_rebuild */
    uint32_t nbuckets;      /* a power of two; the same */
    uint32_t *bucket;       /* [nbuckets] lists of events, linked by `next`; the same */
    uint64_t *occupied;     /* [nbuckets / 64] bit set: the bucket has events */
    struct sim_event *node; /* the events, by handle */
    uint32_t free;          /* nodes to use again, linked by `next` */
    uint32_t at, n, cap;    /* sorted[at..n-1] are the current bucket's events still to happen */
    uint32_t *sorted;       /* [cap] handles */
    struct sim_rank *rank;  /* scratch for sorting full buckets: two halves of rank_cap */
    uint32_t rank_cap;
    uint32_t unlinked[SIM_UNLINKED]; /* events not yet in the list of their bucket */
    uint32_t nunlinked;
    uint64_t inlist;     /* events in the buckets after the current one, unlinked ones included */
    uint64_t ahead[2];   /* the occupied buckets after the next one: calendar_prefetch_ahead() */
    uint64_t far_bucket; /* when this is the current bucket, the heap's first fits the buckets */
    struct sim_heap far; /* events beyond the last bucket */
    struct wr_pool pool; /* the memory of `node` */
    /* Since calendar_tune_width was called last: */
    uint32_t tune_buckets, tune_far; /* buckets opened; events pushed to the heap */
    uint64_t tune_events, tune_from; /* `popped` and `current` at that time */
    /* Over the whole run: */
    uint64_t popped;  /* events */
    uint32_t retunes; /* rebuilds, for tests */
    struct sim_prefetch prefetch[SIM_KINDS];
};

void sim_calendar_init(struct sim_calendar *c);
void sim_calendar_fini(struct sim_calendar *c);

void sim_calendar_push_slow(struct sim_calendar *c, const struct sim_event *e);
void sim_calendar_link(struct sim_calendar *c);
/* Opens the next occupied bucket; false: there is no event. */
bool sim_calendar_advance(struct sim_calendar *c);
uint32_t sim_calendar_fresh(struct sim_calendar *c);
uint64_t sim_calendar_count(const struct sim_calendar *c);

/* Calls `fn` for every event in the queue, in no particular order. */
void sim_calendar_each(const struct sim_calendar *c,
                       void (*fn)(void *ctx, const struct sim_event *e), void *ctx);

static inline uint32_t sim_calendar_take(struct sim_calendar *c)
{
    uint32_t h = c->free;

    if (__builtin_expect(h == WR_NIL, 0))
        return sim_calendar_fresh(c);
    c->free = c->node[h].next;
    return h;
}

static inline void sim_calendar_give(struct sim_calendar *c, uint32_t h)
{
    c->node[h].next = c->free;
    c->free = h;
}

static inline void sim_calendar_push(struct sim_calendar *c, const struct sim_event *e)
{
    uint64_t when = e->t >> c->shift, ahead = when - c->current;

    if (e->t < c->next)
        c->next = e->t;
    /* For the current bucket (0) this wraps to the largest number: it takes the slow path, as do
     * times beyond the last bucket. */
    if (__builtin_expect(ahead - 1 >= c->nbuckets - 1, 0)) {
        sim_calendar_push_slow(c, e);
        return;
    }
    if (e->t < c->after)
        c->after = e->t;
    uint32_t at = (uint32_t)when & (c->nbuckets - 1), h = sim_calendar_take(c);
    struct sim_event *node = &c->node[h];

    *node = *e;
    __builtin_prefetch(&c->bucket[at], 1);
    __builtin_prefetch(&c->occupied[at / 64], 1);
    c->unlinked[c->nunlinked++] = h;
    c->inlist++;
    if (__builtin_expect(c->nunlinked == SIM_UNLINKED, 0))
        sim_calendar_link(c);
}

/* Lower bound of the next event's time. Opens no bucket: only peek does. */
static inline uint64_t sim_calendar_next(const struct sim_calendar *c)
{
    return c->next;
}

/* The earliest event, or NULL. */
static inline const struct sim_event *sim_calendar_peek(struct sim_calendar *c)
{
    if (c->at == c->n && !sim_calendar_advance(c))
        return NULL;
    const struct sim_event *e = &c->node[c->sorted[c->at]];

    c->next = e->t;
    return e;
}

/* Takes the earliest event, which peek has returned, off the queue. Its node is valid until
 * sim_calendar_give. */
static inline uint32_t sim_calendar_pop(struct sim_calendar *c)
{
    uint32_t h = c->sorted[c->at++];

    c->popped++;
    c->next = c->at < c->n ? c->node[c->sorted[c->at]].t : c->after;
    return h;
}

#endif
