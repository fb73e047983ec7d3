/* cli_rows.h -- what a query of a run file gives, as a table. */
#ifndef CLI_CLI_ROWS_H
#define CLI_CLI_ROWS_H

#include "cli/cli_table.h"
#include "run/reader.h"

struct cli_rows_opts {
    enum cli_format format;
    uint64_t limit;    /* rows; 0: all */
    bool unless_empty; /* text: print nothing, not even the head, when there is no row */
    const char *title; /* text: a line before the head */
};

/* Runs the query and prints its rows, at most opts->limit. */
bool cli_rows_query(FILE *out, struct run_reader *r, const char *sql,
                    const struct cli_rows_opts *opts, struct wr_err *err);

#endif
