/* Every routing on every topology, several sets of numbers each: reaches every
 * pair within its bound on channels it declared, and no packets can wait for
 * each other in a circle; or it refuses and says what to do. */
#include "contract/route_machine.h"
#include "contract/route_walk.h"
#include "net/topo/paths.h"
#include "net/topo/topo_dragonfly.h"
#include "net/topo/topo_dragonfly_xc.h"

static const struct machine_case topos[] = {
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2", ""},
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: palmtree", ""},
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: reference", ""},
    /* several cables per pair; some ports spare; two groups; one; groups of one router */
    {"dragonfly, groups: 4, routers: 6, nodes: 1, globals: 2, arrangement: relative", ""},
    {"dragonfly, groups: 6, routers: 4, nodes: 1, globals: 3", ""},
    {"dragonfly, groups: 2, routers: 4, nodes: 3, globals: 2, arrangement: circulant", ""},
    {"dragonfly, groups: 1, routers: 5, nodes: 1, globals: 0", ""},
    {"dragonfly, groups: 7, routers: 1, nodes: 1, globals: 6", ""},
    {"dragonfly, groups: 20, routers: 8, nodes: 2, globals: 4, arrangement: relative", ""},
    /* a local cable, a global cable, a router, all three */
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: reference", "0-1"},
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: reference", "0-7"},
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: reference", "5"},
    {"dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: reference",
     "2-3 0-7 12"},
    {"dragonfly, groups: 4, routers: 6, nodes: 1, globals: 2, arrangement: relative", "6-7 9"},
    {"dragonfly-xc, groups: 3, rows: 3, columns: 4, nodes: 1, globals: 1", ""},
    {"dragonfly-xc, groups: 5, rows: 2, columns: 2, nodes: 1, column_links: 1, globals: 1", ""},
    {"dragonfly-xc, groups: 4, rows: 2, columns: 3, nodes: 1, column_links: 2, globals: 2", ""},
    {"dragonfly-xc, groups: 3, rows: 4, columns: 4, nodes: 1, column_links: 1, globals: 1", ""},
    {"dragonfly-xc, groups: 3, rows: 3, columns: 3, nodes: 1, column_links: 1, globals: 1",
     "0-1 9-12 20"},
    /* one cable per pair of groups; several; one group; one spine */
    {"dragonfly-plus, leaves: 4, spines: 4, nodes: 2, globals: 2", ""},
    {"dragonfly-plus, groups: 5, leaves: 3, spines: 4, nodes: 1, globals: 2", ""},
    {"dragonfly-plus, groups: 1, leaves: 4, spines: 2, nodes: 2, globals: 0", ""},
    {"dragonfly-plus, groups: 4, leaves: 2, spines: 1, nodes: 1, globals: 3", ""},
    {"dragonfly-plus, groups: 5, leaves: 3, spines: 4, nodes: 1, globals: 2", "0-3"},
    {"dragonfly-plus, groups: 5, leaves: 3, spines: 4, nodes: 1, globals: 2", "1 10 20"},
    {"fat-tree, radix: 4, levels: 2", ""},
    {"fat-tree, radix: 6, levels: 3", ""},
    {"fat-tree, radix: 4, levels: 4", ""},
    {"fat-tree, radix: 5, levels: 1", ""},
    {"fat-tree, radix: 8, levels: 3, nodes: 6, pods: 3", ""},
    {"fat-tree, down: [3, 4, 6], up: [4, 2], width: [2, 1]", ""},
    {"fat-tree, radix: 4, levels: 3", "0-8"},
    {"fat-tree, radix: 4, levels: 3", "8 17"},
    {"fat-tree, radix: 6, levels: 3", "0-18 19 40"},
    {"slim-fly, q: 5", ""},
    {"slim-fly, q: 5", "0-1 7"},
    {"slim-fly, q: 7, nodes: 1", ""},
    {"crossbar, nodes: 4", ""},
    {"file, path: " WEIR_SOURCE_DIR "/examples/topologies/two-racks.topo", ""},
    {"file, path: " WEIR_SOURCE_DIR "/examples/topologies/star.topo", ""},
    {"file, path: " WEIR_SOURCE_DIR "/tests/data/petersen.topo", ""},
    {"file, path: " WEIR_SOURCE_DIR "/tests/data/petersen.topo", "0-1 7"},
    {"torus, sizes: [5]", ""},
    {"torus, sizes: [4, 4], nodes: 2", ""},
    {"torus, sizes: [3, 2, 4], width: [2]", ""},
    {"torus, sizes: [4, 5], width: [1, 2], wrap: [true, false]", ""},
    {"torus, sizes: [40]", ""}, /* too wide to count hops */
    {"torus, sizes: [4, 4]", "0-1"},
    {"torus, sizes: [4, 4], width: [2]", "0-1/1"},
    {"torus, sizes: [30]", "0-1"},
    {"mesh, sizes: [3, 4, 2]", ""},
    {"mesh, sizes: [4, 4]", "5"},
    {"hyperx, sizes: [4, 3], width: [1, 2]", ""},
    {"hyperx, sizes: [3, 3, 3]", ""},
    {"hyperx, sizes: [4, 3]", "0-1 0-4"},
};

