/* conf_help.h -- load toy configurations in a directory of their own. */
#ifndef TESTS_UNIT_CONF_HELP_H
#define TESTS_UNIT_CONF_HELP_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/conf_rows.h"

/* Further arguments of load and refused: overrides. */
#define SETS(...) \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
#define NO_SETS NULL, 0

static inline struct conf *load(struct toy *toy, const char *text, const char *const *sets,
                                size_t nsets)
{
    struct conf *c = NULL;
    struct wr_err err = {0};

    memset(toy, 0, sizeof *toy);
    if (!conf_load_text(&c, toy, toy_rows, "toy.yaml", text, strlen(text), sets, nsets, &err))
        fail_msg("%s", err.text);
    return c;
}

/* The text must fail with exactly this message and leave nothing behind. */
static inline void refused_bytes(const char *text, size_t len, const char *const *sets,
                                 size_t nsets, enum wr_code code, const char *message)
{
    static const struct toy zero;
    struct toy toy = {0};
    struct conf *c = NULL;
    struct wr_err err = {0};

    if (conf_load_text(&c, &toy, toy_rows, "toy.yaml", text, len, sets, nsets, &err))
        fail_msg("accepted: %s", text);
    assert_string_equal(err.text, message);
    assert_int_equal(err.code, code);
    assert_null(c);
    assert_memory_equal(&toy, &zero, sizeof toy);
}

static inline void refused(const char *text, const char *const *sets, size_t nsets,
                           const char *message)
{
    refused_bytes(text, strlen(text), sets, nsets, WR_INPUT, message);
}

static inline void unknown(const char *text, const char *const *sets, size_t nsets,
                           const char *message)
{
    refused_bytes(text, strlen(text), sets, nsets, WR_UNKNOWN, message);
}

static inline void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int enter_directory(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *path = malloc(4096);

    snprintf(path, 4096, "%s/weir-conf-XXXXXX", tmp ? tmp : "/tmp");
    *state = path;
    return mkdtemp(path) ? chdir(path) : -1;
}

static inline int leave_directory(void **state)
{
    int bad = chdir("/") || nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return bad;
}

#endif
