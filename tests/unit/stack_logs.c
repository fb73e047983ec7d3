/* Timing models from real logs: what is read of a directory, what is refused, and whether
 * calibrating finds again the timing models that a log was made with. */
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
#include <unistd.h>

#include "stack/calib.h"
#include "stack/replay.h"
#include "stack_help.h"
#include "stack_open.h"

/* --- timing models ---------------------------------------------------------------------------- */

static void the_shape_that_predicts_the_size_left_out_is_taken(void **state)
{
    static const struct stack_point flat[] = {{1, 5}, {10, 5.2}, {100, 4.9}, {1000, 5.1}};
    static const struct stack_point line[] = {{1, 12}, {10, 30}, {100, 210}, {1000, 2010}};
    static const struct stack_point falls[] = {{1, 9}, {2, 5}, {3, 2}};
    static const struct stack_point bytes[] = {{8, 15}, {64, 130}, {205, 400}, {410, 830}};
    struct wr_err err = {0};
    struct stack_fit f;

    (void)state;
    assert_true(stack_fit(&f, flat, 4, STACK_LINE, &err));
    assert_int_equal(f.shape, STACK_CONSTANT);
    assert_true(stack_fit(&f, line, 4, STACK_LINE, &err));
    assert_int_equal(f.shape, STACK_LINE);
    assert_float_equal(f.constant, 10, 1e-4);
    assert_float_equal(f.slope, 2, 1e-5);
    assert_true(stack_fit(&f, bytes, 4, STACK_LINE, &err)); /* one parameter is enough */
    assert_int_equal(f.shape, STACK_PROPORTIONAL);
    assert_true(f.slope > 1.95 && f.slope < 2.05 && f.constant == 0);
    assert_true(stack_fit(&f, bytes, 4, STACK_CONSTANT, &err)); /* what moves no data is flat */
    assert_int_equal(f.shape, STACK_CONSTANT);
    assert_true(fabs(stack_fit_without(STACK_PROPORTIONAL, bytes, 4, 8) - 8 * 2.0) < 0.1);
    assert_true(stack_fit(&f, falls, 3, STACK_LINE, &err)); /* a timing model does not fall */
    assert_true(stack_fit_at(&f, 1e15) >= stack_fit_at(&f, 1));
    assert_true(isnan(stack_fit_without(STACK_LINE, falls, 2, 1))); /* one size is no line */
    /* of two sizes nothing can be left out of a line */
    assert_true(stack_fit(&f, line, 2, STACK_LINE, &err));
    assert_int_not_equal(f.shape, STACK_LINE);
    assert_false(stack_fit(&f, flat, 0, STACK_LINE, &err));
}

/* Of calls that take one of two times, by chance: the middle of the sizes' medians, 1, 9, 9 and 1,
 * is a time that no call took. And a size with many samples counts no more than the others. */
static void a_constant_is_the_middle_of_all_samples(void **state)
{
    static const struct stack_point two[] = {{1, 1}, {1, 1}, {1, 1}, {2, 1}, {2, 9},
                                             {2, 9}, {3, 1}, {3, 9}, {3, 9}, {4, 1}};
    struct stack_point many[64] = {{1, 5}, {2, 6}, {3, 7}};
    struct wr_err err = {0};
    struct stack_fit f;

    (void)state;
    assert_true(stack_fit(&f, two, 10, STACK_CONSTANT, &err));
    assert_float_equal(f.constant, 1, 1e-9);
    for (size_t i = 3; i < 64; i++)
        many[i] = (struct stack_point){3, 7};
    assert_true(stack_fit(&f, many, 64, STACK_CONSTANT, &err));
    assert_float_equal(f.constant, 6, 1e-9);
}

/* Whatever was measured, the timing model is there, does not fall and is not negative, up to a
 * pebibyte. */
static void no_timing_falls_whatever_was_measured(void **state)
{
    uint64_t seed = 12345;

    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        struct stack_point p[24];
        struct wr_err err = {0};
        struct stack_fit f;
        size_t n = 1 + (size_t)turn % 24;

        for (size_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            p[i].x = (double)(1ull << (seed >> 33) % 40);
            p[i].y = exp((double)(seed >> 40) / 16777216.0 * 40 - 30);
        }
        assert_true(stack_fit(&f, p, n, (enum stack_shape)(turn % STACK_SHAPES), &err));
        double last = 0;

        for (double x = 1; x <= 1125899906842624.0; x *= 1.9) {
            double y = stack_fit_at(&f, x);

            assert_true(isfinite(y) && y >= last);
            last = y;
        }
    }
}

static const char log_text[] =
    "[D 23:59:59.999990] [SM Entering]: (0x10) client_io_sm:init (status: 0)\n"
    "[D 23:59:59.999994] [SM Exiting]: (0x10) client_io_sm:init (error code: 0), (action: "
    "COMPLETE)\n"
    "[D 00:00:01.000000] [SM Entering]: (0x10) msgpairarray_sm:post (status: 0)\n"
    "[D 00:00:01.000003] [SM Entering]: (0x20) client_io_sm:init (status: 0)\n"
    "not a line of a log\n"
    "[D 00:00:01.000010] [SM Exiting]: (0x10) msgpairarray_sm:post (error code: 0), (action: "
    "DEFERRED)\n"
    "[D 00:00:01.000110] [SM Entering]: (0x10) msgpairarray_sm:complete (status: 0)\n"
    "[D 00:00:00.000050] [SM Exiting]: (0x10) msgpairarray_sm:complete (error code: 190), (action: "
    "COMPLETE)\n"
    "[D 00:00:00.000060] [SM Exiting]: (0x20) client_io_sm:init (error code: 0), (action: COM";

static void a_log_is_read_past_midnight_jumps_and_its_torn_end(void **state)
{
    struct stack_log log = {0};
    char *text = strdup(log_text);

    (void)state;

    log.fs = fs;
    stack_log_text(&log, "log", text, strlen(text), false, 0, 1, NULL);
    assert_int_equal(log.state.n, 2);
    assert_float_equal(log.state.v[0].exec_us, 4, 0.01);
    assert_float_equal(log.state.v[1].exec_us, 10, 0.01);
    assert_float_equal(log.state.v[1].wait_us, 100, 0.01);
    assert_int_equal(log.jumps, 1);
    assert_int_equal(log.cut, 1);
    stack_log_fini(&log);
    free(text);
}

/* The number of `ior -a MPIIO -b BYTES -t BYTES -F` with so many servers and processes. */
static uint16_t test_of(struct stack_log *log, uint32_t servers, uint32_t clients, uint64_t bytes)
{
    struct wr_err err = {0};
    char ior[100];
    uint16_t test;

    snprintf(ior, sizeof ior, "ior -a MPIIO -b %llu -t %llu -F", (unsigned long long)bytes,
             (unsigned long long)bytes);
    if (!stack_log_test(log, "a run", servers, clients, ior, &test, &err))
        fail_msg("%s", err.text);
    return test;
}

/* Made-up runs of three sizes: what is calibrated predicts a fourth. */
static void timings_that_were_calibrated_predict_another_size(void **state)
{
    struct wr_err err = {0};
    struct stack_log log = {.fs = fs};
    struct stack_timings *base, *timings;
    struct wr_str text = {0};
    struct stack_lab l;
    const struct stack_phase *p;
    char path[] = "/tmp/weir-timing-XXXXXX.yaml";

    (void)state;

    assert_true(stack_timings_open(&base, fs, "ethernet", &err));
    for (int i = 0; i < 2; i++)
        wr_vec_push(&log.io,
                    (struct stack_io_sample){i & 1, test_of(&log, 5, 5, 1 << 20), 0.1, 1 << 20, 0});
    assert_false(stack_calibrate(&text, NULL, &log, base, "made up", STACK_SEE_SWITCHED, &err));
    assert_non_null(strstr(err.text, "add runs of other sizes"));
    log.io.n = 0;
    for (uint64_t b = 16 << 20; b <= 256 << 20; b *= 4)
        for (int i = 0; i < 6; i++)
            wr_vec_push(&log.io, (struct stack_io_sample){i & 1, test_of(&log, 5, 5, b),
                                                          0.1 + 8e-8 * (double)b, b, 0});
    if (!stack_calibrate(&text, NULL, &log, base, "made up", STACK_SEE_SWITCHED, &err))
        fail_msg("%s", err.text);
    if (!stack_timings_open_text(&timings, fs, "made up", text.s, text.n, &err))
        fail_msg("%s", err.text);
    assert_int_equal(timings->missing.n, 0);
    assert_int_equal(timings->from_b, 16 << 20);
    int fd = mkstemps(path, 5);

    assert_int_equal(write(fd, text.s, text.n), text.n);
    close(fd);
    stack_lab_run(&l, "pvfs2", path, 5, 5, "ior -a MPIIO -b 128m -t 128m -F");
    unlink(path);
    stack_drive_phases(l.drive, &p);
    for (int i = 0; i < 2; i++) {
        double took = stack_s(p[i].io_ns) / 5, real = 0.1 + 8e-8 * (128 << 20);

        assert_true(took > 0.99 * real && took < 1.01 * real);
    }
    stack_lab_end(&l);
    wr_str_fini(&text);
    stack_log_fini(&log);
    stack_timings_close(timings);
    stack_timings_close(base);
}

