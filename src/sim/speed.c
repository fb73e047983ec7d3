#include "sim/speed.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sim/crew.h"

/* Of one step, in nanoseconds, when news takes hand_ns. */
static double step_ns(const struct sim_costs *c, const struct sim_demand *d, double workers,
                      double hand_ns)
{
    double share = d->events_per_us * d->step_us / workers;
    double cross = d->cross * (1 - 1 / workers);
    double own = share * (c->event_ns + cross * c->cross_ns);
    double looks = (1 + share / SIM_BATCH) * c->look_ns * (workers - 1);
    /* The slowest of N whose numbers of events are as if drawn at random. */
    double uneven = c->event_ns * sqrt(share) * sqrt(2 * log(workers));

    return workers > 1 ? own + looks + uneven + hand_ns : own;
}

double sim_speed(const struct sim_costs *c, const struct sim_demand *d, uint32_t workers)
{
    double one = d->events_per_us * d->step_us * c->event_ns;

    return one > 0 ? one / step_ns(c, d, workers, c->hand_ns) : 1;
}

double sim_speed_nodes(const struct sim_costs *c, const struct sim_demand *d,
                       const struct sim_fabric *f, uint32_t nodes, uint32_t workers)
{
    double one = d->events_per_us * d->step_us * c->event_ns;
    double rounds = ceil(log2(nodes)), sent = d->events_per_us * d->step_us * d->cross / nodes;
    double peers = sent < nodes - 1 ? sent : nodes - 1;
    double hand = c->hand_ns + rounds * f->latency_ns + peers * f->message_ns;
    struct sim_costs mine = *c;

    /* Clocks of one's own node are looked at one by one; those of others come with the news. */
    mine.look_ns = c->look_ns * (workers - 1) / fmax(1, (double)workers * nodes - 1);
    return one > 0 ? one / step_ns(&mine, d, (double)workers * nodes, nodes > 1 ? hand : c->hand_ns)
                   : 1;
}

/* ---- two threads ---- */

struct table {
    _Alignas(128) _Atomic uint32_t ball; /* even: the caller's turn */
    _Alignas(128) _Atomic uint32_t over;
};

static void *return_ball(void *ctx)
{
    struct table *t = ctx;

    while (!atomic_load_explicit(&t->over, memory_order_relaxed)) {
        uint32_t ball = atomic_load_explicit(&t->ball, memory_order_acquire);

        if (ball & 1)
            atomic_store_explicit(&t->ball, ball + 1, memory_order_release);
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

bool sim_hand_measure(uint64_t for_ns, double *ret_hand_ns, double *ret_share)
{
    enum { MOST = 4096 };
    struct table *t = wr_zalloc_aligned(1, sizeof *t);
    uint64_t *took = wr_alloc(MOST * sizeof *took), start = wr_clock_ns(), now = start, rounds = 0;
    pthread_t other;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || pthread_create(&other, NULL, return_ball, t)) {
        free(t);
        free(took);
        return false;
    }
    while (now - start < for_ns) {
        uint32_t ball = atomic_load_explicit(&t->ball, memory_order_relaxed);
        uint64_t since = now;

        atomic_store_explicit(&t->ball, ball + 1, memory_order_release);
        while (atomic_load_explicit(&t->ball, memory_order_acquire) == ball + 1 &&
               now - start < 2 * for_ns)
            now = wr_clock_ns();
        now = wr_clock_ns();
        took[rounds++ % MOST] = now - since;
    }
    atomic_store(&t->over, 1);
    pthread_join(other, NULL);
    uint64_t n = rounds < MOST ? rounds : MOST;

    qsort(took, n, sizeof *took, by_size);
    /* What it takes while both run, and how much of the time that would be. */
    uint64_t tenth = n / 10;
    double quick = (double)took[tenth], share = (double)rounds * quick / (double)(now - start);

    *ret_hand_ns = quick / 2;
    *ret_share = share < 1 ? share : 1;
    free(t);
    free(took);
    return true;
}