/* Whatever kind comes into the tables must come into these lists. */
static const char *const routes[] = {
    "minimal, choice: fixed",
    "minimal, choice: random, channels: phase",
    "minimal, choice: least-loaded",
    "par",
    "par, factor: 1, bias: 64 B, weight: hops, choice: random, channels: phase",
    "valiant",
    "valiant, via: router, choice: least-loaded",
    "valiant, via: node, choice: fixed",
    "ugal-l",
    "ugal-l, via: node, factor: 2, bias: 30 B, weight: port, choice: random",
    "ugal-g",
    "ugal-g, via: router, measure: path, choice: random",
    "dimension-order",
    "dimension-order, choice: fixed",
    "updown",
    "updown, choice: random",
    "updown, choice: least-loaded",
    "table",
};

enum { NTOPOS = sizeof topos / sizeof *topos, NROUTES = sizeof routes / sizeof *routes };

typedef void check_fn(const struct route *rt);

static void for_every_pairing(check_fn *check)
{
    for (size_t i = 0; i < NTOPOS; i++) {
        struct machine m = open_machine(&topos[i]);

        for (size_t k = 0; k < NROUTES; k++) {
            struct route rt;
            struct plug plug;

            if (!try_route(&rt, &plug, routes[k], &m.t))
                continue;
            check(&rt);
            route_close(&rt);
            conf_close(plug.conf);
        }
        close_machine(&m);
    }
}

static bool has_terminals(const struct topo *t, uint32_t r)
{
    for (uint32_t p = 0; p < t->nports; p++)
        if (topo_port(t, r, p)->kind == TOPO_TERMINAL)
            return true;
    return false;
}

/* Enough that every branch of an adaptive routing is met from everywhere. */
static uint32_t repetitions(const struct topo *t)
{
    return 1 + 10000 / (t->nrouters * t->nrouters);
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
                if (!has_terminals(t, src) || !has_terminals(t, dst))
                    continue;
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
    struct machine m = open_machine(&topos[0]);
    struct route rt;
    struct plug plug;

    (void)state;
    assert_true(try_route(&rt, &plug, "par", &m.t));
    struct route_ops bad = *rt.ops;

    bad.decide = decide_on_one_channel;
    rt.ops = &bad;
    struct walk_deps deps = walk_deps_new(&rt);

    walk_all(&rt, &deps);
    assert_false(walk_deps_acyclic(&deps, &m.t));
    free(deps.bit);
    route_close(&rt);
    conf_close(plug.conf);
    close_machine(&m);
}

static void check_minimal_path(const struct route *rt)
{
    const struct topo *t = rt->topo;
    struct walk_view view = {.view.load = walk_load};
    struct wr_rng rng;

    if (rt->ops != route_find("minimal") || t->ops != &topo_dragonfly || t->nfailed)
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

/* Hops by the topology's own closed form. */
static uint32_t hops_by_next(const struct topo *t, uint32_t from, uint32_t to)
{
    uint16_t ports[TOPO_MAX_NEXT];
    uint32_t hops = 0;

    for (; from != to; hops++) {
        assert_true(t->ops->next(t, from, to, ports) > 0);
        from = topo_port(t, from, ports[0])->peer;
    }
    return hops;
}

/* Routings that promise a shortest path, and what they mean by it. */
static void check_lengths(const struct route *rt)
{
    const struct topo *t = rt->topo;
    bool table = rt->ops == route_find("table");
    bool minimal = rt->ops == route_find("minimal") && t->ops->next && !t->nfailed;
    struct walk_view view = {.view.load = walk_load};
    struct topo_paths paths;
    struct wr_err err = {0};
    struct wr_rng rng;

    if (!table && !minimal && rt->ops != route_find("dimension-order"))
        return;
    assert_true(topo_paths_build(&paths, t, &err));
    wr_rng_init(&rng, 10, 0, 0);
    for (uint32_t src = 0; src < t->nrouters; src++)
        for (uint32_t dst = 0; dst < t->nrouters; dst++) {
            if (!has_terminals(t, src) || !has_terminals(t, dst))
                continue;
            view.salt = wr_rng_u32(&rng);
            assert_int_equal(walk_pair(rt, src, dst, &view.view, &rng, NULL).n,
                             minimal ? hops_by_next(t, src, dst)
                                     : topo_paths_hops(&paths, src, dst));
        }
    topo_paths_free(&paths);
}

static void minimal_paths_are_as_short_as_the_topology_says(void **state)
{
    (void)state;
    for_every_pairing(check_lengths);
}

/* The order that keeps a group of rows and columns free of deadlock. */
static void check_rows_first(const struct route *rt)
{
    const struct topo *t = rt->topo;
    struct walk_view view = {.view.load = walk_load};
    struct wr_rng rng;

    if (t->ops != &topo_dragonfly_xc || t->nfailed || rt->ops == route_find("table"))
        return;
    wr_rng_init(&rng, 9, 0, 0);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t src = wr_rng_below(&rng, t->nrouters), dst = wr_rng_below(&rng, t->nrouters);

        view.salt = i;
        struct walk_path path = walk_pair(rt, src, dst, &view.view, &rng, NULL);

        for (uint32_t k = 1; k < path.n; k++)
            if (path.hop[k].vc == path.hop[k - 1].vc &&
                t->group[path.router[k - 1]] == t->group[path.router[k]] &&
                path.cls[k] < path.cls[k - 1])
                fail_msg("%s: column before row at %u, from %u to %u", rt->ops->kind.name,
                         path.router[k], src, dst);
    }
}

