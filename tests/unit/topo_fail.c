/* Declared failures: what dies, what is cut off, and what is reported. */
#include "topo_lab.h"

#include "net/topo/fail.h"
#include "net/topo/gateway.h"
#include "net/topo/paths.h"
#include "net/topo/topo_dragonfly.h"
#include "net/topo/topo_grid.h"

static const struct topo_dragonfly_params dragonfly = {9, 4, 2, 2, 0};

static struct topo open_ring(uint32_t *size)
{
    static struct topo_grid_params ring = {.nodes = 1};

    ring.sizes = (struct conf_list){size, 1};
    return topo_lab_open(&topo_torus, &ring);
}

static void a_dead_cable_is_dead_at_both_ends_and_gone_from_the_gateways(void **state)
{
    struct topo t = topo_lab_open(&topo_dragonfly, &dragonfly);
    struct wr_err err = {0};
    uint32_t n;
    struct topo_gateway only = *topo_gateways(&t, 2, 5, &n);
    struct topo_failure f = {.a = only.router, .b = only.far_router};

    (void)state;
    assert_int_equal(n, 1);
    assert_true(topo_fail(&t, &f, 1, &err));
    assert_int_equal(t.nfailed, 1);
    assert_int_equal(topo_port(&t, only.router, only.port)->kind, TOPO_DEAD);
    assert_int_equal(topo_port(&t, only.far_router, only.far_port)->kind, TOPO_DEAD);
    topo_gateways(&t, 2, 5, &n);
    assert_int_equal(n, 0);
    topo_gateways(&t, 2, 4, &n);
    assert_int_equal(n, 1);

    /* The machine is still in one piece, by a way round. */
    struct topo_paths paths;
    uint16_t ports[TOPO_MAX_NEXT];
    assert_true(topo_check_joined(&t, &err));
    assert_true(topo_paths_build(&paths, &t, &err));
    assert_true(topo_paths_hops(&paths, only.router, only.far_router) > 1);
    n = topo_paths_next(&paths, only.router, only.far_router, ports);
    assert_true(n > 0);
    for (uint32_t i = 0; i < n; i++)
        assert_int_not_equal(ports[i], only.port);
    topo_paths_free(&paths);
    topo_close(&t);
}

static void a_dead_router_takes_its_terminals_along(void **state)
{
    struct topo t = topo_lab_open(&topo_dragonfly, &dragonfly);
    struct topo_failure f = {.a = 6, .b = TOPO_NONE};
    struct wr_err err = {0};
    uint32_t component[36];

    (void)state;
    assert_true(topo_fail(&t, &f, 1, &err));
    assert_int_equal(t.nfailed, 1 + 3 + 2);
    for (uint32_t i = 0; i < t.nterms; i++)
        assert_int_equal(topo_term_alive(&t, i), i / 2 != 6);
    for (uint32_t p = 0; p < t.nports; p++)
        assert_int_equal(topo_port(&t, 6, p)->kind, TOPO_DEAD);
    assert_int_equal(topo_components(&t, component), 2);
    assert_true(topo_check_joined(&t, &err)); /* failed routers cut off only their own nodes */
    topo_close(&t);
}

static void pairs_that_are_cut_off_are_counted_and_named(void **state)
{
    uint32_t size = 8;
    struct topo t = open_ring(&size);
    struct topo_failure f[] = {{.a = 1, .b = 2}, {.a = 6, .b = 5}};
    struct wr_str names = {0};
    struct wr_err err = {0};

    (void)state;
    assert_true(topo_fail(&t, f, 1, &err));
    assert_int_equal(topo_cut_pairs(&t, NULL), 0);
    assert_true(topo_fail(&t, f, 2, &err)); /* the first again: still dead */
    assert_int_equal(t.nfailed, 2);
    assert_int_equal(topo_cut_pairs(&t, &names), 4 * 4); /* 2345 and 6701 */
    assert_string_equal(wr_str_get(&names), "n0 on 0 and n2 on 2\nn0 on 0 and n3 on 3\n"
                                            "n0 on 0 and n4 on 4\nn0 on 0 and n5 on 5\n");
    wr_str_fini(&names);
    assert_false(topo_check_joined(&t, &err));
    assert_non_null(strstr(err.text, "16 pairs of nodes are cut off"));
    assert_non_null(strstr(err.text, "n0 on 0 and n2 on 2;"));
    assert_non_null(strstr(err.text, "declare fewer failures"));

    struct topo_paths paths;
    uint16_t ports[TOPO_MAX_NEXT];
    assert_true(topo_paths_build(&paths, &t, &err));
    assert_int_equal(topo_paths_hops(&paths, 0, 2), TOPO_NONE);
    assert_int_equal(topo_paths_next(&paths, 0, 2, ports), 0);
    assert_int_equal(topo_paths_hops(&paths, 6, 1), 3);
    topo_paths_free(&paths);
    topo_close(&t);
}

