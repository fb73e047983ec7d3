/* fit_read.c -- reads measurements of a device from a CSV table; fit_fio.c reads fio's JSON.
 *
 * fit_read() distinguishes the two by their first character. Called by `weir dev fit`. A point that
 * is not a finite number above 0 fails with file, line and column.
 */
#include "store/fit/fit_read.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/str.h"
#include "base/units.h"

enum { OP, PATTERN, RECORD, DEPTH, IOPS, MB_PER_S, LATENCY, P99, COLUMNS };

static const char *const names[COLUMNS] = {"op",   "pattern",  "record",     "depth",
                                           "iops", "mb_per_s", "latency_us", "p99_us"};

enum { MOST_RECORD = 1 << 30 };

struct table {
    const char *name;
    struct wr_csv_place place;
    fit_points points;
    struct wr_err err; /* of the first row that is wrong */
};

#define fail_at(t, column_, fmt, ...)                                          \
    wr_fail(&(t)->err, WR_INPUT, "%s:%u:%u: " fmt, (t)->name, (t)->place.line, \
            (t)->place.column[column_], ##__VA_ARGS__)

/* One of two words. */
static bool fit_csv_word(struct table *t, int column, const char *text, const char *yes,
                         const char *no, bool *ret)
{
    if (strcmp(text, yes) != 0 && strcmp(text, no) != 0)
        return fail_at(t, column, "\"%s\" is no %s; write %s or %s", wr_text_clip(text).s,
                       names[column], no, yes);
    *ret = !strcmp(text, yes);
    return true;
}

static bool fit_csv_read_depth(struct table *t, double depth, uint32_t *ret)
{
    *ret = 1;
    if (isnan(depth))
        return true;
    if (!(depth >= 1) || depth > FIT_MOST_DEPTH || depth != floor(depth))
        return fail_at(t, DEPTH, "a depth is a whole number from 1 to %d; write one",
                       FIT_MOST_DEPTH);
    *ret = (uint32_t)depth;
    return true;
}

static bool fit_csv_read_value(struct table *t, const double *col, struct fit_point *p)
{
    static const struct {
        int column;
        enum fit_what what;
    } order[] = {{IOPS, FIT_IOPS}, {MB_PER_S, FIT_RATE}, {LATENCY, FIT_LATENCY}};

    for (size_t i = 0; i < 3; i++) {
        int c = order[i].column;

        if (isnan(col[c]))
            continue;
        if (!(col[c] > 0) || col[c] > 1e15)
            return fail_at(t, c, "%s must be above 0; write what was measured", names[c]);
        p->what = order[i].what;
        p->value = col[c];
        return true;
    }
    return fail_at(t, IOPS, "nothing was measured; give iops, mb_per_s or latency_us");
}

static void fit_csv_read_row(void *ctx, const char *const *text, const double *col)
{
    struct table *t = ctx;
    struct fit_point p = {.mean_us = col[LATENCY], .p99_us = col[P99]};
    struct wr_err inner;

    if (t->err.code || !fit_csv_word(t, OP, text[OP], "write", "read", &p.write) ||
        !fit_csv_word(t, PATTERN, text[PATTERN], "random", "sequential", &p.random) ||
        !fit_csv_read_depth(t, col[DEPTH], &p.depth) || !fit_csv_read_value(t, col, &p))
        return;
    if (!wr_parse_bytes(&p.record_b, text[RECORD], &inner))
        fail_at(t, RECORD, "record: %s", inner.text);
    else if (!p.record_b || p.record_b > MOST_RECORD)
        fail_at(t, RECORD, "a record has 1 B to 1 GiB; write as many");
    else if (t->points.n == FIT_MOST_POINTS)
        fail_at(t, OP, "more than %d points; give fewer", FIT_MOST_POINTS);
    else
        wr_vec_push(&t->points, p);
}

bool fit_parse_csv(fit_points *ret, const char *name, const char *text, size_t len,
                   struct wr_err *err)
{
    struct table t = {.name = name};
    struct wr_csv_shape shape = {.names = names,
                                 .n = COLUMNS,
                                 .needed = 3,
                                 .row = fit_csv_read_row,
                                 .texts = 1 << OP | 1 << PATTERN | 1 << RECORD,
                                 .place = &t.place};
    bool ok = wr_csv_parse(&shape, name, text, len, &t, err);

    if (ok && t.err.code) {
        *err = t.err;
        ok = false;
    }
    if (ok && !t.points.n)
        ok = wr_fail(err, WR_INPUT, "%s:1:1: no rows; add one for each measurement", name);
    if (ok)
        *ret = t.points;
    else
        wr_vec_fini(&t.points);
    return ok;
}

bool fit_parse(fit_points *ret, const char *name, const char *text, size_t len, struct wr_err *err)
{
    const char *brace = memchr(text, '{', len);

    /* A table has no braces; what fio remarks on before its JSON may be anything. */
    return brace ? fit_parse_fio(ret, name, text, len, err)
                 : fit_parse_csv(ret, name, text, len, err);
}

bool fit_read(fit_points *ret, const char *path, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, 64 << 20, err))
        return false;
    bool ok = fit_parse(ret, path, text, len, err);

    free(text);
    return ok;
}
