/* roofline.h -- what clients and servers of a data service can reach together.
 *
 *   per client |        ________ C: what one client alone gets from an idle server
 *              |       /  .....  (the knee is really round: waiting, by mean-value analysis)
 *              |      /..
 *              |     /.          x < x*: server bound, add servers
 *              |    /            x > x*: client bound
 *              |   / x S
 *              +-------+-------> x = servers / clients
 *                      x* = C / S
 *
 *   per client min(C, x S), per server min(S, C / x), aggregate min(n_c C, n_s S)
 *
 * S is the rate of one server process of a saturated node. A third ceiling, that of the
 * clients' node, holds where several clients share what their node can take:
 * C' = min(C, node / clients per node) stands in the place of C. Units are the caller's.
 */
#ifndef STAT_ROOFLINE_H
#define STAT_ROOFLINE_H

#include <stddef.h>
#include <stdint.h>

struct stat_range {
    double lo, hi;
};

static inline double stat_range_mid(struct stat_range r)
{
    return (r.lo + r.hi) / 2;
}

struct stat_roof {
    struct stat_range client, server; /* C and S; above 0 */
    struct stat_range node;           /* of all clients of a node together; INFINITY: no ceiling */
    double per_node;                  /* clients on a node */
};

enum stat_bound { STAT_BOUND_CLIENT, STAT_BOUND_SERVER, STAT_BOUND_NODE };
extern const char *const stat_bound_names[];

struct stat_roof_point {
    double x;
    struct stat_range client, server, total;
    enum stat_bound bound_lo, bound_hi;
};

struct stat_roof_point stat_roof_at(const struct stat_roof *r, double servers, double clients);

/* What a client gets at most: the least of the bounds, all at the same place `at` of their ranges,
 * 0 the low end, 0.5 the middle, 1 the high end. stat_roof_mva(at) is never above it. The middle of
 * the band is not this: half the sum of two minima is below the minimum of two half sums. */
double stat_roof_bound(const struct stat_roof *r, double at, double servers, double clients);

/* How far `v` is from a band, in percent of its nearer edge: below 0 below it, above 0 above it, 0
 * inside. NaN, not known: inside a band whose high end is more than STAT_KNOWN times its low end,
 * where 0 would say that a rate is at the roof which may be less than half of it. */
#define STAT_KNOWN 2.0
double stat_range_distance(struct stat_range band, double v);

/* Servers per client where the roof bends: from the least C over the largest S to the
 * opposite; with the node's ceiling in it. */
struct stat_range stat_roof_knee(const struct stat_roof *r);
double stat_roof_knee_mid(const struct stat_roof *r);

/* Servers per client to draw a roof at: n of them, 2 or more, in equal ratios from `from` to `to`,
 * with the knee of the high ends among them, so that it is drawn as a corner. */
void stat_roof_steps(const struct stat_roof *r, double from, double to, double *x, size_t n);

/* Of `processes` in all, how many should be servers: n_s = P C / (C + S), the better of
 * its two neighbours, from 1 to P - 1. Middle of the ranges. processes >= 2. */
uint64_t stat_roof_best_servers(const struct stat_roof *r, uint64_t processes);

/* Exact mean-value analysis of a closed queueing network (Reiser and Lavenberg, 1980):
 * `population` clients think for `think`, then pass `n` stations where they are served
 * for demand[k]. The throughput of all together. */
enum stat_service { STAT_SERVICE_EXP, STAT_SERVICE_DET };
double stat_mva(const double *demand, size_t n, double think, uint32_t population,
                enum stat_service service);

/* The round knee: what a client gets when `clients` are spread over `servers` as evenly as
 * can be, with s = 1 / S and think time 1 / C - 1 / S. Where C >= S one client can
 * saturate a server, there is no time to think and the roof is the answer. `at` picks the low end
 * of the ranges (0), their middle (0.5) or the high end (1). */
double stat_roof_mva(const struct stat_roof *r, double at, double servers, double clients,
                     enum stat_service service);

/* A mixed workload: one operation of the application is `amount[k]` units of metric k. The
 * client does one thing after the other, so its rate is that of the sum of its times. At a
 * server the metrics are different resources: its rate is at best that of the slowest
 * of them, at worst, when one thread does everything, that of the sum. Metrics of which an
 * operation takes nothing are left out. */
struct stat_roof stat_roof_mix(const struct stat_roof *roofs, const double *amount, size_t n);

#endif
