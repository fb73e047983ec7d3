/* chart_svg_draw.c -- curves as SVG.
 *
 *   title                    Only in a file of its own; a page has its headings.
 *   ● minimal  ■ valiant     Legend: as many rows as the names need.
 *   y name
 *   |      frame
 *   +-----------
 *         x name
 *
 * Series differ in colour, and in marks or dashes, so that a grey print and a reader
 * readers who see few colours can distinguish them (base/palette.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report_svg_priv.h"

static void chart_svg_put_mark(struct wr_str *out, size_t k, double x, double y, bool open)
{
    wr_str_addf(out, "<path class=\"mark%s\"", open ? " open" : "");
    if (open)
        wr_str_addf(out, " fill=\"%s\"", svg_light(SVG_BG));
    wr_str_addf(out, " stroke-width=\"1.6\" transform=\"translate(%.2f %.2f)\" d=\"%s\"", x, y,
                palette_mark(k));
}

enum { FRAME_H = 300 };

/* What a series looks like: its colour, and what distinguishes it without colour: marks for series
 * that have them, dashes for the others, guides among them. */
struct look {
    uint32_t ink;
    size_t mark;
    const char *dash;
};

static void chart_svg_looks_of(const struct report_chart *c, struct look *ret)
{
    uint32_t *ink = wr_zalloc(c->nseries + 1, sizeof *ink);
    size_t unmarked = 0;

    ink_of_series(c, ink);
    for (size_t k = 0; k < c->nseries; k++) {
        const struct report_series *s = &c->series[k];
        bool plain = s->line_only && !s->marks_only;

        ret[k] = (struct look){.ink = s->ink ? s->ink - 1 : ink[k],
                               .mark = k,
                               .dash = palette_dash(plain ? unmarked : k / PALETTE_MARKS)};
        unmarked += plain;
    }
    free(ink);
}

static void chart_svg_put_group(const struct report_series *s, uint32_t ink, struct wr_str *out)
{
    if (s->guide)
        svg_group_named("guide", SVG_DIM, out);
    else
        svg_group(ink, out);
}

