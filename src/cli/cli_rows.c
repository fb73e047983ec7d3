/* cli_rows.c -- prints the rows of an SQL query of a run file as a table (cli_table.h).
 *
 * Used by `weir query` and `weir show`. Column names come from the query; values keep their SQLite
 * type.
 */
#include "cli/cli_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

static struct cli_table *rows_open_table(FILE *out, struct run_rows *q,
                                         const struct cli_rows_opts *opts)
{
    int n = run_rows_cols(q);
    struct cli_column *columns = wr_zalloc((size_t)n, sizeof *columns);

    for (int i = 0; i < n; i++)
        columns[i].name = run_rows_name(q, i);
    if (opts->title && opts->format == CLI_AS_TEXT)
        fprintf(out, "%s\n", opts->title);
    struct cli_table *t = cli_table_open(out, opts->format, columns, n);
    free(columns);
    return t;
}

static void rows_put_blob(struct cli_table *t, const struct run_rows *q, int col)
{
    struct wr_str text = {0};
    size_t n;

    run_rows_bytes(q, col, &n);
    wr_str_addf(&text, "<%zu bytes>", n);
    cli_table_text(t, text.s);
    wr_str_fini(&text);
}

/* JSON has its own way to write any character; a table for people or for other programs has not. */
static void rows_put_text(struct cli_table *t, const struct run_rows *q, int col, bool exact)
{
    size_t n;
    const char *text = exact ? run_rows_bytes(q, col, &n) : run_rows_text(q, col, &n);

    cli_table_textn(t, text, n);
}

static void rows_put_value(struct cli_table *t, const struct run_rows *q, int col, bool exact)
{

    switch (run_rows_type(q, col)) {
    case RUN_T_NULL:
        cli_table_null(t);
        return;
    case RUN_T_INT:
        cli_table_int(t, run_rows_int(q, col));
        return;
    case RUN_T_REAL:
        if (isnan(run_rows_real(q, col)))
            cli_table_null(t);
        else
            cli_table_real(t, run_rows_real(q, col));
        return;
    case RUN_T_BLOB:
        rows_put_blob(t, q, col);
        return;
    case RUN_T_TEXT:
        rows_put_text(t, q, col, exact);
        return;
    }
}

/* Reads `q` to its end, or the limit. */
static bool rows_print(FILE *out, struct run_rows *q, const struct cli_rows_opts *opts,
                       struct wr_err *err)
{
    bool quiet = opts->unless_empty && opts->format == CLI_AS_TEXT, ok, more = false;
    struct cli_table *t = quiet ? NULL : rows_open_table(out, q, opts);
    uint64_t n = 0;

    while ((ok = run_rows_next(q, &more, err)) && more) {
        if (!t)
            t = rows_open_table(out, q, opts);
        for (int i = 0; i < run_rows_cols(q); i++)
            rows_put_value(t, q, i, opts->format != CLI_AS_CSV);
        if (++n == opts->limit)
            break;
        if (ferror(out)) /* the reader has closed the output */
            break;
    }
    if (t)
        cli_table_close(t);
    return ok;
}

bool cli_rows_query(FILE *out, struct run_reader *r, const char *sql,
                    const struct cli_rows_opts *opts, struct wr_err *err)
{
    struct run_rows *q;

    if (!run_query(&q, r, sql, NULL, 0, err))
        return false;
    bool ok = rows_print(out, q, opts, err);
    run_rows_close(q);
    return ok;
}
