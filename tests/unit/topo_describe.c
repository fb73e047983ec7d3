/* Descriptions against what can be worked out by hand. */
#include "topo_lab.h"

#include <math.h>

#include "net/topo/fail.h"
#include "net/topo/topo_describe.h"
#include "net/topo/topo_dragonfly.h"
#include "net/topo/topo_file.h"
#include "net/topo/topo_grid.h"

static void the_reference_machine_is_counted_exactly(void **state)
{
    static const struct topo_dragonfly_params params = {33, 8, 4, 4, 4};
    struct topo t = topo_lab_open(&topo_dragonfly, &params);
    struct topo_description d;

    (void)state;
    topo_describe(&t, &d);
    assert_int_equal(d.cables[TOPO_OWN], 33 * 28);
    assert_int_equal(d.cables[TOPO_OWN + 1], 33 * 16);
    assert_int_equal(d.least_ports, 15);
    assert_int_equal(d.most_degree, 11);
    assert_false(d.hops.sampled);
    assert_int_equal(d.hops.pairs, 1056 * 1055);
    assert_int_equal(d.hops.count[0], 1056 * 3);
    /* One hop: 28 terminals of the own group, and those of 4 routers over a global link. */
    assert_int_equal(d.hops.count[1], 1056 * (28 + 16));
    /* Two: through each of the own 4 global links 7 routers, and 28 global links of
     * the others to one router each. */
    assert_int_equal(d.hops.count[2], 1056 * 4 * (28 + 28));
    assert_int_equal(d.hops.count[3], 1056 * 4 * 28 * 7);
    assert_int_equal(d.hops.most, 3);
    topo_close(&t);
}

/* 2,550 routers with one cable per pair of groups: 6.5 million pairs are drawn from. */
static void a_large_machine_is_sampled_and_comes_close(void **state)
{
    static const struct topo_dragonfly_params params = {51, 50, 1, 1, 0};
    struct topo t = topo_lab_open(&topo_dragonfly, &params);
    struct topo_description d;

    (void)state;
    topo_describe(&t, &d);
    assert_true(d.hops.sampled);
    /* 49 locals and one global at one hop, 49 + 49 at two, the rest at three */
    double mean = (50 * 1 + 98 * 2 + 2401 * 3) / 2549.0;
    assert_true(fabs(d.hops.mean - mean) < 0.01);
    topo_close(&t);
}

static void a_torus_is_searched_exactly(void **state)
{
    uint32_t sizes[] = {64, 64};
    struct topo_grid_params torus = {.nodes = 1, .sizes = {sizes, 2}};
    struct topo t = topo_lab_open(&topo_torus, &torus);
    struct topo_description d;

    (void)state;
    topo_describe(&t, &d);
    assert_false(d.hops.sampled);
    assert_true(fabs(d.hops.mean - 32.0 * 4096 / 4095) < 1e-9); /* 16 per dimension */
    assert_int_equal(d.hops.most, 64);
    assert_int_equal(d.hops.count[TOPO_HOPS_MAX - 1], 4096 * (4 + 1)); /* 63 and 64 */
    assert_int_equal(d.cut.cables, 128);
    topo_close(&t);
}

static void failures_show(void **state)
{
    static const struct topo_dragonfly_params params = {2, 2, 1, 1, 0};
    struct topo t = topo_lab_open(&topo_dragonfly, &params);
    struct topo_failure dead[] = {{.a = 0, .b = 1}, {.a = 3, .b = TOPO_NONE}};
    struct topo_description d;
    struct wr_err err = {0};

    (void)state;
    topo_describe(&t, &d);
    assert_int_equal(d.hops.count[1] + d.hops.count[2], 12);
    assert_true(topo_fail(&t, dead, 2, &err));
    topo_describe(&t, &d);
    assert_int_equal(d.dead_terms, 1);
    assert_int_equal(d.dead_cables, 3); /* 0-1, 3-2 and 3's global */
    /* 0, 1 and 2 live; only 0-2 is left, by its global cable. */
    assert_int_equal(d.hops.pairs, 2);
    assert_int_equal(d.hops.count[1], 2);
    assert_int_equal(d.hops.cut_off, 4);
    topo_close(&t);
}

static void a_listed_machine_is_searched(void **state)
{
    static const struct topo_file_params params = {WEIR_SOURCE_DIR
                                                   "/examples/topologies/star.topo"};
    struct topo t = topo_lab_open(&topo_file, &params);
    struct topo_description d;

    (void)state;
    topo_describe(&t, &d);
    assert_int_equal(d.hops.pairs, 6);
    assert_int_equal(d.hops.count[1], 4);
    assert_int_equal(d.hops.count[2], 2);
    assert_true(fabs(d.hops.mean - 8.0 / 6) < 1e-12);
    topo_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_machine_is_counted_exactly),
        cmocka_unit_test(a_large_machine_is_sampled_and_comes_close),
        cmocka_unit_test(a_torus_is_searched_exactly),
        cmocka_unit_test(failures_show),
        cmocka_unit_test(a_listed_machine_is_searched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
