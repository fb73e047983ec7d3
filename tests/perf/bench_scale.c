/* bench_scale.c -- one simulation by one thread and by several, in turn.
 *
 *   bench.scale [--repeat N] [--threads N,...] [--cores N] FILE [KEY=VALUE]...
 *
 * A line for each number of threads: the best of the repetitions by the wall, what a thread
 * spent waiting in it, and the processor time of all, also per packet-hop. The numbers take turns,
 * so that each sees the same machine. With --cores, also the costs that these runs show and what
 * sim/speed.h makes of them: for two threads, beside what was measured, and for 1 to 1,024 nodes of
 * so many cores.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "net/net.h"
#include "sim/speed.h"
#include "world/world.h"

enum { MOST = 8 };

struct take {
    double wall_s, cpu_s, wait_s, own_s; /* of the slowest thread: its waits, and without them */
    double all_own_s, sim_us, lookahead_us;
    uint64_t sent, waits, looks, events, hops, packets;
    uint32_t terminals, threads;
};

/* Packets that were put on a link. Those that have arrived (the run's own count) are fewer by what
 * is on its way at the end, which is much of a short run of a large machine. */
static uint64_t hops_begun(const struct world *w)
{
    const struct topo *t = world_topo(w);
    struct net_link_stat s;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->nrouters + t->nterms; i++)
        for (uint32_t p = 0; p < (i < t->nrouters ? t->nports : 1); p++) {
            net_link_stat(world_net(w), i, p, &s);
            sum += s.packets;
        }
    return sum;
}

static bool once(const char *file, const char *const *sets, size_t nsets, uint32_t threads,
                 struct take *ret, struct wr_err *err)
{
    static struct world_profile profile[WORLD_MOST_THREADS];
    static struct world_result r;
    struct world_config c = {0};
    struct conf *conf;
    struct world *w;
    enum world_end end;

    if (!conf_load(&conf, &c, world_rows, file, sets, nsets, err))
        return false;
    bool ok = world_open_threads(&w, conf, &c, threads, err);

    if (ok) {
        uint64_t wall = wr_clock_ns(), cpu = wr_clock_cpu_ns();

        ok = world_run(w, NULL, NULL, &end, err);
        *ret = (struct take){.wall_s = 1e-9 * (double)(wr_clock_ns() - wall),
                             .cpu_s = 1e-9 * (double)(wr_clock_cpu_ns() - cpu)};
        world_result(w, &r);
        ret->threads = world_profile(w, profile);
        ret->terminals = world_topo(w)->nterms;
        ret->events = r.events;
        ret->sim_us = (double)r.sim_end_ps / 1e6;
        ret->hops = hops_begun(w);
        ret->packets = r.count.packets;
        for (uint32_t i = 0; i < ret->threads; i++) {
            const struct sim_work *k = &profile[i].work;
            double waited = 1e-9 * (double)(k->rest_ns + k->ask_ns);
            double own = 1e-9 * (double)k->run_ns - waited;

            ret->wait_s = waited > ret->wait_s ? waited : ret->wait_s;
            ret->own_s = own > ret->own_s ? own : ret->own_s;
            ret->all_own_s += own;
            ret->lookahead_us = (double)profile[i].lookahead_ps / 1e6;
            ret->sent += k->sent;
            ret->waits += k->rests + k->asks;
            ret->looks += k->batches;
        }
        world_close(w);
    }
    conf_close(conf);
    return ok;
}

static void print(const struct take *t, const struct take *one)
{
    printf("%u terminals  %u threads  %.3f s wall  %.2f x  %.3f s cpu  %.3f s waiting  %.3f s own  "
           "%.1f ns cpu/hop  %llu hops  %.2f events/hop  %.3f sent/hop  %.1f waits/1000 events  "
           "%.1f events/look\n",
           t->terminals, t->threads, t->wall_s, one->wall_s / t->wall_s, t->cpu_s, t->wait_s,
           t->own_s, 1e9 * t->cpu_s / (double)t->hops, (unsigned long long)t->hops,
           (double)t->events / (double)t->hops, (double)t->sent / (double)t->hops,
           1e3 * (double)t->waits / (double)t->events,
           t->looks ? (double)t->events / (double)t->looks : 0);
}

