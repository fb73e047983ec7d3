/* Text from outside: what a terminal may see of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

static void what_a_terminal_would_obey_is_written_out(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"plain, \xc3\xa4 and \xe2\x82\xac", NULL},
        {"two\nlines\tand a tab", NULL},
        {"\x1b]0;owned\x07", "\\x1b]0;owned\\x07"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\x9b", "\\x9b"},
        {"over\rwritten\b\x7f", "over\\x0dwritten\\x08\\x7f"},
        {"\xe2\x80\xae"
         "txt.exe",
         "\\u202etxt.exe"},
        {"\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80",
         "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80"},
        {"cut \xe2\x82", "cut \\xe2\\x82"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text, *want = cases[i].shown ? cases[i].shown : text;
        struct wr_str shown = {0};

        assert_int_equal(wr_text_is_harmless(text, strlen(text)), !cases[i].shown);
        wr_str_add_harmless(&shown, text, strlen(text));
        assert_string_equal(wr_str_get(&shown), want);
        assert_true(wr_text_is_harmless(shown.s, shown.n));
        wr_str_fini(&shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_would_obey_is_written_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