/* Whatever the size, from one byte to a pebibyte: no timing model that is shipped falls, and none
 * is negative. Curves of the published model are as they were published, within their range. */
static void more_bytes_never_make_a_timing_smaller(void **state)
{
    static const char *const names[] = {"default", "loopback", "ethernet", "published"};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct wr_err err = {0};
        struct stack_timings *timings;

        assert_true(stack_timings_open(&timings, fs, names[k], &err));
        for (size_t i = 0; i < 2 * fs->state.n; i++) {
            const struct stack_timing *timing[] = {&timings->exec[i % 2][i / 2],
                                                   &timings->wait[i % 2][i / 2]};

            for (int w = 0; w < 2; w++) {
                uint64_t last = 0;

                for (double x = 1; x <= 1125899906842624.0; x *= 1.9) {
                    uint64_t ns = stack_timing_ns(timing[w], x, 5 * x);

                    assert_true(ns <= (uint64_t)9e18);
                    assert_true(timing[w]->poly || ns >= last);
                    last = ns;
                }
            }
        }
        stack_timings_close(timings);
    }
}

/* --- a directory of logs ------------------------------------------------------------ */

struct file {
    const char *name, *text;
};

static const struct file run_files[] = {
    {"meta.json", "{\"nservers\": 1, \"nprocs\": 1, \"ior\": \"ior -a MPIIO -b 8m -t 8m -F\"}\n"},
    {"ior.out",
     "tasks               : 1\n"
     "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   "
     "close(s)   total(s)   iter\n"
     "------    ---------  ----       ----------  ---------- ---------  --------   --------   "
     "--------   --------   ----\n"
     "write     400.00     56.1       0.018       8192       8192       0.001      0.018      "
     "0.0001     0.02       0\n"
     "Summary of all tests:\n"
     "write         400.00     400.00\n"},
    {"mpi.0", "1794767263.100000 0.001000 MPI-IO MPI_File_open 0\n"
              "1794767263.200000 0.018100 MPI-IO MPI_File_write_at_c 8388608\n"},
    {"adio.0", "1794767263.100040 0.000900 AD_PVFS ADIOI_PVFS2_Open 0\n"
               "1794767263.100020 0.000950 ADIO ADIO_Open 0\n"
               "1794767263.200020 0.018060 AD_PVFS ADIOI_PVFS2_WriteContig 8388608\n"},
    /* the clock of the state machines is an hour ahead: another time zone */
    {"client.0.log",
     "[D 19:27:43.100100] [SM Entering]: (0x10) client_lookup_sm:lookup_segment_start (status: 0)\n"
     "[D 19:27:43.100110] [SM Exiting]: (0x10) client_lookup_sm:lookup_segment_start (error code: "
     "0), (action: COMPLETE)\n"
     "[D 19:27:43.100117] [SM Entering]: (0x10) client_lookup_sm:lookup_cleanup (status: 0)\n"
     "[D 19:27:43.100900] [SM Exiting]: (0x10) client_lookup_sm:lookup_cleanup (error code: 0), "
     "(action: TERMINATE)\n"},
    {"server.0.log", "[D 19:27:43.100200] nothing of interest\n"},
};

enum { FILES = sizeof run_files / sizeof *run_files };

static void write_run(const char *dir, const struct file *other)
{
    for (size_t i = 0; i < FILES; i++) {
        bool this = other && !strcmp(other->name, run_files[i].name);
        const char *text = this ? other->text : run_files[i].text;
        char path[200];

        snprintf(path, sizeof path, "%s/%s", dir, run_files[i].name);
        if (!text)
            continue;
        FILE *f = fopen(path, "w");

        fputs(text, f);
        fclose(f);
    }
}

