/* engine.c -- workers, the barrier between windows, and the exchange of outboxes.
 *
 * One thread per partition of this process; the caller's thread executes the first. A window:
 *
 *   engine_receive   deliver the outboxes that were filled for this partition
 *   sim_run          execute all events before the end of the window
 *   engine_barrier   wait for the other workers; the last one to arrive calls engine_agree
 *
 * Invariants: an outbox is written only by its sender's worker during a window, and read only by
 * its receiver's worker during the next one (two sets, `turn`). `start`, `last`, `stop` and `lost`
 * are written by the last worker at a barrier, before it opens `window`, and read after that.
 */
#include "sim/engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sim/peers.h"

enum {
    SPINS = 1 << 13,            /* spin limit: tests of a variable before a worker blocks */
    HEARTBEAT_EVENTS = 1 << 16, /* most events between two heartbeats */
    HEARTBEAT_WINDOWS = 1 << 8, /* most windows between two heartbeats */
    FIRST_CELLS = 1 << 10,      /* of an outbox */
};

/* A counter that workers wait for: they spin, then block in the kernel. */
struct gate {
    _Alignas(128) _Atomic uint32_t epoch;    /* how often it was opened; a futex */
    _Alignas(128) _Atomic uint32_t sleepers; /* workers that block on it */
};

struct sim_engine {
    /* Set up by sim_engine_open: */
    uint32_t n, first, local; /* partitions in all; this process's first, and how many it has */
    uint64_t lookahead;       /* ps; the length of a window */
    struct sim_peers *peers;  /* NULL: one process */
    struct sim_partition *partition; /* [n] */
    struct sim *sim;                 /* [n] */
    struct sim_outbox *in;           /* [local][n] events from other processes; NULL: one process */
    pthread_t *thread;               /* [n] from 1 on: the workers but the caller */
    uint32_t threads;                /* started, the caller's included */
    uint32_t spins;                  /* 0: fewer processors than workers */
    /* While running: */
    _Alignas(128) _Atomic uint32_t arrived; /* workers at the barrier */
    struct gate window;                     /* opens when all are at the barrier */
    struct gate round;                      /* opens when a run begins, and at close */
    struct gate done;                       /* opens when the last worker has ended the run */
    _Atomic uint32_t working;               /* workers that have not ended the run */
    /* Written between runs, or by the last worker at a barrier: */
    uint64_t until, start, last; /* ps: end of the run; of this window; latest event executed */
    bool stop, over, lost;       /* end this run; close; a process is gone */
    sim_heartbeat *heartbeat;    /* of this run; may be NULL */
    void *heartbeat_ctx;
};

/* ---- waiting ---- */

