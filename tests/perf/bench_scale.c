/* bench_scale.c -- one simulation with one thread and with several, in turn.
 *
 *   bench.scale [--repeat N] [--threads N,...] [--cores N] FILE [KEY=VALUE]...
 *   mpirun -n R bench.scale [--repeat N] FILE [KEY=VALUE]...
 *
 * A line for each number of threads: the best wall time of the repetitions, the time at barriers in
 * it, and the processor time of all threads, also per packet-hop. The ceiling is what this machine
 * gives to two independent runs of the same case at once: twice the time of one run alone over the
 * time of both together. Everything is repeated in turn, so that each sees the same machine. With
 * --cores, also the costs that these runs show and what sim/speed.h predicts from them: for 2
 * threads, beside what was measured, and for 1 to 1,024 nodes of so many cores. Under mpirun the
 * processes run the case together, with one thread each, and process 0 prints the line.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/net.h"
#include "sim/launched.h"
#include "sim/peers.h"
#include "sim/speed.h"
#include "world/world.h"

enum { MOST = 8 };

struct take {
    double wall_s, cpu_s, wait_s; /* wait: of the thread that waits longest */
    double all_own_s, sim_us, lookahead_us;
    uint64_t received, sent_b, windows, events, hops;
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

/* Where two runs begin at once: a byte from each process, and one back. */
struct rendezvous {
    int here, there;
};

static void rendezvous_wait(const struct rendezvous *m)
{
    char byte = 0;

    if (m && (write(m->there, &byte, 1) != 1 || read(m->here, &byte, 1) != 1))
        exit(4);
}

static bool once(const char *file, const char *const *sets, size_t nsets, uint32_t threads,
                 struct sim_peers *peers, const struct rendezvous *m, struct take *ret,
                 struct wr_err *err)
{
    static struct world_profile profile[WORLD_MOST_THREADS];
    static struct world_result r;
    struct world_config c = {0};
    struct conf *conf;
    struct world *w;
    enum world_end end;

    if (!conf_load(&conf, &c, world_rows, file, sets, nsets, err))
        return false;
    bool ok = world_open_shared(&w, conf, &c, threads, peers, err);

    if (ok) {
        rendezvous_wait(m);
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
        for (uint32_t i = 0; i < ret->threads; i++) {
            const struct sim_work *k = &profile[i].work;
            double waited = 1e-9 * (double)k->wait_ns;

            ret->wait_s = waited > ret->wait_s ? waited : ret->wait_s;
            ret->all_own_s += 1e-9 * (double)k->run_ns - waited;
            ret->lookahead_us = (double)profile[i].lookahead_ps / 1e6;
            ret->received += k->received;
            ret->sent_b += k->sent_b;
            ret->windows = k->windows;
        }
        world_close(w);
    }
    conf_close(conf);
    return ok;
}

/* Two independent runs at once, in two processes: the time of the slower one. */
static double two_at_once(const char *file, const char *const *sets, size_t nsets)
{
    int up[2], down[2];
    struct take t;
    struct wr_err err;

    fflush(stdout);
    if (pipe(up) || pipe(down))
        return 0;
    pid_t child = fork();
    struct rendezvous m =
        child ? (struct rendezvous){up[0], down[1]} : (struct rendezvous){down[0], up[1]};

    if (child < 0)
        return 0;
    bool ok = once(file, sets, nsets, 1, NULL, &m, &t, &err);
    double other = 0;

    if (!child)
        _exit(ok && write(up[1], &t.wall_s, sizeof t.wall_s) == sizeof t.wall_s ? 0 : 1);
    ok = ok && read(up[0], &other, sizeof other) == sizeof other;
    waitpid(child, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(up[i]);
        close(down[i]);
    }
    return !ok ? 0 : other > t.wall_s ? other : t.wall_s;
}

