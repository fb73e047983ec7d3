/* Rows in words, rows found by name, and rows that are themselves wrong. */
#include "unit/conf_help.h"
#include "world/config.h"

static void explains(const char *key, const char *text)
{
    struct wr_str out = {0};
    struct wr_err err = {0};

    if (!conf_explain(toy_rows, key, &out, &err))
        fail_msg("%s: %s", key, err.text);
    assert_string_equal(wr_str_get(&out), text);
    wr_str_fini(&out);
}

static void does_not_explain(const char *key, const char *message)
{
    struct wr_str out = {0};
    struct wr_err err = {0};

    assert_false(conf_explain(toy_rows, key, &out, &err));
    assert_string_equal(err.text, message);
    assert_int_equal(err.code, WR_UNKNOWN);
    assert_int_equal(out.n, 0);
}

static void a_row_is_described_in_words(void **state)
{
    (void)state;
    explains("machine.topology.dragonfly.groups", "machine.topology.dragonfly.groups: number of "
                                                  "groups\n"
                                                  "\n"
                                                  "  type     a whole number such as 33\n"
                                                  "  default  33\n"
                                                  "  allowed  1 to 65536\n");
    explains("machine.links.local.bandwidth", "machine.links.NAME.bandwidth: of one link\n"
                                              "\n"
                                              "  type     a rate such as 25 GB/s\n"
                                              "  default  none: it must be given\n"
                                              "  allowed  at least 1 B/s\n");
    explains("jobs.order", "jobs.N.order: in which order ranks meet nodes\n"
                           "\n"
                           "  type     one of a few names\n"
                           "  default  linear\n"
                           "  choices  linear, random, striped\n");
    explains("sizes", "sizes: of messages\n"
                      "\n"
                      "  type     a list, each item a number of bytes such as 4 KiB\n"
                      "  default  none: it may be left out\n"
                      "  allowed  1 B to 1 TB\n");
}

static void what_holds_others_lists_them(void **state)
{
    (void)state;
    explains("machine.router", "machine.router: every router's figures\n"
                               "\n"
                               "  type     a mapping, or the name of a file with one\n"
                               "  default  that of each key in it\n"
                               "\n"
                               "keys:\n"
                               "  machine.router.delay        of a packet's head [100 ns]\n"
                               "  machine.router.gain         of the controller [-1.5e-3]\n"
                               "  machine.router.cut_through  forward before the tail is here "
                               "[false]\n");
    explains("machine.topology.kind",
             "machine.topology: the wiring\n"
             "\n"
             "  type     the name of a kind or a mapping with `kind:`\n"
             "  default  dragonfly\n"
             "\n"
             "kinds:\n"
             "  dragonfly  groups of routers, all to all\n"
             "  torus      a grid that closes on itself\n"
             "  single     one router\n"
             "\n"
             "keys:\n"
             "  machine.topology.dragonfly.groups   number of groups [33]\n"
             "  machine.topology.dragonfly.routers  routers of a group [32]\n"
             "  machine.topology.dragonfly.taper    share of global links kept [50 %]\n"
             "  machine.topology.torus.dims         length of each dimension [[4, 4]]\n"
             "  machine.topology.torus.routers      routers of a place [1]\n"
             "  machine.topology.torus.wrap         a torus, not a mesh [true]\n");
    explains("places.0.torus", "places.N.torus: a grid that closes on itself\n"
                               "\n"
                               "keys:\n"
                               "  places.N.torus.dims     length of each dimension [[4, 4]]\n"
                               "  places.N.torus.routers  routers of a place [1]\n"
                               "  places.N.torus.wrap     a torus, not a mesh [true]\n");
    explains("machine.topology.single", "machine.topology.single: one router\n");
}

static void an_unknown_name_is_reported_with_the_nearest(void **state)
{
    (void)state;
    does_not_explain("sead", "unknown key \"sead\"; did you mean \"seed\"? The keys here: seed, "
                             "title, machine, jobs, sizes, places, fault");
    does_not_explain("jobs.0.rank",
                     "unknown key \"rank\" in jobs; did you mean \"ranks\"? The keys "
                     "here: name, ranks, order, trace, where");
    does_not_explain("machine.topology.tors",
                     "no topology \"tors\"; did you mean \"torus\"? Try `weir list topologies`");
    does_not_explain("machine.topology.routers",
                     "several kinds have \"routers\"; write one of "
                     "machine.topology.dragonfly.routers, machine.topology.torus.routers");
    does_not_explain("seed.x", "\"seed\" has no \"x\" in it; explain it itself");
    does_not_explain("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a",
                     "no key \"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a\": it has too many steps; try "
                     "`weir config explain`");
}

