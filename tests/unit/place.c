/* Placements one by one: where exactly, the words for sets of nodes, and files. */
#include "place_help.h"

#include "net/topo/fail.h"
#include "rank/place/place_file.h"

#define assert_map(map, ...)                                           \
    do {                                                               \
        const uint32_t want_[] = {__VA_ARGS__};                        \
        for (size_t i_ = 0; i_ < sizeof want_ / sizeof want_[0]; i_++) \
            assert_int_equal((map)[i_], want_[i_]);                    \
    } while (0)

static struct topo topo;

static int setup(void **state)
{
    (void)state;
    topo = help_topo(&help_small);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    topo_close(&topo);
    return 0;
}

static void contiguous_takes_the_first_free_nodes(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[8];
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "1, 3-4", &err));
    assert_true(help_job(&p, "contiguous", 5, 1, node, &err));
    assert_map(node, 0, 2, 5, 6, 7);
    assert_true(help_job(&p, "contiguous", 5, 2, node, &err));
    assert_map(node, 8, 8, 9, 9, 10);
    place_close(&p);
}

static void cyclic_dealing_gives_each_node_a_rank_in_turn(void **state)
{
    struct place p = help_place(&topo, 1);
    struct help_how how;
    uint32_t node[5];
    struct wr_err err;

    (void)state;
    help_how_open(&how, "contiguous");
    struct place_job job = {how.plug, 5, 2, PLACE_CYCLIC};
    assert_true(place_job(&p, &job, node, &err));
    assert_map(node, 0, 1, 2, 0, 1);
    conf_close(how.conf);
    place_close(&p);
}

static void random_routers_and_groups_keep_their_nodes_together(void **state)
{
    struct place p = help_place(&topo, 3);
    uint32_t node[72];
    struct wr_err err;

    (void)state;
    assert_true(help_job(&p, "random-routers", 20, 1, node, &err));
    for (int i = 0; i < 20; i += 2)
        assert_true(node[i] % 2 == 0 && node[i + 1] == node[i] + 1);
    place_close(&p);
    p = help_place(&topo, 3);
    assert_true(help_job(&p, "random-groups", 24, 1, node, &err));
    for (uint32_t i = 0; i < 24; i++)
        assert_int_equal(node[i], node[i / 8 * 8] + i % 8);
    place_close(&p);
}

static void random_nodes_may_keep_their_order(void **state)
{
    struct place p = help_place(&topo, 3), q = help_place(&topo, 3);
    uint32_t node[20], sorted[20];
    struct wr_err err;

    (void)state;
    assert_true(help_job(&p, "random-nodes", 20, 1, node, &err));
    assert_true(help_job(&q, "{kind: random-nodes, sorted: true}", 20, 1, sorted, &err));
    for (int i = 1; i < 20; i++)
        assert_true(sorted[i] > sorted[i - 1]);
    assert_memory_equal(p.owner, q.owner, 72 * sizeof *p.owner);
    place_close(&p);
    place_close(&q);
}

static void round_robin_deals_groups_in_turn(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[72];
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "group 1", &err));
    assert_true(help_job(&p, "round-robin", 10, 1, node, &err));
    assert_map(node, 0, 16, 24, 32, 40, 48, 56, 64, 1, 17);
    assert_true(help_job(&p, "{kind: round-robin, nodes: 3}", 7, 1, node, &err));
    assert_map(node, 2, 3, 4, 18, 19, 20, 25);
    place_close(&p);
}

static void hybrid_confines_small_jobs_to_the_tightest_group(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[72];
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "16-18, 24-27", &err)); /* 5 free in group 2, 4 in group 3 */
    assert_true(help_job(&p, "hybrid", 5, 1, node, &err));
    assert_map(node, 19, 20, 21, 22, 23);
    assert_true(help_job(&p, "hybrid", 5, 1, node, &err)); /* now an empty group */
    assert_map(node, 0, 1, 2, 3, 4);
    assert_true(help_job(&p, "hybrid", 3, 1, node, &err));
    assert_map(node, 5, 6, 7);
    place_close(&p);
}

