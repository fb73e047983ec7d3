/* bench_ranks.c -- what ranks cost: how fast many of them start, and their memory.
 *
 *   bench.ranks FILE [KEY=VALUE]...
 *
 * Opens the configuration, programs included, and lets every rank do its first operations.
 */
#include <stdio.h>
#include <time.h>

#include "rank/rank.h"
#include "world/world.h"

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct world_config c = {0};
    struct wr_err err = {0};
    struct conf *conf;
    struct world *w;

    if (argc < 2) {
        fprintf(stderr, "usage: bench.ranks FILE [KEY=VALUE]...\n");
        return 2;
    }
    double start = cpu_seconds();

    if (!conf_load(&conf, &c, world_rows, argv[1], (const char *const *)argv + 2, (size_t)argc - 2,
                   &err) ||
        !world_open(&w, conf, &c, &err)) {
        fprintf(stderr, "bench.ranks: %s\n", err.text);
        return wr_exit_status(err.code);
    }
    const struct ranks *rs = world_ranks(w);
    double opened = cpu_seconds() - start;
    uint32_t n = rs ? ranks_count(rs) : 0;

    printf("%u ranks open in %.3f s, %.0f B each (%zu of them rank/'s own)\n", n, opened,
           n ? (double)ranks_bytes_used(rs) / n : 0, ranks_rank_bytes());
    world_close(w);
    conf_close(conf);
    return 0;
}
