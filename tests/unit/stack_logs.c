/* Laws from real logs: what is read of a directory, what is refused, and whether calibrating finds
 * again the laws that a log was made with. */
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

static struct stack_fs *fs;

static int open_fs(void **state)
{
    struct wr_err err = {0};

    (void)state;
    return stack_fs_open(&fs, "pvfs2", &err) ? 0 : -1;
}

static int close_fs(void **state)
{
    (void)state;
    stack_fs_close(fs);
    return 0;
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
    assert_int_equal(log.servers, 1);
    assert_int_equal(log.cut + log.jumps, 0);
    assert_int_equal(log.run.n, 1);
    assert_int_equal(log.io.n, 1);
    assert_true(fabs(log.io.v[0].seconds - 0.01806) < 1e-9);
    assert_float_equal(log.ior.v[0].total_s, 0.02, 1e-9);
    assert_true(
        stack_op_median(&log, stack_find_function(fs, "PVFS_sys_lookup"), 2, 8 << 20, &took));
    assert_float_equal(took, 800e-6, 1e-7);
    assert_true(
        stack_op_median(&log, stack_find_function(fs, "MPI_File_write_at"), 2, 8 << 20, &took));
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
        assert_int_equal(log.clients, 1);
        assert_int_equal(log.servers, 1);
        assert_true(fabs(log.io.v[0].seconds - (i ? 0.018 : 0.01806)) < 1e-9);
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

/* --- calibrating finds the laws again ----------------------------------------------- */

static void add_run(struct stack_log *to, const struct stack_laws *laws, uint64_t bytes)
{
    struct wr_err err = {0};
    struct stack_log run;

    if (!stack_replay(&run, fs, laws, 5, 5, bytes, &err))
        fail_msg("%s", err.text);
    to->servers = to->clients = 5;
    for (size_t i = 0; i < run.state.n; i++)
        wr_vec_push(&to->state, run.state.v[i]);
    for (size_t i = 0; i < run.io.n; i++)
        wr_vec_push(&to->io, run.io.v[i]);
    for (size_t i = 0; i < run.op.n; i++)
        wr_vec_push(&to->op, run.op.v[i]);
    wr_vec_push(&to->run, bytes);
    stack_log_fini(&run);
}

/* A simulated run is a log like any other: laws taken from three of its sizes tell the fourth. The
 * base laws are others, so nothing is known beforehand. */
static void a_size_left_out_is_told_by_the_others(void **state)
{
    static const uint64_t sizes[] = {8 << 20, 64 << 20, 205 << 20, 410 << 20};
    struct wr_err err = {0};
    struct stack_laws *truth, *base;
    struct stack_log all = {.fs = fs};

    (void)state;
    assert_true(stack_laws_open(&truth, fs, "ethernet", &err));
    assert_true(stack_laws_open(&base, fs, "default", &err));
    for (size_t i = 0; i < 4; i++)
        add_run(&all, truth, sizes[i]);
    for (size_t i = 1; i < 3; i++) {
        struct stack_log rest, told;
        struct stack_laws *laws;
        struct wr_str text = {0};

        stack_log_without(&rest, &all, sizes[i]);
        assert_int_equal(rest.run.n, 3);
        if (!stack_calibrate(&text, &rest, base, "again", false, &err) ||
            !stack_laws_open_text(&laws, fs, "again", text.s, text.n, &err) ||
            !stack_replay(&told, fs, laws, 5, 5, sizes[i], &err))
            fail_msg("%s", err.text);
        for (uint16_t m = 0; m < fs->machine.n; m++)
            for (uint8_t io = 0; io < 3; io++) {
                double is, was;
                double slack = io < 2 ? 0.03 : 0.3;

                if (!stack_op_median(&all, m, io, sizes[i], &was) ||
                    !stack_op_median(&told, m, io, sizes[i], &is))
                    continue;
                if (was > 1e-5 && fabs(is / was - 1) > slack)
                    fail_msg("%s at %llu: %g, not %g", fs->machine.v[m].function,
                             (unsigned long long)sizes[i], is, was);
            }
        stack_log_fini(&told);
        stack_log_fini(&rest);
        stack_laws_close(laws);
        wr_str_fini(&text);
    }
    stack_log_fini(&all);
    stack_laws_close(truth);
    stack_laws_close(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_files_of_a_run_are_read),
        cmocka_unit_test(of_calls_inside_calls_each_has_its_own_time),
        cmocka_unit_test(without_meta_and_calls_iors_output_is_enough),
        cmocka_unit_test(what_does_not_fit_together_is_refused),
        cmocka_unit_test(a_server_beyond_the_runs_last_is_of_another_run),
        cmocka_unit_test(faults_have_a_place),
        cmocka_unit_test(a_size_left_out_is_told_by_the_others),
    };

    return cmocka_run_group_tests(tests, open_fs, close_fs);
}