static void hybrid_splits_a_small_job_over_as_few_groups_as_it_can(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[72];
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "last 6 of every group", &err)); /* 2 free in each */
    assert_true(help_job(&p, "{kind: hybrid, small: 8}", 5, 1, node, &err));
    assert_map(node, 0, 1, 8, 9, 16);
    place_close(&p);
}

static void hybrid_spreads_a_large_job_in_proportion(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[72], in_group[9] = {0};
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "0-3", &err)); /* 4 free in group 0, 8 in each other */
    assert_true(help_job(&p, "hybrid", 34, 1, node, &err));
    for (int i = 0; i < 34; i++)
        in_group[node[i] / 8]++;
    assert_map(in_group, 2, 4, 4, 4, 4, 4, 4, 4, 4);
    assert_true(help_job(&p, "hybrid", 33, 1, node, &err)); /* what is left but one */
    assert_int_equal(p.nfree, 1);
    place_close(&p);
}

static void nodes_of_dead_routers_are_not_used(void **state)
{
    struct topo t = help_topo(&help_small);
    struct topo_failure f = {.a = 1, .b = TOPO_NONE};
    uint32_t node[3];
    struct wr_err err;

    (void)state;
    assert_true(topo_fail(&t, &f, 1, &err));
    struct place p = help_place(&t, 1);
    assert_int_equal(p.ndown, 2);
    assert_true(help_job(&p, "contiguous", 3, 1, node, &err));
    assert_map(node, 0, 1, 4);
    assert_false(help_job(&p, "{kind: list, nodes: 3}", 1, 1, node, &err));
    assert_string_equal(err.text, "placement list: node 3 is down; name another");
    place_close(&p);
    topo_close(&t);
}

static void several_rails_make_one_node(void **state)
{
    struct place p;
    struct wr_err err;

    (void)state;
    assert_true(place_open(&p, &topo, 2, 1, &err));
    assert_int_equal(p.nnodes, 36);
    assert_int_equal(p.group[4], 1);
    place_close(&p);
    assert_false(place_open(&p, &topo, 100, 1, &err));
}

