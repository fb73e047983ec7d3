/* run_document.c -- numbers of JSON documents, asked for in SQL. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/document.h"

static char path[] = "/tmp/weir-document-XXXXXX";

static int document_write(void **state)
{
    static const char text[] =
        "[{\"name\": \"a\", \"rate\": 2.5}, {\"name\": \"b\", \"rate\": null, "
        "\"deep\": {\"list\": [1, 2, 3]}}]";
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return 0;
}

static int document_remove(void **state)
{
    (void)state;
    return unlink(path);
}

static void a_number_is_found_by_its_row_and_by_its_path(void **state)
{
    struct wr_err err = {0};
    bool found = false;
    double v = 0;

    (void)state;
    assert_true(run_document_number(path, "SELECT r ->> 'rate' FROM item WHERE r ->> 'name' = 'a'",
                                    &v, &found, &err));
    assert_true(found);
    assert_true(v == 2.5);
    assert_true(
        run_document_number(path, "SELECT r ->> '$[1].deep.list[2]' FROM json", &v, &found, &err));
    assert_true(found && v == 3);
    assert_true(run_document_number(
        path, "SELECT sum(value) FROM json, json_each(r, '$[1].deep.list')", &v, &found, &err));
    assert_true(found && v == 6);
}

static void what_is_null_or_not_there_is_not_found(void **state)
{
    struct wr_err err = {0};
    bool found = true;
    double v = 0;

    (void)state;
    assert_true(run_document_number(path, "SELECT r ->> 'rate' FROM item WHERE r ->> 'name' = 'b'",
                                    &v, &found, &err));
    assert_false(found);
    found = true;
    assert_true(run_document_number(path, "SELECT r FROM item WHERE 0", &v, &found, &err));
    assert_false(found);
}

static void statements_that_reach_beyond_the_document_are_refused(void **state)
{
    static const char *const bad[] = {
        "SELEKT 1",
        "",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM item",
        "DELETE FROM json",
        "CREATE TABLE t(a)",
        "ATTACH '/tmp/weir-document-other' AS o",
        "PRAGMA user_version",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct wr_err err = {0};
        bool found = false;
        double v = -1;

        assert_false(run_document_number(path, bad[i], &v, &found, &err));
        assert_int_equal(err.code, WR_INPUT);
        assert_true(v == -1);
    }
    assert_int_equal(access("/tmp/weir-document-other", F_OK), -1);
}

static void what_is_not_json_or_not_there_is_an_error_of_the_input(void **state)
{
    struct wr_err err = {0};
    bool found;
    double v;

    (void)state;
    assert_false(run_document_number("/dev/null", "SELECT 1", &v, &found, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_false(run_document_number("/nowhere/a.json", "SELECT 1", &v, &found, &err));
    assert_int_equal(err.code, WR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_found_by_its_row_and_by_its_path),
        cmocka_unit_test(what_is_null_or_not_there_is_not_found),
        cmocka_unit_test(statements_that_reach_beyond_the_document_are_refused),
        cmocka_unit_test(what_is_not_json_or_not_there_is_an_error_of_the_input),
    };

    return cmocka_run_group_tests(tests, document_write, document_remove);
}
