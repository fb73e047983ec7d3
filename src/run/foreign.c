/* foreign.c -- run files whose schema is not, text for text, the one of this version.
 *
 * Such a file was written by another version of weir, or by another program. Only its tables are
 * used: its views may be anything. This version's views are created as temporary ones over the
 * file's tables; columns and tables that the file lacks are empty.
 *
 *   main.fact_rank(app, rank, ...)  <- temp.fact_rank: *, NULL AS idle_ps  <- temp.rank_stat
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sql_priv.h"

/* The statements of a file that this version wrote come in the schema's order. */
static bool foreign_is_next(const char **at, const char *sql)
{
    size_t n = strlen(sql);

    if (strncmp(*at, sql, n) != 0 || strncmp(*at + n, ";\n", 2) != 0)
        return false;
    *at += n + 2;
    return true;
}

static bool foreign_refuse(const char *path, const char *name, const char *what, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT,
                   "%s: its \"%.60s\" is %s, which weir does not write; the file is damaged or "
                   "foreign, use a copy",
                   path, name, what);
}

/* Whether the schema differs from this version's. Virtual tables are refused: they run code. */
static bool foreign_find(sqlite3 *db, const char *path, bool *ret, struct wr_err *err)
{
    const char *at = run_schema;
    bool ok = true, same = true;
    sqlite3_stmt *s;
    int rc = sqlite3_prepare_v2(
        db, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid", -1, &s,
        NULL);

    if (rc != SQLITE_OK)
        return run_sql_fail(db, rc, path, err);
    while (ok && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        const char *sql = (const char *)sqlite3_column_text(s, 1);

        same = same && sql && foreign_is_next(&at, sql);
        if (sql && !sqlite3_strnicmp(sql, "CREATE VIRTUAL", 14))
            ok = foreign_refuse(path, name ? name : "", "a virtual table", err);
    }
    if (ok && rc != SQLITE_DONE)
        ok = run_sql_fail(db, rc, path, err);
    sqlite3_finalize(s);
    if (ok)
        *ret = !same || *at;
    return ok;
}

/* The columns of a table of the file; none: there is no such table. */
static bool foreign_columns(sqlite3 *db, const char *path, const char *table, struct wr_str *ret,
                            struct wr_err *err)
{
    static const char sql[] = "SELECT x.name, x.hidden, m.type FROM main.sqlite_master m JOIN "
                              "pragma_table_xinfo(?1, 'main') x WHERE m.name = ?1 COLLATE NOCASE "
                              "AND m.type IN ('table', 'view')";
    sqlite3_stmt *s;
    bool ok = true;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

    if (rc != SQLITE_OK)
        return run_sql_fail(db, rc, path, err);
    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    while (ok && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        const char *type = (const char *)sqlite3_column_text(s, 2);

        if (!type || strcmp(type, "table") != 0)
            ok = foreign_refuse(path, table, "no table", err);
        else if (sqlite3_column_int(s, 1))
            ok = foreign_refuse(path, table, "a table with computed columns", err);
        else
            wr_str_addf(ret, "\n%s\n", name ? name : "");
    }
    if (ok && rc != SQLITE_DONE)
        ok = run_sql_fail(db, rc, path, err);
    sqlite3_finalize(s);
    return ok;
}

static bool foreign_has(const struct wr_str *columns, const char *name)
{
    struct wr_str want = {0};

    wr_str_addf(&want, "\n%s\n", name);
    bool has = strcasestr(wr_str_get(columns), want.s) != NULL;
    wr_str_fini(&want);
    return has;
}

/* Creates a temporary view of a table with its missing columns; nothing if it is complete. */
static bool foreign_complete(sqlite3 *db, sqlite3 *ours, const char *path, const char *table,
                             struct wr_err *err)
{
    struct wr_str columns = {0}, missing = {0}, sql = {0};
    sqlite3_stmt *s;
    bool ok = foreign_columns(db, path, table, &columns, err);

    if (ok && sqlite3_prepare_v2(ours, "SELECT name FROM pragma_table_info(?1)", -1, &s, NULL) ==
                  SQLITE_OK) {
        sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
        while (sqlite3_step(s) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(s, 0);

            if (!foreign_has(&columns, name))
                wr_str_addf(&missing, "%sNULL AS \"%s\"", missing.n ? ", " : "", name);
        }
        sqlite3_finalize(s);
    }
    if (ok && missing.n) {
        if (columns.n)
            wr_str_addf(&sql, "CREATE TEMP VIEW %s AS SELECT *, %s FROM main.%s", table, missing.s,
                        table);
        else
            wr_str_addf(&sql, "CREATE TEMP VIEW %s AS SELECT %s WHERE 0", table, missing.s);
        ok = run_sql_exec(db, path, sql.s, err);
    }
    wr_str_fini(&columns);
    wr_str_fini(&missing);
    wr_str_fini(&sql);
    return ok;
}

static bool foreign_replace(sqlite3 *db, sqlite3 *ours, const char *path, struct wr_err *err)
{
    static const char view[] = "CREATE VIEW ";
    sqlite3_stmt *s;
    bool ok = true;

    if (sqlite3_prepare_v2(ours, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL",
                           -1, &s, NULL) != SQLITE_OK)
        return run_sql_fail(ours, sqlite3_errcode(ours), path, err);
    while (ok && sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const char *text = (const char *)sqlite3_column_text(s, 2);

        if (!strcmp((const char *)sqlite3_column_text(s, 0), "view")) {
            struct wr_str sql = {0};

            wr_str_addf(&sql, "CREATE TEMP VIEW %s", text + sizeof view - 1);
            ok = run_sql_exec(db, path, sql.s, err);
            wr_str_fini(&sql);
        } else {
            ok = foreign_complete(db, ours, path, name, err);
        }
    }
    sqlite3_finalize(s);
    return ok;
}

bool run_schema_trust(sqlite3 *db, const char *path, struct wr_err *err)
{
    bool foreign = false;
    sqlite3 *ours = NULL;

    if (!foreign_find(db, path, &foreign, err))
        return false;
    if (!foreign)
        return true;
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    int rc = sqlite3_open_v2(":memory:", &ours, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    bool ok = (rc == SQLITE_OK || run_sql_fail(ours, rc, path, err)) &&
              run_sql_exec(ours, path, run_schema, err) && foreign_replace(db, ours, path, err);

    sqlite3_close(ours);
    return ok;
}
