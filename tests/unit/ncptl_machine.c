/* Ranks: small, resumable, given the time, and the same for any number of threads. */
#include "ncptl_try.h"

#include <pthread.h>

#include "base/mem.h"

static struct ncptl_rank *new_ranks(const struct ncptl_prog *p)
{
    size_t size = ncptl_rank_size(p);
    char *ranks = wr_alloc(size * ncptl_ntasks(p));

    for (uint32_t i = 0; i < ncptl_ntasks(p); i++)
        ncptl_rank_init(p, (struct ncptl_rank *)(ranks + i * size), i);
    return (struct ncptl_rank *)ranks;
}

static struct ncptl_rank *rank_at(const struct ncptl_prog *p, struct ncptl_rank *ranks, uint32_t i)
{
    return (struct ncptl_rank *)((char *)ranks + i * ncptl_rank_size(p));
}

static void free_ranks(const struct ncptl_prog *p, struct ncptl_rank *ranks)
{
    for (uint32_t i = 0; i < ncptl_ntasks(p); i++)
        ncptl_rank_fini(p, rank_at(p, ranks, i));
    free(ranks);
}

static void a_rank_fits_512_bytes(void **state)
{
    struct try t;

    (void)state;
    try_open(&t,
             "FOR EACH i IN {1, ..., 9} FOR EACH j IN {i, ..., 9} FOR 3 REPETITIONS PLUS 2 WARMUP "
             "REPETITIONS LET k BE i*j AND l BE k+i WHILE {"
             " ALL TASKS t ASYNCHRONOUSLY SEND A k BYTE MESSAGE TO TASK (t+l) MOD num_tasks THEN"
             " ALL TASKS t ASYNCHRONOUSLY SEND A k BYTE MESSAGE TO TASK (t+1) MOD num_tasks THEN"
             " ALL TASKS t ASYNCHRONOUSLY SEND A k BYTE MESSAGE TO TASK t XOR 1 THEN"
             " ALL TASKS AWAIT COMPLETION }",
             100, NULL);
    assert_true(ncptl_rank_size(t.p) <= 512);
    try_close(&t);
}

/* Nothing is unrolled: the first operations of 1e15 come at once. */
static void a_long_program_starts_at_once(void **state)
{
    struct ncptl_event ev;
    struct try t;

    (void)state;
    try_open(&t,
             "FOR 1E9 REPETITIONS FOR EACH i IN {1, ..., 1E6} {"
             " ALL TASKS s ASYNCHRONOUSLY SEND AN i BYTE MESSAGE TO TASK (s+i) MOD num_tasks THEN"
             " ALL TASKS AWAIT COMPLETION }",
             100000, NULL);
    struct ncptl_rank *r = wr_alloc(ncptl_rank_size(t.p));
    ncptl_rank_init(t.p, r, 77);
    for (int64_t i = 1; i <= 1000; i++) {
        assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_RECV);
        assert_int_equal(ev.peer, (100077 - i) % 100000);
        assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_SEND);
        assert_int_equal(ev.peer, (77 + i) % 100000);
        assert_int_equal(ev.bytes, i);
        assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_WAIT);
    }
    ncptl_rank_fini(t.p, r);
    free(r);
    try_close(&t);
}

/* A rank that has nothing to do in a loop of 1e12 turns leaves it after one. */
static void idle_ranks_do_not_turn_empty_loops(void **state)
{
    struct ncptl_event ev;
    struct try t;

    (void)state;
    try_open(&t,
             "FOR 1E12 REPETITIONS { TASK 0 SENDS A MESSAGE TO TASK 1 THEN FOR EACH i IN {1, 2} "
             "TASK i COMPUTES FOR 1 SECOND } THEN ALL TASKS SYNCHRONIZE.",
             4, NULL);
    struct ncptl_rank *r = wr_alloc(ncptl_rank_size(t.p));
    ncptl_rank_init(t.p, r, 3);
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_BARRIER);
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_END);
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_END);
    ncptl_rank_fini(t.p, r);
    free(r);
    try_close(&t);
}

/* ---- time ---- */

/* Runs one rank with a clock that COMPUTES and SLEEPS move; collects OUTPUTs. */
static void run_clock(const char *text, const char *expected)
{
    struct ncptl_event ev;
    struct wr_str out = {0};
    struct wr_err err;
    struct try t;
    enum ncptl_op op;
    uint64_t began = 0;

    try_open(&t, text, 1, NULL);
    struct ncptl_rank *r = wr_alloc(ncptl_rank_size(t.p));
    ncptl_rank_init(t.p, r, 0);
    while ((op = ncptl_next(t.p, r, &ev)) != NCPTL_END) {
        assert_int_not_equal(op, NCPTL_FAIL);
        if (op == NCPTL_COMPUTE || op == NCPTL_SLEEP)
            r->now_ps += (uint64_t)ev.nsecs * 1000;
        else if (op == NCPTL_TIMED_BEGIN)
            began = r->now_ps;
        else if (op == NCPTL_TIMED_CHECK)
            r->again = r->now_ps - began < (uint64_t)ev.nsecs * 1000;
        else if (op == NCPTL_OUTPUT) {
            assert_true(ncptl_text(t.p, r, &ev, &out, &err));
            wr_str_add(&out, "\n");
        }
    }
    try_same(text, expected, wr_str_get(&out));
    wr_str_fini(&out);
    ncptl_rank_fini(t.p, r);
    free(r);
    try_close(&t);
}