static void rows_are_found_with_and_without_names_and_places(void **state)
{
    (void)state;
    assert_ptr_equal(conf_find_row(toy_rows, "seed"), &toy_rows[0]);
    assert_ptr_equal(conf_find_row(toy_rows, "machine.topology.kind"), &machine_rows[0]);
    assert_ptr_equal(conf_find_row(toy_rows, "machine.topology.dragonfly.groups"),
                     &dragonfly_rows[0]);
    assert_ptr_equal(conf_find_row(toy_rows, "machine.topology.dims"), &torus_rows[0]);
    assert_ptr_equal(conf_find_row(toy_rows, "machine.links.latency"), &link_rows[1]);
    assert_ptr_equal(conf_find_row(toy_rows, "machine.links.latency.buffer"), &link_rows[2]);
    assert_ptr_equal(conf_find_row(toy_rows, "jobs.3.ranks"), &job_rows[1]);
    assert_ptr_equal(conf_find_row(toy_rows, "jobs.3"), &toy_rows[3]);
    assert_null(conf_find_row(toy_rows, "jobs.3.x"));
    assert_null(conf_find_row(toy_rows, ""));
    assert_null(conf_find_row(toy_rows, "machine.topology.routers"));
}

static void all_rows_are_listed_one_line_each(void **state)
{
    struct wr_str out = {0};
    struct wr_err err = {0};
    size_t lines = 0;

    (void)state;
    assert_true(conf_explain(toy_rows, NULL, &out, &err));
    for (const char *s = out.s; *s; s++)
        lines += *s == '\n';
    assert_int_equal(lines, 38);
    assert_non_null(strstr(out.s, "\nmachine.links.NAME.bandwidth        of one link [must be "
                                  "given]\n"));
    assert_non_null(strstr(out.s, "\njobs.N.trace                        a recorded trace "
                                  "[optional]\n"));
    wr_str_fini(&out);
}

static void count_row(const struct conf_about *about, void *arg)
{
    wr_str_addf(arg, "%s|%s|%s\n", about->key, about->type, about->allowed ? about->allowed : "-");
}

static void rows_at_and_below_a_key_can_be_visited(void **state)
{
    struct wr_str seen = {0};
    struct wr_err err = {0};

    (void)state;
    assert_true(conf_each_row(toy_rows, "machine.topology.torus", count_row, &seen, &err));
    assert_true(conf_each_row(toy_rows, "seed", count_row, &seen, &err));
    assert_string_equal(seen.s,
                        "machine.topology.torus.dims|a list, each item a whole number such as "
                        "33|1 to 1024\n"
                        "machine.topology.torus.routers|a whole number such as 33|1 to 64\n"
                        "machine.topology.torus.wrap|true or false such as true|-\n"
                        "seed|a whole number such as 33|-\n");
    assert_false(conf_each_row(toy_rows, "sead", count_row, &seen, &err));
    assert_int_equal(err.code, WR_UNKNOWN);
    wr_str_fini(&seen);
}

static void the_manual_has_every_row(void **state)
{
    struct wr_str out = {0};

    (void)state;
    conf_rows_scdoc(toy_rows, &out);
    assert_non_null(strstr(out.s, "*machine.router.cut\\_through*\n"
                                  "\tForward before the tail is here. Type: true or false such as "
                                  "true. Default: false.\n\n"));
    assert_non_null(strstr(out.s, "*jobs.N.order*\n"
                                  "\tIn which order ranks meet nodes. Type: one of a few names: "
                                  "linear, random, striped. Default: linear.\n\n"));
    assert_non_null(strstr(out.s, "*machine.links.NAME.latency*\n"
                                  "\tOf propagation. Type: a time such as 726.6 ns. Default: 10 "
                                  "ns. Allowed: 0 s to 1 s.\n\n"));
    wr_str_fini(&out);
}

static void sound_rows_pass(void **state)
{
    struct wr_err err = {0};

    (void)state;
    if (!conf_rows_check(toy_rows, sizeof(struct toy), &err))
        fail_msg("%s", err.text);
}

