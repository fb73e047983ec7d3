/* Files of cases: what others computed comes out, and faults are reported. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "interference/interference_cases.h"

static const char *const reference = WEIR_SOURCE_DIR "/tests/data/interfere/cases_open.json";

static void assert_close(const json_t *want, const json_t *got)
{
    double a = json_number_value(want), b = json_number_value(got);

    assert_true(json_is_number(want) && json_is_number(got));
    if (fabs(a - b) > 1e-6 * fmax(1, fabs(a)))
        fail_msg("%.9g where %.9g is right", b, a);
}

/* The same keys, the same numbers. */
static void assert_numbers(json_t *want, json_t *got)
{
    const char *key;
    json_t *value;

    assert_true(json_is_object(want) && json_object_size(want) == json_object_size(got));
    json_object_foreach(want, key, value)
    {
        if (json_is_object(value))
            assert_numbers(value, json_object_get(got, key));
        else
            assert_close(value, json_object_get(got, key));
    }
}

static void every_reference_case_is_met_to_a_millionth(void **state)
{
    struct interference_cases cs;
    struct wr_err err;
    json_t *want, *out, *list;
    size_t i, k;

    (void)state;
    assert_true(interference_cases_read(&cs, reference, INTERFERENCE_WEIGHT_NODES, &err));
    assert_int_equal(cs.n, 10);
    out = interference_cases_json(&cs);
    list = json_object_get(out, "cases");
    assert_string_equal(json_string_value(json_object_get(out, "kind")), "open");
    json_array_foreach(json_object_get(cs.all, "cases"), i, want)
    {
        json_t *got = json_array_get(list, i), *parts = json_object_get(got, "schedule"), *part;

        assert_true(json_equal(json_object_get(want, "apps"), json_object_get(got, "apps")));
        assert_null(json_object_get(got, "expected"));
        assert_numbers(json_object_get(want, "expected"), json_object_get(got, "predicted"));
        assert_numbers(json_object_get(want, "expected_all_active"),
                       json_object_get(got, "predicted_all_active"));
        assert_int_equal(json_array_size(json_object_get(want, "schedule")),
                         json_array_size(parts));
        json_array_foreach(json_object_get(want, "schedule"), k, part)
        {
            assert_numbers(part, json_array_get(parts, k));
        }
    }
    json_decref(out);
    interference_cases_fini(&cs);
}

static bool parse(struct interference_cases *cs, const char *text, enum interference_weights by,
                  struct wr_err *err)
{
    return interference_cases_parse(cs, "f", text, strlen(text), by, err);
}

static void weights_are_nodes_unless_processes_are_asked_for(void **state)
{
    static const char *const text =
        "{\"cases\": [{\"capacity_mib_s\": 9, \"apps\": ["
        "{\"name\": \"A\", \"volume\": 1, \"nodes\": 2, \"processes\": 24},"
        "{\"name\": \"B\", \"volume\": 1, \"nodes\": 1, \"processes\": 3},"
        "{\"name\": \"C\", \"volume\": 1, \"weight\": 7}]}]}";
    static const struct {
        enum interference_weights by;
        double a, b;
        const char *from;
    } want[] = {{INTERFERENCE_WEIGHT_NODES, 2, 1, "nodes"},
                {INTERFERENCE_WEIGHT_PROCESSES, 24, 3, "processes"},
                {INTERFERENCE_WEIGHT_EQUAL, 1, 1, "equal"}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct interference_cases cs;
        struct wr_err err;

        assert_true(parse(&cs, text, want[i].by, &err));
        assert_true(cs.v[0].job[0].weight == want[i].a && cs.v[0].job[1].weight == want[i].b);
        assert_string_equal(cs.v[0].app[0].weight_from, want[i].from);
        assert_true(cs.v[0].job[2].weight == 7);
        assert_string_equal(cs.v[0].app[2].weight_from, "given");
        interference_cases_fini(&cs);
    }
}

