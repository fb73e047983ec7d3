/* Text that grows, and the nearest name to a typo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static void text_grows_and_is_always_terminated(void **state)
{
    struct wr_str s = {0};
    (void)state;

    assert_string_equal(wr_str_get(&s), "");
    for (int i = 0; i < 1000; i++) {
        wr_str_add(&s, "ab");
        wr_str_addn(&s, "cdef", 1);
        wr_str_addf(&s, "%03d", i);
        assert_int_equal(strlen(s.s), s.n);
    }
    assert_int_equal(s.n, 6000);
    assert_memory_equal(s.s + 6 * 731, "abc731", 6);
    wr_str_fini(&s);
    assert_string_equal(wr_str_get(&s), "");
}

static void a_long_format_is_not_cut(void **state)
{
    char big[5000];
    struct wr_str s = {0};
    (void)state;

    memset(big, 'y', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    wr_str_addf(&s, "<%s>", big);
    assert_int_equal(s.n, sizeof big + 1);
    assert_int_equal(s.s[s.n - 1], '>');
    wr_str_fini(&s);
}

static const char *nearest(const char *want)
{
    static const char *const names[] = {"dragonfly", "dragonfly-2d", "fat-tree", "torus", "mesh",
                                        "hyperx",    "slimfly",      "file",     "ab"};
    struct wr_nearest near = {.want = want};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        wr_nearest_try(&near, names[i]);
    return near.best ? near.best : "(none)";
}

static void words_are_quoted_for_a_shell_where_they_must_be(void **state)
{
    static const char *const words[][3] = {
        {"a-b_1.yaml", "", "a-b_1.yaml"},
        {"", "", "''"},
        {"two words", "", "'two words'"},
        {"it's", "", "'it'\\''s'"},
        {"{x}", "", "'{x}'"},
        {"{x}", "{}", "{x}"},
        {"~$", "~", "'~$'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct wr_str s = {0};

        wr_str_add_word(&s, words[i][0], words[i][1]);
        assert_string_equal(wr_str_get(&s), words[i][2]);
        wr_str_fini(&s);
    }
}

static void a_typo_finds_the_name_that_was_meant(void **state)
{
    (void)state;
    assert_string_equal(nearest("dragonly"), "dragonfly");   /* a letter less */
    assert_string_equal(nearest("dragonffly"), "dragonfly"); /* a letter more */
    assert_string_equal(nearest("dragpnfly"), "dragonfly");  /* another letter */
    assert_string_equal(nearest("dargonfly"), "dragonfly");  /* two swapped */
    assert_string_equal(nearest("tours"), "torus");
    assert_string_equal(nearest("fat_tree"), "fat-tree");
    assert_string_equal(nearest("flie"), "file");
}

static void a_beginning_finds_its_name(void **state)
{
    (void)state;
    assert_string_equal(nearest("hyp"), "hyperx");
    assert_string_equal(nearest("dragonfly-"), "dragonfly"); /* nearer than dragonfly-2d */
}

static void something_else_finds_nothing(void **state)
{
    (void)state;
    assert_string_equal(nearest("elephant"), "(none)");
    assert_string_equal(nearest(""), "(none)");
    assert_string_equal(nearest("zz"), "(none)");
}

static void names_of_any_length_are_compared_safely(void **state)
{
    char big[1000];
    struct wr_nearest near = {.want = big};
    (void)state;

    memset(big, 'q', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    wr_nearest_try(&near, "torus");
    assert_null(near.best);
    near = (struct wr_nearest){.want = "torus"};
    wr_nearest_try(&near, big);
    assert_null(near.best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_and_is_always_terminated),
        cmocka_unit_test(a_long_format_is_not_cut),
        cmocka_unit_test(words_are_quoted_for_a_shell_where_they_must_be),
        cmocka_unit_test(a_typo_finds_the_name_that_was_meant),
        cmocka_unit_test(a_beginning_finds_its_name),
        cmocka_unit_test(something_else_finds_nothing),
        cmocka_unit_test(names_of_any_length_are_compared_safely),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
