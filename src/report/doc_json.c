/* doc_json.c -- writes a report document as JSON (docs/formats/report.md).
 *
 * The viewer in web/ and other programs read it; what is added here is added to that page.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "doc_priv.h"
#include "report/json.h"

void doc_warnings(const struct report_doc *d, doc_warn *fn, void *ctx)
{
    struct wr_str w = {0};

    for (size_t i = 0; i < d->in->v.n; i++) {
        const struct report_input *in = &d->in->v.v[i];
        const struct run_info *info = in->run ? run_info(in->run) : NULL;

        if (in->run && run_impossible(in->run)) {
            w.n = 0;
            wr_str_addf(&w,
                        "%s holds %llu numbers that cannot be: they are left out; the file is "
                        "damaged, make the run again.",
                        in->path, (unsigned long long)run_impossible(in->run));
            fn(ctx, w.s);
        }
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

static void doc_json_put_warning(void *ctx, const char *text)
{
    report_json_comma(ctx);
    report_json_text(ctx, text);
}

static void doc_json_put_run(const struct report_input *in, size_t id, struct wr_str *out)
{
    const struct run_info *info = in->run ? run_info(in->run) : NULL;
    char seed[24] = "";

    report_json_comma(out);
    wr_str_add(out, "{");
    report_json_number(out, "id", (double)id);
    report_json_member(out, "name", in->name);
    report_json_member(out, "path", in->path);
    report_json_member(out, "title", in->title);
    report_json_member(out, "kind", info ? info->kind : "points");
    report_json_member(out, "status", info ? run_status_name(info->status) : "complete");
    report_json_key(out, "complete");
    wr_str_add(out, !info || info->status == RUN_COMPLETE ? "true" : "false");
    report_json_key(out, "facts");
    wr_str_add(out, "{");
    if (info) {
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)info->seed);
        report_json_member(out, "weir", info->weir_version);
        report_json_member(out, "seed", seed);
        report_json_member(out, "started", info->started);
        report_json_member(out, "host", info->host);
        report_json_member(out, "command", info->command);
    }
    wr_str_add(out, "}}");
}

static void doc_json_put_cell(const char *cell, bool words, struct wr_str *out)
{
    char *end = NULL;

    report_json_comma(out);
    if (!words && !*cell)
        wr_str_add(out, "null");
    else if (!words && isfinite(strtod(cell, &end)) && !*end && *cell != '+' && *cell != '.')
        wr_str_add(out, cell);
    else
        report_json_text(out, cell);
}

/* A column is of numbers if all that stands in it is. */
static bool doc_json_column_is_words(const struct report_table *t, size_t col)
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

static void doc_json_put_sheet(const struct report_sheet *s, struct wr_str *out)
{
    const struct report_table *t = &s->table;
    bool *words = wr_zalloc(t->ncols + 1, sizeof *words);

    report_json_comma(out);
    wr_str_add(out, "{");
    report_json_member(out, "id", s->id);
    report_json_member(out, "title", s->title);
    report_json_key(out, "columns");
    wr_str_add(out, "[");
    for (size_t c = 0; c < t->ncols; c++) {
        struct wr_str name = {0};
        const char *unit = report_table_unit(t, c, &name);

        words[c] = doc_json_column_is_words(t, c);
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "name", wr_str_get(&name));
        report_json_member(out, "unit", unit);
        report_json_member(out, "kind", words[c] ? "text" : "number");
        wr_str_add(out, "}");
        wr_str_fini(&name);
    }
    wr_str_add(out, "]");
    report_json_key(out, "rows");
    wr_str_add(out, "[");
    for (size_t i = t->ncols; i < t->cell.n; i++) {
        size_t c = i % t->ncols;

        if (!c) {
            report_json_comma(out);
            wr_str_add(out, "[");
        }
        doc_json_put_cell(t->cell.v[i], words[c], out);
        if (c + 1 == t->ncols)
            wr_str_add(out, "]");
    }
    wr_str_add(out, "]}");
    free(words);
}

static void doc_json_put_section(const struct report_section *s, struct wr_str *out)
{
    report_json_comma(out);
    wr_str_add(out, "\n{");
    report_json_member(out, "id", s->id);
    report_json_member(out, "group", s->group);
    report_json_member(out, "title", s->title);
    report_json_member(out, "says", s->says);
    report_json_key(out, "figures");
    wr_str_add(out, "[");
    for (size_t i = 0; i < s->figure.n; i++) {
        report_json_comma(out);
        report_figure_json(&s->figure.v[i], out);
    }
    wr_str_add(out, "]");
    report_json_key(out, "tables");
    wr_str_add(out, "[");
    for (size_t i = 0; i < s->sheet.n; i++)
        doc_json_put_sheet(&s->sheet.v[i], out);
    wr_str_add(out, "]}");
}

void report_doc_json(const struct report_doc *d, struct wr_str *out)
{
    wr_str_add(out, "{\"weir_report\":1");
    report_json_member(out, "title", d->title);
    report_json_key(out, "made_by");
    wr_str_addf(out, "\"weir %s\"", wr_version_number());
    report_json_key(out, "warnings");
    wr_str_add(out, "[");
    doc_warnings(d, doc_json_put_warning, out);
    wr_str_add(out, "]");
    report_json_key(out, "runs");
    wr_str_add(out, "[");
    for (size_t i = 0; i < d->in->v.n; i++)
        doc_json_put_run(&d->in->v.v[i], i, out);
    wr_str_add(out, "]");
    report_json_key(out, "sections");
    wr_str_add(out, "[");
    for (size_t i = 0; i < d->section.n; i++)
        doc_json_put_section(&d->section.v[i], out);
    wr_str_add(out, "]}\n");
}