/* Begins a curve, up to where its dashes and its path go. */
static void chart_svg_put_stroke(const struct report_series *s, struct wr_str *out)
{
    wr_str_addf(out,
                "<path class=\"line\" fill=\"none\" stroke-width=\"%d\" "
                "stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                s->guide ? 1 : 2);
}

static void chart_svg_put_line(const struct report_series *s, const char *dash,
                               const struct svg_frame *f, struct wr_str *out)
{
    bool any = false;

    chart_svg_put_stroke(s, out);
    if (*dash)
        wr_str_addf(out, " stroke-dasharray=\"%s\"", dash);
    wr_str_add(out, " d=\"");
    for (size_t i = 0; i < s->n; i++) {
        double x = svg_x(f, scale_at(&f->sx, s->point[i].x));
        double y = svg_y(f, scale_at(&f->sy, s->point[i].y));

        if (isnan(scale_at(&f->sx, s->point[i].x)) || isnan(scale_at(&f->sy, s->point[i].y)))
            continue;
        if (!scale_joined(&f->sx, &f->sy, s->point, i))
            wr_str_addf(out, "M%.2f %.2f", x, y);
        else if (s->steps)
            wr_str_addf(out, "H%.2fV%.2f", x, y);
        else
            wr_str_addf(out, "L%.2f %.2f", x, y);
        any = true;
    }
    wr_str_add(out, any ? "\"/>\n" : "M0 0\"/>\n");
}

/* What is between `low` and `high` of points, or between y and 0. */
static void chart_svg_put_fill(const struct report_series *s, const struct svg_frame *f,
                               struct wr_str *out)
{
    bool any = false;

    wr_str_add(out, "<path class=\"fill\" stroke=\"none\" fill-opacity=\"0.22\" d=\"");
    for (size_t k = 0; k < 2 * s->n; k++) {
        bool up = k < s->n;
        const struct report_point *p = &s->point[up ? k : 2 * s->n - 1 - k];
        double y = s->fan ? (up ? p->high : p->low) : up ? p->y : fmax(f->sy.min, 0);
        double ax = scale_at(&f->sx, p->x), ay = scale_at(&f->sy, y);

        if (isnan(ax + ay))
            continue;
        wr_str_addf(out, "%s%.2f %.2f", any ? "L" : "M", svg_x(f, ax), svg_y(f, ay));
        any = true;
    }
    wr_str_add(out, any ? "z\"/>\n" : "M0 0\"/>\n");
}

/* A mark with its interval; hovering over it shows the numbers. */
static void chart_svg_put_point(const struct report_chart *c, size_t k,
                                const struct report_point *p, const struct svg_frame *f,
                                struct wr_str *out)
{
    double ax = scale_at(&f->sx, p->x), ay = scale_at(&f->sy, p->y);

    if (isnan(ax + ay) || ax < -1e-9 || ax > 1 + 1e-9 || ay < -1e-9 || ay > 1 + 1e-9)
        return;
    if (p->low < p->high && !c->series[k].fan) {
        double low = scale_at(&f->sy, p->low), high = scale_at(&f->sy, p->high);

        wr_str_addf(out,
                    "<path class=\"bar\" fill=\"none\" stroke-width=\"1.2\" "
                    "d=\"M%.2f %.2fV%.2fm-3 0h6M%.2f %.2fh6\"/>",
                    svg_x(f, ax), svg_y(f, isnan(low) ? 0 : low), svg_y(f, high), svg_x(f, ax) - 3,
                    svg_y(f, isnan(low) ? 0 : low));
    }
    chart_svg_put_mark(out, k, svg_x(f, ax), svg_y(f, ay), p->open);
    wr_str_add(out, "><title>");
    report_escape(out, c->series[k].name);
    wr_str_addf(out, ": %.6g, %.6g", p->x, p->y);
    if (p->low < p->high)
        wr_str_addf(out, " (%.6g to %.6g)", p->low, p->high);
    wr_str_add(out, "</title></path>\n");
}

static void chart_svg_put_series(const struct report_chart *c, size_t k, const struct look *look,
                                 const struct svg_frame *f, struct wr_str *out)
{
    const struct report_series *s = &c->series[k];

    chart_svg_put_group(s, look->ink, out);
    wr_str_addf(out, "<g clip-path=\"url(#%s-clip)\">", f->id);
    if (s->area || s->fan)
        chart_svg_put_fill(s, f, out);
    if (!s->marks_only)
        chart_svg_put_line(s, look->dash, f, out);
    wr_str_add(out, "</g>\n");
    for (size_t i = 0; i < s->n && !s->line_only; i++)
        chart_svg_put_point(c, k, &s->point[i], f, out);
    wr_str_add(out, "</g>\n");
}

static double chart_svg_name_width(const char *name)
{
    return 52 + svg_text_width(name);
}

static void chart_svg_put_entry(const struct report_series *s, const struct look *look,
                                const struct svg_entry *e, struct wr_str *out)
{
    chart_svg_put_group(s, look->ink, out);
    if (!s->marks_only) {
        chart_svg_put_stroke(s, out);
        wr_str_addf(out, " stroke-dasharray=\"%s\" d=\"M%.1f %.1fh28\"/>",
                    *look->dash ? look->dash : "none", e->x, e->y - 4);
    }
    if (!s->line_only) {
        chart_svg_put_mark(out, look->mark, e->x + 14, e->y - 4, false);
        wr_str_add(out, "/>");
    }
    wr_str_addf(out, "</g><text x=\"%.1f\" y=\"%.1f\">", e->x + 34, e->y);
    report_escape(out, s->name);
    wr_str_add(out, "</text>\n");
}

/* Entries side by side from `top`, in new rows as needed; the height used. With
 * no `out`, only measures. */
static double chart_svg_put_legend(const struct report_chart *c, const struct look *look,
                                   double top, struct wr_str *out)
{
    struct svg_entry e = {12, top + 14};

    for (size_t k = 0; k < c->nseries; k++) {
        svg_entry_next(&e, chart_svg_name_width(c->series[k].name));
        if (out)
            chart_svg_put_entry(&c->series[k], &look[k], &e, out);
        e.x += chart_svg_name_width(c->series[k].name);
    }
    if (c->open_means) {
        svg_entry_next(&e, chart_svg_name_width(c->open_means));
        if (out) {
            svg_group_named("guide", SVG_DIM, out);
            chart_svg_put_mark(out, 0, e.x + 14, e.y - 4, true);
            wr_str_addf(out, "/></g><text class=\"dim\" fill=\"%s\" x=\"%.1f\" y=\"%.1f\">",
                        svg_light(SVG_DIM), e.x + 26, e.y);
            report_escape(out, c->open_means);
            wr_str_add(out, "</text>\n");
        }
    }
    return e.y + 8 - top;
}

/* Shaded ranges of x, and lines across the picture, each with its words. */
static void chart_svg_put_bands(const struct report_chart *c, const struct svg_frame *f,
                                struct wr_str *out)
{
    for (size_t i = 0; i < c->nbands; i++) {
        double x0 = fmax(scale_at(&f->sx, c->band[i].x0), 0);
        double x1 = fmin(scale_at(&f->sx, c->band[i].x1), 1);

        if (!(x1 > x0))
            continue;
        svg_group_named("guide", SVG_DIM, out);
        wr_str_addf(out,
                    "<rect class=\"fill\" stroke=\"none\" fill-opacity=\"0.13\" x=\"%.1f\" "
                    "y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
                    svg_x(f, x0), f->y, svg_x(f, x1) - svg_x(f, x0), f->h);
        report_escape(out, c->band[i].label);
        wr_str_add(out, "</title></rect></g>\n");
    }
}

static void chart_svg_put_guides(const struct report_chart *c, const struct svg_frame *f,
                                 struct wr_str *out)
{
    for (size_t i = 0; i < c->nmarks; i++) {
        const struct report_mark *m = &c->mark[i];
        double at = scale_at(m->across ? &f->sy : &f->sx, m->at);

        if (!(at >= 0 && at <= 1))
            continue;
        svg_group_named("guide", SVG_DIM, out);
        if (m->across)
            wr_str_addf(out,
                        "<path class=\"line\" fill=\"none\" stroke-dasharray=\"4 4\" "
                        "d=\"M%.1f %.1fh%.1f\"/></g>",
                        f->x, svg_y(f, at), f->w);
        else
            wr_str_addf(out,
                        "<path class=\"line\" fill=\"none\" stroke-dasharray=\"4 4\" "
                        "d=\"M%.1f %.1fv%.1f\"/></g>",
                        svg_x(f, at), f->y, f->h);
        /* Labels of lines that stand close by each other stand below each other. */
        if (m->across)
            svg_text(f->x + f->w - 4, svg_y(f, at) - 4, "class=\"dim\" text-anchor=\"end\"",
                     m->label, out);
        else
            svg_text(svg_x(f, at) + (at > 0.7 ? -5 : 5), f->y + 14 + 16 * (double)(i % 6),
                     at > 0.7 ? "class=\"dim\" text-anchor=\"end\"" : "class=\"dim\"", m->label,
                     out);
    }
}

static void chart_svg_draw(const struct report_chart *c, const char *id, bool whole,
                           struct wr_str *out)
{
    struct look *look = wr_zalloc(c->nseries + 1, sizeof *look);
    double legend_top = svg_top(c, whole);
    double top = legend_top + chart_svg_put_legend(c, look, legend_top, NULL) + 30;
    double left = svg_band_left(c->x.category, c->x.ncategories);
    struct svg_frame f = {.y = top, .h = FRAME_H, .id = id};

    chart_svg_looks_of(c, look);
    scale_chart(c, 8, 6, &f.sx, &f.sy);
    svg_frame_from(&f, left);
    svg_begin(c, id, whole, top + FRAME_H + svg_axis_height(&c->x, f.w), out);
    wr_str_addf(out,
                "<clipPath id=\"%s-clip\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\"/></clipPath>\n",
                id, f.x, f.y - 1, f.w + 1, f.h + 2);
    chart_svg_put_bands(c, &f, out);
    svg_axis_x(&c->x, &f, out);
    svg_axis_y(&c->y, &f, out);
    svg_axis_line(&f, out);
    for (size_t k = 0; k < c->nseries; k++)
        chart_svg_put_series(c, k, &look[k], &f, out);
    chart_svg_put_guides(c, &f, out);
    chart_svg_put_legend(c, look, legend_top, out);
    svg_end(out);
    free(look);
}

void report_chart_svg(const struct report_chart *c, struct wr_str *out)
{
    chart_svg_draw(c, "chart", true, out);
}

void report_chart_svg_inline(const struct report_chart *c, const char *id, struct wr_str *out)
{
    chart_svg_draw(c, id, false, out);
}
