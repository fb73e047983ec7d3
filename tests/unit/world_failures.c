/* world_failures.c -- a node whose router is dead neither sends nor is a destination. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/topo/fail.h"
#include "world/world.h"

/* A 4 x 4 mesh with two terminals per router: the failures below leave it in one piece. */
#define MESH                                                                   \
    "machine:\n"                                                               \
    "  topology: {kind: mesh, sizes: [4, 4], nodes: 2}\n"                      \
    "  links: {default: {bandwidth: 10 GB/s, latency: 10 ns}}\n"               \
    "  routing: table\n"                                                       \
    "  failures: [{router: 5}, {router: 0, to: 1}]\n"                          \
    "traffic: {load: 10 %, warmup: 0, measure: 40 us, size: {kind: constant, " \
    "bytes: 1 KiB}}\n"

struct lab {
    struct conf *conf;
    struct world_config c;
    struct world *w;
};

static bool lab_open(struct lab *l, const char *const *sets, size_t nsets, struct wr_err *err)
{
    *l = (struct lab){0};
    if (!conf_load_text(&l->conf, &l->c, world_rows, "test", MESH, strlen(MESH), sets, nsets, err))
        fail_msg("%s", err->text);
    return world_open(&l->w, l->conf, &l->c, err);
}

static void lab_close(struct lab *l)
{
    world_close(l->w);
    conf_close(l->conf);
}

static void lab_run(struct lab *l)
{
    struct wr_err err;
    enum world_end end;

    if (!world_run(l->w, NULL, NULL, &end, &err))
        fail_msg("%s", err.text);
    assert_int_equal(end, WORLD_DONE);
}

/* Bytes that terminal `term` of 32 on 16 routers injected. */
static uint64_t injected(const struct lab *l, uint32_t term)
{
    struct net_link_stat s;

    net_link_stat(world_net(l->w), 16 + term, 0, &s);
    return s.bytes;
}

static void nodes_of_a_dead_router_neither_send_nor_are_addressed(void **state)
{
    static const char *const patterns[] = {"traffic.pattern=uniform",
                                           "traffic.pattern={kind: shift, n: 3}",
                                           "traffic.pattern=all-to-all"};
    struct world_result *r = wr_alloc(sizeof *r);
    struct wr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct lab l;

        if (!lab_open(&l, &patterns[i], 1, &err))
            fail_msg("%s: %s", patterns[i], err.text);
        lab_run(&l);
        world_result(l.w, r);
        assert_int_equal(r->unfinished, 0);
        assert_true(r->measured > 0);
        for (uint32_t t = 0; t < 32; t++)
            if (t / 2 == 5)
                assert_int_equal(injected(&l, t), 0);
            else if (i != 1 || (t + 3) / 2 != 5)
                assert_true(injected(&l, t) > 0);
            else /* everything this node has to say is for a dead one */
                assert_int_equal(injected(&l, t), 0);
        lab_close(&l);
    }
    free(r);
}

static void a_node_with_one_dead_rail_is_down(void **state)
{
    /* Terminals 4 and 5, of routers 4 and 5, are node 2; router 4 is alive. */
    static const char *const sets[] = {"machine.nic.rails=2", "machine.topology.nodes=1"};
    struct wr_err err;
    struct lab l;

    (void)state;
    if (!lab_open(&l, sets, 2, &err))
        fail_msg("%s", err.text);
    lab_run(&l);
    for (uint32_t t = 0; t < 16; t++)
        if (t == 4 || t == 5)
            assert_int_equal(injected(&l, t), 0);
        else
            assert_true(injected(&l, t) > 0);
    lab_close(&l);
}

static void loads_are_those_of_the_nodes_that_are_left(void **state)
{
    struct world_result *r = wr_alloc(sizeof *r);
    struct wr_err err;
    struct lab l;

    (void)state;
    if (!lab_open(&l, NULL, 0, &err))
        fail_msg("%s", err.text);
    lab_run(&l);
    world_result(l.w, r);
    /* 2 of the other 31 nodes are down, and what is meant for them is not sent. */
    assert_true(r->offered > 0.1 * 29 / 31 * 0.9 && r->offered < 0.1 * 29 / 31 * 1.1);
    lab_close(&l);
    free(r);
}

static void pairs_that_are_cut_off_are_named_before_the_run(void **state)
{
    static const char *const set = "machine.failures=[{router: 1}, {router: 4}]";
    struct wr_err err;
    struct lab l;

    (void)state;
    assert_false(lab_open(&l, &set, 1, &err));
    assert_non_null(strstr(err.text, "cut off from each other"));
    assert_non_null(strstr(err.text, "declare fewer failures"));
    lab_close(&l);
}

static void a_machine_without_living_nodes_is_refused(void **state)
{
    static const char *const sets[] = {"machine.topology.sizes=[2, 1]",
                                       "machine.failures=[{router: 0}, {router: 1}]"};
    struct wr_err err;
    struct lab l;

    (void)state;
    assert_false(lab_open(&l, sets, 2, &err));
    assert_non_null(strstr(err.text, "no node is left"));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_a_dead_router_neither_send_nor_are_addressed),
        cmocka_unit_test(a_node_with_one_dead_rail_is_down),
        cmocka_unit_test(loads_are_those_of_the_nodes_that_are_left),
        cmocka_unit_test(pairs_that_are_cut_off_are_named_before_the_run),
        cmocka_unit_test(a_machine_without_living_nodes_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
