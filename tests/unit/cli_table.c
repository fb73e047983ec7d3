/* The same rows as text, CSV and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_table.h"

static const struct cli_column columns[] = {
    {.name = "name"}, {.name = "n"}, {.name = "mean_ns", .title = "mean (ns)"}};

/* What a function prints; free() it. */
static __attribute__((noinline)) char *printed(void (*print)(struct cli_table *),
                                               enum cli_format format)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    struct cli_table *t = cli_table_open(out, format, columns, 3);

    print(t);
    cli_table_close(t);
    fclose(out);
    return text;
}

static void assert_prints(void (*print)(struct cli_table *), enum cli_format format,
                          const char *want)
{
    char *got = printed(print, format);

    assert_string_equal(got, want);
    free(got);
}

static void row(struct cli_table *t, const char *name, int64_t n, double mean)
{
    cli_table_text(t, name);
    cli_table_int(t, n);
    cli_table_real(t, mean);
}

static void two_rows(struct cli_table *t)
{
    row(t, "a, \"b\"", 5, 726.6);
    row(t, "long name", 12345, 1053.674);
}

static void numbers_stand_to_the_right_with_the_same_decimals(void **state)
{
    (void)state;
    assert_prints(two_rows, CLI_AS_TEXT,
                  "name           n  mean (ns)\n"
                  "a, \"b\"         5    726.600\n"
                  "long name  12345   1053.674\n");
}

static void csv_quotes_what_needs_it(void **state)
{
    (void)state;
    assert_prints(two_rows, CLI_AS_CSV,
                  "name,n,mean_ns\n\"a, \"\"b\"\"\",5,726.6\nlong name,12345,1053.674\n");
}

static void json_is_a_list_of_objects(void **state)
{
    (void)state;
    assert_prints(two_rows, CLI_AS_JSON,
                  "[\n  {\"name\": \"a, \\\"b\\\"\", \"n\": 5, \"mean_ns\": 726.6},\n"
                  "  {\"name\": \"long name\", \"n\": 12345, \"mean_ns\": 1053.674}\n]\n");
}

static void no_rows(struct cli_table *t)
{
    (void)t;
}

static void an_empty_table_still_has_its_shape(void **state)
{
    (void)state;
    assert_prints(no_rows, CLI_AS_TEXT, "name  n  mean (ns)\n");
    assert_prints(no_rows, CLI_AS_CSV, "name,n,mean_ns\n");
    assert_prints(no_rows, CLI_AS_JSON, "[]\n");
}

static void absent_values(struct cli_table *t)
{
    cli_table_null(t);
    cli_table_null(t);
    cli_table_real(t, NAN);
    cli_table_bool(t, true);
    cli_table_int(t, INT64_MIN);
    cli_table_real(t, INFINITY);
}

static void absent_values_are_absent_in_each_format(void **state)
{
    (void)state;
    assert_prints(absent_values, CLI_AS_TEXT,
                  "name                     n  mean (ns)\n"
                  "-                        -  -\n"
                  "yes   -9223372036854775808  -\n");
    assert_prints(absent_values, CLI_AS_CSV, "name,n,mean_ns\n,,\n1,-9223372036854775808,\n");
    assert_prints(absent_values, CLI_AS_JSON,
                  "[\n  {\"name\": null, \"n\": null, \"mean_ns\": null},\n"
                  "  {\"name\": true, \"n\": -9223372036854775808, \"mean_ns\": null}\n]\n");
}

static void hostile_words(struct cli_table *t)
{
    static const char bytes[] = "\x1b[2Jred\n\xff\xc2\x9b\xc3\xa9";

    cli_table_textn(t, bytes, sizeof bytes - 1);
    cli_table_int(t, 1);
    cli_table_real(t, 1);
}

static void control_characters_never_reach_a_terminal(void **state)
{
    char *text = printed(hostile_words, CLI_AS_JSON);
    json_error_t why;
    json_t *json = json_loads(text, 0, &why);

    (void)state;
    assert_prints(hostile_words, CLI_AS_TEXT,
                  "name                   n  mean (ns)\n"
                  "\\x1b[2Jred\\n\\xff\\x9b\xc3\xa9  1          1\n");
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json_array_get(json, 0), "name")),
                        "\x1b[2Jred\n\xef\xbf\xbd\xc2\x9b\xc3\xa9");
    json_decref(json);
    free(text);
}

static void a_long_word(struct cli_table *t)
{
    char word[200];

    memset(word, 'x', sizeof word);
    cli_table_textn(t, word, sizeof word);
    cli_table_int(t, 1);
    cli_table_real(t, 1e-9);
}

static void long_words_are_shortened_in_text_only(void **state)
{
    char *text = printed(a_long_word, CLI_AS_TEXT), *csv = printed(a_long_word, CLI_AS_CSV);

    (void)state;
    assert_non_null(strstr(text, "xxx...  1"));
    assert_true(strlen(text) < 200);
    assert_true(strlen(csv) > 200);
    free(text);
    free(csv);
}

static void reals(struct cli_table *t)
{
    static const double values[] = {0.1, 1.0 / 3, 1e300, 123456789.123456789, 5e-324, -0.0, 1e15};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        row(t, "x", 0, values[i]);
}

static void reals_read_back_as_they_were(void **state)
{
    static const double values[] = {0.1, 1.0 / 3, 1e300, 123456789.123456789, 5e-324, -0.0, 1e15};
    char *csv = printed(reals, CLI_AS_CSV), *at = strchr(csv, '\n');

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        at = strstr(at, "x,0,") + 4;
        assert_true(strtod(at, NULL) == values[i]);
    }
    free(csv);
}

static void many_rows(struct cli_table *t)
{
    for (int i = 0; i < 2500; i++)
        row(t, i < 1500 ? "early" : "much later", i, i + 0.5);
}

static void rows_beyond_the_first_thousand_follow_in_order(void **state)
{
    char *text = printed(many_rows, CLI_AS_TEXT), *at = strchr(text, '\n');
    int seen;

    (void)state;
    for (int i = 0; i < 2500; i++) {
        at = strpbrk(at, "0123456789");
        assert_int_equal(sscanf(at, "%d", &seen), 1);
        assert_int_equal(seen, i);
        at = strchr(at, '\n');
    }
    assert_string_equal(at, "\n");
    free(text);
}

static void json_and_csv_exclude_each_other(void **state)
{
    enum cli_format format = CLI_AS_TEXT;
    struct wr_err err = {0};

    (void)state;
    assert_false(cli_format_of(true, true, &format, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_true(cli_format_of(true, false, &format, &err) && format == CLI_AS_JSON);
    assert_true(cli_format_of(false, true, &format, &err) && format == CLI_AS_CSV);
    assert_true(cli_format_of(false, false, &format, &err) && format == CLI_AS_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stand_to_the_right_with_the_same_decimals),
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(json_is_a_list_of_objects),
        cmocka_unit_test(an_empty_table_still_has_its_shape),
        cmocka_unit_test(absent_values_are_absent_in_each_format),
        cmocka_unit_test(control_characters_never_reach_a_terminal),
        cmocka_unit_test(long_words_are_shortened_in_text_only),
        cmocka_unit_test(reals_read_back_as_they_were),
        cmocka_unit_test(rows_beyond_the_first_thousand_follow_in_order),
        cmocka_unit_test(json_and_csv_exclude_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
