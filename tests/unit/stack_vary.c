/* Runs that vary do so as the bands of their timing models say, and the same seed gives the same
 * run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stack/timing.h"

enum { RUNS = 400 };

static const char text[] =
    "title: bands\n"
    "source: made up\n"
    "at: {servers: 1, clients: 1, from: 1 MiB, to: 2 MiB, low: 0.5, high: 3}\n"
    "states:\n"
    "  client_create_sm: {low: 0.25, high: 2, slowdown: 2}\n"
    "  client_sysint_getattr_sm: {low: 0.1, high: 11}\n"
    "  io_sm:start_flow/read: {wait: 1 ms, wait_per_byte: 1000}\n";

struct lab {
    struct stack_fs *fs;
    uint16_t flow, create, getattr;
};

static struct stack_timings *timings_of(const struct lab *l, const char *from)
{
    struct stack_timings *timings;
    struct wr_err err = {0};

    if (!stack_timings_open_text(&timings, l->fs, "test", from, strlen(from), &err))
        fail_msg("%s", err.text);
    return timings;
}

static int open_lab(void **state)
{
    struct lab *l = calloc(1, sizeof *l);
    struct wr_err err = {0};

    *state = l;
    if (!stack_fs_open(&l->fs, "pvfs2", &err))
        return 1;
    l->flow = stack_find_state(l->fs, "io_sm:start_flow", strlen("io_sm:start_flow"));
    for (uint16_t m = 0; m < l->fs->machine.n; m++) {
        const char *name = l->fs->machine.v[m].name;

        if (!strcmp(name, "client_create_sm"))
            l->create = m;
        if (!strcmp(name, "client_sysint_getattr_sm"))
            l->getattr = m;
    }
    return 0;
}

static int close_lab(void **state)
{
    struct lab *l = *state;

    stack_fs_close(l->fs);
    free(l);
    return 0;
}

/* Of 400 runs 40 are expected below the band and 40 above, give or take 6 each. */
static void check_tenths(uint32_t below, uint32_t above, uint32_t less)
{
    if (below < 20 || below > 60 || above < 20 || above > 60 || less < 160 || less > 240)
        fail_msg("%u of %d below the band, %u above, %u less than predicted", below, RUNS, above,
                 less);
}

static void eight_of_ten_runs_lie_in_the_band(void **state)
{
    const struct lab *l = *state;
    uint32_t below[2] = {0}, above[2] = {0}, less[2] = {0};
    const double low[] = {0.5, 0.25}, high[] = {3, 2};

    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct stack_timings *given = timings_of(l, text), *v = timings_of(l, text);
        struct wr_err err = {0};

        assert_true(stack_timings_vary(v, l->fs, seed, &err));
        double by[] = {v->wait[0][l->flow].per_byte_ns / given->wait[0][l->flow].per_byte_ns,
                       v->slowdown[0][l->create] / given->slowdown[0][l->create]};

        for (int i = 0; i < 2; i++) {
            below[i] += by[i] < low[i];
            above[i] += by[i] > high[i];
            less[i] += by[i] < 1;
        }
        double constant = v->wait[0][l->flow].constant_ns / given->wait[0][l->flow].constant_ns;

        assert_true(constant > 0.999 * by[0] && constant < 1.001 * by[0]);
        stack_timings_close(given);
        stack_timings_close(v);
    }
    for (int i = 0; i < 2; i++)
        check_tenths(below[i], above[i], less[i]);
}

/* The state that a run finds makes reads and writes slow together, as far as the models say. */
static void reads_and_writes_of_a_run_find_one_state(void **state)
{
    static const char *const together[] = {"0", "0.5", "1"};
    const struct lab *l = *state;

    for (int k = 0; k < 3; k++) {
        double sum[2] = {0}, squares[2] = {0}, both = 0;
        char with[1000];

        snprintf(with, sizeof with,
                 "title: t\nsource: measured\nat: {low: 0.5, high: 2, together: %s}\nstates:\n"
                 "  io_sm:start_flow: {wait: 1 ms, wait_per_byte: 1000}\n",
                 together[k]);
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            struct stack_timings *v = timings_of(l, with);
            struct wr_err err = {0};

            assert_true(stack_timings_vary(v, l->fs, seed, &err));
            double by[2];

            for (int w = 0; w < 2; w++) {
                by[w] = log(v->wait[w][l->flow].per_byte_ns);
                sum[w] += by[w];
                squares[w] += by[w] * by[w];
            }
            both += by[0] * by[1];
            stack_timings_close(v);
        }
        double sd[2];

        for (int w = 0; w < 2; w++)
            sd[w] = sqrt(squares[w] / RUNS - sum[w] * sum[w] / RUNS / RUNS);
        double is = (both / RUNS - sum[0] * sum[1] / RUNS / RUNS) / sd[0] / sd[1];

        assert_true(fabs(is - k / 2.0) < 0.15);
    }
}

static void a_seed_is_a_run_and_has_no_band(void **state)
{
    const struct lab *l = *state;
    struct stack_timings *v[3];
    struct wr_err err = {0};

    for (uint64_t i = 0; i < 3; i++) {
        v[i] = timings_of(l, text);
        assert_true(stack_timings_vary(v[i], l->fs, i / 2, &err));
    }
    assert_true(v[0]->wait[0][l->flow].per_byte_ns == v[1]->wait[0][l->flow].per_byte_ns);
    assert_true(v[0]->slowdown[0][l->create] == v[1]->slowdown[0][l->create]);
    assert_true(v[0]->wait[0][l->flow].per_byte_ns != v[2]->wait[0][l->flow].per_byte_ns);
    assert_false(stack_band_known(v[0]->io));
    assert_false(stack_band_known(v[0]->band[2][l->create]));
    for (int i = 0; i < 3; i++)
        stack_timings_close(v[i]);
}

static void what_is_of_two_kinds_stays_and_without_bands_there_is_nothing(void **state)
{
    const struct lab *l = *state;
    struct stack_timings *v = timings_of(l, text);
    struct wr_err err = {0};

    assert_true(stack_band_known(v->band[2][l->getattr]));
    assert_true(stack_timings_vary(v, l->fs, 1, &err));
    assert_true(v->slowdown[0][l->getattr] == 0);
    stack_timings_close(v);
    v = timings_of(l, "title: none\nstates:\n  io_sm:start_flow/read: {wait: 1 ms}\n");
    assert_false(stack_timings_vary(v, l->fs, 1, &err));
    assert_non_null(strstr(err.text, "say not how much runs differ"));
    stack_timings_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_of_ten_runs_lie_in_the_band),
        cmocka_unit_test(reads_and_writes_of_a_run_find_one_state),
        cmocka_unit_test(a_seed_is_a_run_and_has_no_band),
        cmocka_unit_test(what_is_of_two_kinds_stays_and_without_bands_there_is_nothing),
    };

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
