/* Recorded jobs as programs: requests and bytes are the recorded ones, time in them is not
 * replayed.
 */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/version.h"
#include "darshan/darshan.h"
#include "darshan/darshan_phases.h"
#include "load/kinds/load_kinds.h"
#include "run/run.h"

#define DATA WEIR_SOURCE_DIR "/tests/data/darshan/"
#define MS INT64_C(1000000000) /* in picoseconds */

static char place[] = "/tmp/weir-replay-test-XXXXXX";

static int enter(void **state)
{
    (void)state;
    strcpy(place + strlen(place) - 6, "XXXXXX");
    return !mkdtemp(place) || chdir(place);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int leave(void **state)
{
    (void)state;
    return chdir("/") || nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static bool has_zlib(void)
{
    for (const struct wr_feature *f = wr_features(); f->name; f++)
        if (!strcmp(f->name, "zlib"))
            return f->found;
    return false;
}

static bool open_job(struct load *ret, const char *file, const char *job, uint32_t ranks,
                     struct wr_err *err)
{
    static const char *params[2]; /* file, job: as the rows of the kind are */

    for (const struct load_ops *const *o = load_table; *o; o++)
        if (!strcmp((*o)->kind.name, "profile")) {
            struct conf_plugin plug = {.kind = &(*o)->kind, .params = params};

            assert_int_equal((*o)->kind.params_size, sizeof params);
            params[0] = file;
            params[1] = job;
            return load_open(ret, &plug, &(struct load_start){.ranks = ranks}, err);
        }
    fail_msg("no kind of program is called profile");
    return false;
}

static void must_open(struct load *ret, const char *file)
{
    struct wr_err err = {0};

    if (!open_job(ret, file, "", 0, &err))
        fail_msg("%s", err.text);
}

static void must_not_open(const char *file, const char *job, uint32_t ranks, const char *says)
{
    struct wr_err err = {0};
    struct load l;

    assert_false(open_job(&l, file, job, ranks, &err));
    assert_int_equal(err.code, WR_INPUT);
    if (!strstr(err.text, says) || !strstr(err.text, "; "))
        fail_msg("%s", err.text);
}

/* What a rank does, added up; its first operations as text: "c500 w0:4096@0 ..." */
struct did {
    uint64_t n[LOAD_KINDS], bytes[LOAD_KINDS], ps[LOAD_KINDS];
    char text[512];
};

static void execute(const struct load *l, uint32_t rank, struct did *ret)
{
    static const char letters[LOAD_KINDS] = {
        [LOAD_COMPUTE] = 'c', [LOAD_SLEEP] = 's', [LOAD_OPEN] = 'o', [LOAD_READ] = 'r',
        [LOAD_WRITE] = 'w',   [LOAD_FLUSH] = 'f', [LOAD_COLL] = 'b'};
    void *r = calloc(1, l->rank_size);
    enum load_kind k;
    struct load_op op;
    size_t at = 0;

    memset(ret, 0, sizeof *ret);
    l->ops->rank_init(l, r, rank);
    while (op = (struct load_op){0}, (k = l->ops->next(l, r, 0, &op)) != LOAD_END) {
        assert_true(k < LOAD_KINDS && letters[k]);
        ret->n[k]++;
        ret->bytes[k] += op.bytes;
        ret->ps[k] += op.ps;
        if (at + 64 < sizeof ret->text)
            at +=
                (size_t)(k == LOAD_COMPUTE || k == LOAD_SLEEP
                             ? sprintf(ret->text + at, "%s%c%g", at ? " " : "", letters[k],
                                       (double)op.ps / (double)MS)
                             : sprintf(ret->text + at, "%s%c%lld:%llu@%llu", at ? " " : "",
                                       letters[k], (long long)op.file, (unsigned long long)op.bytes,
                                       (unsigned long long)op.offset));
    }
    free(r);
}

static void a_replayed_log_has_the_requests_and_bytes_of_its_counters(void **state)
{
    static const char *const logs[] = {
        "dlio_a",      "dlio_b",      "heatmap_dxt", "ior_posix",     "mpiio_3.0.1",
        "mpiio_3.1.8", "mpiio_3.3.1", "mpiio_3.4.0", "mpiio_3.4.7",   "mpiio_3.5.0",
        "mpiio_dxt",   "skew_app",    "stdio_only",  "partial_stdio", "mpiio_3.1.8_bigendian"};

    (void)state;
    if (!has_zlib())
        skip();
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        uint64_t n[LOAD_KINDS] = {0}, bytes[LOAD_KINDS] = {0};
        struct darshan_phases want;
        struct darshan_log log;
        struct wr_err err = {0};
        struct load l;
        char path[512];

        snprintf(path, sizeof path, DATA "%s.darshan", logs[i]);
        assert_true(darshan_open(&log, path, &err) && darshan_phases_make(&want, &log, &err));
        must_open(&l, path);
        assert_int_equal(l.ranks, log.nprocs);
        for (uint32_t r = 0; r < l.ranks; r++) {
            struct did d;

            execute(&l, r, &d);
            for (int k = 0; k < LOAD_KINDS; k++) {
                n[k] += d.n[k];
                bytes[k] += d.bytes[k];
            }
        }
        assert_int_equal(n[LOAD_READ], want.n[DARSHAN_READ]);
        assert_int_equal(n[LOAD_WRITE], want.n[DARSHAN_WRITE]);
        assert_int_equal(n[LOAD_OPEN], want.n[DARSHAN_OPEN]);
        assert_int_equal(n[LOAD_FLUSH], want.n[DARSHAN_SYNC]);
        assert_int_equal(bytes[LOAD_READ], want.bytes[DARSHAN_READ]);
        assert_int_equal(bytes[LOAD_WRITE], want.bytes[DARSHAN_WRITE]);
        load_close(&l);
        darshan_phases_fini(&want);
        darshan_fini(&log);
    }
}

/* Written by DXT: four writes and four reads of 16 MiB, every 512 MiB. */
static void requests_that_were_measured_keep_their_order_and_place(void **state)
{
    struct load l;
    struct did d;

    (void)state;
    if (!has_zlib())
        skip();
    must_open(&l, DATA "mpiio_dxt.darshan");
    execute(&l, 31, &d);
    assert_non_null(strstr(d.text, ":16777216@520093696"));
    const char *second = strstr(d.text, ":16777216@1056964608");

    assert_non_null(second);
    assert_true(second > strstr(d.text, ":16777216@520093696"));
    /* 14 s less the 8.62 s that it was in POSIX or MPI-IO by DXT, and 0.1 s of opens. */
    assert_true(d.ps[LOAD_COMPUTE] < 5380 * (uint64_t)MS);
    assert_true(d.ps[LOAD_COMPUTE] > 5250 * (uint64_t)MS);
    load_close(&l);
}

/* ---- made here ---- */

static struct run *make(const char *path, uint32_t apps, uint32_t ranks)
{
    struct run_meta meta = {.kind = "prof"};
    struct wr_err err = {0};
    struct run *run;

    assert_true(run_create(&run, path, &meta, &err));
    for (uint32_t a = 0; a < apps; a++) {
        struct run_app app = {.app = a, .name = a ? "second" : "first", .ranks = ranks};

        assert_true(run_put_app(run, &app, &err));
        for (uint32_t i = 0; i < ranks; i++) {
            struct run_rank r = run_rank_unknown(a, i);

            r.elapsed_ps = 1000 * MS;
            assert_true(run_put_rank(run, &r, &err));
        }
    }
    return run;
}

static void finish(struct run *run)
{
    struct wr_err err = {0};

    assert_true(run_finish(run, RUN_COMPLETE, NULL, &err));
}

static void slice(struct run *run, const char *entity, const char *metric, int64_t t_ms, double v)
{
    struct run_series s = {entity, metric, "", 100 * MS};
    struct wr_err err = {0};
    uint32_t id;

    assert_true(run_open_series(run, &s, &id, &err) &&
                run_put_slice(run, id, t_ms * MS, 100 * MS, v, &err));
}

static void slices_become_requests_and_computation(void **state)
{
    struct run *run = make("a.weir", 1, 2);
    struct load l;
    struct did d;

    (void)state;
    /* 100 to 200 ms: 4 writes of 1000 bytes that took 40 ms. */
    slice(run, "rank:0.1", "write_calls", 100, 4);
    slice(run, "rank:0.1", "write_bytes", 100, 4000);
    slice(run, "rank:0.1", "write_time", 100, 40e6);
    /* One read over three slices, counted where it ends. */
    slice(run, "rank:0.1", "read_bytes", 500, 100);
    slice(run, "rank:0.1", "read_time", 500, 50e6);
    slice(run, "rank:0.1", "read_bytes", 600, 200);
    slice(run, "rank:0.1", "read_time", 600, 100e6);
    slice(run, "rank:0.1", "read_bytes", 700, 7);
    slice(run, "rank:0.1", "read_calls", 700, 1);
    slice(run, "rank:0.1", "read_time", 700, 50e6);
    finish(run);
    must_open(&l, "a.weir");
    assert_int_equal(l.ranks, 2);
    execute(&l, 0, &d);
    assert_string_equal(d.text, "c1000");
    execute(&l, 1, &d);
    assert_string_equal(d.text, "c100 w1:1000@0 c15 w1:1000@1000 c15 w1:1000@2000 c15 w1:1000@3000 "
                                "c315 r1:307@0 c300");
    load_close(&l);
}

static void time_in_mpi_passes_and_time_in_metadata_does_not(void **state)
{
    struct run *run = make("m.weir", 1, 1);
    struct load l;
    struct did d;

    (void)state;
    slice(run, "rank:0.0", "mpi_time", 0, 30e6);
    slice(run, "rank:0.0", "mpiio_time", 0, 10e6);
    slice(run, "rank:0.0", "meta_calls", 200, 5);
    slice(run, "rank:0.0", "meta_time", 200, 50e6);
    slice(run, "rank:0.0", "sync_calls", 300, 1);
    slice(run, "rank:0.0", "sync_time", 300, 80e6);
    slice(run, "rank:0.0", "write_calls", 300, 1);
    slice(run, "rank:0.0", "write_bytes", 300, 5);
    finish(run);
    must_open(&l, "m.weir");
    execute(&l, 0, &d);
    assert_string_equal(d.text, "s20 c230 w0:5@0 f0:0@0 c620");
    assert_int_equal(d.ps[LOAD_COMPUTE] + d.ps[LOAD_SLEEP], (1000 - 80 - 50) * (uint64_t)MS);
    load_close(&l);
}

static void bytes_whose_calls_were_not_counted_are_all_moved(void **state)
{
    struct run *run = make("k.weir", 1, 1);
    struct load l;
    struct did d;

    (void)state;
    slice(run, "rank:0.0", "write_bytes", 100, 2.5 * 1048576);
    slice(run, "rank:0.0", "read_bytes", 100, 10);
    slice(run, "rank:0.0", "read_calls", 100, 2);
    slice(run, "rank:0.0", "read_bytes", 300, 3);
    finish(run);
    must_open(&l, "k.weir");
    execute(&l, 0, &d);
    assert_int_equal(d.n[LOAD_WRITE], 3);
    assert_int_equal(d.bytes[LOAD_WRITE], 2621440);
    assert_int_equal(d.n[LOAD_READ], 2);
    assert_int_equal(d.bytes[LOAD_READ], 13);
    load_close(&l);
}

static void ranks_that_share_a_file_have_a_region_each(void **state)
{
    struct wr_err err = {0};
    struct run *run = make("s.weir", 1, 2);
    struct load l;
    struct did d;

    (void)state;
    assert_true(run_put_text(run, "file_mode", "shared", &err));
    slice(run, "rank:0.0", "write_calls", 0, 1);
    slice(run, "rank:0.0", "write_bytes", 0, 300);
    slice(run, "rank:0.1", "write_calls", 0, 1);
    slice(run, "rank:0.1", "write_bytes", 0, 700);
    finish(run);
    must_open(&l, "s.weir");
    execute(&l, 0, &d);
    assert_string_equal(d.text, "w0:300@0 c1000");
    execute(&l, 1, &d);
    assert_string_equal(d.text, "w0:700@300 c1000");
    load_close(&l);
}

static void phases_that_overlap_are_merged_by_time(void **state)
{
    struct wr_err err = {0};
    struct run *run = make("p.weir", 1, 1);
    const struct run_io_phase rows[] = {
        {0, 0, 0, "open", "file:/b", "spread", 0, 0, RUN_NULL, 0, 1, 0},
        {0, 0, 1, "write", "file:/b", "spread", 0, 300 * MS, RUN_NULL, 7, 3, 30 * MS},
        {0, 0, 2, "read", "file:/a", "measured", 50 * MS, 20 * MS, 4096, 512, 1, 20 * MS},
        {0, 0, 3, "write", "file:/a", "binned", 100 * MS, 100 * MS, RUN_NULL, 10, 2, 0},
    };
    struct load l;
    struct did d;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_true(run_put_io_phase(run, &rows[i], &err));
    finish(run);
    must_open(&l, "p.weir");
    execute(&l, 0, &d);
    assert_string_equal(d.text, "o1:0@0 w1:2@0 c40 r0:512@4096 c30 w1:2@2 w0:5@0 c40 w0:5@5 c50 "
                                "w1:3@4 c790");
    load_close(&l);
}

/* A rank that was in MPI-IO did not compute; a collective call ends when all have come to its end.
 */
static void time_in_mpiio_is_not_computed(void **state)
{
    struct wr_err err = {0};
    struct run *run = make("io.weir", 1, 2);
    const struct run_io_phase rows[] = {
        {0, 0, 0, "mpiio", "file:/a", "measured", 100 * MS, 400 * MS, RUN_NULL, 0, 1, 400 * MS},
        {0, 0, 1, "write", "file:/a", "measured", 300 * MS, 50 * MS, 0, 10, 1, 50 * MS},
        {0, 0, 2, "barrier", "file:/a", "measured", 500 * MS, 0, RUN_NULL, 0, 1, 0},
        {0, 1, 0, "mpiio", "file:/a", "measured", 200 * MS, 300 * MS, RUN_NULL, 0, 1, 300 * MS},
        {0, 1, 1, "barrier", "file:/a", "measured", 500 * MS, 0, RUN_NULL, 0, 1, 0},
    };
    struct load l;
    struct did d;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_true(run_put_io_phase(run, &rows[i], &err));
    finish(run);
    must_open(&l, "io.weir");
    execute(&l, 0, &d);
    assert_string_equal(d.text, "c100 w0:10@0 b0:0@0 c500");
    execute(&l, 1, &d);
    assert_string_equal(d.text, "c200 b0:0@0 c500");
    load_close(&l);
    run = make("odd.weir", 1, 2);
    for (size_t i = 0; i < 4; i++)
        assert_true(run_put_io_phase(run, &rows[i], &err));
    finish(run);
    must_not_open("odd.weir", "", 0, "rank 1 has 0 barriers");
}

static void what_has_no_order_is_refused(void **state)
{
    (void)state;
    finish(make("none.weir", 0, 0));
    must_not_open("none.weir", "", 0, "holds no job");
    finish(make("bare.weir", 1, 2));
    must_not_open("bare.weir", "", 0, "does not say in which order");
    struct run *run = make("app.weir", 1, 2);

    slice(run, "app:0", "write_bytes", 0, 300);
    finish(run);
    must_not_open("app.weir", "", 0, "does not say in which order");
    run = make("two.weir", 2, 3);
    slice(run, "rank:1.2", "write_bytes", 0, 300);
    slice(run, "rank:1.2", "write_calls", 0, 3);
    finish(run);
    must_not_open("two.weir", "", 0, "several jobs");
    must_not_open("two.weir", "third", 0, "its jobs are first, second");
    must_not_open("two.weir", "second", 7, "recorded with 3 ranks");
    must_not_open("nowhere.weir", "", 0, "nowhere.weir");
    FILE *f = fopen("text.weir", "w");

    fputs("machine:\n", f);
    fclose(f);
    must_not_open("text.weir", "", 0, "text.weir");

    struct wr_err err = {0};
    struct load l;

    assert_true(open_job(&l, "two.weir", "second", 3, &err));
    load_close(&l);
    assert_true(open_job(&l, "two.weir", "1", 0, &err));
    load_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replayed_log_has_the_requests_and_bytes_of_its_counters),
        cmocka_unit_test(requests_that_were_measured_keep_their_order_and_place),
        cmocka_unit_test(slices_become_requests_and_computation),
        cmocka_unit_test(time_in_mpi_passes_and_time_in_metadata_does_not),
        cmocka_unit_test(bytes_whose_calls_were_not_counted_are_all_moved),
        cmocka_unit_test(ranks_that_share_a_file_have_a_region_each),
        cmocka_unit_test(phases_that_overlap_are_merged_by_time),
        cmocka_unit_test(time_in_mpiio_is_not_computed),
        cmocka_unit_test(what_has_no_order_is_refused),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
