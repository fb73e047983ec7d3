/* report_svg.c -- elements that all SVG figures share: style sheet, axes, legends, escaped text.
 *
 * Widths of text are estimated from the number of characters, as no font is known here.
 */
#include "report_svg_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"

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

static const struct {
    const char *name, *light, *dark;
} colours[SVG_COLOURS] = {
    [SVG_BG] = {"bg", "#ffffff", "#14171a"},
    [SVG_FG] = {"fg", "#1a1a1a", "#ececec"},
    [SVG_DIM] = {"dim", "#555555", "#a8adb3"},
    [SVG_GRID] = {"grid", "#e3e3e3", "#2e3338"},
};

const char *svg_light(enum svg_colour c)
{
    return colours[c].light;
}

static void svg_css_colours(struct wr_str *out, bool dark)
{
    for (size_t i = 0; i < SVG_COLOURS; i++)
        wr_str_addf(out, "--%s:%s;", colours[i].name, dark ? colours[i].dark : colours[i].light);
    for (size_t i = 0; i < PALETTE_COLOURS; i++)
        wr_str_addf(out, "--c%zu:%s;", i,
                    dark ? palette_colours[i].dark : palette_colours[i].light);
}

void report_svg_css(struct wr_str *out)
{
    wr_str_add(out, ":root{color-scheme:light dark;");
    svg_css_colours(out, false);
    wr_str_add(out, "}\n@media screen and (prefers-color-scheme:dark){:root{");
    svg_css_colours(out, true);
    wr_str_add(out, "}}\n"
                    ".wc{font:13px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
                    ".wc .title{font-size:16px;font-weight:600}\n"
                    "@supports (fill:var(--fg)){\n"
                    ".wc .ground{fill:var(--bg)}\n"
                    ".wc text{fill:var(--fg)}.wc .dim{fill:var(--dim)}\n"
                    ".wc .grid{stroke:var(--grid)}.wc .axis{stroke:var(--dim)}\n"
                    ".wc .line,.wc .bar,.wc .mark{stroke:var(--c)}\n"
                    ".wc .mark,.wc .fill{fill:var(--c)}.wc .open{fill:var(--bg)}\n"
                    ".wc .guide{--c:var(--dim)}\n"
                    ".wc .hatch{stroke:var(--bg);fill:var(--bg)}\n");
    for (int i = 0; i < PALETTE_COLOURS; i++)
        wr_str_addf(out, ".wc .s%d{--c:var(--c%d)}", i, i);
    wr_str_add(out, "\n}\n");
}

double svg_x(const struct svg_frame *f, double at)
{
    return f->x + fmin(fmax(at, -20), 20) * f->w;
}

double svg_y(const struct svg_frame *f, double at)
{
    return f->y + (1 - fmin(fmax(at, -20), 20)) * f->h;
}

static void svg_group_of(const char *class, const char *colour, struct wr_str *out)
{
    wr_str_addf(out, "<g class=\"%s\" fill=\"%s\" stroke=\"%s\">", class, colour, colour);
}

void svg_group_named(const char *class, enum svg_colour colour, struct wr_str *out)
{
    svg_group_of(class, svg_light(colour), out);
}

void svg_group(uint32_t ink, struct wr_str *out)
{
    char class[16];

    snprintf(class, sizeof class, "s%u", ink % PALETTE_COLOURS);
    svg_group_of(class, palette_colours[ink % PALETTE_COLOURS].light, out);
}

/* Lines and dots in the ground's colour over an area, 8 by 8; the first name has none. */
static const char *const hatches[PALETTE_HATCHES] = {
    "",
    "M-2 10L10 -2M-2 2L2 -2M6 10L10 6",             /* / */
    "M-2 -2L10 10M-2 6L2 10M6 -2L10 2",             /* backslash */
    "M0 4h8",                                       /* - */
    "M4 0v8",                                       /* | */
    "M-2 10L10 -2M-2 2L2 -2M6 10L10 6M-2 -2L10 10", /* crossed */
    "M0 4h8M4 0v8",                                 /* a grid */
    "M3 3h2v2h-2z",                                 /* dots */
    "M0 2h8M0 6h8",                                 /* = */
    "M2 0v8M6 0v8",                                 /* || */
    "M1 1h2v2h-2zM5 5h2v2h-2z",                     /* more dots */
    "M0 4h4v4M4 0v4h4",                             /* stairs */
};

void svg_hatches(const char *id, size_t n, struct wr_str *out)
{
    if (n < 2)
        return;
    wr_str_add(out, "<defs>");
    for (size_t k = 1; k < n && k < PALETTE_HATCHES; k++)
        wr_str_addf(out,
                    "<pattern id=\"%s-h%zu\" width=\"8\" height=\"8\" "
                    "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" fill=\"none\" "
                    "stroke=\"%s\" stroke-width=\"1.6\" d=\"%s\"/></pattern>",
                    id, k, svg_light(SVG_BG), hatches[k]);
    wr_str_add(out, "</defs>\n");
}

