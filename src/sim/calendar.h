/* calendar.h -- the event queue: a calendar of picosecond buckets.
 *
 *    today (sorted)      the coming days, one list each          far away
 *   +---------------+   +---+---+---+---+---+-- ... --+---+      +--------+
 *   | e e e e       |   | o |   | o |   |   |         | o |      |  heap  |
 *   +---------------+   +-|-+---+-|-+---+---+---------+-|-+      +--------+
 *     ^ next             e       e->e                   e
 *
 * A day is 2^shift picoseconds. Pushing links an event into its day (a few
 * instructions, one cache line); the day is sorted when it becomes today,
 * when it holds a handful of events. A bitmap finds the next day that has
 * any. The width of a day and the number of days follow the traffic: they
 * change the cost and never the order.
 */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include "base/pool.h"
#include "sim/event.h"
#include "sim/heap.h"

struct sim_calendar {
    uint64_t day; /* today's number: time >> shift */
    uint32_t shift;
    uint32_t ndays;  /* a power of two */
    uint32_t *first; /* [ndays] handle of the day's list, WR_NIL */
    uint64_t *busy;  /* [ndays / 64] which days have events */
    struct wr_pool pool;
    struct sim_event *today; /* sorted; at, n */
    uint32_t at, n, cap;
    uint64_t inlist; /* events in the lists */
    struct sim_heap far;
    uint64_t far_day; /* when the heap's first is within the days */
    /* What happened since the last look at the width. */
    uint32_t seen_days, seen_events, seen_far;
    uint64_t seen_from;
    uint32_t retunes;
    /* Told of an event some time before it is executed; may prefetch, no more. */
    void (*warm)(void *ctx, const struct sim_event *e);
    void *warm_ctx;
};

void sim_calendar_init(struct sim_calendar *c);
void sim_calendar_fini(struct sim_calendar *c);

void sim_calendar_push_slow(struct sim_calendar *c, const struct sim_event *e);
bool sim_calendar_turn(struct sim_calendar *c); /* make the next busy day today */

static inline void sim_calendar_push(struct sim_calendar *c, const struct sim_event *e)
{
    uint64_t ahead = (e->t >> c->shift) - c->day;

    /* Today (0) wraps to the largest number and goes the slow way, as does
     * what is beyond the last day. */
    if (__builtin_expect(ahead - 1 >= c->ndays - 1, 0)) {
        sim_calendar_push_slow(c, e);
        return;
    }
    uint32_t day = (uint32_t)(e->t >> c->shift) & (c->ndays - 1);
    uint32_t h = wr_pool_take(&c->pool);
    struct sim_event *node = wr_pool_at(&c->pool, h);

    *node = *e;
    node->next = c->first[day];
    c->first[day] = h;
    c->busy[day / 64] |= UINT64_C(1) << (day % 64);
    c->inlist++;
}

/* The earliest event, or NULL; it stays valid until the next call. */
static inline const struct sim_event *sim_calendar_peek(struct sim_calendar *c)
{
    if (c->at == c->n && !sim_calendar_turn(c))
        return NULL;
    return &c->today[c->at];
}

static inline void sim_calendar_drop(struct sim_calendar *c)
{
    c->at++;
}

static inline uint64_t sim_calendar_count(const struct sim_calendar *c)
{
    return c->inlist + (c->n - c->at) + c->far.n;
}

#endif
