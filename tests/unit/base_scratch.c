/* Directories that are known to be left behind, and only those. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/scratch.h"

static char where[] = "scratch-test-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(where);
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(where);
}

static void count(void *ctx, struct wr_scratch *s)
{
    (void)s;
    ++*(int *)ctx;
}

static int left(void)
{
    int n = 0;

    wr_scratch_left(where, "t-", count, &n);
    return n;
}

static void what_is_in_use_is_not_left(void **state)
{
    struct wr_scratch s;

    (void)state;
    assert_true(wr_scratch_make(&s, where, "t-"));
    assert_int_equal(left(), 0);
    wr_scratch_clean(where, "t-");
    assert_int_equal(access(s.dir, F_OK), 0);
    wr_scratch_remove(&s);
    assert_int_equal(left(), 0);
}

/* A process that makes one with a file in it, and waits to be killed. */
static pid_t start_maker(int *ret_ready)
{
    int ready[2];

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();

    if (!pid) {
        struct wr_scratch s;
        char path[256], ok = wr_scratch_make(&s, where, "t-");

        snprintf(path, sizeof path, "%s/deep", s.dir);
        ok = ok && !mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/deep/file", s.dir);
        ok = ok && close(open(path, O_CREAT | O_WRONLY, 0600)) == 0;
        _exit(write(ready[1], &ok, 1) != 1 || pause());
    }
    close(ready[1]);
    *ret_ready = ready[0];
    return pid;
}

static void what_a_killed_process_made_is_found_and_removed(void **state)
{
    char ok = 0;
    int ready;
    pid_t pid = start_maker(&ready);

    (void)state;
    assert_int_equal(read(ready, &ok, 1), 1);
    assert_true(ok);
    assert_int_equal(left(), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(left(), 1);
    wr_scratch_clean(where, "t-");
    assert_int_equal(left(), 0);
    close(ready);
}

/* A name that looks like it, another machine's, a link: not touched. */
static void what_is_something_else_stays(void **state)
{
    char path[3][256];

    (void)state;
    snprintf(path[0], sizeof path[0], "%s/t-00000000-abcdef", where);
    snprintf(path[1], sizeof path[1], "%s/t-mine", where);
    assert_int_equal(mkdir(path[0], 0700) | mkdir(path[1], 0700), 0);
    wr_scratch_clean(where, "t-");
    assert_int_equal(rmdir(path[0]) | rmdir(path[1]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_use_is_not_left),
        cmocka_unit_test(what_a_killed_process_made_is_found_and_removed),
        cmocka_unit_test(what_is_something_else_stays),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
