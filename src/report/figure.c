/* figure.c -- the table of figure kinds, and what all kinds share.
 *
 * figure_lines.c, _boxes, _bars, _matrix, _machine and _sequence each fill one row: SVG, text,
 * JSON, CSV, and the names that get colours. The functions here choose the row by f->kind.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure_priv.h"

const char *const report_kind_names[] = {
    [REPORT_LINES] = "lines",     [REPORT_BOXES] = "boxes",   [REPORT_BARS] = "bars",
    [REPORT_MACHINE] = "machine", [REPORT_MATRIX] = "matrix", [REPORT_SEQUENCE] = "sequence",
};

static const struct figure_ops *const ops[REPORT_KINDS] = {
    [REPORT_LINES] = &figure_lines,   [REPORT_BOXES] = &figure_boxes,
    [REPORT_BARS] = &figure_bars,     [REPORT_MACHINE] = &figure_machine,
    [REPORT_MATRIX] = &figure_matrix, [REPORT_SEQUENCE] = &figure_sequence,
};

size_t figure_name(struct figure_names *names, const char *name)
{
    for (size_t i = 0; i < names->v.n; i++)
        if (!strcmp(names->v.v[i], name))
            return i;
    wr_vec_push(&names->v, name);
    return names->v.n - 1;
}

void report_figure_names(const struct report_figure *f, void (*fn)(void *ctx, const char *name),
                         void *ctx)
{
    if (ops[f->kind]->names)
        ops[f->kind]->names(f, fn, ctx);
}

static void figure_add_name(void *ctx, const char *name)
{
    figure_name(ctx, name);
}

void figure_names_open(struct figure_names *ret, const struct report_figure *f)
{
    *ret = (struct figure_names){0};
    report_figure_names(f, figure_add_name, ret);
    for (size_t i = 0; i < ret->v.n; i++)
        wr_vec_push(&ret->ink, 0);
    if (!f->ninks)
        palette_of_names(ret->v.v, ret->v.n, ret->ink.v);
    for (size_t i = 0; i < ret->v.n; i++)
        for (size_t k = 0; k < f->ninks; k++)
            if (!strcmp(f->ink[k].name, ret->v.v[i]))
                ret->ink.v[i] = f->ink[k].k;
}

void figure_names_fini(struct figure_names *names)
{
    wr_vec_fini(&names->v);
    wr_vec_fini(&names->ink);
}

void figure_head(struct report_table *t, const char *const *columns, size_t n, size_t nleft)
{
    *t = (struct report_table){.ncols = n, .nleft = nleft};
    for (size_t i = 0; i < n; i++)
        report_table_add(t, "%s", columns[i]);
}

void figure_number(struct report_table *t, double v)
{
    if (isfinite(v))
        report_table_add(t, "%.12g", v);
    else
        report_table_add(t, "%s", "");
}

void figure_legend(struct wr_str *out, const struct report_text_style *style,
                   const struct figure_names *names)
{
    unsigned at = 0;

    for (size_t k = 0; k < names->v.n; k++) {
        unsigned n = 4 + ink_columns(names->v.v[k]);

        wr_str_add(out, at && at + n > figure_width(style) ? "\n" : "");
        at = at && at + n > figure_width(style) ? n : at + n;
        wr_str_add(out, "  ");
        ink_put(out, style, names->ink.v[k], palette_fill(k, style->ascii));
        wr_str_addf(out, " %s", names->v.v[k]);
    }
    wr_str_add(out, "\n");
}

unsigned figure_width(const struct report_text_style *style)
{
    unsigned width = style->width ? style->width : 76;

    return width < 40 ? 40 : width > 500 ? 500 : width;
}

void report_figure_svg(const struct report_figure *f, struct wr_str *out)
{
    assert(f->kind < REPORT_KINDS);
    ops[f->kind]->svg(f, true, out);
}

void report_figure_svg_inline(const struct report_figure *f, struct wr_str *out)
{
    ops[f->kind]->svg(f, false, out);
}

void report_figure_text(const struct report_figure *f, const struct report_text_style *style,
                        struct wr_str *out)
{
    ops[f->kind]->text(f, style, out);
}

void report_figure_csv(const struct report_figure *f, struct wr_str *out)
{
    struct report_table t;

    ops[f->kind]->csv(f, &t);
    report_table_csv(&t, out);
    report_table_fini(&t);
}

static void figure_put_axis(const char *key, const struct report_axis *a, struct wr_str *out)
{
    bool fixed = a->max > a->min;

    report_json_key(out, key);
    wr_str_add(out, "{");
    report_json_member(out, "label", a->label ? a->label : "");
    report_json_member(out, "unit", a->unit ? a->unit : "");
    report_json_member(out, "scale", a->log ? "log" : "linear");
    if (fixed || (a->zero && !a->log))
        report_json_number(out, "min", fixed ? a->min : 0);
    if (fixed)
        report_json_number(out, "max", a->max);
    if (a->ncategories) {
        report_json_key(out, "categories");
        wr_str_add(out, "[");
        for (size_t i = 0; i < a->ncategories; i++) {
            report_json_comma(out);
            report_json_text(out, a->category[i]);
        }
        wr_str_add(out, "]");
    }
    wr_str_add(out, "}");
}

void report_figure_json(const struct report_figure *f, struct wr_str *out)
{
    wr_str_add(out, "{");
    report_json_member(out, "id", f->id);
    report_json_member(out, "title", f->chart.title);
    report_json_member(out, "desc", f->chart.desc);
    report_json_member(out, "kind", report_kind_names[f->kind]);
    report_json_member(out, "table", f->table);
    figure_put_axis("x", &f->chart.x, out);
    figure_put_axis("y", &f->chart.y, out);
    if (f->ninks) {
        report_json_key(out, "inks");
        wr_str_add(out, "{");
        for (size_t i = 0; i < f->ninks; i++)
            report_json_number(out, f->ink[i].name, f->ink[i].k);
        wr_str_add(out, "}");
    }
    ops[f->kind]->json(f, out);
    wr_str_add(out, "}");
}
