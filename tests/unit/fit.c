/* Fitting devices: what made the points is found again, and what cannot be is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/dev_load.h"
#include "stat/minimize.h"
#include "store/fit/fit_read.h"

/* ---- the least value ---- */

static double valley(const double *x, size_t n, void *arg)
{
    ++*(int *)arg;
    assert_int_equal(n, 2);
    if (x[0] > 5)
        return NAN;
    return 100 * pow(x[1] - x[0] * x[0], 2) + pow(1 - x[0], 2);
}

static void a_curved_valley_is_followed_to_its_end(void **state)
{
    double x[] = {-1.2, 1}, step[] = {0.5, 0.5};
    int calls = 0;

    (void)state;
    double least = stat_minimize(valley, &calls, x, step, 2, 5000);

    assert_true(least < 1e-9 && fabs(x[0] - 1) < 1e-3 && fabs(x[1] - 1) < 1e-3);
    assert_true(calls < 2000);
}

static void no_more_is_tried_than_was_allowed(void **state)
{
    double x[] = {-1.2, 1}, step[] = {0.5, 0.5};
    int calls = 0;

    (void)state;
    stat_minimize(valley, &calls, x, step, 2, 20);
    assert_true(calls <= 25); /* a step may take a few */
}

/* ---- devices ---- */

static bool load(const void *ctx, struct conf **ret, struct dev_set *into, const char *const *sets,
                 size_t nsets, struct wr_err *err)
{
    return dev_load_set(ret, into, ctx, sets, nsets, err);
}

static const struct fit_point works[] = {
    {.write = false, .random = false, .record_b = 512 << 10, .depth = 1, .what = FIT_RATE},
    {.write = true, .random = false, .record_b = 512 << 10, .depth = 1, .what = FIT_RATE},
    {.write = false, .random = true, .record_b = 4 << 10, .depth = 1, .what = FIT_IOPS},
    {.write = true, .random = true, .record_b = 4 << 10, .depth = 1, .what = FIT_IOPS},
    {.write = false, .random = false, .record_b = 16 << 10, .depth = 1, .what = FIT_LATENCY},
    {.write = true, .random = false, .record_b = 64 << 10, .depth = 4, .what = FIT_IOPS},
};

enum { WORKS = sizeof works / sizeof *works };