static void print(const struct take *t, const struct take *one, double ceiling)
{
    double gain = one->wall_s / t->wall_s;

    printf("%u terminals  %u threads  %.3f s wall  %.2f x", t->terminals, t->threads, t->wall_s,
           gain);
    if (t->threads == 2 && ceiling > 0)
        printf("  ceiling %.2f x  %.0f %% of it", ceiling, 100 * gain / ceiling);
    printf("  %.3f s cpu  %.3f s waiting  %.1f ns cpu/hop  %llu hops  %.2f events/hop  "
           "%.3f received/hop  %.1f MB sent  %llu windows  %.0f events/window\n",
           t->cpu_s, t->wait_s, 1e9 * t->cpu_s / (double)t->hops, (unsigned long long)t->hops,
           (double)t->events / (double)t->hops, (double)t->received / (double)t->hops,
           1e-6 * (double)t->sent_b, (unsigned long long)t->windows,
           t->windows ? (double)t->events / (double)t->windows : 0);
}

/* An MPI over a fabric of today, not measured here. */
static const struct sim_fabric fabric = {.latency_ns = 1500, .message_ns = 400};

static void project(const struct take *one, const struct take *two, uint32_t cores)
{
    struct sim_costs c = {.event_ns = 1e9 * one->wall_s / (double)one->events};
    double share = 0, more = 1e9 * (two->all_own_s - one->wall_s);
    struct sim_demand d = {
        .events_per_us = (double)one->events / one->sim_us,
        .step_us = two->lookahead_us,
        .cross = 2 * (double)two->received / (double)one->events,
    };

    c.handover_ns = HUGE_VAL;
    for (int i = 0; i < 20; i++) {
        double hand, part;

        if (!sim_handover_measure(10 * 1000 * 1000, &hand, &part)) {
            printf("one processor: nothing to be said about more\n");
            return;
        }
        c.handover_ns = hand < c.handover_ns ? hand : c.handover_ns;
        share += (hand > 10 * c.handover_ns ? 0 : part) / 20;
    }
    c.cross_ns = more > 0 && two->received ? more / (double)two->received : 0;
    printf("costs: %.0f ns an event, %.0f ns more if it goes to another partition, %.0f ns until "
           "another thread sees a store; both could run %.0f %% of the time\n",
           c.event_ns, c.cross_ns, c.handover_ns, 100 * share);
    printf("demand: %.0f events/us, windows of %.3f us, %.2f of them to others\n", d.events_per_us,
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
    struct sim_link *link = NULL;
    struct sim_peers *peers = NULL;
    int repeat = 1, at = 1, cores = 0;
    double both = 0;

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
    const char *file = argv[at], *const *sets = (const char *const *)argv + at + 1;
    size_t nsets = (size_t)(argc - at - 1);

    if (!sim_link_launched(&link, &err)) {
        fprintf(stderr, "bench.scale: %s\n", err.text);
        return 4;
    }
    if (link) {
        sim_peers_open(&peers, link);
        n = 1;
        threads[0] = 1;
    }
    for (int i = 0; i < repeat; i++) {
        for (uint32_t k = 0; k < n; k++) {
            if (!once(file, sets, nsets, threads[k], peers, NULL, &now, &err)) {
                fprintf(stderr, "bench.scale: %s\n", err.text);
                return wr_exit_status(err.code);
            }
            if (!i || now.wall_s < best[k].wall_s)
                best[k] = now;
        }
        double t = n > 1 ? two_at_once(file, sets, nsets) : 0;

        both = !i || t < both ? t : both;
    }
    for (uint32_t k = 0; k < n && (!peers || !sim_peers_rank(peers)); k++)
        print(&best[k], &best[0], both > 0 ? 2 * best[0].wall_s / both : 0);
    if (cores > 0 && n > 1 && best[0].threads == 1 && best[1].threads == 2)
        project(&best[0], &best[1], (uint32_t)cores);
    sim_peers_close(peers, true);
    return 0;
}
