/* What each routing promises, one promise at a time. */
#include "contract/route_machine.h"
#include "contract/route_walk.h"
#include "net/topo/topo_dragonfly.h"
#include "net/topo/topo_grid.h"

/* Loads that a test sets: `rest` everywhere but on up to four ports. */
struct set_view {
    struct route_view view;
    uint32_t rest, n;
    struct {
        uint32_t router, load;
        uint16_t port;
    } set[4];
};

static uint32_t set_load(const struct route_view *view, uint32_t router, uint16_t port)
{
    const struct set_view *v = (const struct set_view *)view;

    for (uint32_t i = 0; i < v->n; i++)
        if (v->set[i].router == router && v->set[i].port == port)
            return v->set[i].load;
    return v->rest;
}

static void put_load(struct set_view *v, uint32_t router, uint32_t port, uint32_t load)
{
    v->set[v->n].router = router;
    v->set[v->n].port = (uint16_t)port;
    v->set[v->n++].load = load;
}

struct bench {
    struct machine m;
    struct plug plug;
    struct route rt;
    struct set_view v;
    struct wr_rng rng;
};

static struct bench *bench_open(const char *topo, const char *failed, const char *route)
{
    struct bench *b = wr_zalloc(1, sizeof *b);

    b->m = open_machine(&(struct machine_case){topo, failed});
    b->v.view.load = set_load;
    wr_rng_init(&b->rng, 11, 0, 0);
    if (!try_route(&b->rt, &b->plug, route, &b->m.t))
        fail_msg("%s refused on %s", route, topo);
    return b;
}

static void bench_close(struct bench *b)
{
    route_close(&b->rt);
    conf_close(b->plug.conf);
    close_machine(&b->m);
    free(b);
}

static struct walk_path walk(struct bench *b, uint32_t src, uint32_t dst)
{
    return walk_pair(&b->rt, src, dst, &b->v.view, &b->rng, NULL);
}

/* A packet for `dst` after its first decision. */
static struct route_pkt first(struct bench *b, uint32_t src, uint32_t dst, struct route_hop *hop)
{
    struct route_pkt p = route_pkt_to((struct topo_end){dst, 0});

    *hop = b->rt.ops->decide(&b->rt, &p, src, &b->v.view, &b->rng);
    return p;
}

#define REFERENCE "dragonfly, groups: 33, routers: 8, nodes: 4, globals: 4, arrangement: reference"

/* From router 0 to group 5, by router 1 (see route_par.c). */
enum { SRC = 0, GATEWAY = 1, DST = 5 * 8 + 2 };

static uint32_t local_port(const struct bench *b, uint32_t from, uint32_t to)
{
    return topo_dragonfly_local_port(&b->m.t, from, to);
}

/* How many of `tries` packets leave the minimal path. */
static uint32_t count_nonminimal(struct bench *b, uint32_t src, uint32_t dst, uint32_t tries)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < tries; i++) {
        struct route_hop hop;

        n += first(b, src, dst, &hop).nonminimal;
    }
    return n;
}

static void ugal_with_booksims_rule_turns_away_above_twice_plus_the_bias(void **state)
{
    struct bench *b =
        bench_open(REFERENCE, "", "ugal-l, via: node, factor: 2, bias: 30 B, weight: port");

    (void)state;
    b->v.rest = 100;
    put_load(&b->v, SRC, local_port(b, SRC, GATEWAY), 2 * 100 + 30);
    assert_int_equal(count_nonminimal(b, SRC, DST, 300), 0);
    b->v.set[0].load++;
    assert_in_range(count_nonminimal(b, SRC, DST, 300), 200, 299);
    bench_close(b);
}

static void ugal_is_minimal_inside_the_group_whatever_the_load(void **state)
{
    static const char *const routes[] = {"ugal-l, via: node", "ugal-l, via: group", "ugal-g"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench *b = bench_open(REFERENCE, "", routes[i]);

        put_load(&b->v, SRC, local_port(b, SRC, 3), 1u << 20);
        assert_int_equal(count_nonminimal(b, SRC, 3, 100), 0);
        bench_close(b);
    }
}

static void ugal_never_goes_by_a_node_of_the_source_group(void **state)
{
    struct bench *b = bench_open(REFERENCE, "", "ugal-l, via: node");

    (void)state;
    put_load(&b->v, SRC, local_port(b, SRC, GATEWAY), 1u << 20);
    for (int i = 0; i < 2000; i++) {
        struct route_hop hop;
        struct route_pkt p = first(b, SRC, DST, &hop);

        assert_true(!p.nonminimal || b->m.t.group[p.mid] != 0);
    }
    bench_close(b);
}

