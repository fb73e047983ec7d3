/* Numbers, conditions, functions and ranges. */
#include "ncptl_try.h"

static void every_keyword_is_refused_as_a_variable(void **state)
{
    /* clang-format off */
    static const char *const words[] = {
        "a", "abs", "absolute", "aggregates", "aligned", "all", "an", "and", "are", "arithmetic",
        "as", "assert", "assigned", "asynchronously", "await", "awaits", "backend", "be", "bit",
        "bits", "buffer", "buffers", "but", "byte", "bytes", "cbrt", "ceiling", "comes",
        "completion", "completions", "compute", "computes", "counters", "current", "data", "day",
        "days", "declares", "default", "deviation", "divides", "doubleword", "doublewords",
        "each", "even", "execute", "executes", "factor10", "file_data", "final", "floor", "for",
        "from", "geometric", "gigabyte", "greater", "group", "halfword", "halfwords", "harmonic",
        "histogram", "hour", "hours", "if", "in", "integer", "integers", "into", "is", "it",
        "its", "kilobyte", "knomial_child", "knomial_children", "knomial_parent", "language",
        "less", "let", "log", "log10", "logs", "max", "maximum", "mean", "median", "megabyte",
        "memory", "mesh_coordinate", "mesh_distance", "mesh_neighbor", "message", "messages",
        "microsecond", "microseconds", "millisecond", "milliseconds", "min", "minimum", "minute",
        "minutes", "misaligned", "mod", "multicast", "multicasts", "my", "nonunique", "not",
        "odd", "of", "or", "other", "otherwise", "output", "outputs", "page", "pages",
        "percentile", "plus", "processor", "processor_of", "processors", "quadword", "quadwords",
        "random", "random_gaussian", "random_pareto", "random_poisson", "random_uniform", "real",
        "receive", "receives", "reduce", "reduces", "region", "repetition", "repetitions",
        "require", "reset", "resets", "restore", "restores", "result", "results", "root",
        "round", "second", "seconds", "send", "sends", "sized", "sleep", "sleeps", "sqrt",
        "standard", "static_file_data", "store", "stores", "stride", "such", "sum",
        "synchronization", "synchronize", "synchronizes", "synchronously", "tag", "task",
        "task_of", "tasks", "than", "that", "the", "their", "them", "then", "time", "times",
        "to", "touch", "touches", "touching", "tree_child", "tree_parent", "unaligned", "unique",
        "unsuspecting", "using", "value", "variance", "verification", "version", "warmup",
        "where", "while", "who", "with", "without", "word", "words", "xor",
    };
    /* clang-format on */

    (void)state;
    assert_int_equal(sizeof words / sizeof words[0], 199);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[128];

        snprintf(text, sizeof text, "LET %s BE 5 WHILE TASK 0 OUTPUTS %s.", words[i], words[i]);
        expect_error(text, 1, "syntax error", "keyword");
    }
}

static void the_words_of_files_are_free_for_variables(void **state)
{
    (void)state;
    expect("LET file BE 1 AND block BE file+1 AND offset BE 3 AND read BE 4 AND write BE 5 AND "
           "open BE 6 AND at BE 7 AND bytes_read BE 8 WHILE "
           "TASK 0 OUTPUTS file+block+offset+read+write+open+at+bytes_read.",
           1, "0 OUTPUT \"36\"\n");
    expect("ALL TASKS write SEND A MESSAGE TO TASK write+1 THEN ALL TASKS open OUTPUT open.", 2,
           "0 SEND 1 0\n0 OUTPUT \"0\"\n1 RECV 0 0\n1 OUTPUT \"1\"\n");
}

static void integers_have_multipliers_exponents_and_ordinals(void **state)
{
    (void)state;
    expect_whole("64K", "65536");
    expect_whole("2m", "2097152");
    expect_whole("1T/1G", "1024");
    expect_whole("8E3", "8000");
    expect_whole("3rd+21ST+2nd+4Th", "30");
    expect_whole("1E3th", "1000");
    expect_real("1E20", "1e+20");
    expect_error("LET v BE 1E20 WHILE TASK 0 OUTPUTS v.", 1, "semantic error", "64 bits");
    expect("TASK 0 SENDS A 64megabyte MESSAGE TO TASK 1.", 2,
           "0 SEND 1 67108864\n1 RECV 0 67108864\n");
}

