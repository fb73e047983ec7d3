/* sim.c -- the event loop of one partition: which queue has the earliest event.
 *
 * Invariants: next[b] is the time of FIFO b's first event, or sim_never(b); first[g] is the FIFO
 * of group g whose first event is the earliest. sim_enqueue and sim_take keep both.
 */
#include "sim/sim.h"

#include <assert.h>

/* The time of an empty FIFO: no two of them are equal, so no tie has to be broken. */
static uint64_t sim_never(uint32_t fifo)
{
    return SIM_NEVER - fifo;
}

static const uint64_t some_time = SIM_NEVER - SIM_FIFOS; /* later than any event's time */

void sim_init(struct sim *s)
{
    *s = (struct sim){0};
    sim_calendar_init(&s->queue);
    for (uint32_t b = 0; b < SIM_FIFOS; b++)
        s->next[b] = sim_never(b);
    for (uint32_t g = 0; g < SIM_FIFOS / SIM_GROUP; g++)
        s->first[g] = g * SIM_GROUP;
}

void sim_fini(struct sim *s)
{
    sim_calendar_fini(&s->queue);
    for (uint32_t b = 0; b < s->nfifos; b++)
        sim_fifo_fini(&s->fifo[b]);
}

void sim_handle(struct sim *s, uint32_t kind, sim_handler *fn, void *ctx)
{
    assert(kind < SIM_KINDS && fn && !s->on[kind].fn); /* one handler per kind */
    s->on[kind].fn = fn;
    s->on[kind].ctx = ctx;
}

uint32_t sim_fifo_open(struct sim *s, uint32_t kind)
{
    assert(kind < SIM_KINDS && !s->fifo_events); /* before the first event */
    if (s->nfifos == SIM_FIFOS) {
        assert(s->fifo[SIM_FIFOS - 1].kind == kind);
        return SIM_FIFOS - 1;
    }
    sim_fifo_init(&s->fifo[s->nfifos]);
    s->fifo[s->nfifos].kind = kind;
    return s->nfifos++;
}

uint64_t sim_pending(const struct sim *s)
{
    uint64_t sum = sim_calendar_count(&s->queue);

    for (uint32_t b = 0; b < s->nfifos; b++)
        sum += s->fifo[b].n;
    return sum;
}

void sim_each(const struct sim *s, void (*fn)(void *ctx, const struct sim_event *e), void *ctx)
{
    sim_calendar_each(&s->queue, fn, ctx);
    for (uint32_t b = 0; b < s->nfifos; b++)
        for (uint32_t i = 0; i < s->fifo[b].n; i++)
            fn(ctx, sim_fifo_at(&s->fifo[b], i));
}

/* The FIFO of a group whose first event is the earliest. */
static inline uint32_t sim_first_of_group(const struct sim *s, uint32_t group)
{
    const uint64_t *next = s->next + group;
    uint32_t best = 0;
    uint64_t t = next[0];

#pragma GCC unroll 4
    for (uint32_t b = 1; b < SIM_GROUP; b++) {
        uint64_t u = next[b];

        if (__builtin_expect(u == t, 0) &&
            sim_before(sim_fifo_at(&s->fifo[group + b], 0), sim_fifo_at(&s->fifo[group + best], 0)))
            best = b;
        best = u < t ? b : best;
        t = u < t ? u : t;
    }
    return group + best;
}

static inline uint32_t sim_earlier_fifo(const struct sim *s, uint32_t a, uint32_t b)
{
    if (__builtin_expect(s->next[a] == s->next[b], 0))
        return sim_before(sim_fifo_at(&s->fifo[a], 0), sim_fifo_at(&s->fifo[b], 0)) ? a : b;
    return s->next[a] < s->next[b] ? a : b;
}

static inline uint32_t sim_first_fifo(const struct sim *s)
{
    return sim_earlier_fifo(s, sim_earlier_fifo(s, s->first[0], s->first[1]), s->first[2]);
}

void sim_fifo_changed(struct sim *s, uint32_t fifo)
{
    assert(fifo < s->nfifos && s->fifo[fifo].n);
    s->first[fifo / SIM_GROUP] = sim_first_of_group(s, fifo / SIM_GROUP * SIM_GROUP);
}

/* Does the calendar's first event come before the first of FIFO `b`? */
static inline __attribute__((always_inline)) bool sim_calendar_is_first(struct sim *s, uint32_t b)
{
    const struct sim_event *e = sim_calendar_peek(&s->queue);

    if (!e || e->t > s->next[b])
        return false;
    return e->t < s->next[b] || sim_before(e, sim_fifo_at(&s->fifo[b], 0));
}

/* Takes the first event of a FIFO. Its memory is valid while it is handled. */
static inline const struct sim_event *sim_take(struct sim *s, uint32_t fifo)
{
    struct sim_fifo *b = &s->fifo[fifo];
    const struct sim_event *e = &b->ring[b->head];

    b->head = (b->head + 1) & b->mask;
    b->n--;
    s->next[fifo] = b->n ? b->ring[b->head].t : sim_never(fifo);
    s->first[fifo / SIM_GROUP] = sim_first_of_group(s, fifo / SIM_GROUP * SIM_GROUP);
    s->fifo_events++;
    return e;
}

uint64_t sim_next(struct sim *s)
{
    const struct sim_event *e = sim_calendar_peek(&s->queue);
    uint64_t fifo = s->next[sim_first_fifo(s)], queue = e ? e->t : UINT64_MAX;

    return fifo < some_time && fifo < queue ? fifo : queue;
}

bool sim_run(struct sim *s, uint64_t until, uint64_t most)
{
    /* An event of the calendar, followed by zeros: nothing to prefetch. */
    struct sim_event here[SIM_AHEAD + 1] = {{0}};

    for (;;) {
        uint32_t b = sim_first_fifo(s);
        const struct sim_event *e = here;

        if (sim_calendar_next(&s->queue) <= s->next[b] && sim_calendar_is_first(s, b)) {
            if (sim_calendar_next(&s->queue) >= until || !most--)
                return true;
            here[0] = *sim_calendar_peek(&s->queue);
            sim_calendar_give(&s->queue, sim_calendar_pop(&s->queue));
        } else {
            if (s->next[b] >= some_time)
                return false;
            if (s->next[b] >= until || !most--)
                return true;
            e = sim_take(s, b);
        }
        s->now = e->t;
        s->on[sim_kind(e)].fn(s->on[sim_kind(e)].ctx, e);
    }
}
