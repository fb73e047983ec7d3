/* The dragonfly's arrangements against published wirings, and its refusals. */
#include "topo_lab.h"

#include <stdio.h>

#include "net/topo/gateway.h"
#include "net/topo/topo_dragonfly.h"

enum { ABSOLUTE, RELATIVE, PALMTREE, CIRCULANT, REFERENCE };

static void the_reference_arrangement_is_the_published_one(void **state)
{
    static const struct topo_dragonfly_params params = {33, 8, 4, 4, REFERENCE};
    struct topo t = topo_lab_open(&topo_dragonfly, &params);
    FILE *f = fopen(WEIR_SOURCE_DIR "/tests/data/dragonfly_reference_links.csv", "r");
    char line[128];
    uint32_t links = 0, src, port, dst, src_group, dst_group;

    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%u,%u,%u,%u,%u", &src, &port, &dst, &src_group, &dst_group) != 5)
            continue;
        const struct topo_port *p = topo_port(&t, src, topo_dragonfly_first_global(&t) + port);

        assert_int_equal(p->kind, TOPO_ROUTER);
        assert_int_equal(p->peer, dst);
        assert_int_equal(t.group[src], src_group);
        assert_int_equal(t.group[dst], dst_group);
        assert_string_equal(t.class_name[p->cls], "global");
        links++;
    }
    assert_int_equal(links, 33 * 32);
    fclose(f);
    topo_close(&t);
}

static void absolute_leaves_from_router_k_over_h(void **state)
{
    static const struct topo_dragonfly_params params = {33, 8, 4, 4, ABSOLUTE};
    struct topo t = topo_lab_open(&topo_dragonfly, &params);

    (void)state;
    for (uint32_t g = 0; g < 33; g++)
        for (uint32_t d = 0; d < 33; d++) {
            uint32_t k = d < g ? d : d - 1, n;
            const struct topo_gateway *v = topo_gateways(&t, g, d, &n);

            if (g == d)
                continue;
            assert_int_equal(n, 1);
            assert_int_equal(v->router, g * 8 + k / 4);
            assert_int_equal(v->port, 4 + 7 + k % 4);
        }
    topo_close(&t);
}

/* Group 0 of 9 groups of 4 routers x 2 globals, worked out by hand. */
static void arrangements_match_their_definitions(void **state)
{
    static const struct {
        uint32_t how, to[8];
    } rows[] = {
        {ABSOLUTE, {1, 2, 3, 4, 5, 6, 7, 8}},  {RELATIVE, {1, 2, 3, 4, 5, 6, 7, 8}},
        {PALMTREE, {8, 7, 6, 5, 4, 3, 2, 1}},  {CIRCULANT, {1, 8, 2, 7, 3, 6, 4, 5}},
        {REFERENCE, {1, 2, 3, 4, 5, 6, 7, 8}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topo_dragonfly_params params = {9, 4, 1, 2, rows[i].how};
        struct topo t = topo_lab_open(&topo_dragonfly, &params);

        for (uint32_t k = 0; k < 8; k++) {
            const struct topo_port *p =
                topo_port(&t, k / 2, topo_dragonfly_first_global(&t) + k % 2);

            assert_int_equal(t.group[p->peer], rows[i].to[k]);
        }
        /* Absolute meets group 1's first port; relative its last. */
        uint32_t first = topo_port(&t, 0, topo_dragonfly_first_global(&t))->peer;
        if (rows[i].how == ABSOLUTE)
            assert_int_equal(first, 4);
        if (rows[i].how == RELATIVE)
            assert_int_equal(first, 7);
        topo_close(&t);
    }
}

static void terminals_sit_in_order(void **state)
{
    static const struct topo_dragonfly_params params = {33, 8, 4, 4, REFERENCE};
    struct topo t = topo_lab_open(&topo_dragonfly, &params);

    (void)state;
    for (uint32_t i = 0; i < t.nterms; i++) {
        assert_int_equal(t.term[i].router, i / 4);
        assert_int_equal(t.term[i].port, i % 4);
        assert_int_equal(t.group[t.term[i].router], i / 32);
    }
    char name[TOPO_NAME_MAX];
    topo_router_name(&t, 15, name);
    assert_string_equal(name, "g1r7");
    topo_close(&t);
}

static void numbers_that_do_not_fit_are_refused_with_what_would(void **state)
{
    static const struct {
        struct topo_dragonfly_params params;
        const char *says;
    } rows[] = {
        {{34, 8, 4, 4, ABSOLUTE}, "at most 33 groups, or globals: 5"},
        {{2, 8, 4, 0, ABSOLUTE}, "at most 1 groups, or globals: 1"},
        {{20, 8, 4, 4, REFERENCE}, "use groups: 33 or arrangement: relative"},
        {{0, 60000, 1, 60000, ABSOLUTE}, "groups are too many"},
        {{1, 40000, 40000, 1, ABSOLUTE}, "at most 65535"},
        {{4000, 5000, 4000, 1, ABSOLUTE}, "terminals"},
        {{10000, 5000, 5, 2, ABSOLUTE}, "MiB of wiring"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        topo_lab_refused(&topo_dragonfly, &rows[i].params, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_arrangement_is_the_published_one),
        cmocka_unit_test(absolute_leaves_from_router_k_over_h),
        cmocka_unit_test(arrangements_match_their_definitions),
        cmocka_unit_test(terminals_sit_in_order),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused_with_what_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