static void gate_open(struct gate *g)
{
    atomic_fetch_add(&g->epoch, 1);
    if (atomic_load(&g->sleepers))
        syscall(SYS_futex, &g->epoch, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Waits until the gate has been opened after `epoch` was read. */
static void gate_wait(struct gate *g, uint32_t epoch, uint32_t spins)
{
    for (uint32_t i = 0; i < spins; i++) {
        if (atomic_load_explicit(&g->epoch, memory_order_acquire) != epoch)
            return;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    atomic_fetch_add(&g->sleepers, 1);
    while (atomic_load(&g->epoch) == epoch)
        syscall(SYS_futex, &g->epoch, FUTEX_WAIT_PRIVATE, epoch, NULL, NULL, 0);
    atomic_fetch_sub(&g->sleepers, 1);
}

/* ---- outboxes ---- */

union sim_cell *sim_outbox_grow(struct sim_outbox *o, uint32_t cells)
{
    while (o->n + cells > o->capacity)
        o->capacity = o->capacity ? 2 * o->capacity : FIRST_CELLS;
    union sim_cell *grown = wr_zalloc_aligned(o->capacity, sizeof *grown);

    if (o->n)
        memcpy(grown, o->cell, o->n * sizeof *grown);
    free(o->cell);
    o->cell = grown;
    return &o->cell[o->n];
}

static void outbox_append(struct sim_outbox *o, const void *cells, uint32_t n)
{
    union sim_cell *c = o->n + n > o->capacity ? sim_outbox_grow(o, n) : &o->cell[o->n];

    memcpy(c, cells, n * sizeof *c);
    o->n += n;
}

static void outbox_deliver(struct sim_partition *p, const struct sim_outbox *o)
{
    for (uint32_t at = 0; at < o->n;) {
        const struct sim_event *e = &o->cell[at].e;

        for (uint32_t i = 0; i < sim_outbox_cells(e->next); i += SIM_CELLS_LINE)
            __builtin_prefetch(&o->cell[at] + SIM_CELLS_AHEAD + i);
        p->model.receive(p->model.ctx, e, e + 1, e->next);
        at += sim_outbox_cells(e->next);
        p->work.received++;
    }
}

/* Delivers the events that were sent to the partition in the previous window, sender by sender. */
static void engine_receive(struct sim_engine *g, struct sim_partition *p)
{
    for (uint32_t q = 0; q < g->n; q++) {
        if (q == p->id)
            continue;
        bool local = q - g->first < g->local;
        struct sim_outbox *o = local ? &g->partition[q].out[p->turn ^ 1][p->id]
                                     : &g->in[(p->id - g->first) * g->n + q];

        outbox_deliver(p, o);
        if (!local)
            o->n = 0;
    }
    for (uint32_t q = 0; q < g->n; q++) /* read by all before the last barrier */
        p->out[p->turn][q].n = 0;
}

/* ---- other processes ---- */

/* A message between processes: a head, then for each pair of partitions with a non-empty outbox
 * an exchange_pair and its cells. */
/* What processes send each other at a barrier: a head, then a pair and its cells for each outbox
 * that is not empty. */
struct exchange_head {
    uint64_t next_ps, last_ps; /* earliest event left or sent; latest executed */
    uint64_t stop;             /* 1: the heartbeat asks to stop */
};

struct exchange_pair {
    uint32_t from, to; /* partitions */
    uint32_t cells, unused;
};

static void exchange_pack(struct sim_engine *g, uint32_t first, uint32_t n, uint32_t turn,
                          const struct exchange_head *head, struct wr_bytes *out)
{
    wr_bytes_put(out, head, sizeof *head);
    for (uint32_t i = g->first; i < g->first + g->local; i++)
        for (uint32_t q = first; q < first + n; q++) {
            struct sim_outbox *o = &g->partition[i].out[turn][q];
            struct exchange_pair pair = {.from = i, .to = q, .cells = o->n};

            if (!o->n)
                continue;
            wr_bytes_put(out, &pair, sizeof pair);
            wr_bytes_put(out, o->cell, o->n * sizeof *o->cell);
            o->n = 0;
        }
}

static void exchange_take(struct sim_engine *g, struct exchange_head *all, const void *data,
                          size_t bytes)
{
    const unsigned char *at = data, *end = at + bytes;
    struct exchange_head head;
    struct exchange_pair pair;

    assert(bytes >= sizeof head);
    memcpy(&head, at, sizeof head);
    all->next_ps = head.next_ps < all->next_ps ? head.next_ps : all->next_ps;
    all->last_ps = head.last_ps > all->last_ps ? head.last_ps : all->last_ps;
    all->stop |= head.stop;
    for (at += sizeof head; at < end; at += pair.cells * sizeof(union sim_cell)) {
        memcpy(&pair, at, sizeof pair);
        at += sizeof pair;
        assert(pair.to - g->first < g->local && pair.from < g->n);
        outbox_append(&g->in[(pair.to - g->first) * g->n + pair.from], at, pair.cells);
    }
}

/* At the barrier: one message to each other process, and one from each. */
static void engine_exchange(struct sim_engine *g, uint32_t turn, struct exchange_head *all)
{
    struct exchange_head mine = *all;
    uint32_t rank = sim_peers_rank(g->peers), size = sim_peers_size(g->peers);

    for (uint32_t i = 1; i < size; i++) {
        uint32_t to = (rank + i) % size, first = sim_engine_first_of(g->n, size, to);
        struct wr_bytes *out = sim_peers_buffer(g->peers, to);

        exchange_pack(g, first, sim_engine_first_of(g->n, size, to + 1) - first, turn, &mine, out);
        sim_peers_send(g->peers, to);
    }
    for (uint32_t i = 1; i < size; i++) {
        size_t bytes;
        const void *data = sim_peers_receive(g->peers, (rank + size - i) % size, &bytes);

        if (!data) {
            g->lost = true;
            all->stop = true;
            return;
        }
        exchange_take(g, all, data, bytes);
    }
}

/* ---- windows ---- */

/* Called by the last worker at a barrier: computes the start of the next window. */
static void engine_agree(struct sim_engine *g, uint32_t turn)
{
    struct exchange_head all = {.next_ps = SIM_NEVER};

    for (uint32_t i = g->first; i < g->first + g->local; i++) {
        const struct sim_partition *p = &g->partition[i];

        all.next_ps = p->next_ps < all.next_ps ? p->next_ps : all.next_ps;
        all.last_ps = p->sim->now > all.last_ps ? p->sim->now : all.last_ps;
        all.stop |= p->stop;
    }
    if (g->peers)
        engine_exchange(g, turn, &all);
    g->start = all.next_ps;
    g->last = all.last_ps;
    g->stop = all.stop;
}

static void engine_barrier(struct sim_engine *g, struct sim_partition *p)
{
    uint32_t epoch = atomic_load_explicit(&g->window.epoch, memory_order_relaxed);
    uint64_t next = sim_next(p->sim);

    next = next < p->pending_ps ? next : p->pending_ps;
    p->next_ps = next < p->sent_ps ? next : p->sent_ps;
    for (uint32_t q = 0; q < g->n; q++)
        p->work.sent_b += p->out[p->turn][q].n * sizeof(union sim_cell);
    if (atomic_fetch_add(&g->arrived, 1) + 1 == g->local) {
        engine_agree(g, p->turn);
        atomic_store_explicit(&g->arrived, 0, memory_order_relaxed);
        gate_open(&g->window);
    } else {
        uint64_t since = wr_clock_ns();

        gate_wait(&g->window, epoch, g->spins);
        p->work.wait_ns += wr_clock_ns() - since;
    }
    p->sent_ps = SIM_NEVER;
    p->turn ^= 1;
}

/* The worker of each process's first partition calls the heartbeat. */
static bool engine_stops(struct sim_engine *g, const struct sim_partition *p, uint64_t *beaten,
                         uint32_t *windows)
{
    if (p->id != g->first || !g->heartbeat)
        return false;
    if (sim_events(p->sim) - *beaten < HEARTBEAT_EVENTS && ++*windows < HEARTBEAT_WINDOWS)
        return false;
    *beaten = sim_events(p->sim);
    *windows = 0;
    return g->heartbeat(g->heartbeat_ctx);
}

static void engine_work(struct sim_engine *g, struct sim_partition *p)
{
    uint64_t since = wr_clock_ns(), before = sim_events(p->sim), beaten = before;
    uint32_t windows = HEARTBEAT_WINDOWS; /* a heartbeat follows the first window of a run */

    p->stop = false;
    for (;;) {
        engine_barrier(g, p);
        engine_receive(g, p);
        if (g->stop || g->start >= g->until)
            break;
        uint64_t end = g->until - g->start > g->lookahead ? g->start + g->lookahead : g->until;

        p->window_end = end;
        sim_run(p->sim, end, UINT64_MAX);
        p->pending_ps = p->model.end_window(p->model.ctx, end);
        p->work.windows++;
        p->stop = engine_stops(g, p, &beaten, &windows);
    }
    p->work.events += sim_events(p->sim) - before;
    p->work.run_ns += wr_clock_ns() - since;
}

static void *engine_thread(void *ctx)
{
    struct sim_partition *p = ctx;
    struct sim_engine *g = p->engine;

    for (uint32_t round = 0;; round++) {
        gate_wait(&g->round, round, g->spins);
        if (g->over)
            return NULL;
        engine_work(g, p);
        if (atomic_fetch_sub(&g->working, 1) == 1)
            gate_open(&g->done);
    }
}

bool sim_engine_run(struct sim_engine *g, uint64_t until, sim_heartbeat *heartbeat, void *ctx,
                    uint64_t *ret_until)
{
    uint32_t done = atomic_load(&g->done.epoch);

    assert(!g->over && ret_until && !atomic_load(&g->working)); /* one run at a time */
    for (uint32_t i = g->first; i < g->first + g->local; i++)
        assert(g->partition[i].model.receive && g->partition[i].model.end_window);
    g->until = until;
    g->heartbeat = heartbeat;
    g->heartbeat_ctx = ctx;
    atomic_store(&g->working, g->local - 1);
    gate_open(&g->round);
    engine_work(g, &g->partition[g->first]);
    if (g->local > 1)
        gate_wait(&g->done, done, g->spins);
    *ret_until = g->start < until ? g->start : until;
    for (uint32_t i = 0; i < g->n; i++)
        g->sim[i].now = g->start == SIM_NEVER ? g->last : *ret_until;
    return g->start != SIM_NEVER && !g->lost;
}

/* ---- setting up ---- */

uint32_t sim_engine_first_of(uint32_t partitions, uint32_t processes, uint32_t rank)
{
    assert(processes && rank <= processes);
    return (uint32_t)((uint64_t)partitions * rank / processes);
}

/* Workers spin only when each has a processor of its own among those that the launcher has bound
 * this process to. */
static uint32_t engine_spins(const struct sim_engine *g)
{
    cpu_set_t mine;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (!sched_getaffinity(0, sizeof mine, &mine) && CPU_COUNT(&mine) < cpus)
        cpus = CPU_COUNT(&mine);
    else if (g->peers)
        cpus /= sim_peers_local(g->peers);
    return cpus < (long)g->local ? 0 : SPINS;
}

static bool engine_start(struct sim_engine *g, struct wr_err *err)
{
    for (g->threads = 1; g->threads < g->local; g->threads++) {
        errno = pthread_create(&g->thread[g->threads], NULL, engine_thread,
                               &g->partition[g->first + g->threads]);
        if (errno)
            return wr_fail_errno(err, "cannot start %u threads; use fewer", g->local);
    }
    return true;
}

bool sim_engine_open(struct sim_engine **ret, uint32_t n, uint64_t lookahead_ps,
                     struct sim_peers *peers, struct wr_err *err)
{
    uint32_t rank = peers ? sim_peers_rank(peers) : 0, size = peers ? sim_peers_size(peers) : 1;

    assert(n <= SIM_MAX_PARTITIONS && n >= size && lookahead_ps);
    struct sim_engine *g = wr_zalloc_aligned(1, sizeof *g);

    g->n = n;
    g->lookahead = lookahead_ps;
    g->peers = size > 1 ? peers : NULL;
    g->first = sim_engine_first_of(n, size, rank);
    g->local = sim_engine_first_of(n, size, rank + 1) - g->first;
    g->spins = engine_spins(g);
    g->partition = wr_zalloc_aligned(n, sizeof *g->partition);
    g->sim = wr_zalloc_aligned(n, sizeof *g->sim);
    g->thread = wr_zalloc(n, sizeof *g->thread);
    if (g->peers)
        g->in = wr_zalloc((size_t)g->local * n, sizeof *g->in);
    for (uint32_t i = 0; i < n; i++) {
        struct sim_partition *p = &g->partition[i];

        sim_init(&g->sim[i]);
        *p = (struct sim_partition){
            .sim = &g->sim[i], .engine = g, .id = i, .sent_ps = SIM_NEVER, .pending_ps = SIM_NEVER};
        for (int turn = 0; turn < 2; turn++)
            p->out[turn] = wr_zalloc_aligned(n, sizeof **p->out); /* no false sharing */
    }
    if (!engine_start(g, err)) {
        sim_engine_close(g);
        return false;
    }
    *ret = g;
    return true;
}

void sim_engine_close(struct sim_engine *g)
{
    if (!g)
        return;
    g->over = true;
    gate_open(&g->round);
    for (uint32_t i = 1; i < g->threads; i++)
        pthread_join(g->thread[i], NULL);
    for (uint32_t i = 0; i < g->n; i++) {
        sim_fini(&g->sim[i]);
        for (uint32_t q = 0; q < 2 * g->n; q++)
            free(g->partition[i].out[q % 2][q / 2].cell);
        free(g->partition[i].out[0]);
        free(g->partition[i].out[1]);
    }
    for (uint32_t i = 0; g->in && i < g->local * g->n; i++)
        free(g->in[i].cell);
    free(g->in);
    free(g->thread);
    free(g->sim);
    free(g->partition);
    free(g);
}

uint32_t sim_engine_size(const struct sim_engine *g)
{
    return g->n;
}

uint32_t sim_engine_first(const struct sim_engine *g)
{
    return g->first;
}

uint32_t sim_engine_local(const struct sim_engine *g)
{
    return g->local;
}

uint64_t sim_engine_lookahead(const struct sim_engine *g)
{
    return g->lookahead;
}

struct sim_partition *sim_engine_partition(struct sim_engine *g, uint32_t i)
{
    assert(i < g->n);
    return &g->partition[i];
}
