/* crew.h -- one simulation in partitions, each executed by a thread of its own.
 *
 *   partition 0        partition 1         each has a sim (its clock and events) and a model that
 *   sim, model  <----> sim, model          touches its own state only; events for others go
 *       ^      pipes      ^                through pipes
 *       +--> partition 2 <+
 *
 * Every partition shows its clock: all events before it have been executed, and no other will come
 * before. What partition q sends to p happens at least reach[q] after q's clock, so p executes what
 * lies before  min over q of (clock of q + reach[q]).  There are no windows and no
 * barriers: a partition that is ahead waits, the one that is behind never does.
 *
 * Where a model must know at `t` what others may have told it by then, sooner than `reach`
 * promises, it waits in the middle of an event (sim_part_await). All such waits are for times
 * strictly before the waiting one's own, so the earliest can always go on.
 *
 * When all rest and nothing is in a pipe, nothing happens before the earliest next
 * event of all: clocks jump there at once (look_around in crew.c).
 *
 * The order of event.h decides who is executed first, and nobody is executed without knowing all
 * that comes before; so the results do not depend on the number of partitions.
 */
#ifndef SIM_CREW_H
#define SIM_CREW_H

#include "base/err.h"
#include "sim/pipe.h"
#include "sim/sim.h"

struct sim_crew;
enum {
    SIM_MAX_PARTS = 256,
    SIM_BATCH = 256, /* events between two looks at the others' clocks, at most */
    SIM_STRIDE = 64, /* looks over which their number is averaged */
};

/* What a thread did, for advice. */
struct sim_work {
    uint64_t events, batches; /* executed; and in so many goes */
    uint64_t sent;            /* events to other partitions */
    uint64_t rests, asks;     /* times it had to wait: for others' clocks; in the middle of one */
    uint64_t rest_ns, ask_ns; /* for so long */
    uint64_t jumps;           /* over times in which nobody had an event */
    uint64_t run_ns;          /* between meetings */
};

/* What a model says about its partition. */
struct sim_mind {
    void *ctx;
    /* An event of another partition, and what was sent with it, for the time of the call: take it
     * in, as sim_at() or otherwise. It may come in the middle of another event, and be for a time
     * that has passed where the model allows that. */
    void (*receive)(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes);
    /* One that is about to be received: ask for what it is about. */
    void (*soon)(const void *ctx, const struct sim_event *e);
    /* Nothing of q happens here before, when q's clock is `seen`; called when tight[q]. */
    uint64_t (*bound)(void *ctx, uint32_t q, uint64_t seen);
    /* The clock is about to be shown: what others should know with it, sent as events. */
    void (*tell)(void *ctx, uint64_t clock);
};

struct sim_part {
    _Alignas(128) struct sim *sim; /* parts lie behind each other, and in no common cache line */
    struct sim_crew *crew;
    struct sim_mind mind;
    uint32_t me;
    uint64_t *seen; /* [n] clocks; all that was sent before them has been taken in */
    uint64_t
        *reach; /* [n] what q sends happens so much after its clock; SIM_NEVER: it never does */
    uint32_t *tight; /* [n] not 0: `bound` knows it better */
    uint64_t floor;  /* nobody does anything before */
    uint64_t sent, received;
    uint32_t patience; /* looks before it sleeps */
    uint32_t stride;   /* events between two looks, on average, times SIM_STRIDE */
    struct sim_work work;
};

/* `lookahead` [n * n]: from q (row) to p; SIM_NEVER: nothing goes there. */
struct sim_peers;
/* `peers` (peers.h; NULL: none) run some of the partitions: each process the ones from
 * sim_crew_first() on, sim_crew_local() of them. It needs at least one; the sims of the others' are
 * there, and never run. All processes must have opened their crew before one runs. */
bool sim_crew_open(struct sim_crew **ret, uint32_t n, const uint64_t *lookahead,
                   struct sim_peers *peers, struct wr_err *err);
void sim_crew_close(struct sim_crew *c);
uint32_t sim_crew_size(const struct sim_crew *c);
uint32_t sim_crew_first(const struct sim_crew *c);
uint32_t sim_crew_local(const struct sim_crew *c);
struct sim_part *sim_crew_part(struct sim_crew *c, uint32_t i); /* with its own sim */
/* A process is gone: what was run last is worth nothing. */
bool sim_crew_lost(const struct sim_crew *c);

/* Called by the calling thread's partition now and then; true: stop soon. */
typedef bool sim_pulse(void *ctx);

/* Executes all events with t < until, those of the first partition in the calling thread; false
 * when none is left at all. All clocks then say the time of the last event. After a stop, all have
 * executed what lies before the same time, *ret_until. */
bool sim_crew_run(struct sim_crew *c, uint64_t until, sim_pulse *pulse, void *ctx,
                  uint64_t *ret_until);

/* Inside handlers. */
void sim_part_send_slow(struct sim_part *p, uint32_t to, const struct sim_event *e,
                        const void *data, uint32_t bytes);
struct sim_pipe *sim_part_pipe(const struct sim_part *p, uint32_t to);
/* Wait until all that partition q has done up to and including `t` is known here. */
void sim_part_await(struct sim_part *p, uint32_t q, uint64_t t);

/* Of what others send for times before, all has come: as far as `reach` says. */
uint64_t sim_part_heard(const struct sim_part *p);

/* Wait until partition q has done all that comes before now at `lp`, a process of this partition,
 * and what it sent meanwhile has been taken in; at one time, processes come in the order of their
 * numbers. For the few things that a model knows
 * everywhere at once, whatever the distance. */
void sim_part_settle(struct sim_part *p, uint32_t q, uint32_t lp);

/* An event for partition `to`, and `bytes` of `data` with it: a multiple of 8, at most
 * SIM_MOST_PAYLOAD. What is sent is copied; nothing that is made in one partition is touched by
 * another. */
static inline void sim_part_send(struct sim_part *p, uint32_t to, const struct sim_event *e,
                                 const void *data, uint32_t bytes)
{
    p->sent++;
    if (__builtin_expect(!sim_pipe_put(sim_part_pipe(p, to), e, data, bytes), 0))
        sim_part_send_slow(p, to, e, data, bytes);
}

/* The same for who fills it in where it is to be, at once: the event (sim_pipe_fill) and what is
 * behind it. NULL: the pipe is full, and it had better be sent. */
static inline struct sim_event *sim_part_claim(struct sim_part *p, uint32_t to, uint32_t bytes)
{
    struct sim_event *e = sim_pipe_claim(sim_part_pipe(p, to), bytes);

    p->sent += e != NULL;
    return e;
}

/* What was sent to `to` so far shall be seen there at once. */
static inline void sim_part_show(struct sim_part *p, uint32_t to)
{
    struct sim_pipe *pipe = sim_part_pipe(p, to);

    atomic_store_explicit(&pipe->tail, pipe->put, memory_order_release);
    if (p->sim->now > atomic_load_explicit(&pipe->clock, memory_order_relaxed))
        atomic_store_explicit(&pipe->clock, p->sim->now, memory_order_release);
}

/* What lies at `t` or later may not be executed for now. */
static inline void sim_part_hold(struct sim_part *p, uint64_t t)
{
    if (t < p->sim->limit)
        p->sim->limit = t;
}

#endif
