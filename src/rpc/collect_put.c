/* collect_put.c -- writes what was collected to a run file.
 *
 * Keys and units are an interface: `weir roofline model` and reports read them.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rpc/collect.h"

static bool collect_put_real(struct run *run, const char *what, const char *name, const char *key,
                             double v, const char *unit, struct wr_err *err)
{
    char full[160];

    snprintf(full, sizeof full, "%s.%s.%s", what, name, key);
    return run_put_real(run, full, v, unit, err);
}

static const char *collect_put_unit(int metric)
{
    return metric == 1 || metric == 3 ? "B/s" : "1/s";
}

/* A server as a queue, for simulations: how long it serves an operation, or a byte, and
 * how long a client takes between an answer and its next call (src/stat/roofline.h). */
static bool collect_put_service(struct run *run, const char *name, const struct rpc_span *client,
                                const struct rpc_span *server, bool bytes, struct wr_err *err)
{
    double s = 2 / (server->lo + server->hi), z = 2 / (client->lo + client->hi) - s;

    return collect_put_real(run, "service", name, "time", 1e9 * s, bytes ? "ns/B" : "ns", err) &&
           collect_put_real(run, "service", name, "think", 1e9 * fmax(0, z), bytes ? "ns/B" : "ns",
                            err);
}

/* A parameter, how many of its peaks come from disturbed windows, and which case shows it. */
static bool collect_put_span(struct run *run, const char *metric, const char *side,
                             const struct rpc_span *r, const char *unit, const struct rpc_spec *s,
                             struct wr_err *err)
{
    const struct rpc_case *k = s->cases.items;
    char low[24], high[24], disturbed[24], point[24], from[64];

    snprintf(low, sizeof low, "%s_min", side);
    snprintf(high, sizeof high, "%s_max", side);
    snprintf(disturbed, sizeof disturbed, "%s_disturbed", side);
    snprintf(point, sizeof point, "%s_from_point", side);
    snprintf(from, sizeof from, "roofline.%s.%s_case", metric, side);
    return collect_put_real(run, "roofline", metric, low, r->lo, unit, err) &&
           collect_put_real(run, "roofline", metric, high, r->hi, unit, err) &&
           collect_put_real(run, "roofline", metric, disturbed, r->disturbed, "", err) &&
           collect_put_real(run, "roofline", metric, point, r->from_point, "", err) &&
           run_put_text(run, from, k[r->of].name, err);
}

/* What `weir roofline model` reads. */
static bool collect_put_parameters(struct run *run, const struct rpc_collected *c,
                                   const struct rpc_spec *s, struct wr_err *err)
{
    for (int m = 0; m < RPC_METRICS; m++) {
        const char *name = rpc_metric_names[m], *unit = collect_put_unit(m);

        if (!c->client[m].n || !c->server[m].n)
            continue;
        if (!collect_put_span(run, name, "client", &c->client[m], unit, s, err) ||
            !collect_put_span(run, name, "server", &c->server[m], unit, s, err) ||
            !collect_put_service(run, name, &c->client[m], &c->server[m], unit[0] == 'B', err))
            return false;
    }
    return run_put_count(run, "roofline.per_node", s->per_node, "", err);
}

static bool collect_put_limits(struct run *run, const char *when, const struct rpc_limits *l,
                               struct wr_err *err)
{
    return collect_put_real(run, "limit", when, "line_rate", l->line_rate, "1/s", err) &&
           collect_put_real(run, "limit", when, "socket_rate", l->socket_rate, "1/s", err) &&
           collect_put_real(run, "limit", when, "copy", l->copy_bps, "B/s", err);
}

