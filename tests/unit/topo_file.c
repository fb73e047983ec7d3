/* Topology files: what they say, what is wrong with them and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "net/topo/topo_file.h"

static bool build_text(struct topo *t, const char *text, size_t len, struct wr_err *err)
{
    char *copy = wr_alloc(len + 1);

    memcpy(copy, text, len);
    *t = (struct topo){.ops = &topo_file, .ngroups = 1};
    return topo_file_build(t, "m.topo", copy, len, err);
}

static void an_example_becomes_the_machine_it_describes(void **state)
{
    static const struct topo_file_params params = {WEIR_SOURCE_DIR
                                                   "/examples/topologies/two-racks.topo"};
    struct wr_err err = {0};
    struct topo t;
    char name[TOPO_NAME_MAX];
    size_t len;

    (void)state;
    if (!topo_open(&t, &topo_file, &params, &err))
        fail_msg("%s", err.text);
    assert_int_equal(t.nrouters, 5);
    assert_int_equal(t.nterms, 8);
    assert_int_equal(t.ngroups, 2);
    assert_int_equal(t.nports, 2 + 2 + 4); /* of r1a */
    assert_string_equal(t.class_name[TOPO_OWN], "copper");
    assert_string_equal(t.class_name[TOPO_OWN + 1], "optical");
    assert_int_equal(t.nclasses, TOPO_OWN + 2);
    topo_router_name(&t, 3, name);
    assert_string_equal(name, "r2b");
    topo_term_name(&t, 7, name);
    assert_string_equal(name, "n7");
    assert_int_equal(t.term[7].router, 4);
    assert_int_equal(t.term[7].port, 1);
    assert_int_equal(t.group[1], 0);
    assert_int_equal(t.group[4], 1);
    /* r1a: two nodes, two cables to r1b, four to r2a */
    assert_int_equal(topo_port(&t, 0, 2)->peer, 1);
    assert_int_equal(topo_port(&t, 0, 7)->peer, 2);
    assert_int_equal(topo_port(&t, 0, 7)->cls, TOPO_OWN + 1);
    assert_int_equal(strncmp(topo_file_text(&t, &len), "# Why", 5), 0);
    topo_close(&t);
}

static void links_that_name_no_class_share_one(void **state)
{
    static const char text[] = "class fast\nrouter a\nrouter b\nnode n a\nlink a b\n"
                               "link a b class fast x2 # both\nlink b a x3";
    struct wr_err err = {0};
    struct topo t;

    (void)state;
    assert_true(build_text(&t, text, sizeof text - 1, &err));
    assert_int_equal(t.nclasses, TOPO_OWN + 2);
    assert_string_equal(t.class_name[TOPO_OWN], "fast");
    assert_string_equal(t.class_name[TOPO_OWN + 1], "link");
    assert_int_equal(t.nports, 1 + 6);
    assert_int_equal(t.ngroups, 1);
    topo_close(&t);
}

