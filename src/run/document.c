/* document.c -- see document.h: a database in memory that holds one JSON text.
 *
 * SQLite parses the JSON and the query, which may be one that reads and reaches no other file.
 */
#include "run/document.h"

#include <assert.h>
#include <stdlib.h>

#include "base/file.h"
#include "sql_priv.h"

enum { MOST_DOCUMENT = 64 << 20, MOST_STEPS = 50 };

/* What a statement could reach beyond the document. */
static int document_admit(void *ctx, int action, const char *a, const char *b, const char *c,
                          const char *d)
{
    (void)ctx, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA
               ? SQLITE_DENY
               : SQLITE_OK;
}

/* A query that has no end is stopped after 50 million instructions. */
static int document_tire(void *left)
{
    return --*(int *)left <= 0;
}

static bool document_fill(sqlite3 *db, const char *path, const char *text, size_t len,
                          struct wr_err *err)
{
    static const char tables[] =
        "CREATE TABLE json(r);"
        "CREATE VIEW item AS SELECT e.key AS key, e.value AS r FROM json, json_each(json.r) AS e";
    sqlite3_stmt *q = NULL;

    if (!run_sql_exec(db, path, tables, err))
        return false;
    bool ok = sqlite3_prepare_v2(db, "INSERT INTO json SELECT ?1 WHERE json_valid(?1)", -1, &q,
                                 NULL) == SQLITE_OK &&
              sqlite3_bind_text64(q, 1, text, len, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_DONE;
    bool valid = ok && sqlite3_changes(db) == 1;

    sqlite3_finalize(q);
    if (!ok)
        return run_sql_fail(db, sqlite3_errcode(db), path, err);
    return valid ||
           wr_fail(err, WR_INPUT, "%s is not JSON; give what a verb printed as JSON", path);
}

static bool document_ask(sqlite3 *db, const char *path, const char *sql, double *ret,
                         bool *ret_found, struct wr_err *err)
{
    int left = MOST_STEPS;
    sqlite3_stmt *q = NULL;
    const char *rest = "";

    assert(db && sql);
    sqlite3_set_authorizer(db, document_admit, NULL);
    sqlite3_progress_handler(db, 1000000, document_tire, &left);
    if (sqlite3_prepare_v2(db, sql, -1, &q, &rest) != SQLITE_OK || !q || *rest ||
        !sqlite3_stmt_readonly(q)) {
        wr_fail(err, WR_INPUT, "%s: %s in the query; write one SELECT on the views json and item",
                path,
                !q && sqlite3_errcode(db) ? sqlite3_errmsg(db) : "not one statement that reads");
        sqlite3_finalize(q);
        return false;
    }
    int rc = sqlite3_step(q);
    bool found = rc == SQLITE_ROW && sqlite3_column_type(q, 0) != SQLITE_NULL;
    double v = found ? sqlite3_column_double(q, 0) : 0;
    bool ok =
        rc == SQLITE_ROW || rc == SQLITE_DONE ||
        wr_fail(err, WR_INPUT, "%s: %s in the query; see what it reads", path, sqlite3_errmsg(db));

    sqlite3_finalize(q);
    if (!ok)
        return false;
    *ret = v;
    *ret_found = found;
    return true;
}

bool run_document_number(const char *path, const char *sql, double *ret, bool *ret_found,
                         struct wr_err *err)
{
    sqlite3 *db = NULL;
    char *text;
    size_t len;

    assert(path && sql && ret && ret_found);
    if (!wr_file_peek(&text, &len, path, MOST_DOCUMENT, err))
        return false;
    bool ok = sqlite3_open_v2(":memory:", &db,
                              SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
                              NULL) == SQLITE_OK
                  ? document_fill(db, path, text, len, err) &&
                        document_ask(db, path, sql, ret, ret_found, err)
                  : run_sql_fail(db, sqlite3_errcode(db), path, err);

    sqlite3_close(db);
    free(text);
    return ok;
}
