/* The commands of `weir stack step`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <string.h>

#include "stack/stack_step.h"
#include "stack_open.h"

static struct stack_step_command parsed(const char *line)
{
    struct stack_step_command c;
    struct wr_err err = {0};

    if (!stack_step_parse(&c, line, fs, 2, 3, &err))
        fail_msg("%s: %s", line, err.text);
    return c;
}

static void a_line_is_a_command(void **state)
{
    (void)state;
    assert_int_equal(parsed("").what, STEP_NOTHING);
    assert_int_equal(parsed("  # step 3\n").what, STEP_NOTHING);
    assert_int_equal(parsed("step\n").n, 1);
    assert_int_equal(parsed("s 12").n, 12);
    assert_int_equal(parsed("setup servers 7 tasks 9").servers, 7);
    assert_int_equal(parsed("setup servers 7 tasks 9").tasks, 9);
    assert_int_equal(parsed("until time 1.5ms").t_ns, 1500000);
    assert_int_equal(parsed("until agent server 2").node, 4);
    assert_int_equal(parsed("look client 1").node, 1);
    assert_int_equal(parsed("until state client_io_sm:init").state,
                     stack_find_state(fs, "client_io_sm:init", 17));
    assert_true(parsed("speed 0.5").speed == 0.5);
    assert_true(parsed("speed max").speed == 0);
    assert_true(parsed("trace on").on);
    assert_false(parsed("trace off").on);
    assert_int_equal(parsed("q").what, STEP_QUIT);
}

static void a_wrong_line_says_what_to_say(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"stap", "did you mean step?"},
        {"step 0", "no number from 1"},
        {"step 1 2", "step N"},
        {"go now", "leave \"now\" out"},
        {"until state client_io_sm:innit", "did you mean client_io_sm:init?"},
        {"until time soon", "say 1.5s"},
        {"until", "until time 1s"},
        {"look server 3", "from 0 to 2"},
        {"look", "say which agent"},
        {"speed 0", "above 0"},
        {"speed nan", "above 0"},
        {"setup servers 0", "no number from 1"},
        {"setup clients 3", "setup servers N tasks N"},
        {"trace", "trace on, or trace off"},
        {"a b c d e f g h i", "too long"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stack_step_command c;
        struct wr_err err = {0};

        if (stack_step_parse(&c, cases[i].line, fs, 2, 3, &err) || !strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].line, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_command),
        cmocka_unit_test(a_wrong_line_says_what_to_say),
    };

    return cmocka_run_group_tests(tests, open_fs, close_fs);
}
