/* figure_boxes.c -- box plots: whiskers from the least to the largest, a box of the quartiles, a
 * bar at the median, a mark at the mean, another one for each name. A sample of one value is a
 * mark.
 *
 *   |   ┬                       standing, in SVG, side by side in groups
 *   |  ┌┴┐  ┬
 *   |  ├◆┤ ┌┴┐                  lying, in a terminal:  ├──▒▒┃▒▒◆▒───┤
 *   |  └┬┘ └┬┘
 *   +--group---
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figure_priv.h"
#include "report_svg_priv.h"

enum { FRAME_H = 300 };

/* The y axis of all boxes; and where they lie on a line, the same as x. */
static void boxes_scale(const struct report_figure *f, struct scale *ret)
{
    struct report_point *p = wr_zalloc(f->nboxes * 2 + 1, sizeof *p);
    struct report_series s = {.point = p, .n = f->nboxes * 2};
    struct report_chart c = {.y = f->chart.y, .series = &s, .nseries = 1};
    struct scale unused;

    for (size_t i = 0; i < f->nboxes; i++) {
        p[2 * i].y = f->box[i].min;
        p[2 * i + 1].y = f->box[i].max;
    }
    scale_chart(&c, 4, 6, &unused, ret);
    free(p);
}

static void boxes_groups(const struct report_figure *f, struct figure_names *groups)
{
    for (size_t i = 0; i < f->nboxes; i++)
        figure_name(groups, f->box[i].group);
}

static void boxes_names(const struct report_figure *f, void (*fn)(void *ctx, const char *name),
                        void *ctx)
{
    for (size_t i = 0; i < f->nboxes; i++)
        fn(ctx, f->box[i].name);
}

/* The mark of the mean identifies the name without colour. */
static void boxes_put_mean(size_t k, double x, double y, struct wr_str *out)
{
    wr_str_addf(out,
                "<path class=\"mark\" stroke-width=\"1.4\" transform=\"translate(%.1f %.1f)\" "
                "d=\"%s\"/>",
                x, y, palette_mark(k));
}

