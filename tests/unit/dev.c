/* The equations of the devices, one by one, and the published figures. */
#include "dev_help.h"

#include <math.h>
#include <stdlib.h>

#define US 1000000ull
#define MS 1000000000ull

/* A server of the published study: 15 clients write 166,666,666 B each in blocks of 1e6 B; of
 * the 2505 blocks 2297 do not continue the one before; busy for 6,210,878,207.28 ns. */
static void the_table_device_is_busy_as_long_as_in_the_published_study(void **state)
{
    struct help_dev h;
    uint64_t done = 0, end = 0;
    int seeks = 0;

    (void)state;
    help_dev_open(&h, "table", 1);
    for (int i = 0; i < 2505; i++) {
        uint64_t bytes = i % 167 == 166 ? 666666 : 1000000;
        bool jump = seeks < 2297 && i > 0;
        uint64_t at = jump ? end + 1000000000 : end;

        seeks += jump;
        done = help_ask(&h, 0, at, bytes, true);
        end = at + bytes;
    }
    help_dev_close(&h);
    assert_int_equal(seeks, 2297);
    assert_true(fabs((double)done - 6210878207280.0) < 5000);
}

static void the_table_device_seeks_beyond_512_bytes(void **state)
{
    struct help_dev h;
    uint64_t t;

    (void)state;
    help_dev_open(&h, "{kind: table, bandwidth: 1 GB/s}", 1);
    t = help_ask(&h, 0, 0, 1000, true);
    assert_int_equal(t, 21 * US);
    assert_int_equal(help_ask(&h, t, 1512, 1000, true) - t, 21 * US);
    t = help_ask(&h, t, 2000, 1000, false);
    assert_int_equal(t, 63 * US);
    assert_int_equal(help_ask(&h, t, 3513, 1000, true) - t, 2521 * US);
    help_dev_close(&h);
}

/* T = overhead + page/interface + (n-1) issue + transfer [+ program]. */
#define SSD                                                                                    \
    "channels: 2, ways: 2, page: 4096 B, interface: 4.096 GB/s, transfer: 3 us, read: 50 us, " \
    "program: 500 us, issue_read: 10 us, issue_write: 20 us, overhead_read: 7 us, "            \
    "overhead_write: 11 us"

static void a_write_to_idle_flash_takes_what_the_equation_says(void **state)
{
    struct help_dev h;

    (void)state;
    help_dev_open(&h, "{kind: ssd, " SSD "}", 1);
    assert_int_equal(help_ask(&h, 0, 0, 4 * 4096, true), (11 + 1 + 3 * 20 + 3) * US);
    help_dev_close(&h);
    help_dev_open(&h, "{kind: ssd, write_back: false, " SSD "}", 1);
    assert_int_equal(help_ask(&h, 0, 0, 4 * 4096, true), (11 + 1 + 3 * 20 + 3 + 500) * US);
    help_dev_close(&h);
}

static void a_write_waits_for_chips_that_program(void **state)
{
    struct help_dev h;

    (void)state;
    /* The fifth page goes to the first chip again: T_wait = transfer + program - 4 issue. */
    help_dev_open(&h, "{kind: ssd, " SSD "}", 1);
    assert_int_equal(help_ask(&h, 0, 0, 8 * 4096, true),
                     (11 + 1 + 7 * 20 + (3 + 500 - 4 * 20) + 3) * US);
    help_dev_close(&h);
}

/* T = overhead + (n-1) issue + read + transfer + page/interface: T_wait is of writes. */
static void a_read_takes_what_the_equation_says_whatever_its_chips_do(void **state)
{
    struct help_dev h;

    (void)state;
    for (uint64_t n = 1; n <= 64; n *= 4) { /* of pages; there are four chips */
        help_dev_open(&h, "{kind: ssd, " SSD "}", 1);
        assert_int_equal(help_ask(&h, 0, 0, n * 4096, false), (7 + (n - 1) * 10 + 50 + 3 + 1) * US);
        help_dev_close(&h);
    }
    help_dev_open(&h, "{kind: ssd, " SSD "}", 1);
    help_ask(&h, 0, 0, 4096, true); /* the controller is free at 11 + 1 + 20 */
    assert_int_equal(help_ask(&h, 0, 0, 4096, false), (32 + 50 + 3 + 1) * US);
    help_dev_close(&h);
}

static void a_read_waits_for_its_chip_where_that_is_asked_for(void **state)
{
    struct help_dev h;

    (void)state;
    help_dev_open(&h, "{kind: ssd, read_wait: true, " SSD "}", 1);
    assert_int_equal(help_ask(&h, 0, 0, 4 * 4096, false), (7 + 3 * 10 + 50 + 3 + 1) * US);
    help_dev_close(&h);
    /* Behind a write: the chip is free at 11 + 1 + 3 + 500. */
    help_dev_open(&h, "{kind: ssd, read_wait: true, " SSD "}", 1);
    help_ask(&h, 0, 0, 4096, true);
    assert_int_equal(help_ask(&h, 0, 0, 4096, false), (515 + 50 + 3 + 1) * US);
    help_dev_close(&h);
}

