/* sim_pipe.c -- what goes into a pipe comes out of it, in order and whole. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sim/pipe.h"

enum { EVENTS = 100000, WORDS = SIM_MOST_PAYLOAD / 8 };

/* Event i and what follows it are all a function of i. */
static struct sim_event event(uint32_t i, uint64_t data[WORDS], uint32_t *bytes)
{
    struct wr_rng g;

    wr_rng_init(&g, 7, i, 1);
    *bytes = wr_rng_below(&g, 3) ? 8 * wr_rng_below(&g, WORDS + 1) : 0;
    for (uint32_t k = 0; k < *bytes / 8; k++)
        data[k] = wr_rng_u64(&g);
    return sim_event(wr_rng_u64(&g), i, 0, i, ~i, 3 * i);
}

static bool put(struct sim_pipe *p, uint32_t i)
{
    uint64_t data[WORDS];
    uint32_t bytes;
    struct sim_event e = event(i, data, &bytes);

    return sim_pipe_put(p, &e, data, bytes);
}

static void check(const struct sim_event *e, uint32_t i)
{
    uint64_t data[WORDS];
    uint32_t bytes;
    struct sim_event want = event(i, data, &bytes);

    assert_true(e->t == want.t && e->key == want.key && e->seq == i && e->arg == want.arg &&
                e->arg2 == want.arg2);
    assert_int_equal(e->next, bytes);
    if (bytes)
        assert_memory_equal(sim_pipe_data(e), data, bytes);
}

static void nothing_is_there_before_it_is_shown(void **state)
{
    (void)state;
    struct sim_pipe *p = wr_zalloc_aligned(1, sizeof *p);

    assert_true(put(p, 0) && put(p, 1));
    assert_null(sim_pipe_get(p));
    assert_true(sim_pipe_show(p));
    assert_false(sim_pipe_show(p));
    check(sim_pipe_get(p), 0);
    check(sim_pipe_get(p), 1);
    assert_null(sim_pipe_get(p));
    assert_true(sim_pipe_empty(p));
    free(p);
}

static void a_full_pipe_takes_more_when_something_was_taken_out(void **state)
{
    (void)state;
    struct sim_pipe *p = wr_zalloc_aligned(1, sizeof *p);
    uint32_t in = 0, out = 0;

    for (uint32_t turn = 0; turn < 50; turn++) {
        while (put(p, in))
            in++;
        assert_true(in > out);
        sim_pipe_show(p);
        for (uint32_t most = turn % 7 ? 100 : UINT32_MAX; out < in && most; most--)
            check(sim_pipe_get(p), out++);
        sim_pipe_free(p);
    }
    free(p);
}

static void *write_all(void *ctx)
{
    struct sim_pipe *p = ctx;

    for (uint32_t i = 0; i < EVENTS;) {
        i += put(p, i);
        if (i % 5 == 0 || i == EVENTS || !sim_pipe_room(p, 1))
            sim_pipe_show(p);
        if (!sim_pipe_room(p, sim_pipe_cells(SIM_MOST_PAYLOAD)))
            sched_yield();
    }
    return NULL;
}

static void two_threads_exchange_events_with_payloads(void **state)
{
    (void)state;
    struct sim_pipe *p = wr_zalloc_aligned(1, sizeof *p);
    pthread_t writer;

    assert_int_equal(pthread_create(&writer, NULL, write_all, p), 0);
    for (uint32_t i = 0; i < EVENTS;) {
        const struct sim_event *e = sim_pipe_get(p);

        if (!e) {
            sim_pipe_free(p);
            sched_yield();
            continue;
        }
        check(e, i++);
    }
    pthread_join(writer, NULL);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_there_before_it_is_shown),
        cmocka_unit_test(a_full_pipe_takes_more_when_something_was_taken_out),
        cmocka_unit_test(two_threads_exchange_events_with_payloads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
