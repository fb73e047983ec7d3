/* A ladder queue (Tang, Goh and Thng, ACM TOMACS 2005) behind the engine's queue
 * interface, for comparison. Far events lie unsorted in the top; when the
 * bottom runs dry the nearest bucket of the last rung is sorted into it, or
 * spread over a finer rung when it holds too many. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "sim/event.h"

enum { SIM_KINDS = 32, RUNGS = 10, BUCKETS = 1024, MANY = 24 };

struct sim_prefetch {
    const char *thing;
    size_t size;
    void (*more)(const void *ctx, const struct sim_event *e);
    void (*most)(const void *ctx, const struct sim_event *e);
    const void *ctx;
};

struct ladder_rung {
    uint64_t start, width, n; /* n: events in it */
    uint32_t at, used;        /* the bucket being emptied; buckets in use */
    uint32_t first[BUCKETS], count[BUCKETS];
};

struct sim_calendar {
    struct ladder_rung *rung; /* [RUNGS] */
    uint32_t nrungs;
    uint64_t top_start, top_min, top_max, top_n;
    uint32_t top;
    uint32_t bottom; /* sorted */
    struct wr_pool pool;
    struct sim_event *node;
    uint32_t free;
    uint64_t n, popped;
    struct sim_prefetch prefetch[SIM_KINDS];
};

static inline void sim_calendar_init(struct sim_calendar *c)
{
    memset(c, 0, sizeof *c);
    c->rung = wr_zalloc(RUNGS, sizeof *c->rung);
    wr_pool_init(&c->pool, "events", sizeof(struct sim_event), 1u << 28);
    c->node = wr_pool_at(&c->pool, 0);
    c->free = c->top = c->bottom = WR_NIL;
    c->top_min = UINT64_MAX;
}

static inline void sim_calendar_fini(struct sim_calendar *c)
{
    free(c->rung);
    wr_pool_fini(&c->pool);
}

static inline void ladder_bottom(struct sim_calendar *c, uint32_t h)
{
    uint32_t *at = &c->bottom;

    while (*at != WR_NIL && !sim_before(&c->node[h], &c->node[*at]))
        at = &c->node[*at].next;
    c->node[h].next = *at;
    *at = h;
}

static inline void ladder_rung_put(struct sim_calendar *c, struct ladder_rung *r, uint32_t h)
{
    uint64_t b = (c->node[h].t - r->start) / r->width;

    if (b >= r->used)
        b = r->used - 1;
    c->node[h].next = r->first[b];
    r->first[b] = h;
    r->count[b]++;
    r->n++;
}

static inline void ladder_rung_open(struct ladder_rung *r, uint64_t start, uint64_t span)
{
    r->start = start;
    r->width = span / BUCKETS + 1;
    r->used = BUCKETS;
    r->at = 0;
    r->n = 0;
    memset(r->first, 0xff, sizeof r->first);
    memset(r->count, 0, sizeof r->count);
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
    if (e->t >= c->top_start) {
        c->node[h].next = c->top;
        c->top = h;
        c->top_n++;
        c->top_min = e->t < c->top_min ? e->t : c->top_min;
        c->top_max = e->t > c->top_max ? e->t : c->top_max;
        return;
    }
    for (uint32_t i = 0; i < c->nrungs; i++)
        if (e->t >= c->rung[i].start + c->rung[i].at * c->rung[i].width) {
            ladder_rung_put(c, &c->rung[i], h);
            return;
        }
    ladder_bottom(c, h);
}

static inline void ladder_spread(struct sim_calendar *c, uint32_t list, uint64_t start,
                                 uint64_t span)
{
    struct ladder_rung *r = &c->rung[c->nrungs++];

    ladder_rung_open(r, start, span);
    for (uint32_t next; list != WR_NIL; list = next) {
        next = c->node[list].next;
        ladder_rung_put(c, r, list);
    }
}

static inline void ladder_refill(struct sim_calendar *c)
{
    while (c->bottom == WR_NIL) {
        while (c->nrungs && !c->rung[c->nrungs - 1].n)
            c->nrungs--;
        if (!c->nrungs) {
            uint32_t list = c->top;
            uint64_t from = c->top_min, to = c->top_max;

            c->top = WR_NIL;
            c->top_n = 0;
            c->top_min = UINT64_MAX;
            c->top_max = 0;
            c->top_start = to + 1;
            ladder_spread(c, list, from, to - from + 1);
        }
        struct ladder_rung *r = &c->rung[c->nrungs - 1];

        while (!r->count[r->at])
            r->at++;
        uint32_t list = r->first[r->at], n = r->count[r->at];
        uint64_t start = r->start + r->at * r->width;

        r->first[r->at] = WR_NIL;
        r->count[r->at] = 0;
        r->at++;
        r->n -= n;
        if (n > MANY && c->nrungs < RUNGS && r->width > 1) {
            ladder_spread(c, list, start, r->width);
            continue;
        }
        for (uint32_t next; list != WR_NIL; list = next) {
            next = c->node[list].next;
            ladder_bottom(c, list);
        }
    }
}

static inline const struct sim_event *sim_calendar_peek(struct sim_calendar *c)
{
    if (!c->n)
        return NULL;
    if (c->bottom == WR_NIL)
        ladder_refill(c);
    return &c->node[c->bottom];
}

static inline uint64_t sim_calendar_next(struct sim_calendar *c)
{
    const struct sim_event *e = sim_calendar_peek(c);

    return e ? e->t : SIM_NEVER;
}

static inline uint32_t sim_calendar_pop(struct sim_calendar *c)
{
    uint32_t h = c->bottom;

    c->bottom = c->node[h].next;
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
    for (uint32_t h = c->top; h != WR_NIL; h = c->node[h].next)
        fn(ctx, &c->node[h]);
    for (uint32_t h = c->bottom; h != WR_NIL; h = c->node[h].next)
        fn(ctx, &c->node[h]);
    for (uint32_t i = 0; i < c->nrungs * BUCKETS; i++)
        for (uint32_t h = c->rung[i / BUCKETS].first[i % BUCKETS]; h != WR_NIL; h = c->node[h].next)
            fn(ctx, &c->node[h]);
}

#endif
