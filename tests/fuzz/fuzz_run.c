/* Any bytes as a run file: opened, every view printed, every input unpacked, compared with
 * itself. Nothing may crash, leak or run for ever. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_rows.h"
#include "run/reader.h"
#include "sqlite_heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPS = 20 * 1000, HEAP_B = 64 << 20, ROWS = 200 };

static void print_view(struct run_reader *r, const char *view, enum cli_format format, FILE *out)
{
    struct wr_err err = {0};
    struct wr_str sql = {0};

    wr_str_addf(&sql, "SELECT * FROM %s", view);
    struct cli_rows_opts opts = {.format = format, .limit = ROWS};
    run_limit(r, OPS, NULL);
    cli_rows_query(out, r, sql.s, &opts, &err);
    wr_str_fini(&sql);
}

static void unpack_inputs(struct run_reader *r)
{
    struct wr_err err = {0};
    struct run_rows *q;
    bool more;

    run_limit(r, OPS, NULL);
    if (!run_query(&q, r, "SELECT path FROM input LIMIT 10", NULL, 0, &err))
        return;
    while (run_rows_next(q, &more, &err) && more) {
        char *path = strdup(run_rows_text(q, 0, NULL)), *content;
        size_t len;

        if (run_input(r, path, &content, &len, &err))
            free(content);
        free(path);
    }
    run_rows_close(q);
}

static void read_all(const char *path, enum cli_format format)
{
    struct wr_err err = {0};
    struct run_reader *r;

    if (!run_open(&r, path, &err))
        return;
    FILE *out = fopen("/dev/null", "w");
    for (const struct run_view *v = run_views; v->name; v++)
        print_view(r, v->name, format, out);
    fclose(out);
    unpack_inputs(r);
    run_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];

    fuzz_heap_use();
    /* A hostile view may ask for much; SQLite then says no instead of taking it. */
    sqlite3_hard_heap_limit64(HEAP_B);
    snprintf(path, sizeof path, "%sfuzz-run-%ld", access("/dev/shm", W_OK) ? "" : "/dev/shm/",
             (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f)
        abort();
    fwrite(data, 1, size, f);
    fclose(f);
    /* Each input in one of the formats: they differ in how they print, not in what they read. */
    read_all(path, (enum cli_format)(size % (CLI_AS_JSON + 1)));
    unlink(path);
    return 0;
}
