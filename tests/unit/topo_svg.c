/* Pictures are well-formed, show what there is, and stay small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/palette.h"
#include "net/topo/fail.h"
#include "net/topo/svg.h"
#include "net/topo/topo_crossbar.h"
#include "net/topo/topo_dragonfly.h"
#include "net/topo/topo_dragonfly_plus.h"
#include "net/topo/topo_dragonfly_xc.h"
#include "net/topo/topo_fat_tree.h"
#include "net/topo/topo_file.h"
#include "net/topo/topo_grid.h"
#include "net/topo/topo_slim_fly.h"

enum { DEEP = 32, MOST_BYTES = 1 << 20 };

/* Every element that begins ends, in order, and no bare "&" or "<" stands in text. */
static void assert_well_formed(const char *s)
{
    const char *open[DEEP];
    size_t length[DEEP], depth = 0;

    for (; *s; s++) {
        if (*s == '&')
            assert_true(!strncmp(s, "&lt;", 4) || !strncmp(s, "&gt;", 4) ||
                        !strncmp(s, "&amp;", 5) || !strncmp(s, "&quot;", 6));
        if (*s != '<')
            continue;
        const char *end = strchr(s, '>');
        assert_non_null(end);
        assert_true(!memchr(s + 1, '<', (size_t)(end - s - 1)));
        size_t n = strcspn(s + 1 + (s[1] == '/'), " />");

        if (s[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_true(length[depth] == n && !strncmp(open[depth], s + 2, n));
        } else if (end[-1] != '/') {
            assert_true(depth < DEEP);
            open[depth] = s + 1;
            length[depth++] = n;
        }
        s = end;
    }
    assert_int_equal(depth, 0);
}

static size_t count(const char *s, const char *what)
{
    size_t n = 0;

    for (; (s = strstr(s, what)); s++)
        n++;
    return n;
}

static struct topo open_topo(const struct topo_ops *ops, const void *params)
{
    struct wr_err err = {0};
    struct topo t;

    if (!topo_open(&t, ops, params, &err))
        fail_msg("%s", err.text);
    return t;
}

#define U32S(...)                                                                       \
    {                                                                                   \
        (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t) \
    }

static void every_family_is_drawn_small_and_large(void **state)
{
    const struct {
        const struct topo_ops *ops;
        const void *params;
    } rows[] = {
        {&topo_crossbar, &(struct topo_crossbar_params){3}},
        {&topo_dragonfly, &(struct topo_dragonfly_params){9, 4, 2, 2, 0}},
        {&topo_dragonfly, &(struct topo_dragonfly_params){0, 8, 4, 4, 0}},
        {&topo_dragonfly, &(struct topo_dragonfly_params){0, 16, 8, 8, 0}},
        {&topo_dragonfly_xc, &(struct topo_dragonfly_xc_params){9, 6, 16, 4, 1, 3, 10, 0}},
        {&topo_dragonfly_plus, &(struct topo_dragonfly_plus_params){5, 4, 4, 4, 2, 0}},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 4, .levels = 3}},
        {&topo_fat_tree, &(struct topo_fat_tree_params){.radix = 24, .levels = 3}},
        {&topo_torus, &(struct topo_grid_params){.sizes = U32S(4, 4, 4), .nodes = 1}},
        {&topo_mesh, &(struct topo_grid_params){.sizes = U32S(100, 100), .nodes = 1}},
        {&topo_hyperx, &(struct topo_grid_params){.sizes = U32S(2, 3, 2, 2), .nodes = 2}},
        {&topo_torus, &(struct topo_grid_params){.sizes = U32S(1), .nodes = 2}},
        {&topo_slim_fly, &(struct topo_slim_fly_params){5, 0}},
        {&topo_slim_fly, &(struct topo_slim_fly_params){25, 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topo t = open_topo(rows[i].ops, rows[i].params);
        struct wr_str out = {0};

        topo_svg(&t, "a machine", &out);
        assert_well_formed(out.s);
        assert_true(out.n < MOST_BYTES);
        assert_null(strstr(out.s, "nan"));
        size_t spots = count(out.s, "<rect x");
        if (t.nrouters <= 1200 && rows[i].ops != &topo_fat_tree)
            assert_int_equal(spots, t.nrouters);
        else
            assert_true(spots <= t.nrouters && spots <= 1200);
        if (spots < t.nrouters)
            assert_non_null(strstr(out.s, "stand for several routers"));
        for (uint32_t c = TOPO_OWN; c < t.nclasses; c++)
            assert_non_null(strstr(out.s, t.class_name[c]));
        wr_str_fini(&out);
        topo_close(&t);
    }
}

static void every_cable_bundle_is_one_line_and_failures_are_dashed(void **state)
{
    const struct topo_grid_params params = {
        .sizes = U32S(3), .width = U32S(2), .nodes = 1}; /* a ring of three */
    struct topo t = open_topo(&topo_torus, &params);
    struct topo_failure dead = {.a = 0, .b = 1};
    struct wr_err err = {0};
    struct wr_str out = {0};

    (void)state;
    assert_true(topo_fail(&t, &dead, 1, &err));
    topo_svg(&t, "ring", &out);
    assert_int_equal(count(out.s, " cables"), 3);
    assert_int_equal(count(out.s, "2 x cables, failed</title>"), 1);
    assert_int_equal(count(out.s, "stroke-dasharray"), 2); /* and in the legend */
    assert_int_equal(count(out.s, ">failed</text>"), 1);
    assert_int_equal(count(out.s, "<circle"), 3);
    wr_str_fini(&out);
    topo_close(&t);
}

static void classes_of_links_are_distinguished_without_colour(void **state)
{
    const struct topo_grid_params params = {
        .sizes = U32S(3, 3, 3), .width = U32S(1, 1, 1), .nodes = 1};
    struct topo t = open_topo(&topo_torus, &params);
    struct wr_str out = {0};

    (void)state;
    topo_svg(&t, "torus", &out);
    assert_int_equal(t.nclasses - TOPO_OWN, 3); /* x, y, z: 27 links each, and the legend */
    for (size_t k = 1; k < 3; k++) {
        char dash[48];

        snprintf(dash, sizeof dash, "stroke-dasharray=\"%s\"", palette_dash(k));
        assert_int_equal(count(out.s, dash), 28);
    }
    assert_int_equal(count(out.s, "stroke-dasharray"), 2 * 28);
    wr_str_fini(&out);
    topo_close(&t);
}

static void strange_names_do_no_harm(void **state)
{
    static const char text[] = "class <c>\nrouter <a>&\"\nrouter \xff\xc3\xa4\nnode n <a>&\"\n"
                               "link <a>&\" \xff\xc3\xa4 class <c>\n";
    struct topo t = {.ops = &topo_file, .ngroups = 1};
    struct wr_err err = {0};
    struct wr_str out = {0};
    char *copy = wr_alloc(sizeof text);

    (void)state;
    memcpy(copy, text, sizeof text);
    assert_true(topo_file_build(&t, "m.topo", copy, sizeof text - 1, &err));
    topo_svg(&t, "<title>\x01", &out);
    assert_well_formed(out.s);
    assert_non_null(strstr(out.s, "&lt;title&gt;?<"));
    assert_non_null(strstr(out.s, "&lt;a&gt;&amp;&quot;"));
    assert_non_null(strstr(out.s, "?\xc3\xa4"));
    wr_str_fini(&out);
    topo_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_drawn_small_and_large),
        cmocka_unit_test(every_cable_bundle_is_one_line_and_failures_are_dashed),
        cmocka_unit_test(classes_of_links_are_distinguished_without_colour),
        cmocka_unit_test(strange_names_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
