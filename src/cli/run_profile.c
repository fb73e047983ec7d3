/* run_profile.c -- `weir run --profile`: work and waiting of each thread, and one sentence of
 * advice.
 *
 * world/ counts; the thresholds of the advice are here.
 */
#include "cli/run_profile.h"

#include "base/note.h"
#include "cli/cli_table.h"
#include "net/topo/split.h"

static const struct cli_column columns[] = {
    {"thread", NULL},       {"events", NULL},  {"ports", NULL},
    {"load", NULL},         {"windows", NULL}, {"events_per_window", "events/window"},
    {"sent_b", "sent B"},   {"wait_s", NULL},  {"run_s", NULL},
    {"lookahead_ns", NULL},
};

/* How much more the largest part has than the others, on average; 1: nothing. */
static double run_profile_imbalance(const struct topo *t, uint32_t threads)
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
static uint32_t run_profile_better_partition(const struct topo *t, uint32_t n)
{
    double best = run_profile_imbalance(t, n) - 0.05;
    uint32_t ret = 0;

    for (uint32_t k = n > 2 ? n - 1 : 2; k <= n + 2; k++)
        if (k != n && run_profile_imbalance(t, k) < best) {
            best = run_profile_imbalance(t, k);
            ret = k;
        }
    return ret;
}

enum {
    ADVICE = 200,
    MANY = 1 << 11, /* windows that say something */
    FEW = 8,        /* events that take as long as a barrier */
};

/* Of all workers. */
struct total {
    uint64_t events, most, windows;
    double run_ns, wait_ns;
};

static struct total run_profile_total_of(const struct world_profile *p, uint32_t n)
{
    struct total t = {.windows = n ? p[0].work.windows : 0};

    for (uint32_t i = 0; i < n; i++) {
        t.events += p[i].work.events;
        t.most = p[i].work.events > t.most ? p[i].work.events : t.most;
        t.run_ns += (double)p[i].work.run_ns;
        t.wait_ns += (double)p[i].work.wait_ns;
    }
    return t;
}

/* Events in a window, if there are so few that the barrier takes longer than they do; or 0. */
static double run_profile_too_few(const struct total *t, uint32_t n)
{
    return n > 1 && t->windows >= MANY && t->events < FEW * t->windows
               ? (double)t->events / (double)t->windows
               : 0;
}

void run_profile_warn(const struct world *w)
{
    struct world_profile p[WORLD_MOST_THREADS];
    uint32_t n = world_profile(w, p);
    struct total t = run_profile_total_of(p, n);

    if (run_profile_too_few(&t, n) > 0)
        wr_note("threads synchronised every %.1f events: one thread is faster here, and "
                "-t auto chooses it",
                run_profile_too_few(&t, n));
}

/* One sentence, of the case that costs most. */
static void run_profile_advice(char into[ADVICE], const struct world *w,
                               const struct world_profile *p, uint32_t n, bool chosen)
{
    struct total t = run_profile_total_of(p, n);
    bool lopsided = (double)t.most * n > 1.3 * (double)t.events;
    uint32_t cut = n > 1 && lopsided ? run_profile_better_partition(world_topo(w), n) : 0;
    const char *say;

    if (n == 1 && chosen)
        say = "one thread, chosen by -t auto: more would not have gained a fifth";
    else if (n == 1)
        say = "one thread; try -t 2 on a machine of hundreds of nodes";
    else if (run_profile_too_few(&t, n) > 0)
        say = "hardly an event happens in a window: one thread is faster; links with a longer "
              "latency between partitions give longer windows";
    else if (t.wait_ns < t.run_ns / 10)
        say = "the threads hardly wait: more may be faster still";
    else if (cut) {
        snprintf(into, ADVICE,
                 "one thread has much more to do than the others: -t %u divides the machine more "
                 "evenly",
                 cut);
        return;
    } else if (lopsided)
        say = "one thread has much more to do than the others, since some groups have most of the "
              "work; use fewer threads, or place jobs over more groups";
    else
        say = "threads wait for each other: use no more than there are idle processors, or fewer";
    snprintf(into, ADVICE, "%s", say);
}

void run_profile_print(const struct world *w, bool chosen, bool json, FILE *out)
{
    char advice[ADVICE];

    struct world_profile p[WORLD_MOST_THREADS];
    uint32_t n = world_profile(w, p);
    struct total all = run_profile_total_of(p, n);
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns,
                                         sizeof columns / sizeof *columns);

    for (uint32_t i = 0; i < n; i++) {
        const struct sim_work *k = &p[i].work;

        cli_table_int(t, i);
        cli_table_int(t, (int64_t)k->events);
        cli_table_int(t, (int64_t)p[i].ports);
        cli_table_real(t,
                       all.events ? cli_round((double)k->events * n / (double)all.events, 1e3) : 1);
        cli_table_int(t, (int64_t)k->windows);
        cli_table_real(t, k->windows ? cli_round((double)k->events / (double)k->windows, 1e3) : 0);
        cli_table_int(t, (int64_t)k->sent_b);
        cli_table_real(t, cli_round((double)k->wait_ns / 1e9, 1e3));
        cli_table_real(t, cli_round((double)k->run_ns / 1e9, 1e3));
        if (n > 1)
            cli_table_real(t, (double)p[i].lookahead_ps / 1e3);
        else
            cli_table_null(t);
    }
    cli_table_close(t);
    run_profile_advice(advice, w, p, n, chosen);
    if (json)
        wr_note("%s", advice);
    else
        fprintf(out, "%s\n", advice);
}
