/* rpc/service.c -- writes the service file (service.h); store/store_service.c reads its keys. */
#include "rpc/service.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/str.h"

enum { METRIC_RPC, METRIC_BW, METRIC_IOPS, METRIC_SBW };

const struct wr_format rpc_service_format = {.name = "a measured service",
                                             .endings = ".yaml .yml",
                                             .begins = "# Measured by weir roofline collect",
                                             .data = true};

static double service_mid(const struct rpc_span *r)
{
    return (r->lo + r->hi) / 2;
}

/* Mean processor time of a call, on one side, in the windows of the case that shows the peak. */
static double service_cpu_s(const struct rpc_collected *c, uint32_t of, bool server)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < c->window.n; i++) {
        const struct rpc_window *w = &c->window.v[i];

        if (w->of != of || !(w->rate > 0))
            continue;
        sum += (server ? w->server_cpu : w->client_cpu) / w->rate;
        n++;
    }
    return n > 0 ? sum / n : 0;
}

/* What a lone call takes beside the server, in seconds: of the middle, and its range. */
static double service_rest_s(const struct rpc_span *client, const struct rpc_span *server,
                             double *ret_min, double *ret_max)
{
    *ret_min = fmax(0, 1 / client->hi - 1 / server->lo);
    *ret_max = fmax(0, 1 / client->lo - 1 / server->hi);
    return fmax(0, 1 / service_mid(client) - 1 / service_mid(server));
}

static void service_add_time(struct wr_str *out, const char *key, double s, const char *why)
{
    wr_str_addf(out, "%s: %.3f ns%s%s\n", key, 1e9 * s, *why ? "   # " : "", why);
}

static void service_add_bytes(struct wr_str *out, const struct rpc_collected *c)
{
    const struct rpc_span *client = &c->client[METRIC_BW], *server = &c->server[METRIC_BW];
    double least, most;

    if (!client->n || !server->n)
        return;
    double rest = service_rest_s(client, server, &least, &most);

    wr_str_addf(out, "bandwidth: %.0f B/s   # of a server, saturated\n", service_mid(server));
    if (rest > 0)
        wr_str_addf(out, "client_bandwidth: %.0f B/s   # what a lone client takes longer\n",
                    1 / rest);
}

/* Calls under way at a server in the case that had most. */
static uint32_t service_most_requests(const struct rpc_spec *s)
{
    const struct rpc_case *k = s->cases.items;
    uint32_t servers = s->servers ? s->servers : 1, most = 1;

    for (size_t i = 0; i < s->cases.n; i++) {
        uint32_t clients = k[i].clients ? k[i].clients : s->clients;
        uint32_t n = (clients + servers - 1) / servers * k[i].depth;

        most = n > most ? n : most;
    }
    return most;
}

static void service_add_range(struct wr_str *out, const struct rpc_collected *c,
                              const struct rpc_spec *s, double least, double most)
{
    const struct rpc_span *server = &c->server[METRIC_RPC], *bytes = &c->server[METRIC_BW];

    wr_str_addf(out, "measured:\n  requests: %u   # of a server at a time, at most\n",
                service_most_requests(s));
    wr_str_addf(out, "  server_cpu_min: %.3f ns\n  server_cpu_max: %.3f ns\n", 1e9 / server->hi,
                1e9 / server->lo);
    wr_str_addf(out, "  latency_min: %.3f ns   # with client_cpu\n  latency_max: %.3f ns\n",
                1e9 * least, 1e9 * most);
    if (bytes->n)
        wr_str_addf(out, "  bandwidth_min: %.0f B/s\n  bandwidth_max: %.0f B/s\n", bytes->lo,
                    bytes->hi);
}

/* Storage is a device of the simulation: what servers reached with theirs is for the reader. */
static void service_add_storage(struct wr_str *out, const struct rpc_collected *c)
{
    const struct rpc_span *iops = &c->server[METRIC_IOPS], *bytes = &c->server[METRIC_SBW];

    if (iops->n)
        wr_str_addf(out, "# Storage of a server: %.0f to %.0f operations per second.\n", iops->lo,
                    iops->hi);
    if (bytes->n)
        wr_str_addf(out, "# Storage of a server: %.0f to %.0f MB/s.\n", bytes->lo / 1e6,
                    bytes->hi / 1e6);
}

bool rpc_service_text(struct wr_str *out, const struct rpc_collected *c, const struct rpc_spec *s,
                      struct wr_err *err)
{
    const struct rpc_span *client = &c->client[METRIC_RPC], *server = &c->server[METRIC_RPC];
    double least, most;

    assert(s->servers && s->clients); /* rpc_spec_check() */
    if (!client->n || !server->n)
        return wr_fail(err, WR_INPUT,
                       "calls without payload of a lone client and of all clients are needed for a "
                       "service; add cases with op noop that measure client and server");
    double rest = service_rest_s(client, server, &least, &most);
    double cpu = fmin(rest, service_cpu_s(c, client->of, false));

    wr_str_addf(
        out,
        "# Measured by weir roofline collect: %s, %u server%s, %u clients. For simulations: "
        "storage: {service: FILE}.\n",
        s->transport, s->servers, s->servers == 1 ? "" : "s", s->clients);
    if (server->disturbed || client->disturbed)
        wr_str_add(out, "# Others used the machine meanwhile: rates may be too low.\n");
    wr_str_addf(out, "# Processor time of a call at a saturated server: %.0f ns.\n",
                1e9 * service_cpu_s(c, server->of, true));
    service_add_storage(out, c);
    wr_str_addf(out, "title: %s, %u server%s, %u clients\n", s->transport, s->servers,
                s->servers == 1 ? "" : "s", s->clients);
    service_add_time(out, "server_cpu", 1 / service_mid(server), "1 / rate of a saturated server");
    service_add_time(out, "client_cpu", cpu, "processor time of a lone client, at most the rest");
    service_add_time(out, "latency", rest - cpu, "the rest of a lone call");
    service_add_bytes(out, c);
    wr_str_add(out, "concurrency: 1\ntimes: exponential\n");
    service_add_range(out, c, s, least, most);
    return true;
}
