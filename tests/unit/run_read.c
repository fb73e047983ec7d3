/* Files that are not what they should be, and queries that want more than to read. */
#include "unit/run_help.h"

#include <fcntl.h>
#include <sqlite3.h>

#include "base/clock.h"

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void patch(const char *path, off_t at, const void *bytes, size_t n)
{
    int fd = open(path, O_RDWR);

    assert_int_equal(pwrite(fd, bytes, n, at), n);
    close(fd);
}

static off_t file_size(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void assert_refused(const char *path, enum wr_code code, const char *words)
{
    struct wr_err err = {0};
    struct run_reader *r = NULL;

    assert_false(run_open(&r, path, &err));
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(err.code, code);
    assert_null(r);
}

static void a_file_that_is_not_there(void **state)
{
    assert_refused(((struct place *)*state)->path, WR_INPUT, "no such file");
}

static void a_directory_is_not_a_run_file(void **state)
{
    assert_refused(((struct place *)*state)->dir, WR_INPUT, "not a run file");
}

static void a_fifo_is_refused_without_waiting(void **state)
{
    const char *path = ((struct place *)*state)->path;

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, WR_INPUT, "not a run file");
}

static void an_empty_file_says_that_the_run_never_began(void **state)
{
    const char *path = ((struct place *)*state)->path;

    write_bytes(path, "", 0);
    assert_refused(path, WR_INPUT, "empty");
}

static void text_is_not_a_run_file(void **state)
{
    const char *path = ((struct place *)*state)->path;
    char text[400];

    memset(text, 'x', sizeof text);
    write_bytes(path, text, sizeof text);
    assert_refused(path, WR_INPUT, "not a run file");
}

static void another_database_is_not_a_run_file(void **state)
{
    const char *path = ((struct place *)*state)->path;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE meta(key, value)", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_refused(path, WR_INPUT, "something else");
}

static void a_database_that_only_claims_to_be_a_run_is_damaged(void **state)
{
    const char *path = ((struct place *)*state)->path;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db,
                 "PRAGMA application_id = 0x57454952; PRAGMA user_version = 100;"
                 "CREATE TABLE meta(key, value)",
                 NULL, NULL, NULL);
    sqlite3_close(db);
    assert_refused(path, WR_INPUT, "no status");
}

/* A view may be anything, also endless: it is not run. */
static void a_file_whose_meta_is_a_view_is_refused(void **state)
{
    const char *path = ((struct place *)*state)->path;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db,
                 "PRAGMA application_id = 0x57454952; PRAGMA user_version = 100;"
                 "CREATE VIEW meta AS WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL"
                 " SELECT x + 1 FROM i) SELECT x AS key, x AS value FROM i WHERE x < 0",
                 NULL, NULL, NULL);
    sqlite3_close(db);
    assert_refused(path, WR_INPUT, "no table");
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

#define ENDLESS "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM i) "

static void a_foreign_view_is_replaced_by_this_versions(void **state)
{
    const char *path = ((struct place *)*state)->path;

    complete(create(path));
    change(path, "INSERT INTO fact_summary VALUES(100, 'title', NULL, 'honest', '', 0);"
                 "DROP VIEW summary; CREATE VIEW summary AS " ENDLESS
                 "SELECT 'title' AS key, x AS value, '' AS unit FROM i WHERE x < 0;"
                 "CREATE VIEW more AS SELECT 1 AS one");
    struct run_reader *r = reopen(path);
    struct wr_err err = {0};
    struct run_rows *q;

    assert_line(r, "SELECT value FROM summary WHERE key = 'title'", "honest");
    /* Others of its views are not run either, for any query. */
    run_limit(r, 0, NULL);
    assert_false(run_query(&q, r, "SELECT * FROM more", NULL, 0, &err));
    assert_int_equal(err.code, WR_INPUT);
    run_close(r);
}

static void columns_and_tables_of_later_versions_are_empty(void **state)
{
    const char *path = ((struct place *)*state)->path;

    complete(create(path));
    change(path, "INSERT INTO fact_app VALUES(0, 'a', 1, 0, '', '');"
                 "INSERT INTO fact_rank(app, rank, node) VALUES(0, 0, 5);"
                 "DROP VIEW rank_stat; DROP VIEW app_stat; DROP VIEW cause_stat;"
                 "ALTER TABLE fact_rank DROP COLUMN idle_ps;"
                 "DROP VIEW flow_stat; DROP TABLE fact_flow; PRAGMA user_version = 100");
    struct run_reader *r = reopen(path);

    assert_line(r, "SELECT node, idle_ns IS NULL FROM rank_stat", "5|1");
    assert_line(r, "SELECT count(*) FROM flow_stat", "0");
    run_close(r);
}

