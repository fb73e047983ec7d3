/* The 4-ary heap of src/sim/heap.h behind the engine's queue interface: a
 * benchmark compiles the engine with this header in place of the calendar. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include <stddef.h>

#include "base/pool.h"
#include "sim/event.h"
#include "sim/heap.h"

enum { SIM_KINDS = 32 };

struct sim_prefetch {
    const char *thing;
    size_t size;
    void (*more)(const void *ctx, const struct sim_event *e);
    void (*most)(const void *ctx, const struct sim_event *e);
    const void *ctx;
};

struct sim_calendar {
    struct sim_heap heap;
    struct sim_event now;
    uint64_t popped;
    struct sim_prefetch prefetch[SIM_KINDS];
};

static inline void sim_calendar_init(struct sim_calendar *c)
{
    *c = (struct sim_calendar){0};
}

static inline void sim_calendar_fini(struct sim_calendar *c)
{
    sim_heap_fini(&c->heap);
}

static inline void sim_calendar_push(struct sim_calendar *c, const struct sim_event *e)
{
    sim_heap_push(&c->heap, e);
}

static inline const struct sim_event *sim_calendar_peek(struct sim_calendar *c)
{
    if (!c->heap.n)
        return NULL;
    c->now = c->heap.v[0];
    return &c->now;
}

static inline uint64_t sim_calendar_next(struct sim_calendar *c)
{
    const struct sim_event *e = sim_calendar_peek(c);

    return e ? e->t : SIM_NEVER;
}

static inline uint32_t sim_calendar_pop(struct sim_calendar *c)
{
    sim_heap_pop(&c->heap, &c->now);
    c->popped++;
    return 0;
}

static inline void sim_calendar_give(struct sim_calendar *c, uint32_t h)
{
    (void)c;
    (void)h;
}

static inline uint64_t sim_calendar_count(const struct sim_calendar *c)
{
    return c->heap.n;
}

static inline void sim_calendar_each(const struct sim_calendar *c,
                                     void (*fn)(void *ctx, const struct sim_event *e), void *ctx)
{
    for (size_t i = 0; i < c->heap.n; i++)
        fn(ctx, &c->heap.v[i]);
}

#endif
