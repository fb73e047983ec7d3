/* chart_svg.c -- curves as SVG.
 *
 *   title                    Only in a file of its own; a page has its headings.
 *   ● minimal  ■ valiant     Legend: as many rows as the names need.
 *   y name
 *   |      frame
 *   +-----------
 *         x name
 *
 * Series differ in colour, mark and dashes, so that a grey print and a reader
 * who sees few colours can tell them apart.
 *
 * Every shape says its colours and widths for light ground as attributes, which every
 * viewer understands. Where style sheets know variables, these take their place: one
 * set for light ground and one for dark.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scale_priv.h"

enum { WIDTH = 720, FRAME_H = 300, LEFT = 64, RIGHT = 24, LINE = 20 };

struct frame {
    double x, y, w, h; /* of the plot, in the picture's units; y at its top */
    const char *id;
    struct scale sx, sy;
};

void report_escape(struct wr_str *out, const char *text)
{
    static const char *const entity[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 128 && entity[c])
            wr_str_add(out, entity[c]);
        else if (c >= 32 || c == '\t' || c == '\n')
            wr_str_addn(out, text, 1);
        else
            wr_str_add(out, "?"); /* XML has no other control characters */
    }
}

enum colour { BG, FG, DIM, GRID, FIRST, NCOLOURS = 6, COLOURS = FIRST + NCOLOURS };

/* After Okabe and Ito's palette; every line has a contrast of 3:1 or more. */
static const struct {
    const char *name, *light, *dark;
} colours[COLOURS] = {
    [BG] = {"bg", "#ffffff", "#14171a"},        [FG] = {"fg", "#1a1a1a", "#ececec"},
    [DIM] = {"dim", "#555555", "#a8adb3"},      [GRID] = {"grid", "#e3e3e3", "#2e3338"},
    [FIRST] = {"c0", "#0068a8", "#5ab8ee"},     [FIRST + 1] = {"c1", "#c44e00", "#f09a4a"},
    [FIRST + 2] = {"c2", "#00805c", "#3fce9f"}, [FIRST + 3] = {"c3", "#a2428a", "#e08fca"},
    [FIRST + 4] = {"c4", "#8a6a00", "#e8d44c"}, [FIRST + 5] = {"c5", "#4d4d4d", "#c4c4c4"},
};

static void css_colours(struct wr_str *out, bool dark)
{
    for (size_t i = 0; i < COLOURS; i++)
        wr_str_addf(out, "--%s:%s;", colours[i].name, dark ? colours[i].dark : colours[i].light);
}

void report_svg_css(struct wr_str *out)
{
    wr_str_add(out, ":root{color-scheme:light dark;");
    css_colours(out, false);
    wr_str_add(out, "}\n@media (prefers-color-scheme:dark){:root{");
    css_colours(out, true);
    wr_str_add(out, "}}\n"
                    ".wc{font:13px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
                    ".wc .title{font-size:16px;font-weight:600}\n"
                    "@supports (fill:var(--fg)){\n"
                    ".wc .ground{fill:var(--bg)}\n"
                    ".wc text{fill:var(--fg)}.wc .dim{fill:var(--dim)}\n"
                    ".wc .grid{stroke:var(--grid)}.wc .axis{stroke:var(--dim)}\n"
                    ".wc .line,.wc .bar,.wc .mark{stroke:var(--c)}\n"
                    ".wc .mark{fill:var(--c)}.wc .open{fill:var(--bg)}\n"
                    ".wc .guide{--c:var(--dim)}\n");
    for (int i = 0; i < NCOLOURS; i++)
        wr_str_addf(out, ".wc .s%d{--c:var(--c%d)}", i, i);
    wr_str_add(out, "\n}\n");
}

/* Marks as paths around 0,0, in the order in which series take them. */
static const char *const mark_paths[] = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", /* circle */
    "M-3.6-3.6h7.2v7.2h-7.2z",            /* square */
    "M0-4.8L4.6 3.6h-9.2z",               /* triangle */
    "M0-5L5 0L0 5L-5 0z",                 /* diamond */
    "M-4-4L4 4M-4 4L4-4",                 /* cross */
    "M0-5V5M-5 0H5",                      /* plus */
};
static const char *const dashes[] = {"", "7 4", "2 4", "9 3 2 3"};
enum { NMARKS = sizeof mark_paths / sizeof *mark_paths, NDASHES = sizeof dashes / sizeof *dashes };

static void put_mark(struct wr_str *out, size_t k, double x, double y, bool open)
{
    wr_str_addf(out, "<path class=\"mark%s\"", open ? " open" : "");
    if (open)
        wr_str_addf(out, " fill=\"%s\"", colours[BG].light);
    wr_str_addf(out, " stroke-width=\"1.6\" transform=\"translate(%.2f %.2f)\" d=\"%s\"", x, y,
                mark_paths[k % NMARKS]);
}

static double px(const struct frame *f, double at)
{
    return f->x + fmin(fmax(at, -20), 20) * f->w;
}

static double py(const struct frame *f, double at)
{
    return f->y + (1 - fmin(fmax(at, -20), 20)) * f->h;
}

