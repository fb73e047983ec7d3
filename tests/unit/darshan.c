/* The reader of Darshan logs, against what Darshan's own parsers read in real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/version.h"
#include "darshan/darshan.h"
#include "darshan/darshan_phases.h"

#define DATA WEIR_SOURCE_DIR "/tests/data/darshan/"

static const char *const logs[] = {
    "dlio_a",      "dlio_b",      "empty",       "heatmap_dxt",
    "ior_posix",   "mpiio_3.0.1", "mpiio_3.1.8", "mpiio_3.3.1",
    "mpiio_3.4.0", "mpiio_3.4.7", "mpiio_dxt",   "mpiio_3.1.8_bigendian",
    "mpiio_3.5.0", "skew_app",    "stdio_only",  "partial_stdio"};

static bool has(const char *package)
{
    for (const struct wr_feature *f = wr_features(); f->name; f++)
        if (!strcmp(f->name, package))
            return f->found;
    return false;
}

/* Without zlib neither logs nor tables can be read. */
static void need(const char *package)
{
    if (!has(package) || !has("zlib"))
        skip();
}

static void open_log(struct darshan_log *log, const char *name)
{
    struct wr_err err = {0};
    char path[512];

    snprintf(path, sizeof path, DATA "%s.darshan", name);
    if (!darshan_open(log, path, &err))
        fail_msg("%s", err.text);
}

static char *table(const struct darshan_log *log,
                   void (*put)(const struct darshan_log *log, FILE *out))
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    put(log, out);
    fclose(out);
    return text;
}

static char *expected(const char *name, const char *what)
{
    struct wr_err err = {0};
    char path[512], *text;
    size_t n;

    snprintf(path, sizeof path, DATA "%s.%s.csv.gz", name, what);
    return wr_file_read(&text, &n, path, 100 << 20, &err) ? text : NULL;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t cut_lines(char *text, char ***ret)
{
    char **line = NULL, *rest = NULL;
    size_t n = 0;

    for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
        line = realloc(line, (n + 1) * sizeof *line);
        line[n++] = l;
    }
    *ret = line;
    return n;
}

/* Line by line, in any order. */
static void assert_same_table(const char *name, char *got, char *want)
{
    char **a, **b;
    size_t n = cut_lines(got, &a), m = cut_lines(want, &b);

    qsort(a, n, sizeof *a, by_line);
    qsort(b, m, sizeof *b, by_line);
    for (size_t i = 0; i < n && i < m; i++)
        if (strcmp(a[i], b[i]) != 0)
            fail_msg("%s: got\n%s\nexpected\n%s", name, a[i], b[i]);
    assert_int_equal(n, m);
    free(a);
    free(b);
    free(got);
    free(want);
}

static void every_counter_is_what_darshans_parser_reads(void **state)
{
    (void)state;
    need("zlib");
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct darshan_log log;
        char *want = expected(logs[i], "counters");

        assert_non_null(want);
        open_log(&log, logs[i]);
        assert_same_table(logs[i], table(&log, darshan_put_counters), want);
        darshan_fini(&log);
    }
}

static void every_request_is_what_darshans_parser_reads(void **state)
{
    size_t with = 0;

    (void)state;
    need("zlib");
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct darshan_log log;
        char *want = expected(logs[i], "dxt");

        open_log(&log, logs[i]);
        assert_int_equal(log.traces.n > 0, want != NULL);
        if (want)
            assert_same_table(logs[i], table(&log, darshan_put_segments), want);
        with += want != NULL;
        darshan_fini(&log);
    }
    assert_int_equal(with, 2);
}

static void the_job_is_what_darshans_parser_reads(void **state)
{
    struct darshan_log log;

    (void)state;
    need("zlib");
    open_log(&log, "mpiio_3.5.0");
    assert_string_equal(log.version, "3.41");
    assert_int_equal(log.nprocs, 4);
    assert_true(log.run_time_s > 0.0512 && log.run_time_s < 0.0514);
    assert_false(log.big_endian);
    darshan_fini(&log);
    open_log(&log, "mpiio_3.1.8_bigendian");
    assert_true(log.big_endian);
    assert_int_equal(log.nprocs, 4);
    assert_true(log.run_time_s == 2);
    darshan_fini(&log);
    open_log(&log, "skew_app");
    assert_int_equal(log.nprocs, 65536);
    assert_true(log.run_time_s == 37517);
    darshan_fini(&log);
}

static void the_compression_makes_no_difference(void **state)
{
    static const char *const packed[] = {"mpiio_3.1.8_bzip2", "mpiio_3.1.8_plain"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct darshan_log log;

        need(i ? "zlib" : "bzip2");
        open_log(&log, packed[i]);
        assert_int_equal(log.bzip2, !i);
        assert_same_table(packed[i], table(&log, darshan_put_counters),
                          expected("mpiio_3.1.8", "counters"));
        darshan_fini(&log);
    }
}

