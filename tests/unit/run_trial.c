/* Names of an experiment's run files: written, read back, and distinguished from others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "run/trial.h"

static void a_name_is_read_back(void **state)
{
    static const struct run_trial trials[] = {
        {"private", 7, {4}, 1, 1, 0},
        {"shared", 6, {1, 4}, 2, 12, 1},
        {"v1.2", 4, {1, 2, 3, 4, 5, 6, 7, 4294967295}, 8, 3, 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        const struct run_trial *want = &trials[i];
        struct run_trial got;
        struct wr_str name = {0};

        wr_str_add(&name, "some/where.else/");
        run_trial_id(&name, want);
        wr_str_addf(&name, ".%c.weir", run_trial_letter(want->job));
        assert_true(run_trial_parse(&got, wr_str_get(&name)));
        assert_int_equal(got.mode_len, want->mode_len);
        assert_memory_equal(got.mode, want->mode, want->mode_len);
        assert_int_equal(got.n, want->n);
        assert_memory_equal(got.size, want->size, want->n * sizeof *got.size);
        assert_int_equal(got.repetition, want->repetition);
        assert_int_equal(got.job, want->job);
        wr_str_fini(&name);
    }
}

static void other_names_are_not_taken_for_trials(void **state)
{
    static const char *const names[] = {
        "",
        ".weir",
        "a.weir",
        "private.1.r1.weir",
        "private.1.r1.P",
        "private.1.r1.PP.weir",
        "private.1.r1.A.weir",
        "private.1.r1.Q.weir", /* there is one job only */
        "private.1.r.P.weir",
        "private.1.r0.P.weir", /* repetitions count from 1 */
        "private.1.r1x.P.weir",
        "private.1+.r1.P.weir",
        "private.+1.r1.P.weir",
        "private.1-2.r1.P.weir",
        "private.4294967296.r1.P.weir",
        "private.1+2+3+4+5+6+7+8+9.r1.P.weir",
        ".1.r1.P.weir",
        "1.r1.P.weir",
        "private.1.r1.P.weir.old",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct run_trial t;

        if (run_trial_parse(&t, names[i]))
            fail_msg("%s is taken for a trial", names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_read_back),
        cmocka_unit_test(other_names_are_not_taken_for_trials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