static void rows_come_before_columns_on_an_xc(void **state)
{
    (void)state;
    for_every_pairing(check_rows_first);
}

/* Which kinds go together when nothing has failed and paths are short. */
static const struct {
    const char *route;
    const char *topos; /* "": all */
} pairings[] = {
    {"minimal", ""},
    {"valiant", ""},
    {"ugal-l", ""},
    {"ugal-g", ""},
    {"table", ""},
    {"par", "dragonfly dragonfly-xc dragonfly-plus"},
    {"dimension-order", "torus mesh hyperx"},
    {"updown", "fat-tree dragonfly-plus file"},
};

static bool starts_with(const char *text, const char *kind)
{
    size_t n = strlen(kind);

    return !strncmp(text, kind, n) && (!text[n] || text[n] == ',');
}

static bool is_word_of(const char *word, const char *text)
{
    size_t n = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += n)
        if ((at == text || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

static void check_pairing(const struct machine *m, const char *route, const char *accepted)
{
    const char *topo = m->t.ops->kind.name;
    bool expected = !*accepted || is_word_of(topo, accepted);
    struct route rt;
    struct plug plug;
    bool ok = try_route(&rt, &plug, route, &m->t);

    if (ok != expected)
        fail_msg("%s on %s is %s", route, topo, ok ? "accepted" : "refused");
    if (!ok)
        return;
    route_close(&rt);
    conf_close(plug.conf);
}

static void no_kind_is_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; topo_table[i]; i++) {
        size_t k = 0;

        while (k < NTOPOS && !starts_with(topos[k].text, topo_table[i]->kind.name))
            k++;
        if (k == NTOPOS)
            fail_msg("no machine of kind %s is walked", topo_table[i]->kind.name);
    }
    for (size_t i = 0; route_table[i]; i++) {
        size_t k = 0;

        while (k < NROUTES && !starts_with(routes[k], route_table[i]->kind.name))
            k++;
        if (k == NROUTES)
            fail_msg("routing %s is not walked", route_table[i]->kind.name);
    }
}

static void a_routing_accepts_the_topologies_it_is_for(void **state)
{
    (void)state;
    for (size_t k = 0; route_table[k]; k++) {
        size_t row = 0;

        while (strcmp(pairings[row].route, route_table[k]->kind.name))
            assert_true(++row < sizeof pairings / sizeof *pairings);
        for (size_t i = 0; i < NTOPOS; i++) {
            struct machine m = open_machine(&topos[i]);

            if (!m.t.nfailed && !strstr(topos[i].text, "[40]"))
                check_pairing(&m, pairings[row].route, pairings[row].topos);
            close_machine(&m);
        }
    }
}

static void a_pair_that_is_cut_off_is_named(void **state)
{
    struct machine m = open_machine(&(struct machine_case){"mesh, sizes: [3]", "0-1"});
    struct plug plug = read_plug(route_kinds, "table");
    struct wr_err err = {0};
    struct route rt;

    (void)state;
    assert_false(route_open(&rt, route_find("table"), plug.is.params, &m.t, &err));
    assert_non_null(strstr(err.text, "2 pairs of nodes are cut off"));
    assert_non_null(strstr(err.text, "n0 on 0 and n1 on 1"));
    conf_close(plug.conf);
    close_machine(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_reached_without_deadlock_or_the_pairing_is_refused),
        cmocka_unit_test(the_cycle_check_finds_a_cycle),
        cmocka_unit_test(minimal_on_a_dragonfly_is_local_global_local),
        cmocka_unit_test(minimal_paths_are_as_short_as_the_topology_says),
        cmocka_unit_test(rows_come_before_columns_on_an_xc),
        cmocka_unit_test(no_kind_is_left_out),
        cmocka_unit_test(a_routing_accepts_the_topologies_it_is_for),
        cmocka_unit_test(a_pair_that_is_cut_off_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