void svg_area(const struct svg_area *a, const char *title, struct wr_str *out)
{
    char rect[96];

    snprintf(rect, sizeof rect, "x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\"", a->x, a->y,
             a->w, a->h);
    svg_group(a->ink, out);
    wr_str_addf(out, "<rect class=\"fill\" stroke=\"none\" %s><title>", rect);
    report_escape(out, title);
    wr_str_add(out, "</title></rect></g>");
    if (a->k % PALETTE_HATCHES)
        wr_str_addf(out,
                    "<rect fill=\"url(#%s-h%zu)\" stroke=\"none\" pointer-events=\"none\" %s/>",
                    a->id, a->k % PALETTE_HATCHES, rect);
    wr_str_add(out, "\n");
}

void svg_text(double x, double y, const char *attributes, const char *text, struct wr_str *out)
{
    wr_str_addf(out, "<text x=\"%.1f\" y=\"%.1f\"%s%s>", x, y, *attributes ? " " : "", attributes);
    report_escape(out, text);
    wr_str_add(out, "</text>\n");
}

static void svg_axis_name(const struct report_axis *a, const struct scale *s, double x, double y,
                          const char *attributes, struct wr_str *out)
{
    struct wr_str label = {0};

    scale_axis_name(s, a, &label);
    svg_text(x, y, attributes, wr_str_get(&label), out);
    wr_str_fini(&label);
}

/* How far names are turned: not at all where each fits into its place, more where they are long.
 * Then `across` and `down` say what a unit of their length takes. */
struct slant {
    int degrees;
    double widest, across, down;
};

static struct slant svg_slant_of(const char *const *names, size_t n, double width)
{
    static const struct slant level = {.degrees = 0}, some = {-38, 0, 0.79, 0.62},
                              steep = {-60, 0, 0.5, 0.87};
    double widest = 0;

    for (size_t i = 0; i < n; i++)
        widest = fmax(widest, svg_text_width(names[i]));
    struct slant s = widest <= width / (double)n ? level : widest <= 110 ? some : steep;

    s.widest = widest;
    return s;
}

double svg_band_left(const char *const *names, size_t n)
{
    double width = SVG_WIDTH - SVG_LEFT - SVG_RIGHT;
    struct slant s = n ? svg_slant_of(names, n, width) : (struct slant){0};

    return n ? fmax(SVG_LEFT, 6 + s.across * s.widest - width / (double)n / 2) : SVG_LEFT;
}

double svg_band_names(const char *const *names, size_t n, const struct svg_frame *f,
                      struct wr_str *out)
{
    double slot = f->w / (double)n;
    struct slant s = svg_slant_of(names, n, f->w);

    /* No two names in one place. */
    size_t every = s.degrees ? (size_t)ceil(13 / (slot * s.down)) : 1;
    for (size_t i = 0; out && i < n; i += every) {
        double x = f->x + slot * ((double)i + 0.5), y = f->y + f->h + 19;
        char how[96];

        if (s.degrees)
            snprintf(how, sizeof how,
                     "class=\"dim\" text-anchor=\"end\" transform=\"rotate(%d %.1f %.1f)\"",
                     s.degrees, x, y);
        else
            snprintf(how, sizeof how, "class=\"dim\" text-anchor=\"middle\"");
        svg_text(x, y, how, names[i], out);
    }
    return 28 + s.down * s.widest;
}

double svg_axis_height(const struct report_axis *a, double width)
{
    const struct svg_frame f = {.w = width};

    return a->ncategories ? svg_band_names(a->category, a->ncategories, &f, NULL) + 4 : 52;
}

/* Names say by themselves what they are. */
static void svg_axis_of_names(const struct report_axis *a, const struct svg_frame *f,
                              struct wr_str *out)
{
    wr_str_addf(out, "<g class=\"grid\" fill=\"none\" stroke=\"%s\">", svg_light(SVG_GRID));
    for (size_t i = 0; i < a->ncategories; i++)
        wr_str_addf(out, "<path d=\"M%.1f %.1fv%.1f\"/>", svg_x(f, scale_at(&f->sx, (double)i)),
                    f->y, f->h + 4);
    wr_str_add(out, "</g>\n");
    svg_band_names(a->category, a->ncategories, f, out);
}

