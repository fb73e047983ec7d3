/* csv.h -- a table of numbers as text: a line of column names, then a line per row.
 *
 *   series,load,accepted
 *   "minimal, measured",0.1,0.0998
 *
 * Columns are known by name and come in any order. A field may be quoted, "" is a quote
 * in it; an empty field is a number that is not known.
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { WR_CSV_MAX_COLS = 32 };

struct wr_csv_shape {
    const char *const *names; /* the first is text, the others are numbers; but see `texts` */
    size_t n;                 /* at most WR_CSV_MAX_COLS */
    size_t needed;            /* the first so many must be there */
    /* One row: name k's text at text[k], its number at col[k]. Texts are valid during the
     * call. */
    void (*row)(void *ctx, const char *const *text, const double *col);
    uint32_t texts; /* bit k: name k is text; 0: only the first is */
    /* Where the row is, for error messages; may be NULL. A name that is no column of
     * the file is at column 1. */
    struct wr_csv_place *place;
};

struct wr_csv_place {
    uint32_t line, column[WR_CSV_MAX_COLS];
};

/* `name` stands for the file in messages, which begin with name:line:column. */
bool wr_csv_parse(const struct wr_csv_shape *shape, const char *name, const char *text, size_t len,
                  void *ctx, struct wr_err *err);

bool wr_csv_read(const struct wr_csv_shape *shape, const char *path, void *ctx, struct wr_err *err);

#endif