static void elapsed_time_follows_the_callers_clock(void **state)
{
    (void)state;
    run_clock("TASK 0 COMPUTES FOR 5 SECONDS THEN TASK 0 OUTPUTS elapsed_usecs THEN "
              "TASK 0 RESETS ITS COUNTERS THEN TASK 0 SLEEPS FOR 7 MICROSECONDS THEN "
              "TASK 0 OUTPUTS elapsed_usecs.",
              "5000000\n7\n");
}

/* The manual's example of nested STORES and RESTORES. */
static void restoring_counters_winds_the_clock_back(void **state)
{
    (void)state;
    run_clock("TASK 0 RESETS ITS COUNTERS THEN TASK 0 COMPUTES FOR 2 SECONDS THEN "
              "TASK 0 STORES ITS COUNTERS THEN TASK 0 COMPUTES FOR 5 SECONDS THEN "
              "TASK 0 STORES ITS COUNTERS THEN TASK 0 COMPUTES FOR 9 SECONDS THEN "
              "TASK 0 OUTPUTS elapsed_usecs/1E6 THEN TASK 0 RESTORES ITS COUNTERS THEN "
              "TASK 0 OUTPUTS elapsed_usecs/1E6 THEN TASK 0 STORES ITS COUNTERS THEN "
              "TASK 0 COMPUTES FOR 1 SECOND THEN TASK 0 OUTPUTS elapsed_usecs/1E6 THEN "
              "TASK 0 RESTORES ITS COUNTERS THEN TASK 0 OUTPUTS elapsed_usecs/1E6 THEN "
              "TASK 0 RESTORES ITS COUNTERS THEN TASK 0 OUTPUTS elapsed_usecs/1E6.",
              "16\n7\n8\n7\n2\n");
}

static void warmups_take_no_time(void **state)
{
    (void)state;
    run_clock(
        "TASK 0 COMPUTES FOR 1 SECOND THEN FOR 3 REPETITIONS PLUS 10 WARMUP REPETITIONS AND A "
        "SYNCHRONIZATION TASK 0 COMPUTES FOR 1 SECOND THEN TASK 0 OUTPUTS elapsed_usecs/1E6.",
        "4\n");
}

static void timed_loops_repeat_until_the_caller_says_so(void **state)
{
    (void)state;
    run_clock("FOR 10 SECONDS PLUS 5 WARMUP SECONDS AND A SYNCHRONIZATION { TASK 0 COMPUTES FOR 3 "
              "SECONDS THEN TASK 0 OUTPUTS \"turn\" } THEN TASK 0 OUTPUTS elapsed_usecs/1E6.",
              "turn\nturn\nturn\nturn\n12\n");
    run_clock("FOR 0 SECONDS TASK 0 OUTPUTS \"once\".", "once\n");
}

/* ---- folding ---- */

static void count(const struct ncptl_prog *p, bool fold, double *ops, double *bytes)
{
    struct ncptl_rank *ranks = new_ranks(p);
    struct ncptl_event ev;
    enum ncptl_op op;

    for (uint32_t i = 0; i < ncptl_ntasks(p); i++) {
        struct ncptl_rank *r = rank_at(p, ranks, i);

        r->fold = fold;
        while ((op = ncptl_next(p, r, &ev)) != NCPTL_END) {
            assert_int_not_equal(op, NCPTL_FAIL);
            ops[op] += r->weight;
            *bytes += op == NCPTL_SEND ? r->weight * (double)ev.bytes : 0;
        }
        assert_true(r->weight == 1);
    }
    free_ranks(p, ranks);
}

static void folded_loops_count_like_turned_ones(void **state)
{
    static const char *const texts[] = {
        "FOR 7 REPETITIONS PLUS 3 WARMUP REPETITIONS FOR EACH i IN {1, 2, 4, ..., 16} { FOR i "
        "REPETITIONS TASK 0 SENDS AN i BYTE MESSAGE TO TASK 1 THEN ALL TASKS SYNCHRONIZE }",
        "FOR 5 REPETITIONS LET r BE A RANDOM TASK WHILE FOR 4 REPETITIONS TASK r SENDS A r BYTE "
        "MESSAGE TO UNSUSPECTING TASK 0.",
        "FOR 5 REPETITIONS { FOR 0 REPETITIONS TASK 0 SLEEPS FOR 1 SECOND THEN FOR 6 REPETITIONS "
        "PLUS 0 WARMUP REPETITIONS AND A SYNCHRONIZATION TASK 2 COMPUTES FOR 1 SECOND }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double ops[2][NCPTL_NOPS] = {{0}}, bytes[2] = {0};
        struct try t;

        try_open(&t, texts[i], 3, NULL);
        count(t.p, false, ops[0], &bytes[0]);
        count(t.p, true, ops[1], &bytes[1]);
        for (int op = 0; op < NCPTL_NOPS; op++)
            if (ops[0][op] != ops[1][op])
                fail_msg("%s\n%s: %g turned, %g folded", texts[i], ncptl_op_name((enum ncptl_op)op),
                         ops[0][op], ops[1][op]);
        assert_true(bytes[0] == bytes[1]);
        try_close(&t);
    }
}

