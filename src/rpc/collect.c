#include "rpc/collect.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/version.h"
#include "rpc/crew.h"
#include "rpc/nic/nic.h"
#include "rpc/say.h"
#include "rpc/worker.h"

const char *const rpc_metric_names[] = {"rpc", "bw", "iops", "sbw", NULL};

#define SECOND UINT64_C(1000000000)

struct collecting {
    const struct rpc_spec *s;
    const struct rpc_collect_opts *o;
    struct rpc_collected *c;
    struct rpc_member *member; /* servers, then clients */
    size_t n;
    uint64_t token;
    uint32_t depth;
    uint64_t server_bulk_b, client_bulk_b;
};

static const struct rpc_case *cases_of(const struct rpc_spec *s)
{
    return s->cases.items;
}

static int metric_of(const struct rpc_case *k)
{
    int m = 0;

    while (strcmp(rpc_metric_names[m], rpc_case_metric(k)) != 0)
        m++;
    return m;
}

static void tell(const struct collecting *g, const char *what)
{
    if (g->o->tell)
        g->o->tell(g->o->ctx, what);
}

/* What went wrong with members since the last time, once each. */
static void note_trouble(struct collecting *g)
{
    rpc_crew_look(g->member, g->n);
    for (size_t i = 0; i < g->n; i++) {
        struct rpc_member *m = &g->member[i];

        if (!m->alive && m->why[0]) {
            wr_vec_push(&g->c->trouble, wr_strdup(m->why));
            tell(g, m->why);
            m->why[0] = '\0';
        }
    }
}

/* Who took which NIC, if anybody chose. */
static void note_nics(struct collecting *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const char *nic = json_string_value(json_object_get(g->member[i].answer, "nic"));
        char line[96];

        if (!nic || !*nic)
            continue;
        snprintf(line, sizeof line, "%s.%u %.40s", g->member[i].role, g->member[i].rank, nic);
        wr_vec_push(&g->c->nic, wr_strdup(line));
    }
}

/* How servers wait: one that finds out that it cannot sleep says so. */
static void note_waits(struct collecting *g, const char *waits)
{
    if (waits && (!g->c->waits[0] || strcmp(waits, rpc_wait_names[RPC_NAP]) == 0))
        snprintf(g->c->waits, sizeof g->c->waits, "%s", waits);
}

static size_t alive_of(const struct collecting *g, size_t from, size_t n)
{
    size_t alive = 0;

    for (size_t i = from; i < from + n; i++)
        alive += g->member[i].alive;
    return alive;
}

/* ---- start ---- */

static struct rpc_opts opts_of(const struct collecting *g, bool server)
{
    const struct rpc_spec *s = g->s;
    uint32_t per_server = (s->clients + s->servers - 1) / s->servers;
    bool here = !s->launch || !*s->launch;
    struct wr_err none;

