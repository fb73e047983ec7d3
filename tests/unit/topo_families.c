/* Fat trees, slim flies, dragonfly-xc and dragonfly-plus: textbook sizes, what
 * routing may ask of them, and what is refused. */
#include "topo_lab.h"

#include "net/topo/gateway.h"
#include "net/topo/topo_crossbar.h"
#include "net/topo/topo_dragonfly_plus.h"
#include "net/topo/topo_dragonfly_xc.h"
#include "net/topo/topo_fat_tree.h"
#include "net/topo/topo_slim_fly.h"

/* k^3/4 nodes, k^2/4 core and k^2 other switches (Al-Fares et al., SIGCOMM 2008). */
static void a_full_fat_tree_has_the_textbook_sizes(void **state)
{
    (void)state;
    for (uint32_t k = 4; k <= 16; k += 4) {
        struct topo_fat_tree_params params = {.radix = k, .levels = 3};
        struct topo t = topo_lab_open(&topo_fat_tree, &params);
        const struct topo_tree *f = topo_tree(&t);

        assert_int_equal(t.nterms, k * k * k / 4);
        assert_int_equal(t.nrouters, k * k * 5 / 4);
        assert_int_equal(t.ngroups, k);
        assert_int_equal(f->level[2].copies, k * k / 4);
        assert_int_equal(topo_tree_switch(f, t.nrouters - 1).level, 2);
        assert_int_equal(topo_tree_switch(f, 0).level, 0);
        topo_close(&t);
    }
}

static void more_nodes_than_uplinks_taper_the_tree(void **state)
{
    struct topo_fat_tree_params params = {.radix = 36, .levels = 2, .nodes = 24};
    struct topo t = topo_lab_open(&topo_fat_tree, &params);
    struct topo_facts facts;
    uint16_t ports[TOPO_MAX_NEXT];

    (void)state;
    assert_int_equal(t.nterms, 36 * 24);
    assert_int_equal(t.nrouters, 36 + 12);
    topo_fat_tree.facts(&t, &facts);
    assert_int_equal(facts.bisection * 4, t.nterms); /* half of full bisection, 2:1 */
    assert_int_equal(topo_fat_tree.next(&t, 0, 1, ports), 12);
    assert_int_equal(ports[0], 24);
    assert_int_equal(topo_fat_tree.next(&t, 36, 5, ports), 1);
    assert_int_equal(topo_port(&t, 36, ports[0])->peer, 5);
    topo_close(&t);
}

static void an_aries_router_has_forty_network_ports(void **state)
{
    struct topo_dragonfly_xc_params params = {.groups = 9,
                                              .rows = 6,
                                              .columns = 16,
                                              .nodes = 4,
                                              .row_links = 1,
                                              .column_links = 3,
                                              .globals = 10};
    struct topo t = topo_lab_open(&topo_dragonfly_xc, &params);
    uint32_t n;
    char name[TOPO_NAME_MAX];

    (void)state;
    assert_int_equal(t.nports, 4 + 15 + 15 + 10);
    assert_int_equal(t.nterms, 9 * 96 * 4);
    topo_gateways(&t, 3, 7, &n);
    assert_int_equal(n, 960 / 8);
    topo_router_name(&t, 96 + 2 * 16 + 5, name);
    assert_string_equal(name, "g1c2s5");
    topo_close(&t);
}

static void only_leaves_of_a_dragonfly_plus_have_terminals(void **state)
{
    struct topo_dragonfly_plus_params params = {.leaves = 4, .spines = 4, .nodes = 4, .globals = 4};
    struct topo t = topo_lab_open(&topo_dragonfly_plus, &params);
    char name[TOPO_NAME_MAX];

    (void)state;
    assert_int_equal(t.ngroups, 17);
    assert_int_equal(t.nterms, 17 * 16);
    for (uint32_t i = 0; i < t.nterms; i++)
        assert_false(topo_plus_is_spine(&t, t.term[i].router));
    topo_router_name(&t, 8 + 6, name);
    assert_string_equal(name, "g1spine2");
    topo_close(&t);
}