static void tables_that_compute_are_refused(void **state)
{
    static const struct {
        const char *sql, *words;
    } tables[] = {
        {"DROP TABLE fact_mark; CREATE TABLE fact_mark(id INTEGER PRIMARY KEY, app, rank, mark,"
         " t_ps AS (length(hex(zeroblob(100000000)))))",
         "computed"},
        {"DROP TABLE fact_mark; CREATE VIRTUAL TABLE fact_mark USING fts5(app, mark)", "virtual"},
        {"DROP TABLE fact_mark; CREATE VIEW fact_mark AS " ENDLESS "SELECT x FROM i", "no table"},
    };
    const char *path = ((struct place *)*state)->path;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        unlink(path);
        complete(create(path));
        change(path, tables[i].sql);
        assert_refused(path, WR_INPUT, tables[i].words);
    }
}

static unsigned pragma_of(const char *path, const char *sql)
{
    sqlite3_stmt *s;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    unsigned value = (unsigned)sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return value;
}

static unsigned be16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* Where the pointer to child `c` of an interior page is; the last is in the head. */
static unsigned char *child_of(unsigned char *page, unsigned c)
{
    return page + (c < be16(page + 3) ? be16(page + 12 + 2 * c) : 8);
}

/* All pointers of a table's root lead to one page, a copy of it, whose pointers lead to the next
 * copy, and so on: a few pages that stand for endless rows. */
static void make_endless(const char *path, const char *table)
{
    enum { LEVELS = 12 };
    unsigned char page[65536], to[LEVELS + 1][4];
    unsigned size = pragma_of(path, "PRAGMA page_size");
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    unsigned level = pragma_of(path, sql);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, page, size, (off_t)(level - 1) * size), size);
    assert_int_equal(page[0], 5); /* an interior page of a table */
    assert_true(be16(page + 3) > LEVELS);
    for (unsigned c = 0; c <= LEVELS; c++)
        memcpy(to[c], child_of(page, c), 4);
    for (unsigned l = 0; l <= LEVELS; l++) {
        for (unsigned c = 0; c <= be16(page + 3); c++)
            memcpy(child_of(page, c), to[l], 4);
        assert_int_equal(pwrite(fd, page, size, (off_t)(level - 1) * size), size);
        level = be16(to[l]) << 16 | be16(to[l] + 2);
    }
    close(fd);
}

static void pages_that_stand_for_endless_rows_are_given_up(void **state)
{
    static const char *const sql[] = {"SELECT text FROM output",
                                      "SELECT count(*), max(text) FROM output WHERE rank >= 0",
                                      "SELECT text FROM output ORDER BY text || rank"};
    const char *path = ((struct place *)*state)->path;
    bool more = true, ok;

    complete(create(path));
    change(path, "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM i LIMIT 8000)"
                 " INSERT INTO fact_output SELECT x, 0, 0, 0, 'some words of it' FROM i");
    make_endless(path, "fact_output");
    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        struct run_reader *r = reopen(path);
        struct wr_err err = {0};
        struct run_rows *q;

        must(run_query(&q, r, sql[i], NULL, 0, &err), err);
        while ((ok = run_rows_next(q, &more, &err)) && more)
            ;
        run_rows_close(q);
        run_close(r);
        assert_false(ok);
        assert_int_equal(err.code, WR_INPUT);
        assert_non_null(strstr(err.text, "of its size"));
    }
}

/* The same with long texts: what is kept of each row would fill the memory first. */
static void long_texts_that_come_again_and_again_are_given_up(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run_rows *q;
    bool more = true, ok;
    size_t n, all = 0;

    complete(create(path));
    change(path, "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM i LIMIT 600)"
                 " INSERT INTO fact_output SELECT x, 0, 0, 0, hex(zeroblob(1500)) FROM i");
    make_endless(path, "fact_output");
    struct run_reader *r = reopen(path);
    must(run_query(&q, r, "SELECT text FROM output", NULL, 0, &err), err);
    while ((ok = run_rows_next(q, &more, &err)) && more) {
        run_rows_text(q, 0, &n);
        all += n;
    }
    run_rows_close(q);
    run_close(r);
    assert_false(ok);
    assert_non_null(strstr(err.text, "of its size"));
    assert_true(all < 200u << 20);
}

