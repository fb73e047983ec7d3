/* Every placement in the table, present and future: each rank has one node, no
 * node more than its share, excluded nodes stay empty, the seed decides. */
#include "place_help.h"

/* How to write each placement where its parameters have no defaults. */
static const char *written(const struct place_ops *ops)
{
    return strcmp(ops->kind.name, "list") == 0 ? "{kind: list, nodes: 8-71}" : ops->kind.name;
}

static void check_map(const struct place *p, const uint32_t *node, uint32_t ranks,
                      uint32_t per_node, int32_t job)
{
    uint32_t *count = calloc(p->nnodes, sizeof *count), used = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        assert_true(node[r] < p->nnodes);
        assert_int_equal(p->owner[node[r]], job);
        used += !count[node[r]];
        assert_true(++count[node[r]] <= per_node);
    }
    for (uint32_t i = 0; i < p->nnodes; i++)
        assert_true(count[i] || p->owner[i] != job);
    /* Whole nodes: only as many as the ranks need. */
    assert_int_equal(used, (ranks + per_node - 1) / per_node);
    free(count);
}

static void every_rank_gets_one_node_and_no_node_more_than_its_share(void **state)
{
    static const uint32_t ranks[] = {1, 2, 7, 30, 64}, per_node[] = {1, 2, 3, 64};
    struct topo t = help_topo(&help_small);

    (void)state;
    for (const struct place_ops *const *o = place_table; *o; o++)
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 4; k++)
                for (int deal = 0; deal < 2; deal++) {
                    struct place p = help_place(&t, 5);
                    struct help_how how;
                    uint32_t node[64];
                    struct wr_err err;

                    help_how_open(&how, written(*o));
                    struct place_job job = {how.plug, ranks[i], per_node[k], (enum place_deal)deal};

                    if (!place_job(&p, &job, node, &err))
                        fail_msg("%s", err.text);
                    check_map(&p, node, ranks[i], per_node[k], 0);
                    conf_close(how.conf);
                    place_close(&p);
                }
    topo_close(&t);
}

static void excluded_nodes_and_other_jobs_nodes_stay_theirs(void **state)
{
    struct topo t = help_topo(&help_small);

    (void)state;
    for (const struct place_ops *const *o = place_table; *o; o++) {
        struct place p = help_place(&t, 5);
        uint32_t first[10], second[44];
        struct wr_err err;
        bool list = !strcmp((*o)->kind.name, "list");

        assert_true(place_exclude(&p, "last 2 of every group", &err));
        assert_int_equal(p.nexcluded, 18);
        assert_true(help_job(&p, list ? "{kind: list, nodes: '0-5, 8-11'}" : (*o)->kind.name, 10, 1,
                             first, &err));
        check_map(&p, first, 10, 1, 0);
        /* All that is left: 54 - 10. */
        if (list) {
            assert_true(help_job(&p, "contiguous", 44, 1, second, &err));
        } else {
            assert_true(help_job(&p, (*o)->kind.name, 44, 1, second, &err));
        }
        check_map(&p, first, 10, 1, 0);
        check_map(&p, second, 44, 1, 1);
        assert_int_equal(p.nfree, 0);
        for (uint32_t i = 0; i < p.nnodes; i++)
            assert_true((p.owner[i] == PLACE_EXCLUDED) == (i % 8 >= 6));
        place_close(&p);
    }
    topo_close(&t);
}

static void the_seed_and_the_jobs_number_decide(void **state)
{
    struct topo t = help_topo(&help_small);

    (void)state;
    for (const struct place_ops *const *o = place_table; *o; o++) {
        uint32_t node[3][20];
        const uint64_t seeds[3] = {1, 1, 2};
        struct wr_err err;

        for (int i = 0; i < 3; i++) {
            struct place p = help_place(&t, seeds[i]);

            assert_true(help_job(&p, written(*o), 20, 1, node[i], &err));
            place_close(&p);
        }
        assert_memory_equal(node[0], node[1], sizeof node[0]);
        assert_true((memcmp(node[0], node[2], sizeof node[0]) != 0) == (*o)->random);
    }
    topo_close(&t);
}

static void too_many_ranks_are_refused_and_take_nothing(void **state)
{
    struct topo t = help_topo(&help_small);

    (void)state;
    for (const struct place_ops *const *o = place_table; *o; o++) {
        struct place p = help_place(&t, 1);
        uint32_t node[300] = {0};
        struct wr_err err;

        assert_true(place_exclude(&p, "0-1", &err));
        assert_false(help_job(&p, written(*o), 300, 4, node, &err));
        assert_non_null(strstr(err.text, "300 ranks, 4 per node, need 75 nodes and 70 are free"));
        assert_int_equal(err.code, WR_INPUT);
        assert_int_equal(p.nfree, 70);
        assert_int_equal(p.njobs, 0);
        place_close(&p);
    }
    topo_close(&t);
}

static void every_table_row_has_sound_parameters(void **state)
{
    (void)state;
    for (const struct place_ops *const *o = place_table; *o; o++) {
        struct wr_err err;

        assert_true(!(*o)->pick != !(*o)->map);
        if ((*o)->kind.rows && !conf_rows_check((*o)->kind.rows, (*o)->kind.params_size, &err))
            fail_msg("%s: %s", (*o)->kind.name, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_gets_one_node_and_no_node_more_than_its_share),
        cmocka_unit_test(excluded_nodes_and_other_jobs_nodes_stay_theirs),
        cmocka_unit_test(the_seed_and_the_jobs_number_decide),
        cmocka_unit_test(too_many_ranks_are_refused_and_take_nothing),
        cmocka_unit_test(every_table_row_has_sound_parameters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
