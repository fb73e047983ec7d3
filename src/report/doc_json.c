/* doc_json.c -- a report document, as docs/formats/report.md has it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "doc_priv.h"
#include "json_priv.h"

void doc_warnings(const struct report_doc *d, doc_warn *fn, void *ctx)
{
    struct wr_str w = {0};

    for (size_t i = 0; i < d->in->v.n; i++) {
        const struct report_input *in = &d->in->v.v[i];
        const struct run_info *info = in->run ? run_info(in->run) : NULL;

        if (!info || info->status == RUN_COMPLETE)
            continue;
        w.n = 0;
        wr_str_addf(&w, "%s is %s%s%s: its numbers may change; run it again for all of them.",
                    in->path, run_status_name(info->status), *info->reason ? ", " : "",
                    info->reason);
        fn(ctx, w.s);
    }
    if (d->in->left_out) {
        w.n = 0;
        wr_str_addf(&w,
                    "%zu run files of the directory are not complete and are left out; run the "
                    "study again for all of them.",
                    d->in->left_out);
        fn(ctx, w.s);
    }
    wr_str_fini(&w);
}

static void put_warning(void *ctx, const char *text)
{
    json_put_comma(ctx);
    json_put_text(ctx, text);
}

static void put_run(const struct report_input *in, size_t id, struct wr_str *out)
{
    const struct run_info *info = in->run ? run_info(in->run) : NULL;
    char seed[24] = "";

    json_put_comma(out);
    wr_str_add(out, "{");
    json_put_number(out, "id", (double)id);
    json_put_member(out, "name", in->name);
    json_put_member(out, "path", in->path);
    json_put_member(out, "title", in->title);
    json_put_member(out, "kind", info ? info->kind : "points");
    json_put_member(out, "status", info ? run_status_name(info->status) : "complete");
    json_put_key(out, "complete");
    wr_str_add(out, !info || info->status == RUN_COMPLETE ? "true" : "false");
    json_put_key(out, "facts");
    wr_str_add(out, "{");
    if (info) {
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)info->seed);
        json_put_member(out, "weir", info->weir_version);
        json_put_member(out, "seed", seed);
        json_put_member(out, "started", info->started);
        json_put_member(out, "host", info->host);
        json_put_member(out, "command", info->command);
    }
    wr_str_add(out, "}}");
}

static void put_cell(const char *cell, bool words, struct wr_str *out)
{
    char *end = NULL;

    json_put_comma(out);
    if (!words && !*cell)
        wr_str_add(out, "null");
    else if (!words && isfinite(strtod(cell, &end)) && !*end && *cell != '+' && *cell != '.')
        wr_str_add(out, cell);
    else
        json_put_text(out, cell);
}

/* A column is of numbers if all that stands in it is. */
static bool column_is_words(const struct report_table *t, size_t col)
{
    if (report_table_is_words(t, col))
        return true;
    for (size_t i = t->ncols + col; i < t->cell.n; i += t->ncols) {
        char *end;
        double v = strtod(t->cell.v[i], &end);

        if (*end || !isfinite(v) || strspn(t->cell.v[i], "+-0123456789.eE") != strlen(t->cell.v[i]))
            return true;
    }
    return false;
}

static void put_sheet(const struct report_sheet *s, struct wr_str *out)
{
    const struct report_table *t = &s->table;
    bool *words = wr_zalloc(t->ncols + 1, sizeof *words);

    json_put_comma(out);
    wr_str_add(out, "{");
    json_put_member(out, "id", s->id);
    json_put_member(out, "title", s->title);
    json_put_key(out, "columns");
    wr_str_add(out, "[");
    for (size_t c = 0; c < t->ncols; c++) {
        struct wr_str name = {0};
        const char *unit = report_table_unit(t, c, &name);

        words[c] = column_is_words(t, c);
        json_put_comma(out);
        wr_str_add(out, "{");
        json_put_member(out, "name", wr_str_get(&name));
        json_put_member(out, "unit", unit);
        json_put_member(out, "kind", words[c] ? "text" : "number");
        wr_str_add(out, "}");
        wr_str_fini(&name);
    }
    wr_str_add(out, "]");
    json_put_key(out, "rows");
    wr_str_add(out, "[");
    for (size_t i = t->ncols; i < t->cell.n; i++) {
        size_t c = i % t->ncols;

        if (!c) {
            json_put_comma(out);
            wr_str_add(out, "[");
        }
        put_cell(t->cell.v[i], words[c], out);
        if (c + 1 == t->ncols)
            wr_str_add(out, "]");
    }
    wr_str_add(out, "]}");
    free(words);
}

static void put_section(const struct report_section *s, struct wr_str *out)
{
    json_put_comma(out);
    wr_str_add(out, "\n{");
    json_put_member(out, "id", s->id);
    json_put_member(out, "group", s->group);
    json_put_member(out, "title", s->title);
    json_put_member(out, "says", s->says);
    json_put_key(out, "figures");
    wr_str_add(out, "[");
    for (size_t i = 0; i < s->figure.n; i++) {
        json_put_comma(out);
        report_figure_json(&s->figure.v[i], out);
    }
    wr_str_add(out, "]");
    json_put_key(out, "tables");
    wr_str_add(out, "[");
    for (size_t i = 0; i < s->sheet.n; i++)
        put_sheet(&s->sheet.v[i], out);
    wr_str_add(out, "]}");
}

void report_doc_json(const struct report_doc *d, struct wr_str *out)
{
    wr_str_add(out, "{\"weir_report\":1");
    json_put_member(out, "title", d->title);
    json_put_key(out, "made_by");
    wr_str_addf(out, "\"weir %s\"", wr_version_number());
    json_put_key(out, "warnings");
    wr_str_add(out, "[");
    doc_warnings(d, put_warning, out);
    wr_str_add(out, "]");
    json_put_key(out, "runs");
    wr_str_add(out, "[");
    for (size_t i = 0; i < d->in->v.n; i++)
        put_run(&d->in->v.v[i], i, out);
    wr_str_add(out, "]");
    json_put_key(out, "sections");
    wr_str_add(out, "[");
    for (size_t i = 0; i < d->section.n; i++)
        put_section(&d->section.v[i], out);
    wr_str_add(out, "]}\n");
}
