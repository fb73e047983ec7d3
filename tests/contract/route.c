/* Every routing on every topology, several sets of numbers each: reaches every
 * pair within its bound on channels it declared, and no packets can wait for
 * each other in a circle; or it refuses and says what to do. */
#include "contract/route_walk.h"

#include <string.h>

#include "net/route/route_params.h"
#include "net/topo/topo_dragonfly.h"

struct plug_case {
    const char *kind;
    const void *params;
};

#define CASE(name, type, ...) \
    {                         \
        name, &(struct type)  \
        {                     \
            __VA_ARGS__       \
        }                     \
    }

static const struct plug_case topos[] = {
    /* groups, routers, nodes, globals, arrangement: absolute, relative, palmtree, circulant,
       reference */
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 0),
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 2),
    CASE("dragonfly", topo_dragonfly_params, 9, 4, 2, 2, 4),
    CASE("dragonfly", topo_dragonfly_params, 4, 6, 1, 2, 1), /* several cables per pair */
    CASE("dragonfly", topo_dragonfly_params, 6, 4, 1, 3, 0), /* 2 per pair, 2 ports spare */
    CASE("dragonfly", topo_dragonfly_params, 2, 4, 3, 2, 3), /* two groups */
    CASE("dragonfly", topo_dragonfly_params, 1, 5, 1, 0, 0), /* one group */
    CASE("dragonfly", topo_dragonfly_params, 7, 1, 1, 6, 2), /* groups of one */
    CASE("dragonfly", topo_dragonfly_params, 20, 8, 2, 4, 1),
};

static const struct plug_case routes[] = {
    CASE("minimal", route_minimal_params, ROUTE_FIXED, ROUTE_STUDY),
    CASE("minimal", route_minimal_params, ROUTE_RANDOM, ROUTE_PHASE),
    CASE("minimal", route_minimal_params, ROUTE_LEAST, ROUTE_STUDY),
    CASE("par", route_par_params, {2, 0, ROUTE_BY_PORT}, ROUTE_LEAST, ROUTE_STUDY),
    CASE("par", route_par_params, {1, 64, ROUTE_BY_HOPS}, ROUTE_RANDOM, ROUTE_PHASE),
};

enum { NTOPOS = sizeof topos / sizeof *topos, NROUTES = sizeof routes / sizeof *routes };

static struct topo open_topo(const struct plug_case *c)
{
    struct wr_err err = {0};
    struct topo t;

    if (!topo_open(&t, topo_find(c->kind), c->params, &err))
        fail_msg("%s", err.text);
    return t;
}

static bool try_route(struct route *ret, const struct plug_case *c, const struct topo *t)
{
    const struct route_ops *ops = route_find(c->kind);
    struct wr_err err = {0};

    assert_non_null(ops);
    if (route_open(ret, ops, c->params, t, &err))
        return true;
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "use "));
    return false;
}

typedef void check_fn(const struct route *rt);

static void for_every_pairing(check_fn *check)
{
    for (size_t i = 0; i < NTOPOS; i++) {
        struct topo t = open_topo(&topos[i]);

        for (size_t k = 0; k < NROUTES; k++) {
            struct route rt;

            if (!try_route(&rt, &routes[k], &t))
                continue;
            check(&rt);
            route_close(&rt);
        }
        topo_close(&t);
    }
}

static uint32_t repetitions(const struct topo *t)
{
    uint32_t pairs = t->nrouters * t->nrouters;

    return pairs > 40000 ? 2 : 2 + 40000 / pairs;
}

static void walk_all(const struct route *rt, struct walk_deps *deps)
{
    const struct topo *t = rt->topo;
    struct walk_view view = {.view.load = walk_load};
    struct wr_rng rng;
    uint32_t reps = repetitions(t);

    wr_rng_init(&rng, 7, 0, 0);
    for (uint32_t i = 0; i < reps; i++)
        for (uint32_t src = 0; src < t->nrouters; src++)
            for (uint32_t dst = 0; dst < t->nrouters; dst++) {
                view.salt = wr_rng_u32(&rng);
                walk_pair(rt, src, dst, &view.view, &rng, deps);
            }
}

static void check_walks(const struct route *rt)
{
    struct walk_deps deps = walk_deps_new(rt);

    assert_in_range(rt->nvcs, 1, ROUTE_MAX_VCS);
    walk_all(rt, &deps);
    if (!walk_deps_acyclic(&deps, rt->topo))
        fail_msg("%s on %s: the channel-dependency graph has a cycle", rt->ops->kind.name,
                 rt->topo->ops->kind.name);
    free(deps.bit);
}

static void every_pair_is_reached_without_deadlock_or_the_pairing_is_refused(void **state)
{
    (void)state;
    for_every_pairing(check_walks);
}

/* The same walks with all channels made one: on a dragonfly that must be a
 * cycle, or the test above could not fail. */
static struct route_hop decide_on_one_channel(const struct route *rt, struct route_pkt *p,
                                              uint32_t here, const struct route_view *view,
                                              struct wr_rng *rng)
{
    struct route_hop hop = route_find("par")->decide(rt, p, here, view, rng);

    hop.vc = 0;
    return hop;
}

static void the_cycle_check_finds_a_cycle(void **state)
{
    struct topo t = open_topo(&topos[0]);
    struct route rt;

    (void)state;
    assert_true(try_route(&rt, &routes[3], &t));
    struct route_ops bad = *rt.ops;

    bad.decide = decide_on_one_channel;
    rt.ops = &bad;
    struct walk_deps deps = walk_deps_new(&rt);

    walk_all(&rt, &deps);
    assert_false(walk_deps_acyclic(&deps, &t));
    free(deps.bit);
    route_close(&rt);
    topo_close(&t);
}

static void check_minimal_path(const struct route *rt)
{
    const struct topo *t = rt->topo;
    struct walk_view view = {.view.load = walk_load};
    struct wr_rng rng;

    if (strcmp(rt->ops->kind.name, "minimal") || strcmp(t->ops->kind.name, "dragonfly"))
        return;
    wr_rng_init(&rng, 8, 0, 0);
    for (uint32_t src = 0; src < t->nrouters; src++)
        for (uint32_t dst = 0; dst < t->nrouters; dst++) {
            view.salt = wr_rng_u32(&rng);
            struct walk_path path = walk_pair(rt, src, dst, &view.view, &rng, NULL);
            char seen[WALK_MAX + 1] = "";

            for (uint32_t i = 0; i < path.n; i++)
                seen[i] = path.cls[i] == TOPO_OWN ? 'L' : 'G';
            bool same = t->group[src] == t->group[dst];

            assert_false(path.nonminimal);
            assert_int_equal(strchr(seen, 'G') == NULL, same);
            assert_true(!strcmp(seen, "") || strstr(same ? "L" : "LGL", seen));
        }
}

static void minimal_on_a_dragonfly_is_local_global_local(void **state)
{
    (void)state;
    for_every_pairing(check_minimal_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_reached_without_deadlock_or_the_pairing_is_refused),
        cmocka_unit_test(the_cycle_check_finds_a_cycle),
        cmocka_unit_test(minimal_on_a_dragonfly_is_local_global_local),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