/* On the ring of 8 from 0 to 2 the way up has 2 hops; by router 6 it is down 2,
 * then 4 more: 6 hops. Only router 6 and such are left as intermediates
 * with another first port. */
static void ugal_weighs_loads_with_the_hops_of_the_paths(void **state)
{
    struct bench *b = bench_open("torus, sizes: [8]", "", "ugal-l, via: router");
    const struct topo_dim *d = &topo_grid(&b->m.t)->dim[0];
    uint32_t seen = 0;

    (void)state;
    b->v.rest = 1000;
    for (uint32_t load = 2999; load <= 3001; load++)
        for (int i = 0; i < 500; i++) {
            struct route_hop hop;

            b->v.n = 0;
            put_load(&b->v, 0, topo_torus_port(d, true), load);
            struct route_pkt p = first(b, 0, 2, &hop);

            if (p.nonminimal && p.mid == 6) {
                assert_int_equal(load, 3001);
                assert_int_equal(hop.port, topo_torus_port(d, false));
                seen++;
            }
        }
    assert_true(seen);
    bench_close(b);
}

static void ugal_g_looks_at_the_gateways_link(void **state)
{
    struct bench *b = bench_open(REFERENCE, "", "ugal-g");
    uint32_t global = topo_dragonfly_first_global(&b->m.t);

    (void)state;
    /* The own port is loaded, the links between groups are not: stay. */
    put_load(&b->v, SRC, local_port(b, SRC, GATEWAY), 1u << 20);
    assert_int_equal(count_nonminimal(b, SRC, DST, 200), 0);
    /* The other way round: leave, always. */
    b->v.n = 0;
    put_load(&b->v, GATEWAY, global, 1u << 20);
    assert_int_equal(count_nonminimal(b, SRC, DST, 200), 200);
    bench_close(b);
}

static void ugal_g_can_add_up_the_whole_path(void **state)
{
    struct bench *b = bench_open(REFERENCE, "", "ugal-g, measure: path");
    uint32_t last = 5 * 8 + 6;

    (void)state;
    b->v.rest = 10;
    /* LGL is 30; by a third group it is GLGL or longer from here, 40 at least. */
    put_load(&b->v, last, local_port(b, last, DST), 20);
    assert_int_equal(count_nonminimal(b, SRC, DST, 200), 0);
    b->v.set[0].load = 1000;
    assert_in_range(count_nonminimal(b, SRC, DST, 200), 100, 200);
    bench_close(b);
}

static void valiant_draws_every_intermediate_equally_often(void **state)
{
    static const struct {
        const char *route;
        uint32_t choices, at_ends; /* at_ends: drawn, but nothing to go by */
        double limit;              /* of chi-square, 1 in 10,000 */
    } cases[] = {{"valiant, via: group", 31, 0, 67.6},
                 {"valiant, via: router", 264, 2, 357.9},
                 {"valiant, via: node", 264, 2, 357.9}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct bench *b = bench_open(REFERENCE, "", cases[k].route);
        uint32_t draws = 100 * cases[k].choices, count[264] = {0}, met = 0;
        double chi = 0;

        for (uint32_t i = 0; i < draws; i++) {
            struct route_hop hop;
            struct route_pkt p = first(b, SRC, DST, &hop);

            if (p.nonminimal)
                count[p.mid]++;
        }
        for (uint32_t i = 0; i < 264; i++) {
            met += count[i] > 0;
            if (count[i])
                chi += (count[i] - 100.0) * (count[i] - 100.0) / 100.0;
        }
        assert_int_equal(met, cases[k].choices - cases[k].at_ends);
        assert_true(chi < cases[k].limit);
        bench_close(b);
    }
}

static void valiant_goes_by_its_intermediate_on_rising_channels(void **state)
{
    static const struct {
        const char *route;
        uint8_t longest[6]; /* channels of the longest path */
        uint32_t n;
    } cases[] = {{"valiant, via: group", {0, 0, 1, 1, 2}, 5},
                 {"valiant, via: router", {0, 0, 1, 2, 2, 3}, 6}};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct bench *b = bench_open(REFERENCE, "", cases[k].route);
        uint32_t seen = 0;

        for (uint32_t i = 0; i < 2000; i++) {
            struct walk_path path = walk(b, SRC, DST);

            for (uint32_t h = 0; path.n == cases[k].n && h < path.n; h++)
                assert_int_equal(path.hop[h].vc, cases[k].longest[h]);
            seen += path.n == cases[k].n;
            assert_true(path.n <= cases[k].n);
        }
        assert_true(seen > 100);
        bench_close(b);
    }
}

