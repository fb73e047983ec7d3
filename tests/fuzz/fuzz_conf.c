/* Any text, with any overrides, is a configuration or an error; a configuration
 * written out is one again, and the same.
 *
 * The input is YAML up to the first NUL, then one override up to each further
 * NUL. Sections and plug-ins that may be files may not here, shipped ones excepted: the fuzzer
 * would read the disk. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/conf_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_SETS = 8, NROWS = 16 };

struct closed_rows {
    struct conf_row toy[NROWS], machine[NROWS], job[NROWS];
    struct conf_files shipped;
};

static void copy_rows(struct conf_row *to, const struct conf_row *from)
{
    do {
        *to = *from;
        to++->include = false;
    } while (from++->key);
}

static void close_rows(struct closed_rows *r)
{
    copy_rows(r->toy, toy_rows);
    copy_rows(r->machine, machine_rows);
    copy_rows(r->job, job_rows);
    r->shipped = toy_files;
    r->shipped.rows = NULL;
    for (struct conf_row *row = r->toy; row->key; row++)
        if (row->rows == machine_rows)
            row->rows = r->machine;
        else if (row->rows == job_rows)
            row->rows = r->job;
    for (struct conf_row *row = r->job; row->key; row++)
        if (row->files)
            row->files = &r->shipped;
}

static void need(bool ok, const char *what, const char *text)
{
    if (ok)
        return;
    fprintf(stderr, "%s:\n%s\n", what, text);
    abort();
}

static void check_again(const struct conf *c, const struct conf_row *rows)
{
    struct wr_str plain = {0}, located = {0}, again = {0};
    struct conf *c2;
    struct toy t = {0};
    struct wr_err err;

    conf_dump(c, &plain, false);
    conf_dump(c, &located, true);
    need(conf_load_text(&c2, &t, rows, "dump", located.s, located.n, NULL, 0, &err), err.text,
         located.s);
    conf_dump(c2, &again, false);
    need(!strcmp(plain.s, again.s), again.s, plain.s);
    conf_close(c2);
    wr_str_fini(&plain);
    wr_str_fini(&located);
    wr_str_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct closed_rows rows;
    const char *sets[MOST_SETS];
    size_t nsets = 0;
    struct toy t = {0};
    struct conf *c;
    struct wr_err err;
    char *text = malloc(size + 1);

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    close_rows(&rows);
    size_t len = strlen(text);
    for (size_t at = len + 1; at < size && nsets < MOST_SETS; at += strlen(text + at) + 1)
        sets[nsets++] = text + at;
    if (conf_load_text(&c, &t, rows.toy, "in", text, len, sets, nsets, &err)) {
        check_again(c, rows.toy);
        conf_close(c);
    } else {
        need(err.code == WR_INPUT || err.code == WR_UNKNOWN, "not the user's fault", err.text);
    }
    free(text);
    return 0;
}