static void strings_know_five_escapes_and_may_span_lines(void **state)
{
    struct try t;

    (void)state;
    expect("TASK 0 OUTPUTS \"a\\tb\\\\c\\\"d\" AND \"one\ntwo\" AND \"joined \\\nlines\".", 1,
           "0 OUTPUT \"a\\tb\\\\c\\\"done\\ntwojoined lines\"\n");
    expect("TASK 0 OUTPUTS \"\\q#\".", 1, "0 OUTPUT \"#\"\n");
    try_open(&t, "TASK 0 OUTPUTS \"\\q\".", 1, NULL);
    assert_non_null(strstr(ncptl_warnings(t.u), "test:1:17: warning: unknown escape \\q"));
    try_close(&t);
    expect_error("TASK 0 OUTPUTS \"no end", 1, "syntax error", "no end");
}

static void operators_bind_as_the_language_says(void **state)
{
    (void)state;
    expect_whole("-2**2", "-4");
    expect_whole("2**-1", "0");
    expect_whole("(-1)**-3", "-1");
    expect_whole("2**3**2", "512");
    expect_whole("1+2<<3", "17");
    expect_whole("8|1&3", "9");
    expect_whole("7 XOR 1<<2", "3");
    expect_whole("1 IF 1=2 OTHERWISE 2 IF 1=1 OTHERWISE 3", "2");
    expect_whole("NOT 5 + 1", "-5");
    expect_whole("- - 3", "3");
    expect_whole("-16 MOD -7", "5");
    expect_whole("3>>-2", "12");
    expect_whole("-8>>1", "-4");
    expect_whole("1<<64", "0");
    expect_whole("-1>>200", "-1");
    expect_whole("-(ABS(5))", "-5");
    expect_whole("(5-3)*2", "4");
}

static void a_hyphen_before_a_keyword_is_white_space(void **state)
{
    (void)state;
    expect_whole("-SQRT(16)", "4");
    expect_whole("5-(SQRT(16))", "1");
    expect_error("LET v BE 5-SQRT(16) WHILE TASK 0 OUTPUTS v.", 1, "syntax error", "");
    expect("TASK 0 SENDS 2 64-byte page-aligned messages TO TASK 1.", 2,
           "0 SEND 1 64 align=4096\n0 SEND 1 64 align=4096\n"
           "1 RECV 0 64 align=4096\n1 RECV 0 64 align=4096\n");
}

static void contexts_differ_in_division_and_rounding(void **state)
{
    (void)state;
    expect_whole("24/5*5", "20");
    expect_real("24/5*5", "24");
    expect_whole("REAL(24/5*5)", "24");
    expect_whole("REAL(7/2)", "4");
    expect_whole("REAL(5/2) + REAL(1/3)", "3");
    expect_whole("-7/2", "-3");
    expect_real("-7/2", "-3.5");
    expect_real("15/2 MOD 4", "3");
    expect_real("NOT 0", "-1");
    expect_real("7/2 & 1", "1");
    expect_real("10**(-2)", "0.01");
    expect_real("CEILING(-7777/10) AND \",\" AND FLOOR(-7777/10) AND \",\" AND ROUND(-7777/10)",
                "-777,-778,-778");
    expect_real("3 IF 1/2 > 0 OTHERWISE 4", "3");
    expect_whole("3 IF 1/2 > 0 OTHERWISE 4", "4");
}

