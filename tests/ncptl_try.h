/* ncptl_try.h -- run a program's text and compare what it does. */
#ifndef TESTS_NCPTL_TRY_H
#define TESTS_NCPTL_TRY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/ncptl/ncptl_tool.h"

struct
try {
    struct ncptl_unit *u;
    struct ncptl_prog *p;
};

static inline void try_close(struct try *t)
{
    ncptl_close(t->p);
    ncptl_unit_close(t->u);
}

/* `args` ends with NULL, or is NULL. */
static inline bool try_start(struct try *t, const char *text, uint32_t n, const char *const *args,
                             struct wr_err *err)
{
    struct ncptl_start how = {.ntasks = n, .args = args};

    *t = (struct try){0};
    while (args && args[how.nargs])
        how.nargs++;
    return ncptl_parse(&t->u, "test", text, strlen(text), err) &&
           ncptl_start(&t->p, t->u, &how, err);
}

static inline void try_open(struct try *t, const char *text, uint32_t n, const char *const *args)
{
    struct wr_err err;

    if (!try_start(t, text, n, args, &err))
        fail_msg("%s\n%s", text, err.text);
}

/* The operations (and log tables) of a program that must run. */
static inline void try_run(const char *text, uint32_t n, const char *const *args, char **events,
                           struct wr_str *logs)
{
    struct try t;
    struct wr_err err;
    size_t len;

    try_open(&t, text, n, args);
    FILE *out = open_memstream(events, &len);
    struct ncptl_log *log = ncptl_log_new(t.p, false);
    bool ok = ncptl_dump(t.p, out, log, &err);
    fclose(out);
    if (!ok)
        fail_msg("%s\n%s", text, err.text);
    if (logs)
        ncptl_log_print(log, logs);
    ncptl_log_free(log);
    try_close(&t);
}

static inline void try_same(const char *text, const char *expected, const char *actual)
{
    if (strcmp(expected, actual))
        fail_msg("%s\nexpected:\n%s\ngot:\n%s", text, expected, actual);
}

static inline void expect_args(const char *text, uint32_t n, const char *const *args,
                               const char *expected)
{
    char *events = NULL;

    try_run(text, n, args, &events, NULL);
    try_same(text, expected, events);
    free(events);
}

static inline void expect(const char *text, uint32_t n, const char *expected)
{
    expect_args(text, n, NULL, expected);
}

/* What task 0 of one outputs for an expression, or in a whole program's only line. */
static inline void expect_real(const char *expr, const char *expected)
{
    char text[2048], line[2048];

    snprintf(text, sizeof text, "TASK 0 OUTPUTS %s.", expr);
    snprintf(line, sizeof line, "0 OUTPUT \"%s\"\n", expected);
    expect(text, 1, line);
}

/* The same in integer context. */
static inline void expect_whole(const char *expr, const char *expected)
{
    char text[2048], line[2048];

    snprintf(text, sizeof text, "LET v BE %s WHILE TASK 0 OUTPUTS v.", expr);
    snprintf(line, sizeof line, "0 OUTPUT \"%s\"\n", expected);
    expect(text, 1, line);
}

static inline void expect_logs(const char *text, uint32_t n, const char *expected)
{
    struct wr_str logs = {0};
    char *events = NULL;

    try_run(text, n, NULL, &events, &logs);
    try_same(text, expected, wr_str_get(&logs));
    wr_str_fini(&logs);
    free(events);
}

/* Must fail somewhere, with both texts in the message. */
static inline void expect_error_args(const char *text, uint32_t n, const char *const *args,
                                     const char *kind, const char *part)
{
    struct wr_err err = {0};
    struct try t;
    bool complete, ok = try_start(&t, text, n, args, &err);

    ok = ok && ncptl_verify(t.p, 1000000, &complete, &err);
    try_close(&t);
    if (ok)
        fail_msg("%s\nwas accepted", text);
    if (!strstr(err.text, kind) || !strstr(err.text, part))
        fail_msg("%s\nexpected \"%s\" and \"%s\" in\n%s", text, kind, part, err.text);
}

static inline void expect_error(const char *text, uint32_t n, const char *kind, const char *part)
{
    expect_error_args(text, n, NULL, kind, part);
}

#endif