static void a_build_without_a_package_names_it(void **state)
{
    struct darshan_log log;
    struct wr_err err = {0};

    (void)state;
    if (!has("bzip2")) {
        assert_false(darshan_open(&log, DATA "mpiio_3.1.8_bzip2.darshan", &err));
        assert_non_null(strstr(err.text, "libbz2-dev"));
    }
    if (!has("zlib")) {
        assert_false(darshan_open(&log, DATA "mpiio_3.1.8.darshan", &err));
        assert_non_null(strstr(err.text, "zlib1g-dev"));
    }
}

static void what_is_left_out_is_said(void **state)
{
    struct darshan_log log;

    (void)state;
    need("zlib");
    open_log(&log, "partial_stdio");
    assert_non_null(strstr(wr_str_get(&log.warnings), "STDIO is incomplete"));
    assert_int_equal(log.records[DARSHAN_STDIO].n, 0);
    darshan_fini(&log);
    open_log(&log, "mpiio_3.3.1");
    assert_non_null(strstr(wr_str_get(&log.warnings), "APMPI is not read"));
    darshan_fini(&log);
    open_log(&log, "ior_posix");
    assert_string_equal(wr_str_get(&log.warnings), "");
    darshan_fini(&log);
}

/* 3.20 and 3.21 are the same but for the runtime that wrote them. */
static void counters_of_3_2_0_are_doubted(void **state)
{
    struct wr_err err = {0};
    struct darshan_log log;
    char *bytes;
    size_t n;

    (void)state;
    need("zlib");
    assert_true(wr_file_read(&bytes, &n, DATA "mpiio_3.3.1.darshan", 1 << 20, &err));
    memcpy(bytes, "3.20", 4);
    assert_true(darshan_parse(&log, "old.darshan", bytes, n, &err));
    assert_non_null(strstr(wr_str_get(&log.warnings), "old.darshan: Darshan 3.2.0 wrote wrong"));
    assert_same_table("3.20", table(&log, darshan_put_counters),
                      expected("mpiio_3.3.1", "counters"));
    darshan_fini(&log);
    free(bytes);
}

/* Every length: no log but the whole one. */
static void a_log_that_is_cut_off_is_an_error(void **state)
{
    struct wr_err err = {0};
    char *bytes;
    size_t n;

    (void)state;
    need("zlib");
    assert_true(wr_file_read(&bytes, &n, DATA "mpiio_3.5.0.darshan", 1 << 20, &err));
    for (size_t i = 0; i < n; i++) {
        char *part = malloc(i + 1);
        struct darshan_log log;

        memcpy(part, bytes, i); /* a copy: a sanitizer sees reads beyond */
        err = (struct wr_err){0};
        if (darshan_parse(&log, "cut.darshan", part, i, &err))
            fail_msg("read when cut to %zu of %zu bytes", i, n);
        assert_int_equal(err.code, WR_INPUT);
        assert_non_null(strstr(err.text, "cut.darshan"));
        assert_non_null(strstr(err.text, "; "));
        free(part);
    }
    free(bytes);
}

static void what_is_no_log_is_refused(void **state)
{
    static const struct {
        const char *bytes, *says;
        size_t n;
    } cases[] = {
        {"", "is not a Darshan log", 0},
        {"SQLite format 3", "is not a Darshan log", 15},
        {"machine:\n", "is not a Darshan log", 9},
        {"3.41\0\0\0\0abcdefgh", "magic number is wrong", 16},
        {"3.99\0\0\0\0\x37\x35\x64\0\0\0\0\0", "version 3.99", 16},
        {"2.06\0\0\0\0\0\0\0\0\0\x64\x35\x37", "version 2.06", 16},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct darshan_log log;
        struct wr_err err = {0};

        assert_false(darshan_parse(&log, "x", cases[i].bytes, cases[i].n, &err));
        assert_int_equal(err.code, WR_INPUT);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s", err.text);
    }
}

