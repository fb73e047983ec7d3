/* Log tables and their aggregates. */
#include "ncptl_try.h"

static void every_aggregate_has_its_value_and_title(void **state)
{
    (void)state;
    expect_logs(
        "FOR EACH i IN {3, 9, 4} TASK 0 LOGS THE MEDIAN OF i AS \"m\" AND THE 90th PERCENTILE AND "
        "THE STANDARD DEVIATION AND VARIANCE AND THE HARMONIC MEAN AND THE GEOMETRIC MEAN AND THE "
        "MEDIAN ABSOLUTE DEVIATION AND THE FINAL AND THE SUM OF THE i AS \"s\" AND THE ARITHMETIC "
        "MEAN i AS \"a\" AND THE MINIMUM AND THE MAXIMUM OF i AS \"mm\" AND THE 7 AS \"only\" AND "
        "EACH 5 AS \"q\\\"x\\\\\".",
        1,
        "## rank 0\n"
        "\"m\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"s\",\"a\",\"mm\",\"mm\",\"only\","
        "\"q\\\"x\\\\\"\n"
        "\"(median)\",\"(90th percentile)\",\"(std. dev.)\",\"(variance)\",\"(harm. mean)\","
        "\"(geom. mean)\",\"(med. abs. dev.)\",\"(final)\",\"(sum)\",\"(mean)\",\"(minimum)\","
        "\"(maximum)\",\"(only value)\",\"(all data)\"\n"
        "4,8,3.214550254,10.33333333,4.32,4.762203156,1,4,16,5.333333333,3,9,7,5\n"
        ",,,,,,,,,,,,,5\n"
        ",,,,,,,,,,,,,5\n");
}

static void percentiles_interpolate(void **state)
{
    (void)state;
    expect_logs(
        "FOR EACH i IN {5, 1, 4, 2} TASK 0 LOGS THE 0th PERCENTILE AND THE 25th PERCENTILE AND THE "
        "50th PERCENTILE AND THE 100th PERCENTILE OF i AS \"p\" AND THE MEDIAN i AS \"m\".",
        1,
        "## rank 0\n\"p\",\"p\",\"p\",\"p\",\"m\"\n"
        "\"(0th percentile)\",\"(25th percentile)\",\"(50th percentile)\",\"(100th "
        "percentile)\",\"(median)\"\n1,1.75,3,5,3\n");
    expect_error("TASK 0 LOGS THE 101st PERCENTILE OF 3 AS \"p\".", 1, "runtime error", "0 to 100");
}

static void histograms_take_two_columns(void **state)
{
    (void)state;
    expect_logs(
        "FOR EACH i IN {3, 1, 2, 2} TASK 0 LOGS A HISTOGRAM OF THE i AS \"h\" AND i AS \"all\".", 1,
        "## rank 0\n\"h\",\"h\",\"all\"\n"
        "\"(hist. values)\",\"(hist. tallies)\",\"(all data)\"\n"
        "1,1,3\n2,2,1\n3,1,2\n,,2\n");
}

static void sentences_make_tables_and_aggregating_makes_rows(void **state)
{
    (void)state;
    expect_logs("FOR EACH i IN {1, 2} { FOR EACH j IN {i, ..., 3} TASK 0 LOGS THE i AS \"i\" AND "
                "THE SUM OF j "
                "AS \"s\" THEN TASK 0 COMPUTES AGGREGATES } "
                "ALL TASKS t LOG t AS \"t\" THEN TASK 1 LOGS 9 AS \"nine\".",
                2,
                "## rank 0\n\"i\",\"s\"\n\"(only value)\",\"(sum)\"\n1,6\n2,5\n\n"
                "\"t\"\n\"(all data)\"\n0\n"
                "## rank 1\n\"t\",\"nine\"\n\"(all data)\",\"(all data)\"\n1,9\n");
}

static void what_depends_on_time_is_starred(void **state)
{
    (void)state;
    expect_logs(
        "FOR 2 REPETITIONS TASK 0 LOGS elapsed_usecs AS \"t\" AND THE MEAN OF 3*elapsed_usecs AS "
        "\"m\" AND 1 AS \"one\" THEN TASK 0 OUTPUTS elapsed_usecs.",
        1,
        "## rank 0\n\"t\",\"m\",\"one\"\n\"(all data)\",\"(mean)\",\"(all data)\"\n*,*,1\n*,,1\n");
    expect("TASK 0 OUTPUTS \"x\" AND elapsed_usecs.", 1, "0 OUTPUT *\n");
}