static void words_of_the_command_line_make_the_same_case(void **state)
{
    static const char *const jobs[] = {"name=A,volume=16MiB,nodes=3,start=5s,cap=512KiB/s",
                                       "volume=1GiB,weight=2.5"};
    struct interference_cases cs;
    struct wr_err err;

    (void)state;
    assert_true(
        interference_cases_words(&cs, "1 MiB/s,2MiB/s", jobs, 2, INTERFERENCE_WEIGHT_NODES, &err));
    assert_int_equal(cs.v[0].capacity.n, 2);
    assert_true(cs.v[0].capacity.by_active[1] == 2);
    assert_memory_equal(&cs.v[0].job[0], (&(struct stat_share_job){16, 5, 3, 0.5}),
                        sizeof cs.v[0].job[0]);
    assert_memory_equal(&cs.v[0].job[1], (&(struct stat_share_job){1024, 0, 2.5, INFINITY}),
                        sizeof cs.v[0].job[1]);
    assert_string_equal(cs.v[0].app[1].name, "job2");
    interference_cases_fini(&cs);
}

#define APPS(...) "{\"cases\": [{\"capacity_mib_s\": 9, \"apps\": [" __VA_ARGS__ "]}]}"

static void what_is_wrong_is_reported_with_its_place(void **state)
{
    static const struct {
        const char *text, *begins;
    } bad[] = {
        {"{\"cases\": [\n  {\"capacity_mib_s\": NaN}]}", "f:2:"},
        {"{", "f:1:1: "},
        {"[]", "f: no object; "},
        {"{\"case\": []}", "f: \"case\" is unknown; did you mean cases?"},
        {"{\"cases\": []}", "f: there are no cases; "},
        {"{\"cases\": [7]}", "f: cases[0]: a case is an object; "},
        {"{\"cases\": [{\"apps\": []}]}", "f: cases[0]: the capacity is missing; "},
        {"{\"cases\": [{\"capacity_mib_s\": 0, \"apps\": [{\"name\": \"A\", \"volume\": 1}]}]}",
         "f: cases[0]: the capacity is 0; "},
        {"{\"cases\": [{\"capacity_mib_s\": [], \"apps\": [{\"name\": \"A\", \"volume\": 1}]}]}",
         "f: cases[0]: the capacity is an empty list; "},
        {"{\"cases\": [{\"capacity_mibs\": 9}]}",
         "f: cases[0]: \"capacity_mibs\" is unknown; did you mean capacity_mib_s?"},
        {"{\"cases\": [{\"capacity_mib_s\": 9}]}", "f: cases[0]: \"apps\" is no list of jobs; "},
        {APPS(), "f: cases[0]: apps: there are 0 jobs; "},
        {APPS("{\"volume\": 1}"), "f: cases[0]: apps[0]: the name is missing; "},
        {APPS("{\"name\": \"A\"}"), "f: cases[0]: job \"A\": the volume is missing; "},
        {APPS("{\"name\": \"A\", \"volume\": \"1\"}"),
         "f: cases[0]: apps[0]: \"volume\" is not a number; "},
        {APPS("{\"name\": \"A\", \"volume\": -1}"), "f: cases[0]: job \"A\": the volume is -1; "},
        {APPS("{\"name\": \"A\", \"volume\": 1, \"wieght\": 1}"),
         "f: cases[0]: apps[0]: a job has no \"wieght\"; did you mean weight?"},
        {APPS("{\"name\": \"A\", \"volume\": 1}, {\"name\": \"A\", \"volume\": 1}"),
         "f: cases[0]: job \"A\": another job has that name; "},
        {APPS("{\"name\": \"A\", \"volume\": 1, \"nodes\": 2}, {\"name\": \"B\", \"volume\": 1}"),
         "f: cases[0]: job \"B\": the number of nodes is missing, "},
        {APPS("{\"name\": \"A\", \"volume\": 1, \"nodes\": 0}"),
         "f: cases[0]: job \"A\": the number of nodes is 0; "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct interference_cases cs;
        struct wr_err err;

        assert_false(parse(&cs, bad[i].text, INTERFERENCE_WEIGHT_NODES, &err));
        assert_int_equal(wr_exit_status(err.code), 2);
        if (strncmp(err.text, bad[i].begins, strlen(bad[i].begins)) != 0)
            fail_msg("\"%s\" does not begin with \"%s\"", err.text, bad[i].begins);
    }
}

static void a_case_that_expects_something_else_fails_the_check(void **state)
{
    static const char *const text =
        "{\"cases\": [{\"id\": \"X\", \"capacity_mib_s\": 9, "
        "\"apps\": [{\"name\": \"A\", \"volume\": 18}], "
        "\"expected\": {\"A\": {\"finish_s\": 2, \"runtime_s\": 2.00001}}}]}";
    struct interference_cases cs;
    struct wr_err err;
    size_t checked = 7;

    (void)state;
    assert_true(parse(&cs, text, INTERFERENCE_WEIGHT_NODES, &err));
    assert_false(interference_cases_check(&cs, &checked, &err));
    assert_int_equal(err.code, WR_CHECK);
    assert_int_equal(checked, 7);
    assert_memory_equal(err.text, "case X: expected: A: runtime_s: 2.00001 is expected", 51);
    interference_cases_fini(&cs);
}

static void check_text(const char *text, bool want)
{
    struct interference_cases cs;
    struct wr_err err = {0};
    size_t checked = 0;

    if (!parse(&cs, text, INTERFERENCE_WEIGHT_NODES, &err))
        fail_msg("%s", err.text);
    bool ok = interference_cases_check(&cs, &checked, &err);

    if (ok != want)
        fail_msg("%s: %s", text, ok ? "passes" : err.text);
    interference_cases_fini(&cs);
}

#define APART(active)                                                                      \
    "{\"cases\": [{\"capacity_mib_s\": 10, \"apps\": [{\"name\": \"A\", \"volume\": 20}, " \
    "{\"name\": "                                                                          \
    "\"B\", \"volume\": 20, \"start\": 5}], \"expected\": {\"A\": {\"runtime_s\": 2}}, "   \
    "\"expected_all_active\": " active "}]}"

/* Whatever a file writes where there is no time and so no rate: nothing, null or 0. */
static void jobs_that_never_overlap_pass_the_check(void **state)
{
    (void)state;
    check_text(APART("{\"duration_s\": 0, \"rates_mib_s\": {}}"), true);
    check_text(APART("{\"duration_s\": 0, \"rates_mib_s\": {\"A\": null, \"B\": null}}"), true);
    check_text(APART("{\"duration_s\": 0, \"rates_mib_s\": {\"A\": 0, \"B\": 0.0}}"), true);
    check_text(APART("null"), true);
    check_text(APART("{\"duration_s\": 0, \"rates_mib_s\": {\"A\": 5}}"), false);
    check_text(APART("{\"duration_s\": 1}"), false);
}

static void a_job_that_moves_nothing_has_no_throughput_and_splits_no_schedule(void **state)
{
    static const char *const text =
        APPS("{\"name\": \"A\", \"volume\": 90}, {\"name\": \"B\", \"volume\": 0, \"start\": 5}, "
             "{\"name\": \"C\", \"volume\": 0, \"start\": 50}");
    struct interference_cases cs;
    struct wr_err err;

    (void)state;
    assert_true(parse(&cs, text, INTERFERENCE_WEIGHT_NODES, &err));
    json_t *out = interference_cases_json(&cs);
    json_t *got = json_array_get(json_object_get(out, "cases"), 0);
    json_t *b = json_object_get(json_object_get(got, "predicted"), "B");

    assert_true(json_is_null(json_object_get(b, "throughput_mib_s")));
    assert_true(json_number_value(json_object_get(b, "runtime_s")) == 0);
    assert_true(json_number_value(json_object_get(b, "finish_s")) == 5);
    assert_int_equal(json_array_size(json_object_get(got, "schedule")), 1);
    json_decref(out);
    interference_cases_fini(&cs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reference_case_is_met_to_a_millionth),
        cmocka_unit_test(weights_are_nodes_unless_processes_are_asked_for),
        cmocka_unit_test(words_of_the_command_line_make_the_same_case),
        cmocka_unit_test(what_is_wrong_is_reported_with_its_place),
        cmocka_unit_test(a_case_that_expects_something_else_fails_the_check),
        cmocka_unit_test(jobs_that_never_overlap_pass_the_check),
        cmocka_unit_test(a_job_that_moves_nothing_has_no_throughput_and_splits_no_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