/* The indices that are used by name, against the rows. */
static void counters_are_where_their_names_are(void **state)
{
    static const struct {
        enum darshan_module m;
        bool real;
        uint32_t at;
        const char *name;
    } rows[] = {
        {DARSHAN_POSIX, false, POSIX_READS, "POSIX_READS"},
        {DARSHAN_POSIX, false, POSIX_FDSYNCS, "POSIX_FDSYNCS"},
        {DARSHAN_POSIX, false, POSIX_BYTES_WRITTEN, "POSIX_BYTES_WRITTEN"},
        {DARSHAN_POSIX, false, POSIX_MAX_BYTE_WRITTEN, "POSIX_MAX_BYTE_WRITTEN"},
        {DARSHAN_POSIX, false, POSIX_SIZE_READ_0_100, "POSIX_SIZE_READ_0_100"},
        {DARSHAN_POSIX, false, POSIX_SIZE_WRITE_0_100, "POSIX_SIZE_WRITE_0_100"},
        {DARSHAN_POSIX, true, POSIX_F_WRITE_END, "POSIX_F_WRITE_END_TIMESTAMP"},
        {DARSHAN_POSIX, true, POSIX_F_META_TIME, "POSIX_F_META_TIME"},
        {DARSHAN_MPIIO, false, MPIIO_NB_WRITES, "MPIIO_NB_WRITES"},
        {DARSHAN_MPIIO, false, MPIIO_SYNCS, "MPIIO_SYNCS"},
        {DARSHAN_MPIIO, false, MPIIO_BYTES_WRITTEN, "MPIIO_BYTES_WRITTEN"},
        {DARSHAN_MPIIO, false, MPIIO_SIZE_WRITE_0_100, "MPIIO_SIZE_WRITE_AGG_0_100"},
        {DARSHAN_MPIIO, true, POSIX_F_READ_TIME, "MPIIO_F_READ_TIME"},
        {DARSHAN_STDIO, false, STDIO_BYTES_READ, "STDIO_BYTES_READ"},
        {DARSHAN_STDIO, true, STDIO_F_READ_END, "STDIO_F_READ_END_TIMESTAMP"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct darshan_form *f = &darshan_forms[rows[i].m];
        uint32_t n = 0, k = 0;

        for (; !rows[i].real && (f->count[k].until || n++ < rows[i].at); k++)
            ;
        assert_string_equal(rows[i].real ? f->real[rows[i].at].name : f->count[k].name,
                            rows[i].name);
    }
}

/* What the counters of POSIX and STDIO add up to. */
static void count(const struct darshan_log *log, uint64_t n[2], uint64_t bytes[2])
{
    for (size_t i = 0; i < log->records[DARSHAN_POSIX].n; i++) {
        const int64_t *c = log->records[DARSHAN_POSIX].v[i].count;

        n[0] += (uint64_t)c[POSIX_READS];
        n[1] += (uint64_t)c[POSIX_WRITES];
        bytes[0] += (uint64_t)c[POSIX_BYTES_READ];
        bytes[1] += (uint64_t)c[POSIX_BYTES_WRITTEN];
    }
    for (size_t i = 0; i < log->records[DARSHAN_STDIO].n; i++) {
        const int64_t *c = log->records[DARSHAN_STDIO].v[i].count;

        n[0] += (uint64_t)c[STDIO_READS];
        n[1] += (uint64_t)c[STDIO_WRITES];
        bytes[0] += (uint64_t)c[STDIO_BYTES_READ];
        bytes[1] += (uint64_t)c[STDIO_BYTES_WRITTEN];
    }
}

static void phases_add_up_to_the_counters(void **state)
{
    (void)state;
    need("zlib");
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        uint64_t n[2] = {0}, bytes[2] = {0}, got_n[2] = {0}, got_b[2] = {0};
        struct darshan_phases p;
        struct darshan_log log;
        struct wr_err err = {0};

        open_log(&log, logs[i]);
        assert_true(darshan_phases_make(&p, &log, &err));
        count(&log, n, bytes);
        for (size_t k = 0; k < p.list.n; k++) {
            const struct darshan_phase *x = &p.list.v[k];

            assert_true(x->rank < p.ranks && x->n && x->dt_ps >= 0 && x->io_ps >= 0);
            if (k)
                assert_true(x[-1].rank < x->rank ||
                            (x[-1].rank == x->rank && x[-1].t_ps <= x->t_ps));
            if (x->op > DARSHAN_WRITE)
                continue;
            got_n[x->op] += x->n;
            got_b[x->op] += x->bytes;
        }
        for (int op = 0; op < 2; op++)
            if (got_n[op] != n[op] || got_b[op] != bytes[op] || p.n[op] != n[op])
                fail_msg("%s: %llu requests of %llu bytes, not %llu of %llu", logs[i],
                         (unsigned long long)got_n[op], (unsigned long long)got_b[op],
                         (unsigned long long)n[op], (unsigned long long)bytes[op]);
        darshan_phases_fini(&p);
        darshan_fini(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_counter_is_what_darshans_parser_reads),
        cmocka_unit_test(every_request_is_what_darshans_parser_reads),
        cmocka_unit_test(the_job_is_what_darshans_parser_reads),
        cmocka_unit_test(the_compression_makes_no_difference),
        cmocka_unit_test(a_build_without_a_package_names_it),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(counters_of_3_2_0_are_doubted),
        cmocka_unit_test(a_log_that_is_cut_off_is_an_error),
        cmocka_unit_test(what_is_no_log_is_refused),
        cmocka_unit_test(counters_are_where_their_names_are),
        cmocka_unit_test(phases_add_up_to_the_counters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
