/* GOAL schedules: both forms, where their faults are, and the order in which operations start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "load/goal/goal.h"
#include "load/kinds/load_kinds.h"
#include "load/load.h"

/* ---- helpers ---- */

struct blob {
    char *bytes;
    size_t len;
};

static bool compile_text(const char *text, struct blob *ret, struct wr_err *err)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r"), *out = tmpfile();
    bool ok = goal_text_read(in, "t", out, err);

    fclose(in);
    *ret = (struct blob){0};
    if (ok) {
        fseek(out, 0, SEEK_END);
        ret->len = (size_t)ftell(out);
        ret->bytes = malloc(ret->len);
        rewind(out);
        assert_int_equal(fread(ret->bytes, 1, ret->len, out), ret->len);
    }
    fclose(out);
    return ok;
}

static void compile_or_fail(const char *text, struct blob *ret, struct goal *g)
{
    struct wr_err err;

    if (!compile_text(text, ret, &err) || !goal_open_mem(g, "b", ret->bytes, ret->len, &err))
        fail_msg("%s\n%s", text, err.text);
}

static void refuse_text(const char *text, const char *says)
{
    struct wr_err err = {0};
    struct blob b;

    if (compile_text(text, &b, &err))
        fail_msg("%s\nwas accepted", text);
    assert_int_equal(err.code, WR_INPUT);
    if (strncmp(err.text, says, strlen(says)) != 0)
        fail_msg("%s\n\"%s\" does not begin with \"%s\"", text, err.text, says);
}

/* ---- the forms ---- */

/* One rank: a calculation of 7 ns, then a send of 5 bytes to rank 0 with tag 9 on cpu 1 and nic 2,
 * byte by byte as the format's description says. */
static const uint8_t by_hand[] = {
    0x7f, 0x10, 0, 0, 0, 0, 0, 0,                         /* magic 4223 */
    1,    0,    0, 0, 1, 2,                               /* ranks, largest cpu and nic */
    0x16, 0,    0, 0, 0, 0, 0, 0,                         /* starts at 8 + 22 */
    0x74, 0,    0, 0, 0, 0, 0, 0,                         /* and ends at 8 + 116 */
    2,    0,    0, 0, 1, 0, 0, 0, 0, 0, 0, 0,             /* 2 operations, 1 root: 0 */
    0,    0,    0, 0, 3, 0, 0, 0, 0,                      /* calc */
    7,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,       /* size, tag, cpu, nic */
    1,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, /* dependents, of start */
    1,    0,    0, 0, 1, 0, 0, 0, 0,                      /* send to 0 */
    5,    0,    0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 2,       /* size, tag, cpu, nic */
    0,    0,    0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, /* no operation depends on it */
    1,    0,    0, 0,                                     /* the appendix */
};

static void text_becomes_the_bytes_of_the_format(void **state)
{
    struct blob b;
    struct goal g;

    (void)state;
    compile_or_fail("num_ranks 1\nrank 0 {\nc: calc 7\ns: send 5b to 0 tag 9 cpu 1 nic 2\n"
                    "s requires c\n}\n",
                    &b, &g);
    assert_int_equal(b.len, sizeof by_hand);
    assert_memory_equal(b.bytes, by_hand, sizeof by_hand);
    free(b.bytes);
}

