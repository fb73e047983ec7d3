/* arrange.c -- the global arrangements of machines made of groups.
 *
 * Every arrangement is written for the full machine, in which each group has
 * exactly one global port per other group: n = ngroups - 1 ports. A group with
 * more ports repeats the pattern, port by port, as often as it fits whole, and
 * leaves the rest empty; so each pair of groups has the same number of cables:
 *
 *   port    0 .. n-1 | n .. 2n-1 | ... | fewer than n left: empty
 *   copy    0        | 1         |
 *
 * Absolute, relative and circulant: Hastings et al., "Comparing global link
 * arrangements for Dragonfly networks", CLUSTER 2015. Palmtree: Camarero,
 * Vallejo, Beivide, ACM TACO 11(4), 2014.
 */
#include <assert.h>

#include "net/topo/gateway.h"
#include "topo_priv.h"

const char *const topo_arrangement_names[] = {"absolute",  "relative",  "palmtree",
                                              "circulant", "reference", NULL};

/* Port k < n of group g: where it goes, when there is one port per other group. */
typedef uint32_t arrange_fn(uint32_t ngroups, uint32_t g, uint32_t k);

static uint32_t arrange_absolute(uint32_t ngroups, uint32_t g, uint32_t k)
{
    (void)ngroups;
    return k < g ? k : k + 1;
}

static uint32_t arrange_absolute_back(uint32_t ngroups, uint32_t g, uint32_t k)
{
    uint32_t d = arrange_absolute(ngroups, g, k);

    return g < d ? g : g - 1;
}

static uint32_t arrange_relative(uint32_t ngroups, uint32_t g, uint32_t k)
{
    return (g + k + 1) % ngroups;
}

static uint32_t arrange_palmtree(uint32_t ngroups, uint32_t g, uint32_t k)
{
    return (g + ngroups - k - 1) % ngroups;
}

/* Going k+1 forward and going n-k forward is once around. */
static uint32_t arrange_mirrored(uint32_t ngroups, uint32_t g, uint32_t k)
{
    (void)g;
    return ngroups - 2 - k;
}

/* +1, -1, +2, -2, ... */
static uint32_t arrange_circulant(uint32_t ngroups, uint32_t g, uint32_t k)
{
    uint32_t step = k / 2 + 1;

    return k % 2 ? (g + ngroups - step) % ngroups : (g + step) % ngroups;
}

static uint32_t arrange_circulant_back(uint32_t ngroups, uint32_t g, uint32_t k)
{
    (void)g;
    /* With an even number of groups the last port goes straight across,
     * and so does the one it meets. */
    if (k + 2 == ngroups && k % 2 == 0)
        return k;
    return k ^ 1;
}

static const struct {
    arrange_fn *to;   /* the group that port k of g goes to */
    arrange_fn *back; /* the port of that group which comes back */
} arrangements[] = {
    [TOPO_ABSOLUTE] = {arrange_absolute, arrange_absolute_back},
    [TOPO_RELATIVE] = {arrange_relative, arrange_mirrored},
    [TOPO_PALMTREE] = {arrange_palmtree, arrange_mirrored},
    [TOPO_CIRCULANT] = {arrange_circulant, arrange_circulant_back},
    [TOPO_REFERENCE] = {arrange_relative, arrange_mirrored},
};

struct topo_far topo_arrange(enum topo_arrangement how, uint32_t ngroups, uint32_t nglobals,
                             uint32_t group, uint32_t index)
{
    uint32_t n = ngroups - 1;

    assert(ngroups && group < ngroups && index < nglobals);
    if (!n || index / n >= nglobals / n)
        return (struct topo_far){.group = TOPO_NONE};
    uint32_t copy = index / n, k = index % n;

    return (struct topo_far){
        .group = arrangements[how].to(ngroups, group, k),
        .index = copy * n + arrangements[how].back(ngroups, group, k),
    };
}

bool topo_arrange_check(enum topo_arrangement how, uint32_t *ngroups, uint32_t nrouters,
                        uint32_t globals, struct wr_err *err)
{
    uint64_t ports = (uint64_t)nrouters * globals, most = ports + 1;
    uint64_t want = *ngroups ? *ngroups : most;

    if (want > most)
        return wr_fail(err, WR_INPUT,
                       "%u groups need %u global links per group, and %u routers x %u have %llu; "
                       "use at most %llu groups, or globals: %u",
                       *ngroups, *ngroups - 1, nrouters, globals, (unsigned long long)ports,
                       (unsigned long long)most, (*ngroups - 1 + nrouters - 1) / nrouters);
    /* The published rule counts g + globals*i + k + 1 modulo the groups, and
     * meets router routers-1-i only when one port per other group is there. */
    if (how == TOPO_REFERENCE && want != most)
        return wr_fail(err, WR_INPUT,
                       "the reference arrangement needs exactly routers x globals + 1 = %llu "
                       "groups, not %u; use groups: %llu or arrangement: relative",
                       (unsigned long long)most, *ngroups, (unsigned long long)most);
    if (want > TOPO_MAX_GATEWAY_GROUPS)
        return wr_fail(err, WR_INPUT, "%llu groups are too many; use groups: %u or fewer",
                       (unsigned long long)want, TOPO_MAX_GATEWAY_GROUPS);
    *ngroups = (uint32_t)want;
    return true;
}
