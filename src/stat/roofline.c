/* roofline.c -- bounds of a client-server service, its knee, and mean-value analysis.
 *
 * Pure functions of the parameters in struct stat_roof; see roofline.h for the model.
 */
#include "stat/roofline.h"

#include <assert.h>
#include <math.h>

const char *const stat_bound_names[] = {"client", "server", "node"};

static double roof_client_ceiling(const struct stat_roof *r, double c, double node)
{
    return fmin(c, node / r->per_node);
}

static double roof_client(const struct stat_roof *r, double c, double s, double node, double x,
                          enum stat_bound *bound)
{
    double own = roof_client_ceiling(r, c, node);

    if (x * s < own) {
        *bound = STAT_BOUND_SERVER;
        return x * s;
    }
    *bound = own < c ? STAT_BOUND_NODE : STAT_BOUND_CLIENT;
    return own;
}

struct stat_roof_point stat_roof_at(const struct stat_roof *r, double servers, double clients)
{
    struct stat_roof_point p = {.x = servers / clients};

    p.client.lo = roof_client(r, r->client.lo, r->server.lo, r->node.lo, p.x, &p.bound_lo);
    p.client.hi = roof_client(r, r->client.hi, r->server.hi, r->node.hi, p.x, &p.bound_hi);
    p.server = (struct stat_range){p.client.lo / p.x, p.client.hi / p.x};
    p.total = (struct stat_range){p.client.lo * clients, p.client.hi * clients};
    return p;
}

struct stat_range stat_roof_knee(const struct stat_roof *r)
{
    return (struct stat_range){roof_client_ceiling(r, r->client.lo, r->node.lo) / r->server.hi,
                               roof_client_ceiling(r, r->client.hi, r->node.hi) / r->server.lo};
}

static double roof_interpolate(struct stat_range r, double at)
{
    return r.lo == r.hi ? r.lo : r.lo + at * (r.hi - r.lo);
}

static double roof_knee_at(const struct stat_roof *r, double at)
{
    return roof_client_ceiling(r, roof_interpolate(r->client, at), roof_interpolate(r->node, at)) /
           roof_interpolate(r->server, at);
}

double stat_roof_knee_mid(const struct stat_roof *r)
{
    return roof_knee_at(r, 0.5);
}

void stat_roof_steps(const struct stat_roof *r, double from, double to, double *x, size_t n)
{
    assert(n >= 2 && from > 0 && to > from);
    double knee = roof_knee_at(r, 1), at = log(knee / from) / log(to / from) * (double)(n - 1);

    for (size_t i = 0; i < n; i++)
        x[i] = from * pow(to / from, (double)i / (double)(n - 1));
    if (at > 0.5 && at < (double)n - 1.5)
        x[lround(at)] = knee;
}

double stat_roof_bound(const struct stat_roof *r, double at, double servers, double clients)
{
    enum stat_bound unused;

    return roof_client(r, roof_interpolate(r->client, at), roof_interpolate(r->server, at),
                       roof_interpolate(r->node, at), servers / clients, &unused);
}

double stat_range_distance(struct stat_range band, double v)
{
    if (v < band.lo)
        return 100 * (v / band.lo - 1);
    if (v > band.hi)
        return 100 * (v / band.hi - 1);
    return band.hi > STAT_KNOWN * band.lo ? NAN : 0;
}

static double roof_total_mid(const struct stat_roof *r, double servers, double clients)
{
    return clients * stat_roof_bound(r, 0.5, servers, clients);
}

uint64_t stat_roof_best_servers(const struct stat_roof *r, uint64_t processes)
{
    assert(processes >= 2);
    double knee = stat_roof_knee_mid(r), p = (double)processes;
    double low = fmin(fmax(floor(p * knee / (1 + knee)), 1), p - 1), high = fmin(low + 1, p - 1);

    return (uint64_t)(roof_total_mid(r, high, p - high) > roof_total_mid(r, low, p - low) ? high
                                                                                          : low);
}

enum { MVA_STATIONS = 8 };

double stat_mva(const double *demand, size_t n, double think, uint32_t population,
                enum stat_service service)
{
    double queue[MVA_STATIONS] = {0}, busy[MVA_STATIONS] = {0}, x = 0, worst = 0;

    if (n > MVA_STATIONS)
        return NAN;
    for (size_t k = 0; k < n; k++)
        worst = fmax(worst, demand[k]);
    for (uint32_t i = 1; i <= population; i++) {
        double stay[MVA_STATIONS], total = think;

        for (size_t k = 0; k < n; k++) {
            /* Of a constant service that is under way half is over on average. */
            double ahead = queue[k] - (service == STAT_SERVICE_DET ? busy[k] / 2 : 0);

            stay[k] = demand[k] * (1 + ahead);
            total += stay[k];
        }
        x = i / total;
        for (size_t k = 0; k < n; k++) {
            queue[k] = x * stay[k];
            busy[k] = x * demand[k];
        }
    }
    /* The correction for constant service is approximate and may predict too much. */
    return worst > 0 ? fmin(x, 1 / worst) : x;
}

double stat_roof_mva(const struct stat_roof *r, double at, double servers, double clients,
                     enum stat_service service)
{
    double c =
        roof_client_ceiling(r, roof_interpolate(r->client, at), roof_interpolate(r->node, at));
    double s = roof_interpolate(r->server, at), n = clients / servers, low = floor(n),
           part = n - low;

    if (c >= s)
        return fmin(c, s / n);
    double demand = 1 / s, think = 1 / c - 1 / s;
    /* Some servers have one client more than the others. */
    double each = (1 - part) * stat_mva(&demand, 1, think, (uint32_t)low, service);

    if (part > 0)
        each += part * stat_mva(&demand, 1, think, (uint32_t)low + 1, service);
    return each / n;
}

struct stat_roof stat_roof_mix(const struct stat_roof *roofs, const double *amount, size_t n)
{
    struct stat_range client_time = {0, 0}, sum = {0, 0}, node_time = {0, 0};
    double slowest = 0;
    struct stat_roof mix = {.per_node = n ? roofs[0].per_node : 1};

    for (size_t k = 0; k < n; k++) {
        if (!(amount[k] > 0))
            continue;
        client_time.lo += amount[k] / roofs[k].client.hi;
        client_time.hi += amount[k] / roofs[k].client.lo;
        sum.hi += amount[k] / roofs[k].server.lo;
        slowest = fmax(slowest, amount[k] / roofs[k].server.hi);
        node_time.lo = fmax(node_time.lo, amount[k] / roofs[k].node.hi);
        node_time.hi = fmax(node_time.hi, amount[k] / roofs[k].node.lo);
        mix.per_node = roofs[k].per_node;
    }
    mix.client = (struct stat_range){1 / client_time.hi, 1 / client_time.lo};
    mix.server = (struct stat_range){1 / sum.hi, 1 / slowest};
    mix.node = (struct stat_range){node_time.hi > 0 ? 1 / node_time.hi : INFINITY,
                                   node_time.lo > 0 ? 1 / node_time.lo : INFINITY};
    return mix;
}
