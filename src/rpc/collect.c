/* collect.c -- `weir roofline collect`: runs all cases, window by window.
 *
 * Owns the order of measurements: which clients work, when a window is repeated, what is kept.
 * Processes are started in collect_start.c and talked to through worker_pool.h; the run file is
 * written by collect_put.c. A window counts only if every client began it in time.
 */
#include "rpc/collect.h"

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect_priv.h"
#include "rpc/worker.h"
#include "rpc/worker_commands.h"

/* Of each probe of the machine: long enough for steady rates, short beside a collection. */
#define PROBE_EACH_S 0.05

static const struct rpc_case *collect_cases(const struct rpc_spec *s)
{
    return s->cases.items;
}

static void collect_print(const struct collecting *g, const char *what)
{
    if (g->o->progress)
        g->o->progress(g->o->ctx, what);
}

void collect_note_trouble(struct collecting *g)
{
    rpc_pool_check(g->member, g->n);
    for (size_t i = 0; i < g->n; i++) {
        struct rpc_member *m = &g->member[i];

        if (!m->alive && m->why[0]) {
            wr_vec_push(&g->c->trouble, wr_strdup(m->why));
            collect_print(g, m->why);
            m->why[0] = '\0';
        }
    }
}

void collect_note_waits(struct collecting *g, const char *waits)
{
    if (waits && (!g->c->waits[0] || strcmp(waits, rpc_wait_names[RPC_TIMED]) == 0))
        snprintf(g->c->waits, sizeof g->c->waits, "%s", waits);
}

size_t collect_alive(const struct collecting *g, size_t from, size_t n)
{
    size_t alive = 0;

    for (size_t i = from; i < from + n; i++)
        alive += g->member[i].alive;
    return alive;
}

/* ---- one window ---- */

static struct rpc_load collect_load_of(const struct collecting *g, const struct rpc_case *k,
                                       uint64_t start_ns)
{
    const struct rpc_spec *s = g->s;
    uint64_t window_ns = (uint64_t)(s->window_ps / 1e3);

    return (struct rpc_load){.op = (enum rpc_op)k->op,
                             .size_b = k->size_b,
                             .depth = k->depth,
                             .think_ns = (uint64_t)(k->think_ps / 1e3),
                             .rate = k->rate,
                             .on_ns = (uint64_t)(k->on_ps / 1e3),
                             .off_ns = (uint64_t)(k->off_ps / 1e3),
                             .start_ns = start_ns,
                             .warm_ns = (uint64_t)(s->warmup_ps / 1e3),
                             .measure_ns = window_ns,
                             .slice_ns = (window_ns + RPC_SUBWINDOWS - 1) / RPC_SUBWINDOWS,
                             .storage_b = s->storage.size_b};
}

/* The process that reports the usage of a server: the server itself, or a client of it if this
 * collection did not start it. NULL: none. */
static struct rpc_member *collect_usage_source(const struct collecting *g, uint32_t server)
{
    if (!g->ticket)
        return &g->member[server];
    for (size_t i = 0; i < g->s->clients; i++)
        if (g->at[i] == server && collect_client(g, i)->alive)
            return collect_client(g, i);
    return NULL;
}

/* Processor seconds of the servers since they were last asked. */
static double collect_server_usage(struct collecting *g, uint64_t *switches)
{
    struct rpc_member **asked = wr_zalloc(g->s->servers, sizeof *asked);
    uint32_t n = 0, *of = wr_zalloc(g->s->servers, sizeof *of);
    double cpu_s = 0;

    for (uint32_t i = 0; i < g->s->servers; i++) {
        of[n] = i;
        if ((asked[n] = collect_usage_source(g, i)))
            rpc_member_say(asked[n++], json_pack("{ss}", "do", "usage"));
    }
    rpc_pool_await(asked, n, 10 * SECOND, NULL);
    g->c->dropped = 0;
    for (uint32_t i = 0; i < n; i++) {
        const json_t *u = json_object_get(asked[i]->answer, "usage");
        struct server_use *last = &g->used[of[i]],
                          now = {1e-9 * (json_number_value(json_object_get(u, "user_ns")) +
                                         json_number_value(json_object_get(u, "sys_ns"))),
                                 (uint64_t)json_integer_value(json_object_get(u, "switches"))};

        if (now.cpu_s < last->cpu_s) /* it did not report any */
            continue;
        cpu_s += now.cpu_s - last->cpu_s;
        *switches += now.switches - last->switches;
        *last = now;
        g->c->dropped += (uint64_t)json_integer_value(json_object_get(u, "dropped"));
        collect_note_waits(g, json_string_value(json_object_get(u, "waits")));
    }
    free(asked);
    free(of);
    return cpu_s;
}

