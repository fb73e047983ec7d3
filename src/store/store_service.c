/* store_service.c -- the software of servers as a measured service: requests queue for a server's
 * processors, and their bytes for its NIC.
 *
 *   client                         server
 *   think (client_cpu, latency, --request--> [ queue | cpu x concurrency ] --> device, buffer
 *     bytes / client_bandwidth)    --data-->  [ queue | nic ]               --> device
 *                                 <--data---  [ queue | nic ]              <-- device
 *
 * `weir roofline collect --service` writes the numbers. Without a service a server's software is a
 * delay (server_overhead), and no request waits for it.
 *
 * Owns s->service: per server, when each of its processors and its NIC is free, and its stream of
 * randomness. A server's are changed in its own partition only. With exponential times, N clients
 * and one server are the closed queue of stat_mva(), which tests/unit/store_service.c compares.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "store_priv.h"

enum { SERVICE_PURPOSE = 0x73657276 }; /* "serv": how long a request takes a server */

static bool service_is_given(const struct store_service_params *p)
{
    return p->server_ps > 0 || p->bandwidth > 0 || p->client_ps > 0 || p->latency_ps > 0 ||
           p->client_bandwidth > 0;
}

void store_service_open(struct store *s)
{
    const struct store_service_params *p = &s->p.service;

    if (!service_is_given(p))
        return;
    assert(p->concurrency > 0);
    s->p.client_ps = p->client_ps + p->latency_ps;
    s->p.server_ps = 0;
    s->service = wr_zalloc(s->nservers, sizeof *s->service);
    for (uint32_t i = 0; i < s->nservers; i++) {
        s->service[i].free_ps = wr_zalloc(p->concurrency, sizeof(uint64_t));
        wr_rng_init(&s->service[i].rng, s->seed, i, SERVICE_PURPOSE);
    }
}

void store_service_close(struct store *s)
{
    for (uint32_t i = 0; s->service && i < s->nservers; i++)
        free(s->service[i].free_ps);
    free(s->service);
}

uint64_t store_service_client_ps(const struct store *s, uint64_t bytes)
{
    double bps = s->service ? s->p.service.client_bandwidth : 0;

    return bps > 0 ? store_ps((double)bytes / bps * 1e12) : 0;
}

static uint64_t service_draw_ps(const struct store *s, struct store_service *v)
{
    const struct store_service_params *p = &s->p.service;

    return store_ps(p->server_ps * (p->times == STORE_TIMES_CONSTANT ? 1 : wr_rng_exp(&v->rng)));
}

uint64_t store_service_cpu_ps(struct store *s, uint32_t site)
{
    struct store_service *v = &s->service[site];
    uint64_t now = s->sim->now;
    struct store_site *t = &s->site[site];
    uint32_t first = 0;

    assert(site < s->nservers);
    for (uint32_t i = 1; i < s->p.service.concurrency; i++)
        first = v->free_ps[i] < v->free_ps[first] ? i : first;
    t->inside++;
    t->crowded += s->p.service.measured.requests && t->inside > s->p.service.measured.requests;
    uint64_t from = v->free_ps[first] > now ? v->free_ps[first] : now;

    v->free_ps[first] = from + service_draw_ps(s, v);
    return v->free_ps[first];
}

uint64_t store_service_nic_ps(struct store *s, uint32_t site, uint64_t bytes)
{
    struct store_service *v = &s->service[site];
    uint64_t now = s->sim->now, from = v->nic_free_ps > now ? v->nic_free_ps : now;

    assert(site < s->nservers);
    v->nic_free_ps = from + store_ps((double)bytes / s->p.service.bandwidth * 1e12);
    return v->nic_free_ps;
}

void store_service_served(struct store *s, uint32_t site)
{
    if (!s->service || site >= s->nservers)
        return;
    assert(s->site[site].inside > 0);
    s->site[site].inside--;
}

uint64_t store_service_crowded(const struct store *s, struct wr_str *out)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->nservers; i++)
        sum += s->site[i].crowded;
    if (sum)
        wr_str_addf(out,
                    "%sservers had more requests at a time than the %u they were measured with; "
                    "measure the service with as many",
                    out->n ? "; " : "", s->p.service.measured.requests);
    return sum;
}
