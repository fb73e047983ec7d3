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
        uint32_t h = sim_calendar_pop(&s->queue);

        s->now = next->t;
        s->on[sim_kind(next)].fn(s->on[sim_kind(next)].ctx, next);
        sim_calendar_give(&s->queue, h);
    }
    return false;
}
