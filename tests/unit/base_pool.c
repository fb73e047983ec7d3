/* Pools: handles are unique while held, things never move, a full pool says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/rng.h"

#ifndef WEIR_SANITIZED
#define WEIR_SANITIZED 0
#endif

struct thing {
    uint32_t id, check[4];
};

/* Take and give at random against a plain array that remembers who is held. */
static void things_held_keep_their_contents(void **state)
{
    enum { CAP = 5000, STEPS = 100000 };
    uint32_t *held = wr_zalloc(CAP, sizeof *held);
    uint32_t n = 0, peak = 0;
    struct wr_pool p;
    struct wr_rng g;
    (void)state;

    wr_rng_init(&g, 1, 0, 0);
    wr_pool_init(&p, "things", sizeof(struct thing), CAP);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (n < CAP && (!n || wr_rng_below(&g, 100) < 52)) {
            uint32_t h = wr_pool_take(&p);
            struct thing *t = wr_pool_at(&p, h);

            assert_true(h < CAP);
            *t = (struct thing){.id = h, .check = {step, ~step, h, ~h}};
            held[n++] = h;
        } else {
            uint32_t i = wr_rng_below(&g, n), h = held[i];
            const struct thing *t = wr_pool_at(&p, h);

            assert_true(t->id == h && t->check[0] == ~t->check[1] && t->check[2] == h);
            held[i] = held[--n];
            wr_pool_give(&p, h);
        }
        if (n > peak)
            peak = n;
        assert_int_equal(p.used, n);
    }
    assert_int_equal(p.peak, peak);
    wr_pool_fini(&p);
    assert_null(p.base);
    free(held);
}

static void a_handle_given_back_is_the_next_one_taken(void **state)
{
    struct wr_pool p;
    (void)state;

    wr_pool_init(&p, "things", 16, 4096);
    uint32_t a = wr_pool_take(&p), b = wr_pool_take(&p);
    assert_int_not_equal(a, b);
    wr_pool_give(&p, a);
    wr_pool_give(&p, b);
    assert_int_equal(wr_pool_take(&p), b);
    assert_int_equal(wr_pool_take(&p), a);
    wr_pool_fini(&p);
}

static void a_large_pool_costs_only_what_is_used(void **state)
{
    struct wr_pool p;
    (void)state;

    wr_pool_init(&p, "things", 64, UINT32_C(1) << 28); /* 16 GiB of address space */
    for (int i = 0; i < 1000; i++)
        memset(wr_pool_at(&p, wr_pool_take(&p)), 1, 64);
    assert_int_equal(p.peak, 1000);
    wr_pool_fini(&p);
}

static void a_small_pool_is_filled_to_the_last_and_then_ends_the_program(void **state)
{
    int status;
    (void)state;

    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        struct wr_pool p;

        wr_pool_init(&p, "things", 4, 3);
        for (int i = 0; i < 3; i++)
            wr_pool_take(&p);
        if (p.used != 3 || !freopen("/dev/null", "w", stderr))
            _exit(99);
        wr_pool_take(&p);
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
}

/* In a process of its own, with so little address space that the pool could not be reserved. */
static int under_limit(uint64_t limit_b, int (*fn)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    int status;

    if (!pid) {
        struct rlimit r = {limit_b, limit_b};

        _exit(setrlimit(RLIMIT_AS, &r) ? 99 : fn());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

enum { LIMIT_B = 300 << 20, HUGE_CAP = 1 << 28 };

static int grow_many_pools(void)
{
    static struct wr_pool p[24];

    for (int i = 0; i < 24; i++)
        wr_pool_init(&p[i], "things", 200, HUGE_CAP);
    uint32_t *first = wr_pool_at(&p[3], wr_pool_take(&p[3]));
    *first = 77;
    for (uint32_t i = 1; i < 200000; i++) {
        uint32_t h = wr_pool_take(&p[3]);

        if (h != i)
            return 1;
        memset(wr_pool_at(&p[3], h), 0xff, 200);
    }
    if (*first != 77 || p[3].cap < 200000)
        return 2;
    for (int i = 0; i < 24; i++)
        wr_pool_fini(&p[i]);
    return 0;
}

static int grow_shares(void)
{
    struct wr_pool whole, part[4];

    wr_pool_init(&whole, "things", 24, HUGE_CAP);
    for (uint32_t i = 0; i < 4; i++)
        part[i] = wr_pool_share(&whole, i, 4);
    for (uint32_t n = 0; n < 100000; n++)
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t h = wr_pool_take(&part[i]);

            if (h != part[i].most / (i + 1) * i + n)
                return 1;
            memset(wr_pool_at(&whole, h), (int)i, 24);
        }
    for (uint32_t i = 0; i < 4; i++)
        if (*(unsigned char *)wr_pool_at(&whole, part[i].most / (i + 1) * i + 99999) != i)
            return 2;
    wr_pool_fini(&whole);
    return 0;
}

static int grow_for_ever(void)
{
    struct wr_pool p;

    wr_pool_init(&p, "things", 4096, HUGE_CAP);
    for (uint32_t i = 0; i < 1u << 20; i++)
        wr_pool_take(&p);
    return 1;
}

static void pools_grow_where_address_space_is_limited(void **state)
{
    (void)state;
    if (WEIR_SANITIZED) /* needs terabytes of addresses by itself */
        skip();
    assert_int_equal(under_limit(LIMIT_B, grow_many_pools), 0);
    assert_int_equal(under_limit(LIMIT_B, grow_shares), 0);
    assert_int_equal(under_limit(LIMIT_B, grow_for_ever), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_held_keep_their_contents),
        cmocka_unit_test(a_handle_given_back_is_the_next_one_taken),
        cmocka_unit_test(a_large_pool_costs_only_what_is_used),
        cmocka_unit_test(a_small_pool_is_filled_to_the_last_and_then_ends_the_program),
        cmocka_unit_test(pools_grow_where_address_space_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
