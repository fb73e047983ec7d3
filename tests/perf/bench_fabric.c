/* bench_fabric.c -- how fast the fabric simulates: one configuration, one line.
 *
 *   bench.fabric [--repeat N] FILE [KEY=VALUE]...
 *
 * Times are of the processor, not of the wall: the machine may be shared. The
 * best of the repetitions counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "world/world.h"

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct bench {
    double seconds, setup;
    uint64_t memory_b;
    uint32_t nodes;
    struct world_result r;
};

static bool once(const char *file, const char *const *sets, size_t nsets, struct bench *ret,
                 struct wr_err *err)
{
    struct world_config c = {0};
    struct conf *conf;
    struct world *w;
    enum world_end end;
    double t0 = cpu_seconds();

    if (!conf_load(&conf, &c, world_rows, file, sets, nsets, err))
        return false;
    bool ok = world_open(&w, conf, &c, err);
    double t1 = cpu_seconds();

    if (ok && world_run(w, NULL, NULL, &end, err)) {
        ret->seconds = cpu_seconds() - t1;
        ret->setup = t1 - t0;
        ret->nodes = net_nodes(world_net(w));
        ret->memory_b = net_bytes_used(world_net(w));
        world_result(w, &ret->r);
    }
    if (ok)
        world_close(w);
    conf_close(conf);
    return ok;
}

int main(int argc, char **argv)
{
    static struct bench b, best;
    struct wr_err err = {0};
    int repeat = 1, at = 1;

    if (argc > 2 && !strcmp(argv[1], "--repeat")) {
        repeat = atoi(argv[2]);
        at = 3;
    }
    if (at >= argc) {
        fprintf(stderr, "usage: bench.fabric [--repeat N] FILE [KEY=VALUE]...\n");
        return 2;
    }
    for (int i = 0; i < repeat; i++) {
        if (!once(argv[at], (const char *const *)argv + at + 1, (size_t)(argc - at - 1), &b,
                  &err)) {
            fprintf(stderr, "bench.fabric: %s\n", err.text);
            return wr_exit_status(err.code);
        }
        if (!i || b.seconds < best.seconds)
            best = b;
    }
    const struct net_counts *n = &best.r.count;
    double packets = (double)n->packets, s = best.seconds;

    printf("%.3f Mpackets/s  %.2f Mhops/s  %.2f Mevents/s  %.2f events/packet  %.0f B/node  "
           "%llu B/packet in flight  %llu packets %llu hops %.3f s set-up %.3f s  latency %.3f us  "
           "accepted %.2f %%\n",
           packets / s / 1e6, (double)n->hops / s / 1e6, (double)best.r.events / s / 1e6,
           (double)best.r.events / packets, (double)best.memory_b / best.nodes,
           (unsigned long long)net_packet_memory(), (unsigned long long)n->packets,
           (unsigned long long)n->hops, s, best.setup, wr_hist_mean(&best.r.latency) / 1e6,
           100 * best.r.accepted);
    return 0;
}