static void what_is_wrong_is_said_where_it_is(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "m.topo:1:1: no router is declared"},
        {"# nothing\n\n", "m.topo:1:1: no router is declared"},
        {"router a\n", "m.topo:1:1: no node is declared"},
        {"ruter a", "m.topo:1:1: \"ruter\" is not known here"},
        {"router", "m.topo:1:1: \"router\" of what?"},
        {"router a b", "m.topo:1:10: expected: router NAME [group GROUP]"},
        {"router a group", "m.topo:1:10: expected: router NAME"},
        {"router a\nrouter a", "m.topo:2:8: \"a\" is already declared in line 1"},
        {"router a\nnode a a", "m.topo:2:6: \"a\" is already declared in line 1"},
        {"router a\nnode n", "m.topo:2:1: expected: node NAME ROUTER"},
        {"router a\nnode n a b", "m.topo:2:10: expected: node NAME ROUTER"},
        {"router sw1\nnode n sw2", "m.topo:2:8: no router \"sw2\", did you mean sw1?"},
        {"router a\nnode n a\nlink a n", "m.topo:3:8: \"n\" is a node, not a router"},
        {"router a\nnode n a\n  link a spine9", "m.topo:3:10: no router \"spine9\"; declare"},
        {"router a\nnode n a\nlink a a", "m.topo:3:8: a link from \"a\" to itself"},
        {"router a\nrouter b\nlink a", "m.topo:3:1: expected: link ROUTER ROUTER"},
        {"router a\nrouter b\nlink a b class fast", "m.topo:3:16: no class \"fast\"; declare"},
        {"class fast\nrouter a\nrouter b\nlink a b class fats",
         "m.topo:4:16: no class \"fats\", did you mean fast?"},
        {"router a\nrouter b\nlink a b class", "m.topo:3:10: \"class\" is neither"},
        {"router a\nrouter b\nlink a b x0", "m.topo:3:10: \"x0\" is neither"},
        {"router a\nrouter b\nlink a b x4097", "m.topo:3:10: \"x4097\" is neither"},
        {"router a\nrouter b\nlink a b x99999999999999999999", "is neither"},
        {"router a\nrouter b\nlink a b 4", "m.topo:3:10: \"4\" is neither"},
        {"class eject", "m.topo:1:7: the class \"eject\" has a meaning of its own"},
        {"class a\nclass a", "m.topo:2:7: \"a\" is already declared in line 1"},
        {"class a b", "m.topo:1:9: expected: class NAME"},
        {"class a\nclass b\nclass c\nclass d\nclass e\nclass f\nclass g\nclass h\nclass i\n"
         "class j\nclass k\nclass l\nclass m\nclass n\nclass o",
         "m.topo:15:7: more than 14 classes"},
        {"router a\nrouter b\nrouter c\nnode n a\nlink a b",
         "m.topo:3:8: no way leads from router \"a\" to \"c\""},
        {"router a\001b", "m.topo:1:9: a character (0x01)"},
        {"a b c d e f g h i", "m.topo:1:17: too many words"},
        {"router aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "m.topo:1:8: a name of 64 characters; use at most 63"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_err err = {0};
        struct topo t;

        assert_false(build_text(&t, rows[i].text, strlen(rows[i].text), &err));
        if (!strstr(err.text, rows[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        assert_int_equal(err.code, WR_INPUT);
        topo_close(&t);
    }
}

static void a_hub_too_wide_is_named(void **state)
{
    struct wr_str text = {0};
    struct wr_err err = {0};
    struct topo t;

    (void)state;
    wr_str_add(&text, "router spoke\nrouter hub\nnode n hub\n");
    for (int i = 0; i < 17; i++)
        wr_str_add(&text, "link hub spoke x4096\n");
    assert_false(build_text(&t, text.s, text.n, &err));
    assert_non_null(strstr(err.text, "m.topo:2:8: router \"hub\" is the widest"));
    assert_non_null(strstr(err.text, "at most 65535"));
    topo_close(&t);
    wr_str_fini(&text);
}

static void files_that_cannot_be_read_are_refused(void **state)
{
    static const struct topo_file_params rows[] = {{"/does/not/exist.topo"}, {"/"}, {"/dev/null"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_err err = {0};
        struct topo t;

        assert_false(topo_open(&t, &topo_file, &rows[i], &err));
        assert_int_equal(err.code, WR_INPUT);
        assert_non_null(strstr(err.text, rows[i].path));
    }
}

/* A ring with chords of 100,000 routers and as many nodes: 4.6 MB of text. */
static void a_hundred_thousand_routers_load_in_a_moment(void **state)
{
    enum { N = 100000 };
    struct wr_str text = {0};
    struct wr_err err = {0};
    struct topo t;
    struct timespec a, b;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        wr_str_addf(&text, "router sw%u\nnode n%u sw%u\n", i, i, i);
    for (uint32_t i = 0; i < N; i++)
        wr_str_addf(&text, "link sw%u sw%u\nlink sw%u sw%u\n", i, (i + 1) % N, i, (i + 317) % N);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    if (!build_text(&t, text.s, text.n, &err))
        fail_msg("%s", err.text);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    print_message("  %.2f s for %zu bytes\n", seconds, text.n);
    assert_true(seconds < 5); /* well under one without the sanitizers */
    assert_int_equal(t.nrouters, N);
    assert_int_equal(t.nports, 5);
    topo_close(&t);
    wr_str_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_example_becomes_the_machine_it_describes),
        cmocka_unit_test(links_that_name_no_class_share_one),
        cmocka_unit_test(what_is_wrong_is_said_where_it_is),
        cmocka_unit_test(a_hub_too_wide_is_named),
        cmocka_unit_test(files_that_cannot_be_read_are_refused),
        cmocka_unit_test(a_hundred_thousand_routers_load_in_a_moment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
