/* Ctrl-C ends `weir state probe` as its own end would: all rows, a finished run file, nothing left
 * on the target. A shell's background commands ignore SIGINT, so this is no golden test. */
#include "unit/run_help.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/cli.h"
#include "state/probes.h"

enum { ROWS = 6, TRIES = 6000 }; /* rows before the signal; hundredths of a second */

struct paths {
    char target[96], csv[96], run[96];
};

static void wait_briefly(void)
{
    nanosleep(&(struct timespec){0, 10000000}, NULL);
}

static void probe_until_stopped(struct paths *p)
{
    char *argv[] = {
        (char[]){"weir"}, (char[]){"state"},   (char[]){"probe"}, p->target, (char[]){"-i"},
        (char[]){"20ms"}, (char[]){"-q"},      (char[]){"-o"},    p->csv,    (char[]){"--run"},
        p->run,           (char[]){"--bytes"}, (char[]){"4KiB"},  NULL};

    signal(SIGINT, SIG_DFL);
    _exit(cli_main(sizeof argv / sizeof argv[0] - 1, argv, stdout, stderr));
}

static size_t lines(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = 0;

    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

/* The exit status, or -1 when it did not end by itself. */
static int end_of(pid_t child)
{
    int status;

    for (int i = 0; i < TRIES; i++, wait_briefly())
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static void assert_kept(const struct paths *p)
{
    struct state_probes table;
    struct run_reader *r = NULL;
    struct wr_err err = {0};
    double slices = 0;
    bool found = false;

    if (!state_probes_read(&table, p->csv, &err) || !run_open(&r, p->run, &err) ||
        !run_number(r, "SELECT count(*) FROM slice WHERE metric LIKE '%latency'", &slices, &found,
                    &err))
        fail_msg("%s", err.text);
    assert_int_equal(run_info(r)->status, RUN_COMPLETE);
    assert_true(table.n >= ROWS);
    assert_int_equal(table.skipped, 0);
    assert_int_equal((size_t)slices, table.n);
    state_probes_fini(&table);
    run_close(r);
}

static void ctrl_c_ends_a_probe_and_keeps_all_of_it(void **state)
{
    const struct place *at = *state;
    struct paths p;

    snprintf(p.target, sizeof p.target, "%s/target", at->dir);
    snprintf(p.csv, sizeof p.csv, "%s/probes.csv", at->dir);
    snprintf(p.run, sizeof p.run, "%s/probes.weir", at->dir);
    assert_int_equal(mkdir(p.target, 0700), 0);
    pid_t child = fork();

    assert_true(child >= 0);
    if (!child)
        probe_until_stopped(&p);
    for (int i = 0; i < TRIES && lines(p.csv) < ROWS + 2; i++)
        wait_briefly();
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(end_of(child), 0);
    assert_kept(&p);
    assert_int_equal(rmdir(p.target), 0); /* only an empty one can go */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(ctrl_c_ends_a_probe_and_keeps_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
