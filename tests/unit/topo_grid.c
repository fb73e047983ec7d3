/* Torus, mesh and hyperx: where ports lead, and what is refused. */
#include "topo_lab.h"

#include "net/topo/topo_grid.h"

static void a_torus_goes_up_then_down_in_each_dimension(void **state)
{
    const struct topo_grid_params params = {.sizes = U32S(4, 3), .nodes = 2};
    struct topo t = topo_lab_open(&topo_torus, &params);
    const struct topo_grid *g = topo_grid(&t);
    char name[TOPO_NAME_MAX];

    (void)state;
    assert_non_null(g);
    assert_int_equal(topo_grid_coord(g, 7, 0), 3);
    assert_int_equal(topo_grid_coord(g, 7, 1), 1);
    assert_int_equal(topo_port(&t, 7, 2)->peer, 4);  /* x+1 wraps */
    assert_int_equal(topo_port(&t, 7, 3)->peer, 6);  /* x-1 */
    assert_int_equal(topo_port(&t, 7, 4)->peer, 11); /* y+1 */
    assert_int_equal(topo_port(&t, 7, 5)->peer, 3);  /* y-1 */
    assert_string_equal(t.class_name[topo_port(&t, 7, 5)->cls], "y");
    topo_router_name(&t, 7, name);
    assert_string_equal(name, "3.1");
    topo_close(&t);
}

static void two_routers_in_a_dimension_share_one_cable(void **state)
{
    const struct topo_grid_params params = {.sizes = U32S(2, 4), .nodes = 1};
    struct topo t = topo_lab_open(&topo_torus, &params);

    (void)state;
    assert_int_equal(t.nports, 1 + 1 + 2);
    assert_int_equal(topo_port(&t, 0, 1)->peer, 1);
    assert_int_equal(topo_port(&t, 1, 1)->peer, 0);
    topo_close(&t);
}

static void hyperx_ports_are_the_other_coordinates_in_order(void **state)
{
    const struct topo_grid_params params = {.sizes = U32S(4, 3), .width = U32S(2, 1), .nodes = 1};
    struct topo t = topo_lab_open(&topo_hyperx, &params);
    static const uint32_t peers[] = {4, 4, 5, 5, 7, 7, 2, 10}; /* of router 6 = (2, 1) */

    (void)state;
    for (uint32_t p = 0; p < 8; p++)
        assert_int_equal(topo_port(&t, 6, 1 + p)->peer, peers[p]);
    topo_close(&t);
}

static void grids_that_do_not_fit_are_refused(void **state)
{
    const struct {
        const struct topo_ops *ops;
        struct topo_grid_params params;
        const char *says;
    } rows[] = {
        {&topo_torus, {.nodes = 1}, "give 1 to 14"},
        {&topo_torus,
         {.sizes = U32S(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2), .nodes = 1},
         "give 1 to 14"},
        {&topo_torus, {.sizes = U32S(4, 0), .nodes = 1}, "at least 1"},
        {&topo_torus, {.sizes = U32S(4, 4), .nodes = 0}, "at least 1"},
        {&topo_torus, {.sizes = U32S(4, 4), .nodes = 1, .width = U32S(1, 0)}, "at least 1"},
        {&topo_torus,
         {.sizes = U32S(4, 4, 4), .nodes = 1, .width = U32S(1, 2)},
         "width has 2 entries for 3 dimensions"},
        {&topo_torus,
         {.sizes = U32S(4, 4, 4), .nodes = 1, .wrap = {(bool[]){true, false}, 2}},
         "wrap has 2 entries"},
        {&topo_mesh, {.sizes = U32S(1 << 24, 1 << 24), .nodes = 1}, "too many routers"},
        {&topo_mesh, {.sizes = U32S(1 << 24, 100), .nodes = 1}, "lower the sizes"},
        {&topo_mesh, {.sizes = U32S(2), .nodes = 1, .width = U32S(UINT32_MAX)}, "at most 65535"},
        {&topo_hyperx, {.sizes = U32S(70000), .nodes = 1}, "at most 65535"},
        {&topo_hyperx,
         {.sizes = U32S(1 << 24), .nodes = 1, .width = U32S(UINT32_MAX)},
         "at most 65535"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        topo_lab_refused(rows[i].ops, &rows[i].params, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_torus_goes_up_then_down_in_each_dimension),
        cmocka_unit_test(two_routers_in_a_dimension_share_one_cable),
        cmocka_unit_test(hyperx_ports_are_the_other_coordinates_in_order),
        cmocka_unit_test(grids_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
