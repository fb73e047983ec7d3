/* bench_stack.c -- how fast the I/O stack's agents walk.
 *
 *   bench.stack FS SERVERS TASKS IOR-COMMAND
 *
 * Operations (reads and writes) through all layers per second of processor time, the best of three
 * (large ones once), and the most memory that the process had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "stack/stack_drive.h"

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool once(const char *name, uint32_t servers, uint32_t tasks, const char *command,
                 double *ret_rate, struct wr_err *err)
{
    struct stack_fs *fs;
    struct stack_timings *timings;
    struct ior_test test;
    struct stack_drive *d;
    const struct stack_phase *p;
    uint64_t ops = 0;
    bool stopped;

    if (!stack_fs_open(&fs, name, err) || !stack_timings_open(&timings, fs, "default", err) ||
        !ior_parse(&test, command, tasks, err))
        return false;
    struct stack_setup setup = {
        .fs = fs, .timings = timings, .servers = servers, .start = UINT32_MAX};

    if (!stack_drive_open(&d, &setup, &test, tasks, 1, err))
        return false;
    double t = seconds();

    stack_drive_begin(d);
    if (!stack_drive_run(d, &stopped, err))
        return false;
    t = seconds() - t;
    for (size_t i = stack_drive_phases(d, &p); i-- > 0;)
        ops += p[i].transfers;
    *ret_rate = (double)ops / t;
    stack_drive_close(d);
    ior_fini(&test);
    stack_timings_close(timings);
    stack_fs_close(fs);
    return true;
}

int main(int argc, char **argv)
{
    struct wr_err err = {0};
    struct rusage use;
    double best = 0, rate;

    if (argc != 5) {
        fprintf(stderr, "bench.stack FS SERVERS TASKS IOR-COMMAND\n");
        return 2;
    }
    for (int i = atoi(argv[3]) > 1000 ? 2 : 0; i < 3; i++) {
        if (!once(argv[1], (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), argv[4], &rate,
                  &err)) {
            fprintf(stderr, "bench.stack: %s\n", err.text);
            return wr_exit_status(err.code);
        }
        best = rate > best ? rate : best;
    }
    getrusage(RUSAGE_SELF, &use);
    printf("%.0f operations/s, %ld MiB\n", best, use.ru_maxrss / 1024);
    return 0;
}
