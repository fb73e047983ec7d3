/* The pool of workers: tasks in order, results back, and what becomes of the dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "study/study_pool.h"

enum { TASKS = 12 };

struct seen {
    int ended[TASKS], dead, order[TASKS], n;
    int value[TASKS];
    size_t most; /* running at once, as the tick saw it */
    int kill_task, fail_task, stop_task;
    bool crowded;
};

static void square(void *ctx, size_t task, void *result)
{
    const struct seen *s = ctx;

    if ((int)task == s->kill_task)
        raise(SIGKILL);
    if ((int)task == s->stop_task)
        kill(getppid(), SIGTERM);
    usleep(2000);
    *(int *)result = (int)(task * task);
}

static bool note(void *ctx, size_t task, const struct study_ended *end, struct wr_err *err)
{
    struct seen *s = ctx;

    s->ended[task]++;
    s->order[s->n++] = (int)task;
    if (end->result)
        s->value[task] = *(const int *)end->result;
    else
        s->dead++;
    assert_true(end->peak_b > 0);
    if (!end->result)
        assert_non_null(strstr(end->how, "signal 9"));
    if ((int)task == s->fail_task)
        return wr_fail(err, WR_SYSTEM, "enough");
    return true;
}

static void count(void *ctx, size_t running)
{
    struct seen *s = ctx;

    s->most = running > s->most ? running : s->most;
}

static bool never(void *ctx, size_t task, const pid_t *running, size_t n)
{
    struct seen *s = ctx;

    (void)task;
    assert_true(n > 0 && running[0] > 0);
    s->crowded = true;
    return false;
}

static struct study_pool pool_of(struct seen *s, uint32_t jobs)
{
    *s = (struct seen){.kill_task = -1, .fail_task = -1, .stop_task = -1};
    return (struct study_pool){.ctx = s,
                               .jobs = jobs,
                               .ntasks = TASKS,
                               .result_size = sizeof(int),
                               .work = square,
                               .done = note,
                               .tick = count};
}

static void every_task_gives_its_result_once(void **state)
{
    struct seen s;
    struct wr_err err = {0};
    bool interrupted = true;

    (void)state;
    for (uint32_t jobs = 1; jobs <= 4; jobs += 3) {
        struct study_pool p = pool_of(&s, jobs);

        assert_true(study_pool_run(&p, &interrupted, &err));
        assert_false(interrupted);
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(s.ended[i], 1);
            assert_int_equal(s.value[i], i * i);
            if (jobs == 1)
                assert_int_equal(s.order[i], i);
        }
        assert_true(s.most <= jobs);
    }
}

static void a_worker_that_dies_does_not_end_the_others(void **state)
{
    struct seen s;
    struct study_pool p = pool_of(&s, 3);
    struct wr_err err = {0};
    bool interrupted;

    (void)state;
    s.kill_task = 4;
    assert_true(study_pool_run(&p, &interrupted, &err));
    assert_int_equal(s.dead, 1);
    assert_int_equal(s.n, TASKS);
    assert_int_equal(s.value[5], 25);
}

static void a_failure_ends_the_rest(void **state)
{
    struct seen s;
    struct study_pool p = pool_of(&s, 2);
    struct wr_err err = {0};
    bool interrupted;

    (void)state;
    s.fail_task = 3;
    assert_false(study_pool_run(&p, &interrupted, &err));
    assert_string_equal(err.text, "enough");
    assert_true(s.n < TASKS);
}

static void one_runs_at_a_time_if_no_other_may_start(void **state)
{
    struct seen s;
    struct study_pool p = pool_of(&s, 4);
    struct wr_err err = {0};
    bool interrupted;

    (void)state;
    p.may_start = never;
    assert_true(study_pool_run(&p, &interrupted, &err));
    assert_true(s.crowded);
    assert_int_equal(s.most, 1);
    assert_int_equal(s.n, TASKS);
}

static void an_interrupt_starts_nothing_more(void **state)
{
    struct seen s;
    struct study_pool p = pool_of(&s, 2);
    struct wr_err err = {0};
    bool interrupted = false;

    (void)state;
    s.stop_task = 2;
    wr_interrupt_catch();
    assert_true(study_pool_run(&p, &interrupted, &err));
    wr_interrupt_release();
    assert_true(interrupted);
    assert_true(s.n >= 1 && s.n < TASKS); /* tasks before number 2; others may be starting */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_gives_its_result_once),
        cmocka_unit_test(a_worker_that_dies_does_not_end_the_others),
        cmocka_unit_test(a_failure_ends_the_rest),
        cmocka_unit_test(one_runs_at_a_time_if_no_other_may_start),
        cmocka_unit_test(an_interrupt_starts_nothing_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
