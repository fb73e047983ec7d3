/* figure_matrix.c -- the figure kind "matrix": one square per pair, darker for larger values. Where
 * they span more than two decades the shades are logarithmic; the legend says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figure_priv.h"
#include "report_svg_priv.h"

/* Values that span more than this are shaded by their logarithm. */
#define MATRIX_LINEAR_SPAN 100

/* The range of the positive values, which have a shade; all others have none. */
struct shading {
    double least, top;
    bool log;
};

static struct shading matrix_shading(const struct report_matrix *m)
{
    struct shading s = {.least = INFINITY, .top = 0};

    for (size_t i = 0; i < m->nrows * m->ncols; i++)
        if (isfinite(m->value[i]) && m->value[i] > 0) {
            s.top = fmax(s.top, m->value[i]);
            s.least = fmin(s.least, m->value[i]);
        }
    if (!(s.top > 0))
        s.top = s.least = 1;
    s.log = s.top > MATRIX_LINEAR_SPAN * s.least;
    return s;
}

/* From 0, the lightest shade, to 1, the darkest; v is positive. */
static double matrix_shade(const struct shading *s, double v)
{
    double at = s->log ? log(v / s->least) / log(s->top / s->least) : v / s->top;

    return fmin(fmax(at, 0), 1);
}

/* What the shades mean: "shades: logarithmic, 1.2 kB to 34 MB; empty: none". */
static void matrix_legend(const struct shading *s, const char *unit, struct wr_str *out)
{
    char least[32] = "0", top[32];

    if (s->log)
        scale_quantity(s->least, unit, least, sizeof least);
    scale_quantity(s->top, unit, top, sizeof top);
    wr_str_addf(out, "shades: %s, %s to %s; empty: none", s->log ? "logarithmic" : "linear", least,
                top);
}

static void matrix_put_labels(const struct report_matrix *m, const struct svg_frame *f, double cell,
                              struct wr_str *out)
{
    size_t every = (size_t)fmax(1, ceil(16 / cell)), wide = (size_t)fmax(1, ceil(34 / cell));

    for (size_t i = 0; i < m->nrows; i += every)
        svg_text(f->x - 6, f->y + cell * ((double)i + 0.5) + 4,
                 "class=\"dim\" text-anchor=\"end\" font-size=\"11\"", m->row[i], out);
    for (size_t i = 0; i < m->ncols; i += wide)
        svg_text(f->x + cell * ((double)i + 0.5), f->y + f->h + 16,
                 "class=\"dim\" text-anchor=\"middle\" font-size=\"11\"", m->col[i], out);
}

static void matrix_put_cells(const struct report_matrix *m, const struct svg_frame *f, double cell,
                             struct wr_str *out)
{
    struct shading s = matrix_shading(m);

    svg_group(0, out);
    for (size_t r = 0; r < m->nrows; r++)
        for (size_t c = 0; c < m->ncols; c++) {
            double v = m->value[r * m->ncols + c];

            if (!(v > 0))
                continue;
            wr_str_addf(out,
                        "<rect class=\"fill\" stroke=\"none\" fill-opacity=\"%.3f\" x=\"%.1f\" "
                        "y=\"%.1f\" width=\"%.2f\" height=\"%.2f\"",
                        0.06 + 0.94 * matrix_shade(&s, v), f->x + cell * (double)c,
                        f->y + cell * (double)r, cell, cell);
            /* Words for each of many thousand cells would be most of the page. */
            if (m->nrows * m->ncols > 2500) {
                wr_str_add(out, "/>");
                continue;
            }
            wr_str_add(out, "><title>");
            report_escape(out, m->row[r]);
            wr_str_add(out, " to ");
            report_escape(out, m->col[c]);
            wr_str_addf(out, ": %.4g %s</title></rect>", v, m->unit);
        }
    wr_str_add(out, "</g>\n");
}

