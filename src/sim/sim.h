/* sim.h -- the clock of one partition: an event queue and who handles what.
 *
 * sim/ knows no network. A model registers a handler per event kind and keeps
 * its own state; a logical process is a number. A partition is executed by one
 * thread at a time, in the order of event.h. What crosses from one
 * partition to another takes at least `lookahead` of simulated time.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sim/calendar.h"

typedef void sim_handler(void *ctx, const struct sim_event *e);

struct sim {
    uint64_t now;       /* the time of the event being handled */
    uint64_t lookahead; /* a promise of the models, for windows */
    struct sim_calendar queue;
    struct {
        sim_handler *fn;
        void *ctx;
    } on[SIM_KINDS];
};

void sim_init(struct sim *s);
void sim_fini(struct sim *s);
void sim_handle(struct sim *s, uint32_t kind, sim_handler *fn, void *ctx);

static inline void sim_at(struct sim *s, uint64_t t, uint32_t dst, uint32_t lane, uint32_t seq,
                          uint32_t arg, uint32_t arg2)
{
    struct sim_event e = {.t = t,
                          .key = (uint64_t)dst << 32 | lane,
                          .seq = seq,
                          .arg = arg,
                          .arg2 = arg2,
                          .next = WR_NIL};

    sim_calendar_push(&s->queue, &e);
}

static inline uint64_t sim_events(const struct sim *s)
{
    return s->queue.popped;
}

/* Executes events with t < until, at most `most` of them; false when none is
 * left at all. */
bool sim_run(struct sim *s, uint64_t until, uint64_t most);

#endif