void svg_axis_x(const struct report_axis *a, const struct svg_frame *f, struct wr_str *out)
{
    char label[32];

    if (a->ncategories) {
        svg_axis_of_names(a, f, out);
        return;
    }

    wr_str_addf(out, "<g class=\"grid\" fill=\"none\" stroke=\"%s\">", svg_light(SVG_GRID));
    for (size_t i = 0; i < f->sx.nticks; i++)
        wr_str_addf(out, "<path d=\"M%.1f %.1fv%.1f\"/>", svg_x(f, scale_at(&f->sx, f->sx.tick[i])),
                    f->y, f->h + 4);
    wr_str_addf(out, "</g>\n<g fill=\"%s\" text-anchor=\"middle\">", svg_light(SVG_DIM));
    for (size_t i = 0; i < f->sx.nticks; i++) {
        scale_label(&f->sx, f->sx.tick[i], label, sizeof label);
        wr_str_addf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                    svg_x(f, scale_at(&f->sx, f->sx.tick[i])), f->y + f->h + 19, label);
    }
    wr_str_add(out, "</g>\n");
    svg_axis_name(a, &f->sx, f->x + f->w / 2, f->y + f->h + 40, "text-anchor=\"middle\"", out);
}

void svg_axis_y(const struct report_axis *a, const struct svg_frame *f, struct wr_str *out)
{
    char label[32];

    wr_str_addf(out, "<g class=\"grid\" fill=\"none\" stroke=\"%s\">", svg_light(SVG_GRID));
    for (size_t i = 0; i < f->sy.nticks; i++)
        wr_str_addf(out, "<path d=\"M%.1f %.1fh%.1f\"/>", f->x - 4,
                    svg_y(f, scale_at(&f->sy, f->sy.tick[i])), f->w + 4);
    wr_str_addf(out, "</g>\n<g fill=\"%s\" text-anchor=\"end\">", svg_light(SVG_DIM));
    for (size_t i = 0; i < f->sy.nticks; i++) {
        scale_label(&f->sy, f->sy.tick[i], label, sizeof label);
        wr_str_addf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%s</text>", f->x - 8,
                    svg_y(f, scale_at(&f->sy, f->sy.tick[i])) + 4, label);
    }
    wr_str_add(out, "</g>\n");
    svg_axis_name(a, &f->sy, 8, f->y - 14, "", out);
}

void svg_frame_from(struct svg_frame *f, double left)
{
    char label[32];

    for (size_t i = 0; f->sy.base && i < f->sy.nticks; i++) {
        scale_label(&f->sy, f->sy.tick[i], label, sizeof label);
        left = fmax(left, svg_text_width(label) + 12);
    }
    f->x = left;
    f->w = SVG_WIDTH - left - SVG_RIGHT;
}

void svg_axis_line(const struct svg_frame *f, struct wr_str *out)
{
    wr_str_addf(out,
                "<path class=\"axis\" fill=\"none\" stroke=\"%s\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n",
                svg_light(SVG_DIM), f->x, f->y, f->h, f->w);
}

double svg_top(const struct report_chart *c, bool whole)
{
    return whole && c->title ? 36 : 4;
}

void svg_begin(const struct report_chart *c, const char *id, bool whole, double height,
               struct wr_str *out)
{
    wr_str_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wc\" viewBox=\"0 0 %d %.0f\" "
                "font-family=\"sans-serif\" font-size=\"13\" fill=\"%s\"",
                SVG_WIDTH, height, svg_light(SVG_FG));
    if (whole)
        wr_str_addf(out, " width=\"%d\" height=\"%.0f\"", SVG_WIDTH, height);
    wr_str_addf(out,
                " role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n%s<title id=\"%s-title\">",
                id, id, whole ? WR_SVG_MARK "\n" : "", id);
    report_escape(out, c->title ? c->title : "");
    wr_str_addf(out, "</title>\n<desc id=\"%s-desc\">", id);
    report_escape(out, c->desc ? c->desc : "");
    wr_str_add(out, "</desc>\n");
    if (!whole)
        return;
    wr_str_add(out, "<style>\n");
    report_svg_css(out);
    wr_str_addf(out,
                "</style>\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n",
                svg_light(SVG_BG));
    if (c->title)
        svg_text(12, 26, "class=\"title\" font-size=\"16\"", c->title, out);
}

void svg_end(struct wr_str *out)
{
    wr_str_add(out, "</svg>\n");
}

double svg_text_width(const char *text)
{
    return 7.4 * ink_columns(text);
}

void svg_entry_next(struct svg_entry *e, double width)
{
    if (e->x > 12 && e->x + width > SVG_WIDTH - SVG_RIGHT) {
        e->x = 12;
        e->y += SVG_LINE;
    }
}

double svg_swatches(const char *id, const char *const *names, const uint32_t *ink, size_t n,
                    double top, struct wr_str *out)
{
    struct svg_entry e = {12, top + 14};

    if (!n)
        return 0;
    for (size_t k = 0; k < n; k++) {
        double width = 42 + svg_text_width(names[k]);

        svg_entry_next(&e, width);
        if (out) {
            svg_area(&(struct svg_area){id, k, ink[k], e.x, e.y - 12, 20, 14}, names[k], out);
            svg_text(e.x + 25, e.y, "", names[k], out);
        }
        e.x += width;
    }
    return e.y + 8 - top;
}