static void remove_run(const char *dir)
{
    char command[200];

    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void all_files_of_a_run_are_read(void **state)
{
    char dir[] = "/tmp/weir-logs-XXXXXX";
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};
    double took;

    (void)state;
    assert_non_null(mkdtemp(dir));
    write_run(dir, NULL);
    if (!stack_log_add(&log, dir, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log.test.v[0].servers, 1);
    assert_int_equal(log.cut + log.jumps, 0);
    assert_int_equal(log.run.n, 1);
    assert_int_equal(log.io.n, 1);
    assert_true(fabs(log.io.v[0].seconds - 0.01806) < 1e-9);
    assert_float_equal(log.ior.v[0].total_s, 0.02, 1e-9);
    assert_true(stack_op_median(&log, stack_find_function(fs, "PVFS_sys_lookup"), 2, 1, &took));
    assert_float_equal(took, 800e-6, 1e-7);
    assert_true(stack_op_median(&log, stack_find_function(fs, "MPI_File_write_at"), 2, 1, &took));
    assert_float_equal(log.state.v[0].between_us, 7, 0.1);
    remove_run(dir);
    stack_log_fini(&log);
}

/* What a call takes itself is shared by its first and last state. */
static double own_us(const struct stack_log *log, const char *name)
{
    uint16_t at = stack_find_state(fs, name, strlen(name));

    assert_int_not_equal(at, STACK_NONE);
    for (size_t i = 0; i < log->state.n; i++)
        if (log->state.v[i].state == at)
            return log->state.v[i].exec_us;
    return NAN;
}

static void of_calls_inside_calls_each_has_its_own_time(void **state)
{
    char dir[] = "/tmp/weir-logs-XXXXXX";
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    write_run(dir, NULL);
    assert_true(stack_log_add(&log, dir, NULL, &err));
    assert_float_equal(own_us(&log, "MPI_File_open:enter"), 25, 0.5);
    assert_float_equal(own_us(&log, "ADIO_Open:leave"), 25, 0.5);
    assert_float_equal(own_us(&log, "ADIOI_PVFS2_Open:leave"), 100, 0.5);
    assert_float_equal(own_us(&log, "MPI_File_write_at:enter"), 20, 0.5);
    remove_run(dir);
    stack_log_fini(&log);
}

static void without_meta_and_calls_iors_output_is_enough(void **state)
{
    static const struct file gone[] = {{"meta.json", NULL}, {"adio.0", NULL}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char dir[] = "/tmp/weir-logs-XXXXXX";
        struct stack_log log = {.fs = fs};
        struct wr_err err = {0};

        assert_non_null(mkdtemp(dir));
        write_run(dir, &gone[i]);
        if (!stack_log_add(&log, dir, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(log.test.v[0].clients, 1);
        assert_int_equal(log.test.v[0].servers, 1);
        /* MPI-IO's calls stand for ADIO's */
        assert_true(fabs(log.io.v[0].seconds - (i ? 0.0181 : 0.01806)) < 1e-9);
        remove_run(dir);
        stack_log_fini(&log);
    }
}

static void what_does_not_fit_together_is_refused(void **state)
{
    static const struct {
        struct file file;
        const char *says;
    } cases[] = {
        {{"meta.json", "{\"nservers\": 1, \"nprocs\": 2, \"ior\": \"ior -b 8m -t 8m -F\"}"},
         "these are different runs"},
        {{"meta.json", "{\"nservers\": 1, \"nprocs\": 1, \"ior\": \"ior -b 9m -t 9m -F\"}"},
         "these are different runs"},
        {{"meta.json", "{\"nservers\": 1,"}, "meta.json:1:"},
        {{"meta.json", "{\"nservers\": 0, \"nprocs\": 1}"}, "add them"},
        {{"ior.out", "tasks : 1\nnothing\n"}, "no row of IOR's table"},
        {{"ior.out", "tasks : 1\naccess  bw\nwrite 400 56 0.018 8192 8192 0.1 0.2 0.1 0.51 0\n"},
         "ior.out:3: bandwidth times time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[] = "/tmp/weir-logs-XXXXXX";
        struct stack_log log = {.fs = fs};
        struct wr_err err = {0};

        assert_non_null(mkdtemp(dir));
        write_run(dir, &cases[i].file);
        if (stack_log_add(&log, dir, NULL, &err) || !strstr(err.text, cases[i].says))
            fail_msg("case %zu: %s", i, err.text);
        remove_run(dir);
        stack_log_fini(&log);
    }
}

static void a_server_beyond_the_runs_last_is_of_another_run(void **state)
{
    char dir[] = "/tmp/weir-logs-XXXXXX", path[200];
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    write_run(dir, NULL);
    snprintf(path, sizeof path, "%s/server.3.log", dir);
    fclose(fopen(path, "w"));
    assert_false(stack_log_add(&log, dir, NULL, &err));
    assert_non_null(strstr(err.text, "server.3.log is of server 3, but the run has 1"));
    remove_run(dir);
    stack_log_fini(&log);
}

static void faults_have_a_place(void **state)
{
    static const struct {
        struct file file;
        const char *says;
        uint64_t cut, jumps;
    } cases[] = {
        {{"client.0.log", "[D 19:27:43.100100] [SM Entering]: (0x10) client_io_sm:in"},
         "client.0.log:1:58: the log stops in the middle of a line",
         1,
         0},
        {{"client.0.log", "[D 19:27:43.1] x\n[D 19:27:43.2] [SM Exiting]: (0x10) client_io_sm:init "
                          "(error c\n"},
         "client.0.log:2:",
         1,
         0},
        {{"server.0.log", "[D 19:27:43.299] x\n[D 19:27:43.298] y\n[D 19:27:43.1] z\n"},
         "server.0.log:3:4: the clock jumps back",
         0,
         1},
        {{"server.0.log",
          "[D 19:27:43.1] [SM Entering]: (0x10) remove_work_sm:remove_dspace (status: 0)\n"
          "[D 20:27:43.1] [SM Exiting]: (0x10) remove_work_sm:remove_dspace (error code: 0), "
          "(action: SUCCESS)\n"},
         "server.0.log:2:4: the clock jumps ahead",
         0,
         1},
        /* no state was open meanwhile: the server was idle */
        {{"server.0.log", "[D 19:27:43.1] x\n[D 20:27:43.1] y\n"}, "", 0, 0},
        {{"adio.0", "1794767263.1 0.1 AD_PVFS ADIOI_PVFS2_Op"}, "adio.0:1:", 1, 0},
        {{"mpi.0", "1794767263.1 -0.1 MPI-IO MPI_File_open 0\n"}, "mpi.0:1:1: a call", 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[] = "/tmp/weir-logs-XXXXXX";
        struct stack_log log = {.fs = fs};
        struct wr_err err = {0};

        assert_non_null(mkdtemp(dir));
        write_run(dir, &cases[i].file);
        if (!stack_log_add(&log, dir, NULL, &err))
            fail_msg("case %zu: %s", i, err.text);
        if (!strstr(log.fault, cases[i].says) || log.cut != cases[i].cut ||
            log.jumps != cases[i].jumps)
            fail_msg("case %zu: %s", i, log.fault);
        remove_run(dir);
        stack_log_fini(&log);
    }
}

/* Three processes write; each begins later than the one before and ends with it. The timing model
 * says so, and in a simulated test they begin as far apart. */
static void processes_that_begin_apart_are_seen_to_share_a_link(void **state)
{
    static const char *const calls[] = {
        "100.000 1.000 AD_PVFS ADIOI_PVFS2_WriteContig 8388608\n",
        "100.050 0.950 AD_PVFS ADIOI_PVFS2_WriteContig 8388608\n",
        "100.100 0.900 AD_PVFS ADIOI_PVFS2_WriteContig 8388608\n",
    };
    struct stack_log log = {.fs = fs};

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        char *text = strdup(calls[i]);

        stack_log_calls(&log, "adio", text, i, 1);
        free(text);
    }
    stack_log_nest(&log, 1);
    assert_int_equal(log.stagger.n, 1);
    assert_float_equal(log.stagger.v[0].seconds, 0.1, 1e-6);
    assert_int_equal(log.start_slope.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_float_equal(log.start_slope.v[i].slope, -1, 1e-6);
    assert_int_equal(log.start.n, 0);
    stack_log_fini(&log);
}

static void in_a_test_processes_begin_as_far_apart_as_the_timings_say(void **state)
{
    static const char head[] = "title: apart\nat: {stagger_write: 40 ms}\nstates: {}\n";
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct stack_log apart, barred;

    (void)state;
    assert_true(stack_timings_open_text(&timings, fs, "apart", head, sizeof head - 1, &err));
    assert_true(stack_replay(&apart, fs, timings, 1, 5, 1 << 20, &err));
    timings->stagger_ns[1] = 0;
    assert_true(stack_replay(&barred, fs, timings, 1, 5, 1 << 20, &err));
    double by = apart.ior.v[0].wrrd_s - barred.ior.v[0].wrrd_s;

    assert_true(by > 0.02 && by <= 0.04);
    assert_true(fabs(apart.ior.v[1].wrrd_s - barred.ior.v[1].wrrd_s) < 0.02); /* reads: not */
    stack_log_fini(&apart);
    stack_log_fini(&barred);
    stack_timings_close(timings);
}

#define HEAD "run,file_size,function,start,duration,node,exec_or_bytes\r\n"

/* What runs.csv says of the runs of the tables below. */
static const char runs_text[] = "run,nservers,nprocs,ior_cmd\n"
                                "F_S1P1_r0,1,1,ior -a MPIIO -b 8m -t 8m -F\n"
                                "F_S1P1_r1,1,1,ior -a MPIIO -b 8m -t 8m -F\n"
                                "A_S1P1_r0,1,1,ior -a MPIIO -b 8m -t 8m -F\n"
                                "A_S1P1_r1,1,1,ior -a MPIIO -b 8m -t 8m -F\n"
                                "F_long,1,1,ior -a MPIIO -b 16m -t 16m -F\n"
                                "A_short,1,1,ior -a MPIIO -b 4k -t 4k -F\n"
                                "D_one_file,2,2,ior -a MPIIO -b 16m -t 4m\n"
                                "D_shared_no,2,2,ior -a MPIIO -b 16m -t 1m -F\n";

static bool table_of(struct stack_log *log, const char *text, struct wr_err *err)
{
    char *copy = strdup(text), *runs = strdup(runs_text);
    bool ok = (log->listed.n || stack_log_runs(log, "runs.csv", runs, err)) &&
              stack_log_table(log, "functions.csv", copy, NULL, err);

    free(copy);
    free(runs);
    return ok;
}

/* A write and then a read, as logs of states have them: they look alike. */
#define VISIT(s_, us_, of_, action_)                                                      \
    "[D 10:00:0" #s_ ".000100] [SM Entering]: (0x10) " of_ " (status: 0)\n[D 10:00:0" #s_ \
    ".0" #us_ "] [SM Exiting]: (0x10) " of_ " (error code: 0), (action: " action_ ")\n"

static void calls_distinguish_reads_and_writes_of_states(void **state)
{
    static const char client[] = VISIT(1, 00130, "client_io_sm:io_cleanup", "TERMINATE")
        VISIT(5, 00170, "client_io_sm:io_cleanup", "TERMINATE");
    static const char server[] = VISIT(1, 00180, "io_sm:send_completion_ack", "COMPLETE")
        VISIT(1, 00105, "io_sm:cleanup", "TERMINATE")
            VISIT(5, 00140, "io_sm:send_completion_ack", "COMPLETE")
                VISIT(5, 00105, "io_sm:cleanup", "TERMINATE")
                    VISIT(9, 00110, "io_sm:send_completion_ack", "COMPLETE");
    /* an hour east of the logs' clock */
    static const char calls[] = "1794740400.9 0.5 AD_PVFS ADIOI_PVFS2_WriteContig 8388608\n"
                                "1794740404.9 0.5 AD_PVFS ADIOI_PVFS2_ReadContig 8388608\n";
    static const int io[] = {1, 0, 1, 1, 0, 0, 2};
    struct stack_log log = {.fs = fs};
    char *text[] = {strdup(client), strdup(server), strdup(calls)};
    size_t n = 0;

    (void)state;
    stack_log_text(&log, "client", text[0], sizeof client - 1, false, 0, 1, NULL);
    stack_log_text(&log, "server", text[1], sizeof server - 1, true, 0, 1, NULL);
    stack_log_calls(&log, "adio", text[2], 0, 1);
    stack_log_nest(&log, 1);
    for (size_t i = 0; i < log.state.n; i++)
        if (fs->machine.v[fs->state.v[log.state.v[i].state].machine].kind == STACK_MACHINE) {
            assert_in_range(n, 0, 6);
            assert_int_equal(log.state.v[i].io, io[n]);
            n++;
        }
    assert_int_equal(n, 7);
    n = 0;
    for (size_t i = 0; i < log.op.n; i++)
        n += !strcmp(fs->machine.v[log.op.v[i].function].function, "serve_IO") &&
             log.op.v[i].io == (n == 0);
    assert_int_equal(n, 2);
    assert_int_equal(log.moving.n, 0);
    stack_log_fini(&log);
    for (int i = 0; i < 3; i++)
        free(text[i]);
}

/* A process mounts once: a log in which it does so twice is of two. */
static void a_log_of_two_processes_is_of_two_runs(void **state)
{
    static const char one[] = VISIT(1, 00130, "fs_add_sm:final_cleanup", "TERMINATE")
        VISIT(5, 00170, "client_io_sm:io_cleanup", "TERMINATE");
    static const char two[] = VISIT(1, 00130, "fs_add_sm:final_cleanup", "TERMINATE")
        VISIT(5, 00170, "fs_add_sm:final_cleanup", "TERMINATE");
    const struct {
        const char *text;
        bool server, fits;
    } cases[] = {{one, false, true}, {two, false, false}, {two, true, true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stack_log log = {.fs = fs};
        struct wr_err err = {0};
        char *text = strdup(cases[i].text);

        assert_int_equal(
            stack_log_text(&log, "log", text, strlen(text), cases[i].server, 0, 1, &err),
            cases[i].fits);
        if (!cases[i].fits)
            assert_string_equal(err.text,
                                "log:4:1: a process mounts the file system a second time: logs of "
                                "different runs are mixed; keep each in a directory of its own");
        stack_log_fini(&log);
        free(text);
    }
}

/* What a table of functions has of states counts where no table of states has the run. */
static void states_among_functions_are_taken_once(void **state)
{
    static const char functions[] = "run,file_size,side,function,duration,kind,io,exec_or_bytes\n"
                                    "F_S1P1_r0,8,server,io_send_ack,0.000050,state,read,0.000020\n"
                                    "F_S1P1_r1,8,server,io_send_ack,0.000090,state,read,0.000030\n"
                                    "F_S1P1_r1,8,server,io_send_ack,0.000090,state,write,0.000070\n"
                                    "F_S1P1_r1,8,server,io_nothing,0.000090,state,write,0.000070\n";
    static const char states[] =
        "run,file_size,side,state,exec,wait,action,io\n"
        "F_S1P1_r0,8,server,io_sm:send_positive_ack,0.000020,0,COMPLETE,read\n";
    uint16_t ack = stack_find_state_function(fs, "io_send_ack");

    (void)state;
    assert_int_equal(stack_find_state_function(fs, "io_nothing"), STACK_NONE);
    for (int turn = 0; turn < 2; turn++) {
        struct stack_log log = {.fs = fs};
        struct wr_err err = {0};

        assert_true(table_of(&log, turn ? functions : states, &err));
        assert_true(table_of(&log, turn ? states : functions, &err));
        assert_int_equal(log.unknown, 1);
        stack_log_drop_duplicates(&log);
        assert_int_equal(log.state.n, 3);
        float sum[3] = {0};

        for (size_t i = 0; i < log.state.n; i++) {
            assert_int_equal(log.state.v[i].state, ack);
            sum[log.state.v[i].io] += log.state.v[i].exec_us;
        }
        assert_float_equal(sum[0], 50, 1e-3);
        assert_float_equal(sum[1], 70, 1e-3);
        stack_log_fini(&log);
    }
}

/* One server, each size once; a request of a read is acknowledged in 20 us, of a write in 80. */
static void reads_and_writes_have_timings_of_their_own(void **state)
{
    struct stack_log log = {.fs = fs};
    uint16_t ack = stack_find_state_function(fs, "io_send_ack");
    uint16_t setup = stack_find_state(fs, "prelude_sm:setup", strlen("prelude_sm:setup"));
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct wr_str text = {0};

    (void)state;
    for (uint64_t b = 1; b <= 4; b *= 2)
        for (uint8_t w = 0; w < 2; w++) {
            uint16_t test = test_of(&log, 1, 1, b << 20);

            wr_vec_push(&log.io, (struct stack_io_sample){w, test, (double)b, b << 20, 0});
            wr_vec_push(&log.state, (struct stack_sample){.state = ack,
                                                          .server = true,
                                                          .io = w,
                                                          .test = test,
                                                          .exec_us = w ? 80 : 20,
                                                          .wait_us = -1,
                                                          .between_us = -1});
            wr_vec_push(&log.state, (struct stack_sample){.state = setup,
                                                          .server = true,
                                                          .io = w,
                                                          .test = test,
                                                          .exec_us = w ? 3 : 1,
                                                          .wait_us = -1,
                                                          .between_us = -1});
        }
    assert_true(stack_calibrate(&text, NULL, &log, NULL, "two ways", STACK_SEE_SWITCHED, &err));
    assert_true(stack_timings_open_text(&timings, fs, "the timing models", text.s, text.n, &err));
    for (int w = 0; w < 2; w++) {
        assert_float_equal(timings->exec[w][ack].constant_ns, (w ? 80e3 : 20e3), 1);
        /* what all requests go through is the same for all */
        assert_float_equal(timings->exec[w][setup].constant_ns, 2e3, 1);
    }
    stack_timings_close(timings);
    wr_str_fini(&text);
    stack_log_fini(&log);
}

/* The code that a removal leaves with says what was removed. */
static void removals_of_data_files_are_recognised_by_their_code(void **state)
{
    static const char text[] =
        "[D 10:00:01.000000] [SM Entering]: (0x10) remove_work_sm:remove_dspace (status: 0)\n"
        "[D 10:00:01.000010] [SM Exiting]: (0x10) remove_work_sm:remove_dspace (error code: 2), "
        "(action: DEFERRED)\n"
        "[D 10:00:01.000020] [SM Entering]: (0x10) remove_work_sm:remove_dspace (status: 0)\n"
        "[D 10:00:01.000030] [SM Exiting]: (0x10) remove_work_sm:remove_dspace (error code: 0), "
        "(action: DEFERRED)\n";
    static const char table[] =
        "run,file_size,side,state,exec,wait,action,error_code\n"
        "F_S1P1_r0,8,server,remove_work_sm:remove_dspace,0.000020,0.1,DEFERRED,2\n"
        "F_S1P1_r0,8,server,remove_work_sm:remove_dspace,0.000020,0.1,DEFERRED,0\n";
    char *copy = strdup(text);
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};

    (void)state;
    stack_log_text(&log, "log", copy, strlen(copy), true, 0, 1, NULL);
    assert_true(table_of(&log, table, &err));
    assert_int_equal(log.state.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(log.state.v[i].io, i % 2 == 0);
    stack_log_fini(&log);
    free(copy);
}

static double removal_s(const struct stack_timings *timings, uint32_t servers, uint64_t bytes)
{
    struct wr_err err = {0};
    struct stack_log run;
    double took;

    assert_true(stack_replay(&run, fs, timings, servers, 1, bytes, &err));
    assert_true(stack_op_median(&run, stack_find_function(fs, "PVFS_sys_remove"), 2, 1, &took));
    stack_log_fini(&run);
    return took;
}

/* Ten seconds a MiB that a data file has, one for its metadata. Over four servers a data file has a
 * quarter of the file, and all are removed at the same time. */
static void longer_files_take_longer_to_remove(void **state)
{
    static const char text[] =
        "title: removals\nstates:\n"
        "  remove_work_sm:remove_dspace/meta: {wait: 1 s}\n"
        "  remove_work_sm:remove_dspace/data: {wait_per_byte: 9536743.1640625}\n";
    static const char wrong[] = "title: no\nstates: {client_io_sm:init/data: {exec: 1 us}}\n";
    struct wr_err err = {0};
    struct stack_timings *timings;

    (void)state;
    assert_true(stack_timings_open_text(&timings, fs, "removals", text, sizeof text - 1, &err));
    assert_float_equal(removal_s(timings, 1, 1 << 20), 11, 0.1);
    assert_float_equal(removal_s(timings, 1, 8 << 20), 81, 0.1);
    assert_float_equal(removal_s(timings, 4, 8 << 20), 21, 0.1);
    stack_timings_close(timings);
    assert_false(stack_timings_open_text(&timings, fs, "no", wrong, sizeof wrong - 1, &err));
    assert_non_null(strstr(err.text, "knows no data files"));
}

/* Data files of three sizes: their removal grows, that of the metadata does not. */
static void a_timing_of_removals_is_found_in_logs(void **state)
{
    struct stack_log log = {.fs = fs};
    static const char name[] = "remove_work_sm:remove_dspace";
    uint16_t at = stack_find_state(fs, name, sizeof name - 1);
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct wr_str text = {0};

    (void)state;
    for (uint64_t b = 1; b <= 64; b *= 4)
        for (uint8_t io = 0; io < 2; io++) {
            uint16_t test = test_of(&log, 1, 1, b << 20);

            wr_vec_push(&log.io, (struct stack_io_sample){io, test, (double)b, b << 20, 0});
            wr_vec_push(&log.state, (struct stack_sample){.state = at,
                                                          .server = true,
                                                          .io = io,
                                                          .test = test,
                                                          .exec_us = 5,
                                                          .wait_us = io ? 100 * (float)b : 40,
                                                          .between_us = -1});
        }
    assert_true(stack_calibrate(&text, NULL, &log, NULL, "removals", STACK_SEE_SWITCHED, &err));
    assert_true(stack_timings_open_text(&timings, fs, "the timing models", text.s, text.n, &err));
    assert_float_equal(timings->wait[0][at].constant_ns, 40e3, 1);
    assert_true(timings->wait[0][at].per_byte_ns == 0);
    assert_true(fabs(timings->wait[1][at].per_byte_ns * (1 << 20) / 100e3 - 1) < 0.01);
    stack_timings_close(timings);
    wr_str_fini(&text);
    stack_log_fini(&log);
}

static void samples_know_their_run(void **state)
{
    static const char functions[] = "run,file_size,side,function,duration,kind,io,exec_or_bytes\n"
                                    "F_S1P1_r0,8,client,PVFS_sys_create,0.001,op,,\n"
                                    "F_S1P1_r1,8,client,PVFS_sys_create,0.002,op,,\n"
                                    "F_S1P1_r1,8,client,ADIOI_PVFS2_WriteContig,1,call,,8\n";
    static const char states[] = "run,file_size,side,state,exec,wait,action,io\n"
                                 "F_S1P1_r1,8,client,client_io_sm:init,0.000020,0,COMPLETE,read\n";
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};

    (void)state;
    assert_true(table_of(&log, functions, &err));
    assert_true(table_of(&log, states, &err));
    assert_int_equal(log.op.v[0].run, 1);
    assert_int_equal(log.op.v[1].run, 2);
    assert_int_equal(log.io.v[0].run, 2);
    assert_int_equal(log.state.v[log.state.n - 1].run, 2);
    stack_log_fini(&log);
}

static void runs_of_another_network_are_noticed(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {HEAD "A_S1P1_r0,8388608,ADIOI_PVFS2_WriteContig,1,0.05,0,8388608\n"
              "F_S1P1_r0,8388608,ADIOI_PVFS2_WriteContig,1,0.55,0,8388608\n",
         "11 times as long in F_S1P1_r0 as in A_S1P1_r0"},
        {HEAD "A_S1P1_r0,8388608,ADIOI_PVFS2_ReadContig,1,0.05,0,8388608\n"
              "F_long,16777216,ADIOI_PVFS2_ReadContig,1,1.1,0,16777216\n",
         "noisy"},
        /* a busy machine, and a small file, are not another network */
        {HEAD "A_S1P1_r0,8388608,ADIOI_PVFS2_WriteContig,1,0.05,0,8388608\n"
              "A_S1P1_r1,8388608,ADIOI_PVFS2_WriteContig,1,0.2,0,8388608\n",
         NULL},
        {HEAD "A_short,4096,ADIOI_PVFS2_WriteContig,1,0.05,0,4096\n"
              "A_S1P1_r1,8388608,ADIOI_PVFS2_WriteContig,1,0.2,0,8388608\n",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stack_log log = {.fs = fs};
        struct wr_err err = {0};

        if (!table_of(&log, cases[i].text, &err))
            fail_msg("%s", err.text);
        assert_int_equal(log.of.n, 2);
        bool ok = stack_log_together(&log, &err);

        if (ok != !cases[i].says || (!ok && !strstr(err.text, cases[i].says)))
            fail_msg("case %zu: %s", i, err.text);
        stack_log_fini(&log);
    }
}

/* The command of runs.csv is simulated, whatever the run is called. */
static void a_table_is_simulated_as_its_runs_were(void **state)
{
    struct stack_log log = {.fs = fs}, run;
    struct wr_err err = {0};
    struct stack_timings *timings;

    (void)state;
    if (!table_of(&log,
                  HEAD "D_one_file,16777216,ADIOI_PVFS2_WriteContig,1,0.05,0,4194304\n"
                       "D_one_file,16777216,ADIOI_PVFS2_WriteContig,2,0.05,0,4194304\n"
                       "D_shared_no,16777216,ADIOI_PVFS2_WriteContig,1,0.05,0,1048576\n",
                  &err))
        fail_msg("%s", err.text);
    size_t n;
    uint16_t *test = stack_log_tests(&log, &n);

    assert_int_equal(n, 2); /* of the same size, and not the same test */
    assert_string_equal(stack_test_at(&log, test[0])->ior, "ior -a MPIIO -b 16m -t 1m -F");
    assert_false(stack_test_at(&log, test[0])->shared);
    assert_string_equal(stack_test_at(&log, test[1])->ior, "ior -a MPIIO -b 16m -t 4m");
    assert_true(stack_test_at(&log, test[1])->shared);
    assert_true(stack_timings_open(&timings, fs, "default", &err));
    assert_true(stack_replay_log(&run, &log, timings, test[1], &err));
    assert_int_equal(run.io.n, 2 * 2 * 4); /* tasks, accesses, transfers */
    assert_int_equal(run.io.v[0].moved, 4 << 20);
    assert_int_equal(run.io.v[0].test, test[1]);
    stack_log_fini(&run);
    stack_timings_close(timings);
    free(test);
    assert_false(
        table_of(&log, HEAD "D_S2P2_r0,16777216,ADIOI_PVFS2_WriteContig,1,0.05,0,1048576\n", &err));
    assert_non_null(strstr(err.text, "put a runs.csv"));
    stack_log_fini(&log);
}

/* Without ADIO's rows MPI-IO's are the accesses; with them they are not counted twice. */
static void tables_without_adio_have_the_accesses_of_mpi(void **state)
{
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};

    (void)state;
    assert_true(table_of(&log,
                         HEAD "A_S1P1_r0,8388608,MPI_File_write_at_c,1,0.07,0,8388608\n"
                              "A_S1P1_r0,8388608,MPI_File_read_at_c,2,0.05,0,8388608\n"
                              "A_S1P1_r1,8388608,MPI_File_write_at_c,1,0.07,0,8388608\n"
                              "A_S1P1_r1,8388608,ADIOI_PVFS2_WriteContig,1,0.06,0,8388608\n",
                         &err));
    assert_int_equal(log.io.n, 3);
    assert_float_equal(log.io.v[0].seconds, 0.07, 1e-9);
    assert_float_equal(log.io.v[1].seconds, 0.05, 1e-9);
    assert_float_equal(log.io.v[2].seconds, 0.06, 1e-9);
    assert_int_equal(log.io.v[2].run, 2);
    /* what is MPI-IO's own is known where something below was written down, and only there */
    assert_float_equal(own_us(&log, "MPI_File_write_at:enter"), 5000, 1);
    assert_true(isnan(own_us(&log, "MPI_File_read_at:enter")));
    assert_true(isnan(own_us(&log, "ADIOI_PVFS2_WriteContig:enter")));
    stack_log_fini(&log);
}

/* --- calibrating finds the timing models again ----------------------------------------------- */

static void add_run_of(struct stack_log *to, const struct stack_timings *timings, uint32_t servers,
                       uint32_t clients, uint64_t bytes)
{
    struct wr_err err = {0};
    struct stack_log run;
    uint16_t test = test_of(to, servers, clients, bytes);

    if (!stack_replay_log(&run, to, timings, test, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < run.state.n; i++)
        wr_vec_push(&to->state, run.state.v[i]);
    for (size_t i = 0; i < run.io.n; i++)
        wr_vec_push(&to->io, run.io.v[i]);
    for (size_t i = 0; i < run.op.n; i++)
        wr_vec_push(&to->op, run.op.v[i]);
    for (int w = 0; w < 2; w++)
        wr_vec_push(&to->stagger, (struct stack_stagger){w, test, timings->stagger_ns[w] * 1e-9});
    wr_vec_push(&to->run, test);
    stack_log_fini(&run);
}

static void add_run(struct stack_log *to, const struct stack_timings *timings, uint64_t bytes)
{
    add_run_of(to, timings, 5, 5, bytes);
}

/* Timing models as the log shows them, all on one link. */
static struct stack_timings *timings_of(const struct stack_log *log,
                                        const struct stack_timings *base)
{
    struct stack_timings *timings = NULL;
    struct wr_str text = {0};
    struct wr_err err = {0};

    if (!stack_calibrate(&text, NULL, log, base, "again", STACK_SEE_SHARED, &err) ||
        !stack_timings_open_text(&timings, fs, "again", text.s, text.n, &err))
        fail_msg("%s", err.text);
    wr_str_fini(&text);
    return timings;
}

/* A byte of a flow takes the same in calls of all sizes. */
static void straighten(struct stack_timings *timings)
{
    for (size_t i = 0; i < 2 * fs->state.n; i++) {
        struct stack_timing *l = &timings->wait[i % 2][i / 2];

        if (!l->pieces)
            continue;
        l->per_byte_ns = l->piece_ns[l->pieces - 1] / l->piece_b[l->pieces - 1];
        l->pieces = 0;
    }
}

/* A simulated run is a log like any other: timing models taken from three of its sizes predict the
 * fourth. The base timing models are others, so nothing is known beforehand. */
static void a_size_left_out_is_predicted_by_the_others(void **state)
{
    static const uint64_t sizes[] = {8 << 20, 64 << 20, 205 << 20, 410 << 20};
    struct wr_err err = {0};
    struct stack_timings *truth, *base;
    struct stack_log all = {.fs = fs};

    (void)state;
    assert_true(stack_timings_open(&truth, fs, "ethernet", &err));
    assert_true(stack_timings_open(&base, fs, "loopback", &err));
    straighten(truth);
    truth->apart[0] = truth->apart[1] = 0;
    truth->buffer_part = 0.5; /* which only short flows show; else it is taken to be that */
    for (size_t i = 0; i < 4; i++)
        add_run(&all, truth, sizes[i]);
    for (size_t i = 0; i < 4; i++) {
        struct stack_log rest, predicted;
        bool out[5] = {false};
        uint16_t test = test_of(&all, 5, 5, sizes[i]);

        out[test] = true;
        stack_log_without(&rest, &all, out);
        assert_int_equal(rest.run.n, 3);
        struct stack_timings *timings = timings_of(&rest, base);

        if (!stack_replay(&predicted, fs, timings, 5, 5, sizes[i], &err))
            fail_msg("%s", err.text);
        assert_true(timings->io.low > 0.5 && timings->io.low < 1 && timings->io.high < 2);
        assert_true(timings->band[2][stack_find_function(fs, "PVFS_sys_lookup")].high > 0);
        /* those that queue for the directory depend on who comes when, most of all the last */
        uint16_t last = stack_find_function(fs, "serve_RMDIRENT");

        for (uint16_t m = 0; m < fs->machine.n; m++)
            for (uint8_t io = 0; io < 3; io++) {
                double is, was, slack = io < 2 ? 0.02 : m == last ? 0.5 : 0.3;

                if (stack_op_median(&all, m, io, test, &was) &&
                    stack_op_median(&predicted, m, io, 1, &is) && was > 1e-5 &&
                    fabs(is / was - 1) > slack)
                    fail_msg("%s at %llu: %g, not %g", fs->machine.v[m].function,
                             (unsigned long long)sizes[i], is, was);
            }
        stack_log_fini(&predicted);
        stack_log_fini(&rest);
        stack_timings_close(timings);
    }
    stack_log_fini(&all);
    stack_timings_close(truth);
    stack_timings_close(base);
}

/* --- several tests at once ------------------------------------------------------------ */

/* Flows of a third of a millisecond and two nanoseconds a byte, on one medium or on a link each. */
static struct stack_timings *truth_on(const char *medium)
{
    struct wr_err err = {0};
    struct stack_timings *truth;
    char text[500];

    snprintf(
        text, sizeof text,
        "title: truth\nsource: made up\nat: {alone: true, servers: 5, clients: 5, medium: %s}\n"
        "link: {latency: 100 us, bandwidth: 500 MB/s}\nstates:\n"
        "  io_sm:start_flow/read: {exec: 20 us, wait: 300 us, wait_sizes: [64e6], "
        "wait_times: [128e3]}\n"
        "  io_sm:start_flow/write: {exec: 10 us, wait: 400 us, wait_sizes: [64e6], "
        "wait_times: [128e3]}\n",
        medium);
    if (!stack_timings_open_text(&truth, fs, "truth", text, strlen(text), &err))
        fail_msg("%s", err.text);
    return truth;
}

/* Sizes, servers and processes that no test had are predicted, and the medium is found: by what
 * tests left out show of it. */
static void tests_of_several_set_ups_are_fitted_together(void **state)
{
    static const struct {
        uint32_t servers, clients;
        uint64_t bytes;
    } seen[] = {{1, 1, 65536},    {5, 1, 1 << 18},  {1, 1, 8 << 20}, {5, 5, 65536},
                {5, 5, 8 << 20},  {5, 5, 64 << 20}, {2, 4, 8 << 20}, {1, 4, 8 << 20},
                {1, 4, 64 << 20}, {2, 1, 64 << 20}},
      asked[] = {{3, 3, 16 << 20}, {4, 2, 32 << 20}, {1, 3, 1 << 20}, {2, 5, 1 << 18}};

    (void)state;
    for (int m = 0; m < 2; m++) {
        struct stack_timings *truth = truth_on(m ? "shared" : "switched"), *timings = NULL;
        struct stack_log log = {.fs = fs};
        struct wr_str text = {0}, report = {0};
        struct wr_err err = {0};

        for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
            add_run_of(&log, truth, seen[i].servers, seen[i].clients, seen[i].bytes);
        if (!stack_calibrate(&text, &report, &log, NULL, "found", STACK_SEE_ITSELF, &err) ||
            !stack_timings_open_text(&timings, fs, "found", text.s, text.n, &err))
            fail_msg("%s", err.text);
        assert_int_equal(timings->medium, m ? STACK_SHARED : STACK_SWITCHED);
        assert_non_null(strstr(report.s, m ? "medium: shared, " : "medium: switched, "));
        assert_non_null(strstr(report.s, "other numbers of servers and processes: left out in"));
        assert_int_equal(timings->servers_from, 1);
        assert_int_equal(timings->servers, 5);
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
            for (int w = 0; w < 2; w++) {
                struct stack_log is, predicted;
                double a = 0, b = 0;

                assert_true(stack_replay(&is, fs, truth, asked[i].servers, asked[i].clients,
                                         asked[i].bytes, &err));
                assert_true(stack_replay(&predicted, fs, timings, asked[i].servers,
                                         asked[i].clients, asked[i].bytes, &err));
                assert_true(stack_io_median(&is, w, 1, &a) &&
                            stack_io_median(&predicted, w, 1, &b));
                if (fabs(b / a - 1) > 0.1)
                    fail_msg("%s, case %zu, %s: %g, not %g", m ? "shared" : "switched", i,
                             w ? "write" : "read", b, a);
                stack_log_fini(&is);
                stack_log_fini(&predicted);
            }
        wr_str_fini(&text);
        wr_str_fini(&report);
        stack_log_fini(&log);
        stack_timings_close(timings);
        stack_timings_close(truth);
    }
}

/* What was not among the tests has a reason, and what was has none. */
static void what_models_were_not_fitted_on_is_extrapolated(void **state)
{
    static const char text[] =
        "title: range\nsource: measured\nat: {servers_from: 2, servers: 4, clients_from: 1, "
        "clients: "
        "8, from: 64 KiB, to: 8 MiB, process_from: 1 MiB, process_to: 64 MiB, patterns: [own, "
        "random]}\nstates: {}\n";
    static const struct stack_requested inside = {3,     8,    1 << 20, 8 << 20,
                                                  false, true, false,   false};
    static const struct {
        struct stack_requested asked;
        const char *says;
    } cases[] = {
        {{3, 8, 16 << 10, 8 << 20, false, false, false, false},
         "16 KiB of a call, fitted on 64 KiB"},
        {{3, 8, 8 << 20, 65 << 20, false, false, false, false}, "65 MiB of a process, fitted on 1"},
        {{1, 8, 1 << 20, 8 << 20, false, false, false, false}, "1 servers, fitted on 2 to 4"},
        {{3, 9, 1 << 20, 8 << 20, false, false, false, false}, "9 processes, fitted on 1 to 8"},
        {{3, 8, 1 << 20, 8 << 20, true, false, false, false}, "one file for all, not among"},
        {{3, 8, 1 << 20, 8 << 20, false, false, true, false}, "collective calls, not among"},
        {{3, 8, 1 << 20, 8 << 20, false, false, false, true}, "a fabric instead of the medium"},
        {{7, 9, 1 << 20, 8 << 20, false, false, false, false}, "4; 9 processes"},
    };
    struct stack_timings *timings;
    struct wr_err err = {0};
    struct wr_str why = {0};

    (void)state;
    assert_true(stack_timings_open_text(&timings, fs, "range", text, sizeof text - 1, &err));
    assert_false(stack_timings_beyond(timings, &inside, &why));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        why.n = 0;
        assert_true(stack_timings_beyond(timings, &cases[i].asked, &why));
        if (!strstr(why.s, cases[i].says))
            fail_msg("case %zu: %s", i, why.s);
    }
    wr_str_fini(&why);
    stack_timings_close(timings);
    /* nothing is fitted on what is assumed */
    assert_true(stack_timings_open(&timings, fs, "default", &err));
    assert_false(stack_timings_beyond(timings, &cases[0].asked, &why));
    stack_timings_close(timings);
}

static double wrrd_of(const struct stack_timings *timings, uint32_t servers, uint32_t clients,
                      uint64_t bytes)
{
    struct stack_log run;
    struct wr_err err = {0};

    if (!stack_replay(&run, fs, timings, servers, clients, bytes, &err))
        fail_msg("%s", err.text);
    double s = run.ior.v[0].wrrd_s;

    stack_log_fini(&run);
    return s;
}

/* As many servers as clients, each with its link and disk: all take hardly longer than one. Beyond
 * the page cache the disk decides. */
static void servers_of_the_assumed_cluster_scale(void **state)
{
    struct stack_timings *timings;
    struct wr_err err = {0};

    (void)state;
    assert_true(stack_timings_open(&timings, fs, "default", &err));
    double one = wrrd_of(timings, 1, 1, 205 << 20), many = wrrd_of(timings, 20, 20, 205 << 20);

    assert_true(many < one);
    assert_true(many > (205 << 20) * timings->ns_per_b * 1e-9);
    assert_true(wrrd_of(timings, 1, 20, 205 << 20) > 19 * one / 2);
    /* 2 GiB fit into the cache of a server, the other 4 are written at 200 MB/s */
    assert_true(fabs(wrrd_of(timings, 1, 3, 2ull << 30) - 4 * 1073741824.0 / 200e6) < 3);
    stack_timings_close(timings);
}

/* A pipe of one buffer at a time is never full by itself. */
static void a_lone_flow_waits_between_its_buffers(void **state)
{
    static const char text[] = "title: buffers\nat: {alone: true}\nlink: {latency: 0 s, bandwidth: "
                               "1048576 B/s, buffer_wait: 250 ms}\nstates: {}\n";
    struct stack_timings *timings;
    struct wr_err err = {0};

    (void)state;
    assert_true(stack_timings_open_text(&timings, fs, "buffers", text, sizeof text - 1, &err));
    assert_float_equal(wrrd_of(timings, 1, 1, 4 << 20), 4 + 16 * 0.25, 0.01);
    assert_float_equal(wrrd_of(timings, 1, 4, 4 << 20), 16, 0.01); /* others use the gaps */
    stack_timings_close(timings);
}

/* The flows of one write end one after another, and the write when it did without. */
static void flows_of_a_call_end_one_after_another(void **state)
{
    double first[2], last[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct stack_timings *timings;
        struct stack_log run;
        struct wr_err err = {0};
        char text[300];

        snprintf(text, sizeof text,
                 "title: apart\nat: {alone: true, medium: shared}\nlink: {latency: 0 s, bandwidth: "
                 "1048576 B/s, apart_write: %s}\nstates: {}\n",
                 k ? "0.25" : "0");
        assert_true(stack_timings_open_text(&timings, fs, "apart", text, strlen(text), &err));
        assert_true(stack_replay(&run, fs, timings, 5, 1, 10 << 20, &err));
        first[k] = INFINITY;
        last[k] = 0;
        for (size_t i = 0; i < run.state.n; i++) {
            const struct stack_sample *s = &run.state.v[i];

            if (s->io != 1 || fs->state.v[s->state].does != STACK_FLOW)
                continue;
            first[k] = fmin(first[k], s->took_us * 1e-6);
            last[k] = fmax(last[k], s->took_us * 1e-6);
        }
        stack_log_fini(&run);
        stack_timings_close(timings);
    }
    assert_float_equal(first[0], 10, 0.01);
    assert_float_equal(last[0], 10, 0.01);
    assert_float_equal(first[1], 10 / 1.25, 0.01);
    assert_float_equal(last[1], 10, 0.01);
}

/* A client works for each request for data, a server for each of the first eight buffers that it
 * reads. */
static void work_grows_with_requests_and_buffers(void **state)
{
    static const char text[] =
        "title: work\nstates:\n"
        "  client_io_sm:io_datafile_post_msgpairs: {exec_per_message: 1 ms}\n"
        "  io_sm:start_flow/read: {exec_per_byte: 1000}\n";
    static const struct {
        uint32_t servers;
        uint64_t bytes;
        double asks_us, fills_us;
    } cases[] = {{5, 5 << 20, 5000, 1048.576},
                 {1, 1 << 20, 1000, 1048.576},
                 {1, 64 << 20, 1000, 8 * 262.144}};
    struct stack_timings *timings;
    struct wr_err err = {0};

    (void)state;
    assert_true(stack_timings_open_text(&timings, fs, "work", text, sizeof text - 1, &err));
    for (size_t k = 0; k < 3; k++) {
        struct stack_log run;

        assert_true(stack_replay(&run, fs, timings, cases[k].servers, 1, cases[k].bytes, &err));
        for (size_t i = 0; i < run.state.n; i++) {
            const struct stack_sample *s = &run.state.v[i];
            const struct stack_state *of = &fs->state.v[s->state];

            if (s->io == 0 && of->does == STACK_FLOW)
                assert_true(fabs(s->exec_us - cases[k].fills_us) < 0.1);
            if (s->io == 0 && of->does == STACK_SEND && fs->machine.v[of->machine].moves)
                assert_true(fabs(s->exec_us - cases[k].asks_us) < 0.1);
        }
        stack_log_fini(&run);
    }
    stack_timings_close(timings);
}

static void pieces_that_cannot_be_are_refused_at_their_place(void **state)
{
    static const struct {
        const char *pieces, *says;
    } cases[] = {
        {"wait_sizes: [1, 2], wait_times: [1]", "2 wait_sizes and 1 wait_times"},
        {"wait_sizes: [2, 1], wait_times: [1, 2]", "wait_sizes grow"},
        {"wait_sizes: [1, 2], wait_times: [2, 1]", "wait_times do not fall"},
        {"wait_sizes: [0], wait_times: [1]", "wait_sizes grow"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stack_timings *timings;
        struct wr_err err = {0};
        char text[300];

        snprintf(text, sizeof text, "title: no\nstates:\n  io_sm:start_flow: {%s}\n",
                 cases[i].pieces);
        assert_false(stack_timings_open_text(&timings, fs, "no.yaml", text, strlen(text), &err));
        if (!strstr(err.text, cases[i].says) || !strstr(err.text, "no.yaml:3"))
            fail_msg("case %zu: %s", i, err.text);
    }
}

/* --- what sockets keep -------------------------------------------------------------- */

/* From the begin of the server's flow: when the server was done, and when the client. One of each,
 * a mebibyte a second. */
struct done {
    double server_s, client_s, io_s;
};

static struct done done_with(const char *link, uint64_t bytes, bool writes)
{
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct stack_log run;
    struct done ret = {0};
    double begin = 0;
    char text[256];

    snprintf(text, sizeof text,
             "title: sockets\nlink: {latency: 0 s, bandwidth: 1048576 B/s%s}\nstates: {}\n", link);
    if (!stack_timings_open_text(&timings, fs, "sockets", text, strlen(text), &err) ||
        !stack_replay(&run, fs, timings, 1, 1, bytes, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < run.state.n; i++) {
        const struct stack_sample *s = &run.state.v[i];

        if (s->io != writes)
            continue;
        if (fs->state.v[s->state].does == STACK_FLOW) {
            begin = s->t_s;
            ret.server_s = s->took_us * 1e-6;
        } else if (fs->state.v[s->state].receives_data && s->phase == 2) {
            ret.client_s = s->t_s;
        }
    }
    ret.client_s -= begin;
    assert_true(stack_io_median(&run, writes, 1, &ret.io_s));
    stack_log_fini(&run);
    stack_timings_close(timings);
    return ret;
}

static void who_sends_is_done_when_the_rest_is_in_the_sockets(void **state)
{
    static const uint64_t MiB = 1 << 20;

    (void)state;
    for (int w = 0; w < 2; w++) {
        const char *link = w ? ", buffer_write: 3 MiB" : ", buffer_read: 3 MiB";
        const char *other = w ? ", buffer_read: 3 MiB" : ", buffer_write: 3 MiB";
        struct done none = done_with("", 10 * MiB, w), kept = done_with(link, 10 * MiB, w);
        struct done same = done_with(other, 10 * MiB, w), half = done_with(link, 4 * MiB, w);
        struct done most = done_with(w ? ", buffer_write: 3 MiB, buffer_part: 0.25"
                                       : ", buffer_read: 3 MiB, buffer_part: 0.25",
                                     4 * MiB, w);
        double *sent = w ? &kept.client_s : &kept.server_s;
        double *had = w ? &kept.server_s : &kept.client_s;

        assert_float_equal(none.server_s, 10, 1e-3);
        assert_float_equal(none.client_s, 10, 1e-3);
        assert_float_equal(*sent, 7, 1e-3);
        assert_float_equal(*had, 10, 1e-3);
        assert_float_equal(kept.io_s, none.io_s, 1e-9); /* the whole takes as long */
        assert_float_equal(same.client_s, 10, 1e-3);
        assert_float_equal(same.server_s, 10, 1e-3);
        assert_float_equal((w ? half.client_s : half.server_s), 2, 1e-3);
        assert_float_equal((w ? most.client_s : most.server_s), 3, 1e-3);
    }
}

/* Many flows, the servers of which go on and end: nothing is lost or done twice, and no operation
 * ends at another time. */
static void what_is_under_way_changes_no_operation_of_a_client(void **state)
{
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct stack_log run[2];

    (void)state;
    assert_true(stack_timings_open(&timings, fs, "ethernet", &err));
    for (uint32_t clients = 1; clients < 60; clients = clients * 3 + 1)
        for (int medium = 0; medium < 2; medium++) {
            timings->medium = medium ? STACK_SHARED : STACK_SWITCHED;
            for (int i = 0; i < 2; i++) {
                timings->buffer_b[0] = timings->buffer_b[1] = i ? 2 << 20 : 0;
                assert_true(stack_replay(&run[i], fs, timings, 3, clients, 7 << 20, &err));
            }
            assert_int_equal(run[0].op.n, run[1].op.n);
            assert_int_equal(run[0].state.n, run[1].state.n);
            assert_int_equal(run[1].io.n, 2 * clients);
            for (size_t i = 0; i < run[1].io.n; i++)
                assert_true(fabs(run[1].io.v[i].seconds / run[0].io.v[i].seconds - 1) < 1e-3);
            for (int i = 0; i < 2; i++)
                stack_log_fini(&run[i]);
        }
    stack_timings_close(timings);
}

/* Runs that were made with buffers of known sizes; of short ones a part is under way. */
static void what_sockets_keep_is_found_in_logs(void **state)
{
    static const uint64_t sizes[] = {4 << 20, 64 << 20, 205 << 20};
    static const struct {
        double read, write, part;
    } cases[] = {{2e6, 6e5, 0.5}, {5e5, 2e6, 0.5}, {2e6, 2e6, 0.7}, {0, 0, 0.5}};
    struct wr_err err = {0};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct stack_timings *truth;
        struct stack_log all = {.fs = fs};

        assert_true(stack_timings_open(&truth, fs, "ethernet", &err));
        truth->buffer_b[0] = (uint64_t)cases[k].read;
        truth->buffer_b[1] = (uint64_t)cases[k].write;
        truth->buffer_part = cases[k].part;
        /* or the last is alone, and faster */
        truth->stagger_ns[0] = truth->stagger_ns[1] = 0;
        truth->apart[0] = truth->apart[1] = 0;
        truth->queue_ns[0] = truth->queue_ns[1] = 0;
        for (size_t i = 0; i < 3; i++)
            add_run(&all, truth, sizes[i]);
        struct stack_timings *timings = timings_of(&all, truth);

        assert_true(fabs((double)timings->buffer_b[0] - cases[k].read) <
                    0.05 * cases[k].read + 5e3);
        assert_true(fabs((double)timings->buffer_b[1] - cases[k].write) <
                    0.05 * cases[k].write + 5e3);
        assert_true(fabs(timings->buffer_part - cases[k].part) < 0.1);
        stack_log_fini(&all);
        stack_timings_close(timings);
        stack_timings_close(truth);
    }
}

/* --- what stands behind data ---------------------------------------------------------- */

/* How long each of two clients waits for the first answer to its request for data; the second asks
 * while the data of the first are on their way. */
static void asked(const char *medium, bool writes, double ret[2])
{
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct stack_log run;
    double t[2] = {0};
    char text[400];
    int n = 0;

    snprintf(text, sizeof text,
             "title: queues\nat: {medium: %s, stagger_read: 4 s, stagger_write: 4 s}\n"
             "link: {latency: 0 s, bandwidth: 1048576 B/s, queue_read: 1 s, queue_write: 100 ms}\n"
             "states: {}\n",
             medium);
    if (!stack_timings_open_text(&timings, fs, "queues", text, strlen(text), &err) ||
        !stack_replay(&run, fs, timings, 1, 2, 10 << 20, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < run.state.n; i++) {
        const struct stack_sample *s = &run.state.v[i];

        if (s->io != writes || s->server || fs->state.v[s->state].does != STACK_SEND ||
            !fs->machine.v[fs->state.v[s->state].machine].moves)
            continue;
        assert_true(n < 2);
        t[n] = s->t_s;
        ret[n++] = s->took_us * 1e-6;
    }
    assert_int_equal(n, 2);
    assert_true(t[1] > t[0] + 1);
    stack_log_fini(&run);
    stack_timings_close(timings);
}

/* On a link that all share a request waits and its answer; where each has one, the answer of the
 * server that sends or receives data. The first message does not wait. */
static void messages_wait_behind_data(void **state)
{
    (void)state;
    for (int w = 0; w < 2; w++) {
        double one = w ? 0.1 : 1, took[2];

        asked("shared", w, took);
        assert_float_equal(took[0], 0, 0.01);
        assert_float_equal(took[1], (one + one), 0.01);
        asked("switched", w, took);
        assert_float_equal(took[0], 0, 0.01);
        assert_float_equal(took[1], one, 0.01);
    }
}

static void how_long_messages_wait_is_found_in_logs(void **state)
{
    static const uint64_t sizes[] = {8 << 20, 64 << 20, 205 << 20};
    static const double cases[][2] = {{20e6, 4e6}, {3e6, 15e6}, {0, 0}};
    struct wr_err err = {0};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct stack_timings *truth;
        struct stack_log all = {.fs = fs};

        assert_true(stack_timings_open(&truth, fs, "ethernet", &err));
        for (int w = 0; w < 2; w++)
            truth->queue_ns[w] = cases[k][w];
        truth->queues = true;
        truth->apart[0] = truth->apart[1] = 0;
        truth->latency_ns = 2e5; /* little beside what is looked for: it is known to half of it */
        for (size_t i = 0; i < 3; i++)
            add_run(&all, truth, sizes[i]);
        struct stack_timings *timings = timings_of(&all, truth);

        for (int w = 0; w < 2; w++)
            assert_true(fabs(timings->queue_ns[w] - cases[k][w]) < 0.05 * cases[k][w] + 2e5);
        stack_log_fini(&all);
        stack_timings_close(timings);
        stack_timings_close(truth);
    }
}

/* When and what: from a log of states, and from both kinds of tables. */
static void samples_know_when_data_had_moved(void **state)
{
    static const char client[] =
        "[D 10:00:01.000000] [SM Entering]: (0x10) client_io_sm:io_datafile_complete_operations "
        "(status: 10)\n"
        "[D 10:00:01.000010] [SM Exiting]: (0x10) client_io_sm:io_datafile_complete_operations "
        "(error code: 0), (action: DEFERRED)\n"
        "[D 10:00:03.000000] [SM Entering]: (0x10) client_io_sm:io_datafile_complete_operations "
        "(status: 8)\n";
    static const char states[] =
        "run,file_size,side,state,start,exec,wait,action,user_tag\n"
        "F_S1P1_r0,8,client,client_io_sm:io_datafile_complete_operations,36001,0.5,1.5,DEFERRED,"
        "10\n";
    static const char functions[] =
        "run,file_size,side,function,start,duration,kind,io,extra,exec_or_bytes\n"
        "F_S1P1_r1,8,client,io_datafile_complete_operations,36001,2,state,read,10,0.00001\n";
    char *copy = strdup(client);
    struct stack_log log = {.fs = fs};
    struct wr_err err = {0};

    (void)state;
    assert_true(stack_log_text(&log, "log", copy, strlen(copy), false, 0, 1, &err));
    assert_true(table_of(&log, states, &err));
    assert_true(table_of(&log, functions, &err));
    assert_int_equal(log.state.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(log.state.v[i].phase, 2);
        assert_float_equal(log.state.v[i].t_s, 36001, 1e-6);
        assert_float_equal(log.state.v[i].took_us, 2e6, 1);
    }
    stack_log_fini(&log);
    free(copy);
}

static void impossible_buffers_and_queues_are_refused_at_their_place(void **state)
{
    static const struct {
        const char *link, *place;
    } cases[] = {
        {"buffer_part: 1.5", "bad.yaml:2:21"},   {"buffer_part: -0.1", "bad.yaml:2:21"},
        {"buffer_part: half", "bad.yaml:2:21"},  {"buffer_read: -1 B", "bad.yaml:2:21"},
        {"buffer_write: 1 us", "bad.yaml:2:22"}, {"buffer_read: 9e30 B", "bad.yaml:2:21"},
        {"buffers_read: 1 MiB", "bad.yaml:2:8"}, {"queue_read: 3 MB", "bad.yaml:2:20"},
        {"queue_write: -1 us", "bad.yaml:2:21"},
    };
    struct wr_err err = {0};
    struct stack_timings *timings;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];

        snprintf(text, sizeof text, "title: bad\nlink: {%s}\nstates: {}\n", cases[i].link);
        assert_false(stack_timings_open_text(&timings, fs, "bad.yaml", text, strlen(text), &err));
        if (!strstr(err.text, cases[i].place))
            fail_msg("%s: %s", cases[i].link, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_that_predicts_the_size_left_out_is_taken),
        cmocka_unit_test(a_constant_is_the_middle_of_all_samples),
        cmocka_unit_test(no_timing_falls_whatever_was_measured),
        cmocka_unit_test(a_log_is_read_past_midnight_jumps_and_its_torn_end),
        cmocka_unit_test(timings_that_were_calibrated_predict_another_size),
        cmocka_unit_test(more_bytes_never_make_a_timing_smaller),
        cmocka_unit_test(all_files_of_a_run_are_read),
        cmocka_unit_test(of_calls_inside_calls_each_has_its_own_time),
        cmocka_unit_test(without_meta_and_calls_iors_output_is_enough),
        cmocka_unit_test(what_does_not_fit_together_is_refused),
        cmocka_unit_test(a_server_beyond_the_runs_last_is_of_another_run),
        cmocka_unit_test(faults_have_a_place),
        cmocka_unit_test(calls_distinguish_reads_and_writes_of_states),
        cmocka_unit_test(a_log_of_two_processes_is_of_two_runs),
        cmocka_unit_test(states_among_functions_are_taken_once),
        cmocka_unit_test(reads_and_writes_have_timings_of_their_own),
        cmocka_unit_test(removals_of_data_files_are_recognised_by_their_code),
        cmocka_unit_test(longer_files_take_longer_to_remove),
        cmocka_unit_test(a_timing_of_removals_is_found_in_logs),
        cmocka_unit_test(samples_know_their_run),
        cmocka_unit_test(runs_of_another_network_are_noticed),
        cmocka_unit_test(a_table_is_simulated_as_its_runs_were),
        cmocka_unit_test(tables_without_adio_have_the_accesses_of_mpi),
        cmocka_unit_test(processes_that_begin_apart_are_seen_to_share_a_link),
        cmocka_unit_test(in_a_test_processes_begin_as_far_apart_as_the_timings_say),
        cmocka_unit_test(a_size_left_out_is_predicted_by_the_others),
        cmocka_unit_test(tests_of_several_set_ups_are_fitted_together),
        cmocka_unit_test(what_models_were_not_fitted_on_is_extrapolated),
        cmocka_unit_test(servers_of_the_assumed_cluster_scale),
        cmocka_unit_test(a_lone_flow_waits_between_its_buffers),
        cmocka_unit_test(flows_of_a_call_end_one_after_another),
        cmocka_unit_test(work_grows_with_requests_and_buffers),
        cmocka_unit_test(pieces_that_cannot_be_are_refused_at_their_place),
        cmocka_unit_test(who_sends_is_done_when_the_rest_is_in_the_sockets),
        cmocka_unit_test(what_is_under_way_changes_no_operation_of_a_client),
        cmocka_unit_test(what_sockets_keep_is_found_in_logs),
        cmocka_unit_test(messages_wait_behind_data),
        cmocka_unit_test(how_long_messages_wait_is_found_in_logs),
        cmocka_unit_test(samples_know_when_data_had_moved),
        cmocka_unit_test(impossible_buffers_and_queues_are_refused_at_their_place),
    };

    return cmocka_run_group_tests(tests, open_fs, close_fs);
}
