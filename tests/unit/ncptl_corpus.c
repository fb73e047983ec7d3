/* Every case of the conformance corpus, to the letter, and every program that must be
 * refused, for the right reason at the right line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "load/ncptl/ncptl_tool.h"

#define CORPUS WEIR_SOURCE_DIR "/tests/data/ncptl/"

enum { FIELDS = 8 };

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct wr_str text = {0};
    char piece[4096];
    size_t n;

    if (!f)
        return NULL;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        wr_str_addn(&text, piece, n);
    fclose(f);
    return text.s ? text.s : wr_strdup("");
}

/* Drops lines that begin with `#` and a blank. */
static void drop_remarks(char *text)
{
    char *to = text;

    for (char *from = text; *from;) {
        size_t n = strcspn(from, "\n");

        n += from[n] == '\n';
        if (strncmp(from, "# ", 2)) {
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    *to = '\0';
}

/* Splits a line of a table at its tabs. */
static size_t split(char *line, char **field)
{
    size_t n = 0;

    for (char *save, *s = strtok_r(line, "\t", &save); s && n < FIELDS;
         s = strtok_r(NULL, "\t", &save))
        field[n++] = s;
    return n;
}

static void each_line(const char *name, void (*fn)(char **field, size_t n, void *ctx), void *ctx)
{
    char *text = read_all(name), *save, *field[FIELDS];

    assert_non_null(text);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (*line != '#')
            fn(field, split(line, field), ctx);
    free(text);
}

/* The options of a case, at blanks. */
static size_t options(char *args, const char **ret)
{
    size_t n = 0;

    if (!strcmp(args, "-"))
        return 0;
    for (char *save, *s = strtok_r(args, " ", &save); s; s = strtok_r(NULL, " ", &save))
        ret[n++] = s;
    return n;
}

static void expect_same(const char *what, const char *name, char *expected, char *actual)
{
    drop_remarks(expected);
    drop_remarks(actual);
    if (strcmp(expected, actual))
        fail_msg("%s of %s differ; expected\n%s\ngot\n%s", what, name, expected, actual);
}

static void run_case(char **f, size_t nfields, void *count)
{
    char path[512], *events = NULL;
    const char *args[16];
    size_t events_len, nargs;
    struct ncptl_unit *u = NULL;
    struct ncptl_prog *p = NULL;
    struct wr_err err;
    bool complete;

    assert_true(nfields >= 5);
    snprintf(path, sizeof path, CORPUS "programs/%s", f[1]);
    nargs = options(f[3], args);
    struct ncptl_start how = {.ntasks = (uint32_t)atoi(f[2]), .args = args, .nargs = nargs};
    if (!ncptl_read(&u, path, &err) || !ncptl_start(&p, u, &how, &err))
        fail_msg("%s: %s", f[0], err.text);

    FILE *out = open_memstream(&events, &events_len);
    struct ncptl_log *log = ncptl_log_new(p, false);
    bool ok = ncptl_dump(p, out, log, &err) && ncptl_verify(p, 0, &complete, &err);
    fclose(out);
    if (!ok)
        fail_msg("%s: %s", f[0], err.text);
    snprintf(path, sizeof path, CORPUS "expected/%s.events", f[0]);
    char *expected = read_all(path);
    assert_non_null(expected);
    expect_same("operations", f[0], expected, events);
    free(expected);

    snprintf(path, sizeof path, CORPUS "expected/%s.logs", f[0]);
    struct wr_str logs = {0};
    ncptl_log_print(log, &logs);
    wr_str_add(&logs, "");
    expected = read_all(path);
    expect_same("logs", f[0], expected ? expected : (expected = wr_strdup("")), logs.s);
    free(expected);
    wr_str_fini(&logs);
    free(events);
    ncptl_log_free(log);
    ncptl_close(p);
    ncptl_unit_close(u);
    ++*(int *)count;
}

static void every_open_case_gives_exactly_the_expected_operations_and_logs(void **state)
{
    int count = 0;

    (void)state;
    each_line(CORPUS "cases.tsv", run_case, &count);
    assert_int_equal(count, 62);
}

/* Runs a program as far as it goes; the error is why it does not go further. */
static bool run_bad(const char *path, uint32_t tasks, struct wr_err *err)
{
    struct ncptl_start how = {.ntasks = tasks};
    struct ncptl_unit *u = NULL;
    struct ncptl_prog *p = NULL;
    bool complete, ok;

    ok = ncptl_read(&u, path, err) && ncptl_start(&p, u, &how, err) &&
         ncptl_verify(p, 0, &complete, err);
    ncptl_close(p);
    ncptl_unit_close(u);
    return ok;
}

static void refuse(char **f, size_t nfields, void *count)
{
    char path[512], wanted[64], other[64];
    struct wr_err err = {0};
    unsigned line;

    assert_true(nfields >= 6);
    snprintf(path, sizeof path, CORPUS "errors/%s", f[0]);
    if (run_bad(path, (uint32_t)atoi(f[1]), &err))
        fail_msg("%s was accepted", f[0]);
    snprintf(wanted, sizeof wanted, " %s error: ", f[2]);
    snprintf(other, sizeof other, " %s error: ", f[3]);
    if (!strstr(err.text, wanted) && !strstr(err.text, other))
        fail_msg("%s: expected a %s error, got %s", f[0], f[2], err.text);
    assert_int_equal(err.code, strcmp(f[2], "communication") ? WR_INPUT : WR_CHECK);
    assert_int_equal(sscanf(err.text + strlen(path), ":%u:", &line), 1);
    if (strcmp(f[4], "-") && (unsigned)atoi(f[4]) != line)
        fail_msg("%s: expected line %s, got %s", f[0], f[4], err.text);
    assert_non_null(strstr(err.text, "\n    ")); /* the line is quoted */
    assert_non_null(strchr(err.text, '^'));
    ++*(int *)count;
}

static void every_wrong_program_is_refused_in_its_category_at_its_line(void **state)
{
    int count = 0;

    (void)state;
    each_line(CORPUS "errors.tsv", refuse, &count);
    assert_int_equal(count, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_open_case_gives_exactly_the_expected_operations_and_logs),
        cmocka_unit_test(every_wrong_program_is_refused_in_its_category_at_its_line),
    };

    return cmocka_run_group_tests_name("ncptl: the corpus", tests, NULL, NULL);
}
