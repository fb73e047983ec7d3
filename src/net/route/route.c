#include "net/route/route.h"

#include <stddef.h>
#include <string.h>

#include "route_priv.h"

const struct route_ops *const route_table[] = {
    &route_minimal,
    &route_par,
    NULL,
};

const struct conf_kind *const route_kinds[] = {
    &route_minimal.kind,
    &route_par.kind,
    NULL,
};

const char *const route_weight_names[] = {"port", "hops", NULL};

bool route_open(struct route *ret, const struct route_ops *ops, const void *params,
                const struct topo *topo, struct wr_err *err)
{
    struct route rt = {.ops = ops, .params = params, .topo = topo};

    if (!ops->init(&rt, err))
        return wr_wrap(err, "routing %s on %s", ops->kind.name, topo->ops->kind.name);
    *ret = rt;
    return true;
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
