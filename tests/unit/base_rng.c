/* Randomness: the published answers of Philox, fair draws, streams that do not meet.
 *
 * The draws are a fixed function of fixed seeds, so these tests never flicker; the
 * bounds are those a true random source would exceed less than once in a million.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

/* Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11: known answers
 * of Philox4x32 with ten rounds, as distributed with Random123. */
static const struct answer {
    uint32_t counter[4], key[2], out[4];
} answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void the_blocks_are_philox_4x32_10(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const struct answer *a = &answers[i];
        struct wr_rng g;

        wr_rng_init(&g, (uint64_t)a->key[1] << 32 | a->key[0], a->counter[2], a->counter[3]);
        g.block = (uint64_t)a->counter[1] << 32 | a->counter[0];
        for (int word = 3; word >= 0; word--) /* a block is used from its end */
            assert_int_equal(wr_rng_u32(&g), a->out[word]);
    }
}

static void the_same_key_gives_the_same_stream(void **state)
{
    struct wr_rng a, b;
    (void)state;

    wr_rng_init(&a, 42, 7, 3);
    wr_rng_init(&b, 42, 7, 3);
    for (int i = 0; i < 1000; i++)
        assert_true(wr_rng_u64(&a) == wr_rng_u64(&b));
}

static int order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void streams_of_other_seeds_entities_and_purposes_share_no_words(void **state)
{
    enum { SIDE = 8, WORDS = 64, ALL = SIDE * SIDE * SIDE * WORDS };
    static uint64_t drawn[ALL];
    size_t n = 0;
    (void)state;

    for (uint32_t seed = 0; seed < SIDE; seed++)
        for (uint32_t entity = 0; entity < SIDE; entity++)
            for (uint32_t purpose = 0; purpose < SIDE; purpose++) {
                struct wr_rng g;

                wr_rng_init(&g, seed, entity, purpose);
                for (int i = 0; i < WORDS; i++)
                    drawn[n++] = wr_rng_u64(&g);
            }
    /* 32768 random words of 64 bits meet with a probability of 3e-11. */
    qsort(drawn, n, sizeof drawn[0], order);
    for (size_t i = 1; i < n; i++)
        assert_true(drawn[i] != drawn[i - 1]);
}

/* Correlation of two streams of n draws; of independent ones about 1/sqrt(n). */
static double correlation(struct wr_rng a, struct wr_rng b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (wr_rng_unit(&a) - 0.5) * (wr_rng_unit(&b) - 0.5);
    return sum / n * 12;
}

static void neighbouring_streams_are_uncorrelated(void **state)
{
    enum { N = 100000 };
    const uint32_t keys[][6] = {
        {1, 0, 0, 1, 1, 0},
        {1, 0, 0, 1, 0, 1},
        {1, 0, 0, 2, 0, 0},
        {5, 1000, 2, 5, 1001, 2},
        {5, 1000, 2, 5, 1000, 3},
        {5, 1000, 2, 6, 1000, 2},
        {0, 1, 2, 0, 2, 1} /* swapped */,
    };
    (void)state;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct wr_rng a, b;

        wr_rng_init(&a, keys[i][0], keys[i][1], keys[i][2]);
        wr_rng_init(&b, keys[i][3], keys[i][4], keys[i][5]);
        assert_true(fabs(correlation(a, b, N)) < 5 / sqrt(N));
    }
}

/* Pearson's chi-square of drawing below n, as a normal deviate. */
static double unfairness(uint32_t n, uint32_t per_value)
{
    static uint32_t seen[1000];
    struct wr_rng g;
    double chi2 = 0;

    memset(seen, 0, sizeof seen);
    wr_rng_init(&g, 2024, n, 1);
    for (uint32_t i = 0; i < n * per_value; i++) {
        uint32_t v = wr_rng_below(&g, n);

        assert_true(v < n);
        seen[v]++;
    }
    for (uint32_t v = 0; v < n; v++)
        chi2 += pow((double)seen[v] - per_value, 2) / per_value;
    return (chi2 - (n - 1)) / sqrt(2.0 * (n - 1));
}

static void drawing_below_n_is_fair(void **state)
{
    const uint32_t sizes[] = {2, 3, 7, 33, 100, 256, 1000};
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_true(fabs(unfairness(sizes[i], 200)) < 5);
}

static void drawing_below_extremes_works(void **state)
{
    struct wr_rng g;
    uint32_t high = 0;
    (void)state;

    wr_rng_init(&g, 1, 1, 1);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(wr_rng_below(&g, 1), 0);
        /* Just above half of the range is where a careless method is most unfair: it would
         * take the low half twice as often. */
        high += wr_rng_below(&g, 0x80000001u) >= 0x40000000u;
        assert_true(wr_rng_below(&g, UINT32_MAX) < UINT32_MAX);
    }
    assert_in_range(high, 420, 580);
}

/* The largest distance between the draws' distribution and `cdf` (Kolmogorov-Smirnov),
 * looked at in a thousand places, in units of 1/sqrt(N). */
static double distance(double (*draw)(struct wr_rng *), double (*cdf)(double))
{
    enum { N = 20000, PLACES = 1000 };
    uint32_t cell[PLACES + 1] = {0};
    double below = 0, worst = 0;
    struct wr_rng g;

    wr_rng_init(&g, 99, 5, 8);
    for (int i = 0; i < N; i++) {
        double p = cdf(draw(&g));

        assert_true(p >= 0 && p <= 1);
        cell[(int)(p * PLACES)]++;
    }
    for (int c = 0; c < PLACES; c++) {
        below += cell[c];
        worst = fmax(worst, fabs(below / N - (c + 1.0) / PLACES));
    }
    return worst * sqrt(N);
}

static double cdf_unit(double x)
{
    return x;
}

static double cdf_exp(double x)
{
    return -expm1(-x);
}

static double cdf_normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static void reals_have_the_distribution_they_promise(void **state)
{
    (void)state;
    /* 2.7: once in a million. */
    assert_true(distance(wr_rng_unit, cdf_unit) < 2.7);
    assert_true(distance(wr_rng_exp, cdf_exp) < 2.7);
    assert_true(distance(wr_rng_normal, cdf_normal) < 2.7);
}

static void a_unit_never_reaches_one(void **state)
{
    struct wr_rng g;
    (void)state;

    wr_rng_init(&g, 3, 3, 3);
    /* The largest words there are. */
    g.left = 2;
    g.word[0] = g.word[1] = UINT32_MAX;
    assert_true(wr_rng_unit(&g) < 1);
    g.left = 2;
    assert_true(isfinite(wr_rng_exp(&g)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_blocks_are_philox_4x32_10),
        cmocka_unit_test(the_same_key_gives_the_same_stream),
        cmocka_unit_test(streams_of_other_seeds_entities_and_purposes_share_no_words),
        cmocka_unit_test(neighbouring_streams_are_uncorrelated),
        cmocka_unit_test(drawing_below_n_is_fair),
        cmocka_unit_test(drawing_below_extremes_works),
        cmocka_unit_test(reals_have_the_distribution_they_promise),
        cmocka_unit_test(a_unit_never_reaches_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