static void bytes_become_text_again(void **state)
{
    static const char want[] = "num_ranks 1\n\nrank 0 {\nl0: calc 7\n"
                               "l1: send 5b to 0 tag 9 cpu 1 nic 2\nl1 requires l0\n}\n";
    struct wr_err err;
    struct goal g;
    char *text;
    size_t len;

    (void)state;
    assert_true(goal_open_mem(&g, "b", by_hand, sizeof by_hand, &err));
    FILE *out = open_memstream(&text, &len);
    assert_true(goal_text_write(&g, out, &err));
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void text_may_be_laid_out_freely(void **state)
{
    struct goal_totals t;
    struct wr_err err;
    struct blob b;
    struct goal g;

    (void)state;
    compile_or_fail(
        "# remark\nnum_ranks 3 rank 2{a:send 1b to 0 b requires a // ranks in any order\n"
        "b:recv 0b from -1 tag 4 a irequires c c: calc 1 calc 2} /* rank 1\n is idle */"
        "rank 0 { }",
        &b, &g);
    assert_true(goal_check(&g, &t, &err));
    assert_int_equal(g.nranks, 3);
    assert_int_equal(t.ops, 4);
    assert_int_equal(t.calcs, 2);
    assert_int_equal(t.requires, 1);
    assert_int_equal(t.starts, 1);
    free(b.bytes);
}

static void faults_in_text_say_line_and_column(void **state)
{
    (void)state;
    refuse_text("", "t:1:1: the text ends here; expected num_ranks");
    refuse_text("ranks 3", "t:1:1: expected num_ranks and how many there are instead of \"ranks\"");
    refuse_text("num_ranks 0", "t: a schedule of no ranks");
    refuse_text("num_ranks 99999999999999999999999",
                "t:1:11: 99999999999999999999999 is too large");
    refuse_text("num_ranks 16777217", "t:1:11: 16777217 is too large: at most 16777216 here");
    refuse_text("num_ranks 2\nrank 2 {}", "t:2:6: 2 is too large: at most 1 here");
    refuse_text("num_ranks 2\nrank 1 {}\nrank 1 {}", "t:3:6: rank 1 is there twice");
    refuse_text("num_ranks 1\nrank 0 {\n a: send 5 to 0\n}",
                "t:3:10: expected a size with its unit, as in 100b instead of \"5\"");
    refuse_text("num_ranks 1\nrank 0 {\n a: send 5b to 1\n}", "t:3:16: 1 is too large");
    refuse_text("num_ranks 1\nrank 0 {\n a: send 5b to -1\n}",
                "t:3:16: expected the number of a rank");
    refuse_text("num_ranks 1\nrank 0 {\n a: recv 5b to 0\n}",
                "t:3:13: expected \"from\" and a rank");
    refuse_text("num_ranks 1\nrank 0 {\n a: jump 5\n}", "t:3:5: expected send, recv or calc");
    refuse_text("num_ranks 1\nrank 0 {\n a: calc 5 cpu 256\n}", "t:3:16: 256 is too large");
    refuse_text("num_ranks 1\nrank 0 {\n a: calc 1\n a: calc 2\n}",
                "t:4:2: the label \"a\" is given");
    refuse_text("num_ranks 1\nrank 0 {\n a: calc 1\n a requires b\n}",
                "t:4:13: no operation of this rank is labelled \"b\"");
    refuse_text("num_ranks 1\nrank 0 {\n a: calc 1\n a wants a\n}",
                "t:4:4: expected \":\", requires");
    refuse_text("num_ranks 1\nrank 0 {\n a: calc 1",
                "t:3:11: the text ends here; expected a label");
    refuse_text("num_ranks 1\nrank 0 { /* ", "t:2:10: this remark has no end");
    refuse_text("num_ranks 1\nrank 0 { / ", "t:2:10: a lone \"/\"");
}

static void a_circle_of_requirements_is_reported(void **state)
{
    struct goal_totals t;
    struct wr_err err;
    struct blob b;
    struct goal g;

    (void)state;
    compile_or_fail(
        "num_ranks 2 rank 1 { a: calc 1 b: calc 1 c: calc 1 b requires c c requires b }", &b, &g);
    assert_false(goal_check(&g, &t, &err));
    assert_non_null(strstr(err.text, "rank 1 ends with 2 of its 3 operations never started"));
    free(b.bytes);
}

/* Changes one byte of the schedule above and expects a complaint. */
static void faults_in_bytes_say_where(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *says;
    } cases[] = {
        {0, 0, "b: not a GOAL schedule"},
        {8, 0, "b: byte 8: the schedule has no ranks"},
        {8, 200, "b: byte 8: 200 ranks need a table of 3200 bytes"},
        {14, 0xff, "b: byte 14: rank 0 lies from 255 to 116"},
        {22, 0x80, "b: byte 14: rank 0 lies from 22 to 128"},
        {30, 9, "b: byte 30: rank 0 would have 9 operations"},
        {34, 3, "b: byte 30: rank 0 would have 2 operations, 3 of them"},
        {38, 1, "b: byte 38: rank 0 begins with operation 1"},
        {38, 7, "b: byte 38: rank 0 begins with operation 7"},
        {46, 4, "b: byte 42: operation 0 of rank 0: no such kind of operation"},
        {65, 2, "b: byte 42: operation 0 of rank 0: its dependents lie outside of the rank"},
        {81, 3, "b: rank 0 ends with 1 of its 2 operations never started"},
        {86, 1, "b: byte 81: operation 1 of rank 0: its peer is no rank"},
        {102, 7, "b: byte 81: operation 1 of rank 0: its cpu is beyond"},
        {120, 5, "b: byte 120: in rank 0, operation 5 is to be started and there are 2"},
        {120, 0, "b: byte 42: operation 0 of rank 0 is started more often"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[sizeof by_hand];
        struct goal_totals t;
        struct wr_err err = {0};
        struct goal g;

        memcpy(bytes, by_hand, sizeof bytes);
        bytes[cases[i].at] = cases[i].value;
        if (goal_open_mem(&g, "b", bytes, sizeof bytes, &err) && goal_check(&g, &t, &err))
            fail_msg("case %zu was accepted", i);
        if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("\"%s\" does not begin with \"%s\"", err.text, cases[i].says);
    }
    uint8_t consumed[sizeof by_hand];
    struct wr_err err;
    struct goal g;

    memcpy(consumed, by_hand, sizeof consumed);
    consumed[0] = 2342 & 0xff;
    consumed[1] = 2342 >> 8;
    assert_false(goal_open_mem(&g, "b", consumed, sizeof consumed, &err));
    assert_non_null(strstr(err.text, "already consumed"));
    for (size_t n = 0; n < sizeof by_hand; n++) {
        struct goal_totals t;

        if (goal_open_mem(&g, "b", by_hand, n, &err))
            assert_false(goal_check(&g, &t, &err));
    }
}

/* ---- the order ---- */

static void requires_waits_for_the_end_and_irequires_for_the_start(void **state)
{
    struct goal_cursor c;
    struct goal_rank r;
    struct goal_op op;
    struct wr_err err;
    struct blob b;
    struct goal g;
    uint32_t id;

    (void)state;
    compile_or_fail("num_ranks 1 rank 0 { a: calc 1 b: calc 2 c: calc 3 b irequires a c requires a "
                    "c requires b }",
                    &b, &g);
    assert_true(goal_rank_open(&r, &g, 0, &err));
    goal_cursor_init(&c, &r);
    assert_int_equal(goal_cursor_next(&c, &id, &op), GOAL_START);
    assert_int_equal(id, 0);
    assert_int_equal(op.nafter_start, 1);
    assert_int_equal(goal_cursor_next(&c, &id, &op), GOAL_LATER);
    goal_cursor_started(&c, 0);
    assert_int_equal(goal_cursor_next(&c, &id, &op), GOAL_START);
    assert_int_equal(id, 1);
    goal_cursor_done(&c, 1);
    assert_int_equal(goal_cursor_next(&c, &id, &op), GOAL_LATER);
    goal_cursor_done(&c, 0);
    assert_int_equal(goal_cursor_next(&c, &id, &op), GOAL_START);
    assert_int_equal(id, 2);
    assert_int_equal(op.size, 3);
    goal_cursor_done(&c, 2);
    assert_int_equal(goal_cursor_next(&c, &id, &op), GOAL_END);
    goal_cursor_fini(&c);
    free(b.bytes);
}

/* Random graphs, completed in random order: everything starts once, after what it requires. */
static void random_graphs_start_each_operation_once_and_in_order(void **state)
{
    enum { MOST = 60 };
    struct wr_rng rng;

    (void)state;
    wr_rng_init(&rng, 7, 0, 0);
    for (int round = 0; round < 300; round++) {
        struct goal_builder *b = goal_builder_new();
        bool need[MOST][MOST] = {0}, begun[MOST] = {0}, ended[MOST] = {0};
        uint32_t n = 1 + wr_rng_below(&rng, MOST), running[MOST], nrunning = 0, started = 0, id;
        FILE *f = tmpfile();
        struct wr_err err;
        struct goal_op op;
        struct goal_cursor c;
        struct goal_rank r;
        struct goal g;
        enum goal_turn turn;

        for (uint32_t i = 0; i < n; i++) {
            goal_add(b, &(struct goal_op){.type = GOAL_CALC, .size = i});
            for (uint32_t k = 0; k < i; k++)
                if (!wr_rng_below(&rng, 8)) {
                    need[i][k] = true;
                    goal_require(b, i, k, false);
                }
        }
        struct goal_writer *w = goal_writer_new(f, 2);
        assert_true(goal_writer_rank(w, 1, b, &err));
        assert_true(goal_writer_close(w, &err));
        long len = (fseek(f, 0, SEEK_END), ftell(f));
        char *bytes = malloc((size_t)len);
        rewind(f);
        assert_int_equal(fread(bytes, 1, (size_t)len, f), len);
        assert_true(goal_open_mem(&g, "b", bytes, (size_t)len, &err));
        assert_true(goal_rank_open(&r, &g, 1, &err));
        goal_cursor_init(&c, &r);
        while ((turn = goal_cursor_next(&c, &id, &op)) != GOAL_END) {
            assert_int_not_equal(turn, GOAL_FAULT);
            if (turn == GOAL_START) {
                assert_false(begun[id]);
                assert_int_equal(op.size, id);
                for (uint32_t k = 0; k < n; k++)
                    assert_true(!need[id][k] || ended[k]);
                begun[id] = true;
                running[nrunning++] = id;
                started++;
            }
            if (turn == GOAL_LATER || wr_rng_below(&rng, 2)) {
                uint32_t which = wr_rng_below(&rng, nrunning);

                ended[running[which]] = true;
                goal_cursor_done(&c, running[which]);
                running[which] = running[--nrunning];
            }
            if (!nrunning && turn == GOAL_LATER)
                continue;
        }
        assert_int_equal(started, n);
        goal_cursor_fini(&c);
        goal_builder_free(b);
        free(bytes);
        fclose(f);
    }
}

/* A cursor keeps the front of the graph, not the graph. */
static void memory_is_that_of_what_is_outstanding(void **state)
{
    enum { LENGTH = 200000 };
    struct goal_builder *b = goal_builder_new();
    FILE *f = tmpfile();
    struct goal_cursor c;
    struct goal_rank r;
    struct goal_op op = {.type = GOAL_CALC, .size = 1};
    struct wr_err err;
    struct goal g;
    uint32_t id, n = 0;

    (void)state;
    for (uint32_t i = 0; i < LENGTH; i++) {
        goal_add(b, &op);
        if (i)
            goal_require(b, i, i - 1, false);
        if (i > 3)
            goal_require(b, i, i - 4, false);
    }
    struct goal_writer *w = goal_writer_new(f, 1);
    assert_true(goal_writer_rank(w, 0, b, &err) && goal_writer_close(w, &err));
    goal_builder_free(b);
    long len = (fseek(f, 0, SEEK_END), ftell(f));
    char *bytes = malloc((size_t)len);
    rewind(f);
    assert_int_equal(fread(bytes, 1, (size_t)len, f), len);
    assert_true(goal_open_mem(&g, "b", bytes, (size_t)len, &err));
    assert_true(goal_rank_open(&r, &g, 0, &err));
    goal_cursor_init(&c, &r);
    while (goal_cursor_next(&c, &id, &op) == GOAL_START) {
        goal_cursor_done(&c, id);
        n++;
    }
    assert_int_equal(n, LENGTH);
    assert_true(c.missing.cap <= 32 && c.ready_cap <= 16);
    goal_cursor_fini(&c);
    free(bytes);
    fclose(f);
}

/* ---- as a workload ---- */

static void a_schedule_is_a_workload(void **state)
{
    struct {
        const char *file;
    } params = {WEIR_SOURCE_DIR "/examples/goal/pipeline.goal"};
    struct conf_plugin plug = {.params = &params};
    struct load_start how = {.ranks = 0};
    struct load_op op = {0};
    struct wr_err err;
    struct load l;

    (void)state;
    for (const struct conf_kind *const *k = load_kinds; *k; k++)
        if (!strcmp((*k)->name, "goal"))
            plug.kind = *k;
    assert_non_null(plug.kind);
    if (!load_open(&l, &plug, &how, &err))
        fail_msg("%s", err.text);
    assert_int_equal(l.ranks, 3);
    assert_int_equal(l.cpus, 2);
    void *rank = malloc(l.rank_size);
    l.ops->rank_init(&l, rank, 2);
    assert_int_equal(l.ops->next(&l, rank, 0, &op), LOAD_RECV);
    assert_int_equal(op.flags, LOAD_F_ASYNC | LOAD_F_REPORT | LOAD_F_START);
    assert_int_equal(op.peer, 1);
    assert_int_equal(op.bytes, 1048576);
    assert_int_equal(op.cpu, 1);
    assert_int_equal(l.ops->next(&l, rank, 0, &op), LOAD_LATER);
    l.ops->done(&l, rank, 0, LOAD_STARTED, 0);
    assert_int_equal(l.ops->next(&l, rank, 0, &op), LOAD_RECV);
    l.ops->done(&l, rank, 0, LOAD_COMPLETE, 5);
    op = (struct load_op){0};
    assert_int_equal(l.ops->next(&l, rank, 5, &op), LOAD_COMPUTE);
    assert_int_equal(op.ps, 5000000);
    assert_int_equal(l.ops->next(&l, rank, 5, &op), LOAD_LATER);
    l.ops->done(&l, rank, op.id, LOAD_COMPLETE, 9);
    l.ops->done(&l, rank, 1, LOAD_COMPLETE, 9);
    assert_int_equal(l.ops->next(&l, rank, 9, &op), LOAD_COMPUTE);
    l.ops->done(&l, rank, op.id, LOAD_COMPLETE, 12);
    assert_int_equal(l.ops->next(&l, rank, 12, &op), LOAD_END);
    l.ops->rank_fini(&l, rank);
    free(rank);
    load_close(&l);
    how.ranks = 4;
    assert_false(load_open(&l, &plug, &how, &err));
    assert_non_null(strstr(err.text, "has 3 ranks and the job 4; set the job's ranks to 3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_becomes_the_bytes_of_the_format),
        cmocka_unit_test(bytes_become_text_again),
        cmocka_unit_test(text_may_be_laid_out_freely),
        cmocka_unit_test(faults_in_text_say_line_and_column),
        cmocka_unit_test(a_circle_of_requirements_is_reported),
        cmocka_unit_test(faults_in_bytes_say_where),
        cmocka_unit_test(requires_waits_for_the_end_and_irequires_for_the_start),
        cmocka_unit_test(random_graphs_start_each_operation_once_and_in_order),
        cmocka_unit_test(memory_is_that_of_what_is_outstanding),
        cmocka_unit_test(a_schedule_is_a_workload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
