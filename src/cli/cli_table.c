/* cli_table.c -- writes a table row by row as aligned text, CSV or JSON (cli_table.h).
 *
 * CSV and JSON rows are written as soon as they are complete. Text rows are held (at most
 * LOOK_ROWS) until the widths and decimals of the columns are decided; later rows use the same
 * widths. Invariant: t->at is the column of the next cell; a row ends when it reaches ncolumns.
 */
#include "cli/cli_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

enum { LOOK_ROWS = 1000, WORD_MAX = 60, GAP = 2 };

enum cell_kind { CELL_NULL, CELL_BOOL, CELL_INT, CELL_REAL, CELL_TEXT };

/* One value. Text is copied into `words` only where a row is held. */
struct cell {
    enum cell_kind kind;
    int64_t i;     /* CELL_INT, CELL_BOOL */
    double r;      /* CELL_REAL */
    const char *s; /* CELL_TEXT: n bytes; CELL_NULL: what text shows instead, or NULL */
    size_t n;
};

struct column {
    char *name, *title;
    int width;
    bool right;
    int decimals; /* of every real in the column; -1: each as it needs */
};

struct cli_table {
    FILE *out;
    enum cli_format format;
    struct column *column;
    int ncolumns;
    struct cell *row; /* the row being filled */
    int at;           /* the column of the next cell */
    uint64_t rows;    /* complete ones */
    /* Text only: the rows seen before the widths are decided. */
    struct cell *held;
    struct wr_arena words; /* their texts */
    bool decided;          /* widths are fixed; rows are written at once */
};

/* The shortest digits that read back as the same number. */
static void table_add_exact(struct wr_str *out, double v)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    wr_str_add(out, text);
}

void cli_json_text(FILE *out, const char *text, size_t n)
{
    fputc('"', out);
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = wr_utf8_next(text + i, n - i, &c);

        if (!len)
            fputs("\\ufffd", out);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", (char)c);
        else if (c < 0x20 || !wr_utf8_is_harmless(c))
            fprintf(out, "\\u%04x", c);
        else
            fwrite(text + i, 1, len, out);
        i += len ? len : 1;
    }
    fputc('"', out);
}

static void table_csv_text(FILE *out, const char *text, size_t n)
{
    bool quote = !n;

    for (size_t i = 0; i < n; i++)
        quote |= text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        fwrite(text, 1, n, out);
        return;
    }
    fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    fputc('"', out);
}

/* A cell of CSV or JSON: the whole value. */
static void table_put_exact(struct cli_table *t, const struct cell *c)
{
    bool json = t->format == CLI_AS_JSON;
    struct wr_str text = {0};

    switch (c->kind) {
    case CELL_NULL:
        fputs(json ? "null" : "", t->out);
        break;
    case CELL_BOOL:
        fputs(json ? (c->i ? "true" : "false") : (c->i ? "1" : "0"), t->out);
        break;
    case CELL_INT:
        fprintf(t->out, "%lld", (long long)c->i);
        break;
    case CELL_REAL:
        table_add_exact(&text, c->r);
        fputs(wr_str_get(&text), t->out);
        break;
    case CELL_TEXT:
        (json ? cli_json_text : table_csv_text)(t->out, c->s, c->n);
        break;
    }
    wr_str_fini(&text);
}

static void table_put_json_row(struct cli_table *t)
{
    fputs(t->rows ? ",\n  {" : "\n  {", t->out);
    for (int i = 0; i < t->ncolumns; i++) {
        fputs(i ? ", " : "", t->out);
        cli_json_text(t->out, t->column[i].name, strlen(t->column[i].name));
        fputs(": ", t->out);
        table_put_exact(t, &t->row[i]);
    }
    fputc('}', t->out);
}

static void table_put_csv_row(struct cli_table *t)
{
    for (int i = 0; i < t->ncolumns; i++) {
        fputs(i ? "," : "", t->out);
        table_put_exact(t, &t->row[i]);
    }
    fputc('\n', t->out);
}