/* The one that a client called. */
static void collect_fail_server(struct collecting *g, const struct rpc_member *client,
                                const char *why)
{
    assert(client->rank < g->s->clients);
    struct rpc_member *server = &g->member[g->at[client->rank]];

    if (server->alive)
        snprintf(server->why, sizeof server->why, "server %u %s", server->rank, why);
    server->alive = false;
}

/* One window while it is measured; only what is taken counts. */
struct attempt {
    struct rpc_window w;
    struct wr_hist latency_ps;
    uint64_t calls[RPC_SUBWINDOWS]; /* of all clients, by sub-window */
    size_t nsub;
    double client_s; /* processor seconds */
};

static void collect_add_seen(struct collecting *g, struct attempt *a, struct rpc_member *m)
{
    struct rpc_window *w = &a->w;
    struct rpc_seen *seen = wr_alloc(sizeof *seen);

    if (rpc_seen_parse(seen, json_object_get(m->answer, "seen")) && seen->elapsed_ns) {
        double s = 1e-9 * (double)seen->elapsed_ns;

        w->clients++;
        w->rate += (double)seen->calls / s;
        w->bps += (double)seen->bytes / s;
        w->switches += seen->switches;
        w->failed += seen->failed;
        w->bad_data += seen->bad_data;
        w->unanswered += seen->unanswered;
        a->client_s += 1e-9 * (double)seen->cpu_ns;
        wr_hist_merge(&a->latency_ps, &seen->latency_ps);
        for (size_t i = 0; i < seen->nslices && i < RPC_SUBWINDOWS; i++)
            a->calls[i] += seen->slice_calls[i];
        a->nsub = seen->nslices < RPC_SUBWINDOWS ? seen->nslices : RPC_SUBWINDOWS;
    }
    if (seen->server_gone)
        collect_fail_server(g, m, "went away");
    else if (seen->unanswered && !seen->elapsed_ns)
        collect_fail_server(g, m, "does not answer");
    free(seen);
}

/* How much of the window was over when the last of them began; 0: hardly any. */
static uint64_t collect_latest_ns(const struct collecting *g, struct rpc_member *const *m, size_t n)
{
    uint64_t late = (uint64_t)(g->s->window_ps / 1e3 / 50), hardly = late;

    for (size_t i = 0; i < n; i++) {
        const json_t *seen = json_object_get(m[i]->answer, "seen");
        uint64_t its = (uint64_t)json_integer_value(json_object_get(seen, "late_ns"));

        late = its > late ? its : late;
    }
    return late > hardly ? late : 0;
}

/* The clients `from` .. `from + n` work, the others wait. A window that a client began late does
 * not count, unless it is the last try. */
static bool collect_window(struct collecting *g, struct attempt *a, size_t from, size_t n,
                           bool last, uint64_t *ret_late)
{
    const struct rpc_spec *s = g->s;
    struct rpc_window *w = &a->w;

    assert(n && from + n <= s->clients && w->of < s->cases.n);
    const struct rpc_case *k = &collect_cases(s)[w->of];
    struct rpc_member **at_work = wr_zalloc(n, sizeof *at_work);
    double span_s = (s->warmup_ps + s->window_ps) / 1e12;

    collect_server_usage(
        g, &(uint64_t){0}); /* which may take its time, so the start is set after it */
    struct rpc_machine_time machine = rpc_machine_time();
    uint64_t before = wr_clock_ns();
    struct rpc_load load = collect_load_of(g, k, rpc_realtime_ns() + g->lead_ns);

    load.alone = n == 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1;

    for (size_t i = 0; i < n; i++) {
        at_work[i] = &g->member[s->servers + from + i];
        load.seed = (s->seed + 1000003 * w->sample + from + i) & INT64_MAX;
        rpc_member_say(at_work[i], rpc_load_json(&load));
    }
    bool ok =
        rpc_pool_await(at_work, n, (uint64_t)(span_s * 1e9) + g->lead_ns + 15 * SECOND, g->o->stop);
    struct rpc_machine_time later = rpc_machine_time();
    double wall_s = 1e-9 * (double)(wr_clock_ns() - before);

    *ret_late = ok ? collect_latest_ns(g, at_work, n) : 0;
    for (size_t i = 0; ok && (last || !*ret_late) && i < n; i++)
        if (at_work[i]->alive)
            collect_add_seen(g, a, at_work[i]);
    double server_s = ok ? collect_server_usage(g, &w->switches) : 0;

    w->servers = (uint32_t)collect_alive(g, 0, s->servers);
    w->client_cpu = a->client_s / span_s;
    w->server_cpu = server_s / span_s;
    w->foreign = fmax(0, later.busy_s - machine.busy_s - a->client_s - server_s) / wall_s;
    w->lost = k->off_ps > 0 ? 0 : rpc_lost(a->calls, a->nsub); /* bursts are uneven by intent */
    free(at_work);
    collect_note_trouble(g);
    return ok && w->clients;
}

