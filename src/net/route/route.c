/* route.c -- the table of routings; opening one on a topology. */
#include "net/route/route.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "net/topo/fail.h"
#include "route_priv.h"

#define ROUTES(X)                                                                       \
    X(route_minimal), X(route_valiant), X(route_ugal_l), X(route_ugal_g), X(route_par), \
        X(route_dimension_order), X(route_updown), X(route_table_paths)

#define OPS(r) &r
#define KIND(r) &r.kind

const struct route_ops *const route_table[] = {ROUTES(OPS), NULL};
const struct conf_kind *const route_kinds[] = {ROUTES(KIND), NULL};

const char *const route_choice_names[] = {"fixed", "random", "least-loaded", NULL};
const char *const route_channels_names[] = {"study", "phase", NULL};
const char *const route_weight_names[] = {"port", "hops", NULL};
const char *const route_via_names[] = {"auto", "group", "router", "node", NULL};

/* route_pkt counts hops in a byte. */
static bool route_check_hops(const struct route *rt, struct wr_err *err)
{
    if (rt->max_hops <= UINT8_MAX)
        return true;
    return wr_fail(err, WR_INPUT,
                   "paths would have up to %u hops, at most %d are possible; use a topology of "
                   "smaller diameter",
                   rt->max_hops, UINT8_MAX);
}

bool route_open(struct route *ret, const struct route_ops *ops, const void *params,
                const struct topo *topo, struct wr_err *err)
{
    struct route rt = {.ops = ops, .params = params, .topo = topo};

    assert(ops && params && topo->port);
    if (topo_check_joined(topo, err) && ops->init(&rt, err)) {
        assert(rt.nvcs <= ROUTE_MAX_VCS && !(rt.early && rt.maybe_early));
        if (route_check_hops(&rt, err)) {
            *ret = rt;
            return true;
        }
        route_close(&rt);
    }
    return wr_wrap(err, "routing %s on %s", ops->kind.name, topo->ops->kind.name);
}

void route_close(struct route *rt)
{
    if (rt->ops && rt->ops->fini)
        rt->ops->fini(rt);
    *rt = (struct route){0};
}

const struct route_ops *route_find(const char *name)
{
    for (const struct route_ops *const *o = route_table; *o; o++)
        if (!strcmp((*o)->kind.name, name))
            return *o;
    return NULL;
}
