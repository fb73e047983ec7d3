/* Studies: how a file becomes runs, and how they are named, found and overridden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "study/study.h"

static const char base[] = "run:\n"
                           "  machine:\n"
                           "    topology: {kind: crossbar, nodes: 8}\n"
                           "    links: {default: {bandwidth: 1 GB/s, latency: 1 us}}\n";

/* A file of this test's own. */
static char path[64];

static int make_place(void **state)
{
    (void)state;
    strcpy(path, "/tmp/weir-study-XXXXXX");
    int fd = mkstemp(path);

    return fd < 0 ? -1 : close(fd);
}

static int drop_place(void **state)
{
    (void)state;
    return unlink(path);
}

static bool try_open(struct study **ret, const char *cross, struct wr_err *err)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(base, f);
    fputs(cross, f);
    fclose(f);
    return study_open(ret, path, NULL, 0, err);
}

static struct study *open_study(const char *cross)
{
    struct wr_err err = {0};
    struct study *s;

    if (!try_open(&s, cross, &err))
        fail_msg("%s", err.text);
    return s;
}

static void refused(const char *cross, const char *words)
{
    struct wr_err err = {0};
    struct study *s = NULL;

    assert_false(try_open(&s, cross, &err));
    assert_null(s);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
}

static void its_rows_are_sound(void **state)
{
    struct wr_err err = {0};

    (void)state;
    if (!conf_rows_check(study_rows, study_rows_size, &err))
        fail_msg("%s", err.text);
}

static void the_first_axis_varies_slowest_and_ranges_are_spelled_out(void **state)
{
    struct study *s = open_study("cross:\n"
                                 "  routing: {key: machine.routing, values: [minimal, valiant]}\n"
                                 "  seed: {values: [3..5, 9]}\n");
    static const char *const names[] = {"minimal-seed3", "minimal-seed4", "minimal-seed5",
                                        "minimal-seed9", "valiant-seed3", "valiant-seed4",
                                        "valiant-seed5", "valiant-seed9"};

    (void)state;
    assert_int_equal(study_runs(s), 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(study_run(s, i)->name, names[i]);
    assert_string_equal(study_axis(s, 1), "seed");
    assert_string_equal(study_label(s, study_run(s, 6), 0), "valiant");
    study_close(s);
}

static void runs_are_found_by_name_and_number(void **state)
{
    struct study *s = open_study("cross: {seed: {values: [1..3]}}\n");
    struct wr_err err = {0};
    size_t at = 77;

    (void)state;
    assert_true(study_find(s, "seed2", &at, &err) && at == 1);
    assert_true(study_find(s, "2", &at, &err) && at == 2);
    assert_false(study_find(s, "3", &at, &err));
    assert_false(study_find(s, "sed2", &at, &err));
    assert_non_null(strstr(err.text, "did you mean seed"));
    assert_int_equal(at, 2);
    study_close(s);
}

static void labels_become_names_that_a_shell_takes(void **state)
{
    struct study *s = open_study("cross:\n"
                                 "  ../b: {key: exclude, values: [1]}\n"
                                 "  a: {key: title, values: [--x 1, a/b c, 0.5, 20 %]}\n");

    (void)state;
    assert_string_equal(study_run(s, 0)->name, ".._b1-x_1");
    assert_string_equal(study_run(s, 1)->name, ".._b1-a_b_c");
    assert_string_equal(study_run(s, 2)->name, ".._b1-a0.5");
    assert_string_equal(study_run(s, 3)->name, ".._b1-a20");
    study_close(s);
}

static void every_configuration_is_checked_at_the_place_that_says_it(void **state)
{
    struct wr_err err = {0};
    struct study *s = open_study("cross:\n"
                                 "  load: {key: traffic.load, values: [10 %, 20 %, 500 %]}\n");

    (void)state;
    assert_false(study_inspect(s, NULL, SIZE_MAX, &err));
    if (!strstr(err.text, ":6:50: run.traffic.load: 500 % is out of range"))
        fail_msg("%s", err.text);
    study_close(s);
}

static void a_study_of_many_runs_is_opened_at_once(void **state)
{
    struct study *s = open_study("cross: {seed: {values: [1..300]}, title: {values: [1..300]}}\n");

    (void)state;
    assert_int_equal(study_runs(s), 90000);
    study_close(s);
}

static void what_cannot_be_crossed_is_refused(void **state)
{
    (void)state;
    refused("cross: {}\n", "the number of items, 0, is out of range");
    refused("cross: {a: {values: [], options: {}}}\n", "nothing to choose from");
    refused("cross: {a: {values: [1], options: {b: {}}}}\n", "values or options, not both");
    refused("cross: {a: {values: [1..20000]}}\n", "must count up, by at most 10000");
    refused("cross: {a: {values: [1..1000]}, b: {values: [1..1000]}}\n", "more than 100000 runs");
    refused("cross: {a: {values: [x y, x/y]}}\n", "two runs would be called \"x_y\"");
    refused("cros: {}\n", "unknown key \"cros\"; did you mean \"cross\"?");
}

#define IN_FILE(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_rows_are_sound),
        IN_FILE(the_first_axis_varies_slowest_and_ranges_are_spelled_out),
        IN_FILE(runs_are_found_by_name_and_number),
        IN_FILE(labels_become_names_that_a_shell_takes),
        IN_FILE(every_configuration_is_checked_at_the_place_that_says_it),
        IN_FILE(a_study_of_many_runs_is_opened_at_once),
        IN_FILE(what_cannot_be_crossed_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