static void nvme_commands_overlap_up_to_the_depth(void **state)
{
    struct help_dev h;

    (void)state;
    help_dev_open(&h, "{kind: nvme, depth: 4, read_latency: 100 us, read_rate: 1 GB/s}", 1);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(help_ask(&h, 0, 0, 1000, false), (100 + i) * US);
    assert_int_equal(help_ask(&h, 0, 0, 1000, false), (101 + 101) * US);
    help_dev_close(&h);
}

/* One zone, 100 bytes per microsecond; a turn takes 10 ms and passes 1e6 bytes. */
#define HDD                                                                            \
    "capacity: 100 GB, rpm: 6000, heads: 1, zones: [{share: 100 %, rate: 100 MB/s}], " \
    "seek: {track: 1 ms, average: 8 ms, full: 20 ms}, overhead: 0 ms, interface: 10 GB/s"

static void a_random_read_is_seek_turn_and_transfer(void **state)
{
    struct help_dev h;
    uint64_t t = 0;
    double sum = 0;

    (void)state;
    help_dev_open(&h, "{kind: hdd, read_ahead: 0 B, " HDD "}", 1);
    /* Between two places a third of the disk apart: 8 ms, then on average half a turn. */
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t at = (i % 2) * 33333333333ull + i * 7919 % 1000 * 1000;
        uint64_t done = help_ask(&h, t, at, 10000, false), took = done - t;

        if (i) {
            assert_true(took >= 8 * MS - MS / 100 + 100 * US);
            assert_true(took <= 18 * MS + MS / 100 + 100 * US);
            sum += (double)took;
        }
        t = done + i * 13 % 100 * (MS / 10);
    }
    assert_true(fabs(sum / 1999 / (13.1 * (double)MS) - 1) < 0.03);
    help_dev_close(&h);
}

static void transfers_take_their_share_of_a_turn(void **state)
{
    struct help_dev h;
    uint64_t t, first;

    (void)state;
    help_dev_open(&h, "{kind: hdd, " HDD "}", 1);
    first = t = help_ask(&h, 0, 0, 1000000, false);
    /* L_request / L_track * 60 / RPM: ten records of a tenth of a track are one turn. */
    for (uint64_t i = 0; i < 10; i++)
        t = help_ask(&h, t, 1000000 + i * 100000, 100000, false);
    assert_true(t - first >= 10 * MS - 20 && t - first <= 10 * MS + 20);
    help_dev_close(&h);
}

static void without_read_ahead_the_next_record_costs_a_turn(void **state)
{
    struct help_dev h;
    uint64_t t;

    (void)state;
    help_dev_open(&h, "{kind: hdd, read_ahead: 0 B, " HDD "}", 1);
    t = help_ask(&h, 0, 0, 100000, false) + 1 * MS;
    assert_true(help_ask(&h, t, 100000, 100000, false) - t >= 9 * MS);
    help_dev_close(&h);
    help_dev_open(&h, "{kind: hdd, read_ahead: 1 MB, " HDD "}", 1);
    t = help_ask(&h, 0, 0, 100000, false) + 1 * MS;
    /* The platter has passed it by now: only the interface is left. */
    assert_int_equal(help_ask(&h, t, 100000, 100000, false) - t, 10 * US);
    help_dev_close(&h);
}

static void what_the_cache_cannot_hold_is_read_again(void **state)
{
    struct help_dev h;
    uint64_t t = 0;

    (void)state;
    help_dev_open(&h, "{kind: hdd, cache: 4 MB, " HDD "}", 1);
    for (uint64_t i = 0; i < 80; i++)
        t = help_ask(&h, t, i * 100000, 100000, false);
    /* The last 4 MB are there, the first are not. */
    assert_int_equal(help_ask(&h, t, 5000000, 100000, false) - t, 10 * US);
    t += 100 * US;
    assert_true(help_ask(&h, t, 0, 100000, false) - t > 1 * MS);
    help_dev_close(&h);
}

static void inner_zones_are_slower(void **state)
{
    struct help_dev h;
    uint64_t t, u;

    (void)state;
    help_dev_open(&h,
                  "{kind: hdd, capacity: 100 GB, rpm: 6000, heads: 1, overhead: 0 ms, zones: "
                  "[{share: 50 %, rate: 100 MB/s}, {share: 50 %, rate: 50 MB/s}]}",
                  1);
    t = help_ask(&h, 0, 0, 1000, false);
    assert_true(llabs((long long)(help_ask(&h, t, 1000, 1000000, false) - t) - 10 * (long long)MS) <
                20);
    t = help_ask(&h, t + 100 * MS, 60000000000, 1000, false);
    u = help_ask(&h, t, 60000001000, 1000000, false);
    assert_true(llabs((long long)(u - t) - 20 * (long long)MS) < 20);
    help_dev_close(&h);
}

