/* run_help.h -- what the tests of run files share. */
#ifndef UNIT_RUN_HELP_H
#define UNIT_RUN_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/reader.h"
#include "run/run.h"

/* A directory of this test's own; everything in it goes when the test ends. */
struct place {
    char dir[64];
    char path[128]; /* a run file in it */
};

static inline int place_open(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    /* In memory where there is such a place: finishing a run waits for the disk. */
    snprintf(p->dir, sizeof p->dir, "%stest-run-XXXXXX",
             access("/dev/shm", W_OK) ? "" : "/dev/shm/");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/a.weir", p->dir);
    *state = p;
    return 0;
}

static inline int place_close(void **state)
{
    struct place *p = *state;
    char command[128];

    chmod(p->dir, 0755);
    snprintf(command, sizeof command, "rm -rf '%s'", p->dir);
    int rc = system(command);
    free(p);
    return rc;
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_open, place_close)

/* For calls that must succeed: the error's words are the failure's. */
#define must(call, err)                 \
    do {                                \
        if (!(call))                    \
            fail_msg("%s", (err).text); \
    } while (0)

static const struct run_meta plain_meta = {.kind = "sim", .command = "weir run x.yaml", .seed = 7};

static inline struct run *create(const char *path)
{
    struct wr_err err = {0};
    struct run *run = NULL;

    must(run_create(&run, path, &plain_meta, &err), err);
    return run;
}

static inline void complete(struct run *run)
{
    struct wr_err err = {0};

    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
}

static inline struct run_reader *reopen(const char *path)
{
    struct wr_err err = {0};
    struct run_reader *r = NULL;

    must(run_open(&r, path, &err), err);
    assert_int_equal(err.code, WR_NONE);
    return r;
}

static inline double number(struct run_reader *r, const char *sql)
{
    struct wr_err err = {0};
    double value = 0;
    bool found = false;

    must(run_number(r, sql, &value, &found, &err), err);
    if (!found)
        fail_msg("nothing from %s", sql);
    return value;
}

static inline bool is_null(struct run_reader *r, const char *sql)
{
    struct wr_err err = {0};
    double value;
    bool found = false;

    must(run_number(r, sql, &value, &found, &err), err);
    return !found;
}

/* The first row's columns joined by '|'. */
static inline char *line(struct run_reader *r, const char *sql)
{
    struct wr_err err = {0};
    struct wr_str out = {0};
    struct run_rows *q = NULL;
    bool more = false;

    must(run_query(&q, r, sql, NULL, 0, &err), err);
    must(run_rows_next(q, &more, &err), err);
    wr_str_add(&out, "");
    for (int i = 0; more && i < run_rows_cols(q); i++) {
        if (i)
            wr_str_add(&out, "|");
        wr_str_add(&out, run_rows_text(q, i, NULL));
    }
    run_rows_close(q);
    return out.s;
}

static inline void assert_line(struct run_reader *r, const char *sql, const char *want)
{
    char *got = line(r, sql);

    assert_string_equal(got, want);
    free(got);
}

#endif