/* ---- threads ---- */

struct worker {
    const struct ncptl_prog *p;
    struct ncptl_rank *ranks;
    uint32_t first, step;
    uint64_t sum;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct ncptl_event ev;
    enum ncptl_op op;

    for (uint32_t i = w->first; i < ncptl_ntasks(w->p); i += w->step)
        while ((op = ncptl_next(w->p, rank_at(w->p, w->ranks, i), &ev)) != NCPTL_END) {
            w->sum += (uint64_t)op * 31 + ev.peer;
            if (op == NCPTL_BARRIER)
                w->sum += ev.group.key + ncptl_member(&ev.group, ev.group.n - 1);
        }
    return NULL;
}

static uint64_t sum_with(const struct ncptl_prog *p, uint32_t nthreads)
{
    struct ncptl_rank *ranks = new_ranks(p);
    struct worker w[4];
    pthread_t thread[4];
    uint64_t sum = 0;

    for (uint32_t i = 0; i < nthreads; i++) {
        w[i] = (struct worker){.p = p, .ranks = ranks, .first = i, .step = nthreads};
        pthread_create(&thread[i], NULL, work, &w[i]);
    }
    for (uint32_t i = 0; i < nthreads; i++) {
        pthread_join(thread[i], NULL);
        sum += w[i].sum;
    }
    free_ranks(p, ranks);
    return sum;
}

/* No closed form, random tasks, moving tasks and listed ranges: all that is shared. */
static void threads_share_a_program(void **state)
{
    struct try t;

    (void)state;
    try_open(
        &t,
        "FOR EACH i IN {k*k FOR EACH k IN {1, ..., 5}} LET r BE A RANDOM TASK WHILE {"
        " ALL TASKS t ASYNCHRONOUSLY SEND AN i BYTE MESSAGE TO TASK (t*t+i+r) MOD num_tasks THEN"
        " ALL TASKS ARE ASSIGNED TO A RANDOM PROCESSOR THEN"
        " TASKS t SUCH THAT t*t MOD 7 < 3 SYNCHRONIZE }",
        200, NULL);
    uint64_t one = sum_with(t.p, 1);
    assert_int_equal(sum_with(t.p, 4), one);
    assert_int_equal(sum_with(t.p, 2), one);
    try_close(&t);
}

/* ---- groups ---- */

static void a_group_knows_its_members(void **state)
{
    struct ncptl_event ev;
    struct try t;

    (void)state;
    try_open(
        &t,
        "TASKS t SUCH THAT t MOD 3 = 1 SYNCHRONIZE THEN TASKS {1, 2, 8} SYNCHRONIZE THEN "
        "TASK 1 MULTICASTS A MESSAGE TO ALL OTHER TASKS THEN TASKS {8}, {1, ..., 2} SYNCHRONIZE.",
        10, NULL);
    struct ncptl_rank *r = wr_alloc(ncptl_rank_size(t.p));
    ncptl_rank_init(t.p, r, 1);
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_BARRIER);
    assert_int_equal(ev.group.n, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(ncptl_member(&ev.group, i), 1 + 3 * i);
    assert_int_equal(ncptl_group_index(&ev.group, 7), 2);
    assert_int_equal(ncptl_group_index(&ev.group, 2), -1);
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_BARRIER);
    assert_int_equal(ncptl_group_index(&ev.group, 8), 2);
    uint64_t key = ev.group.key;
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_MCAST);
    assert_int_equal(ev.group.n, 9);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(ncptl_member(&ev.group, i), i < 1 ? i : i + 1);
    assert_int_equal(ncptl_group_index(&ev.group, 1), -1);
    assert_int_equal(ncptl_group_index(&ev.group, 9), 8);
    assert_int_equal(ncptl_next(t.p, r, &ev), NCPTL_BARRIER);
    assert_int_equal(ev.group.key, key); /* the same set, written otherwise */
    ncptl_rank_fini(t.p, r);
    free(r);
    try_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_fits_512_bytes),
        cmocka_unit_test(a_long_program_starts_at_once),
        cmocka_unit_test(idle_ranks_do_not_turn_empty_loops),
        cmocka_unit_test(elapsed_time_follows_the_callers_clock),
        cmocka_unit_test(restoring_counters_winds_the_clock_back),
        cmocka_unit_test(warmups_take_no_time),
        cmocka_unit_test(timed_loops_repeat_until_the_caller_says_so),
        cmocka_unit_test(folded_loops_count_like_turned_ones),
        cmocka_unit_test(threads_share_a_program),
        cmocka_unit_test(a_group_knows_its_members),
    };

    return cmocka_run_group_tests_name("ncptl: ranks", tests, NULL, NULL);
}
