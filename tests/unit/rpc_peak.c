/* Which windows count as disturbed, and what parameters windows make: windows made up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "rpc/peak.h"

enum { N = RPC_SUBWINDOWS };

static const struct rpc_case cases[] = {
    {.name = "one", .op = RPC_OP_NOOP, .depth = 1, .measures = RPC_MEASURES_CLIENT},
    {.name = "many", .op = RPC_OP_NOOP, .depth = 16, .measures = RPC_MEASURES_SERVER},
    {.name = "all", .op = RPC_OP_NOOP, .depth = 1, .measures = RPC_MEASURES_POINT},
    {.name = "deep", .op = RPC_OP_NOOP, .depth = 8, .measures = RPC_MEASURES_POINT},
    {.name = "large", .op = RPC_OP_NOOP, .depth = 1, .size_b = 64, .measures = RPC_MEASURES_POINT},
};
static const struct rpc_spec spec = {.cases = {.items = (void *)cases, .n = 5}};

static double lost_of(uint64_t each, uint64_t stalled, size_t at, size_t n)
{
    uint64_t calls[N];

    for (size_t i = 0; i < N; i++)
        calls[i] = i >= at && i < at + n ? stalled : each;
    return rpc_lost(calls, N);
}

static void a_stall_loses_the_calls_of_its_sub_windows(void **state)
{
    (void)state;
    assert_true(fabs(lost_of(10000, 10000, 0, 0)) < 1e-12);
    assert_true(fabs(lost_of(10000, 0, 7, 1) - 1.0 / N) < 1e-12);
    assert_true(fabs(lost_of(10000, 0, 0, 4) - 4.0 / N) < 1e-12);
    assert_true(fabs(lost_of(10000, 5000, 16, 4) - 2.0 / N) < 1e-12);
    /* One that is faster for a while lost nothing. */
    assert_true(fabs(lost_of(10000, 30000, 3, 4)) < 1e-12);
    assert_true(fabs(lost_of(0, 0, 0, 0)) < 1e-12);
    assert_true(fabs(rpc_lost(NULL, 0)) < 1e-12);
}

/* Few calls vary by chance: a Poisson count of mean 9 is often below 5. */
static void chance_is_no_disturbance(void **state)
{
    uint32_t disturbed = 0;

    (void)state;
    for (uint32_t k = 0; k < 500; k++) {
        uint64_t calls[N] = {0};
        struct wr_rng g;

        wr_rng_init(&g, 3, k, 0);
        for (int i = 0; i < 9 * N; i++)
            calls[wr_rng_below(&g, N)]++;
        disturbed += rpc_lost(calls, N) > RPC_DISTURBED;
    }
    assert_true(disturbed <= 5); /* 1 % */
}

static void a_window_is_disturbed_by_what_others_use_or_by_what_it_lacks(void **state)
{
    struct rpc_window quiet = {.foreign = 0.09, .lost = 0.09, .rate = 1},
                      crowded = {.foreign = 0.11, .rate = 3}, stalled = {.lost = 0.11, .rate = 2};

    (void)state;
    assert_false(rpc_window_disturbed(&quiet));
    assert_true(rpc_window_disturbed(&crowded));
    assert_true(rpc_window_disturbed(&stalled));
    assert_true(rpc_window_better(&quiet, &crowded) && !rpc_window_better(&crowded, &quiet));
    assert_true(rpc_window_better(&crowded, &stalled) && !rpc_window_better(&stalled, &crowded));
}

static struct rpc_window window(uint32_t of, double rate, bool disturbed)
{
    return (struct rpc_window){.of = of,
                               .client = of ? -1 : 0,
                               .server = of ? -1 : 0,
                               .clients = of ? 4 : 1,
                               .servers = 1,
                               .rate = rate,
                               .foreign = disturbed ? 1 : 0};
}

static void a_peak_is_the_best_of_repeated_windows(void **state)
{
    struct rpc_window w[] = {window(0, 80, false), window(0, 100, false), window(0, 20, true),
                             window(0, 90, false), window(1, 300, false), window(1, 290, false),
                             window(1, 5, true)};
    struct rpc_span c[RPC_METRICS], s[RPC_METRICS];

    (void)state;
    w[3].client = 1; /* another pair */
    rpc_peaks(c, s, w, 7, &spec);
    assert_true(c[0].lo == 90 && c[0].hi == 100 && c[0].n == 4 && !c[0].disturbed);
    assert_true(s[0].lo == 290 && s[0].hi == 300 && s[0].n == 3 && !s[0].disturbed);
    assert_true(!c[1].n && !s[1].n && !c[2].n && !s[3].n);
}

static void a_peak_that_only_a_disturbed_window_shows_is_marked(void **state)
{
    struct rpc_window w[] = {window(0, 80, false), window(0, 100, true), window(0, 70, true),
                             window(1, 200, true), window(1, 300, true)};
    struct rpc_span c[RPC_METRICS], s[RPC_METRICS];

    (void)state;
    w[2].client = 1;
    rpc_peaks(c, s, w, 5, &spec);
    assert_true(c[0].lo == 70 && c[0].hi == 100 && c[0].disturbed == 2);
    assert_true(s[0].lo == 300 && s[0].hi == 300 && s[0].disturbed == 1);
}

static void a_point_that_is_faster_is_the_peak(void **state)
{
    struct rpc_window w[] = {window(0, 100, false), window(1, 300, true), window(2, 360, false)};
    struct rpc_span c[RPC_METRICS], s[RPC_METRICS];

    (void)state;
    rpc_peaks(c, s, w, 3, &spec);
    assert_true(s[0].hi == 360 && s[0].of == 2 && !s[0].disturbed && c[0].hi == 100);
    assert_true(s[0].from_point && !c[0].from_point);
    /* Each client of it had more than one alone. */
    w[2].rate = 440;
    rpc_peaks(c, s, w, 3, &spec);
    assert_true(s[0].hi == 440 && c[0].hi == 110 && c[0].lo == 100 && c[0].of == 2);
    /* Not a client's peak: it has more calls under way. */
    w[2].of = 3;
    rpc_peaks(c, s, w, 3, &spec);
    assert_true(s[0].hi == 440 && c[0].hi == 100);
    /* Another operation says nothing about it. */
    w[2].of = 4;
    rpc_peaks(c, s, w, 3, &spec);
    assert_true(s[0].hi == 300 && s[0].disturbed == 1 && c[0].hi == 100 && !s[0].from_point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stall_loses_the_calls_of_its_sub_windows),
        cmocka_unit_test(chance_is_no_disturbance),
        cmocka_unit_test(a_window_is_disturbed_by_what_others_use_or_by_what_it_lacks),
        cmocka_unit_test(a_peak_is_the_best_of_repeated_windows),
        cmocka_unit_test(a_peak_that_only_a_disturbed_window_shows_is_marked),
        cmocka_unit_test(a_point_that_is_faster_is_the_peak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
