/* sim_fifo.c -- where an event waits changes the cost, never the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sim/sim.h"

enum { EVENTS = 20000, ENTITIES = 16, DELAYS = SIM_FIFOS - 1 };

/* A chain of events that make events: a hash of what was executed, in order. */
struct chain {
    struct sim sim;
    struct wr_rng rng[ENTITIES];
    uint32_t fifo[DELAYS];
    uint32_t seq;
    uint64_t left, hash, last;
    bool rides;
    uint32_t jitter; /* how far from its delay an event may be */
};

static void next_event(struct chain *c, uint32_t who)
{
    static const uint64_t delay[DELAYS] = {1000, 2500, 40000, 700,  1000, 333,
                                           2500, 9000, 5000,  4000, 1};
    struct wr_rng *g = &c->rng[who];
    uint32_t k = wr_rng_below(g, DELAYS + 1), to = wr_rng_below(g, ENTITIES);
    uint64_t t = c->sim.now + (k < DELAYS ? delay[k] : wr_rng_below(g, 100000));

    if (c->jitter)
        t += wr_rng_below(g, c->jitter);
    uint32_t seq = c->seq++;

    if (c->rides && k < DELAYS)
        sim_enqueue(&c->sim, c->fifo[k], t, to, sim_subkey(1, k), seq, to, 0);
    else
        sim_at(&c->sim, t, to, sim_subkey(1, k), seq, to, 0);
}

static void on_event(void *ctx, const struct sim_event *e)
{
    struct chain *c = ctx;

    assert_true(e->t >= c->last);
    c->last = e->t;
    c->hash = (c->hash ^ e->t) * UINT64_C(0x9e3779b97f4a7c15);
    c->hash = (c->hash ^ e->key ^ (uint64_t)e->seq << 20) * UINT64_C(0x9e3779b97f4a7c15);
    if (c->left) {
        c->left--;
        next_event(c, e->arg);
        if (c->left % 7 == 0)
            next_event(c, e->arg);
    }
}

static uint64_t run_chain(bool rides, uint32_t jitter, uint64_t *ret_rode)
{
    struct chain *c = wr_zalloc_aligned(1, sizeof *c);

    *c = (struct chain){.left = EVENTS, .rides = rides, .jitter = jitter};
    sim_init(&c->sim);
    sim_handle(&c->sim, 1, on_event, c);
    for (uint32_t k = 0; k < DELAYS; k++)
        c->fifo[k] = sim_fifo_open(&c->sim, 1);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        wr_rng_init(&c->rng[i], 1, i, 0);
        for (uint32_t k = 0; k < 32; k++)
            next_event(c, i);
    }
    while (sim_run(&c->sim, SIM_NEVER, 1000))
        ;
    assert_int_equal(sim_pending(&c->sim), 0);
    assert_int_equal(sim_events(&c->sim), c->seq);
    *ret_rode = c->sim.fifo_events;
    uint64_t hash = c->hash;

    sim_fini(&c->sim);
    free(c);
    return hash;
}

static void the_order_is_the_same_by_fifo_and_by_calendar(void **state)
{
    static const uint32_t jitter[] = {0, 2, 50, 3000};

    (void)state;
    for (size_t i = 0; i < sizeof jitter / sizeof *jitter; i++) {
        uint64_t none, fifo_events, sorted = run_chain(false, jitter[i], &none);

        assert_int_equal(none, 0);
        assert_true(run_chain(true, jitter[i], &fifo_events) == sorted);
        assert_true(fifo_events >
                    (jitter[i] < 10 ? EVENTS / 2 : 0)); /* what is far out of order is sorted */
    }
}

static struct sim_event at(uint64_t t)
{
    return (struct sim_event){.t = t, .key = t % 5};
}

static bool put(struct sim_fifo *b, const struct sim_event *e)
{
    return sim_fifo_put(b, e->t, e->key, e->seq, e->arg, e->arg2);
}

static void a_fifo_grows_and_keeps_its_order(void **state)
{
    struct sim_fifo b;

    (void)state;
    sim_fifo_init(&b);
    uint32_t first = b.mask + 1;

    /* The head in the middle of the ring, so that growing finds it wrapped. */
    for (uint64_t t = 1; t <= first; t++) {
        struct sim_event e = at(t);

        assert_true(put(&b, &e));
    }
    b.head = first / 2;
    b.n -= first / 2;
    for (uint64_t t = first + 1; t <= 4 * (uint64_t)first; t++) {
        struct sim_event e = at(t);

        assert_true(put(&b, &e));
    }
    assert_true(b.mask + 1 > first);
    for (uint32_t i = 0; i < b.n; i++)
        assert_true(sim_fifo_at(&b, i)->t == first / 2 + 1 + i);
    sim_fifo_fini(&b);
}

static void a_fifo_refuses_what_comes_long_before_its_end(void **state)
{
    struct sim_fifo b;

    (void)state;
    sim_fifo_init(&b);
    for (uint64_t t = 100; t < 200; t++) {
        struct sim_event e = at(t);

        assert_true(put(&b, &e));
    }
    struct sim_event early = at(110), late = at(195);

    assert_false(put(&b, &early));
    assert_int_equal(b.n, 100);
    late.key = 1000;
    assert_true(put(&b, &late));
    assert_int_equal(b.n, 101);
    for (uint32_t i = 1; i < b.n; i++)
        assert_false(sim_before(sim_fifo_at(&b, i), sim_fifo_at(&b, i - 1)));
    sim_fifo_fini(&b);
}

static void put_here(struct sim *s, uint64_t t)
{
    sim_enqueue(s, 0, t, 1, sim_subkey(1, 0), 0, 0, 0);
}

static void count(void *ctx, const struct sim_event *e)
{
    (void)e;
    ++*(uint64_t *)ctx;
}

static void a_run_stops_at_its_time_and_goes_on(void **state)
{
    struct sim s;
    uint64_t n = 0;

    (void)state;
    sim_init(&s);
    sim_handle(&s, 1, count, &n);
    assert_false(sim_run(&s, SIM_NEVER, 10));
    sim_fifo_open(&s, 1);
    for (uint64_t t = 10; t <= 100; t += 10)
        put_here(&s, t);
    sim_at(&s, 55, 1, sim_subkey(1, 0), 0, 0, 0);
    assert_true(sim_run(&s, 50, UINT64_MAX));
    assert_int_equal(n, 4);
    assert_true(sim_run(&s, SIM_NEVER, 2));
    assert_int_equal(n, 6);
    assert_int_equal(s.now, 55);
    assert_false(sim_run(&s, SIM_NEVER, UINT64_MAX));
    assert_int_equal(n, 11);
    sim_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_the_same_by_fifo_and_by_calendar),
        cmocka_unit_test(a_fifo_grows_and_keeps_its_order),
        cmocka_unit_test(a_fifo_refuses_what_comes_long_before_its_end),
        cmocka_unit_test(a_run_stops_at_its_time_and_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
