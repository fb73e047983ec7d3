/* The progressive adaptive rule of the reference study, one step at a time, on
 * its machine: router i of group g reaches groups g + 4i + 1 .. g + 4i + 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/route/route.h"
#include "net/route/route_params.h"
#include "net/topo/topo_dragonfly.h"

enum { SRC = 0, GATEWAY = 1, DST_GROUP = 5, DST = DST_GROUP * 8 + 2, LANDING = DST_GROUP * 8 + 6 };

/* Every port has `others` bytes, one has `one`. */
struct set_view {
    struct route_view view;
    uint32_t router, others, one;
    uint16_t port;
};

static uint32_t set_load(const struct route_view *view, uint32_t router, uint16_t port)
{
    const struct set_view *v = (const struct set_view *)view;

    return router == v->router && port == v->port ? v->one : v->others;
}

static const struct topo_dragonfly_params machine = {33, 8, 4, 4, 4};
static const struct route_par_params study = {{2, 0, ROUTE_BY_PORT}, ROUTE_LEAST, ROUTE_STUDY};

struct fixture {
    struct topo t;
    struct route rt;
    struct set_view v;
    struct wr_rng rng;
};

static int setup(void **state)
{
    static struct fixture f;
    struct wr_err err = {0};

    f = (struct fixture){.v.view.load = set_load};
    wr_rng_init(&f.rng, 3, 1, 4);
    assert_true(topo_open(&f.t, &topo_dragonfly, &machine, &err));
    assert_true(route_open(&f.rt, route_find("par"), &study, &f.t, &err));
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    route_close(&f->rt);
    topo_close(&f->t);
    return 0;
}

static uint16_t global_port(const struct fixture *f, uint32_t k)
{
    return (uint16_t)(topo_dragonfly_first_global(&f->t) + k);
}

static struct route_hop ask(struct fixture *f, struct route_pkt *p, uint32_t here)
{
    struct route_hop hop = f->rt.ops->decide(&f->rt, p, here, &f->v.view, &f->rng);

    p->hops++;
    p->vc = hop.vc;
    return hop;
}

static uint32_t peer(const struct fixture *f, uint32_t here, struct route_hop hop)
{
    return topo_port(&f->t, here, hop.port)->peer;
}

static struct route_pkt to_dst(void)
{
    return route_pkt_to((struct topo_end){DST, 0});
}

static void an_idle_network_is_crossed_minimally_on_channels_0_1_3(void **state)
{
    struct fixture *f = *state;
    struct route_pkt p = to_dst();
    struct route_hop hop = ask(f, &p, SRC);

    assert_int_equal(peer(f, SRC, hop), GATEWAY);
    assert_int_equal(hop.vc, 0);
    hop = ask(f, &p, GATEWAY);
    assert_int_equal(peer(f, GATEWAY, hop), LANDING);
    assert_int_equal(hop.vc, 1);
    hop = ask(f, &p, LANDING);
    assert_int_equal(peer(f, LANDING, hop), DST);
    assert_int_equal(hop.vc, 3);
    assert_false(p.nonminimal);
}

static void a_gateway_that_is_the_source_uses_channel_0(void **state)
{
    struct fixture *f = *state;
    struct route_pkt p = to_dst();
    struct route_hop hop = ask(f, &p, GATEWAY);

    assert_int_equal(peer(f, GATEWAY, hop), LANDING);
    assert_int_equal(hop.vc, 0);
}

static void twice_the_load_is_still_minimal_and_one_byte_more_is_not(void **state)
{
    struct fixture *f = *state;

    for (uint32_t more = 0; more < 2; more++) {
        struct route_pkt p = to_dst();

        f->v.router = SRC;
        f->v.port = topo_dragonfly_local_port(&f->t, SRC, GATEWAY);
        f->v.others = 4096;
        f->v.one = 2 * 4096 + more;
        for (uint32_t mid = DST_GROUP; mid >= 5 && mid <= 8;) { /* a group by another gateway */
            p = to_dst();
            ask(f, &p, SRC);
            mid = p.mid;
        }
        assert_int_equal(p.nonminimal, more);
    }
}

static void the_other_way_through_the_same_port_is_no_other_way(void **state)
{
    struct fixture *f = *state;
    uint32_t seen = 0;

    f->v = (struct set_view){.view = f->v.view,
                             .router = SRC,
                             .port = topo_dragonfly_local_port(&f->t, SRC, GATEWAY),
                             .one = 1u << 20};
    for (int i = 0; i < 200; i++) {
        struct route_pkt p = to_dst();

        ask(f, &p, SRC);
        bool same = p.mid >= 5 && p.mid <= 8;

        seen += same;
        assert_int_equal(p.nonminimal, !same);
    }
    assert_true(seen);
}