static void functions_have_the_documented_values(void **state)
{
    static const char *const values[][2] = {
        {"ABS(-99)", "99"},
        {"BITS(12345)", "14"},
        {"BITS(-1)", "64"},
        {"BITS(0)", "0"},
        {"CBRT(100)", "4"},
        {"FACTOR10(-4975)", "-4000"},
        {"FACTOR10(9)", "9"},
        {"LOG10(12345)", "4"},
        {"MIN(8,6,7,5,3,0,9)", "0"},
        {"MAX(8,6,7,5,3,0,9)", "9"},
        {"ROOT(5, 245)", "3"},
        {"ROOT(2, 9223372036854775807)", "3037000499"},
        {"ROOT(-3, 8)", "0"},
        {"SQRT(99)", "9"},
        {"CEILING(7/2)", "3"},
        {"TREE_PARENT(7, 3)", "2"},
        {"TREE_PARENT(0)", "-1"},
        {"TREE_CHILD(2, 1, 3)", "8"},
        {"TREE_CHILD(2, 3, 3)", "-1"},
        {"KNOMIAL_PARENT(2, 3, 27)", "0"},
        {"KNOMIAL_PARENT(7, 2, 8)", "3"},
        {"KNOMIAL_PARENT(8, 2, 8)", "-1"},
        {"KNOMIAL_CHILDREN(2, 3, 27)", "4"},
        {"KNOMIAL_CHILDREN(8, 3, 26)", "1"},
        {"KNOMIAL_CHILDREN(8, 3, 10)", "0"},
        {"KNOMIAL_CHILD(2, 2, 3, 27)", "11"},
        {"KNOMIAL_CHILD(2, 3, 3, 27)", "20"},
        {"KNOMIAL_CHILD(2, 4, 3, 27)", "-1"},
        {"KNOMIAL_CHILD(1, 1, 2, 8)", "5"},
        {"MESH_NEIGHBOR((4, 3, 2), 17, (+2, -1, -1))", "3"},
        {"MESH_NEIGHBOR((4*, 3*, 2*), 7, (+100, -200, +300))", "11"},
        {"MESH_NEIGHBOR((4, 3*), 5, (-2, -2))", "-1"},
        {"MESH_COORDINATE((4, 3, 2), 18, 2)", "1"},
        {"MESH_DISTANCE((4*, 3*, 2*), 14, 8)", "4"},
        {"PROCESSOR_OF(0)", "0"},
        {"TASK_OF(1)", "-1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        expect_whole(values[i][0], values[i][1]);
}

static void what_has_no_value_ends_the_program(void **state)
{
    static const char *const wrong[][2] = {
        {"10/0", "divided by zero"},
        {"10 MOD 0", "MOD zero"},
        {"0**0", "not defined"},
        {"0**(-1)", "not defined"},
        {"LOG10(0)", "not defined"},
        {"ROOT(0, 5)", "not defined"},
        {"SQRT(-1)", "not defined"},
        {"TREE_PARENT(3, 0)", "at least 1"},
        {"KNOMIAL_PARENT(3, 1)", "at least 2"},
        {"MESH_NEIGHBOR((0), 1, (1))", "positive sizes"},
        {"MESH_COORDINATE((4), 1, 3)", "0, 1 or 2"},
        {"9223372036854775807+1", "64 bits"},
        {"3037000500*3037000500", "64 bits"},
        {"2**63", "64 bits"},
        {"STATIC_FILE_DATA(\"no such file\")", "cannot be read"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];

        snprintf(text, sizeof text, "LET v BE %s WHILE TASK 0 OUTPUTS v.", wrong[i][0]);
        expect_error(text, 1, "runtime error", wrong[i][1]);
    }
    expect_error("TASK 0 OUTPUTS 1/0.", 1, "test:1:17: runtime error", "divided by zero");
}

static void conditions_short_circuit_and_nest(void **state)
{
    (void)state;
    expect_whole("1 IF 0<>0 /\\ 1/0=1 OTHERWISE 2", "2");
    expect_whole("1 IF 3=3 \\/ 1/0=1 OTHERWISE 2", "1");
    expect_whole("1 IF ((1=2 \\/ (2=2)) /\\ (3<>4)) OTHERWISE 2", "1");
    expect_whole("1 IF (1+1)*(2)=4 OTHERWISE 2", "1");
    expect_whole("1 IF 3 DIVIDES 9 /\\ 9 IS ODD /\\ 0 IS EVEN OTHERWISE 2", "1");
    expect_whole("1 IF 4 IS IN {1, 2}, {4} OTHERWISE 2", "1");
    expect_whole("1 IF 6 IS NOT IN {3, ..., 5} OTHERWISE 2", "1");
    expect_whole("1 IF 4 IS IN [5, 3] OTHERWISE 2", "1");
    expect_whole("1 IF 8 IS IN {1, 2, 4, ..., 64} OTHERWISE 2", "1");
    expect_whole("1 IF 9 IS IN {k*k FOR EACH k IN {0, ..., 5} WHERE k IS ODD} OTHERWISE 2", "1");
    expect_whole("1 IF 4 IS IN {k*k FOR EACH k IN {0, ..., 5} WHERE k IS ODD} OTHERWISE 2", "2");
}

static void ranges_find_their_pattern(void **state)
{
    static const char *const ranges[][2] = {
        {"{8, 7, 5, 4, 5}", "8 7 5 4 5"},
        {"{1, ..., 5}", "1 2 3 4 5"},
        {"{5, ..., 1}", "5 4 3 2 1"},
        {"{15, 12, ..., 1}", "15 12 9 6 3"},
        {"{50, 40, 30, ..., 10}", "50 40 30 20 10"},
        {"{15, 25, ..., 5}", ""},
        {"{2, 2, ..., 1000}", "2"},
        {"{4, 4, 4, ..., 9}", "4"},
        {"{2, 4, 8, ..., 50}", "2 4 8 16 32"},
        {"{6561, 2187, 729, ..., 1}", "6561 2187 729 243 81 27 9 3 1"},
        {"{8, 4, 2, ..., 0}", "8 4 2 1 0"},
        {"{100, 150, 225, ..., 2000}", "100 150 225 338 506 759 1139 1709"},
        {"{0}, {1, 2, 4, ..., 16}, {3, ..., 1}", "0 1 2 4 8 16 3 2 1"},
        {"{n/2 FOR EACH n IN {1, ..., 10} WHERE n/2 IS ODD}", "1 1 3 3 5"},
        {"{y*10+x FOR EACH y IN {1, 2} FOR EACH x IN {0, ..., y}}", "10 11 20 21 22"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        char text[256], *events = NULL, got[256] = "";

        snprintf(text, sizeof text, "FOR EACH i IN %s TASK 0 OUTPUTS i.", ranges[i][0]);
        try_run(text, 1, NULL, &events, NULL);
        for (char *save, *line = strtok_r(events, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save)) {
            char value[32];

            assert_int_equal(sscanf(line, "0 OUTPUT \"%31[^\"]", value), 1);
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", *got ? " " : "", value);
        }
        try_same(ranges[i][0], ranges[i][1], got);
        free(events);
    }
    expect_error("FOR EACH i IN {2, 4, 4, ..., 50} TASK 0 OUTPUTS i.", 1,
                 "test:1:16: runtime error", "pattern");
}

static void files_give_numbers_by_column_and_row(void **state)
{
    FILE *f = fopen("ncptl_cells.dat", "w");

    (void)state;
    fputs("Eir 231  58\t490\nGunnr 901 875 141\nHerja 17\n", f);
    fclose(f);
    expect_whole("STATIC_FILE_DATA(\"ncptl_cells.dat\")", "0");
    expect_whole("STATIC_FILE_DATA(\"ncptl_cells.dat\", 3)", "58");
    expect_whole("STATIC_FILE_DATA(\"ncptl_cells.dat\", 3, 2)", "875");
    expect_whole("STATIC_FILE_DATA(\"ncptl_cells.dat\", -1, -2)", "141");
    expect_whole("STATIC_FILE_DATA(\"ncptl_cells.dat\", 2, 1, \" \")", "231");
    expect_real("FILE_DATA(\"ncptl_cells.dat\", 2, 3)", "17");
    expect_error("TASK 0 OUTPUTS FILE_DATA(\"ncptl_cells.dat\", 0).", 1, "runtime error",
                 "no column 0");
    expect_error("TASK 0 OUTPUTS FILE_DATA(\"ncptl_cells.dat\", 1, -6).", 1, "runtime error",
                 "row -6");
    expect_error("LET v BE FILE_DATA(\"ncptl_cells.dat\") WHILE TASK 0 OUTPUTS v.", 1,
                 "semantic error", "STATIC_FILE_DATA");
    remove("ncptl_cells.dat");
}

static void hostile_depth_is_refused_not_survived_by_luck(void **state)
{
    struct wr_str text = {0};

    (void)state;
    wr_str_add(&text, "TASK 0 OUTPUTS ");
    for (int i = 0; i < 100000; i++)
        wr_str_add(&text, "(");
    expect_error(wr_str_get(&text), 1, "syntax error", "deep");
    text.n = 0;
    wr_str_add(&text, "TASK 0 OUTPUTS 1");
    for (int i = 0; i < 100000; i++)
        wr_str_add(&text, "+1");
    expect_error(wr_str_get(&text), 1, "syntax error", "deep");
    text.n = 0;
    for (int i = 0; i < 100000; i++)
        wr_str_add(&text, "{");
    expect_error(wr_str_get(&text), 1, "syntax error", "deep");
    wr_str_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_keyword_is_refused_as_a_variable),
        cmocka_unit_test(the_words_of_files_are_free_for_variables),
        cmocka_unit_test(integers_have_multipliers_exponents_and_ordinals),
        cmocka_unit_test(strings_know_five_escapes_and_may_span_lines),
        cmocka_unit_test(operators_bind_as_the_language_says),
        cmocka_unit_test(a_hyphen_before_a_keyword_is_white_space),
        cmocka_unit_test(contexts_differ_in_division_and_rounding),
        cmocka_unit_test(functions_have_the_documented_values),
        cmocka_unit_test(what_has_no_value_ends_the_program),
        cmocka_unit_test(conditions_short_circuit_and_nest),
        cmocka_unit_test(ranges_find_their_pattern),
        cmocka_unit_test(files_give_numbers_by_column_and_row),
        cmocka_unit_test(hostile_depth_is_refused_not_survived_by_luck),
    };

    return cmocka_run_group_tests_name("ncptl: expressions", tests, NULL, NULL);
}
