/* The clock is set back by a second while a job runs: times continue, and a warning is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "prof/step.c"
#include "prof_fixture.h"

enum { MIB = 1 << 20 };

static const char *const clocks[] = {"sampled", "coarse", "precise"};

/* The parent writes before the step and behind it, then a child that is begun behind it. */
static void check_job(const struct prof_job *j)
{
    const struct prof_proc *parent = &j->procs.v[0], *child = &j->procs.v[1];

    assert_true(fixture_total(j, PROF_W_write_bytes) == 3.0 * MIB);
    assert_int_equal(j->procs.n, 2);
    assert_true(child->head->ppid == parent->head->pid);
    assert_true(child->start_ns > parent->start_ns);
    assert_true(parent->end_ns >= child->end_ns - 50000000 && child->end_ns > child->start_ns);
    /* Nothing is booked a second away: what is written behind the step is behind what was before.
     */
    uint32_t first = UINT32_MAX, last = 0;

    for (size_t i = 0; i < j->cells.n; i++)
        if (j->cells.v[i].entity == j->apps.v[0].entity &&
            j->cells.v[i].value[PROF_W_write_bytes] > 0) {
            first = j->cells.v[i].slice < first ? j->cells.v[i].slice : first;
            last = j->cells.v[i].slice > last ? j->cells.v[i].slice : last;
        }
    assert_true(last >= first + 5); /* 400 ms lie between them */
    assert_non_null(strstr(wr_str_get(&j->warnings), "was set by -1.0"));
}

static void open_lab(struct fixture *l, char *flag)
{
    char here[PATH_MAX], ours[PATH_MAX], step[PATH_MAX];

    fixture_open(l);
    assert_non_null(realpath(l->data, here));
    snprintf(flag, PATH_MAX, "%.4000s/stepped", here);
    setenv("WEIR_STEP", flag, 1);
    assert_non_null(realpath("lib/libprof-step.so", step));
    snprintf(ours, sizeof ours, "%s", l->lib);
    snprintf(l->lib, sizeof l->lib, "%.2000s:%.2000s", step, ours);
}

static void a_clock_that_is_set_does_not_move_slices(void **state)
{
    char flag[PATH_MAX];
    struct prof_job j;
    struct fixture l;

    (void)state;
    open_lab(&l, flag);
    for (int c = 0; c < 3; c++) {
        unlink(flag);
        assert_int_equal(fixture_way(&l, &j, "step", clocks[c]), 0);
        check_job(&j);
        assert_true(j.step_ns < -900000000 && j.step_ns > -1100000000);
        prof_job_fini(&j);
    }
    fixture_close(&l);
    unsetenv("WEIR_STEP");
}

/* Without a launcher each process has the clock of its own beginning, and readers put them right.
 */
static void profiles_of_both_sides_of_a_step_are_laid_on_one_clock(void **state)
{
    struct wr_str command = {0};
    struct wr_err err = {0};
    struct prof_job j = {0};
    char flag[PATH_MAX];
    struct fixture l;

    (void)state;
    open_lab(&l, flag);
    wr_str_addf(&command,
                "WEIR_PROF_SLICE=50ms WEIR_PROF_DIR=\"$PWD/%s\" LD_PRELOAD='%s' '%s' step '%s'",
                l.profiles, l.lib, l.ways, l.data);
    assert_int_equal(system(command.s), 0);
    assert_true(prof_job_read(&j, l.profiles, &err));
    check_job(&j);
    prof_job_fini(&j);
    wr_str_fini(&command);
    fixture_clear(l.data);
    fixture_close(&l);
    unsetenv("WEIR_STEP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_is_set_does_not_move_slices),
        cmocka_unit_test(profiles_of_both_sides_of_a_step_are_laid_on_one_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
