/* engine.h -- one simulation in partitions that advance together, window by window.
 *
 *   partition 0   partition 1   partition 2      each has a queue of events (sim.h), a model whose
 *   |== window ==|== window ==|== window ==|     memory no other partition touches, and an outbox
 *   ----------------- barrier -----------------  for each other partition
 *   exchange outboxes, agree on the next start
 *   |== window ==|== window ==|== window ==|
 *
 * A window is as long as the lookahead: the smallest delay of anything that one partition sends to
 * another. So whatever is sent in a window is due after its end, and a worker executes a window
 * without knowing what the others do. At the barrier all agree on the start of the next window, the
 * earliest event that is left or was sent: times at which nothing happens cost nothing. Received
 * events are sorted into the queue by their keys (event.h), so results do not depend on the number
 * of partitions.
 *
 * Invariant: an event that is sent in a window is due at or after the end of that window
 *            (sim_partition_send checks it).
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "sim/sim.h"

struct sim_engine;
struct sim_peers;

enum {
    SIM_MAX_PARTITIONS = 256,
    SIM_MAX_PAYLOAD = 512, /* bytes sent with an event */
    SIM_CELLS_AHEAD = 48,  /* cells of an outbox that are prefetched: they are in another cache */
    SIM_CELLS_LINE = 2,
};

/* An entry of an outbox: an event, whose `next` is the number of bytes that follow it, or 32 of
 * those bytes. */
union sim_cell {
    struct sim_event e;
    unsigned char data[32];
};
_Static_assert(sizeof(union sim_cell) == sizeof(struct sim_event), "an event is a cell");

struct sim_outbox {
    union sim_cell *cell; /* events and their payloads, one after another */
    uint32_t n, capacity; /* cells used in this window; cells there are, which only grows */
};

/* What a worker did, for the profile of a run; written by that worker only. */
struct sim_work {
    uint64_t events, windows;  /* executed */
    uint64_t received, sent_b; /* events from other partitions; bytes to them */
    uint64_t wait_ns, run_ns;  /* time at barriers; time in all */
};

/* The model of a partition. `receive` gets each event that was sent to the partition: after the
 * barrier, one sender after the other, in the order in which a sender sent; `data` is valid during
 * the call. `end_window` is called when all events before `end` have been executed, and may send;
 * it returns the earliest time at which it will have something to send without an event. */
struct sim_model {
    void *ctx;
    void (*receive)(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes);
    uint64_t (*end_window)(void *ctx, uint64_t end);
};

/* Touched by its own worker only, but for the last two fields. */
struct sim_partition {
    /* Set up; partitions share no cache line: */
    _Alignas(128) struct sim *sim;
    struct sim_engine *engine;
    struct sim_model model; /* set by the model before the first run */
    uint32_t id;            /* its number */
    /* While running: */
    uint32_t turn;       /* the set of outboxes being filled, 0 or 1; the other is being read */
    uint64_t window_end; /* ps; events sent now are due then or later */
    uint64_t sent_ps;    /* time of the earliest event sent in this window */
    uint64_t pending_ps; /* what end_window returned */
    struct sim_outbox *out[2]; /* [partitions] each */
    struct sim_work work;
    /* Written before a barrier, read by the last worker at it: */
    uint64_t next_ps; /* the earliest event that is left or was sent */
    bool stop;        /* the heartbeat asks to stop */
};

/* `peers` (NULL: none) are processes that execute some of the partitions: each those from
 * sim_engine_first() on, sim_engine_local() of them. There is at least one for each. */
bool sim_engine_open(struct sim_engine **ret, uint32_t partitions, uint64_t lookahead_ps,
                     struct sim_peers *peers, struct wr_err *err);
void sim_engine_close(struct sim_engine *g);
/* The first partition of process `rank`. */
uint32_t sim_engine_first_of(uint32_t partitions, uint32_t processes, uint32_t rank);
uint32_t sim_engine_size(const struct sim_engine *g);
uint32_t sim_engine_first(const struct sim_engine *g);
uint32_t sim_engine_local(const struct sim_engine *g);
uint64_t sim_engine_lookahead(const struct sim_engine *g);
struct sim_partition *sim_engine_partition(struct sim_engine *g, uint32_t i);

/* Called between windows in the calling thread, at intervals of many events; true: stop. */
typedef bool sim_heartbeat(void *ctx);

/* Executes all events with t < until, those of this process's first partition in the calling
 * thread. Returns false when no event is left in any partition. *ret_until is `until`, or after a
 * stop an earlier time: all partitions have executed what lies before it, and nothing else. All
 * clocks then show that time, or that of the last event if none is left. False also when a process
 * is lost: sim_peers_lost. */
bool sim_engine_run(struct sim_engine *g, uint64_t until, sim_heartbeat *heartbeat, void *ctx,
                    uint64_t *ret_until);

/* ---- inside handlers ---- */

union sim_cell *sim_outbox_grow(struct sim_outbox *o, uint32_t cells);

static inline uint32_t sim_outbox_cells(uint32_t bytes)
{
    return 1 + (bytes + (uint32_t)sizeof(union sim_cell) - 1) / (uint32_t)sizeof(union sim_cell);
}

/* Space for an event for partition `to` and `bytes` behind it, a multiple of 8, at most
 * SIM_MAX_PAYLOAD. The caller fills in both, except the event's `next`; t is when it is due. */
static inline struct sim_event *sim_partition_claim(struct sim_partition *p, uint32_t to,
                                                    uint64_t t, uint32_t bytes)
{
    struct sim_outbox *o = &p->out[p->turn][to];
    uint32_t cells = sim_outbox_cells(bytes);

    assert(t >= p->window_end);
    union sim_cell *c = __builtin_expect(o->n + cells > o->capacity, 0) ? sim_outbox_grow(o, cells)
                                                                        : &o->cell[o->n];

    o->n += cells;
    for (uint32_t i = 0; i < cells; i += SIM_CELLS_LINE)
        __builtin_prefetch(c + SIM_CELLS_AHEAD + i, 1);
    c->e.next = bytes;
    if (t < p->sent_ps)
        p->sent_ps = t;
    return &c->e;
}

static inline __attribute__((always_inline)) void sim_event_fill(struct sim_event *to,
                                                                 const struct sim_event *e)
{
    to->t = e->t;
    to->key = e->key;
    to->seq = e->seq;
    to->arg = e->arg;
    to->arg2 = e->arg2;
}

static inline void sim_partition_send(struct sim_partition *p, uint32_t to,
                                      const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct sim_event *there = sim_partition_claim(p, to, e->t, bytes);

    sim_event_fill(there, e);
    if (bytes)
        memcpy(there + 1, data, bytes);
}

/* Sends a notice to the model of `to`, which receives it after the next barrier. It has no
 * simulated time: the model must not schedule an event because of it. */
static inline void sim_partition_notify(struct sim_partition *p, uint32_t to,
                                        const struct sim_event *e)
{
    struct sim_event *there = sim_partition_claim(p, to, SIM_NEVER, 0);

    sim_event_fill(there, e);
}

#endif
