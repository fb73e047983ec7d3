/* Ctrl-C and crashes, each in a child process that may die of them. */
#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/signals.h"

static void fail_an_assertion(void)
{
    bool the_sky_is_up = false;

    wr_crash_explain();
    assert(the_sky_is_up);
}

static void touch_what_is_not_there(void)
{
    wr_crash_explain();
    raise(SIGSEGV);
}

/* What a child that runs `body` dies of; its stderr goes to `said`. */
static int fate_of(void (*body)(void), char *said, size_t size)
{
    int ends[2], status;

    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(ends[0], said + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    said[n] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static void the_first_interrupt_sets_a_flag(void **state)
{
    (void)state;
    wr_interrupt_catch();
    assert_false(wr_interrupted());
    raise(SIGINT);
    assert_true(wr_interrupted());
    wr_interrupt_release();
    assert_false(wr_interrupted());
}

static void the_batch_system_may_ask_too(void **state)
{
    (void)state;
    wr_interrupt_catch();
    raise(SIGTERM);
    assert_true(wr_interrupted());
    wr_interrupt_release();
}

static void interrupt_twice(void)
{
    wr_interrupt_catch();
    raise(SIGINT);
    usleep(300000);
    raise(SIGINT);
}

static void one_request_sent_twice_is_one(void **state)
{
    (void)state;
    wr_interrupt_catch();
    raise(SIGINT);
    raise(SIGINT);
    assert_true(wr_interrupted());
    wr_interrupt_release();
}

static void the_second_interrupt_ends_at_once(void **state)
{
    char said[4096];
    int status = fate_of(interrupt_twice, said, sizeof said);
    (void)state;

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static void interrupt_after_release(void)
{
    wr_interrupt_catch();
    wr_interrupt_release();
    raise(SIGINT);
}

static void work_that_let_go_dies_of_the_first(void **state)
{
    char said[4096];
    int status = fate_of(interrupt_after_release, said, sizeof said);
    (void)state;

    assert_true(WIFSIGNALED(status));
}

static void interrupt_ignored(void)
{
    signal(SIGINT, SIG_IGN);
    wr_interrupt_catch();
    raise(SIGINT);
    raise(SIGINT);
    _exit(wr_interrupted() ? 1 : 0);
}

static void an_ignored_interrupt_stays_ignored(void **state)
{
    char said[4096];
    int status = fate_of(interrupt_ignored, said, sizeof said);
    (void)state;

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void our_own_mistakes_end_with_status_3_and_ask_for_a_report(void **state)
{
    void (*const mistakes[])(void) = {fail_an_assertion, touch_what_is_not_there};
    (void)state;

#ifdef WEIR_SANITIZED
    skip(); /* the sanitizer reports instead */
#endif
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char said[4096];
        int status = fate_of(mistakes[i], said, sizeof said);

        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
        assert_non_null(strstr(said, "please report it"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_interrupt_sets_a_flag),
        cmocka_unit_test(the_batch_system_may_ask_too),
        cmocka_unit_test(one_request_sent_twice_is_one),
        cmocka_unit_test(the_second_interrupt_ends_at_once),
        cmocka_unit_test(work_that_let_go_dies_of_the_first),
        cmocka_unit_test(an_ignored_interrupt_stays_ignored),
        cmocka_unit_test(our_own_mistakes_end_with_status_3_and_ask_for_a_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
