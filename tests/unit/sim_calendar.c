/* sim_calendar.c -- the calendar gives events in the order of event.h, whatever
 * their times, and never loses one. A heap is the oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include "base/rng.h"
#include "sim/sim.h"

static struct sim_event event(uint64_t t, uint32_t dst, uint32_t subkey, uint32_t seq)
{
    return (struct sim_event){
        .t = t, .key = (uint64_t)dst << 32 | subkey, .seq = seq, .next = WR_NIL};
}

/* The time of a new event: now, soon, later, or in a distant year. */
static uint64_t draw_time(struct wr_rng *g, uint64_t now)
{
    static const uint64_t span[] = {1, 100, 5000, 100000, 10000000, UINT64_C(1) << 44};

    return now + wr_rng_u64(g) % span[wr_rng_below(g, 6)];
}

static void pop_both(struct sim_calendar *c, struct sim_heap *h, uint64_t *now)
{
    struct sim_event want;
    const struct sim_event *got = sim_calendar_peek(c);

    assert_non_null(got);
    sim_heap_pop(h, &want);
    assert_int_equal(got->t, want.t);
    assert_int_equal(got->key, want.key);
    assert_int_equal(got->seq, want.seq);
    *now = got->t;
    sim_calendar_give(c, sim_calendar_pop(c));
}

static void the_calendar_gives_the_same_order_as_a_heap(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 8; round++) {
        struct sim_calendar c;
        struct sim_heap h = {0};
        struct wr_rng g;
        uint64_t now = 0, serial = 0;

        wr_rng_init(&g, 5, round, 0);
        sim_calendar_init(&c);
        /* Grow, hold, shrink; in the odd rounds events come in heaps at equal times. */
        for (uint32_t i = 0; i < 30000; i++) {
            bool push = i < 8000 ? wr_rng_below(&g, 4) : wr_rng_below(&g, 2);

            if (!push && h.n) {
                pop_both(&c, &h, &now);
                continue;
            }
            uint64_t t = draw_time(&g, now);
            struct sim_event e = event(round & 1 ? (t | 1023) + 1 : t, wr_rng_below(&g, 5),
                                       wr_rng_below(&g, 3), (uint32_t)serial++);

            sim_calendar_push(&c, &e);
            sim_heap_push(&h, &e);
            assert_int_equal(sim_calendar_count(&c), h.n);
        }
        while (h.n)
            pop_both(&c, &h, &now);
        assert_null(sim_calendar_peek(&c));
        assert_int_equal(sim_calendar_count(&c), 0);
        sim_heap_fini(&h);
        sim_calendar_fini(&c);
    }
}

static void sum_up(void *ctx, const struct sim_event *e)
{
    uint64_t *sum = ctx;

    sum[0]++;
    sum[1] += e->t ^ e->key;
}

static void a_walk_over_the_calendar_meets_every_event_once(void **state)
{
    struct sim_calendar c;
    struct wr_rng g;
    uint64_t want[2] = {0}, now = 0;

    (void)state;
    wr_rng_init(&g, 6, 0, 0);
    sim_calendar_init(&c);
    for (uint32_t i = 0; i < 5000; i++) {
        struct sim_event e = event(draw_time(&g, now), i % 7, i % 3, i);
        uint64_t got[2] = {0};

        sim_calendar_push(&c, &e);
        sum_up(want, &e);
        if (i % 3 == 0) {
            const struct sim_event *first = sim_calendar_peek(&c);

            now = first->t;
            want[0]--;
            want[1] -= first->t ^ first->key;
            sim_calendar_give(&c, sim_calendar_pop(&c));
        }
        if (i % 100 == 0) {
            sim_calendar_each(&c, sum_up, got);
            assert_int_equal(got[0], want[0]);
            assert_int_equal(got[1], want[1]);
        }
    }
    sim_calendar_fini(&c);
}

/* --- the clock --- */

struct diary {
    struct sim *s;
    uint64_t t[64];
    uint32_t n;
};

/* Writes down its time; an event with arg > 0 makes another at the same time. */
static void write_down(void *ctx, const struct sim_event *e)
{
    struct diary *d = ctx;

    assert_int_equal(d->s->now, e->t);
    d->t[d->n++] = e->t;
    if (e->arg)
        sim_at(d->s, e->t, sim_dst(e), sim_subkey(0, 0), e->seq + 1, e->arg - 1, 0);
}

static void open_diary(struct sim *s, struct diary *d)
{
    *d = (struct diary){.s = s};
    sim_init(s);
    sim_handle(s, 0, write_down, d);
}

static void a_run_stops_before_its_time_and_after_its_number(void **state)
{
    struct sim s;
    struct diary d;

    (void)state;
    open_diary(&s, &d);
    for (uint64_t t = 10; t <= 50; t += 10)
        sim_at(&s, t, 1, sim_subkey(0, 0), 0, 0, 0);
    assert_true(sim_run(&s, 30, UINT64_MAX));
    assert_int_equal(d.n, 2);
    assert_int_equal(s.now, 20);
    assert_true(sim_run(&s, SIM_NEVER, 1));
    assert_int_equal(d.n, 3);
    assert_false(sim_run(&s, SIM_NEVER, UINT64_MAX));
    assert_int_equal(d.n, 5);
    assert_int_equal(sim_events(&s), 5);
    sim_fini(&s);
}

static void an_event_may_make_events_at_its_own_time(void **state)
{
    struct sim s;
    struct diary d;

    (void)state;
    open_diary(&s, &d);
    sim_at(&s, 1000, 1, sim_subkey(0, 0), 0, 5, 0);
    sim_at(&s, 1001, 1, sim_subkey(0, 0), 0, 0, 0);
    assert_false(sim_run(&s, SIM_NEVER, UINT64_MAX));
    assert_int_equal(d.n, 7);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(d.t[i], 1000);
    assert_int_equal(d.t[6], 1001);
    sim_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calendar_gives_the_same_order_as_a_heap),
        cmocka_unit_test(a_walk_over_the_calendar_meets_every_event_once),
        cmocka_unit_test(a_run_stops_before_its_time_and_after_its_number),
        cmocka_unit_test(an_event_may_make_events_at_its_own_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