/* Whiskers, the box and the bar of the median; y as boxes_put_one() has them. */
static void boxes_put_body(double x, double w, const double *y, struct wr_str *out)
{
    wr_str_addf(out,
                "<path class=\"line\" fill=\"none\" stroke-width=\"1.3\" d=\"M%.1f %.1fh%.1fM%.1f "
                "%.1fV%.1fM%.1f %.1fV%.1fM%.1f %.1fh%.1f\"/>",
                x - w / 4, y[0], w / 2, x, y[0], y[1], x, y[3], y[4], x - w / 4, y[4], w / 2);
    wr_str_addf(out,
                "<rect class=\"fill line\" fill-opacity=\"0.25\" stroke-width=\"1.3\" x=\"%.1f\" "
                "y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                x - w / 2, y[3], w, fmax(y[1] - y[3], 0.5));
    wr_str_addf(out,
                "<path class=\"line\" fill=\"none\" stroke-width=\"2.4\" d=\"M%.1f %.1fh%.1f\"/>",
                x - w / 2, y[2], w);
}

static void boxes_put_one(const struct report_box *b, size_t k, uint32_t ink, double x, double w,
                          const struct svg_frame *f, struct wr_str *out)
{
    double at[] = {b->min, b->q1, b->median, b->q3, b->max, b->mean};
    double y[6];

    for (int i = 0; i < 6; i++) {
        double a = scale_at(&f->sy, at[i]);

        y[i] = svg_y(f, isnan(a) ? 0 : a);
    }
    svg_group(ink, out);
    if (b->n != 1) /* one value has no quartiles: its mark is all */
        boxes_put_body(x, w, y, out);
    if (isfinite(b->mean))
        boxes_put_mean(k, x, y[5], out);
    /* Something to hover over that is as large as the whole. */
    wr_str_addf(out,
                "<rect fill=\"none\" stroke=\"none\" pointer-events=\"all\" x=\"%.1f\" y=\"%.1f\" "
                "width=\"%.1f\" height=\"%.1f\"><title>",
                x - w / 2, y[4], w, fmax(y[0] - y[4], 1));
    report_escape(out, b->group);
    wr_str_add(out, *b->group ? ", " : "");
    report_escape(out, b->name);
    if (b->n == 1)
        wr_str_addf(out, ": %.6g", b->median);
    else
        wr_str_addf(out,
                    ": min %.6g, quartiles %.6g to %.6g, median %.6g, max %.6g, mean %.6g, n %.6g",
                    b->min, b->q1, b->q3, b->median, b->max, b->mean, b->n);
    wr_str_add(out, "</title></rect></g>\n");
}

/* Small boxes with their marks, and names; the height used. With no `out`, only measures. */
static double boxes_put_names(const struct figure_names *names, double top, struct wr_str *out)
{
    struct svg_entry e = {12, top + 14};

    for (size_t k = 0; k < names->v.n; k++) {
        double width = 42 + svg_text_width(names->v.v[k]);

        svg_entry_next(&e, width);
        if (out) {
            svg_group(names->ink.v[k], out);
            wr_str_addf(out,
                        "<rect class=\"fill line\" fill-opacity=\"0.25\" stroke-width=\"1.3\" "
                        "x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"14\"/>",
                        e.x, e.y - 11.5);
            boxes_put_mean(k, e.x + 10, e.y - 4.5, out);
            wr_str_add(out, "</g>");
            svg_text(e.x + 25, e.y, "", names->v.v[k], out);
        }
        e.x += width;
    }
    return names->v.n ? e.y + 8 - top : 0;
}

static void boxes_svg(const struct report_figure *fig, bool whole, struct wr_str *out)
{
    struct figure_names groups = {0}, names;
    double legend_top = svg_top(&fig->chart, whole);

    boxes_groups(fig, &groups);
    figure_names_open(&names, fig);
    double top = legend_top + boxes_put_names(&names, legend_top, NULL) + 30;
    double left = svg_band_left(groups.v.v, groups.v.n);
    struct svg_frame f = {.y = top, .h = FRAME_H, .id = fig->id};
    boxes_scale(fig, &f.sy);
    svg_frame_from(&f, left);
    svg_begin(&fig->chart, whole ? "chart" : fig->id, whole,
              top + FRAME_H + (groups.v.n ? svg_band_names(groups.v.v, groups.v.n, &f, NULL) : 8),
              out);
    svg_axis_y(&fig->chart.y, &f, out);
    svg_axis_line(&f, out);
    double slot = f.w / fmax((double)groups.v.n, 1), place = slot / ((double)names.v.n + 1);
    for (size_t i = 0; i < fig->nboxes; i++) {
        double g = (double)figure_name(&groups, fig->box[i].group);
        size_t k = figure_name(&names, fig->box[i].name);

        if (isfinite(fig->box[i].min))
            boxes_put_one(&fig->box[i], k, names.ink.v[k], f.x + slot * g + place * ((double)k + 1),
                          fmin(place * 0.72, 46), &f, out);
    }
    if (groups.v.n)
        svg_band_names(groups.v.v, groups.v.n, &f, out);
    boxes_put_names(&names, legend_top, out);
    svg_end(out);
    figure_names_fini(&groups);
    figure_names_fini(&names);
}

enum glyph { GLYPH_LINE, GLYPH_BOX, GLYPH_MEDIAN, GLYPH_MEAN, GLYPH_LOW, GLYPH_HIGH };
static const char *const glyphs[2][6] = {{"─", "▒", "┃", "◆", "├", "┤"},
                                         {"-", "=", "|", "o", "<", ">"}};

/* Where on a line of `cols` cells a value is; the last cell for what is beyond. */
static int boxes_cell_of(const struct scale *s, double v, unsigned cols)
{
    double at = scale_at(s, v);

    return (int)lround(fmin(fmax(isnan(at) ? 0 : at, 0), 1) * (cols - 1));
}

static void boxes_put_line(const struct report_box *b, uint32_t colour, const struct scale *s,
                           unsigned cols, const struct report_text_style *style, struct wr_str *out)
{
    int min = boxes_cell_of(s, b->min, cols), q1 = boxes_cell_of(s, b->q1, cols);
    int q3 = boxes_cell_of(s, b->q3, cols), max = boxes_cell_of(s, b->max, cols);
    int median = boxes_cell_of(s, b->median, cols), mean = boxes_cell_of(s, b->mean, cols);
    struct wr_str line = {0};

    for (int i = min; i <= max; i++) {
        enum glyph g = i >= q1 && i <= q3 ? GLYPH_BOX : GLYPH_LINE;

        g = i == min && g == GLYPH_LINE ? GLYPH_LOW : g;
        g = i == max && g == GLYPH_LINE ? GLYPH_HIGH : g;
        g = i == mean ? GLYPH_MEAN : i == median ? GLYPH_MEDIAN : g;
        wr_str_add(&line, glyphs[style->ascii][g]);
    }
    wr_str_addf(out, "%*s", min, "");
    ink_put(out, style, colour, wr_str_get(&line));
    wr_str_add(out, "\n");
    wr_str_fini(&line);
}

static int boxes_letters(const char *s)
{
    return (int)(svg_text_width(s) / 7.4 + 0.5);
}

static void boxes_text(const struct report_figure *f, const struct report_text_style *style,
                       struct wr_str *out)
{
    struct figure_names groups = {0}, names;
    struct scale s;
    char low[32], high[32];
    int left = 4;

    boxes_groups(f, &groups);
    figure_names_open(&names, f);
    for (size_t i = 0; i < names.v.n; i++)
        left = left > boxes_letters(names.v.v[i]) ? left : boxes_letters(names.v.v[i]);
    left = left > 28 ? 28 : left;
    unsigned cols = figure_width(style) - (unsigned)left - 6;
    boxes_scale(f, &s);
    wr_str_addf(out, "%s\n", f->chart.title);
    for (size_t g = 0; g < groups.v.n; g++) {
        if (*groups.v.v[g])
            wr_str_addf(out, "%s\n", groups.v.v[g]);
        for (size_t i = 0; i < f->nboxes; i++) {
            const struct report_box *b = &f->box[i];

            if (strcmp(b->group, groups.v.v[g]) != 0 || !isfinite(b->min))
                continue;
            int pad = left - boxes_letters(b->name);
            wr_str_addf(out, "  %s%*s  ", b->name, pad > 0 ? pad : 0, "");
            boxes_put_line(b, names.ink.v[figure_name(&names, b->name)], &s, cols, style, out);
        }
    }
    scale_label(&s, s.min, low, sizeof low);
    scale_label(&s, s.max, high, sizeof high);
    wr_str_addf(out, "%*s%s%*s\n%*s", left + 4, "", low, (int)cols - (int)strlen(low), high,
                left + 4, "");
    scale_axis_name(&s, &f->chart.y, out);
    wr_str_addf(out, "  (%s median, %s mean)\n", glyphs[style->ascii][GLYPH_MEDIAN],
                glyphs[style->ascii][GLYPH_MEAN]);
    figure_names_fini(&groups);
    figure_names_fini(&names);
}

static const char *const box_columns[] = {"group",  "name", "n",   "min", "q1",
                                          "median", "q3",   "max", "mean"};

static void boxes_numbers(const struct report_box *b, double ret[7])
{
    memcpy(ret, (double[]){b->n, b->min, b->q1, b->median, b->q3, b->max, b->mean},
           7 * sizeof *ret);
}

static void boxes_json(const struct report_figure *f, struct wr_str *out)
{
    report_json_key(out, "boxes");
    wr_str_add(out, "[");
    for (size_t i = 0; i < f->nboxes; i++) {
        double v[7];

        boxes_numbers(&f->box[i], v);
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "group", f->box[i].group);
        report_json_member(out, "name", f->box[i].name);
        for (int k = 0; k < 7; k++)
            report_json_number(out, box_columns[k + 2], v[k]);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
}

static void boxes_csv(const struct report_figure *f, struct report_table *t)
{
    figure_head(t, box_columns, 9, 2);
    for (size_t i = 0; i < f->nboxes; i++) {
        double v[7];

        boxes_numbers(&f->box[i], v);
        report_table_add(t, "%s", f->box[i].group);
        report_table_add(t, "%s", f->box[i].name);
        for (int k = 0; k < 7; k++)
            figure_number(t, v[k]);
    }
}

const struct figure_ops figure_boxes = {boxes_svg, boxes_text, boxes_json, boxes_csv, boxes_names};
