/* run_profile.c -- what the threads of a simulation did, and what to make of it. */
#include "cli/run_profile.h"

#include "cli/table.h"

static const struct cli_column columns[] = {
    {"thread", NULL},
    {"events", NULL},
    {"ports", NULL},
    {"looks", NULL},
    {"events_per_look", "events/look"},
    {"sent", NULL},
    {"rests", NULL},
    {"rest_s", NULL},
    {"asks", NULL},
    {"ask_s", NULL},
    {"jumps", NULL},
    {"run_s", NULL},
    {"lookahead_ns", NULL},
};

static double thousandth(double x)
{
    return (double)(int64_t)(x * 1e3 + 0.5) / 1e3;
}

/* One sentence, of the case that costs most. */
static const char *advice(const struct world_profile *p, uint32_t n)
{
    double run = 0, wait = 0, ask = 0;
    uint64_t most = 0, sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        run += (double)p[i].work.run_ns;
        wait += (double)(p[i].work.rest_ns + p[i].work.ask_ns);
        ask += (double)p[i].work.ask_ns;
        most = p[i].work.events > most ? p[i].work.events : most;
        sum += p[i].work.events;
    }
    if (n == 1)
        return "one thread: nobody waited; try -j 2 on a machine of hundreds of nodes";
    if (wait < run / 10)
        return "the threads hardly wait: more may be faster still";
    if ((double)most * n > 1.3 * (double)sum)
        return "one thread has much more to do than the others: another number of threads cuts "
               "the machine elsewhere";
    if (ask > wait / 2)
        return "threads wait for each other's credits: links between parts are full, or the "
               "routing looks at them often; fewer threads cut fewer links";
    return "threads wait for each other: use no more than there are idle processors, or fewer";
}

void run_profile_print(const struct world *w, FILE *out)
{
    struct world_profile p[WORLD_MOST_THREADS];
    uint32_t n = world_profile(w, p);
    struct cli_table *t =
        cli_table_open(out, CLI_AS_TEXT, columns, sizeof columns / sizeof *columns);

    for (uint32_t i = 0; i < n; i++) {
        const struct sim_work *k = &p[i].work;

        cli_table_int(t, i);
        cli_table_int(t, (int64_t)k->events);
        cli_table_int(t, (int64_t)p[i].ports);
        cli_table_int(t, (int64_t)k->batches);
        cli_table_real(t, k->batches ? thousandth((double)k->events / (double)k->batches) : 0);
        cli_table_int(t, (int64_t)k->sent);
        cli_table_int(t, (int64_t)k->rests);
        cli_table_real(t, thousandth((double)k->rest_ns / 1e9));
        cli_table_int(t, (int64_t)k->asks);
        cli_table_real(t, thousandth((double)k->ask_ns / 1e9));
        cli_table_int(t, (int64_t)k->jumps);
        cli_table_real(t, thousandth((double)k->run_ns / 1e9));
        if (n > 1)
            cli_table_real(t, (double)p[i].lookahead_ps / 1e3);
        else
            cli_table_null(t);
    }
    cli_table_close(t);
    fprintf(out, "%s\n", advice(p, n));
}
