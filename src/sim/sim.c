#include "sim/sim.h"

#include <assert.h>

void sim_init(struct sim *s)
{
    *s = (struct sim){0};
    sim_calendar_init(&s->queue);
}

void sim_fini(struct sim *s)
{
    sim_calendar_fini(&s->queue);
}

void sim_handle(struct sim *s, uint32_t kind, sim_handler *fn, void *ctx)
{
    assert(kind < SIM_KINDS && !s->on[kind].fn);
    s->on[kind].fn = fn;
    s->on[kind].ctx = ctx;
}

bool sim_run(struct sim *s, uint64_t until, uint64_t most)
{
    const struct sim_event *next;

    while ((next = sim_calendar_peek(&s->queue))) {
        if (next->t >= until || !most--)
            return true;
        struct sim_event e = *next; /* handlers push, and today moves */

        sim_calendar_drop(&s->queue);
        s->now = e.t;
        s->events++;
        s->on[sim_kind(&e)].fn(s->on[sim_kind(&e)].ctx, &e);
    }
    return false;
}
