/* Maps: random operations against a plain array, keys that share their home, equal hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"

enum { KEYS = 1500, STEPS = 200000 };

/* A key is an index of the oracle, spread so that keys are small, large, dense, or share a home. */
static uint64_t key_small(uint64_t i)
{
    return i;
}

static uint64_t key_large(uint64_t i)
{
    return UINT64_MAX - i * 4096;
}

/* Multiples of the inverse of the golden ratio's multiplier: products are small, so that all homes
 * are place 0 as long as the map has fewer than 2^40 places. */
static uint64_t key_same_home(uint64_t i)
{
    uint64_t inverse = 1;

    for (int k = 0; k < 6; k++) /* Newton: each step doubles the bits that are right */
        inverse *= 2 - UINT64_C(0x9e3779b97f4a7c15) * inverse;
    return i * inverse;
}

static void step_at_random(struct wr_map *m, uint64_t *oracle, uint64_t i, uint64_t key,
                           struct wr_rng *g)
{
    switch (wr_rng_below(g, 4)) {
    case 0: {
        uint64_t *at = wr_map_at(m, key);

        assert_int_equal(*at, oracle[i] == WR_MAP_NONE ? 0 : oracle[i]);
        *at = oracle[i] = wr_rng_below(g, 1000);
        break;
    }
    case 1:
        assert_int_equal(wr_map_remove(m, key), oracle[i] != WR_MAP_NONE);
        oracle[i] = WR_MAP_NONE;
        break;
    default:
        assert_int_equal(wr_map_get(m, key), oracle[i]);
    }
}

static void check_all(const struct wr_map *m, const uint64_t *oracle, uint64_t (*key)(uint64_t),
                      uint32_t keys)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < keys; i++) {
        assert_int_equal(wr_map_get(m, key(i)), oracle[i]);
        n += oracle[i] != WR_MAP_NONE;
    }
    assert_int_equal(m->n, n);
    assert_true(2 * m->n <= m->cap);
}

/* Keys come and go; phases with few keys make long runs of removals. */
static void compare_with_oracle(uint64_t (*key)(uint64_t), uint32_t keys, uint32_t steps)
{
    uint64_t *oracle = wr_alloc(keys * sizeof *oracle);
    struct wr_map m = {0};
    struct wr_rng g;

    wr_rng_init(&g, 1, 0, 0);
    memset(oracle, 0xff, keys * sizeof *oracle); /* WR_MAP_NONE */
    for (uint32_t step = 0; step < steps; step++) {
        uint64_t i = wr_rng_below(&g, keys);

        step_at_random(&m, oracle, i, key(i), &g);
        if (step % (steps / 16) == 0)
            check_all(&m, oracle, key, keys);
        if (step == steps / 2) {
            wr_map_clear(&m);
            memset(oracle, 0xff, keys * sizeof *oracle);
        }
    }
    check_all(&m, oracle, key, keys);
    wr_map_fini(&m);
    free(oracle);
}

static void random_operations_agree_with_an_array(void **state)
{
    (void)state;
    compare_with_oracle(key_small, KEYS, STEPS);
    compare_with_oracle(key_large, KEYS, STEPS);
    compare_with_oracle(key_small, 5, STEPS / 10);
}

static void keys_that_share_their_home_are_kept_apart(void **state)
{
    (void)state;
    assert_int_equal(key_same_home(1) * UINT64_C(0x9e3779b97f4a7c15), 1);
    compare_with_oracle(key_same_home, 60, STEPS / 10);
}

static void an_empty_map_has_no_key(void **state)
{
    struct wr_map m = {0};

    (void)state;
    assert_int_equal(wr_map_get(&m, 0), WR_MAP_NONE);
    assert_int_equal(wr_map_get(&m, UINT64_MAX), WR_MAP_NONE);
    assert_false(wr_map_remove(&m, 0));
    wr_map_clear(&m);
    wr_map_fini(&m);
}

struct texts {
    const char *const *v, *want;
};

static bool texts_same(const void *ctx, uint64_t index)
{
    const struct texts *t = ctx;

    return !strcmp(t->v[index], t->want);
}

/* `shared`: every text has the same hash, as texts that collide have. */
static void find_texts(bool shared)
{
    static const char *const v[] = {"a", "b", "", "node0", "node1", "node10", "0", "link", "tail"};
    enum { N = sizeof v / sizeof *v };
    struct wr_map m = {0};

    for (uint32_t i = 0; i < N; i++) {
        struct texts t = {v, v[i]};
        uint64_t hash = shared ? 7 : wr_hash_text(WR_HASH_INIT, v[i]);

        assert_int_equal(wr_map_find(&m, hash, texts_same, &t), WR_MAP_NONE);
        wr_map_add(&m, hash, i);
        for (uint32_t k = 0; k <= i; k++) {
            t.want = v[k];
            hash = shared ? 7 : wr_hash_text(WR_HASH_INIT, v[k]);
            assert_int_equal(wr_map_find(&m, hash, texts_same, &t), k);
        }
    }
    assert_int_equal(m.n, N);
    wr_map_fini(&m);
}

static void texts_are_found_by_comparison(void **state)
{
    (void)state;
    find_texts(false);
    find_texts(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_an_array),
        cmocka_unit_test(keys_that_share_their_home_are_kept_apart),
        cmocka_unit_test(an_empty_map_has_no_key),
        cmocka_unit_test(texts_are_found_by_comparison),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