static bool table_plain_size(double v)
{
    return v == 0 || (fabs(v) < 1e15 && fabs(v) >= 1e-4);
}

/* Six digits, and never fewer than three after the point: a picosecond shows. */
static int table_decimals_for(double largest)
{
    int before = largest < 1 ? 1 : (int)floor(log10(largest)) + 1;

    return before >= 3 ? 3 : 6 - before;
}

/* How many of `most` decimals this value really uses. */
static int table_decimals_used(double v, int most)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%.*f", most, v), used = most;

    while (used && text[n - 1 - (most - used)] == '0')
        used--;
    return used;
}

static void table_add_real(struct wr_str *out, double v, int decimals)
{
    if (!table_plain_size(v)) {
        wr_str_addf(out, "%.6g", v);
        return;
    }
    if (decimals < 0)
        decimals = table_decimals_used(v, table_decimals_for(fabs(v)));
    wr_str_addf(out, "%.*f", decimals, v);
}

/* Words as a terminal may see them: no control characters, no broken UTF-8. */
static void table_add_words(struct wr_str *out, const char *s, size_t n)
{
    static const struct {
        char c;
        const char *shown;
    } known[] = {{'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}};
    size_t shown = 0;

    for (size_t i = 0; i < n;) {
        uint32_t c = (unsigned char)s[i];
        size_t len = wr_utf8_next(s + i, n - i, &c);

        if (shown++ == WORD_MAX - 3 && n - i > 3) {
            wr_str_add(out, "...");
            return;
        }
        if (len && c >= 0x20 && wr_utf8_is_harmless(c)) {
            wr_str_addn(out, s + i, len);
        } else {
            size_t k = 0;

            while (k < 3 && (!len || (uint32_t)known[k].c != c))
                k++;
            if (k < 3)
                wr_str_add(out, known[k].shown);
            else
                wr_str_addf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        }
        i += len ? len : 1;
    }
}

static void table_add_cell(struct wr_str *out, const struct column *col, const struct cell *c)
{
    switch (c->kind) {
    case CELL_NULL:
        wr_str_add(out, c->s ? c->s : "-");
        break;
    case CELL_BOOL:
        wr_str_add(out, c->i ? "yes" : "no");
        break;
    case CELL_INT:
        wr_str_addf(out, "%lld", (long long)c->i);
        break;
    case CELL_REAL:
        table_add_real(out, c->r, col->decimals);
        break;
    case CELL_TEXT:
        table_add_words(out, c->s, c->n);
        break;
    }
}

static int table_shown_width(const char *s)
{
    int width = 0;

    for (; *s; s++)
        width += ((unsigned char)*s & 0xc0) != 0x80;
    return width;
}

static void table_put_padded(struct cli_table *t, int col, const char *text, struct wr_str *line)
{
    const struct column *c = &t->column[col];
    int pad = c->width - table_shown_width(text);

    if (c->right)
        wr_str_addf(line, "%*s", pad > 0 ? pad : 0, "");
    wr_str_add(line, text);
    if (!c->right && col + 1 < t->ncolumns)
        wr_str_addf(line, "%*s", pad > 0 ? pad : 0, "");
    if (col + 1 < t->ncolumns)
        wr_str_addf(line, "%*s", GAP, "");
}

static void table_put_text_row(struct cli_table *t, const struct cell *row)
{
    struct wr_str line = {0}, cell = {0};

    for (int i = 0; i < t->ncolumns; i++) {
        cell.n = 0;
        wr_str_add(&cell, "");
        table_add_cell(&cell, &t->column[i], &row[i]);
        table_put_padded(t, i, cell.s, &line);
    }
    while (line.n && line.s[line.n - 1] == ' ')
        line.s[--line.n] = '\0';
    fprintf(t->out, "%s\n", wr_str_get(&line));
    wr_str_fini(&line);
    wr_str_fini(&cell);
}

/* Where most are numbers, to the right. A column of nothing but reals gets the same decimals
 * for all, as many as its values use. */
static void table_decide_column(struct cli_table *t, int col)
{
    struct column *c = &t->column[col];
    uint64_t numbers = 0, words = 0;
    bool reals = true;
    double largest = 0;
    int used = 0;

    for (uint64_t r = 0; r < t->rows; r++) {
        const struct cell *cell = &t->held[r * (uint64_t)t->ncolumns + (uint64_t)col];

        numbers += cell->kind == CELL_INT || cell->kind == CELL_REAL;
        words += cell->kind == CELL_TEXT;
        reals &= cell->kind == CELL_NULL || (cell->kind == CELL_REAL && table_plain_size(cell->r));
        if (cell->kind == CELL_REAL)
            largest = fmax(largest, fabs(cell->r));
    }
    c->right = numbers > words;
    c->decimals = -1;
    if (!reals || words || !numbers)
        return;
    for (uint64_t r = 0; r < t->rows; r++) {
        const struct cell *cell = &t->held[r * (uint64_t)t->ncolumns + (uint64_t)col];
        int here =
            cell->kind == CELL_REAL ? table_decimals_used(cell->r, table_decimals_for(largest)) : 0;

        used = here > used ? here : used;
    }
    c->decimals = used;
}

static void table_decide(struct cli_table *t)
{
    struct wr_str text = {0}, line = {0};

    t->decided = true;
    for (int i = 0; i < t->ncolumns; i++) {
        struct column *c = &t->column[i];

        table_decide_column(t, i);
        c->width = table_shown_width(c->title);
        for (uint64_t r = 0; r < t->rows; r++) {
            text.n = 0;
            wr_str_add(&text, "");
            table_add_cell(&text, c, &t->held[r * (uint64_t)t->ncolumns + (uint64_t)i]);
            int width = table_shown_width(text.s);
            c->width = width > c->width ? width : c->width;
        }
        table_put_padded(t, i, c->title, &line);
    }
    fprintf(t->out, "%s\n", wr_str_get(&line));
    for (uint64_t r = 0; r < t->rows; r++)
        table_put_text_row(t, &t->held[r * (uint64_t)t->ncolumns]);
    wr_str_fini(&text);
    wr_str_fini(&line);
    free(t->held);
    t->held = NULL;
    wr_arena_fini(&t->words);
}

static void table_hold_row(struct cli_table *t)
{
    struct cell *to = &t->held[t->rows * (uint64_t)t->ncolumns];

    for (int i = 0; i < t->ncolumns; i++) {
        to[i] = t->row[i];
        if (to[i].kind == CELL_TEXT)
            to[i].s = wr_arena_strndup(&t->words, t->row[i].s, t->row[i].n);
    }
}

static void table_put_cell(struct cli_table *t, const struct cell *c)
{
    assert(t->at < t->ncolumns);
    /* Text may go before the row is full, so each cell keeps its own copy. */
    struct cell *into = &t->row[t->at++];

    *into = *c;
    if (c->kind == CELL_TEXT) {
        char *copy = wr_alloc(c->n + 1);

        memcpy(copy, c->s, c->n);
        copy[c->n] = '\0';
        into->s = copy;
    }
    if (t->at < t->ncolumns)
        return;
    t->at = 0;
    if (t->format == CLI_AS_JSON)
        table_put_json_row(t);
    else if (t->format == CLI_AS_CSV)
        table_put_csv_row(t);
    else if (t->decided)
        table_put_text_row(t, t->row);
    else
        table_hold_row(t);
    t->rows++;
    for (int i = 0; i < t->ncolumns; i++)
        if (t->row[i].kind == CELL_TEXT)
            free((char *)t->row[i].s);
    if (t->format == CLI_AS_TEXT && !t->decided && t->rows == LOOK_ROWS)
        table_decide(t);
}

struct cli_table *cli_table_open(FILE *out, enum cli_format format,
                                 const struct cli_column *columns, int ncolumns)
{
    struct cli_table *t = wr_zalloc(1, sizeof *t);

    assert(ncolumns > 0);
    t->out = out;
    t->format = format;
    t->ncolumns = ncolumns;
    t->column = wr_zalloc((size_t)ncolumns, sizeof *t->column);
    t->row = wr_zalloc((size_t)ncolumns, sizeof *t->row);
    if (format == CLI_AS_TEXT)
        t->held = wr_zalloc((size_t)LOOK_ROWS * (size_t)ncolumns, sizeof *t->held);
    for (int i = 0; i < ncolumns; i++) {
        struct wr_str title = {0};
        const char *shown = columns[i].title ? columns[i].title : columns[i].name;

        table_add_words(&title, shown, strlen(shown));
        t->column[i].name = wr_strdup(columns[i].name);
        t->column[i].title = wr_strdup(wr_str_get(&title));
        wr_str_fini(&title);
    }
    if (format == CLI_AS_JSON)
        fputc('[', out);
    for (int i = 0; i < ncolumns && format == CLI_AS_CSV; i++) {
        table_csv_text(out, columns[i].name, strlen(columns[i].name));
        fputc(i + 1 < ncolumns ? ',' : '\n', out);
    }
    return t;
}

void cli_table_close(struct cli_table *t)
{
    if (t->format == CLI_AS_TEXT && !t->decided)
        table_decide(t);
    if (t->format == CLI_AS_JSON)
        fputs(t->rows ? "\n]\n" : "]\n", t->out);
    for (int i = 0; i < t->ncolumns; i++) {
        if (i < t->at && t->row[i].kind == CELL_TEXT)
            free((char *)t->row[i].s);
        free(t->column[i].name);
        free(t->column[i].title);
    }
    free(t->column);
    free(t->row);
    free(t);
}

void cli_table_null(struct cli_table *t)
{
    table_put_cell(t, &(struct cell){.kind = CELL_NULL});
}

void cli_table_bool(struct cli_table *t, bool value)
{
    table_put_cell(t, &(struct cell){.kind = CELL_BOOL, .i = value});
}

void cli_table_int(struct cli_table *t, int64_t value)
{
    table_put_cell(t, &(struct cell){.kind = CELL_INT, .i = value});
}

void cli_table_real(struct cli_table *t, double value)
{
    table_put_cell(t, &(struct cell){.kind = isfinite(value) ? CELL_REAL : CELL_NULL, .r = value});
}

void cli_table_real_or(struct cli_table *t, double value, const char *absent)
{
    struct cell c = {.kind = isfinite(value) ? CELL_REAL : CELL_NULL, .r = value, .s = absent};

    table_put_cell(t, &c);
}

void cli_table_text(struct cli_table *t, const char *text)
{
    cli_table_textn(t, text, strlen(text));
}

void cli_table_textn(struct cli_table *t, const char *text, size_t n)
{
    table_put_cell(t, &(struct cell){.kind = CELL_TEXT, .s = text, .n = n});
}

double cli_round(double v, double scale)
{
    assert(scale > 0);
    return round(v * scale) / scale;
}

double cli_round_digits(double v, int digits)
{
    assert(digits >= 1);
    if (!(fabs(v) > 0) || !isfinite(v))
        return v;
    double unit = pow(10, floor(log10(fabs(v))) + 1 - digits);

    return round(v / unit) * unit;
}

bool cli_format_of(bool json, bool csv, enum cli_format *ret, struct wr_err *err)
{
    if (json && csv)
        return wr_fail(err, WR_INPUT, "--json and --csv exclude each other; give one of them");
    *ret = json ? CLI_AS_JSON : csv ? CLI_AS_CSV : CLI_AS_TEXT;
    return true;
}
