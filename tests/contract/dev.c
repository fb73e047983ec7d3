/* Every device in the table, present and future, under a mix of requests. */
#include "dev_help.h"

#include "base/rng.h"

enum { N = 4000 };

/* Reads and writes of all sizes, some in sequence, in bursts and with pauses. */
static void mix(struct dev_req *r, uint64_t seed)
{
    uint64_t t = 0, next = 0;
    struct wr_rng rng;

    wr_rng_init(&rng, seed, 0, 1);
    for (int i = 0; i < N; i++) {
        if (wr_rng_below(&rng, 3))
            t += wr_rng_u64(&rng) % (wr_rng_below(&rng, 8) ? 2000000000 : 100000000000);
        if (wr_rng_below(&rng, 2))
            next = wr_rng_u64(&rng) % 1900000000000;
        r[i] = (struct dev_req){.t_ps = t,
                                .offset_b = next,
                                .bytes = 1ull << wr_rng_below(&rng, 23),
                                .write = wr_rng_below(&rng, 2)};
        next += r[i].bytes;
    }
}

static void run(const char *name, uint64_t seed, const struct dev_req *r, uint64_t *done)
{
    struct help_dev h;

    help_dev_open(&h, name, seed);
    for (int i = 0; i < N; i++)
        done[i] = dev_submit(&h.dev, &r[i]);
    help_dev_close(&h);
}

static void requests_are_done_after_they_came_and_never_faster_than_the_interface(void **state)
{
    static struct dev_req r[N];
    static uint64_t done[N];

    (void)state;
    mix(r, 7);
    for (const struct dev_ops *const *o = dev_table; *o; o++) {
        struct help_dev h;

        run((*o)->kind.name, 1, r, done);
        help_dev_open(&h, (*o)->kind.name, 1);
        for (int i = 0; i < N; i++) {
            assert_true(done[i] >= r[i].t_ps);
            /* Rounded to picoseconds, page by page. */
            assert_true(done[i] - r[i].t_ps + 2048 >= dev_interface_ps(&h.dev, r[i].bytes));
        }
        help_dev_close(&h);
    }
}

static void reads_together_are_not_faster_than_the_interface(void **state)
{
    (void)state;
    for (const struct dev_ops *const *o = dev_table; *o; o++) {
        struct help_dev h;
        uint64_t last = 0;

        help_dev_open(&h, (*o)->kind.name, 1);
        for (uint64_t i = 0; i < 100; i++) {
            uint64_t done = help_ask(&h, 0, i << 20, 1 << 20, false);

            last = done > last ? done : last;
        }
        assert_true(last + 100 * 2048 >= dev_interface_ps(&h.dev, 100 << 20));
        help_dev_close(&h);
    }
}

static void more_bytes_never_take_less_time(void **state)
{
    static struct dev_req r[N];

    (void)state;
    mix(r, 11);
    for (const struct dev_ops *const *o = dev_table; *o; o++)
        for (int before = 0; before < 60; before += 7) {
            uint64_t least = 0;

            for (uint64_t bytes = 1; bytes < 16 << 20; bytes = bytes * 3 + 1) {
                struct help_dev h;

                help_dev_open(&h, (*o)->kind.name, 3);
                for (int i = 0; i < before; i++)
                    dev_submit(&h.dev, &r[i]);
                r[before].bytes = bytes;
                uint64_t done = dev_submit(&h.dev, &r[before]);

                assert_true(done >= least);
                least = done;
                help_dev_close(&h);
            }
        }
}

static void the_same_seed_gives_the_same_times(void **state)
{
    static struct dev_req r[N];
    static uint64_t one[N], two[N];

    (void)state;
    mix(r, 13);
    for (const struct dev_ops *const *o = dev_table; *o; o++) {
        run((*o)->kind.name, 5, r, one);
        run((*o)->kind.name, 5, r, two);
        assert_memory_equal(one, two, sizeof one);
    }
}

static void first_come_is_first_done_where_the_device_says_so(void **state)
{
    static struct dev_req r[N];
    static uint64_t done[N];
    int in_order = 0;

    (void)state;
    mix(r, 17);
    for (const struct dev_ops *const *o = dev_table; *o; o++) {
        if (!(*o)->in_order)
            continue;
        in_order++;
        run((*o)->kind.name, 1, r, done);
        for (int i = 1; i < N; i++)
            assert_true(done[i] >= done[i - 1]);
    }
    assert_true(in_order > 0);
}

static void all_that_was_written_gets_to_the_medium(void **state)
{
    static struct dev_req r[N];

    (void)state;
    mix(r, 19);
    for (const struct dev_ops *const *o = dev_table; *o; o++) {
        struct help_dev h;

        help_dev_open(&h, (*o)->kind.name, 1);
        for (int i = 0; i < N; i++)
            dev_submit(&h.dev, &r[i]);
        uint64_t t = r[N - 1].t_ps, flushed = dev_flush(&h.dev, t);

        assert_true(flushed >= t);
        /* Later there is nothing left to do. */
        assert_true(dev_flush(&h.dev, flushed) == flushed);
        help_dev_close(&h);
    }
}

static void rows_are_sound_and_names_are_their_own(void **state)
{
    (void)state;
    for (size_t i = 0; dev_table[i]; i++) {
        const struct conf_kind *k = &dev_table[i]->kind;
        struct wr_err err;

        assert_ptr_equal(dev_kinds[i], k);
        if (k->rows && !conf_rows_check(k->rows, k->params_size, &err))
            fail_msg("%s: %s", k->name, err.text);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(dev_kinds[j]->name, k->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_done_after_they_came_and_never_faster_than_the_interface),
        cmocka_unit_test(reads_together_are_not_faster_than_the_interface),
        cmocka_unit_test(more_bytes_never_take_less_time),
        cmocka_unit_test(the_same_seed_gives_the_same_times),
        cmocka_unit_test(first_come_is_first_done_where_the_device_says_so),
        cmocka_unit_test(all_that_was_written_gets_to_the_medium),
        cmocka_unit_test(rows_are_sound_and_names_are_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
