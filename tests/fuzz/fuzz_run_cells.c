/* Cells of a run file, changed to anything: every view and every section of a report over them.
 *
 * Four bytes are one change: which cell (two), of what kind, which value. The file is made once and
 * stays open for the writer and the reader; what was changed is changed back afterwards. So all the
 * time is spent in what reads the values, not in SQLite's reading of the schema.
 */
#include <stdint.h>

#include "base/mem.h"
#include "cli/cli_rows.h"
#include "report/doc.h"
#include "report/sections/sections.h"
#include "run_template.h"
#include "sqlite_heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPS = 2000 * 1000, ROWS = 200, MOST_CHANGES = 16 };

struct fuzz_cell {
    char *get, *set; /* SQL; ?1 is the value */
};

static struct fuzz_lab {
    char path[64];
    sqlite3 *db;
    WR_VEC(struct fuzz_cell) cell;
    struct report_inputs in;
    FILE *null;
} lab;

static const char *const values[] = {"NULL",
                                     "0",
                                     "1",
                                     "-1",
                                     "2",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "4294967296",
                                     "2147483648",
                                     "1e400",
                                     "-1e400",
                                     "1e300",
                                     "-1e300",
                                     "1e19",
                                     "1e-300",
                                     "0.5",
                                     "''",
                                     "'x'",
                                     "'1e999'",
                                     "'nan'",
                                     "'99999999999999999999'",
                                     "x'00ff'",
                                     "x'c328'",
                                     "zeroblob(3000)",
                                     "char(27) || ']0;x' || char(7)",
                                     "char(155) || '1m'",
                                     "char(8238)",
                                     "'rank:99999999.1'",
                                     "'group:9>9'",
                                     "'target:'",
                                     "'router:1.1'",
                                     "hex(zeroblob(500))"};
enum { NVALUES = sizeof values / sizeof *values };

/* Every column of every row; rows are distinguished by their key, which stays. */
static void list_cells(const char *table)
{
    char *info = sqlite3_mprintf("SELECT name, pk FROM pragma_table_info('%q')", table);
    struct wr_str key = {0}, keys = {0};
    sqlite3_stmt *s;

    sqlite3_prepare_v2(lab.db, info, -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW)
        if (sqlite3_column_int(s, 1)) {
            const char *name = (const char *)sqlite3_column_text(s, 0);

            wr_str_addf(&key, "%s'\"%s\" IS ' || quote(\"%s\")", key.n ? " || ' AND ' || " : "",
                        name, name);
        }
    sqlite3_reset(s);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        sqlite3_stmt *rows;

        if (sqlite3_column_int(s, 1))
            continue;
        keys.n = 0;
        wr_str_addf(&keys, "SELECT %s FROM \"%s\"", key.s, table);
        sqlite3_prepare_v2(lab.db, keys.s, -1, &rows, NULL);
        while (sqlite3_step(rows) == SQLITE_ROW) {
            const char *which = (const char *)sqlite3_column_text(rows, 0);
            struct wr_str get = {0}, set = {0};

            wr_str_addf(&get, "SELECT \"%s\" FROM \"%s\" WHERE %s", name, table, which);
            wr_str_addf(&set, "UPDATE OR IGNORE \"%s\" SET \"%s\" = ?1 WHERE %s", table, name,
                        which);
            wr_vec_push(&lab.cell, (struct fuzz_cell){get.s, set.s});
        }
        sqlite3_finalize(rows);
    }
    sqlite3_finalize(s);
    sqlite3_free(info);
    wr_str_fini(&key);
    wr_str_fini(&keys);
}

static void lab_close(void)
{
    report_inputs_close(&lab.in);
    sqlite3_close(lab.db);
    for (size_t i = 0; i < lab.cell.n; i++) {
        free(lab.cell.v[i].get);
        free(lab.cell.v[i].set);
    }
    wr_vec_fini(&lab.cell);
    fclose(lab.null);
    unlink(lab.path);
}