static void dimension_order_finishes_one_dimension_before_the_next(void **state)
{
    struct bench *b = bench_open("mesh, sizes: [5, 5, 5]", "", "dimension-order");

    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        struct walk_path path = walk(b, wr_rng_below(&b->rng, 125), wr_rng_below(&b->rng, 125));

        for (uint32_t h = 1; h < path.n; h++)
            assert_true(path.cls[h] >= path.cls[h - 1]);
    }
    bench_close(b);
}

static void a_ring_is_on_channel_0_until_it_has_wrapped(void **state)
{
    struct bench *b = bench_open("torus, sizes: [8]", "", "dimension-order");
    struct walk_path path = walk(b, 6, 1);

    (void)state;
    assert_int_equal(path.n, 3);
    assert_int_equal(path.hop[0].vc, 0);
    assert_int_equal(path.hop[1].vc, 0); /* the wrapping cable itself */
    assert_int_equal(path.hop[2].vc, 1);
    path = walk(b, 1, 4);
    assert_int_equal(path.n, 3);
    assert_int_equal(path.hop[0].vc, 1);
    path = walk(b, 1, 7); /* down */
    assert_int_equal(path.n, 2);
    assert_int_equal(path.hop[0].vc, 0);
    assert_int_equal(path.hop[1].vc, 0);
    bench_close(b);
}

static void half_way_round_a_ring_both_ways_are_taken(void **state)
{
    struct bench *b = bench_open("torus, sizes: [8]", "", "dimension-order");
    uint32_t up = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        struct walk_path path = walk(b, 3, 7);

        assert_int_equal(path.n, 4);
        up += path.router[1] == 4;
    }
    assert_in_range(up, 420, 580);
    bench_close(b);
}

static void equal_ways_are_chosen_as_the_setting_says(void **state)
{
    struct bench *b = bench_open("hyperx, sizes: [2], width: [4]", "", "minimal, choice: random");
    struct walk_path path;
    uint32_t count[4] = {0};

    (void)state;
    for (uint32_t i = 0; i < 4000; i++)
        count[walk(b, 0, 1).hop[0].port - 1]++;
    for (uint32_t i = 0; i < 4; i++)
        assert_in_range(count[i], 860, 1140);
    bench_close(b);

    b = bench_open("hyperx, sizes: [2], width: [4]", "", "minimal, choice: fixed");
    path = walk(b, 0, 1);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(walk(b, 0, 1).hop[0].port, path.hop[0].port);
    bench_close(b);

    b = bench_open("hyperx, sizes: [2], width: [4]", "", "minimal, choice: least-loaded");
    b->v.rest = 5000;
    put_load(&b->v, 0, 3, 4999);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(walk(b, 0, 1).hop[0].port, 3);
    b->v.n = 0;
    memset(count, 0, sizeof count);
    for (uint32_t i = 0; i < 4000; i++) /* ties are drawn */
        count[walk(b, 0, 1).hop[0].port - 1]++;
    for (uint32_t i = 0; i < 4; i++)
        assert_in_range(count[i], 860, 1140);
    bench_close(b);
}

static bool same_path(const struct walk_path *a, const struct walk_path *b)
{
    bool same = a->n == b->n;

    for (uint32_t i = 0; same && i < a->n; i++)
        same = a->hop[i].port == b->hop[i].port;
    return same;
}

static void ecmp_keeps_a_flow_on_its_path_and_spreads_flows(void **state)
{
    struct bench *b = bench_open("fat-tree, radix: 8, levels: 3", "", "updown, choice: ecmp");
    const struct topo *t = &b->m.t;
    uint32_t far = t->term[t->nterms - 1].router, used = 0;
    uint8_t core[512] = {0};

    (void)state;
    for (uint32_t src = 0; src < 4; src++)
        for (uint32_t dst = far - 3; dst <= far; dst++) {
            struct walk_path once = walk(b, src, dst), again = walk(b, src, dst);

            assert_int_equal(once.n, 4);
            assert_true(same_path(&once, &again));
            assert_true(once.router[2] < sizeof core);
            core[once.router[2]] = 1;
        }
    for (uint32_t i = 0; i < sizeof core; i++)
        used += core[i];
    assert_in_range(used, 8, 16); /* 16 roots, 16 pairs of routers: 10 are met on average */
    bench_close(b);
}

static void ecmp_distinguishes_nodes_of_one_router(void **state)
{
    struct bench *b = bench_open("fat-tree, radix: 16, levels: 2", "", "updown");
    uint8_t up[16] = {0}, used = 0;

    (void)state;
    for (uint16_t port = 0; port < 8; port++) {
        struct route_pkt p = route_pkt_to((struct topo_end){5, port});

        up[b->rt.ops->decide(&b->rt, &p, 0, &b->v.view, &b->rng).port] = 1;
    }
    for (uint32_t i = 0; i < 16; i++)
        used = (uint8_t)(used + up[i]);
    assert_true(used > 2);
    bench_close(b);
}

