/* sim.h -- the clock of one partition: its events and who handles what.
 *
 * sim/ knows no network. A model registers a handler per event kind and keeps
 * its own state; a logical process is a number. A partition is executed by one
 * thread at a time, in the order of event.h. What crosses from one
 * partition to another takes at least `lookahead` of simulated time.
 *
 *   sim_at()    an event at any time            -> the calendar
 *   sim_ride()  events that are made in order   -> a belt
 *
 * The clock takes the earliest of what lies in front on the belts and in the
 * calendar. Where an event waits changes the cost, never the order.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sim/belt.h"
#include "sim/calendar.h"

/* e[i] is what comes i places later on the same belt, up to SIM_AHEAD: good for asking for
 * memory and nothing else, since it may be an event of long ago, or none (all zeros). */
typedef void sim_handler(void *ctx, const struct sim_event *e);

enum { SIM_AHEAD = 16 };

struct sim {
    uint64_t now;       /* the time of the event being handled */
    uint64_t lookahead; /* a promise of the models, for windows */
    uint64_t
        next[SIM_BELTS]; /* when the first of a belt happens; empty: later than all that does */
    uint32_t first[SIM_BELTS / SIM_GROUP]; /* of each group of belts, the one to serve first */
    uint32_t nbelts;
    uint64_t rode; /* events that came by belt so far */
    /* Partitions (crew.h): */
    uint64_t limit;   /* what lies before may be executed; handlers may lower it */
    uint64_t last;    /* the time of the last event that counts */
    uint64_t unasked; /* events that one partition alone would not have had, less those it would */
    bool aside;       /* set by a handler whose event does not count */
    const _Atomic uint64_t *wish; /* others': somebody waits until this one is beyond */
    struct sim_belt belt[SIM_BELTS];
    struct sim_calendar queue;
    struct {
        sim_handler *fn;
        void *ctx;
    } on[SIM_KINDS];
};

void sim_init(struct sim *s);
void sim_fini(struct sim *s);
void sim_handle(struct sim *s, uint32_t kind, sim_handler *fn, void *ctx);

/* One more belt, for events of one kind; the last one again when there is no more. */
uint32_t sim_belt_open(struct sim *s, uint32_t kind);

static inline void sim_at(struct sim *s, uint64_t t, uint32_t dst, uint32_t lane, uint32_t seq,
                          uint32_t arg, uint32_t arg2)
{
    struct sim_event e = sim_event(t, dst, lane, seq, arg, arg2);

    sim_calendar_push(&s->queue, &e);
}

void sim_belt_changed(struct sim *s, uint32_t belt);

static inline __attribute__((always_inline)) void sim_ride(struct sim *s, uint32_t belt, uint64_t t,
                                                           uint32_t dst, uint32_t lane,
                                                           uint32_t seq, uint32_t arg,
                                                           uint32_t arg2)
{
    uint64_t key = (uint64_t)dst << 32 | lane;

    if (__builtin_expect(!sim_belt_put(&s->belt[belt], t, key, seq, arg, arg2), 0))
        sim_at(s, t, dst, lane, seq, arg, arg2);
    else if (__builtin_expect(t <= s->next[belt], 0)) { /* at the same time: perhaps before it */
        s->next[belt] = t;
        sim_belt_changed(s, belt);
    }
}

static inline uint64_t sim_events(const struct sim *s)
{
    return s->queue.popped + s->rode - s->unasked;
}

uint64_t sim_pending(const struct sim *s);
/* When the next event happens; UINT64_MAX: there is none. */
uint64_t sim_next(struct sim *s);

/* Calls `fn` for every event to come, in no particular order. */
void sim_each(const struct sim *s, void (*fn)(void *ctx, const struct sim_event *e), void *ctx);

/* Executes events with t < until, at most `most` of them; false when none is
 * left at all. */
bool sim_run(struct sim *s, uint64_t until, uint64_t most);
/* The same until s->limit, which may change meanwhile; false also when there is nothing now. */
bool sim_run_part(struct sim *s, uint64_t most);

#endif
