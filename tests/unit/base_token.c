#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/token.h"

static const char digits[] = "00112233445566778899aabbccddeeff", variable[] = "WEIR_TEST_TOKEN";
static char dir[] = "/tmp/weir-test-token-XXXXXX", file[64];

static int make_dir(void **state)
{
    (void)state;
    unsetenv(variable);
    snprintf(file, sizeof file, "%s/token", mkdtemp(dir));
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(dir);
}

static void write_file(const char *text, mode_t mode)
{
    unlink(file);
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(file, mode), 0);
}

static void a_new_token_has_128_bits_and_is_like_no_other(void **state)
{
    struct wr_token a, b;
    uint64_t ever[2] = {0, 0}, always[2] = {UINT64_MAX, UINT64_MAX};
    struct wr_err err;

    (void)state;
    for (int i = 0; i < 64; i++) {
        assert_true(wr_token_make(&a, &err) && wr_token_make(&b, &err));
        assert_false(wr_token_same(&a, &b));
        for (int k = 0; k < 2; k++) {
            ever[k] |= a.word[k];
            always[k] &= a.word[k];
        }
    }
    assert_true(ever[0] == UINT64_MAX && ever[1] == UINT64_MAX && !always[0] && !always[1]);
}

static void text_becomes_the_same_token_again(void **state)
{
    struct wr_token a, b;
    char text[WR_TOKEN_TEXT];
    struct wr_err err;

    (void)state;
    assert_true(wr_token_parse(&a, digits));
    wr_token_text(&a, text);
    assert_string_equal(text, digits);
    assert_true(wr_token_make(&a, &err));
    wr_token_text(&a, text);
    assert_true(wr_token_parse(&b, text) && wr_token_same(&a, &b));
    assert_true(wr_token_parse(&a, "00112233445566778899AABBCCDDEEFF"));
    assert_true(wr_token_parse(&b, digits) && wr_token_same(&a, &b));
}

static void a_token_that_differs_in_one_digit_is_another(void **state)
{
    struct wr_token a, b;
    char text[WR_TOKEN_TEXT];

    (void)state;
    assert_true(wr_token_parse(&a, digits));
    for (size_t i = 0; i < WR_TOKEN_DIGITS; i++) {
        memcpy(text, digits, sizeof text);
        text[i] = text[i] == '7' ? '8' : '7';
        assert_true(wr_token_parse(&b, text));
        assert_false(wr_token_same(&a, &b));
    }
}

static void what_is_no_hexadecimal_digit_is_no_token(void **state)
{
    struct wr_token t;
    char text[WR_TOKEN_TEXT];

    (void)state;
    for (int c = 1; c < 256; c++) {
        memcpy(text, digits, sizeof text);
        text[c % WR_TOKEN_DIGITS] = (char)c;
        bool is_digit = strchr("0123456789abcdefABCDEF", c);

        if (wr_token_parse(&t, text) != is_digit)
            fail_msg("character %d", c);
    }
    assert_false(wr_token_parse(&t, NULL));
    assert_false(wr_token_parse(&t, ""));
    assert_false(wr_token_parse(&t, digits + 1));
    assert_false(wr_token_parse(&t, "00112233445566778899aabbccddeeff0"));
}

static void a_token_is_found_in_a_file_or_in_the_environment(void **state)
{
    struct wr_token want, t;
    struct wr_err err;
    bool given;

    (void)state;
    assert_true(wr_token_parse(&want, digits));
    assert_true(wr_token_find(&t, &given, NULL, variable, &err));
    assert_false(given);
    setenv(variable, digits, 1);
    assert_true(wr_token_find(&t, &given, NULL, variable, &err));
    assert_true(given && wr_token_same(&t, &want));
    setenv(variable, "ffffffffffffffffffffffffffffffff", 1);
    write_file("00112233445566778899aabbccddeeff \n", 0600);
    assert_true(wr_token_find(&t, &given, file, variable, &err)); /* the file is asked first */
    assert_true(given && wr_token_same(&t, &want));
    unsetenv(variable);
}

static void refused(const char *from, const char *because)
{
    struct wr_token t;
    struct wr_err err = {.code = WR_NONE};
    bool given;

    assert_false(wr_token_find(&t, &given, from, variable, &err));
    if (!strstr(err.text, because))
        fail_msg("%s", err.text);
    assert_null(strstr(err.text, "0011")); /* what was found is not shown */
}

static void a_file_that_others_may_read_is_refused_and_so_is_what_is_no_token(void **state)
{
    (void)state;
    write_file(digits, 0640);
    refused(file, "chmod 600");
    write_file(digits, 0604);
    refused(file, "chmod 600");
    write_file("0011223344556677\n", 0600);
    refused(file, "no token of 32");
    write_file("00112233445566778899aabbccddeeff00112233\n", 0600);
    refused(file, "no token of 32");
    setenv(variable, "0011", 1);
    refused(NULL, variable);
    unsetenv(variable);
    unlink(file);
    refused(file, "cannot open");
    refused(dir, "no regular file");
    assert_int_equal(mkfifo(file, 0600), 0); /* without a writer: opening it would block */
    refused(file, "no regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_token_has_128_bits_and_is_like_no_other),
        cmocka_unit_test(text_becomes_the_same_token_again),
        cmocka_unit_test(a_token_that_differs_in_one_digit_is_another),
        cmocka_unit_test(what_is_no_hexadecimal_digit_is_no_token),
        cmocka_unit_test(a_token_is_found_in_a_file_or_in_the_environment),
        cmocka_unit_test(a_file_that_others_may_read_is_refused_and_so_is_what_is_no_token),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
