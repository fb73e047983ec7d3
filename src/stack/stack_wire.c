/* stack_wire.c -- the engine's side of a simulated fabric.
 *
 * Messages, flows and bytes of collective calls leave by send() of the wire and come back in
 * wire_on_arrival(), identified by a tag: the handle of a work item, or of an activity or client
 * with TAG_FLOW or TAG_PASS set. stack_wire_run() executes the events of both clocks in order of
 * time.
 *
 * Invariant: handles are below TAG_PASS (the pools of stack_engine_open.c are smaller).
 */
#include <assert.h>

#include "stack_engine_priv.h"

#define TAG_FLOW (1u << 31)
#define TAG_PASS (1u << 30)

static void wire_on_arrival(void *to, uint32_t tag, uint64_t t_ns)
{
    struct stack_engine *e = to;

    if (tag & TAG_FLOW) {
        uint32_t h = tag & ~TAG_FLOW;

        struct activity *a = activity_at(e, h);

        sim_at(&e->sim, stack_flow_landed(e, a, t_ns), a->node, sim_subkey(KIND_FLOW, 0), e->seq++,
               h, a->gen);
        return;
    }
    if (tag & TAG_PASS) {
        sim_at(&e->sim, t_ns, tag & ~TAG_PASS, sim_subkey(KIND_LATER, 0), e->seq++, LATER_PASSED,
               0);
        return;
    }
    uint32_t node = ((const struct work *)wr_pool_at(&e->works, tag))->node;

    sim_at(&e->sim, t_ns, node, sim_subkey(KIND_ARRIVE, 0), e->seq++, tag, 0);
}

void stack_wire_join(struct stack_engine *e)
{
    if (!e->setup.wire)
        return;
    e->setup.wire->arrived = wire_on_arrival;
    e->setup.wire->to = e;
}

/* Data of a whole flow, one message. */
void stack_wire_flow(struct stack_engine *e, uint32_t activity, uint32_t from, uint32_t to,
                     uint64_t t)
{
    struct stack_wire *w = e->setup.wire;

    assert(w && activity < TAG_PASS);
    w->send(w->ctx, from, to, activity_at(e, activity)->flow_b, activity | TAG_FLOW, t);
}

void stack_engine_pass(struct stack_engine *e, uint32_t from, uint32_t to, uint64_t bytes,
                       uint64_t t_ns)
{
    struct stack_wire *w = e->setup.wire;

    assert(w && to < e->clients && to < TAG_PASS);
    w->send(w->ctx, from, to, bytes + e->fs->header_b, to | TAG_PASS, t_ns);
}

/* On the plain link it is there at `there`; a fabric says itself when. */
void stack_deliver(struct stack_engine *e, uint32_t from, uint32_t to, uint64_t bytes, uint64_t t,
                   uint64_t there, struct work w)
{
    struct stack_wire *wire = e->setup.wire;

    if (!wire || from == to) {
        stack_put(e, there, w);
        return;
    }
    wire->send(wire->ctx, from, to, bytes + e->fs->header_b, stack_work(e, w), t);
}

/* One event of whichever clock is behind; false: there is none. */
static bool wire_step(struct stack_engine *e, uint64_t until_ns, bool *ret_late)
{
    struct stack_wire *w = e->setup.wire;
    uint64_t mine = sim_next(&e->sim), its = w->next_ps(w->ctx);

    if (mine == UINT64_MAX && its == UINT64_MAX)
        return false;
    if (its != UINT64_MAX && its / 1000 + (its % 1000 > 0) <= mine) {
        e->wire_steps++;
        w->step(w->ctx);
    } else if (!(*ret_late = mine >= until_ns))
        sim_run(&e->sim, mine + 1, 1);
    return true;
}

bool stack_wire_run(struct stack_engine *e, uint64_t until_ns, uint64_t most_events)
{
    bool late = false;

    assert(e->setup.wire);
    if (until_ns > STACK_WIRE_FOREVER)
        until_ns = STACK_WIRE_FOREVER;
    while (most_events-- && !late && e->stuck == STACK_NONE)
        if (!wire_step(e, until_ns, &late))
            return false;
    return e->stuck == STACK_NONE;
}
