/* A hierarchical timing wheel (Varghese and Lauck, 1987) behind the engine's
 * queue interface, for comparison: five wheels of 1024 slots, the first of
 * 2^8 ps each. An event goes into the wheel whose turn covers its distance and
 * moves to a finer one when its slot comes; the finest slot is sorted. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "sim/event.h"

enum { SIM_KINDS = 32, WHEELS = 5, SPOKES = 1024, SPOKE_BITS = 10, TICK_BITS = 8 };

struct sim_prefetch {
    const char *thing;
    size_t size;
    void (*more)(const void *ctx, const struct sim_event *e);
    void (*most)(const void *ctx, const struct sim_event *e);
    const void *ctx;
};

struct sim_calendar {
    uint64_t tick; /* now >> TICK_BITS */
    uint32_t first[WHEELS][SPOKES];
    uint64_t busy[WHEELS][SPOKES / 64];
    struct wr_pool pool;
    struct sim_event *node;
    uint32_t free, today; /* sorted list */
    uint64_t n, popped;
    struct sim_prefetch prefetch[SIM_KINDS];
};

static inline void sim_calendar_init(struct sim_calendar *c)
{
    memset(c, 0, sizeof *c);
    memset(c->first, 0xff, sizeof c->first);
    wr_pool_init(&c->pool, "events", sizeof(struct sim_event), 1u << 28);
    c->node = wr_pool_at(&c->pool, 0);
    c->free = c->today = WR_NIL;
}

static inline void sim_calendar_fini(struct sim_calendar *c)
{
    wr_pool_fini(&c->pool);
}

static inline void wheel_today(struct sim_calendar *c, uint32_t h)
{
    uint32_t *at = &c->today;

    while (*at != WR_NIL && !sim_before(&c->node[h], &c->node[*at]))
        at = &c->node[*at].next;
    c->node[h].next = *at;
    *at = h;
}

static inline void wheel_link(struct sim_calendar *c, uint32_t h)
{
    uint64_t tick = c->node[h].t >> TICK_BITS, differ = tick ^ c->tick;

    if (tick <= c->tick) {
        wheel_today(c, h);
        return;
    }
    uint32_t w = (63 - (uint32_t)__builtin_clzll(differ)) / SPOKE_BITS;

    if (w >= WHEELS)
        w = WHEELS - 1;
    uint32_t s = (uint32_t)(tick >> (w * SPOKE_BITS)) & (SPOKES - 1);

    c->node[h].next = c->first[w][s];
    c->first[w][s] = h;
    c->busy[w][s / 64] |= UINT64_C(1) << (s % 64);
}

static inline void sim_calendar_push(struct sim_calendar *c, const struct sim_event *e)
{
    uint32_t h = c->free;

    if (h == WR_NIL)
        h = wr_pool_take(&c->pool);
    else
        c->free = c->node[h].next;
    c->node[h] = *e;
    c->n++;
    wheel_link(c, h);
}

/* The next busy spoke of wheel w from `from` on, or SPOKES. */
static inline uint32_t wheel_next(const struct sim_calendar *c, uint32_t w, uint32_t from)
{
    for (uint32_t word = from / 64; word < SPOKES / 64; word++) {
        uint64_t bits = c->busy[w][word];

        if (word == from / 64)
            bits &= ~UINT64_C(0) << (from % 64);
        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return SPOKES;
}

static inline void wheel_open(struct sim_calendar *c, uint32_t w, uint32_t s)
{
    uint32_t h = c->first[w][s], next;

    c->first[w][s] = WR_NIL;
    c->busy[w][s / 64] &= ~(UINT64_C(1) << (s % 64));
    for (; h != WR_NIL; h = next) {
        next = c->node[h].next;
        wheel_link(c, h);
    }
}

static inline const struct sim_event *sim_calendar_peek(struct sim_calendar *c)
{
    if (!c->n)
        return NULL;
    while (c->today == WR_NIL)
        for (uint32_t w = 0; w < WHEELS; w++) {
            uint32_t shift = w * SPOKE_BITS, at = (uint32_t)(c->tick >> shift) & (SPOKES - 1);
            uint32_t s = wheel_next(c, w, at);

            if (s == SPOKES)
                continue;
            c->tick = (c->tick >> (shift + SPOKE_BITS) << SPOKE_BITS | s) << shift;
            wheel_open(c, w, s);
            break;
        }
    return &c->node[c->today];
}

static inline uint64_t sim_calendar_next(struct sim_calendar *c)
{
    const struct sim_event *e = sim_calendar_peek(c);

    return e ? e->t : SIM_NEVER;
}

static inline uint32_t sim_calendar_pop(struct sim_calendar *c)
{
    uint32_t h = c->today;

    c->today = c->node[h].next;
    c->n--;
    c->popped++;
    return h;
}

static inline void sim_calendar_give(struct sim_calendar *c, uint32_t h)
{
    c->node[h].next = c->free;
    c->free = h;
}

static inline uint64_t sim_calendar_count(const struct sim_calendar *c)
{
    return c->n;
}

static inline void sim_calendar_each(const struct sim_calendar *c,
                                     void (*fn)(void *ctx, const struct sim_event *e), void *ctx)
{
    for (uint32_t h = c->today; h != WR_NIL; h = c->node[h].next)
        fn(ctx, &c->node[h]);
    for (uint32_t i = 0; i < WHEELS * SPOKES; i++)
        for (uint32_t h = c->first[i / SPOKES][i % SPOKES]; h != WR_NIL; h = c->node[h].next)
            fn(ctx, &c->node[h]);
}

#endif