/* Sizes of table II in Besta and Hoefler: q = 19 with 15 nodes has 10,830 nodes. */
static void slim_flies_have_the_published_sizes(void **state)
{
    static const struct {
        uint32_t q, routers, degree;
    } rows[] = {{5, 50, 7},    {7, 98, 11},   {9, 162, 13},   {16, 512, 24},
                {17, 578, 25}, {19, 722, 29}, {25, 1250, 37}, {27, 1458, 41}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topo_slim_fly_params params = {.q = rows[i].q};
        struct topo t = topo_lab_open(&topo_slim_fly, &params);

        assert_int_equal(t.nrouters, rows[i].routers);
        assert_int_equal(t.nports, rows[i].degree + (rows[i].degree + 1) / 2);
        if (rows[i].q == 19)
            assert_int_equal(t.nterms, 10830);
        topo_close(&t);
    }
}

static void numbers_that_do_not_fit_are_refused_with_what_would(void **state)
{
    const struct {
        const struct topo_ops *ops;
        const void *params;
        const char *says;
    } rows[] = {
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 7, .levels = 3}, "use 6 or 8"},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 8, .levels = 9}, "use 1 to 8"},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 8, .levels = 2, .nodes = 8},
         "8 nodes and 0 uplinks do not fit"},
        {&topo_fat_tree,
         &(struct topo_fat_tree_params){.radix = 8, .levels = 2, .nodes = 5, .uplinks = 4},
         "at most 8 ports"},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 8, .levels = 3, .pods = 9},
         "use at most 8"},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.levels = 3}, "give radix"},
        {&topo_fat_tree,
         &(struct topo_fat_tree_params){.radix = 4, .levels = 2, .down = U32S(2, 2)}, "keep one"},
        {&topo_fat_tree,
         &(struct topo_fat_tree_params){.down = U32S(4, 6), .up = U32S(4), .width = U32S(4)},
         "common divisor"},
        {&topo_fat_tree,
         &(struct topo_fat_tree_params){.down = U32S(4, 6), .up = U32S(4), .width = U32S(1, 1)},
         "width has 2 entries"},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.down = U32S(4, 0), .up = U32S(4)},
         "use at least 1"},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 128, .levels = 8},
         "lower the sizes"},
        {&topo_fat_tree,
         &(struct topo_fat_tree_params){.down = U32S(1, 1, 1, 1, 1),
                                        .up = U32S(60000, 60000, 60000, 60000)},
         "lower the sizes"},
        {&topo_slim_fly, &(struct topo_slim_fly_params){.q = 6}, "the nearest are 5 and 7"},
        {&topo_slim_fly, &(struct topo_slim_fly_params){.q = 15}, "the nearest are 13 and 16"},
        {&topo_slim_fly, &(struct topo_slim_fly_params){.q = 2}, "the nearest are 3 and 3"},
        {&topo_slim_fly, &(struct topo_slim_fly_params){.q = 1000}, "the nearest are 256"},
        {&topo_dragonfly_xc,
         &(struct topo_dragonfly_xc_params){.groups = 2, .rows = 65, .columns = 2, .nodes = 1},
         "use 1 to 64"},
        {&topo_dragonfly_xc,
         &(struct topo_dragonfly_xc_params){.groups = 9,
                                            .rows = 1,
                                            .columns = 2,
                                            .nodes = 1,
                                            .row_links = 1,
                                            .column_links = 1,
                                            .globals = 2},
         "use at most 5 groups, or globals: 4"},
        {&topo_dragonfly_plus,
         &(struct topo_dragonfly_plus_params){
             .groups = 18, .leaves = 4, .spines = 4, .nodes = 4, .globals = 4},
         "use at most 17 groups, or globals: 5"},
        {&topo_crossbar, &(struct topo_crossbar_params){.nodes = 0}, "empty"},
        {&topo_crossbar, &(struct topo_crossbar_params){.nodes = 70000}, "at most 65535"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        topo_lab_refused(rows[i].ops, rows[i].params, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_fat_tree_has_the_textbook_sizes),
        cmocka_unit_test(more_nodes_than_uplinks_taper_the_tree),
        cmocka_unit_test(an_aries_router_has_forty_network_ports),
        cmocka_unit_test(only_leaves_of_a_dragonfly_plus_have_terminals),
        cmocka_unit_test(slim_flies_have_the_published_sizes),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused_with_what_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