static void cached_writes_are_done_at_once_until_the_queue_is_full(void **state)
{
    struct help_dev h;
    uint64_t t = 0;

    (void)state;
    help_dev_open(&h, "{kind: hdd, write_queue: 4, " HDD "}", 1);
    /* One at the head, four in the queue. */
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t done = help_ask(&h, t, i * 7000000000, 10000, true);

        assert_int_equal(done - t, 1 * US);
        t = done;
    }
    assert_true(help_ask(&h, t, 90000000000, 10000, true) - t > 1 * MS);
    assert_true(dev_flush(&h.dev, t) > t + 8 * MS);
    help_dev_close(&h);
    help_dev_open(&h, "{kind: hdd, write_queue: 0, " HDD "}", 1);
    t = help_ask(&h, 0, 7000000000, 10000, true);
    assert_true(t > 1 * MS);
    assert_int_equal(dev_flush(&h.dev, t), t);
    help_dev_close(&h);
}

static void where_the_platters_are_is_the_seeds(void **state)
{
    struct help_dev a, b;

    (void)state;
    help_dev_open(&a, "hdd", 1);
    help_dev_open(&b, "hdd", 2);
    assert_true(help_ask(&a, 0, 5000, 512, false) != help_ask(&b, 0, 5000, 512, false));
    help_dev_close(&a);
    help_dev_close(&b);
}

static void bad_parameters_are_refused(void **state)
{
    static const struct {
        const char *yaml, *says;
    } bad[] = {
        {"{kind: hdd, zones: [{share: 60 %, rate: 1 MB/s}]}", "sum is 100 %"},
        {"{kind: hdd, zones: [{share: 60 %, rate: 1 MB/s}, {share: 60 %, rate: 1 MB/s}]}",
         "sum is 100 %"},
        {"{kind: hdd, seek: {track: 9 ms}}", "must grow"},
        {"{kind: hdd, capacity: 1 MB}", "cylinders"},
        {"{kind: hdd, rpm: 0}", "rpm"},
        {"{kind: ssd, channels: 65}", "channels"},
        {"{kind: nvme, depth: 0}", "depth"},
        {"{kind: table, bandwidth: 5}", "unit"},
        {"{kind: floppy}", "floppy"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct help_dev h;
        struct wr_err err;

        assert_false(help_dev_try(&h, bad[i].yaml, 1, &err));
        if (!strstr(err.text, bad[i].says))
            fail_msg("%s: says %s", bad[i].yaml, err.text);
    }
}

/* The published model column, in the order of dev_loads: MB/s twice, IOPS twice. */
static const struct {
    const char *name;
    double want[DEV_LOADS];
} published[] = {
    {"st2000nx0253", {136.00, 136.00, 111.69, 592.22}},
    {"d3-s4510", {392.04, 388.26, 8474.58, 14084.51}},
};

static void shipped_devices_give_the_published_column_within_a_hundredth(void **state)
{
    static struct dev_result r;

    (void)state;
    for (int i = 0; i < 2; i++)
        for (uint64_t k = 0; k < 3 * DEV_LOADS; k++) {
            const struct conf_text *s = dev_shipped;
            struct dev_set set = {0};
            struct conf *conf;
            struct wr_err err;
            struct dev d;

            while (s->name && strcmp(s->name, published[i].name) != 0)
                s++;
            assert_non_null(s->name);
            if (!conf_load_text(&conf, &set, dev_set_rows, s->name, s->text, strlen(s->text), NULL,
                                0, &err) ||
                !dev_open(&d, &set.device, 1 + k / DEV_LOADS, 0, &err))
                fail_msg("%s", err.text);
            const struct dev_load *load = &dev_loads[k % DEV_LOADS];

            dev_drive(&d, &set.file, load, 1, &r);
            double per = load->random ? (double)r.requests : (double)r.bytes * 1e-6;
            double got = per / ((double)r.elapsed_ps * 1e-12),
                   want = published[i].want[k % DEV_LOADS];

            if (fabs(got / want - 1) > 0.01)
                fail_msg("%s, %s: %g, published %g", s->name, load->name, got, want);
            dev_close(&d);
            conf_close(conf);
        }
}

static void depth_gives_an_nvme_drive_more_and_a_table_device_the_same(void **state)
{
    static struct dev_result one, many;
    struct help_dev h;

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "table" : "nvme";

        help_dev_open(&h, name, 1);
        dev_drive(&h.dev, &h.set.file, &dev_loads[2], 1, &one);
        help_dev_close(&h);
        help_dev_open(&h, name, 1);
        dev_drive(&h.dev, &h.set.file, &dev_loads[2], 16, &many);
        help_dev_close(&h);
        double gain = (double)one.elapsed_ps / (double)many.elapsed_ps;

        assert_true(i ? fabs(gain - 1) < 1e-9 : gain > 15 && gain <= 16);
    }
}