/* What a device with these overrides would have measured. */
static void measure(struct fit_point *ret, const char *model, const char *const *sets, size_t nsets)
{
    struct dev_result *r = malloc(sizeof *r);
    struct dev_set set = {0};
    struct wr_err err = {0};
    struct conf *conf;

    if (!dev_load_set(&conf, &set, model, sets, nsets, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < WORKS; i++) {
        struct dev_load w = {
            .record_b = works[i].record_b, .write = works[i].write, .random = works[i].random};
        struct dev d;

        assert_true(dev_open(&d, &set.device, 1, 0, &err));
        dev_drive_some(&d, &set.file, &w, works[i].depth, 10000, r);
        dev_close(&d);
        double s = (double)r->elapsed_ps * 1e-12;

        ret[i] = works[i];
        ret[i].value = works[i].what == FIT_IOPS   ? (double)r->requests / s
                       : works[i].what == FIT_RATE ? (double)r->bytes / s * 1e-6
                                                   : wr_hist_mean(&r->latency_ps) * 1e-6;
    }
    conf_close(conf);
    free(r);
}

static const struct fit_param *param(const struct fit *f, const char *key)
{
    for (size_t i = 0; i < f->nparams; i++)
        if (!strcmp(f->param[i].key, key))
            return &f->param[i];
    fail_msg("%s was not fitted", key);
    return NULL;
}

static void near(const struct fit *f, const char *key, double value)
{
    if (fabs(param(f, key)->value / value - 1) > 0.01)
        fail_msg("%s: %g, not %g (rms %g)", key, param(f, key)->value, value, f->rms);
    assert_false(param(f, key)->undetermined);
}

static struct fit fit(const char *model, const struct fit_point *points, size_t n)
{
    struct wr_err err = {0};
    struct fit f;

    if (!fit_device(&f, &(struct fit_how){.load = load, .ctx = model, .seed = 1}, points, n, &err))
        fail_msg("%s", err.text);
    return f;
}

static void a_table_is_found_again(void **state)
{
    const char *const sets[] = {"device.bandwidth=900 MB/s", "device.overhead=75 us",
                                "device.seek=400 us"};
    struct fit_point points[WORKS];

    (void)state;
    measure(points, "table", sets, 3);
    struct fit f = fit("table", points, WORKS);

    near(&f, "device.bandwidth", 900e6);
    near(&f, "device.overhead", 75e6);
    near(&f, "device.seek", 400e6);
    assert_true(f.rms < 1e-3);
    free(f.model);
}

static void an_nvme_drive_is_found_again(void **state)
{
    const char *const sets[] = {"device.read_latency=40 us", "device.read_rate=2 GB/s",
                                "device.write_latency=9 us", "device.write_rate=1.1 GB/s"};
    struct fit_point points[WORKS];

    (void)state;
    measure(points, "nvme", sets, 4);
    struct fit f = fit("nvme", points, WORKS);

    near(&f, "device.read_latency", 40e6);
    near(&f, "device.read_rate", 2e9);
    near(&f, "device.write_latency", 9e6);
    near(&f, "device.write_rate", 1.1e9);
    free(f.model);
}

static void the_rate_of_a_disk_is_found_alone(void **state)
{
    const char *const sets[] = {"device.zones.0.rate=200 MB/s"};
    const char *const keys[] = {"device.zones.0.rate"};
    struct fit_point points[WORKS];
    struct wr_err err = {0};
    struct fit f;

    (void)state;
    measure(points, "hdd", sets, 1);
    assert_true(fit_device(
        &f, &(struct fit_how){.load = load, .ctx = "hdd", .params = keys, .nparams = 1, .seed = 1},
        points, 2, &err));
    near(&f, "device.zones.0.rate", 200e6);
    free(f.model);
}

static void what_the_points_do_not_determine_is_said(void **state)
{
    struct fit_point points[WORKS], same[3];

    (void)state;
    measure(points, "table", NULL, 0);
    /* Three times the same record in sequence: rate and overhead cannot be distinguished. */
    same[0] = points[0];
    same[1] = same[2] = points[2];
    struct fit f = fit("table", same, 3);

    assert_false(f.param[0].undetermined && f.param[1].undetermined);
    assert_true(f.param[0].undetermined || f.param[1].undetermined || f.param[2].undetermined);
    assert_true(f.rms < 1e-3);
    free(f.model);
}

static void refused(const char *model, const struct fit_how *how, const struct fit_point *points,
                    size_t n, const char *words)
{
    struct fit_how h = *how;
    struct wr_err err = {0};
    struct fit f = {.nparams = 77};

    h.load = load;
    h.ctx = model;
    assert_false(fit_device(&f, &h, points, n, &err));
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    assert_int_equal(f.nparams, 77);
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    const char *const text[] = {"device.write_back"}, *const none[] = {"device.sek"};
    struct fit_point points[WORKS];

    (void)state;
    measure(points, "table", NULL, 0);
    refused(
        "table", &(struct fit_how){0}, points + 2, 2,
        "2 points cannot determine 3 parameters (device.bandwidth, device.overhead, device.seek); "
        "measure more");
    refused("null", &(struct fit_how){0}, points, 4, "nothing to fit in the model null");
    refused("ssd", &(struct fit_how){.params = text, .nparams = 1}, points, 4,
            "device.write_back is no time, rate or number of the model ssd");
    refused("table", &(struct fit_how){.params = none, .nparams = 1}, points, 4,
            "device.sek is no time, rate or number");
    points[0].record_b = 1 << 30;
    refused("table", &(struct fit_how){0}, points, 4, "a record of 1073741824 B does not fit");
}

/* ---- readers ---- */

static void parsed(fit_points *ret, const char *text)
{
    struct wr_err err = {0};

    if (!fit_parse(ret, "in", text, strlen(text), &err))
        fail_msg("%s", err.text);
}

static void wrong(const char *text, const char *words)
{
    struct wr_err err = {0};
    fit_points ps = {0};

    if (fit_parse(&ps, "in", text, strlen(text), &err))
        fail_msg("accepted: %s", text);
    assert_string_equal(err.text, words);
    assert_null(ps.v);
}

static void a_table_of_measurements_is_read(void **state)
{
    fit_points ps;

    (void)state;
    parsed(&ps, "record,op,pattern,iops,mb_per_s,latency_us,depth,p99_us\n"
                "4 KiB,read,random,100,7,8,4,9\n\n"
                "1 MB,write,sequential,,50,20,,\n"
                "512 B,read,sequential,,,250,2,\n");
    assert_int_equal(ps.n, 3);
    assert_true(ps.v[0].random && !ps.v[0].write && ps.v[0].record_b == 4096 &&
                ps.v[0].depth == 4 && ps.v[0].what == FIT_IOPS && ps.v[0].value == 100 &&
                ps.v[0].p99_us == 9);
    assert_true(!ps.v[1].random && ps.v[1].write && ps.v[1].record_b == 1000000 &&
                ps.v[1].depth == 1 && ps.v[1].what == FIT_RATE && ps.v[1].value == 50);
    assert_true(ps.v[2].what == FIT_LATENCY && ps.v[2].value == 250 && ps.v[2].depth == 2);
    wr_vec_fini(&ps);
}

static void a_wrong_row_is_reported_at_its_place(void **state)
{
    (void)state;
    wrong("op,pattern,record,iops\nread,random,4 KiB,1\nreed,random,4 KiB,1\n",
          "in:3:1: \"reed\" is no op; write read or write");
    wrong("op,pattern,record,iops\nread,rand,4 KiB,1\n",
          "in:2:6: \"rand\" is no pattern; write sequential or random");
    wrong("op,pattern,record,iops\nread,random,4,1\n",
          "in:2:13: record: \"4\" has no unit; write one such as 4 KiB (units: B, kB, MB, GB, "
          "TB, PB, EB, KiB, MiB, GiB, TiB, PiB, EiB)");
    wrong("op,pattern,record,iops\nread,random,4 KiB,-1\n",
          "in:2:19: iops must be above 0; write what was measured");
    wrong("op,pattern,record,iops\nread,random,4 KiB,\n",
          "in:2:19: nothing was measured; give iops, mb_per_s or latency_us");
    wrong("op,pattern,record,depth,iops\nread,random,4 KiB,1.5,1\n",
          "in:2:19: a depth is a whole number from 1 to 1024; write one");
    wrong("op,pattern,record,iops\n", "in:1:1: no rows; add one for each measurement");
    wrong("op,pattern,record,iosp\n", "in:1:19: no column \"iosp\" is known; did you mean iops?");
}

static void fio_is_read(void **state)
{
    fit_points ps;
    struct wr_err err = {0};

    (void)state;
    if (!fit_read(&ps, WEIR_SOURCE_DIR "/tests/data/fit/fio-psync.json", &err))
        fail_msg("%s", err.text);
    assert_int_equal(ps.n, 4);
    assert_true(!ps.v[0].write && !ps.v[0].random && ps.v[0].record_b == 512 << 10);
    assert_true(ps.v[3].write && ps.v[3].random && ps.v[3].record_b == 4096);
    for (size_t i = 0; i < 4; i++)
        assert_true(ps.v[i].depth == 1 && ps.v[i].value > 1000 && ps.v[i].mean_us > 1 &&
                    ps.v[i].p99_us > 1);
    wr_vec_fini(&ps);
}

#define FIO(options_, read_) \
    "{\"jobs\": [{\"jobname\": \"a\", \"job options\": {" options_ "}, \"read\": {" read_ "}}]}"
#define SOME "\"io_bytes\": 1, \"iops\": 5"

static void options_of_fio_mean_what_fio_means(void **state)
{
    fit_points ps;

    (void)state;
    parsed(&ps, FIO("\"rw\": \"randrw:8\", \"bs\": \"8K,1m\", \"iodepth\": \"4\", \"ioengine\": "
                    "\"libaio\", \"numjobs\": \"3\", \"group_reporting\": \"\"",
                    SOME));
    assert_int_equal(ps.n, 1);
    assert_true(ps.v[0].random && ps.v[0].record_b == 8192 && ps.v[0].depth == 12);
    wr_vec_fini(&ps);
    parsed(&ps, FIO("\"rw\": \"read\", \"iodepth\": \"4\", \"ioengine\": \"psync\"", SOME));
    assert_true(!ps.v[0].random && ps.v[0].record_b == 4096 && ps.v[0].depth == 1);
    wr_vec_fini(&ps);
    /* fio's default engine waits for each request */
    parsed(&ps, FIO("\"rw\": \"read\", \"iodepth\": \"4\"", SOME));
    assert_int_equal(ps.v[0].depth, 1);
    wr_vec_fini(&ps);
    wrong(
        FIO("\"rw\": \"read\", \"bsrange\": \"4k-64k\"", SOME),
        "in: job a: bsrange \"4k-64k\" mixes sizes of requests; measure each in a job of its own");
    wrong(
        FIO("\"rw\": \"trim\"", SOME),
        "in: job a: rw \"trim\" is not one of read, write, rw, randread, randwrite, randrw; leave "
        "this job out");
    wrong(FIO("\"rw\": \"read\", \"bs\": \"x\"", SOME),
          "in: job a: bs \"x\" is no block size from 1 to 1g; correct it");
    wrong(FIO("\"rw\": \"read\"", "\"io_bytes\": 0"),
          "in: no job has read or written anything; run fio for longer");
    wrong("a remark\n{\"jobs\": [}", "in:2:11: unexpected token near '}'; give the output of fio "
                                     "--output-format=json");
    wrong("{}", "in: no list of jobs in it; give the output of fio --output-format=json");
}

/* The IOPS of a mixture are not those of reads alone; nor are those of a job that is held back. */
static void latencies_are_fitted_where_requests_per_second_are_not_the_devices(void **state)
{
    static const char mixed[] =
        "{\"jobs\": [{\"jobname\": \"a\", \"job options\": {\"rw\": \"randrw\"},"
        " \"read\": {\"io_bytes\": 1, \"iops\": 50, \"lat_ns\": {\"mean\": 8000}},"
        " \"write\": {\"io_bytes\": 1, \"iops\": 50, \"lat_ns\": {\"mean\": 2000}}}]}";
    fit_points ps;

    (void)state;
    parsed(&ps, mixed);
    assert_int_equal(ps.n, 2);
    assert_true(ps.v[0].what == FIT_LATENCY && ps.v[0].value == 8);
    assert_true(ps.v[1].what == FIT_LATENCY && ps.v[1].value == 2 && ps.v[1].write);
    wr_vec_fini(&ps);
    parsed(&ps,
           FIO("\"rw\": \"read\", \"rate_iops\": \"5\"", SOME ", \"lat_ns\": {\"mean\": 3000}"));
    assert_true(ps.v[0].what == FIT_LATENCY && ps.v[0].value == 3);
    wr_vec_fini(&ps);
    wrong(FIO("\"rw\": \"read\", \"thinktime\": \"5\"", SOME),
          "in: job a: it mixes reads and writes or waits on purpose, and has no mean of lat_ns; "
          "leave "
          "this job out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curved_valley_is_followed_to_its_end),
        cmocka_unit_test(no_more_is_tried_than_was_allowed),
        cmocka_unit_test(a_table_is_found_again),
        cmocka_unit_test(an_nvme_drive_is_found_again),
        cmocka_unit_test(the_rate_of_a_disk_is_found_alone),
        cmocka_unit_test(what_the_points_do_not_determine_is_said),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(a_table_of_measurements_is_read),
        cmocka_unit_test(a_wrong_row_is_reported_at_its_place),
        cmocka_unit_test(fio_is_read),
        cmocka_unit_test(options_of_fio_mean_what_fio_means),
        cmocka_unit_test(latencies_are_fitted_where_requests_per_second_are_not_the_devices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
