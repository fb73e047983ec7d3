/* report_table.c -- a table held in memory and written as text, HTML, CSV or JSON.
 *
 * Cells are text; the first ncols cells are the head. A column is right-aligned unless it is one of
 * the `nleft` columns of words.
 */
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/report_table.h"

enum { LONGEST_LINE = 60 }; /* a cell of a page with more is a sentence and has several lines */

void report_table_add(struct report_table *t, const char *fmt, ...)
{
    assert(t->ncols > 0 && t->nleft <= t->ncols);
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    wr_vec_push(&t->cell, wr_arena_strdup(&t->text, text));
    free(text);
}

void report_table_number(struct report_table *t, double v, int decimals)
{
    if (isfinite(v))
        report_table_add(t, "%.*f", decimals, v);
    else
        report_table_add(t, "%s", "");
}

bool report_table_is_words(const struct report_table *t, size_t col)
{
    return col < t->nleft || (t->units && col + 1 == t->ncols);
}

const char *report_table_unit(const struct report_table *t, size_t col, struct wr_str *name)
{
    static const char *const units[] = {"%",    "ns",   "us",    "ms",  "s",    "min",
                                        "h",    "d",    "B",     "MB",  "GB",   "B/s",
                                        "MB/s", "GB/s", "MiB/s", "1/s", "ops/s"};
    const char *head = t->cell.v[col], *space = strrchr(head, ' ');

    for (size_t i = 0; space && i < sizeof units / sizeof *units; i++)
        if (!strcmp(space + 1, units[i])) {
            wr_str_addn(name, head, (size_t)(space - head));
            return units[i];
        }
    wr_str_add(name, head);
    return "";
}

void report_table_drop_empty(struct report_table *t)
{
    bool *keep = wr_zalloc(t->ncols, sizeof *keep);
    size_t ncols = 0, nleft = 0, n = 0;

    for (size_t i = t->ncols; i < t->cell.n; i++)
        keep[i % t->ncols] |= *t->cell.v[i] != '\0';
    for (size_t col = 0; col < t->ncols; col++) {
        ncols += keep[col];
        nleft += col < t->nleft && keep[col];
    }
    for (size_t i = 0; ncols && i < t->cell.n; i++)
        if (keep[i % t->ncols])
            t->cell.v[n++] = t->cell.v[i];
    if (ncols) {
        t->units &= keep[t->ncols - 1];
        t->cell.n = n;
        t->ncols = ncols;
        t->nleft = nleft;
    }
    free(keep);
}

/* Characters, not bytes. */
static size_t report_table_width_of(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

void report_table_text(const struct report_table *t, struct wr_str *out)
{
    size_t *width = wr_zalloc(t->ncols, sizeof *width);

    for (size_t i = 0; i < t->cell.n; i++) {
        size_t w = report_table_width_of(t->cell.v[i]);

        if (w > width[i % t->ncols])
            width[i % t->ncols] = w;
    }
    size_t blanks = 0; /* owed, so that no line ends in them */
    for (size_t i = 0; i < t->cell.n; i++) {
        size_t col = i % t->ncols, pad = width[col] - report_table_width_of(t->cell.v[i]);
        bool left = report_table_is_words(t, col), empty = !*t->cell.v[i];

        if (!empty)
            wr_str_addf(out, "%*s%s", (int)(blanks + (left ? 0 : pad)), "", t->cell.v[i]);
        blanks = 2 + (empty ? blanks + pad : left ? pad : 0);
        if (col + 1 == t->ncols) {
            wr_str_add(out, "\n");
            blanks = 0;
        }
    }
    free(width);
}

void report_wrap(struct wr_str *out, const char *text, size_t width)
{
    size_t used = 0;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (used && used + 1 + n > width) {
            wr_str_add(out, "\n");
            used = 0;
        }
        wr_str_addf(out, "%s%.*s", used ? " " : "", (int)n, text);
        used += n + (used > 0);
        text += n + (text[n] == ' ');
    }
    wr_str_add(out, "\n");
}

void report_table_html(const struct report_table *t, const char *caption, struct wr_str *out)
{
    wr_str_add(out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>");
    report_escape(out, caption);
    wr_str_add(out, "</caption>\n<thead>\n");
    for (size_t i = 0; i < t->cell.n; i++) {
        size_t col = i % t->ncols;
        bool head = i < t->ncols;

        if (!col)
            wr_str_add(out, "<tr>");
        wr_str_addf(out, head ? "<th scope=\"col\"%s>" : "<td%s>",
                    !report_table_is_words(t, col)                       ? ""
                    : report_table_width_of(t->cell.v[i]) > LONGEST_LINE ? " class=\"w s\""
                                                                         : " class=\"w\"");
        report_escape(out, t->cell.v[i]);
        wr_str_add(out, head ? "</th>" : "</td>");
        if (col + 1 == t->ncols)
            wr_str_add(out, i + 1 == t->ncols ? "</tr>\n</thead>\n<tbody>\n" : "</tr>\n");
    }
    wr_str_add(out, "</tbody>\n</table></div>\n");
}

static void report_table_csv_cell(const char *s, struct wr_str *out)
{
    if (!strpbrk(s, ",\"\r\n")) {
        wr_str_add(out, s);
        return;
    }
    wr_str_add(out, "\"");
    for (; *s; s++)
        wr_str_addn(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    wr_str_add(out, "\"");
}

void report_table_csv(const struct report_table *t, struct wr_str *out)
{
    for (size_t i = 0; i < t->cell.n; i++) {
        report_table_csv_cell(t->cell.v[i], out);
        wr_str_add(out, (i + 1) % t->ncols ? "," : "\n");
    }
}

static json_t *report_table_json_cell(const char *s)
{
    char *end;

    if (!*s)
        return json_null();
    if (strspn(s, "0123456789") == strlen(s) && strlen(s) < 19)
        return json_integer(strtoll(s, NULL, 10));
    double v = strtod(s, &end);
    return *end || !isfinite(v) ? json_string(s) : json_real(v);
}

void report_table_json(const struct report_table *t, struct wr_str *out)
{
    json_t *rows = json_array(), *row = NULL;

    for (size_t i = t->ncols; i < t->cell.n; i++) {
        size_t col = i % t->ncols;

        if (!col)
            json_array_append_new(rows, row = json_object());
        json_object_set_new(row, t->cell.v[col],
                            report_table_is_words(t, col) ? json_string(t->cell.v[i])
                                                          : report_table_json_cell(t->cell.v[i]));
    }
    char *text = json_dumps(rows, JSON_INDENT(2) | JSON_REAL_PRECISION(12));

    assert(text);
    wr_str_addf(out, "%s\n", text);
    free(text);
    json_decref(rows);
}

void report_table_fini(struct report_table *t)
{
    wr_vec_fini(&t->cell);
    wr_arena_fini(&t->text);
}
