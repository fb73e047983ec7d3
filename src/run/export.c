/* export.c -- copies views of a run file into a database of plain tables (export.h).
 *
 * Rows go through the reader, so that what a damaged or foreign file holds is limited as for every
 * other analysis. The database is written under the name of the output's part, without SQLite's own
 * locks and journal: it has no reader before it is complete.
 */
#include "run/export.h"
#include <assert.h>

#include <stdio.h>

#include "sql_priv.h"

const struct wr_format run_export_format = {.name = "a database",
                                            .endings = ".db .sqlite",
                                            .begins = "SQLite format 3",
                                            .begins_n = 16,
                                            .holds = "WEIX",
                                            .holds_at = 68};

/* "a","b": names of columns may hold anything that SQL lets a query say. */
static void export_add_name(struct wr_str *sql, const char *name)
{
    wr_str_add(sql, "\"");
    for (; *name; name++)
        wr_str_addf(sql, *name == '"' ? "\"%c" : "%c", *name);
    wr_str_add(sql, "\"");
}

static bool export_create(sqlite3 *db, const char *path, const char *view, const struct run_rows *q,
                          sqlite3_stmt **ret, struct wr_err *err)
{
    struct wr_str create = {0}, insert = {0};

    wr_str_add(&create, "CREATE TABLE ");
    wr_str_add(&insert, "INSERT INTO ");
    export_add_name(&create, view);
    export_add_name(&insert, view);
    wr_str_add(&insert, " VALUES ");
    for (int i = 0; i < run_rows_cols(q); i++) {
        wr_str_add(&create, i ? ", " : " (");
        export_add_name(&create, run_rows_name(q, i));
        wr_str_add(&insert, i ? ", ?" : "(?");
    }
    wr_str_add(&create, ")");
    wr_str_add(&insert, ")");
    bool ok = run_sql_exec(db, path, create.s, err);
    int rc = ok ? sqlite3_prepare_v2(db, insert.s, (int)insert.n, ret, NULL) : SQLITE_OK;

    wr_str_fini(&create);
    wr_str_fini(&insert);
    return ok && (rc == SQLITE_OK || run_sql_fail(db, rc, path, err));
}

static void export_bind(sqlite3_stmt *into, const struct run_rows *q, int col)
{
    const char *bytes;
    size_t n;

    switch (run_rows_type(q, col)) {
    case RUN_T_NULL:
        sqlite3_bind_null(into, col + 1);
        break;
    case RUN_T_INT:
        sqlite3_bind_int64(into, col + 1, run_rows_int(q, col));
        break;
    case RUN_T_REAL:
        sqlite3_bind_double(into, col + 1, run_rows_real(q, col));
        break;
    case RUN_T_TEXT:
        bytes = run_rows_bytes(q, col, &n);
        sqlite3_bind_text64(into, col + 1, bytes, n, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case RUN_T_BLOB:
        bytes = run_rows_bytes(q, col, &n);
        sqlite3_bind_blob64(into, col + 1, bytes, n, SQLITE_TRANSIENT);
        break;
    }
}

static bool export_view(sqlite3 *db, const char *path, struct run_reader *r, const char *view,
                        struct wr_err *err)
{
    struct wr_str sql = {0};
    sqlite3_stmt *into = NULL;
    struct run_rows *q;
    bool more = true;

    wr_str_addf(&sql, "SELECT * FROM %s", view);
    bool ok = run_query(&q, r, sql.s, NULL, 0, err);

    wr_str_fini(&sql);
    if (!ok)
        return false;
    ok = export_create(db, path, view, q, &into, err);
    while (ok && (ok = run_rows_next(q, &more, err)) && more) {
        for (int i = 0; i < run_rows_cols(q); i++)
            export_bind(into, q, i);
        int rc = sqlite3_step(into);

        sqlite3_reset(into);
        ok = rc == SQLITE_DONE || run_sql_fail(db, rc, path, err);
    }
    sqlite3_finalize(into);
    run_rows_close(q);
    return ok;
}

bool run_export(struct run_reader *r, const char *const *views, size_t n, const char *path,
                bool force, struct wr_err *err)
{
    struct wr_output out;
    sqlite3 *db = NULL;

    assert(r && path && (views || !n));
    if (!wr_output_open(&out, path, &run_export_format, force ? WR_FORCE : 0, err))
        return false;
    bool ok = out.part ? run_sql_open(&db, out.part, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                      RUN_NO_LOCKS, err)
                       : wr_fail(err, WR_INPUT, "%s: a database needs a file; name one", path);

    char first[128];

    snprintf(first, sizeof first,
             "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA application_id = %d; "
             "BEGIN",
             RUN_EXPORT_ID);
    ok = ok && run_sql_exec(db, path, first, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = export_view(db, path, r, views[i], err);
    ok = ok && run_sql_exec(db, path, "COMMIT", err);
    sqlite3_close(db);
    if (ok)
        return wr_output_commit(&out, err);
    wr_output_abandon(&out);
    return false;
}
