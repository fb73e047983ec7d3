/* store_range.c -- ranges against an array with one tag for each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "store/store_range.h"

enum { BYTES = 64, TAGS = 4, STEPS = 20000 };

static void compare(const struct wr_pool *p, uint32_t list, const uint8_t *byte)
{
    uint8_t seen[BYTES] = {0};
    uint32_t n = 0;

    for (uint32_t h = list; h != WR_NIL; h = store_range(p, h)->next, n++) {
        const struct store_range *r = store_range(p, h),
                                 *next = r->next == WR_NIL ? NULL : store_range(p, r->next);

        assert_true(r->lo < r->hi);
        assert_true(!next || next->lo > r->hi || (next->lo == r->hi && next->tag != r->tag));
        memset(seen + r->lo, (int)r->tag, r->hi - r->lo);
    }
    assert_memory_equal(seen, byte, BYTES);
    assert_int_equal(n, p->used);
}

static uint64_t count(const uint8_t *byte, uint64_t lo, uint64_t hi, uint32_t tag)
{
    uint64_t n = 0;

    for (uint64_t i = lo; i < hi; i++)
        n += tag ? byte[i] == tag : byte[i] != 0;
    return n;
}

static void every_change_does_to_ranges_what_it_does_to_bytes(void **state)
{
    struct wr_pool p;
    struct wr_rng rng;
    uint8_t byte[BYTES] = {0};
    uint32_t list = WR_NIL;

    (void)state;
    wr_pool_init(&p, "ranges", sizeof(struct store_range), 1 << 16);
    wr_rng_init(&rng, 1, 2, 3);
    for (int i = 0; i < STEPS; i++) {
        uint64_t lo = wr_rng_below(&rng, BYTES),
                 hi = lo + 1 + wr_rng_below(&rng, (uint32_t)(BYTES - lo));
        uint32_t how = wr_rng_below(&rng, 4), tag = wr_rng_below(&rng, TAGS),
                 was = 1 + wr_rng_below(&rng, TAGS - 1);

        if (how == 0) {
            store_range_set(&p, &list, lo, hi, tag);
            memset(byte + lo, (int)tag, hi - lo);
        } else if (how == 1 && tag) {
            store_range_turn(&p, &list, lo, hi, was, tag);
            for (uint64_t k = lo; k < hi; k++)
                byte[k] = byte[k] == was ? (uint8_t)tag : byte[k];
        } else if (how == 2 && tag) {
            store_range_fill(&p, &list, lo, hi, tag);
            for (uint64_t k = lo; k < hi; k++)
                byte[k] = byte[k] ? byte[k] : (uint8_t)tag;
        } else {
            assert_int_equal(store_range_bytes(&p, list, lo, hi, tag), count(byte, lo, hi, tag));
        }
        compare(&p, list, byte);
    }
    wr_pool_fini(&p);
}

static void a_block_written_from_one_end_to_the_other_is_one_range(void **state)
{
    struct wr_pool p;
    uint32_t list = WR_NIL;

    (void)state;
    wr_pool_init(&p, "ranges", sizeof(struct store_range), 1 << 16);
    for (uint64_t at = 0; at < 1 << 20; at += 4096)
        store_range_set(&p, &list, at, at + 4096, 1);
    assert_int_equal(p.used, 1);
    assert_true(p.peak <= 3);
    assert_int_equal(store_range_bytes(&p, list, 0, 1 << 20, 1), 1 << 20);
    wr_pool_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_does_to_ranges_what_it_does_to_bytes),
        cmocka_unit_test(a_block_written_from_one_end_to_the_other_is_one_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
