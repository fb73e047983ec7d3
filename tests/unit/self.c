/* What came with the program is found relative to the program, and nothing else is. */
#include "base/self.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static bool self_finds(const char *name)
{
    struct wr_str path = {0};
    bool found = wr_self_find_data(&path, name);

    if (found) {
        assert_int_equal(path.s[0], '/');
        assert_int_equal(access(path.s, R_OK), 0);
    } else {
        assert_null(path.s);
    }
    wr_str_fini(&path);
    return found;
}

static void an_example_is_found_by_its_name_from_any_directory(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    assert_true(self_finds("uniform-1056.yaml"));
    assert_true(self_finds("examples/uniform-1056.yaml"));
    assert_true(self_finds("machines/frontier.yaml"));
    assert_true(self_finds("stack/pvfs2.yaml"));
}

static void a_name_that_is_no_example_finds_nothing(void **state)
{
    (void)state;
    assert_false(self_finds(""));
    assert_false(self_finds("no-such-example.yaml"));
}

static void a_name_does_not_lead_out_of_the_share_directory(void **state)
{
    (void)state;
    assert_false(self_finds("/etc/passwd"));
    assert_false(self_finds("examples/../examples/ring.yaml"));
    assert_false(self_finds(".."));
}

static void a_library_that_is_not_there_is_not_found(void **state)
{
    struct wr_str path = {0};

    (void)state;
    assert_false(wr_self_find_library(&path, "libweir-nothing.so"));
    assert_null(path.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_example_is_found_by_its_name_from_any_directory),
        cmocka_unit_test(a_name_that_is_no_example_finds_nothing),
        cmocka_unit_test(a_name_does_not_lead_out_of_the_share_directory),
        cmocka_unit_test(a_library_that_is_not_there_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
