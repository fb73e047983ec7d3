/* report_table.h -- a table of text, laid out once, drawn for terminals, pages and programs. */
#ifndef REPORT_REPORT_TABLE_H
#define REPORT_REPORT_TABLE_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/str.h"

/* Zero-initialise with .ncols; cells fill row by row, the first row is the head. */
struct report_table {
    size_t ncols;
    size_t nleft; /* how many columns, from the left, are words (the rest numbers) */
    bool units;   /* the last column is words too */
    WR_VEC(char *) cell;
    struct wr_arena text;
};

void report_table_add(struct report_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A number, or nothing when it is NaN; the same decimals all down a column. */
void report_table_number(struct report_table *t, double v, int decimals);
/* Leaves out the columns in which nothing stands below the head. */
void report_table_drop_empty(struct report_table *t);
/* Does the column hold words, and not numbers? */
bool report_table_is_words(const struct report_table *t, size_t col);
/* The unit at the end of a column's head, or ""; what is before it is the name. */
const char *report_table_unit(const struct report_table *t, size_t col, struct wr_str *name);
void report_table_text(const struct report_table *t, struct wr_str *out);
void report_table_html(const struct report_table *t, const char *caption, struct wr_str *out);
/* An array of objects named by the head; numbers are numbers, blanks are null. */
void report_table_json(const struct report_table *t, struct wr_str *out);
void report_table_csv(const struct report_table *t, struct wr_str *out);
void report_table_fini(struct report_table *t);

#endif
