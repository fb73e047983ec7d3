/* run_profile.c -- what the threads of a simulation did, and what to make of it. */
#include "cli/run_profile.h"

#include "cli/table.h"
#include "net/topo/split.h"

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

/* How much more the largest part has than the others, on average; 1: nothing. */
static double uneven(const struct topo *t, uint32_t threads)
{
    struct topo_split split;
    uint64_t most = 0, sum = 0;

    topo_split(t, threads, NULL, &split);
    for (uint32_t i = 0; i < split.n; i++) {
        most = split.ports[i] > most ? split.ports[i] : most;
        sum += split.ports[i];
    }
    double ret = split.n == threads && sum ? (double)most * threads / (double)sum : 1e9;

    topo_split_free(&split);
    return ret;
}

/* A number of threads near `n` whose parts are more even; 0: there is none. */
static uint32_t better_cut(const struct topo *t, uint32_t n)
{
    double best = uneven(t, n) - 0.05;
    uint32_t ret = 0;

    for (uint32_t k = n > 2 ? n - 1 : 2; k <= n + 2; k++)
        if (k != n && uneven(t, k) < best) {
            best = uneven(t, k);
            ret = k;
        }
    return ret;
}

enum {
    ADVICE = 200,
    FEW = 6,        /* events between two looks at the others: each look takes as long as those */
    MANY = 1 << 13, /* looks that say something */
};

/* Events between two looks, if there are so few that one thread would be faster; or 0. */
static double too_few(const struct world_profile *p, uint32_t n)
{
    uint64_t events = 0, looks = 0;

    for (uint32_t i = 0; i < n; i++) {
        events += p[i].work.events;
        looks += p[i].work.batches;
    }
    return n > 1 && looks >= MANY && events < FEW * looks ? (double)events / (double)looks : 0;
}

void run_profile_warn(const struct world *w)
{
    struct world_profile p[WORLD_MOST_THREADS];
    uint32_t n = world_profile(w, p);
    double few = too_few(p, n);

    if (few > 0)
        fprintf(
            stderr,
            "weir: a thread came to no more than %.1f events before it had to look at the others: "
            "-j 1 is faster here, and -j auto chooses it\n",
            few);
}

/* One sentence, of the case that costs most. */
static void advise(char into[ADVICE], const struct world *w, const struct world_profile *p,
                   uint32_t n, bool chosen)
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
    bool lopsided = (double)most * n > 1.3 * (double)sum;
    uint32_t cut = n > 1 && lopsided ? better_cut(world_topo(w), n) : 0;
    const char *say;

    if (n == 1 && chosen)
        say = "one thread, chosen by -j auto: more would not have gained a fifth";
    else if (n == 1)
        say = "one thread: nobody waited; try -j 2 on a machine of hundreds of nodes";
    else if (too_few(p, n) > 0)
        say = "hardly an event happens between two looks at the others: one thread is faster";
    else if (wait < run / 10)
        say = "the threads hardly wait: more may be faster still";
    else if (cut) {
        snprintf(into, ADVICE,
                 "one thread has much more to do than the others: -j %u cuts the machine more "
                 "evenly",
                 cut);
        return;
    } else if (lopsided)
        say = "one thread has much more to do than the others: so has a part of the machine; use "
              "fewer threads, or place jobs over more groups";
    else if (ask > wait / 2)
        say = "threads wait for each other's credits: links between parts are full, or the "
              "routing looks at them often; fewer threads cut fewer links";
    else
        say = "threads wait for each other: use no more than there are idle processors, or fewer";
    snprintf(into, ADVICE, "%s", say);
}

void run_profile_print(const struct world *w, bool chosen, bool json, FILE *out)
{
    char advice[ADVICE];

    struct world_profile p[WORLD_MOST_THREADS];
    uint32_t n = world_profile(w, p);
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns,
                                         sizeof columns / sizeof *columns);

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
    advise(advice, w, p, n, chosen);
    fprintf(json ? stderr : out, "%s\n", advice);
}
