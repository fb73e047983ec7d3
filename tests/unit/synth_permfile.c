/* Permutation files: what is read, and where a fault is. */
#include "synth_help.h"

#include "load/synth/permfile.h"

static void lines_of_two_numbers_with_remarks_are_read(void **state)
{
    (void)state;
    const char text[] = "# source, destination\r\n0 3\r\n\n  3\t0  # back\n2 2#self";
    uint32_t *to = NULL;
    struct wr_err err;

    assert_true(synth_permfile_parse(&to, "p.txt", text, strlen(text), 4, false, &err));
    assert_int_equal(to[0], 3);
    assert_int_equal(to[1], SYNTH_SKIP);
    assert_int_equal(to[2], 2);
    assert_int_equal(to[3], 0);
    free(to);
}

static void destinations_may_repeat_only_when_allowed(void **state)
{
    (void)state;
    const char text[] = "0 1\n2 1\n";
    uint32_t *to = NULL;
    struct wr_err err;

    assert_false(synth_permfile_parse(&to, "p.txt", text, strlen(text), 4, false, &err));
    assert_string_equal(err.text, "p.txt:2:3: destination 1 is named twice; keep one of its lines "
                                  "or set many: true");
    assert_null(to);
    assert_true(synth_permfile_parse(&to, "p.txt", text, strlen(text), 4, true, &err));
    assert_int_equal(to[2], 1);
    free(to);
}

static void a_fault_is_reported_with_its_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "p.txt: no node sends"},
        {"# nothing\n", "p.txt: no node sends"},
        {"0 1\n1 0 2\n", "p.txt:2:5: a third word"},
        {"0 1\n  4 0\n", "p.txt:2:3: source 4 does not exist; nodes are numbered 0 to 3"},
        {"0 99999999999999999999999\n", "p.txt:1:3: destination 99999999999"},
        {"0\n", "p.txt:1:2: expected the number of the destination"},
        {"x 1\n", "p.txt:1:1: expected the number of the source"},
        {"0 -1\n", "p.txt:1:3: expected the number of the destination"},
        {"0 1x\n", "p.txt:1:3: the number of the destination is followed by something else"},
        {"0 77.5\n", "p.txt:1:3: the number of the destination is followed by something else"},
        {"0 1\n\n0 2\n", "p.txt:3:1: source 0 is named twice"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t *to = NULL;
        struct wr_err err;

        assert_false(synth_permfile_parse(&to, "p.txt", cases[i].text, strlen(cases[i].text), 4,
                                          false, &err));
        if (strncmp(err.text, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("%s", err.text);
        assert_int_equal(err.code, WR_INPUT);
        assert_null(to);
    }
}

static void a_folder_is_no_permutation(void **state)
{
    (void)state;
    uint32_t *to = NULL;
    struct wr_err err;

    assert_false(synth_permfile_read(&to, "/", 4, false, &err));
    assert_int_equal(err.code, WR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_two_numbers_with_remarks_are_read),
        cmocka_unit_test(destinations_may_repeat_only_when_allowed),
        cmocka_unit_test(a_fault_is_reported_with_its_line_and_column),
        cmocka_unit_test(a_folder_is_no_permutation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
