/* reader.h -- the run file, as every analysis reads it.
 *
 *   run_open ─> run_info                what it is
 *          └──> run_query ─> run_rows_next ... ─> run_rows_close
 *
 * A run file may be untrusted: it is opened read-only, foreign views and triggers are never
 * executed, and the cost of reading is limited by its size. One exception to read-only: if a killed
 * writer left a journal, run_open lets SQLite roll the file back to its last commit.
 *
 * Of a run in progress a copy is read, as of the time it was opened, so that the writer is not
 * blocked.
 *
 * POSIX locks belong to the process: do not open a file that this same process
 * is still writing.
 */
#ifndef RUN_READER_H
#define RUN_READER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/run.h"

/* The views that are a stable interface, in the order of `weir show`. */
struct run_view {
    const char *name;
    const char *columns; /* stable columns, comma-separated; others may follow */
    const char *summary;
};

extern const struct run_view run_views[]; /* ends with .name == NULL */

/* What a run file says of its run; read when it is opened. */
struct run_info {
    enum run_status status; /* not RUN_RUNNING if the writer is known to have ended */
    const char *reason;     /* why it is incomplete or failed, or "" */
    const char *kind, *weir_version, *command, *host, *started;
    const char *config; /* as it is stored, with any bytes */
    uint64_t seed;
    int64_t pid;                         /* of the writer */
    uint32_t format_major, format_minor; /* of the file */
};

struct run_reader;

bool run_open(struct run_reader **ret, const char *path, struct wr_err *err);
/* The same; queries fail after `deadline_ns` of wr_clock_ns (0: none). */
bool run_open_until(struct run_reader **ret, const char *path, uint64_t deadline_ns,
                    struct wr_err *err);
/* Like run_open, for a file that may be replaced afterwards: it is not recorded as an input. */
bool run_peek(struct run_reader **ret, const char *path, struct wr_err *err);
void run_close(struct run_reader *r); /* NULL is fine */
const struct run_info *run_info(const struct run_reader *r);
const char *run_path(const struct run_reader *r);

/* For the user's own SQL: replaces the file's budget. Later queries stop after `max_ops` SQLite
 * instructions (0: no limit) or when *stop becomes non-zero (NULL: never). */
void run_limit(struct run_reader *r, uint64_t max_ops, const volatile sig_atomic_t *stop);

/* One statement of SQL that reads. `?1`, `?2`, ... are bound to `args`. */
struct run_rows;
enum run_type { RUN_T_NULL, RUN_T_INT, RUN_T_REAL, RUN_T_TEXT, RUN_T_BLOB };

bool run_query(struct run_rows **ret, struct run_reader *r, const char *sql,
               const char *const *args, size_t nargs, struct wr_err *err);
bool run_rows_next(struct run_rows *q, bool *ret_more, struct wr_err *err);
void run_rows_close(struct run_rows *q); /* NULL is fine */

int run_rows_cols(const struct run_rows *q);
const char *run_rows_name(const struct run_rows *q, int col);
/* Values of the current row, converted as SQLite does; NULL gives 0, NaN, "". Numbers above
 * RUN_LARGEST exist in damaged files only and are read as NaN. */
#define RUN_LARGEST 1e30
enum run_type run_rows_type(const struct run_rows *q, int col);
int64_t run_rows_int(const struct run_rows *q, int col);
double run_rows_real(const struct run_rows *q, int col);
uint64_t run_impossible(const struct run_reader *r); /* number of such values */
/* Valid until the next row, terminated, and safe to print: invalid UTF-8 and control characters are
 * escaped (base/utf8.h). */
const char *run_rows_text(const struct run_rows *q, int col, size_t *ret_len);
/* The same as it is stored: any bytes. */
const char *run_rows_bytes(const struct run_rows *q, int col, size_t *ret_len);

/* Every row of a query; `?1` is `arg` (NULL: none). The function returns false to stop. */
typedef bool run_each_row(void *ctx, const struct run_rows *q);
bool run_each(struct run_reader *r, const char *sql, const char *arg, run_each_row *fn, void *ctx,
              struct wr_err *err);

/* The first column of the first row as a number: `found` false when there is
 * no row or it is NULL. */
bool run_number(struct run_reader *r, const char *sql, double *ret, bool *ret_found,
                struct wr_err *err);

/* The content of an input file; free() it. A zero byte follows it. */
bool run_input(struct run_reader *r, const char *path, char **ret, size_t *ret_len,
               struct wr_err *err);

/* Compares two runs, except for what may differ between equal ones (host, times, command line,
 * names of inputs, volatile lines of the summary). The first difference is an error of WR_CHECK. */
bool run_same(const char *a, const char *b, struct wr_err *err);

#endif