static void matrix_svg(const struct report_figure *fig, bool whole, struct wr_str *out)
{
    const struct report_matrix *m = &fig->matrix;
    double top = svg_top(&fig->chart, whole) + 30, left = 40;

    for (size_t i = 0; i < m->nrows; i++)
        left = fmax(left, fmin(svg_text_width(m->row[i]) + 14, 200));
    double cell = fmin((SVG_WIDTH - left - SVG_RIGHT) / fmax((double)m->ncols, 1),
                       fmin(560 / fmax((double)m->nrows, 1), 40));
    struct svg_frame f = {.x = left,
                          .y = top,
                          .w = cell * (double)m->ncols,
                          .h = cell * (double)m->nrows,
                          .id = fig->id};

    svg_begin(&fig->chart, whole ? "chart" : fig->id, whole, top + f.h + 74, out);
    wr_str_addf(out,
                "<rect class=\"axis\" fill=\"none\" stroke=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                "width=\"%.1f\" height=\"%.1f\"/>\n",
                svg_light(SVG_DIM), f.x, f.y, f.w, f.h);
    matrix_put_cells(m, &f, cell, out);
    matrix_put_labels(m, &f, cell, out);
    svg_text(f.x + f.w / 2, f.y + f.h + 40, "text-anchor=\"middle\"",
             fig->chart.x.label ? fig->chart.x.label : "", out);
    struct wr_str legend = {0};
    struct shading s = matrix_shading(m);
    matrix_legend(&s, m->unit, &legend);
    svg_text(f.x + f.w / 2, f.y + f.h + 62, "class=\"dim\" text-anchor=\"middle\"", legend.s, out);
    wr_str_fini(&legend);
    svg_text(8, f.y - 12, "", fig->chart.y.label ? fig->chart.y.label : "", out);
    svg_end(out);
}

static void matrix_text(const struct report_figure *f, const struct report_text_style *style,
                        struct wr_str *out)
{
    static const char *const shade[2][5] = {{" ", "░", "▒", "▓", "█"}, {" ", ".", ":", "+", "#"}};
    const struct report_matrix *m = &f->matrix;
    size_t fit = figure_width(style) - 24, step = m->ncols / fit + 1;
    struct shading s = matrix_shading(m);

    wr_str_addf(out, "%s (rows: %s, columns: %s)\n", f->chart.title, f->chart.y.label,
                f->chart.x.label);
    for (size_t r = 0; r < m->nrows; r += step) {
        wr_str_addf(out, "%*.*s ", 20, 20, m->row[r]);
        for (size_t c = 0; c < m->ncols; c += step) {
            double v = m->value[r * m->ncols + c];

            wr_str_add(out,
                       shade[style->ascii][v > 0 ? 1 + (int)(3.999 * matrix_shade(&s, v)) : 0]);
        }
        wr_str_add(out, "\n");
    }
    wr_str_addf(out, "%21s", "");
    matrix_legend(&s, m->unit, out);
    wr_str_add(out, "\n");
}

static void matrix_put_names(const char *key, const char *const *names, size_t n,
                             struct wr_str *out)
{
    report_json_key(out, key);
    wr_str_add(out, "[");
    for (size_t i = 0; i < n; i++) {
        report_json_comma(out);
        report_json_text(out, names[i]);
    }
    wr_str_add(out, "]");
}

static void matrix_json(const struct report_figure *f, struct wr_str *out)
{
    const struct report_matrix *m = &f->matrix;

    matrix_put_names("rows", m->row, m->nrows, out);
    matrix_put_names("cols", m->col, m->ncols, out);
    report_json_member(out, "unit", m->unit);
    report_json_key(out, "values");
    wr_str_add(out, "[");
    for (size_t i = 0; i < m->nrows * m->ncols; i++) {
        report_json_comma(out);
        report_json_real(out, m->value[i]);
    }
    wr_str_add(out, "]");
}

static void matrix_csv(const struct report_figure *f, struct report_table *t)
{
    static const char *const columns[] = {"row", "col", "value"};
    const struct report_matrix *m = &f->matrix;

    figure_head(t, columns, 3, 2);
    for (size_t i = 0; i < m->nrows * m->ncols; i++) {
        report_table_add(t, "%s", m->row[i / m->ncols]);
        report_table_add(t, "%s", m->col[i % m->ncols]);
        figure_number(t, m->value[i]);
    }
}

const struct figure_ops figure_matrix = {matrix_svg, matrix_text, matrix_json, matrix_csv, NULL};
