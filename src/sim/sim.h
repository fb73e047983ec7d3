/* sim.h -- the clock, the event queues and the event handlers of one partition.
 *
 * sim/ knows no network. A model registers a handler per event kind and keeps its own state; a
 * logical process is a number. One thread at a time executes a partition, in the order of
 * event.h; engine.h executes several partitions.
 *
 *   sim_at()        schedules an event at any time           -> the calendar
 *   sim_enqueue()   schedules events made (nearly) in order  -> a FIFO
 *
 * sim_run executes the earliest of the FIFOs' first events and the calendar's first event. The
 * queue in which an event is kept changes the cost, never the order.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sim/calendar.h"
#include "sim/fifo.h"

/* e[i], up to i == SIM_AHEAD, is the event i places later in the same FIFO. Handlers may only
 * prefetch by it: it may be an event that was executed long ago, or none (all zeros). */
typedef void sim_handler(void *ctx, const struct sim_event *e);

enum { SIM_AHEAD = 16 };

struct sim {
    _Alignas(128) uint64_t now; /* the time of the event being handled */
    uint64_t next[SIM_FIFOS];   /* time of a FIFO's first event; an empty one: sim_never() */
    uint32_t first[SIM_FIFOS / SIM_GROUP]; /* of each group of FIFOs, the one with the earliest */
    uint32_t nfifos;                       /* opened by sim_fifo_open, at set-up */
    uint64_t fifo_events;                  /* executed so far that were in a FIFO */
    struct sim_fifo fifo[SIM_FIFOS];
    struct sim_calendar queue;
    struct {
        sim_handler *fn;
        void *ctx;
    } on[SIM_KINDS]; /* set up by sim_handle, then constant */
};

void sim_init(struct sim *s);
void sim_fini(struct sim *s);
void sim_handle(struct sim *s, uint32_t kind, sim_handler *fn, void *ctx);

/* Opens a FIFO for events of one kind; when all are in use, returns the last one, which must be
 * of the same kind. */
uint32_t sim_fifo_open(struct sim *s, uint32_t kind);

static inline void sim_at(struct sim *s, uint64_t t, uint32_t dst, uint32_t subkey, uint32_t seq,
                          uint32_t arg, uint32_t arg2)
{
    struct sim_event e = sim_event(t, dst, subkey, seq, arg, arg2);

    sim_calendar_push(&s->queue, &e);
}

/* The first event of `fifo` is another one now. */
void sim_fifo_changed(struct sim *s, uint32_t fifo);

static inline __attribute__((always_inline)) void sim_enqueue(struct sim *s, uint32_t fifo,
                                                              uint64_t t, uint32_t dst,
                                                              uint32_t subkey, uint32_t seq,
                                                              uint32_t arg, uint32_t arg2)
{
    uint64_t key = (uint64_t)dst << 32 | subkey;

    if (__builtin_expect(!sim_fifo_put(&s->fifo[fifo], t, key, seq, arg, arg2), 0))
        sim_at(s, t, dst, subkey, seq, arg, arg2);
    else if (__builtin_expect(t <= s->next[fifo], 0)) { /* equal times: it may come before it */
        s->next[fifo] = t;
        sim_fifo_changed(s, fifo);
    }
}

static inline uint64_t sim_events(const struct sim *s)
{
    return s->queue.popped + s->fifo_events;
}

uint64_t sim_pending(const struct sim *s);
/* The time of the next event; UINT64_MAX: there is none. */
uint64_t sim_next(struct sim *s);

/* Calls `fn` for every event to come, in no particular order. */
void sim_each(const struct sim *s, void (*fn)(void *ctx, const struct sim_event *e), void *ctx);

/* Executes events with t < until, at most `most` of them; false when none is
 * left at all. */
bool sim_run(struct sim *s, uint64_t until, uint64_t most);

#endif