static void collect_print_window(const struct collecting *g, const struct rpc_window *w, bool again)
{
    const struct rpc_case *k = &collect_cases(g->s)[w->of];
    bool bytes = rpc_case_counts_bytes(k);
    char line[160];

    snprintf(line, sizeof line, "%s: %.4g %s%s%s", k->name,
             rpc_window_value(w, k) / (bytes ? 0x1p30 : 1e3), bytes ? "GiB/s" : "kops/s",
             rpc_window_disturbed(w) ? ", disturbed" : "", again ? ", measured again" : "");
    collect_print(g, line);
}

static void collect_keep_window(struct collecting *g, const struct attempt *a)
{
    wr_vec_push(&g->c->window, a->w);
    wr_hist_merge(&g->c->latency_ps[a->w.of], &a->latency_ps);
    g->disturbed_in_a_row = rpc_window_disturbed(&a->w) ? g->disturbed_in_a_row + 1 : 0;
    collect_print_window(g, &a->w, false);
}

static bool collect_may_go_on(const struct collecting *g)
{
    return collect_alive(g, 0, g->s->servers) && !(g->o->stop && g->o->stop());
}

static void collect_note_late(struct collecting *g, const struct rpc_window *w, uint64_t late_ns)
{
    char line[160];

    snprintf(line, sizeof line,
             "%s: a client missed the window by %.3f s; synchronise the clocks of all nodes, or "
             "use fewer "
             "processes",
             collect_cases(g->s)[w->of].name, 1e-9 * (double)late_ns);
    wr_vec_push(&g->c->trouble, wr_strdup(line));
    collect_print(g, line);
}

/* On a busy machine a client may learn of a window after it has begun. The window is then repeated
 * with a longer lead time. If that does not help, what each client saw of it counts. */
static bool collect_measure_in_time(struct collecting *g, const struct rpc_window *w, size_t from,
                                    size_t n, struct attempt *ret)
{
    enum { TRIES = 6, LONGEST_S = 4 };
    uint64_t late = 0;
    bool ok = false;

    for (int tries = 1; !ok && tries <= TRIES && collect_may_go_on(g); tries++) {
        memset(ret, 0, sizeof *ret);
        ret->w = *w;
        ok = collect_window(g, ret, from, n, tries == TRIES, &late);
        if (!ok && !late)
            return false;
        if (ok)
            break;
        g->lead_ns = 2 * (g->lead_ns + late);
        g->lead_ns = g->lead_ns < LONGEST_S * SECOND ? g->lead_ns : LONGEST_S * SECOND;
    }
    if (late >= (uint64_t)(g->s->window_ps / 1e3))
        collect_note_late(g, w, late);
    return ok;
}

/* Faults happened, whichever try counts. */
static void collect_add_faults(struct rpc_window *to, const struct rpc_window *from)
{
    to->failed += from->failed;
    to->bad_data += from->bad_data;
    to->unanswered += from->unanswered;
}

/* A disturbed window is measured again. Where that helped none of the last windows it is not tried:
 * the machine is busy for good, and marks say so. */
static void collect_measure(struct collecting *g, const struct rpc_window *w, size_t from, size_t n)
{
    enum { IN_VAIN = 3 };
    struct attempt *best = wr_alloc(sizeof *best), *next = wr_alloc(sizeof *next);
    uint32_t repeats = g->disturbed_in_a_row < IN_VAIN ? g->s->repeats : 0;
    bool ok = collect_measure_in_time(g, w, from, n, best);

    if (ok && repeats && rpc_window_disturbed(&best->w))
        collect_print_window(g, &best->w, true);
    for (uint32_t i = 1; ok && i <= repeats && rpc_window_disturbed(&best->w); i++) {
        if (!collect_measure_in_time(g, w, from, n, next))
            break;
        bool better = rpc_window_better(&next->w, &best->w);

        collect_add_faults(better ? &next->w : &best->w, better ? &best->w : &next->w);
        if (better)
            *best = *next;
        best->w.repeats = i;
    }
    if (ok)
        collect_keep_window(g, best);
    free(best);
    free(next);
}

