#include "sim/sim.h"

#include <assert.h>
#include <stdatomic.h>

/* Empty belts never tie. */
static uint64_t never(uint32_t belt)
{
    return SIM_NEVER - belt;
}

static const uint64_t some_time = SIM_NEVER - SIM_BELTS; /* not never */

void sim_init(struct sim *s)
{
    *s = (struct sim){0};
    sim_calendar_init(&s->queue);
    for (uint32_t b = 0; b < SIM_BELTS; b++)
        s->next[b] = never(b);
    for (uint32_t g = 0; g < SIM_BELTS / SIM_GROUP; g++)
        s->first[g] = g * SIM_GROUP;
}

void sim_fini(struct sim *s)
{
    sim_calendar_fini(&s->queue);
    for (uint32_t b = 0; b < s->nbelts; b++)
        sim_belt_fini(&s->belt[b]);
}

void sim_handle(struct sim *s, uint32_t kind, sim_handler *fn, void *ctx)
{
    assert(kind < SIM_KINDS && !s->on[kind].fn);
    s->on[kind].fn = fn;
    s->on[kind].ctx = ctx;
}

uint32_t sim_belt_open(struct sim *s, uint32_t kind)
{
    if (s->nbelts == SIM_BELTS) {
        assert(s->belt[SIM_BELTS - 1].kind == kind);
        return SIM_BELTS - 1;
    }
    sim_belt_init(&s->belt[s->nbelts]);
    s->belt[s->nbelts].kind = kind;
    return s->nbelts++;
}

uint64_t sim_pending(const struct sim *s)
{
    uint64_t sum = sim_calendar_count(&s->queue);

    for (uint32_t b = 0; b < s->nbelts; b++)
        sum += s->belt[b].n;
    return sum;
}

void sim_each(const struct sim *s, void (*fn)(void *ctx, const struct sim_event *e), void *ctx)
{
    sim_calendar_each(&s->queue, fn, ctx);
    for (uint32_t b = 0; b < s->nbelts; b++)
        for (uint32_t i = 0; i < s->belt[b].n; i++)
            fn(ctx, sim_belt_at(&s->belt[b], i));
}

/* The belt of a group of four whose first event is the earliest. */
static inline uint32_t first_of(const struct sim *s, uint32_t group)
{
    const uint64_t *next = s->next + group;
    uint32_t best = 0;
    uint64_t t = next[0];

#pragma GCC unroll 4
    for (uint32_t b = 1; b < SIM_GROUP; b++) {
        uint64_t u = next[b];

        if (__builtin_expect(u == t, 0) &&
            sim_before(sim_belt_at(&s->belt[group + b], 0), sim_belt_at(&s->belt[group + best], 0)))
            best = b;
        best = u < t ? b : best;
        t = u < t ? u : t;
    }
    return group + best;
}

static inline uint32_t earlier(const struct sim *s, uint32_t a, uint32_t b)
{
    if (__builtin_expect(s->next[a] == s->next[b], 0))
        return sim_before(sim_belt_at(&s->belt[a], 0), sim_belt_at(&s->belt[b], 0)) ? a : b;
    return s->next[a] < s->next[b] ? a : b;
}

static inline uint32_t first_belt(const struct sim *s)
{
    return earlier(s, earlier(s, s->first[0], s->first[1]), s->first[2]);
}

void sim_belt_changed(struct sim *s, uint32_t belt)
{
    s->first[belt / SIM_GROUP] = first_of(s, belt / SIM_GROUP * SIM_GROUP);
}

/* The calendar's first event comes before what is first on belt `b`. */
static inline __attribute__((always_inline)) bool calendar_first(struct sim *s, uint32_t b)
{
    const struct sim_event *e = sim_calendar_peek(&s->queue);

    if (!e || e->t > s->next[b])
        return false;
    return e->t < s->next[b] || sim_before(e, sim_belt_at(&s->belt[b], 0));
}

/* It stays where it is while it is handled. */
static inline const struct sim_event *take(struct sim *s, uint32_t belt)
{
    struct sim_belt *b = &s->belt[belt];
    const struct sim_event *e = &b->ring[b->head];

    b->head = (b->head + 1) & b->mask;
    b->n--;
    s->next[belt] = b->n ? b->ring[b->head].t : never(belt);
    s->first[belt / SIM_GROUP] = first_of(s, belt / SIM_GROUP * SIM_GROUP);
    s->rode++;
    return e;
}

uint64_t sim_next(struct sim *s)
{
    const struct sim_event *e = sim_calendar_peek(&s->queue);
    uint64_t belt = s->next[first_belt(s)], queue = e ? e->t : UINT64_MAX;

    return belt < some_time && belt < queue ? belt : queue;
}

/* The event just handled counts, unless its handler says that it does not. */
static inline void count(struct sim *s)
{
    if (__builtin_expect(s->aside, 0)) {
        s->aside = false;
        s->unasked++;
    } else
        s->last = s->now;
}

static inline __attribute__((always_inline)) bool run(struct sim *s, uint64_t until, uint64_t most,
                                                      bool part)
{
    struct sim_event here[SIM_AHEAD + 1] = {{0}}; /* the calendar's, and that nothing follows */

    for (;;) {
        uint32_t b = first_belt(s);
        const struct sim_event *e = here;

        if (part)
            until = s->limit;
        if (sim_calendar_next(&s->queue) <= s->next[b] && calendar_first(s, b)) {
            if (sim_calendar_next(&s->queue) >= until || !most--)
                return true;
            here[0] = *sim_calendar_peek(&s->queue);
            sim_calendar_give(&s->queue, sim_calendar_pop(&s->queue));
        } else {
            if (s->next[b] >= some_time)
                return false;
            if (s->next[b] >= until || !most--)
                return true;
            e = take(s, b);
        }
        s->now = e->t;
        s->on[sim_kind(e)].fn(s->on[sim_kind(e)].ctx, e);
        if (part) {
            count(s);
            if (__builtin_expect(s->now > atomic_load_explicit(s->wish, memory_order_relaxed), 0))
                return true;
        }
    }
}

bool sim_run(struct sim *s, uint64_t until, uint64_t most)
{
    return run(s, until, most, false);
}

bool sim_run_part(struct sim *s, uint64_t most)
{
    return run(s, 0, most, true);
}