    return (struct rpc_opts){
        .transport = rpc_transport_find(s->transport, &none),
        .provider = s->provider,
        .bind = s->bind,
        .nic = {.name = s->nic.name,
                .bucket = s->nic.bucket,
                .policy = s->nic.policy,
                .pick = s->nic.bucket != NIC_PASSTHROUGH},
        .token = g->token,
        .wait = (enum rpc_wait)s->wait,
        .spin_us = (uint32_t)(s->spindown_ps / 1e6),
        .crowded = here && s->servers + s->clients > (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
        .depth = g->depth,
        .bulk_b = server ? g->server_bulk_b : g->client_bulk_b,
        .peers = per_server + 1,
        .storage = server ? s->storage.path : NULL,
        .storage_b = s->storage.size_b,
        .direct = s->storage.direct,
    };
}

static bool ready(struct collecting *g, size_t from, size_t n, struct wr_err *err)
{
    struct rpc_member **all = wr_zalloc(n, sizeof *all);

    for (size_t i = 0; i < n; i++)
        all[i] = &g->member[from + i];
    bool ok = rpc_crew_await(all, n, 60 * SECOND, g->o->stop);

    for (size_t i = 0; i < n; i++) {
        const char *v = json_string_value(json_object_get(all[i]->answer, "version"));

        if (all[i]->alive && (!v || strcmp(v, wr_version_number()) != 0)) {
            all[i]->alive = false;
            snprintf(all[i]->why, sizeof all[i]->why,
                     "%s %u is weir %.30s and this is %.30s; install the same", all[i]->role,
                     all[i]->rank, v ? v : "of another time", wr_version_number());
        }
    }
    free(all);
    note_trouble(g);
    if (!ok)
        return wr_fail(err, WR_INTERRUPTED, "stopped before anything was measured");
    if (!alive_of(g, from, n))
        return wr_fail(err, WR_SYSTEM, "%s; look at transport, launch and storage",
                       g->c->trouble.n ? g->c->trouble.v[0] : "nobody is ready");
    return true;
}

static bool start_all(struct collecting *g, struct wr_err *err)
{
    const struct rpc_spec *s = g->s;
    const char *const *hosts = s->hosts.items;

    for (size_t i = 0; i < g->n; i++) {
        struct rpc_member *m = &g->member[i];

        m->role = i < s->servers ? "server" : "client";
        m->rank = (uint32_t)(i < s->servers ? i : i - s->servers);
        if (!rpc_member_start(m, g->o->program, s->launch,
                              s->hosts.n ? hosts[i % s->hosts.n] : NULL, err))
            return false;
    }
    struct rpc_opts server_opts = opts_of(g, true), client_opts = opts_of(g, false);

    for (size_t i = 0; i < s->servers; i++)
        rpc_member_say(&g->member[i], rpc_open_json(&server_opts, NULL));
    if (!ready(g, 0, s->servers, err))
        return false;
    for (size_t i = s->servers; i < g->n; i++) {
        const struct rpc_member *server = &g->member[(i - s->servers) % s->servers];
        const char *at = json_string_value(json_object_get(server->answer, "ready"));

        /* Of a server that failed nobody knows the address. */
        rpc_member_say(&g->member[i], rpc_open_json(&client_opts, at ? at : "nowhere"));
    }
    note_waits(g, json_string_value(json_object_get(g->member[0].answer, "waits")));
    if (!ready(g, s->servers, s->clients, err))
        return false;
    note_nics(g);
    return true;
}

/* ---- one window ---- */

static struct rpc_load load_of(const struct collecting *g, const struct rpc_case *k,
                               uint64_t start_ns)
{
    const struct rpc_spec *s = g->s;

    return (struct rpc_load){.op = (enum rpc_op)k->op,
                             .size_b = k->size_b,
                             .depth = k->depth,
                             .think_ns = (uint64_t)(k->think_ps / 1e3),
                             .rate = k->rate,
                             .on_ns = (uint64_t)(k->on_ps / 1e3),
                             .off_ns = (uint64_t)(k->off_ps / 1e3),
                             .start_ns = start_ns,
                             .warm_ns = (uint64_t)(s->warmup_ps / 1e3),
                             .measure_ns = (uint64_t)(s->window_ps / 1e3),
                             .storage_b = s->storage.size_b};
}

/* Processor seconds of the servers since they were last asked. */
static double server_usage(struct collecting *g, uint64_t *switches)
{
    struct rpc_member **all = wr_zalloc(g->s->servers, sizeof *all);
    double cpu_s = 0;

    for (size_t i = 0; i < g->s->servers; i++) {
        all[i] = &g->member[i];
        rpc_member_say(all[i], json_pack("{ss}", "do", "usage"));
    }
    rpc_crew_await(all, g->s->servers, 10 * SECOND, NULL);
    g->c->dropped = 0;
    for (size_t i = 0; i < g->s->servers; i++) {
        const json_t *u = json_object_get(all[i]->answer, "usage");

        cpu_s += 1e-9 * (json_number_value(json_object_get(u, "user_ns")) +
                         json_number_value(json_object_get(u, "sys_ns")));
        *switches += (uint64_t)json_integer_value(json_object_get(u, "switches"));
        g->c->dropped += (uint64_t)json_integer_value(json_object_get(u, "dropped"));
        note_waits(g, json_string_value(json_object_get(u, "waits")));
    }
    free(all);
    return cpu_s;
}

static void add_seen(struct collecting *g, struct rpc_window *w, struct rpc_member *m,
                     double *cpu_s)
{
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
        *cpu_s += 1e-9 * (double)seen->cpu_ns;
        wr_hist_merge(&g->c->latency_ps[w->of], &seen->latency_ps);
        if (seen->server_gone) {
            struct rpc_member *server = &g->member[m->rank % g->s->servers];

            if (server->alive)
                snprintf(server->why, sizeof server->why, "server %u went away", server->rank);
            server->alive = false;
        }
    }
    free(seen);
}

/* The clients `from` .. `from + n` work, the others rest. */
static bool one_window(struct collecting *g, struct rpc_window *w, size_t from, size_t n)
{
    const struct rpc_spec *s = g->s;
    const struct rpc_case *k = &cases_of(s)[w->of];
    struct rpc_member **at_work = wr_zalloc(n, sizeof *at_work);
    bool here = !s->launch || !*s->launch;
    uint64_t start = rpc_realtime_ns() + (here ? SECOND / 20 : SECOND), before = wr_clock_ns();
    double span_s = (s->warmup_ps + s->window_ps) / 1e12, client_s = 0;
    struct rpc_load load = load_of(g, k, start);

    server_usage(g, &(uint64_t){0});
    struct rpc_machine_time machine = rpc_machine_time();

    for (size_t i = 0; i < n; i++) {
        at_work[i] = &g->member[s->servers + from + i];
        load.seed = (s->seed + 1000003 * w->sample + from + i) & INT64_MAX;
        rpc_member_say(at_work[i], rpc_load_json(&load));
    }
    bool ok = rpc_crew_await(at_work, n, (uint64_t)(span_s * 1e9) + 15 * SECOND, g->o->stop);
    struct rpc_machine_time later = rpc_machine_time();
    double wall_s = 1e-9 * (double)(wr_clock_ns() - before);

    for (size_t i = 0; ok && i < n; i++)
        if (at_work[i]->alive)
            add_seen(g, w, at_work[i], &client_s);
    double server_s = ok ? server_usage(g, &w->switches) : 0;

    w->servers = (uint32_t)alive_of(g, 0, s->servers);
    w->client_cpu = client_s / span_s;
    w->server_cpu = server_s / span_s;
    w->foreign = fmax(0, later.busy_s - machine.busy_s - client_s - server_s) / wall_s;
    free(at_work);
    note_trouble(g);
    return ok && w->clients;
}