static void impossible_aggregates_end_the_program(void **state)
{
    static const char *const wrong[][2] = {
        {"FOR EACH i IN {1, 2} TASK 0 LOGS THE i AS \"i\".", "more than one value"},
        {"TASK 0 LOGS THE HARMONIC MEAN OF 0 AS \"i\".", "zero"},
        {"TASK 0 LOGS THE GEOMETRIC MEAN OF 0 AS \"i\".", "zero"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct wr_err err;
        struct try t;

        try_open(&t, wrong[i][0], 1, NULL);
        FILE *out = fopen("/dev/null", "w");
        struct ncptl_log *log = ncptl_log_new(t.p, false);
        assert_false(ncptl_dump(t.p, out, log, &err));
        if (!strstr(err.text, "runtime error") || !strstr(err.text, wrong[i][1]))
            fail_msg("%s\n%s", wrong[i][0], err.text);
        ncptl_log_free(log);
        fclose(out);
        try_close(&t);
    }
}

/* The same without printing anything: before a run rather than after it. */
static void impossible_aggregates_are_found_by_a_check(void **state)
{
    struct wr_err err;
    struct try t;
    bool complete;

    (void)state;
    expect_error("FOR EACH i IN {1, 2} TASK 0 LOGS THE i AS \"i\".", 1, "runtime error",
                 "more than one value (1 and 2)");
    try_open(
        &t,
        "FOR EACH i IN {1, 2} { TASK 0 LOGS THE i AS \"i\" AND THE elapsed_usecs AS \"t\" THEN "
        "TASK 0 COMPUTES AGGREGATES }",
        1, NULL);
    assert_true(ncptl_verify(t.p, 0, &complete, &err));
    try_close(&t);
}

static void what_a_column_cannot_have_takes_nothing_from_the_others(void **state)
{
    struct wr_err err;
    struct wr_str text = {0};
    struct try t;

    (void)state;
    try_open(
        &t,
        "FOR EACH i IN {1, 2} ALL TASKS t LOG THE i*t AS \"it\" AND THE SUM OF i AS \"s\" THEN "
        "ALL TASKS COMPUTE AGGREGATES THEN ALL TASKS LOG THE 7 AS \"seven\".",
        2, NULL);
    FILE *out = fopen("/dev/null", "w");
    struct ncptl_log *log = ncptl_log_new(t.p, false);

    assert_false(ncptl_dump(t.p, out, log, &err));
    assert_non_null(strstr(err.text, "(1 and 2)"));
    ncptl_log_print(log, &text);
    try_same(
        "log",
        "## rank 0\n\"it\",\"s\",\"seven\"\n\"(only value)\",\"(sum)\",\"(only value)\"\n0,3,7\n"
        "## rank 1\n\"it\",\"s\",\"seven\"\n\"(only value)\",\"(sum)\",\"(only value)\"\nnan,3,7\n",
        wr_str_get(&text));
    wr_str_fini(&text);
    ncptl_log_free(log);
    fclose(out);
    try_close(&t);
}

struct seen {
    double sum;
    unsigned n;
};

static void note(void *ctx, uint32_t proc, uint32_t column, uint32_t part, uint64_t row, double v)
{
    struct seen *s = ctx;

    s->n++;
    s->sum += v * (1 + proc) * (1 + column) * (1 + part) * (double)(1 + row);
}

static void every_value_can_be_had_as_a_number(void **state)
{
    struct wr_err err;
    struct seen s = {0};
    struct try t;

    (void)state;
    try_open(&t, "ALL TASKS t LOG t+1 AS \"t\" AND A HISTOGRAM OF 5 AS \"h\".", 2, NULL);
    FILE *out = fopen("/dev/null", "w");
    struct ncptl_log *log = ncptl_log_new(t.p, false);
    assert_true(ncptl_dump(t.p, out, log, &err));
    ncptl_log_each(log, note, &s);
    assert_int_equal(s.n, 6);
    assert_true(s.sum == (1 + 5 * 2 + 1 * 2 * 2) + 2 * (2 + 5 * 2 + 1 * 2 * 2));
    ncptl_log_free(log);
    fclose(out);
    try_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_aggregate_has_its_value_and_title),
        cmocka_unit_test(percentiles_interpolate),
        cmocka_unit_test(histograms_take_two_columns),
        cmocka_unit_test(sentences_make_tables_and_aggregating_makes_rows),
        cmocka_unit_test(what_depends_on_time_is_starred),
        cmocka_unit_test(impossible_aggregates_end_the_program),
        cmocka_unit_test(impossible_aggregates_are_found_by_a_check),
        cmocka_unit_test(what_a_column_cannot_have_takes_nothing_from_the_others),
        cmocka_unit_test(every_value_can_be_had_as_a_number),
    };

    return cmocka_run_group_tests_name("ncptl: log tables", tests, NULL, NULL);
}
