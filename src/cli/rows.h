/* rows.h -- what a query of a run file gives, as a table. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli/table.h"
#include "run/reader.h"

struct cli_rows_opts {
    enum cli_format format;
    uint64_t limit;    /* rows; 0: all */
    bool unless_empty; /* text: print nothing, not even the head, when there is no row */
    const char *title; /* text: a line before the head */
};

/* Reads `q` to its end (or the limit) and prints it. `ret_n`, if not NULL, is
 * how many rows were printed. */
bool cli_rows_print(FILE *out, struct run_rows *q, const struct cli_rows_opts *opts,
                    uint64_t *ret_n, struct wr_err *err);

/* The same from SQL. */
bool cli_rows_query(FILE *out, struct run_reader *r, const char *sql,
                    const struct cli_rows_opts *opts, struct wr_err *err);

#endif