/* Opens the group that gives its shapes their colour. */
static void put_colour(const char *class, const char *colour, struct wr_str *out)
{
    wr_str_addf(out, "<g class=\"%s\" fill=\"%s\" stroke=\"%s\">", class, colour, colour);
}

static void put_group(const struct report_series *s, size_t k, struct wr_str *out)
{
    char class[16];

    snprintf(class, sizeof class, "s%zu", k % NCOLOURS);
    put_colour(s->guide ? "guide" : class, colours[s->guide ? DIM : FIRST + k % NCOLOURS].light,
               out);
}

/* Begins a curve, up to where its dashes and its path go. */
static void put_stroke(const struct report_series *s, struct wr_str *out)
{
    wr_str_addf(out,
                "<path class=\"line\" fill=\"none\" stroke-width=\"%d\" "
                "stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                s->guide ? 1 : 2);
}

static void put_axes(const struct report_chart *c, const struct frame *f, struct wr_str *out)
{
    char label[32];

    wr_str_addf(out, "<g class=\"grid\" fill=\"none\" stroke=\"%s\">", colours[GRID].light);
    for (size_t i = 0; i < f->sx.nticks; i++)
        wr_str_addf(out, "<path d=\"M%.1f %.1fv%.1f\"/>", px(f, scale_at(&f->sx, f->sx.tick[i])),
                    f->y, f->h + 4);
    for (size_t i = 0; i < f->sy.nticks; i++)
        wr_str_addf(out, "<path d=\"M%.1f %.1fh%.1f\"/>", f->x - 4,
                    py(f, scale_at(&f->sy, f->sy.tick[i])), f->w + 4);
    wr_str_addf(out, "</g>\n<path class=\"axis\" fill=\"none\" stroke=\"%s\" ", colours[DIM].light);
    wr_str_addf(out, "d=\"M%.1f %.1fv%.1fh%.1f\"/>\n", f->x, f->y, f->h, f->w);
    wr_str_addf(out, "<g fill=\"%s\" text-anchor=\"middle\">", colours[DIM].light);
    for (size_t i = 0; i < f->sx.nticks; i++) {
        scale_label(&f->sx, f->sx.tick[i], label, sizeof label);
        wr_str_addf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                    px(f, scale_at(&f->sx, f->sx.tick[i])), f->y + f->h + 19, label);
    }
    wr_str_addf(out, "</g>\n<g fill=\"%s\" text-anchor=\"end\">", colours[DIM].light);
    for (size_t i = 0; i < f->sy.nticks; i++) {
        scale_label(&f->sy, f->sy.tick[i], label, sizeof label);
        wr_str_addf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%s</text>", f->x - 8,
                    py(f, scale_at(&f->sy, f->sy.tick[i])) + 4, label);
    }
    wr_str_addf(out, "</g>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", f->x + f->w / 2,
                f->y + f->h + 40);
    report_escape(out, c->x.label);
    wr_str_addf(out, "</text>\n<text x=\"%.1f\" y=\"%.1f\">", 8.0, f->y - 14);
    report_escape(out, c->y.label);
    wr_str_add(out, "</text>\n");
}

static void put_line(const struct report_series *s, size_t k, const struct frame *f,
                     struct wr_str *out)
{
    bool any = false;