static void lab_open(void)
{
    const char *path = lab.path;
    struct wr_err err = {0};
    sqlite3_stmt *s;

    fuzz_heap_use();
    template_path(lab.path, sizeof lab.path, "cells");
    if (!template_make(path) || sqlite3_open(path, &lab.db) != SQLITE_OK)
        abort();
    sqlite3_exec(lab.db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;", NULL, NULL,
                 NULL);
    sqlite3_prepare_v2(lab.db,
                       "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'meta' AND "
                       "name NOT LIKE 'sqlite%' ORDER BY name",
                       -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW)
        list_cells((const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    if (!report_inputs_open(&lab.in, &path, 1, &err) || !lab.cell.n)
        abort();
    lab.null = fopen("/dev/null", "w");
    atexit(lab_close);
}

/* The value that was there, or NULL when the change could not be made. */
static sqlite3_value *change(const struct fuzz_cell *c, const char *value, sqlite3_value *back)
{
    sqlite3_value *was = NULL;
    sqlite3_stmt *s;

    if (!back && sqlite3_prepare_v2(lab.db, c->get, -1, &s, NULL) == SQLITE_OK) {
        if (sqlite3_step(s) == SQLITE_ROW)
            was = sqlite3_value_dup(sqlite3_column_value(s, 0));
        sqlite3_finalize(s);
    }
    if (back) {
        if (sqlite3_prepare_v2(lab.db, c->set, -1, &s, NULL) != SQLITE_OK)
            abort();
        sqlite3_bind_value(s, 1, back);
    } else {
        struct wr_str sql = {0};
        const char *at = strstr(c->set, "?1");

        wr_str_addf(&sql, "%.*s%s%s", (int)(at - c->set), c->set, value, at + 2);
        if (sqlite3_prepare_v2(lab.db, sql.s, -1, &s, NULL) != SQLITE_OK)
            abort();
        wr_str_fini(&sql);
    }
    sqlite3_step(s);
    sqlite3_finalize(s);
    return was;
}

static void read_view(uint8_t which)
{
    size_t n = 0;

    while (run_views[n].name)
        n++;
    struct cli_rows_opts opts = {.format = (enum cli_format)(which / n % 3), .limit = ROWS};
    struct wr_err err = {0};
    struct wr_str sql = {0};

    wr_str_addf(&sql, "SELECT * FROM %s", run_views[which % n].name);
    cli_rows_query(lab.null, lab.in.v.v[0].run, sql.s, &opts, &err);
    wr_str_fini(&sql);
}

/* A page holds what the others hold, and takes ten times as long. */
static void read_report(uint8_t which, bool page)
{
    static const struct report_text_style style = {.ascii = true};
    size_t n = 0;

    while (report_sections[n])
        n++;
    const struct report_maker *const one[] = {report_sections[which % n], NULL};
    struct report_doc doc;
    struct wr_str out = {0};
    struct wr_err err = {0};

    if (report_doc_open(&doc, &lab.in, one, NULL, &err)) {
        if (page)
            report_doc_page(&doc, NULL, &out);
        else if (which / n % 2)
            report_doc_text(&doc, &style, &out);
        else
            report_doc_json(&doc, &out);
        if (out.n > 8 << 20 || (out.n && strchr(out.s, '\033')))
            abort();
        report_doc_close(&doc);
    }
    wr_str_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sqlite3_value *was[MOST_CHANGES];
    const struct fuzz_cell *cell[MOST_CHANGES];
    size_t n = 0;

    if (!lab.db)
        lab_open();
    if (size < 2)
        return 0;
    sqlite3_exec(lab.db, "BEGIN", NULL, NULL, NULL);
    for (size_t at = 2; at + 4 <= size && n < MOST_CHANGES; at += 4, n++) {
        cell[n] = &lab.cell.v[(data[at] * 256u + data[at + 1]) % lab.cell.n];
        was[n] = change(cell[n], values[data[at + 2] % NVALUES], NULL);
    }
    sqlite3_exec(lab.db, "COMMIT", NULL, NULL, NULL);
    run_limit(lab.in.v.v[0].run, OPS, NULL);
    if (data[0] % 4 == 0)
        read_view(data[1]);
    else
        read_report(data[1], data[0] % 64 == 63);
    sqlite3_exec(lab.db, "BEGIN", NULL, NULL, NULL);
    while (n-- > 0) {
        if (was[n])
            change(cell[n], NULL, was[n]);
        sqlite3_value_free(was[n]);
    }
    sqlite3_exec(lab.db, "COMMIT", NULL, NULL, NULL);
    return 0;
}