static void widen(struct rpc_span *r, double v)
{
    r->lo = r->n ? fmin(r->lo, v) : v;
    r->hi = r->n ? fmax(r->hi, v) : v;
    r->n++;
}

static void take_window(struct collecting *g, const struct rpc_window *w)
{
    const struct rpc_case *k = &cases_of(g->s)[w->of];
    double v = rpc_case_counts_bytes(k) ? w->bps : w->rate;
    int m = metric_of(k);
    char line[160];

    wr_vec_push(&g->c->window, *w);
    if (k->measures == RPC_MEASURES_CLIENT)
        widen(&g->c->client[m], v);
    else if (k->measures == RPC_MEASURES_SERVER && w->servers)
        widen(&g->c->server[m], v / w->servers);
    snprintf(line, sizeof line, "%s: %.4g %s%s", k->name,
             v / (rpc_case_counts_bytes(k) ? 0x1p30 : 1e3),
             rpc_case_counts_bytes(k) ? "GiB/s" : "kops/s",
             w->foreign > RPC_DISTURBED ? ", disturbed" : "");
    tell(g, line);
}

/* What one client reaches is measured for each in turn. */
static void run_case(struct collecting *g, uint32_t which)
{
    const struct rpc_spec *s = g->s;
    const struct rpc_case *k = &cases_of(s)[which];
    size_t n = k->clients ? k->clients : s->clients;
    bool alone = k->measures == RPC_MEASURES_CLIENT;

    for (uint32_t sample = 0; sample < s->samples; sample++)
        for (size_t i = 0; i < (alone ? n : 1); i++) {
            struct rpc_window w = {
                .of = which, .sample = sample, .client = alone ? (int64_t)i : -1};

            if (!alive_of(g, 0, s->servers) || (g->o->stop && g->o->stop()))
                return;
            if (one_window(g, &w, i, alone ? 1 : n))
                take_window(g, &w);
        }
}

/* ---- all ---- */

static void size_up(struct collecting *g)
{
    for (size_t i = 0; i < g->s->cases.n; i++) {
        const struct rpc_case *k = &cases_of(g->s)[i];
        uint64_t size = k->op == RPC_OP_NOOP ? 0 : k->size_b;

        g->depth = k->depth > g->depth ? k->depth : g->depth;
        g->server_bulk_b = size > g->server_bulk_b ? size : g->server_bulk_b;
        if (size * k->depth > g->client_bulk_b)
            g->client_bulk_b = size * k->depth;
    }
}

bool rpc_collect(struct rpc_collected *ret, const struct rpc_spec *s,
                 const struct rpc_collect_opts *o, struct wr_err *err)
{
    struct rpc_collected c = {.interrupted = false};
    struct collecting g = {.s = s, .o = o, .c = &c, .n = (size_t)s->servers + s->clients};

    /* A pipe to somebody who died says so by itself. */
    void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);

    c.latency_ps = wr_zalloc(s->cases.n, sizeof *c.latency_ps);
    g.member = wr_zalloc(g.n, sizeof *g.member);
    size_up(&g);
    tell(&g, "probing what the machine can do");
    c.before = rpc_limits_probe(0.05);
    bool ok = rpc_make_token(&g.token, err) && start_all(&g, err);

    for (uint32_t i = 0; ok && i < s->cases.n; i++)
        run_case(&g, i);
    c.interrupted = o->stop && o->stop();
    rpc_crew_end(g.member, g.n);
    signal(SIGPIPE, on_pipe);
    free(g.member);
    if (ok && !c.window.n)
        ok = c.interrupted ? wr_fail(err, WR_INTERRUPTED, "stopped before anything was measured")
                           : wr_fail(err, WR_SYSTEM, "%s; nothing was measured",
                                     c.trouble.n ? c.trouble.v[0] : "no window was complete");
    if (!ok) {
        rpc_collected_fini(&c, s);
        return false;
    }
    c.after = rpc_limits_probe(0.05);
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