static void some_of_several_cables_can_fail(void **state)
{
    const struct topo_grid_params pair = {
        .sizes = {(uint32_t[]){2}, 1}, .width = {(uint32_t[]){3}, 1}, .nodes = 1};
    struct topo t = topo_lab_open(&topo_torus, &pair);
    struct topo_failure f = {.a = 1, .b = 0, .cables = 2};
    struct wr_err err = {0};

    (void)state;
    assert_true(topo_fail(&t, &f, 1, &err));
    assert_int_equal(t.nfailed, 2);
    assert_true(topo_check_joined(&t, &err));
    f.cables = 4;
    assert_false(topo_fail(&t, &f, 1, &err));
    assert_non_null(strstr(err.text, "there are 3"));
    topo_close(&t);
}

static void failures_of_nothing_are_refused_and_change_nothing(void **state)
{
    struct topo t = topo_lab_open(&topo_dragonfly, &dragonfly);
    struct wr_err err = {0};
    struct topo_failure no_router[] = {{.a = 0, .b = TOPO_NONE}, {.a = 36, .b = TOPO_NONE}};
    struct topo_failure no_cable[] = {{.a = 0, .b = 1}, {.a = 0, .b = 9}};

    (void)state;
    assert_false(topo_fail(&t, no_router, 2, &err));
    assert_non_null(strstr(err.text, "router 36 does not exist"));
    assert_false(topo_fail(&t, no_cable, 2, &err));
    assert_non_null(strstr(err.text, "no cable between g0r0 and g2r1"));
    assert_int_equal(t.nfailed, 0);
    for (uint32_t p = 0; p < t.nports; p++)
        assert_int_not_equal(topo_port(&t, 0, p)->kind, TOPO_DEAD);
    topo_close(&t);
}

static void a_router_is_named_or_numbered(void **state)
{
    struct topo t = topo_lab_open(&topo_dragonfly, &dragonfly);
    struct wr_err err = {0};
    uint32_t r = 0;

    (void)state;
    assert_true(topo_router_by_name(&t, "g8r3", &r, &err));
    assert_int_equal(r, 35);
    assert_true(topo_router_by_name(&t, "17", &r, &err));
    assert_int_equal(r, 17);
    assert_false(topo_router_by_name(&t, "g8r33", &r, &err));
    assert_non_null(strstr(err.text, "did you mean g8r3?"));
    assert_false(topo_router_by_name(&t, "36", &r, &err));
    assert_int_equal(r, 17);
    topo_close(&t);
}

static void long_machines_get_wider_tables_and_huge_ones_are_refused(void **state)
{
    uint32_t size = 600;
    struct topo t = open_ring(&size);
    struct topo_paths paths;
    struct wr_err err = {0};

    (void)state;
    assert_true(topo_paths_build(&paths, &t, &err));
    assert_int_equal(paths.diameter, 300);
    assert_int_equal(topo_paths_hops(&paths, 10, 310), 300);
    assert_int_equal(topo_paths_hops(&paths, 599, 0), 1);
    topo_paths_free(&paths);
    topo_close(&t);

    size = 40000;
    t = open_ring(&size);
    assert_false(topo_paths_build(&paths, &t, &err));
    assert_non_null(strstr(err.text, "40000 routers need 1525 MiB"));
    topo_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_cable_is_dead_at_both_ends_and_gone_from_the_gateways),
        cmocka_unit_test(a_dead_router_takes_its_terminals_along),
        cmocka_unit_test(pairs_that_are_cut_off_are_counted_and_named),
        cmocka_unit_test(some_of_several_cables_can_fail),
        cmocka_unit_test(failures_of_nothing_are_refused_and_change_nothing),
        cmocka_unit_test(a_router_is_named_or_numbered),
        cmocka_unit_test(long_machines_get_wider_tables_and_huge_ones_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
