/* speed.c -- the speed-up model (docs/models/parallel.md), and the measurement of a hand-over. */
#include "sim/speed.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

/* The last worker to arrive opens the barrier: one hand-over. Before, the counter passes through
 * all workers. */
static double speed_barrier_ns(const struct sim_costs *c, double workers)
{
    return c->handover_ns * (1 + workers / 2);
}

/* The time of one window. */
static double speed_window_ns(const struct sim_costs *c, const struct sim_demand *d, double workers,
                              double barrier)
{
    double share = d->events_per_us * d->step_us / workers;
    double cross = d->cross * (1 - 1 / workers);
    double own = share * (c->event_ns + cross * c->cross_ns);
    /* The expected maximum of N Poisson numbers of events, above their mean. */
    double uneven = c->event_ns * sqrt(share) * sqrt(log(workers));

    return workers > 1 ? own + uneven + barrier : own;
}

double sim_speed(const struct sim_costs *c, const struct sim_demand *d, uint32_t workers)
{
    double one = d->events_per_us * d->step_us * c->event_ns;

    return one > 0 ? one / speed_window_ns(c, d, workers, speed_barrier_ns(c, workers)) : 1;
}

double sim_speed_nodes(const struct sim_costs *c, const struct sim_demand *d,
                       const struct sim_fabric *f, uint32_t nodes, uint32_t workers)
{
    double one = d->events_per_us * d->step_us * c->event_ns;
    double sent = d->events_per_us * d->step_us * d->cross / nodes;
    double peers = sent < nodes - 1 ? sent : nodes - 1;
    double barrier = speed_barrier_ns(c, workers);

    if (nodes > 1) /* the minimum of all next events takes log2(nodes) rounds of messages */
        barrier += ceil(log2(nodes)) * f->latency_ns + peers * f->message_ns;
    return one > 0 ? one / speed_window_ns(c, d, (double)workers * nodes, barrier) : 1;
}

/* ---- two threads ---- */

/* Shared by the two threads of sim_handover_measure. */
struct handover {
    _Alignas(128) _Atomic uint32_t turn; /* even: the caller's, odd: the other thread's */
    _Alignas(128) _Atomic uint32_t over; /* the other thread ends */
};

static void *speed_return_token(void *ctx)
{
    struct handover *t = ctx;

    while (!atomic_load_explicit(&t->over, memory_order_relaxed)) {
        uint32_t turn = atomic_load_explicit(&t->turn, memory_order_acquire);

        if (turn & 1)
            atomic_store_explicit(&t->turn, turn + 1, memory_order_release);
    }
    return NULL;
}

static int speed_by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

bool sim_handover_measure(uint64_t for_ns, double *ret_handover_ns, double *ret_share)
{
    enum { MOST = 4096 };
    struct handover *t = wr_zalloc_aligned(1, sizeof *t);
    uint64_t *took = wr_alloc(MOST * sizeof *took), start = wr_clock_ns(), now = start, rounds = 0;
    pthread_t other;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || pthread_create(&other, NULL, speed_return_token, t)) {
        free(t);
        free(took);
        return false;
    }
    while (now - start < for_ns) {
        uint32_t turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
        uint64_t since = now;

        atomic_store_explicit(&t->turn, turn + 1, memory_order_release);
        while (atomic_load_explicit(&t->turn, memory_order_acquire) == turn + 1 &&
               now - start < 2 * for_ns)
            now = wr_clock_ns();
        now = wr_clock_ns();
        took[rounds++ % MOST] = now - since;
    }
    atomic_store(&t->over, 1);
    pthread_join(other, NULL);
    uint64_t n = rounds < MOST ? rounds : MOST;

    qsort(took, n, sizeof *took, speed_by_size);
    /* The first decile is the time while both threads run. All rounds at that speed, as a fraction
     * of the elapsed time, say how much of it both did. */
    uint64_t tenth = n / 10;
    double quick = (double)took[tenth], share = (double)rounds * quick / (double)(now - start);

    *ret_handover_ns = quick / 2;
    *ret_share = share < 1 ? share : 1;
    free(t);
    free(took);
    return true;
}
