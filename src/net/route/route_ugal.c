/* route_ugal.c -- universal globally-adaptive load-balanced routing.
 *
 * Singh, "Load-balanced routing in interconnection networks", 2005; on the
 * dragonfly Kim et al., ISCA 2008. The first router draws one intermediate and
 * compares the minimal path with the one by it. UGAL-L sees the loads of its
 * own ports. UGAL-G sees loads elsewhere too, which no real router can: it is
 * the ideal that others are compared with.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "route_pick_priv.h"
#include "route_priv.h"
#include "route_two_priv.h"

#define AT(field) offsetof(struct route_ugal_params, field)

#define COMMON_ROWS                                                                                \
    ROUTE_ROW_VIA(AT(via)), ROUTE_ROW_FACTOR(AT(rule.factor), "1"), ROUTE_ROW_BIAS(AT(rule.bias)), \
        ROUTE_ROW_WEIGHT(AT(rule.weight), "hops"), ROUTE_ROW_CHOICE(AT(choice), "least-loaded")

static const char *const measure_names[] = {"auto", "gateway", "path", NULL};

static const struct conf_row rows_l[] = {COMMON_ROWS, CONF_END};

static const struct conf_row rows_g[] = {
    COMMON_ROWS,
    {.key = "measure",
     .type = CONF_CHOICE,
     .offset = AT(measure),
     .def = "auto",
     .names = measure_names,
     .help = "The load of a path: of the global link by which it leaves the source group, or of "
             "all its links together (then not weighted by hops); auto: gateway if there are "
             "groups."},
    CONF_END,
};

struct ugal {
    struct route_two two;
    uint32_t measure;
};

static bool ugal_init(struct route *rt, struct wr_err *err)
{
    const struct route_ugal_params *params = rt->params;
    struct ugal u = {.measure = params->measure};

    if (u.measure == ROUTE_MEASURE_AUTO)
        u.measure = rt->topo->gateways ? ROUTE_MEASURE_GATEWAY : ROUTE_MEASURE_PATH;
    if (u.measure == ROUTE_MEASURE_GATEWAY && !rt->topo->gateways)
        return wr_fail(err, WR_INPUT,
                       "measure: gateway needs a machine of groups; use `measure: path`");
    if (!two_init(rt, &u.two, params->via, params->choice, err))
        return false;
    rt->maybe_early = two_is_maybe_early(&u.two);
    rt->priv = wr_alloc(sizeof u);
    *(struct ugal *)rt->priv = u;
    return true;
}

static void ugal_fini(struct route *rt)
{
    struct ugal *u = rt->priv;

    two_fini(&u->two);
    free(u);
}

/* Two ways a packet may go: itself as it would be after its first hop. */
struct plan {
    struct route_pkt pkt;
    struct route_hop hop;
};

/* Where a decision is made. */
struct spot {
    uint32_t here;
    const struct route_view *view;
    struct wr_rng *rng;
};

static struct plan ugal_plan_first_hop(const struct route_two *two, struct route_pkt p,
                                       const struct spot *at)
{
    struct plan plan = {.pkt = p};

    plan.hop = two_hop(two, &plan.pkt, at->here, at->view, at->rng);
    return plan;
}

/* Follows the plan to the end (or out of the group) and adds up what is met. */
static double ugal_load_ahead(const struct route *rt, struct plan plan, const struct spot *at)
{
    const struct ugal *u = rt->priv;
    const struct topo *t = rt->topo;
    uint32_t here = at->here;
    double sum = 0;

    for (;;) {
        uint32_t load = at->view->load(at->view, here, plan.hop.port);
        uint32_t next = topo_port(t, here, plan.hop.port)->peer;

        if (u->measure == ROUTE_MEASURE_GATEWAY && t->group[next] != t->group[here])
            return load;
        sum += load;
        here = next;
        if (here == plan.pkt.dst_router)
            return sum;
        plan.pkt.hops++;
        plan.hop = two_hop(&u->two, &plan.pkt, here, at->view, at->rng);
    }
}

