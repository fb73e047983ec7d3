/* calendar.h -- the event queue: a calendar of picosecond buckets.
 *
 *    today, sorted            the coming days                        far away
 *   +---+---+---+---+        +---+---+---+---+---+-- ... --+---+      +--------+
 *   | e | e | e |   |        | e | - | e | - | - |         | e |      |  heap  |
 *   +---+---+---+---+        +-|-+---+---+---+---+---------+-|-+      +--------+
 *     ^ next to happen         e                             e
 *
 * A day is 2^shift picoseconds and is the head of a list of its events, mostly
 * none or one. Pushing writes the event once, and it is linked at the next turn: any day may be
 * meant, and its head is seldom in the cache. A day is sorted when it
 * becomes today. A bitmap finds the next day that has any. Days are opened in order, so the
 * memory that the next day needs is asked for in time. The width of a day and
 * the number of days follow the traffic: they change the cost, never the order.
 */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include "base/pool.h"
#include "sim/event.h"
#include "sim/heap.h"

enum { SIM_KINDS = 32, SIM_LATE = 8 };

/* What events of one kind will touch, so that the memory is asked for before
 * they are executed: the thing whose handle is the argument, and, an event or more
 * later, when that may be there, what it leads to. */
struct sim_warm {
    const char *thing; /* NULL: nothing is known */
    size_t size;
    void (*more)(const void *ctx,
                 const struct sim_event *e); /* may prefetch, no more; may be NULL */
    const void *ctx;
};

struct sim_calendar {
    uint64_t next;  /* nothing happens before */
    uint64_t after; /* nothing but what is in today happens before */
    uint64_t day;   /* today's number: time >> shift */
    uint32_t shift;
    uint32_t ndays;         /* a power of two */
    uint32_t *days;         /* [ndays] their events, linked by `next` */
    uint64_t *busy;         /* [ndays / 64] which days have events */
    struct sim_event *node; /* the events, by handle */
    uint32_t free;          /* nodes to use again, linked by `next` */
    uint32_t at, n, cap;    /* today: handles at..n-1 are still to happen */
    uint32_t *today;
    struct sim_rank *rank; /* for sorting full days: two halves of rank_cap */
    uint32_t rank_cap;
    uint32_t late[SIM_LATE]; /* events that are not in the list of their day yet ... */
    uint32_t nlate;          /* ... whose head has been asked for: sim_calendar_link() */
    uint64_t inlist;         /* events in the coming days, these included */
    uint64_t ahead[2];       /* the days after the next, as they were seen: look_ahead() */
    uint64_t far_day;        /* today at which the heap's first comes within the days */
    struct sim_heap far;
    struct wr_pool pool; /* holds `node` */
    /* What happened since the last look at the width. */
    uint32_t seen_days, seen_far;
    uint64_t seen_events, seen_from;
    uint64_t popped;
    uint32_t retunes;
    struct sim_warm warm[SIM_KINDS];
};

void sim_calendar_init(struct sim_calendar *c);
void sim_calendar_fini(struct sim_calendar *c);

void sim_calendar_push_slow(struct sim_calendar *c, const struct sim_event *e);
void sim_calendar_link(struct sim_calendar *c);
bool sim_calendar_turn(struct sim_calendar *c); /* make the next busy day today */
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
    uint64_t when = e->t >> c->shift, ahead = when - c->day;

    if (e->t < c->next)
        c->next = e->t;
    /* Today (0) wraps to the largest number and goes the slow way, as does
     * what is beyond the last day. */
    if (__builtin_expect(ahead - 1 >= c->ndays - 1, 0)) {
        sim_calendar_push_slow(c, e);
        return;
    }
    if (e->t < c->after)
        c->after = e->t;
    uint32_t at = (uint32_t)when & (c->ndays - 1), h = sim_calendar_take(c);
    struct sim_event *node = &c->node[h];

    *node = *e;
    __builtin_prefetch(&c->days[at], 1);
    __builtin_prefetch(&c->busy[at / 64], 1);
    c->late[c->nlate++] = h;
    c->inlist++;
    if (__builtin_expect(c->nlate == SIM_LATE, 0))
        sim_calendar_link(c);
}

/* Nothing happens before this; days are opened by peek only. */
static inline uint64_t sim_calendar_next(const struct sim_calendar *c)
{
    return c->next;
}

/* The earliest event, or NULL. */
static inline const struct sim_event *sim_calendar_peek(struct sim_calendar *c)
{
    if (c->at == c->n && !sim_calendar_turn(c))
        return NULL;
    const struct sim_event *e = &c->node[c->today[c->at]];

    c->next = e->t;
    return e;
}

/* Take the earliest event (peek gave one) off the queue. It stays where it
 * is until it is given back. */
static inline uint32_t sim_calendar_pop(struct sim_calendar *c)
{
    uint32_t h = c->today[c->at++];

    c->popped++;
    c->next = c->at < c->n ? c->node[c->today[c->at]].t : c->after;
    return h;
}

#endif