static void a_query_stops_at_its_deadline(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run_reader *r;
    struct run_rows *q;
    bool more;

    complete(create(path));
    must(run_open_until(&r, path, wr_clock_ns() + 50 * 1000 * 1000, &err), err);
    must(run_query(&q, r, ENDLESS "SELECT count(*) FROM i", NULL, 0, &err), err);
    assert_false(run_rows_next(q, &more, &err));
    assert_int_equal(err.code, WR_SYSTEM);
    run_rows_close(q);
    run_close(r);
}

static void a_newer_format_asks_for_a_newer_weir(void **state)
{
    const char *path = ((struct place *)*state)->path;

    complete(create(path));
    patch(path, 60, (unsigned char[]){0, 0, 0, 200}, 4);
    assert_refused(path, WR_INPUT, "newer weir (format 2.0");
}

static void a_newer_minor_format_is_read(void **state)
{
    const char *path = ((struct place *)*state)->path;

    complete(create(path));
    patch(path, 60, (unsigned char[]){0, 0, 0, 199}, 4);
    struct run_reader *r = reopen(path);
    assert_int_equal(run_info(r)->format_major, 1);
    assert_int_equal(run_info(r)->format_minor, 99);
    run_close(r);
}

static void a_file_cut_short_says_how_much_is_missing(void **state)
{
    const char *path = ((struct place *)*state)->path;

    complete(create(path));
    assert_int_equal(truncate(path, file_size(path) / 2), 0);
    assert_refused(path, WR_INPUT, "cut short");
}

/* Somewhere between opening and reading everything, damage is reported, never a crash. */
static void a_damaged_page_is_an_error_that_says_so(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct run_link l = {.src_kind = "router", .dst_kind = "router", .cls = "local"};
    struct wr_err err = {0};
    struct run *run = create(path);
    struct run_reader *r;
    struct run_rows *q;
    unsigned char junk[8192];
    bool more = true;

    for (l.src = 0; l.src < 5000; l.src++)
        must(run_put_link(run, &l, &err), err);
    complete(run);
    memset(junk, 0xa5, sizeof junk);
    patch(path, file_size(path) - 8192 * 3, junk, sizeof junk);

    r = reopen(path);
    must(run_query(&q, r, "SELECT * FROM link_stat", NULL, 0, &err), err);
    while (more && run_rows_next(q, &more, &err))
        ;
    run_rows_close(q);
    run_close(r);
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "damaged"));
}

static void nothing_but_reading_is_allowed(void **state)
{
    static const char *const evil[] = {
        "DELETE FROM meta",
        "INSERT INTO meta VALUES('a', 'b')",
        "UPDATE meta SET value = 1",
        "DROP VIEW summary",
        "CREATE TABLE t(x)",
        "CREATE TEMP TABLE t(x)",
        "ATTACH 'other.db' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "REINDEX",
        "ANALYZE",
        "PRAGMA user_version = 5",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "PRAGMA temp_store_directory = '/'",
        "PRAGMA trusted_schema = ON",
        "SELECT load_extension('evil')",
        "SELECT 1; DELETE FROM meta",
        "SELECT 1; SELECT 2",
        "EXPLAIN DELETE FROM meta",
    };
    const char *path = ((struct place *)*state)->path;

    complete(create(path));
    struct run_reader *r = reopen(path);
    for (size_t i = 0; i < sizeof evil / sizeof evil[0]; i++) {
        struct wr_err err = {0};
        struct run_rows *q = NULL;

        if (run_query(&q, r, evil[i], NULL, 0, &err))
            fail_msg("allowed: %s", evil[i]);
        assert_int_equal(err.code, WR_INPUT);
        assert_null(q);
    }
    assert_line(r, "SELECT value FROM meta WHERE key = 'status'", "complete");
    assert_line(r, "PRAGMA user_version", "111");
    assert_line(r, "PRAGMA table_info(summary)", "0|key|TEXT|0||0");
    run_close(r);
    assert_int_not_equal(access("copy.db", F_OK), 0);
    assert_int_not_equal(access("other.db", F_OK), 0);
}

