/* Every kind of program: it opens, its ranks end, their time adds up, and it repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "load/kinds/load_kinds.h"
#include "rank/rank.h"
#include "world/world.h"

/* One program of each kind. */
static const struct {
    const char *kind, *program;
    uint32_t ranks;
} samples[] = {
    {"ncptl", "file: examples/apps/stencil-2d.ncptl, options: --iterations 2 --points 32", 12},
    {"goal", "file: examples/goal/pipeline.goal", 0},
    {"ior", "command: ior -a MPIIO -b 4m -t 1m -s 2 -w", 6},
    {"mpi", "file: " WEIR_TEST_OBJECTS "/ring.so, args: 2", 7},
    {"profile", "file: " WEIR_SOURCE_DIR "/tests/data/darshan/mpiio_3.1.8_plain.darshan", 0},
};

static void sample_of(const struct load_ops *ops, char *text, size_t n)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (!strcmp(samples[i].kind, ops->kind.name)) {
            snprintf(text, n,
                     "machine:\n  topology: {kind: crossbar, nodes: 16}\n"
                     "  links: {default: {bandwidth: 10 GB/s, latency: 100 ns}}\n"
                     "io: {time: 20 us}\n"
                     "jobs:\n- {program: {kind: %s, %s}, ranks: %u, start: 3 us}\n",
                     samples[i].kind, samples[i].program, samples[i].ranks);
            return;
        }
    fail_msg("no sample of %s; write one here", ops->kind.name);
}

struct outcome {
    uint64_t ranks;
    uint64_t end_ps, sum_ps, msgs, accesses;
};

static void add_rank(struct outcome *o, const struct ranks *rs, uint32_t i)
{
    struct rank_stat s;
    uint64_t sum = 0;

    ranks_stat(rs, i, &s);
    assert_true(s.ended);
    for (int k = 0; k < RANK_ACCOUNTS; k++)
        sum += s.account_ps[k];
    for (int c = 0; c < LOAD_COLLS; c++)
        sum += s.coll_ps[c];
    assert_int_equal(sum, s.elapsed_ps);
    o->sum_ps += sum * (i + 1);
    o->msgs += s.msgs_sent;
    o->accesses += s.accesses;
}

static void run(const struct load_ops *ops, struct outcome *ret)
{
    struct world_config c = {0};
    struct wr_err err = {0};
    enum world_end end;
    struct conf *conf;
    struct world *w;
    char text[1024];

    sample_of(ops, text, sizeof text);
    if (!conf_load_text(&conf, &c, world_rows, "sample.yaml", text, strlen(text), NULL, 0, &err))
        fail_msg("%s", err.text);
    if (!world_open(&w, conf, &c, &err) || !world_run(w, NULL, NULL, &end, &err))
        fail_msg("%s", err.text);
    const struct ranks *rs = world_ranks(w);

    assert_int_equal(ranks_state(rs), RANKS_ENDED);
    *ret = (struct outcome){.ranks = ranks_count(rs), .end_ps = ranks_job_end_ps(rs, 0)};
    for (uint32_t i = 0; i < ret->ranks; i++)
        add_rank(ret, rs, i);
    world_close(w);
    conf_close(conf);
}

static void every_kind_of_program_runs_and_repeats(void **state)
{
    (void)state;
    for (const struct load_ops *const *o = load_table; *o; o++) {
        struct outcome a, b;

        run(*o, &a);
        run(*o, &b);
        assert_true(a.ranks > 1 && a.msgs + a.accesses > 0);
        assert_true(a.end_ps > 3000000); /* not before its start */
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void every_kind_of_program_reports_a_missing_file(void **state)
{
    (void)state;
    for (const struct load_ops *const *o = load_table; *o; o++) {
        bool has_file = false;
        char *params = calloc(1, (*o)->kind.params_size);
        struct conf_plugin plug = {.kind = &(*o)->kind, .params = params};
        struct load_start how = {.ranks = 2};
        struct load l = {.ranks = 77};
        struct wr_err err = {0};

        for (const struct conf_row *r = (*o)->kind.rows; r->key; r++)
            if (r->type == CONF_PATH) {
                *(const char **)(void *)(params + r->offset) = "nowhere/at/all";
                has_file = true;
            }
        if (has_file) {
            assert_false(load_open(&l, &plug, &how, &err));
            assert_non_null(strstr(err.text, "nowhere/at/all"));
            assert_int_equal(l.ranks, 77); /* untouched */
        }
        free(params);
    }
}

static void groups_count_their_members(void **state)
{
    const uint32_t list[] = {2, 3, 7, 9};
    struct load_group groups[] = {
        load_group_all(5),
        {.n = 4, .first = 1, .step = 3, .hole = UINT32_MAX, .lead = LOAD_NO_RANK},
        {.n = 4, .first = 1, .step = 3, .hole = 2, .lead = LOAD_NO_RANK},
        {.n = 4, .hole = UINT32_MAX, .lead = 5, .list = list},
        {.n = 3, .hole = 1, .lead = 0, .list = list},
    };

    (void)state;
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        const struct load_group *g = &groups[k];
        uint32_t members = 0;

        for (uint32_t i = 0; i < load_group_size(g); i++)
            assert_int_equal(load_group_index(g, load_member(g, i)), i);
        for (uint32_t rank = 0; rank < 20; rank++)
            members += load_group_index(g, rank) >= 0;
        assert_int_equal(members, load_group_size(g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_program_runs_and_repeats),
        cmocka_unit_test(every_kind_of_program_reports_a_missing_file),
        cmocka_unit_test(groups_count_their_members),
    };

    if (chdir(WEIR_SOURCE_DIR))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
