/* route_valiant.c -- by a random intermediate, always.
 *
 * Valiant and Brebner, "Universal schemes for parallel communication", STOC
 * 1981: any traffic becomes two uniform ones. On a machine of groups, packets
 * that stay in their group go straight (Kim et al., ISCA 2008).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "route_pick_priv.h"
#include "route_priv.h"
#include "route_two_priv.h"

#define AT(field) offsetof(struct route_valiant_params, field)

static const struct conf_row rows[] = {
    ROUTE_ROW_VIA(AT(via)),
    ROUTE_ROW_CHOICE(AT(choice), "random"),
    CONF_END,
};

static bool valiant_init(struct route *rt, struct wr_err *err)
{
    const struct route_valiant_params *params = rt->params;
    struct route_two two;

    if (!two_init(rt, &two, params->via, params->choice, err))
        return false;
    rt->maybe_early = two_is_maybe_early(&two);
    rt->priv = wr_alloc(sizeof two);
    *(struct route_two *)rt->priv = two;
    return true;
}

static void valiant_fini(struct route *rt)
{
    two_fini(rt->priv);
    free(rt->priv);
}

static struct route_hop valiant_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                                       const struct route_view *view, struct wr_rng *rng)
{
    const struct route_two *two = rt->priv;

    if (!view && !p->hops)
        return (struct route_hop){.port = ROUTE_LATER};
    if (!p->hops) {
        uint32_t mid = two_draw(two, p, here, rng);

        if (mid == ROUTE_NONE)
            two_go_straight(two, p);
        else
            two_go_by(p, mid);
    }
    return two_hop(two, p, here, view, rng);
}

const struct route_ops route_valiant = {
    .kind = {.name = "valiant",
             .summary = "by a random intermediate group, router or node",
             .rows = rows,
             .params_size = sizeof(struct route_valiant_params)},
    .init = valiant_init,
    .fini = valiant_fini,
    .decide = valiant_decide,
};
