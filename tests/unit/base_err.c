/* Errors: said once, wrapped on the way out, never longer than their buffer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void a_failure_says_what_and_returns_false(void **state)
{
    struct wr_err err = {0};
    (void)state;

    assert_false(wr_fail(&err, WR_INPUT, "no %s \"%s\"", "topology", "rign"));
    assert_int_equal(err.code, WR_INPUT);
    assert_string_equal(err.text, "no topology \"rign\"");
}

static void context_is_added_in_front_and_the_code_stays(void **state)
{
    struct wr_err err = {0};
    (void)state;

    wr_fail(&err, WR_UNKNOWN, "no such key");
    assert_false(wr_wrap(&err, "%s:%d", "a.yaml", 7));
    assert_false(wr_wrap(&err, "run %d", 3));
    assert_string_equal(err.text, "run 3: a.yaml:7: no such key");
    assert_int_equal(err.code, WR_UNKNOWN);
}

static void a_system_error_carries_the_systems_words(void **state)
{
    struct wr_err err = {0};
    (void)state;

    errno = ENOSPC;
    assert_false(wr_fail_errno(&err, "cannot write %s", "a.weir"));
    assert_string_equal(err.text, "cannot write a.weir: No space left on device");
    assert_int_equal(err.code, WR_SYSTEM);
    errno = ENOENT;
    assert_false(wr_fail_errno(&err, "cannot open %s; check its name", "a; b.weir"));
    assert_string_equal(err.text,
                        "cannot open a; b.weir: No such file or directory; check its name");
}

static void text_that_is_too_long_is_cut_not_overrun(void **state)
{
    struct {
        struct wr_err err;
        char fence[16];
    } box = {0};
    char big[2 * sizeof box.err.text];
    (void)state;

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    memset(box.fence, '!', sizeof box.fence);
    wr_fail(&box.err, WR_INPUT, "%s", big);
    assert_int_equal(strlen(box.err.text), sizeof box.err.text - 1);
    wr_wrap(&box.err, "outer");
    assert_int_equal(strlen(box.err.text), sizeof box.err.text - 1);
    assert_memory_equal(box.err.text, "outer: xxx", 10);
    wr_wrap(&box.err, "%s", big);
    errno = EIO;
    wr_fail_errno(&box.err, "%s", big);
    for (size_t i = 0; i < sizeof box.fence; i++)
        assert_int_equal(box.fence[i], '!');
}

static void every_code_has_its_exit_status(void **state)
{
    (void)state;
    assert_int_equal(wr_exit_status(WR_NONE), 0);
    assert_int_equal(wr_exit_status(WR_CHECK), 1);
    assert_int_equal(wr_exit_status(WR_INPUT), 2);
    assert_int_equal(wr_exit_status(WR_UNKNOWN), 2);
    assert_int_equal(wr_exit_status(WR_BUG), 3);
    assert_int_equal(wr_exit_status(WR_SYSTEM), 4);
    assert_int_equal(wr_exit_status(WR_INTERRUPTED), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_says_what_and_returns_false),
        cmocka_unit_test(context_is_added_in_front_and_the_code_stays),
        cmocka_unit_test(a_system_error_carries_the_systems_words),
        cmocka_unit_test(text_that_is_too_long_is_cut_not_overrun),
        cmocka_unit_test(every_code_has_its_exit_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
