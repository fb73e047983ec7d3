/* Synthetic traffic: time arithmetic, loads, and each node's own stream. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "load/synth/synth.h"

/* All parameters zero: self false, phase random, slot of a packet. */
static const uint64_t zeros[8];

static struct conf_plugin plug(const struct conf_kind *const *kinds, const char *name,
                               const void *params)
{
    for (; *kinds; kinds++)
        if (!strcmp((*kinds)->name, name))
            return (struct conf_plugin){*kinds, (void *)(uintptr_t)params};
    fail_msg("no plug-in %s", name);
    return (struct conf_plugin){0};
}

static struct synth_traffic traffic(const char *inject, double mean_ps)
{
    static const uint64_t bytes = 4096;
    struct conf_plugin p = plug(synth_pattern_kinds, "uniform", zeros);
    struct conf_plugin i = plug(synth_inject_kinds, inject, zeros);
    struct conf_plugin z = plug(synth_size_kinds, "constant", &bytes);
    struct synth_traffic t;
    struct wr_err err = {0};

    assert_true(synth_pattern_open(&t.pattern, &p, &(struct synth_pattern){.nnodes = 7}, &err));
    assert_true(synth_inject_open(&t.inject, &i, mean_ps, 1000, &err));
    assert_true(synth_size_open(&t.size, &z, &err));
    return t;
}

static void periodic_messages_never_drift_from_a_fractional_gap(void **state)
{
    (void)state;
    struct synth_traffic t = traffic("periodic", 1000 + 1.0 / 3);
    struct synth_source s;
    uint64_t at = 0;

    synth_source_init(&s, 1, 0);
    uint64_t first = synth_next(&t, &s, 0).gap_ps;
    assert_true(first < 1001);
    for (int i = 0; i < 3000000; i++)
        at += synth_next(&t, &s, 0).gap_ps;
    assert_true(at == 3001000000 || at == 3000999999);
}

static void a_load_of_a_fifth_of_a_link_gives_the_gap_of_five_packet_times(void **state)
{
    (void)state;
    double rate = 16 * 0x1p30;

    assert_true(fabs(synth_mean_gap_ps(0.2, 4096, rate) - 5 * 4096 / rate * 1e12) < 1e-3);
}

static void bernoulli_refuses_more_than_one_message_per_slot(void **state)
{
    (void)state;
    struct conf_plugin i = plug(synth_inject_kinds, "bernoulli", zeros);
    struct synth_inject in = {.mean_ps = 42};
    struct wr_err err = {0};

    assert_false(synth_inject_open(&in, &i, 999, 1000, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "lower the load"));
    assert_true(in.mean_ps == 42);
    assert_true(synth_inject_open(&in, &i, 1000, 1000, &err));
}

static void a_node_sends_the_same_whoever_is_asked_first(void **state)
{
    (void)state;
    struct synth_traffic t = traffic("bernoulli", 5000);
    struct synth_source a, b, other;

    synth_source_init(&a, 99, 3);
    synth_source_init(&b, 99, 3);
    synth_source_init(&other, 99, 4);
    for (int i = 0; i < 1000; i++) {
        struct synth_msg ma = synth_next(&t, &a, 3);
        synth_next(&t, &other, 4);
        struct synth_msg mb = synth_next(&t, &b, 3);

        assert_true(ma.gap_ps == mb.gap_ps && ma.dest == mb.dest && ma.bytes == mb.bytes);
        assert_true(ma.dest < 7 && ma.dest != 3);
        assert_int_equal(ma.bytes, 4096);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_messages_never_drift_from_a_fractional_gap),
        cmocka_unit_test(a_load_of_a_fifth_of_a_link_gives_the_gap_of_five_packet_times),
        cmocka_unit_test(bernoulli_refuses_more_than_one_message_per_slot),
        cmocka_unit_test(a_node_sends_the_same_whoever_is_asked_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