/* Random reads per second of a disk, 2,000 of them, `depth` at a time. */
static double random_reads(const char *yaml, uint32_t depth, uint64_t *ret_max_ps)
{
    static struct dev_result r;
    struct dev_file file = {.size = 500000000000, .extents = 1};
    struct help_dev h;
    struct dev_load load = {"random read", 4096, false, true};

    help_dev_open(&h, yaml, 1);
    dev_drive_some(&h.dev, &file, &load, depth, 2000, &r);
    help_dev_close(&h);
    *ret_max_ps = r.latency_ps.max;
    return (double)r.requests / ((double)r.elapsed_ps * 1e-12);
}

/* Of 32 waiting reads that which the head reaches first: seeks and turns are shorter. */
static void a_disk_that_chooses_reads_more_at_depth_and_starves_none(void **state)
{
    uint64_t longest, in_turn_ps;
    double alone = random_reads("hdd", 1, &longest);
    double in_turn = random_reads("{kind: hdd, read_queue: 1}", 32, &in_turn_ps);
    double few = random_reads("{kind: hdd, read_queue: 4}", 32, &longest);
    double many = random_reads("hdd", 32, &longest);

    (void)state;
    /* the overhead of a command passes while others are served */
    assert_true(in_turn > alone && in_turn < 1.02 * alone);
    assert_true(few > 1.2 * in_turn);
    assert_true(many > 1.2 * few && many < 4 * in_turn);
    assert_true(longest < 3 * in_turn_ps);
}

static void the_read_that_the_head_reaches_first_is_next(void **state)
{
    struct help_dev h;
    struct dev_req wait[4];

    (void)state;
    help_dev_open(&h, "{kind: hdd, " HDD "}", 1);
    uint64_t t = help_ask(&h, 0, 0, 1000, false);

    for (uint64_t i = 0; i < 4; i++)
        wait[i] = (struct dev_req){.t_ps = t, .offset_b = 20000000000 * (4 - i), .bytes = 1000};
    wait[3].offset_b = 2000; /* the head reads on there */
    assert_int_equal(h.dev.ops->reach_ps(&h.dev, t, &wait[3]), 0);
    assert_int_equal(dev_choose(&h.dev, t, wait, 4, 0), 3);
    uint32_t i = dev_choose(&h.dev, t, wait, 3, 0);

    for (uint32_t k = 0; k < 3; k++)
        assert_true(h.dev.ops->reach_ps(&h.dev, t, &wait[i]) <=
                    h.dev.ops->reach_ps(&h.dev, t, &wait[k]));
    assert_int_equal(dev_choose(&h.dev, t, wait, 4, 64), 0); /* passed over for long enough */
    help_dev_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_device_is_busy_as_long_as_in_the_published_study),
        cmocka_unit_test(the_table_device_seeks_beyond_512_bytes),
        cmocka_unit_test(a_write_to_idle_flash_takes_what_the_equation_says),
        cmocka_unit_test(a_write_waits_for_chips_that_program),
        cmocka_unit_test(a_read_takes_what_the_equation_says_whatever_its_chips_do),
        cmocka_unit_test(a_read_waits_for_its_chip_where_that_is_asked_for),
        cmocka_unit_test(nvme_commands_overlap_up_to_the_depth),
        cmocka_unit_test(a_random_read_is_seek_turn_and_transfer),
        cmocka_unit_test(transfers_take_their_share_of_a_turn),
        cmocka_unit_test(without_read_ahead_the_next_record_costs_a_turn),
        cmocka_unit_test(what_the_cache_cannot_hold_is_read_again),
        cmocka_unit_test(inner_zones_are_slower),
        cmocka_unit_test(cached_writes_are_done_at_once_until_the_queue_is_full),
        cmocka_unit_test(where_the_platters_are_is_the_seeds),
        cmocka_unit_test(bad_parameters_are_refused),
        cmocka_unit_test(shipped_devices_give_the_published_column_within_a_hundredth),
        cmocka_unit_test(a_disk_that_chooses_reads_more_at_depth_and_starves_none),
        cmocka_unit_test(the_read_that_the_head_reaches_first_is_next),
        cmocka_unit_test(depth_gives_an_nvme_drive_more_and_a_table_device_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