static void a_packet_that_turned_away_at_once_uses_channels_0_1_2_2_3(void **state)
{
    struct fixture *f = *state;
    struct route_pkt p = to_dst();
    uint32_t here = SRC;

    f->v = (struct set_view){.view = f->v.view,
                             .router = SRC,
                             .port = topo_dragonfly_local_port(&f->t, SRC, GATEWAY),
                             .one = 1u << 20};
    /* Group 12 hangs off router 2; until it is drawn, draw. */
    struct route_hop hop = {0};

    while (p.mid != 12) {
        p = to_dst();
        hop = ask(f, &p, SRC);
    }
    assert_true(p.nonminimal);
    assert_int_equal(hop.vc, 0);
    here = peer(f, here, hop);
    assert_int_equal(here, 2);
    hop = ask(f, &p, here);
    assert_int_equal(hop.vc, 1);
    here = peer(f, here, hop);
    assert_int_equal(f->t.group[here], 12);
    /* 12 + 26 = 38 = 5 mod 33: router 6, and the link from router 2 lands at 5. */
    assert_int_equal(here, 12 * 8 + 5);
    hop = ask(f, &p, here);
    assert_int_equal(hop.vc, 2);
    here = peer(f, here, hop);
    assert_int_equal(here, 12 * 8 + 6);
    hop = ask(f, &p, here);
    assert_int_equal(hop.vc, 2);
    here = peer(f, here, hop);
    assert_int_equal(f->t.group[here], DST_GROUP);
    hop = ask(f, &p, here);
    assert_int_equal(hop.vc, 3);
    assert_int_equal(peer(f, here, hop), DST);
}

/* At the gateway of the minimal path, minimal so far, its global link loaded. */
static struct route_pkt at_gateway(struct fixture *f, uint32_t mid)
{
    struct route_pkt p = to_dst();

    f->v = (struct set_view){.view = f->v.view};
    ask(f, &p, SRC);
    p.mid = mid;
    f->v.router = GATEWAY;
    f->v.port = global_port(f, 0);
    f->v.one = 1u << 20;
    return p;
}

static void a_later_router_keeps_a_drawn_group_it_has_a_link_to(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 50; i++) {
        struct route_pkt p = at_gateway(f, 7);
        struct route_hop hop = ask(f, &p, GATEWAY);

        assert_true(p.nonminimal);
        assert_int_equal(p.mid, 7);
        assert_int_equal(hop.port, global_port(f, 2));
        assert_int_equal(hop.vc, 1);
    }
}

static void a_later_router_without_a_link_redraws_among_its_own(void **state)
{
    struct fixture *f = *state;
    uint32_t count[33] = {0};

    for (int i = 0; i < 3000; i++) {
        struct route_pkt p = at_gateway(f, 20);
        struct route_hop hop = ask(f, &p, GATEWAY);

        assert_true(p.nonminimal);
        assert_int_equal(f->t.group[peer(f, GATEWAY, hop)], p.mid);
        assert_int_equal(hop.vc, 1);
        count[p.mid]++;
    }
    /* 6, 7 and 8, each a third: 1000 with a standard deviation of 26. */
    for (uint32_t g = 6; g <= 8; g++)
        assert_in_range(count[g], 1000 - 130, 1000 + 130);
    assert_int_equal(count[6] + count[7] + count[8], 3000);
}

static void a_packet_in_a_later_group_ignores_loads(void **state)
{
    struct fixture *f = *state;
    struct route_pkt p = at_gateway(f, 7);
    struct route_hop hop = ask(f, &p, GATEWAY);
    uint32_t here = peer(f, GATEWAY, hop);

    f->v.router = here;
    for (uint32_t k = 0; k < f->t.nports; k++) {
        struct route_pkt q = p;

        f->v.port = (uint16_t)k;
        hop = ask(f, &q, here);
        /* 7 + 31 = 5 mod 33: router 7. */
        assert_int_equal(peer(f, here, hop), 7 * 8 + 7);
        assert_int_equal(hop.vc, 2);
    }
}

static void traffic_inside_a_group_takes_the_direct_link(void **state)
{
    struct fixture *f = *state;
    struct route_pkt p = route_pkt_to((struct topo_end){5, 0});

    f->v = (struct set_view){.view = f->v.view,
                             .router = 2,
                             .port = topo_dragonfly_local_port(&f->t, 2, 5),
                             .one = 1u << 20};
    struct route_hop hop = ask(f, &p, 2);

    assert_int_equal(hop.port, f->v.port);
    assert_int_equal(hop.vc, 0);
    assert_false(p.nonminimal);
}

static void the_drawn_group_is_any_third_one_equally_often(void **state)
{
    enum { DRAWS = 31000 };
    struct fixture *f = *state;
    double chi = 0;
    uint32_t count[33] = {0};

    for (int i = 0; i < DRAWS; i++) {
        struct route_pkt p = to_dst();

        ask(f, &p, SRC);
        count[p.mid]++;
    }
    assert_int_equal(count[0] + count[DST_GROUP], 0);
    for (uint32_t g = 0; g < 33; g++) {
        double off = (double)count[g] - DRAWS / 31.0;

        if (g != 0 && g != DST_GROUP)
            chi += off * off / (DRAWS / 31.0);
    }
    assert_true(chi < 67.6); /* 30 degrees of freedom, 1 in 10,000 */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_idle_network_is_crossed_minimally_on_channels_0_1_3),
        TEST(a_gateway_that_is_the_source_uses_channel_0),
        TEST(twice_the_load_is_still_minimal_and_one_byte_more_is_not),
        TEST(the_other_way_through_the_same_port_is_no_other_way),
        TEST(a_packet_that_turned_away_at_once_uses_channels_0_1_2_2_3),
        TEST(a_later_router_keeps_a_drawn_group_it_has_a_link_to),
        TEST(a_later_router_without_a_link_redraws_among_its_own),
        TEST(a_packet_in_a_later_group_ignores_loads),
        TEST(traffic_inside_a_group_takes_the_direct_link),
        TEST(the_drawn_group_is_any_third_one_equally_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