    put_stroke(s, out);
    if (k / NCOLOURS % NDASHES)
        wr_str_addf(out, " stroke-dasharray=\"%s\"", dashes[k / NCOLOURS % NDASHES]);
    wr_str_add(out, " d=\"");
    for (size_t i = 0; i < s->n; i++) {
        double x = px(f, scale_at(&f->sx, s->point[i].x));
        double y = py(f, scale_at(&f->sy, s->point[i].y));

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

/* A mark with its interval; hovering over it tells the numbers. */
static void put_point(const struct report_chart *c, size_t k, const struct report_point *p,
                      const struct frame *f, struct wr_str *out)
{
    double ax = scale_at(&f->sx, p->x), ay = scale_at(&f->sy, p->y);

    if (isnan(ax + ay) || ax < -1e-9 || ax > 1 + 1e-9 || ay < -1e-9 || ay > 1 + 1e-9)
        return;
    if (p->low < p->high) {
        double low = scale_at(&f->sy, p->low), high = scale_at(&f->sy, p->high);

        wr_str_addf(out,
                    "<path class=\"bar\" fill=\"none\" stroke-width=\"1.2\" "
                    "d=\"M%.2f %.2fV%.2fm-3 0h6M%.2f %.2fh6\"/>",
                    px(f, ax), py(f, isnan(low) ? 0 : low), py(f, high), px(f, ax) - 3,
                    py(f, isnan(low) ? 0 : low));
    }
    put_mark(out, k, px(f, ax), py(f, ay), p->open);
    wr_str_add(out, "><title>");
    report_escape(out, c->series[k].name);
    wr_str_addf(out, ": %.6g, %.6g", p->x, p->y);
    if (p->low < p->high)
        wr_str_addf(out, " (%.6g to %.6g)", p->low, p->high);
    wr_str_add(out, "</title></path>\n");
}

static void put_series(const struct report_chart *c, size_t k, const struct frame *f,
                       struct wr_str *out)
{
    const struct report_series *s = &c->series[k];

    put_group(s, k, out);
    wr_str_addf(out, "<g clip-path=\"url(#%s-clip)\">", f->id);
    if (!s->marks_only)
        put_line(s, k, f, out);
    wr_str_add(out, "</g>\n");
    for (size_t i = 0; i < s->n && !s->line_only; i++)
        put_point(c, k, &s->point[i], f, out);
    wr_str_add(out, "</g>\n");
}

/* Letters of a name, as they are seen: bytes that do not continue a character. */
static double name_width(const char *name)
{
    double n = 0;

    for (; *name; name++)
        n += ((unsigned char)*name & 0xc0) != 0x80;
    return 52 + 7.4 * n;
}

/* The place of the next entry of a legend; rows begin at the left. */
struct entry {
    double x, y;
};

static void next_entry(struct entry *e, double width)
{
    if (e->x > 12 && e->x + width > WIDTH - RIGHT) {
        e->x = 12;
        e->y += LINE;
    }
}

static void put_entry(const struct report_series *s, size_t k, const struct entry *e,
                      struct wr_str *out)
{
    const char *dash = dashes[k / NCOLOURS % NDASHES];

    put_group(s, k, out);
    if (!s->marks_only) {
        put_stroke(s, out);
        wr_str_addf(out, " stroke-dasharray=\"%s\" d=\"M%.1f %.1fh28\"/>", *dash ? dash : "none",
                    e->x, e->y - 4);
    }
    if (!s->line_only) {
        put_mark(out, k, e->x + 14, e->y - 4, false);
        wr_str_add(out, "/>");
    }
    wr_str_addf(out, "</g><text x=\"%.1f\" y=\"%.1f\">", e->x + 34, e->y);
    report_escape(out, s->name);
    wr_str_add(out, "</text>\n");
}

/* Entries side by side from `top`, in new rows as needed; the height used. With
 * no `out`, only measures. */
static double put_legend(const struct report_chart *c, double top, struct wr_str *out)
{
    struct entry e = {12, top + 14};

    for (size_t k = 0; k < c->nseries; k++) {
        next_entry(&e, name_width(c->series[k].name));
        if (out)
            put_entry(&c->series[k], k, &e, out);
        e.x += name_width(c->series[k].name);
    }
    if (c->open_means) {
        next_entry(&e, name_width(c->open_means));
        if (out) {
            put_colour("guide", colours[DIM].light, out);
            put_mark(out, 0, e.x + 14, e.y - 4, true);
            wr_str_addf(out, "/></g><text class=\"dim\" fill=\"%s\" x=\"%.1f\" y=\"%.1f\">",
                        colours[DIM].light, e.x + 26, e.y);
            report_escape(out, c->open_means);
            wr_str_add(out, "</text>\n");
        }
    }
    return e.y + 8 - top;
}

static void chart_svg(const struct report_chart *c, const char *id, bool whole, struct wr_str *out)
{
    double legend_top = whole && c->title ? 36 : 4;
    double top = legend_top + put_legend(c, legend_top, NULL) + 30;
    double height = top + FRAME_H + 52;
    struct frame f = {.x = LEFT, .y = top, .w = WIDTH - LEFT - RIGHT, .h = FRAME_H, .id = id};

    scale_chart(c, 8, 6, &f.sx, &f.sy);
    wr_str_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wc\" viewBox=\"0 0 %d %.0f\" "
                "font-family=\"sans-serif\" font-size=\"13\" fill=\"%s\"",
                WIDTH, height, colours[FG].light);
    if (whole)
        wr_str_addf(out, " width=\"%d\" height=\"%.0f\"", WIDTH, height);
    wr_str_addf(out, " role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
                id, id, id);
    report_escape(out, c->title ? c->title : "");
    wr_str_addf(out, "</title>\n<desc id=\"%s-desc\">", id);
    report_escape(out, c->desc ? c->desc : "");
    wr_str_add(out, "</desc>\n");
    if (whole) {
        wr_str_add(out, "<style>\n");
        report_svg_css(out);
        wr_str_addf(out,
                    "</style>\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\" "
                    "fill=\"%s\"/>\n",
                    colours[BG].light);
    }
    if (whole && c->title) {
        wr_str_add(out, "<text class=\"title\" font-size=\"16\" x=\"12\" y=\"26\">");
        report_escape(out, c->title);
        wr_str_add(out, "</text>\n");
    }
    wr_str_addf(out,
                "<clipPath id=\"%s-clip\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\"/></clipPath>\n",
                id, f.x, f.y - 1, f.w + 1, f.h + 2);
    put_axes(c, &f, out);
    for (size_t k = 0; k < c->nseries; k++)
        put_series(c, k, &f, out);
    put_legend(c, legend_top, out);
    wr_str_add(out, "</svg>\n");
}

void report_chart_svg(const struct report_chart *c, struct wr_str *out)
{
    chart_svg(c, "chart", true, out);
}

void report_chart_svg_inline(const struct report_chart *c, const char *id, struct wr_str *out)
{
    chart_svg(c, id, false, out);
}
