/* bench_hold.c -- the hold model: take the earliest event, put one back later.
 *
 * Jones, "An empirical comparison of priority-queue and event-set
 * implementations", CACM 1986. The population stays the same; what varies is
 * how far ahead the new event lies. Prints nanoseconds of processor time per
 * hold. Compiled once per queue (see tests/CMakeLists.txt).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "sim/calendar.h"

enum { HOLDS = 300000, TOO_SLOW = 400 }; /* nanoseconds */

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static uint64_t ahead_exponential(struct wr_rng *g)
{
    return (uint64_t)(1e6 * wr_rng_exp(g)) + 1;
}

static uint64_t ahead_uniform(struct wr_rng *g)
{
    return wr_rng_below(g, 2000000) + 1;
}

/* What a network asks for: a few fixed times, and now and then a long one. */
static uint64_t ahead_network(struct wr_rng *g)
{
    static const uint64_t fixed[] = {476837, 726609, 1553218, 1723275};
    uint32_t k = wr_rng_below(g, 64);

    return k ? fixed[k % 4] + wr_rng_below(g, 1000) : 50000000;
}

static const struct {
    const char *name;
    uint64_t (*ahead)(struct wr_rng *g);
} shapes[] = {
    {"exponential", ahead_exponential}, {"uniform", ahead_uniform}, {"network", ahead_network}};

static double hold(uint64_t (*ahead)(struct wr_rng *g), uint32_t population)
{
    static struct sim_calendar c;
    struct wr_rng g;
    double start = 0;

    wr_rng_init(&g, 1, 0, 0);
    sim_calendar_init(&c);
    for (uint32_t i = 0; i < population; i++)
        sim_calendar_push(&c, &(struct sim_event){.t = ahead(&g), .key = i});
    for (uint32_t i = 0; i < population + HOLDS; i++) {
        if (i == population)
            start = cpu_ns();
        const struct sim_event *e = sim_calendar_peek(&c);
        uint32_t h = sim_calendar_pop(&c);
        struct sim_event next = {.t = e->t + ahead(&g), .key = e->key};

        sim_calendar_push(&c, &next);
        sim_calendar_give(&c, h);
    }
    double ns = (cpu_ns() - start) / HOLDS;

    sim_calendar_fini(&c);
    return ns;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        double best = 0;

        for (uint32_t population = 1000; population <= 1000000; population *= 10) {
            if (best > TOO_SLOW) {
                printf("%-12s %8u events  (left out: too slow)\n", shapes[s].name, population);
                continue;
            }
            best = hold(shapes[s].ahead, population);
            for (int i = 0; i < 2; i++)
                best = fmin(best, hold(shapes[s].ahead, population));
            printf("%-12s %8u events  %7.1f ns per hold\n", shapes[s].name, population, best);
        }
    }
    return 0;
}
