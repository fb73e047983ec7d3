/* reader.h -- the run file, as every analysis reads it.
 *
 *   run_open ─> run_info                what it is
 *          └──> run_query ─> run_rows_next ... ─> run_rows_close
 *
 * A run file may come from anybody: it is opened read-only, views and triggers that are not weir's
 * own are never run, and what reading it costs is limited by its size. The one exception to
 * read-only: when a killed writer left a journal behind, run_open lets SQLite roll the file back to
 * its last commit.
 *
 * Of a run that is still going on a copy is read, as it was when it was opened, so that
 * looking at it does not hinder it.
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

/* The views promised to users, in the order `weir show` tells them. */
struct run_view {
    const char *name;
    const char *columns; /* the promised ones, separated by commas; others may follow */
    const char *summary;
};

extern const struct run_view run_views[]; /* ends with .name == NULL */

struct run_info {
    enum run_status status; /* never RUN_RUNNING when the writer is known to be gone */
    const char *reason;     /* why it is incomplete or failed, or "" */
    const char *kind, *weir_version, *command, *host, *started;
    const char *config; /* as it is stored, with any bytes */
    uint64_t seed;
    int64_t pid;
    uint32_t format_major, format_minor;
};

struct run_reader;

bool run_open(struct run_reader **ret, const char *path, struct wr_err *err);
/* The same, and nothing that is asked of it takes beyond `deadline_ns` of wr_clock_ns (0: none). */
bool run_open_until(struct run_reader **ret, const char *path, uint64_t deadline_ns,
                    struct wr_err *err);
/* The same as run_open, of a file that may be replaced afterwards: it is looked at, but is no
 * input. */
bool run_peek(struct run_reader **ret, const char *path, struct wr_err *err);
void run_close(struct run_reader *r); /* NULL is fine */
const struct run_info *run_info(const struct run_reader *r);
const char *run_path(const struct run_reader *r);

/* For SQL that is the user's own: in place of what a file of this size may cost, stop any later
 * query after `max_ops` SQLite instructions (0: no limit) or when *stop becomes non-zero (NULL:
 * never). */
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
/* Of the current row; the others convert as SQLite does, NULL to 0, NaN, "". No quantity of a run
 * is larger than RUN_LARGEST, in any unit: what a damaged file has beyond that is missing, NaN. */
#define RUN_LARGEST 1e30
enum run_type run_rows_type(const struct run_rows *q, int col);
int64_t run_rows_int(const struct run_rows *q, int col);
double run_rows_real(const struct run_rows *q, int col);
uint64_t run_impossible(const struct run_reader *r); /* how many such numbers were met */
/* Valid until the next row, and terminated. Harmless to print: what is no UTF-8, and what would
 * move a terminal's cursor, is written out (base/utf8.h). */
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

/* An input file's content as it was; free() it. A zero byte follows it. */
bool run_input(struct run_reader *r, const char *path, char **ret, size_t *ret_len,
               struct wr_err *err);

/* Do two files hold the same, apart from what may differ between equal runs
 * (host, times, command line, inputs' names, volatile lines of the summary)? A difference is
 * an error of WR_CHECK that names the first one. */
bool run_same(const char *a, const char *b, struct wr_err *err);

#endif