typedef double measure_fn(const struct route *rt, struct plan plan, const struct spot *at);

static double ugal_load_here(const struct route *rt, struct plan plan, const struct spot *at)
{
    (void)rt;
    return at->view->load(at->view, at->here, plan.hop.port);
}

static bool ugal_weighs_hops(const struct route *rt, measure_fn *measure)
{
    const struct route_ugal_params *params = rt->params;
    const struct ugal *u = rt->priv;

    return params->rule.weight == ROUTE_BY_HOPS &&
           (measure == ugal_load_here || u->measure == ROUTE_MEASURE_GATEWAY);
}

/* No choice inside the group, nor by an intermediate in the source group. */
static uint32_t ugal_draw(const struct route_two *two, const struct route_pkt *p, uint32_t here,
                          struct wr_rng *rng)
{
    const struct route_groups *g = &two->walk.groups;
    uint32_t mid = two_draw(two, p, here, rng);

    if (mid != ROUTE_NONE && g->topo && !two->by_group && g->group[mid] == g->group[here])
        return ROUTE_NONE;
    return mid;
}

static struct route_hop ugal_first_hop(const struct route *rt, struct route_pkt *p,
                                       const struct spot *at, measure_fn *measure)
{
    const struct ugal *u = rt->priv;
    const struct route_ugal_params *params = rt->params;
    const struct route_two *two = &u->two;
    uint32_t mid = ugal_draw(two, p, at->here, at->rng);
    struct route_pkt straight = *p, by = *p;

    two_go_straight(two, &straight);
    struct plan min = ugal_plan_first_hop(two, straight, at);

    if (mid != ROUTE_NONE) {
        two_go_by(&by, mid);
        struct plan non = ugal_plan_first_hop(two, by, at);
        double q_min = measure(rt, min, at), q_non = measure(rt, non, at);

        if (ugal_weighs_hops(rt, measure)) {
            q_min *= two->walk.hops(&two->walk, at->here, p->dst_router);
            q_non *= two_hops(two, at->here, mid, p->dst_router);
        }
        if (!route_rule_minimal(&params->rule, q_min, q_non))
            min = non;
    }
    *p = min.pkt;
    return min.hop;
}

static struct route_hop ugal_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                                    const struct route_view *view, struct wr_rng *rng,
                                    measure_fn *measure)
{
    const struct ugal *u = rt->priv;

    if (p->hops)
        return two_hop(&u->two, p, here, view, rng);
    if (!view)
        return (struct route_hop){.port = ROUTE_LATER};
    return ugal_first_hop(rt, p, &(struct spot){here, view, rng}, measure);
}

static struct route_hop ugal_decide_l(const struct route *rt, struct route_pkt *p, uint32_t here,
                                      const struct route_view *view, struct wr_rng *rng)
{
    return ugal_decide(rt, p, here, view, rng, ugal_load_here);
}

static struct route_hop ugal_decide_g(const struct route *rt, struct route_pkt *p, uint32_t here,
                                      const struct route_view *view, struct wr_rng *rng)
{
    return ugal_decide(rt, p, here, view, rng, ugal_load_ahead);
}

const struct route_ops route_ugal_l = {
    .kind = {.name = "ugal-l",
             .summary = "minimal or by a random intermediate, by the loads of the first router",
             .rows = rows_l,
             .params_size = sizeof(struct route_ugal_params)},
    .init = ugal_init,
    .fini = ugal_fini,
    .decide = ugal_decide_l,
};

const struct route_ops route_ugal_g = {
    .kind = {.name = "ugal-g",
             .summary = "the same, by loads elsewhere: an ideal to compare with",
             .rows = rows_g,
             .params_size = sizeof(struct route_ugal_params)},
    .sees_far = true,
    .init = ugal_init,
    .fini = ugal_fini,
    .decide = ugal_decide_g,
};