static bool collect_same_host(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* With RPC_PAIRS_NODES one pair of processes is measured for each pair of hosts. */
static bool collect_wants_pair(const struct collecting *g, size_t client, uint32_t server)
{
    const char *there = collect_host(g, server), *here = collect_host(g, g->s->servers + client);

    if (g->s->pairs != RPC_PAIRS_NODES)
        return g->s->pairs == RPC_PAIRS_ALL || server == collect_home(g, client);
    for (size_t c = 0; c <= client; c++)
        for (uint32_t s = 0; s < (c < client ? g->s->servers : server); s++)
            if (collect_same_host(there, collect_host(g, s)) &&
                collect_same_host(here, collect_host(g, g->s->servers + c)))
                return false;
    return true;
}

/* What one client reaches is measured for each in turn, with each server. */
static void collect_run_pairs(struct collecting *g, uint32_t which, uint32_t sample, size_t clients)
{
    for (size_t i = 0; i < clients; i++)
        for (uint32_t k = 0; k < g->s->servers; k++) {
            struct rpc_window w = {
                .of = which, .sample = sample, .client = (int64_t)i, .server = k};

            if (!collect_may_go_on(g))
                return;
            if (!collect_client(g, i)->alive || !g->member[k].alive || !collect_wants_pair(g, i, k))
                continue;
            if (collect_send_to(g, i, 1, k))
                collect_measure(g, &w, i, 1);
        }
}

static void collect_run_case(struct collecting *g, uint32_t which)
{
    const struct rpc_spec *s = g->s;
    const struct rpc_case *k = &collect_cases(s)[which];
    size_t n = k->clients ? k->clients : s->clients;

    for (uint32_t sample = 0; sample < s->samples && collect_may_go_on(g); sample++) {
        struct rpc_window w = {.of = which, .sample = sample, .client = -1, .server = -1};

        if (k->measures == RPC_MEASURES_CLIENT)
            collect_run_pairs(g, which, sample, n);
        else if (collect_send_to(g, 0, n, UINT32_MAX))
            collect_measure(g, &w, 0, n);
    }
}

/* ---- all ---- */

bool rpc_collect(struct rpc_collected *ret, const struct rpc_spec *s,
                 const struct rpc_collect_opts *o, struct wr_err *err)
{
    struct rpc_collected c = {.interrupted = false};

    assert(s->servers && s->clients && s->cases.n); /* rpc_spec_check() */
    bool here = !s->launch || !*s->launch;
    struct collecting g = {.s = s,
                           .o = o,
                           .c = &c,
                           .n = (size_t)s->servers + s->clients,
                           .lead_ns = here ? SECOND / 20 : SECOND,
                           .sizes = rpc_spec_sizes(s)};

    /* A write to a worker that has exited fails with EPIPE, which is handled there. */
    void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);

    c.latency_ps = wr_zalloc(s->cases.n, sizeof *c.latency_ps);
    g.member = wr_zalloc(g.n, sizeof *g.member);
    g.at = wr_zalloc(s->clients, sizeof *g.at);
    g.used = wr_zalloc(s->servers, sizeof *g.used);
    bool ok = collect_tickets(&g, err) && wr_token_make(&g.token, err);

    if (ok) {
        collect_print(&g, "probing what the machine can do");
        c.before = rpc_limits_probe(PROBE_EACH_S);
        ok = collect_start(&g, err);
    }

    for (uint32_t i = 0; ok && i < s->cases.n; i++)
        collect_run_case(&g, i);
    c.interrupted = o->stop && o->stop();
    rpc_pool_end(g.member, g.n);
    signal(SIGPIPE, on_pipe);
    free(g.member);
    free(g.at);
    free(g.used);
    free(g.ticket);
    if (ok && !c.window.n)
        ok = c.interrupted ? wr_fail(err, WR_INTERRUPTED, "stopped before anything was measured")
                           : wr_fail(err, WR_SYSTEM, "%s; nothing was measured",
                                     c.trouble.n ? c.trouble.v[0] : "no window was complete");
    if (!ok) {
        rpc_collected_fini(&c, s);
        return false;
    }
    c.after = rpc_limits_probe(PROBE_EACH_S);
    rpc_peaks(c.client, c.server, c.window.v, c.window.n, s);
    *ret = c;
    return true;
}

void rpc_collected_fini(struct rpc_collected *c, const struct rpc_spec *s)
{
    (void)s;
    for (size_t i = 0; i < c->trouble.n; i++)
        free(c->trouble.v[i]);
    for (size_t i = 0; i < c->nic.n; i++)
        free(c->nic.v[i]);
    wr_vec_fini(&c->nic);
    wr_vec_fini(&c->trouble);
    wr_vec_fini(&c->window);
    free(c->latency_ps);
}

double rpc_of_limit(const struct rpc_collected *c, const struct rpc_spec *s,
                    const struct rpc_case *k, const struct rpc_window *w)
{
    bool shm = !strcmp(s->transport, "shm");

    if (k->op == RPC_OP_SREAD || k->op == RPC_OP_SWRITE)
        return NAN;
    if (rpc_case_counts_bytes(k))
        return 100 * w->bps / fmax(c->before.copy_bps, c->after.copy_bps);
    return 100 * w->rate /
           (shm ? fmax(c->before.line_rate, c->after.line_rate)
                : fmax(c->before.socket_rate, c->after.socket_rate));
}