static void sets_of_nodes_are_written_in_words(void **state)
{
    static const struct {
        const char *set;
        uint32_t n, first, last;
    } cases[] = {
        {"7", 1, 7, 7},
        {" 3 - 5 ", 3, 3, 5},
        {"0-71:8", 9, 0, 64},
        {"2, 9,4", 3, 2, 9},
        {"group 8", 8, 64, 71},
        {"router 1", 2, 2, 3},
        {"first 1 of every router", 36, 0, 70},
        {"last 1 of each group", 9, 7, 71},
        {"last 3 of the machine", 3, 69, 71},
        {"last 100 of machine", 72, 0, 71},
        {"first 0 of every group, 5", 1, 5, 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct place p = help_place(&topo, 1);
        struct wr_err err;
        uint32_t n = 0, first = UINT32_MAX, last = 0;

        if (!place_exclude(&p, cases[i].set, &err))
            fail_msg("%s", err.text);
        for (uint32_t k = 0; k < p.nnodes; k++)
            if (p.owner[k] == PLACE_EXCLUDED) {
                n++;
                first = k < first ? k : first;
                last = k;
            }
        assert_int_equal(n, cases[i].n);
        assert_int_equal(n, p.nexcluded);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(last, cases[i].last);
        place_close(&p);
    }
}

static void faults_in_sets_say_where_and_exclude_nothing(void **state)
{
    static const char *const cases[][2] = {
        {"", "at character 1: expected the number of a node"},
        {"72", "at character 1: there is no node 72; they are numbered 0 to 71"},
        {"3, 99999999999999999999999", "there is no node 99999999999999999999..."},
        {"5-2", "at character 1: the range 5-2 runs backwards; write 2-5"},
        {"0-9:0", "at character 5: a step of 0 gets nowhere"},
        {"group 9", "there is no group 9; they are numbered 0 to 8"},
        {"last two of every group", "at character 6: expected the number of a node"},
        {"last 2 every group", "at character 8: expected \"of\"; write last 2 of every group"},
        {"last 2 of every rack", "expected group, router or machine; write last 2 of every group"},
        {"1 2", "at character 3: expected a comma or the end"},
        {"groups 1", "at character 1: expected the number of a node"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct place p = help_place(&topo, 1);
        struct wr_err err;

        assert_false(place_exclude(&p, cases[i][0], &err));
        char want[80];

        snprintf(want, sizeof want, "%.*s", (int)strcspn(cases[i][1], "."), cases[i][1]);
        if (!strstr(err.text, want))
            fail_msg("\"%s\" does not say \"%s\"", err.text, want);
        assert_int_equal(p.nexcluded, 0);
        place_close(&p);
    }
}

static void nodes_of_a_job_are_excluded_no_more(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[4];
    struct wr_err err;

    (void)state;
    assert_true(help_job(&p, "contiguous", 4, 1, node, &err));
    assert_false(place_exclude(&p, "70, 2", &err));
    assert_int_equal(p.nexcluded, 0);
    place_close(&p);
}

static void a_list_in_words_is_taken_in_its_order(void **state)
{
    struct place p = help_place(&topo, 1);
    uint32_t node[6];
    struct wr_err err;

    (void)state;
    assert_true(help_job(&p, "{kind: list, nodes: '9, 3-5, router 0'}", 6, 1, node, &err));
    assert_map(node, 9, 3, 4, 5, 0, 1);
    assert_false(help_job(&p, "{kind: list, nodes: '10, 9'}", 2, 1, node, &err));
    assert_string_equal(err.text, "placement list: node 9 belongs to job 0; name another");
    assert_false(help_job(&p, "{kind: list, nodes: '10, 10'}", 2, 1, node, &err));
    assert_false(help_job(&p, "{kind: list, nodes: '10'}", 2, 1, node, &err));
    assert_false(help_job(&p, "list", 2, 1, node, &err));
    assert_string_equal(err.text, "placement list: give either `file` or `nodes`");
    assert_int_equal(p.nfree, 66);
    place_close(&p);
}

static bool parse(const char *text, uint32_t ranks, uint32_t *node, const char *where,
                  struct wr_err *err)
{
    struct place_file f = {
        .ranks = ranks, .nnodes = 100, .rails = 2, .where = &where, .nwhere = where != NULL};
    uint32_t line[16];

    return place_file_parse(&f, "m", text, strlen(text), node, line, err);
}

static void files_are_lines_of_nodes_or_csv(void **state)
{
    uint32_t node[16];
    struct wr_err err;

    (void)state;
    assert_true(parse("# map\n\n 5\r\n7 9, 8#end\n3", 5, node, NULL, &err));
    assert_map(node, 5, 7, 9, 8, 3);
    assert_true(parse("a,rank,node\nx,1,20\ny,0,10\n", 2, node, NULL, &err));
    assert_map(node, 10, 20);
    /* A terminal is a rail of its node. */
    assert_true(
        parse("rank,terminal_id,app\r\n0,20,u|v\r\n0,50,w\r\n1,21,v\r\n", 2, node, "app=v", &err));
    assert_map(node, 10, 10);
}

static void faults_in_files_say_where(void **state)
{
    static const struct {
        const char *text, *where, *says;
    } cases[] = {
        {"1 2 x\n", NULL, "m:1:5: \"x\" is not the number of a node"},
        {"1\n100\n", NULL, "m:2:1: node 100 does not exist; they are numbered 0 to 99"},
        {"1 2\n3 4", NULL, "m:2:3: the job has 3 ranks and this is one more"},
        {"1", NULL, "m: 1 nodes for 3 ranks"},
        {"", NULL, "m: 0 nodes for 3 ranks"},
        {"1 2 3", "slot=0", "m: `where` needs CSV"},
        {"who,where\n0,1\n", NULL, "m:1:1: neither a node's number nor"},
        {"rank,node\n0\n", NULL, "m:2:1: 1 columns where the first line has 2"},
        {"rank,node\n3,1\n", NULL, "m:2:1: rank 3, and the job has ranks 0 to 2"},
        {"rank,node\n0,1\n0,2\n", NULL, "m:3:1: rank 0 was placed in line 2 already"},
        {"rank,node\n0,1\n1,200\n", NULL, "m:3:3: node 200 does not exist"},
        {"rank,node\n0,1\n1,2\n", NULL, "m: no line places rank 2"},
        {"rank,node\n0,1\n", "slot", "where: \"slot\" has no `=`"},
        {"rank,node\n0,1\n", "slot=1", "where: m has no column \"slot\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t node[16];
        struct wr_err err;

        assert_false(parse(cases[i].text, 3, node, cases[i].where, &err));
        if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("\"%s\" does not begin with \"%s\"", err.text, cases[i].says);
    }
}

#define MAP "file: " WEIR_SOURCE_DIR "/examples/placements/reference-1056.csv"

/* The published study: the last two nodes of every group serve burst buffers,
 * three jobs of 300 ranks, placed contiguously or as its own random map says. */
static void the_reference_maps_are_those_of_the_study(void **state)
{
    struct topo t = help_topo(&help_reference);
    struct place p = help_place(&t, 1), q = help_place(&t, 1), r = help_place(&t, 1);
    static const char *const cont[] = {"{kind: list, " MAP ", where: [placement=cont, slot=0]}",
                                       "{kind: list, " MAP ", where: [placement=cont, slot=1]}",
                                       "{kind: list, " MAP ", where: [placement=cont, slot=2]}"};
    static const char *const rand[] = {
        "{kind: list, " MAP ", where: [placement=rand_node0, apps=nekbone]}",
        "{kind: list, " MAP ", where: [placement=rand_node0, apps=checkpoint]}",
        "{kind: list, " MAP ", where: [placement=rand_node0, apps=cosmoflow]}"};
    uint32_t listed[300], node[300];
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "last 2 of every group", &err));
    assert_true(place_exclude(&r, "last 2 of every group", &err));
    for (int i = 0; i < 3; i++) {
        if (!help_job(&q, cont[i], 300, 1, listed, &err))
            fail_msg("%s", err.text);
        assert_true(help_job(&p, "contiguous", 300, 1, node, &err));
        assert_memory_equal(node, listed, sizeof node);
        if (!help_job(&r, rand[i], 300, 1, listed, &err))
            fail_msg("%s", err.text);
    }
    place_close(&p);
    place_close(&q);
    place_close(&r);
    topo_close(&t);
}

static void a_listed_node_is_free_and_takes_its_share_only(void **state)
{
    struct topo t = help_topo(&help_reference);
    struct place p = help_place(&t, 1);
    uint32_t node[300];
    struct wr_err err;

    (void)state;
    assert_true(place_exclude(&p, "1", &err));
    assert_false(
        help_job(&p, "{kind: list, " MAP ", where: [placement=cont, slot=0]}", 300, 1, node, &err));
    assert_non_null(strstr(err.text, "reference-1056.csv:3: node 1 is excluded; name another"));
    place_close(&p);
    topo_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguous_takes_the_first_free_nodes),
        cmocka_unit_test(cyclic_dealing_gives_each_node_a_rank_in_turn),
        cmocka_unit_test(random_routers_and_groups_keep_their_nodes_together),
        cmocka_unit_test(random_nodes_may_keep_their_order),
        cmocka_unit_test(round_robin_deals_groups_in_turn),
        cmocka_unit_test(hybrid_confines_small_jobs_to_the_tightest_group),
        cmocka_unit_test(hybrid_splits_a_small_job_over_as_few_groups_as_it_can),
        cmocka_unit_test(hybrid_spreads_a_large_job_in_proportion),
        cmocka_unit_test(nodes_of_dead_routers_are_not_used),
        cmocka_unit_test(several_rails_make_one_node),
        cmocka_unit_test(sets_of_nodes_are_written_in_words),
        cmocka_unit_test(faults_in_sets_say_where_and_exclude_nothing),
        cmocka_unit_test(nodes_of_a_job_are_excluded_no_more),
        cmocka_unit_test(a_list_in_words_is_taken_in_its_order),
        cmocka_unit_test(files_are_lines_of_nodes_or_csv),
        cmocka_unit_test(faults_in_files_say_where),
        cmocka_unit_test(the_reference_maps_are_those_of_the_study),
        cmocka_unit_test(a_listed_node_is_free_and_takes_its_share_only),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