/* Waits are counted, and some are for the other's next look rather than for its clock: parts need
 * each other at most so often in a lookahead, by the 1,056 nodes whose links are full. */
enum { STEPS = 12 };

/* An MPI over a fabric of today, not measured here. */
static const struct sim_fabric fabric = {.latency_ns = 1500, .message_ns = 400};

static void project(const struct take *one, const struct take *two, uint32_t cores)
{
    struct sim_costs c = {.event_ns = 1e9 * one->wall_s / (double)one->events};
    double share = 0, more = 1e9 * (two->all_own_s - one->wall_s);
    uint32_t per_thread = two->waits ? (uint32_t)(two->waits / two->threads) : 1;
    struct sim_demand d = {
        .events_per_us = (double)one->events / one->sim_us,
        .step_us = fmax(one->sim_us / per_thread, two->lookahead_us / STEPS),
        .cross = 2 * (double)two->sent / (double)one->events,
    };

    c.hand_ns = HUGE_VAL;
    for (int i = 0; i < 20; i++) {
        double hand, part;

        if (!sim_hand_measure(10 * 1000 * 1000, &hand, &part)) {
            printf("one processor: nothing to be said about more\n");
            return;
        }
        c.hand_ns = hand < c.hand_ns ? hand : c.hand_ns;
        share += (hand > 10 * c.hand_ns ? 0 : part) / 20;
    }
    c.look_ns = c.hand_ns;
    c.cross_ns = more > 0 && two->sent ? more / (double)two->sent : 0;
    printf(
        "costs: %.0f ns an event, %.0f ns more if it goes to another part, %.0f ns until another "
        "sees it; both could run %.0f %% of the time\n",
        c.event_ns, c.cross_ns, c.hand_ns, 100 * share);
    printf("demand: %.0f events/us, in steps of %.3f us, %.2f of them to others\n", d.events_per_us,
           d.step_us, d.cross);
    printf("2 threads: %.2f x predicted, %.2f x measured\n", sim_speed(&c, &d, 2),
           one->wall_s / two->wall_s);
    printf("nodes of 1 and of %u cores:", cores);
    for (uint32_t nodes = 1; nodes <= 1024; nodes *= 4)
        printf("  %u: %.3g x, %.3g x", nodes, sim_speed_nodes(&c, &d, &fabric, nodes, 1),
               sim_speed_nodes(&c, &d, &fabric, nodes, cores));
    printf("\n");
}

int main(int argc, char **argv)
{
    struct take best[MOST] = {{0}}, now;
    uint32_t threads[MOST] = {1, 2}, n = 2;
    struct wr_err err = {0};
    int repeat = 1, at = 1, cores = 0;

    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
        if (!strcmp(argv[at], "--repeat"))
            repeat = atoi(argv[at + 1]);
        if (!strcmp(argv[at], "--cores"))
            cores = atoi(argv[at + 1]);
        n = strcmp(argv[at], "--threads") ? n : 0;
        for (char *p = argv[at + 1]; !strcmp(argv[at], "--threads") && *p && n < MOST;) {
            threads[n++] = (uint32_t)strtoul(p, &p, 10);
            p += *p != 0;
        }
    }
    if (at >= argc || !n) {
        fprintf(stderr, "usage: bench.scale [--repeat N] [--threads N,...] [--cores N] FILE "
                        "[KEY=VALUE]...\n");
        return 2;
    }
    for (int i = 0; i < repeat; i++)
        for (uint32_t k = 0; k < n; k++) {
            if (!once(argv[at], (const char *const *)argv + at + 1, (size_t)(argc - at - 1),
                      threads[k], &now, &err)) {
                fprintf(stderr, "bench.scale: %s\n", err.text);
                return wr_exit_status(err.code);
            }
            if (!i || now.wall_s < best[k].wall_s)
                best[k] = now;
        }
    for (uint32_t k = 0; k < n; k++)
        print(&best[k], &best[0]);
    if (cores > 0 && n > 1 && best[0].threads == 1 && best[1].threads == 2)
        project(&best[0], &best[1], (uint32_t)cores);
    return 0;
}