static void adaptive_updown_goes_up_where_it_is_least_loaded(void **state)
{
    struct bench *b =
        bench_open("fat-tree, radix: 8, levels: 2", "", "updown, choice: least-loaded");

    (void)state;
    b->v.rest = 1000;
    for (uint16_t up = 4; up < 8; up++) {
        b->v.n = 0;
        put_load(&b->v, 0, up, 10);
        assert_int_equal(walk(b, 0, 3).hop[0].port, up);
    }
    bench_close(b);
}

static void a_failed_global_link_is_gone_round_by_a_third_group(void **state)
{
    struct bench *b = bench_open(REFERENCE, "1-46", "minimal");
    struct walk_path path = walk(b, SRC, DST);

    (void)state;
    assert_true(path.n > 3);
    assert_true(path.n <= b->rt.max_hops);
    /* Other pairs do not suffer. */
    path = walk(b, SRC, 6 * 8 + 2);
    assert_true(path.n <= 3);
    bench_close(b);
}

static void a_failed_local_link_costs_one_hop_and_more_channels(void **state)
{
    struct bench *b = bench_open(REFERENCE, "0-1", "minimal");
    struct walk_path path = walk(b, 0, 1);

    (void)state;
    assert_int_equal(path.n, 2);
    assert_true(path.hop[1].vc > path.hop[0].vc);
    assert_int_equal(b->rt.nvcs, 4);
    bench_close(b);
}

static void what_does_not_fit_is_refused_with_what_would(void **state)
{
    static const struct {
        const char *topo, *failed, *route, *says;
    } cases[] = {
        {"torus, sizes: [40]", "", "minimal", "use `kind: dimension-order`"},
        {"torus, sizes: [40]", "0-1", "table", "use `kind: updown`"},
        {"torus, sizes: [40]", "0-1", "dimension-order", "no cable is left between 0 and 1"},
        {"torus, sizes: [600]", "", "dimension-order", "up to 300 hops"},
        {"torus, sizes: [4]", "", "par", "dragonfly"},
        {"torus, sizes: [4]", "", "valiant, via: group", "use `via: router`"},
        {"torus, sizes: [4]", "", "ugal-g, measure: gateway", "use `measure: path`"},
        {"torus, sizes: [4]", "", "updown", "fat-tree"},
        {REFERENCE, "", "dimension-order", "torus, mesh, hyperx"},
        {"dragonfly, groups: 9, routers: 4, nodes: 1, globals: 2", "0-1 0-2 0-3", "par",
         "without leaving group 0; use `kind: table`"},
        {"dragonfly, groups: 2, routers: 2, nodes: 1, globals: 1", "0-2 1-3", "minimal", "cut off"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine m = open_machine(&(struct machine_case){cases[i].topo, cases[i].failed});
        struct plug plug = read_plug(route_kinds, cases[i].route);
        struct wr_err err = {0};
        struct route rt = {.nvcs = 77};

        assert_false(
            route_open(&rt, (const struct route_ops *)plug.is.kind, plug.is.params, &m.t, &err));
        assert_int_equal(rt.nvcs, 77);
        assert_int_equal(err.code, WR_INPUT);
        if (!strstr(err.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
        conf_close(plug.conf);
        close_machine(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ugal_with_booksims_rule_turns_away_above_twice_plus_the_bias),
        cmocka_unit_test(ugal_is_minimal_inside_the_group_whatever_the_load),
        cmocka_unit_test(ugal_never_goes_by_a_node_of_the_source_group),
        cmocka_unit_test(ugal_weighs_loads_with_the_hops_of_the_paths),
        cmocka_unit_test(ugal_g_looks_at_the_gateways_link),
        cmocka_unit_test(ugal_g_can_add_up_the_whole_path),
        cmocka_unit_test(valiant_draws_every_intermediate_equally_often),
        cmocka_unit_test(valiant_goes_by_its_intermediate_on_rising_channels),
        cmocka_unit_test(dimension_order_finishes_one_dimension_before_the_next),
        cmocka_unit_test(a_ring_is_on_channel_0_until_it_has_wrapped),
        cmocka_unit_test(half_way_round_a_ring_both_ways_are_taken),
        cmocka_unit_test(equal_ways_are_chosen_as_the_setting_says),
        cmocka_unit_test(ecmp_keeps_a_flow_on_its_path_and_spreads_flows),
        cmocka_unit_test(ecmp_distinguishes_nodes_of_one_router),
        cmocka_unit_test(adaptive_updown_goes_up_where_it_is_least_loaded),
        cmocka_unit_test(a_failed_global_link_is_gone_round_by_a_third_group),
        cmocka_unit_test(a_failed_local_link_costs_one_hop_and_more_channels),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