static void a_wrong_query_says_what_is_wrong(void **state)
{
    static const struct {
        const char *sql, *words;
    } wrong[] = {{"SELECT nonsense FROM summary", "nonsense"},
                 {"SELEKT 1", "syntax"},
                 {"", "no statement"},
                 {"-- nothing", "no statement"}};
    struct wr_err err = {0};

    complete(create(((struct place *)*state)->path));
    struct run_reader *r = reopen(((struct place *)*state)->path);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct run_rows *q = NULL;

        assert_false(run_query(&q, r, wrong[i].sql, NULL, 0, &err));
        assert_int_equal(err.code, WR_INPUT);
        assert_non_null(strstr(err.text, wrong[i].words));
    }
    run_close(r);
}

static void an_endless_query_can_be_stopped(void **state)
{
    static const char endless[] = "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM i)"
                                  " SELECT count(*) FROM i";
    struct wr_err err = {0};
    struct run_rows *q;
    volatile sig_atomic_t stop = 1;
    bool more;

    complete(create(((struct place *)*state)->path));
    struct run_reader *r = reopen(((struct place *)*state)->path);
    for (int i = 0; i < 2; i++) {
        run_limit(r, i ? 100000 : 0, i ? NULL : &stop);
        must(run_query(&q, r, endless, NULL, 0, &err), err);
        assert_false(run_rows_next(q, &more, &err));
        assert_int_equal(err.code, WR_INTERRUPTED);
        run_rows_close(q);
    }
    run_close(r);
}

static void arguments_are_bound_in_order(void **state)
{
    const char *args[] = {"a", "b"};
    struct wr_err err = {0};
    struct run_rows *q;
    bool more;

    complete(create(((struct place *)*state)->path));
    struct run_reader *r = reopen(((struct place *)*state)->path);
    must(run_query(&q, r, "SELECT ?1 || ?2", args, 2, &err), err);
    must(run_rows_next(q, &more, &err), err);
    assert_string_equal(run_rows_text(q, 0, NULL), "ab");
    run_rows_close(q);
    run_close(r);
}

/* What a hostile file may say of its inputs: sizes that are not so. */
static void an_input_that_lies_about_its_size_is_damaged(void **state)
{
    static const char *const lies[] = {
        "UPDATE input SET len_b = 1000000000000",
        "UPDATE input SET len_b = -1",
        "UPDATE input SET len_b = 5",
        "UPDATE input SET codec = 'rot13'",
        "UPDATE input SET content = x'00'",
        "UPDATE input SET content = NULL",
    };
    const char *path = ((struct place *)*state)->path;
    static const char big[100000];
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};

    meta.force = true;
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct run *run;
        sqlite3 *db;
        char *content = NULL;
        size_t len;

        must(run_create(&run, path, &meta, &err), err);
        must(run_put_input(run, "x", big, sizeof big, &err), err);
        complete(run);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON", NULL, NULL, NULL);
        int rc = sqlite3_exec(db, lies[i], NULL, NULL, NULL);
        sqlite3_close(db);
        if (rc == SQLITE_CONSTRAINT)
            continue;
        struct run_reader *r = reopen(path);
        assert_false(run_input(r, "x", &content, &len, &err));
        assert_int_equal(err.code, WR_INPUT);
        assert_null(content);
        run_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_file_that_is_not_there),
        IN_PLACE(a_directory_is_not_a_run_file),
        IN_PLACE(a_fifo_is_refused_without_waiting),
        IN_PLACE(an_empty_file_says_that_the_run_never_began),
        IN_PLACE(text_is_not_a_run_file),
        IN_PLACE(another_database_is_not_a_run_file),
        IN_PLACE(a_database_that_only_claims_to_be_a_run_is_damaged),
        IN_PLACE(a_file_whose_meta_is_a_view_is_refused),
        IN_PLACE(a_foreign_view_is_replaced_by_this_versions),
        IN_PLACE(columns_and_tables_of_later_versions_are_empty),
        IN_PLACE(tables_that_compute_are_refused),
        IN_PLACE(pages_that_stand_for_endless_rows_are_given_up),
        IN_PLACE(long_texts_that_come_again_and_again_are_given_up),
        IN_PLACE(a_query_stops_at_its_deadline),
        IN_PLACE(a_newer_format_asks_for_a_newer_weir),
        IN_PLACE(a_newer_minor_format_is_read),
        IN_PLACE(a_file_cut_short_says_how_much_is_missing),
        IN_PLACE(a_damaged_page_is_an_error_that_says_so),
        IN_PLACE(nothing_but_reading_is_allowed),
        IN_PLACE(a_wrong_query_says_what_is_wrong),
        IN_PLACE(an_endless_query_can_be_stopped),
        IN_PLACE(arguments_are_bound_in_order),
        IN_PLACE(an_input_that_lies_about_its_size_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
