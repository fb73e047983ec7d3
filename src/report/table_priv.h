/* table_priv.h -- a table of text, laid out once, drawn for terminals, pages and programs. */
#ifndef REPORT_TABLE_PRIV_H
#define REPORT_TABLE_PRIV_H

#include <jansson.h>

#include "base/mem.h"
#include "base/str.h"

/* Zero-initialise with .ncols; cells fill row by row, the first row is the head. */
struct table {
    size_t ncols;
    size_t nleft; /* how many columns, from the left, are words (the rest numbers) */
    bool units;   /* the last column is words too */
    WR_VEC(char *) cell;
    struct wr_arena text;
};

void table_add(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A number, or nothing when it is NaN; the same decimals all down a column. */
void table_number(struct table *t, double v, int decimals);
/* Leaves out the columns in which nothing stands below the head. */
void table_drop_empty(struct table *t);
void table_text(const struct table *t, struct wr_str *out);
void table_html(const struct table *t, const char *caption, struct wr_str *out);
/* An array of objects named by the head; numbers are numbers, blanks are null. */
json_t *table_json(const struct table *t);
void table_csv(const struct table *t, struct wr_str *out);
/* Writes it out and lets go of it. */
void report_json(struct wr_str *out, json_t *all);
void table_fini(struct table *t);

#endif