/* Of the windows of a case, the means. */
static bool collect_put_case(struct run *run, const struct rpc_collected *c,
                             const struct rpc_spec *s, uint32_t which, struct wr_err *err)
{
    const struct rpc_case *k = (const struct rpc_case *)s->cases.items + which;
    struct rpc_window sum = {0};
    double n = 0, limit = 0, disturbed = 0;

    for (size_t i = 0; i < c->window.n; i++) {
        const struct rpc_window *w = &c->window.v[i];

        if (w->of != which)
            continue;
        n++;
        sum.rate += w->rate;
        sum.bps += w->bps;
        sum.client_cpu += w->client_cpu;
        sum.server_cpu += w->server_cpu;
        sum.foreign += w->foreign;
        sum.switches += w->switches;
        sum.failed += w->failed;
        sum.bad_data += w->bad_data;
        sum.unanswered += w->unanswered;
        sum.clients = w->clients;
        sum.servers = w->servers;
        sum.lost += w->lost;
        sum.repeats += w->repeats;
        limit += rpc_of_limit(c, s, k, w);
        disturbed += rpc_window_disturbed(w);
    }
    if (n == 0)
        return true;
    const struct {
        const char *key, *unit;
        double v;
    } facts[] = {{"windows", "", n},
                 {"clients", "", sum.clients},
                 {"servers", "", sum.servers},
                 {"depth", "", k->depth},
                 {"size", "B", (double)k->size_b},
                 {"rate", "1/s", sum.rate / n},
                 {"bandwidth", "B/s", sum.bps / n},
                 {"of_limit", "%", limit / n},
                 {"p9999", "ns", wr_hist_quantile(&c->latency_ps[which], 0.9999) / 1e3},
                 {"client_cpu", "", sum.client_cpu / n},
                 {"server_cpu", "", sum.server_cpu / n},
                 {"foreign_cpu", "", sum.foreign / n},
                 {"lost", "", sum.lost / n},
                 {"disturbed", "", disturbed},
                 {"repeated", "", sum.repeats},
                 {"switches", "", (double)sum.switches},
                 {"failed", "", (double)sum.failed},
                 {"bad_data", "", (double)sum.bad_data},
                 {"unanswered", "", (double)sum.unanswered}};

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!collect_put_real(run, "case", k->name, facts[i].key, facts[i].v, facts[i].unit, err))
            return false;
    if (k->measures == RPC_MEASURES_POINT) {
        char at[48];

        snprintf(at, sizeof at, "%u.%u", sum.servers, sum.clients);
        int m = rpc_case_counts_bytes(k);

        if (!collect_put_real(run, "roofline.point", rpc_case_metric(k), at,
                              (m ? sum.bps : sum.rate) / n, m ? "B/s" : "1/s", err) ||
            !collect_put_real(run, "roofline.point_disturbed", rpc_case_metric(k), at, disturbed,
                              "", err))
            return false;
    }
    return run_put_latency(run, RUN_ALL_APPS, k->name, &c->latency_ps[which], err);
}

/* Every window as it was, in `slice`: series of the cases over their windows. */
static bool collect_put_windows(struct run *run, const struct rpc_collected *c,
                                const struct rpc_spec *s, struct wr_err *err)
{
    int64_t dt = (int64_t)s->window_ps;

    for (size_t i = 0; i < c->window.n; i++) {
        const struct rpc_window *w = &c->window.v[i];
        const struct rpc_case *k = (const struct rpc_case *)s->cases.items + w->of;
        char entity[96];
        struct run_series rate = {entity, "rate", "1/s", dt},
                          foreign = {entity, "foreign_cpu", "", dt},
                          lost = {entity, "lost", "", dt};
        uint32_t a, b, l;

        if (w->client >= 0 && s->servers > 1)
            snprintf(entity, sizeof entity, "case:%.60s:%lld:%lld", k->name, (long long)w->client,
                     (long long)w->server);
        else if (w->client >= 0)
            snprintf(entity, sizeof entity, "case:%.60s:%lld", k->name, (long long)w->client);
        else
            snprintf(entity, sizeof entity, "case:%.60s", k->name);
        if (!run_open_series(run, &rate, &a, err) || !run_open_series(run, &foreign, &b, err) ||
            !run_open_series(run, &lost, &l, err) ||
            !run_put_slice(run, l, (int64_t)i * dt, dt, w->lost, err) ||
            !run_put_slice(run, a, (int64_t)i * dt, dt, w->rate, err) ||
            !run_put_slice(run, b, (int64_t)i * dt, dt, w->foreign, err))
            return false;
    }
    return true;
}

bool rpc_collected_put(struct run *run, const struct rpc_collected *c, const struct rpc_spec *s,
                       struct wr_err *err)
{
    char key[48];

    assert(c->window.n);
    if (!collect_put_parameters(run, c, s, err) ||
        !collect_put_limits(run, "before", &c->before, err) ||
        !collect_put_limits(run, "after", &c->after, err) ||
        !run_put_text(run, "transport", s->transport, err) ||
        !run_put_count(run, "limit.cache", rpc_cache_b(), "B", err) ||
        !run_put_text(run, "servers_wait", c->waits, err) ||
        !run_put_count(run, "dropped", c->dropped, "", err))
        return false;
    for (uint32_t i = 0; i < s->cases.n; i++)
        if (!collect_put_case(run, c, s, i, err))
            return false;
    for (size_t i = 0; i < c->trouble.n; i++) {
        snprintf(key, sizeof key, "trouble.%zu", i);
        if (!run_put_text(run, key, c->trouble.v[i], err))
            return false;
    }
    for (size_t i = 0; i < c->nic.n; i++) {
        const char *name = strchr(c->nic.v[i], ' ');

        snprintf(key, sizeof key, "nic.%.*s", (int)(name - c->nic.v[i]), c->nic.v[i]);
        if (!run_put_text(run, key, name + 1, err))
            return false;
    }
    return collect_put_windows(run, c, s, err);
}
