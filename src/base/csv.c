/* csv.c -- reads a table of numbers with a line of column names (csv.h).
 *
 * Columns are found by name in any order. Every error names the file and line, and the column
 * where there is one. A value that is not UTF-8 or would control a terminal is escaped before it
 * is stored.
 */
#include "base/csv.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/utf8.h"

/* Where we are in the text. Columns count bytes from 1. */
struct cursor {
    const char *name, *at, *end, *line_start;
    const char *field_at; /* the beginning of the last field */
    uint32_t line;
};

#define fail_at(c, err, fmt, ...)                                   \
    wr_fail(err, WR_INPUT, "%s:%u:%zu: " fmt, (c)->name, (c)->line, \
            (size_t)((c)->field_at - (c)->line_start) + 1, ##__VA_ARGS__)

enum stop { STOP_FIELD, STOP_LINE };

/* What is no UTF-8, and what a terminal would obey, is written out. */
static void csv_make_harmless(struct wr_str *field)
{
    struct wr_str shown = {0};

    if (wr_text_is_harmless(field->s, field->n))
        return;
    wr_str_add_harmless(&shown, field->s, field->n);
    wr_str_fini(field);
    *field = shown;
}

/* One field without its quotes, and what ended it. */
static bool csv_next_field(struct cursor *c, struct wr_str *field, enum stop *ret_stop,
                           struct wr_err *err)
{
    field->n = 0;
    wr_str_add(field, "");
    c->field_at = c->at;
    if (c->at < c->end && *c->at == '"') {
        for (c->at++;; c->at++) {
            if (c->at == c->end || *c->at == '\n')
                return fail_at(c, err, "a quote is never closed; end the field with \"");
            if (*c->at == '"' && (++c->at == c->end || *c->at != '"'))
                break;
            wr_str_addn(field, c->at, 1);
        }
    } else {
        const char *from = c->at;

        while (c->at < c->end && *c->at != ',' && *c->at != '\n')
            c->at++;
        wr_str_addn(field, from, (size_t)(c->at - from));
    }
    if (c->at < c->end && *c->at == '\r')
        c->at++;
    if (field->n && field->s[field->n - 1] == '\r')
        field->s[--field->n] = 0;
    if (strlen(field->s) != field->n)
        return fail_at(c, err, "a zero byte; give a text file");
    csv_make_harmless(field);
    if (c->at < c->end && *c->at != ',' && *c->at != '\n')
        return fail_at(c, err, "something follows the closing quote; separate fields with commas");
    *ret_stop = c->at < c->end && *c->at == ',' ? STOP_FIELD : STOP_LINE;
    c->at += c->at < c->end;
    return true;
}

static void csv_next_line(struct cursor *c)
{
    c->line++;
    c->line_start = c->at;
}

/* Which of the shape's names each field of the first line is. */
static bool csv_read_head(struct cursor *c, const struct wr_csv_shape *shape, size_t *which,
                          size_t *ret_n, struct wr_str *field, struct wr_err *err)
{
    bool seen[WR_CSV_MAX_COLS] = {false};
    enum stop stop = STOP_FIELD;
    size_t n = 0;

    for (; stop == STOP_FIELD; n++) {
        struct wr_nearest near = {0};
        size_t k = 0;

        if (!csv_next_field(c, field, &stop, err))
            return false;
        near.want = field->s;
        for (; k < shape->n && strcmp(shape->names[k], field->s) != 0; k++)
            wr_nearest_try(&near, shape->names[k]);
        if (k == shape->n && near.best)
            return fail_at(c, err, "no column \"%.40s\" is known; did you mean %s?", field->s,
                           near.best);
        if (k == shape->n)
            return fail_at(c, err,
                           "no column \"%.40s\" is known; begin with a line of names like "
                           "%s,%s",
                           field->s, shape->names[0], shape->names[1]);
        if (seen[k])
            return fail_at(c, err, "column %s comes twice; leave one out", field->s);
        seen[k] = true;
        which[n] = k;
    }
    for (size_t k = 0; k < shape->needed; k++)
        if (!seen[k]) {
            c->field_at = c->line_start;
            return fail_at(c, err, "column %s is missing; add it", shape->names[k]);
        }
    csv_next_line(c);
    *ret_n = n;
    return true;
}

static bool csv_read_number(const struct cursor *c, const char *s, double *ret, struct wr_err *err)
{
    char *end;

    *ret = *s ? strtod(s, &end) : NAN;
    if (*s && (*end || !isfinite(*ret)))
        return fail_at(c, err, "\"%.40s\" is not a number; write one or leave the field empty", s);
    return true;
}

static bool csv_read_row(struct cursor *c, const struct wr_csv_shape *shape, const size_t *which,
                         size_t n, struct wr_str *field, void *ctx, struct wr_err *err)
{
    double col[WR_CSV_MAX_COLS];
    struct wr_str texts[WR_CSV_MAX_COLS] = {0};
    const char *text[WR_CSV_MAX_COLS];
    uint32_t is_text = shape->texts ? shape->texts : 1;
    enum stop stop = STOP_FIELD;
    bool ok = true;

    for (size_t k = 0; k < WR_CSV_MAX_COLS; k++)
        col[k] = NAN;
    if (shape->place) {
        shape->place->line = c->line;
        for (size_t k = 0; k < WR_CSV_MAX_COLS; k++)
            shape->place->column[k] = 1;
    }
    for (size_t i = 0; ok && i < n; i++) {
        if (stop == STOP_LINE)
            ok = fail_at(c, err, "%zu fields where the first line has %zu; fill up with commas", i,
                         n);
        else if (!csv_next_field(c, field, &stop, err))
            ok = false;
        if (ok && shape->place)
            shape->place->column[which[i]] = (uint32_t)(c->field_at - c->line_start) + 1;
        if (ok && is_text >> which[i] & 1)
            wr_str_add(&texts[which[i]], field->s);
        else if (ok)
            ok = csv_read_number(c, field->s, &col[which[i]], err);
    }
    if (ok && stop == STOP_FIELD)
        ok = fail_at(c, err, "more fields than the first line has; quote a field that has commas");
    for (size_t k = 0; k < WR_CSV_MAX_COLS; k++)
        text[k] = wr_str_get(&texts[k]);
    if (ok)
        shape->row(ctx, text, col);
    csv_next_line(c);
    for (size_t k = 0; k < WR_CSV_MAX_COLS; k++)
        wr_str_fini(&texts[k]);
    return ok;
}

bool wr_csv_parse(const struct wr_csv_shape *shape, const char *name, const char *text, size_t len,
                  void *ctx, struct wr_err *err)
{
    struct cursor c = {name, text, text + len, text, text, 1};
    struct wr_str field = {0};
    size_t which[WR_CSV_MAX_COLS], n;
    bool ok = csv_read_head(&c, shape, which, &n, &field, err);

    while (ok && c.at < c.end) {
        if (*c.at == '\n') { /* an empty line */
            c.at++;
            csv_next_line(&c);
            continue;
        }
        ok = csv_read_row(&c, shape, which, n, &field, ctx, err);
    }
    wr_str_fini(&field);
    return ok;
}

bool wr_csv_read(const struct wr_csv_shape *shape, const char *path, void *ctx, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, 64 << 20, err))
        return false;
    bool ok = wr_csv_parse(shape, path, text, len, ctx, err);
    free(text);
    return ok;
}