static void the_rows_of_a_run_are_sound(void **state)
{
    struct wr_err err = {0};

    (void)state;
    if (!conf_rows_check(world_rows, sizeof(struct world_config), &err))
        fail_msg("%s", err.text);
    if (!conf_rows_check(world_machine_rows, sizeof(struct world_machine), &err))
        fail_msg("%s", err.text);
}

static void unsound(const struct conf_row *row, size_t size, const char *message)
{
    const struct conf_row rows[] = {*row, CONF_END};
    struct wr_err err = {0};

    assert_false(conf_rows_check(rows, size, &err));
    assert_string_equal(err.text, message);
    assert_int_equal(err.code, WR_BUG);
}

static void unsound_rows_are_our_bug(void **state)
{
    static const struct conf_kind twice = {"torus", "again", NULL, 0};
    static const struct conf_kind small = {"small", "too small", torus_rows, 4};
    static const struct conf_kind *const two[] = {&kind_torus, &twice, NULL};
    static const struct conf_kind *const tight[] = {&small, NULL};

    (void)state;
    unsound(&(struct conf_row){.key = "a", .type = CONF_TIME, .def = "5", .help = "x"}, 8,
            "row a: the default \"5\": a: \"5\" has no unit; write one such as 726.6 ns (units: "
            "ps, ns, us, ms, s, min, h)");
    unsound(
        &(struct conf_row){
            .key = "a", .type = CONF_U32, .def = "5", .min = 6, .max = 7, .help = "x"},
        8, "row a: the default \"5\": a: 5 is out of range; allowed: 6 to 7");
    unsound(&(struct conf_row){.key = "a", .type = CONF_U32, .def = "[", .help = "x"}, 8,
            "row a: the default \"[\": did not find expected node content while parsing a flow "
            "node; check the indentation, quotes and brackets here");
    unsound(&(struct conf_row){.key = "a", .type = CONF_U64, .def = "5", .help = "x"}, 4,
            "row a: the value lies outside its struct");
    unsound(&(struct conf_row){.key = "a", .type = CONF_U64, .def = "5"}, 8, "row a: no help");
    unsound(&(struct conf_row){.key = "a.b", .type = CONF_U64, .help = "x"}, 8,
            "row a.b: the key must be a word without dots");
    unsound(&(struct conf_row){.key = "a", .type = CONF_CHOICE, .help = "x"}, 8,
            "row a: a choice without names");
    unsound(&(struct conf_row){.key = "a", .type = CONF_PLUGIN, .help = "x"}, 16,
            "row a: a plug-in without kinds");
    unsound(&(struct conf_row){.key = "a", .type = CONF_PLUGIN, .kinds = two, .help = "x"}, 16,
            "row a: two kinds \"torus\"");
    unsound(&(struct conf_row){.key = "a", .type = CONF_PLUGIN, .kinds = tight, .help = "x"}, 16,
            "row a: kind small: row dims: the value lies outside its struct");
    unsound(&(struct conf_row){.key = "a", .type = CONF_TABLE, .rows = link_rows, .help = "x"}, 16,
            "row a: the size of an item is missing");
    unsound(&(struct conf_row){.key = "a", .type = CONF_LIST, .item = CONF_LIST, .help = "x"}, 16,
            "row a: a list of neither sections, plug-ins nor scalars");
    unsound(
        &(struct conf_row){.key = "a", .type = CONF_LIST, .item = CONF_U32, .size = 8, .help = "x"},
        16, "row a: the size of a list's items is not that of their type");
    unsound(&(struct conf_row){.key = "a", .type = CONF_U32, .min = 2, .max = 1, .help = "x"}, 16,
            "row a: min is above max");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_described_in_words),
        cmocka_unit_test(what_holds_others_lists_them),
        cmocka_unit_test(an_unknown_name_is_reported_with_the_nearest),
        cmocka_unit_test(rows_are_found_with_and_without_names_and_places),
        cmocka_unit_test(all_rows_are_listed_one_line_each),
        cmocka_unit_test(rows_at_and_below_a_key_can_be_visited),
        cmocka_unit_test(the_manual_has_every_row),
        cmocka_unit_test(sound_rows_pass),
        cmocka_unit_test(the_rows_of_a_run_are_sound),
        cmocka_unit_test(unsound_rows_are_our_bug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
