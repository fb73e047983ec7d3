/* The histogram: exact where it says exact, within its bound elsewhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/hist.h"
#include "base/mem.h"
#include "base/rng.h"

static void cells_are_in_order_without_gaps_or_overlap(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < WR_HIST_CELLS; c++) {
        uint64_t low = wr_hist_cell_low(c), next = wr_hist_cell_next(c);

        assert_true(low < next);
        assert_int_equal(wr_hist_cell(low), c);
        assert_int_equal(wr_hist_cell(next - 1), c);
        if (c + 1 < WR_HIST_CELLS)
            assert_int_equal(wr_hist_cell(next), c + 1);
    }
    assert_int_equal(wr_hist_cell(UINT64_MAX), WR_HIST_CELLS - 1);
}

static void the_middle_of_a_cell_is_within_one_percent_of_all_of_it(void **state)
{
    double worst = 0;
    (void)state;

    for (uint32_t c = 1; c < WR_HIST_CELLS; c++) {
        double low = (double)wr_hist_cell_low(c), high = (double)wr_hist_cell_next(c) - 1;
        double middle = (low + high) / 2;

        worst = fmax(worst, (middle - low) / low);
    }
    assert_true(worst <= 0.01);
    assert_true(worst <= 1 / 256.0); /* what the header says */
}

static int order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t draw_small(struct wr_rng *g)
{
    return wr_rng_below(g, 200);
}

static uint64_t draw_uniform(struct wr_rng *g)
{
    return 1000000 + wr_rng_below(g, 1000000);
}

static uint64_t draw_heavy(struct wr_rng *g)
{
    return (uint64_t)(1000 * exp(3 * wr_rng_normal(g)));
}

static uint64_t draw_two_humps(struct wr_rng *g)
{
    return (wr_rng_below(g, 10) ? 5000 : 80000000) + wr_rng_below(g, 100);
}

/* Every quantile lies within one percent of the two sorted values around its rank. */
static void check_quantiles(uint64_t (*draw)(struct wr_rng *), size_t n)
{
    struct wr_hist *h = wr_zalloc(1, sizeof *h);
    uint64_t *sorted = wr_zalloc(n, sizeof *sorted);
    double sum = 0;
    struct wr_rng g;

    wr_rng_init(&g, 17, (uint32_t)n, 0);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = draw(&g);
        sum += (double)sorted[i];
        wr_hist_add(h, sorted[i]);
    }
    qsort(sorted, n, sizeof *sorted, order);

    assert_true(h->n == n);
    assert_true(h->min == sorted[0]);
    assert_true(h->max == sorted[n - 1]);
    assert_true(fabs(wr_hist_mean(h) - sum / (double)n) <= 1e-9 * sum);
    for (int p = 0; p <= 1000; p++) {
        double q = p / 1000.0, rank = q * (double)(n - 1), v = wr_hist_quantile(h, q);
        double low = (double)sorted[(size_t)floor(rank)], high = (double)sorted[(size_t)ceil(rank)];

        assert_true(v >= low * 0.99 - 1e-9);
        assert_true(v <= high * 1.01 + 1e-9);
    }
    assert_true(wr_hist_quantile(h, 0) == (double)sorted[0]);
    assert_true(wr_hist_quantile(h, 1) == (double)sorted[n - 1]);
    free(sorted);
    free(h);
}

static void quantiles_agree_with_sorted_data(void **state)
{
    uint64_t (*const draws[])(struct wr_rng *) = {draw_small, draw_uniform, draw_heavy,
                                                  draw_two_humps};
    const size_t sizes[] = {1, 2, 3, 10, 1000, 50000};
    (void)state;

    for (size_t d = 0; d < sizeof draws / sizeof draws[0]; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            check_quantiles(draws[d], sizes[s]);
}

static void merging_is_the_same_as_adding_to_one(void **state)
{
    struct wr_hist *one = wr_zalloc(1, sizeof *one), *a = wr_zalloc(1, sizeof *a),
                   *b = wr_zalloc(1, sizeof *b), *empty = wr_zalloc(1, sizeof *empty);
    struct wr_rng g;
    (void)state;

    wr_rng_init(&g, 4, 4, 4);
    for (int i = 0; i < 10000; i++) {
        uint64_t v = wr_rng_u64(&g) >> wr_rng_below(&g, 64);

        wr_hist_add(one, v);
        wr_hist_add(i % 3 ? a : b, v);
    }
    wr_hist_merge(a, empty);
    wr_hist_merge(a, b);
    assert_memory_equal(a, one, sizeof *a);
    wr_hist_merge(empty, one);
    assert_memory_equal(empty, one, sizeof *one);
    free(one);
    free(a);
    free(b);
    free(empty);
}

static void an_empty_histogram_knows_nothing(void **state)
{
    struct wr_hist *h = wr_zalloc(1, sizeof *h);
    (void)state;

    assert_true(isnan(wr_hist_mean(h)));
    assert_true(isnan(wr_hist_quantile(h, 0.5)));
    free(h);
}

static void bytes_give_back_what_was_put(void **state)
{
    static const uint64_t x[] = {0, 1, 127, 128, 300, UINT64_MAX, UINT64_MAX - 1, 1ull << 63};
    enum { N = sizeof x / sizeof *x };
    struct wr_hist *h = wr_zalloc(3, sizeof *h);
    struct wr_bytes out = {0};
    uint64_t y[N];
    (void)state;

    for (int i = 0; i < N; i++)
        wr_hist_add(h, x[i]);
    wr_bytes_many(&out, x, N);
    wr_bytes_text(&out, "a few words");
    wr_bytes_hist(&out, h);
    wr_bytes_hist(&out, &h[1]);
    struct wr_reader in = {out.v, out.v + out.n, false};

    wr_read_many(&in, y, N);
    assert_memory_equal(x, y, sizeof x);
    char *text = wr_read_text(&in);

    assert_string_equal(text, "a few words");
    wr_read_hist(&in, &h[2]);
    assert_memory_equal(h, &h[2], sizeof *h);
    wr_read_hist(&in, &h[2]);
    assert_memory_equal(&h[1], &h[2], sizeof *h);
    assert_true(wr_read_all(&in));
    assert_int_equal(wr_read_u64(&in), 0);
    assert_false(wr_read_all(&in));
    for (size_t cut = 0; cut < out.n; cut++) { /* whatever is missing is noticed */
        struct wr_reader part = {out.v, out.v + cut, false};

        wr_read_many(&part, y, N);
        free(wr_read_text(&part));
        wr_read_hist(&part, &h[2]);
        wr_read_hist(&part, &h[2]);
        assert_false(wr_read_all(&part));
    }
    free(text);
    free(h);
    wr_bytes_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_in_order_without_gaps_or_overlap),
        cmocka_unit_test(the_middle_of_a_cell_is_within_one_percent_of_all_of_it),
        cmocka_unit_test(quantiles_agree_with_sorted_data),
        cmocka_unit_test(merging_is_the_same_as_adding_to_one),
        cmocka_unit_test(an_empty_histogram_knows_nothing),
        cmocka_unit_test(bytes_give_back_what_was_put),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
