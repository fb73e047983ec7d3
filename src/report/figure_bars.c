/* figure_bars.c -- the figure kind "bars": horizontal bars, stacked of parts, in groups. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

#include "figure_priv.h"
#include "report_svg_priv.h"

enum { BAR = 18, STEP = 24, HEAD = 22 };

static double bars_total(const struct report_bar *b)
{
    double sum = 0;

    for (size_t i = 0; i < b->nparts; i++)
        sum += b->part[i].value > 0 ? b->part[i].value : 0;
    return sum;
}

static void bars_scale(const struct report_figure *f, struct scale *ret)
{
    struct report_point p[2];
    struct report_series s = {.point = p, .n = 2};
    struct report_chart c = {.x = f->chart.x, .series = &s, .nseries = 1};
    struct scale unused;

    memset(p, 0, sizeof p);
    c.x.log = false; /* a stack of parts has no logarithm */
    c.x.zero = true;
    for (size_t i = 0; i < f->nbars; i++)
        p[1].x = fmax(p[1].x, bars_total(&f->bar[i]));
    scale_chart(&c, 6, 4, ret, &unused);
}

static bool bars_draws(const struct report_figure *f, const char *name)
{
    for (size_t i = 0; i < f->nbars; i++)
        for (size_t k = 0; k < f->bar[i].nparts; k++)
            if (f->bar[i].part[k].value > 0 && !strcmp(f->bar[i].part[k].name, name))
                return true;
    return false;
}

/* In the order of the parts, even where the first bar has none of the first: figures with the same
 * parts then have the same marks. */
static void bars_part_names(const struct report_figure *f, void (*fn)(void *ctx, const char *name),
                            void *ctx)
{
    for (size_t i = 0; i < f->nbars; i++)
        for (size_t k = 0; k < f->bar[i].nparts; k++)
            if (bars_draws(f, f->bar[i].part[k].name))
                fn(ctx, f->bar[i].part[k].name);
}

/* "16.01 MB" where the axis has prefixes. */
static void bars_sum(const struct scale *s, const struct report_axis *a, double sum, char *buf,
                     size_t size)
{
    if (s->base)
        scale_quantity(sum, a->unit, buf, size);
    else
        snprintf(buf, size, "%.4g", sum);
}

static bool bars_new_group(const struct report_figure *f, size_t i)
{
    return *f->bar[i].group && (!i || strcmp(f->bar[i].group, f->bar[i - 1].group) != 0);
}

static void bars_put_bar(const struct report_figure *fig, const struct report_bar *b, double y,
                         const struct svg_frame *f, struct figure_names *names, struct wr_str *out)
{
    double sum = 0;
    char text[48];

    svg_text(f->x - 8, y + 13, "text-anchor=\"end\"", b->name, out);
    for (size_t k = 0; k < b->nparts; k++) {
        double from = svg_x(f, scale_at(&f->sx, sum));

        if (!(b->part[k].value > 0))
            continue;
        sum += b->part[k].value;
        size_t id = figure_name(names, b->part[k].name);
        struct wr_str title = {0};

        wr_str_addf(&title, "%s: %.6g %s", b->part[k].name, b->part[k].value,
                    fig->chart.x.unit ? fig->chart.x.unit : "");
        svg_area(&(struct svg_area){f->id, id, names->ink.v[id], from, y,
                                    svg_x(f, scale_at(&f->sx, sum)) - from, BAR},
                 wr_str_get(&title), out);
        wr_str_fini(&title);
    }
    bars_sum(&f->sx, &fig->chart.x, sum, text, sizeof text);
    svg_text(svg_x(f, scale_at(&f->sx, sum)) + 5, y + 13, "class=\"dim\"", text, out);
}

static void bars_svg(const struct report_figure *fig, bool whole, struct wr_str *out)
{
    struct figure_names names;
    const char *id = whole ? "chart" : fig->id;
    double legend_top = svg_top(&fig->chart, whole), widest = 60, height = 0;

    figure_names_open(&names, fig);
    for (size_t i = 0; i < fig->nbars; i++) {
        widest = fmax(widest, svg_text_width(fig->bar[i].name));
        height += STEP + (bars_new_group(fig, i) ? HEAD : 0);
    }
    struct svg_frame f = {.x = fmin(widest + 24, 300),
                          .y =
                              legend_top + 12 +
                              svg_swatches(id, names.v.v, names.ink.v, names.v.n, legend_top, NULL),
                          .h = height,
                          .id = id};
    f.w = SVG_WIDTH - f.x - 70;
    bars_scale(fig, &f.sx);
    svg_begin(&fig->chart, id, whole, f.y + height + 52, out);
    svg_hatches(id, names.v.n, out);
    svg_axis_x(&fig->chart.x, &f, out);
    svg_axis_line(&f, out);
    double y = f.y + 3;
    for (size_t i = 0; i < fig->nbars; i++, y += STEP) {
        if (bars_new_group(fig, i)) {
            svg_text(12, y + 14, "class=\"dim\"", fig->bar[i].group, out);
            y += HEAD;
        }
        bars_put_bar(fig, &fig->bar[i], y, &f, &names, out);
    }
    svg_swatches(id, names.v.v, names.ink.v, names.v.n, legend_top, out);
    svg_end(out);
    figure_names_fini(&names);
}

static void bars_text_bar(const struct report_bar *b, const struct scale *s,
                          const struct report_axis *a, unsigned cols, struct figure_names *names,
                          const struct report_text_style *style, struct wr_str *out)
{
    char text[48];
    double sum = 0;
    long at = 0;

    for (size_t k = 0; k < b->nparts; k++) {
        struct wr_str cells = {0};

        if (!(b->part[k].value > 0))
            continue;
        sum += b->part[k].value;
        size_t id = figure_name(names, b->part[k].name);
        for (long to = (long)wr_index(round(scale_at(s, sum) * cols), cols); at < to; at++)
            wr_str_add(&cells, palette_fill(id, style->ascii));
        ink_put(out, style, names->ink.v[id], wr_str_get(&cells));
        wr_str_fini(&cells);
    }
    bars_sum(s, a, sum, text, sizeof text);
    wr_str_addf(out, " %s\n", text);
}

static void bars_text(const struct report_figure *f, const struct report_text_style *style,
                      struct wr_str *out)
{
    struct figure_names names;
    struct scale s;
    int left = 4;

    figure_names_open(&names, f);
    for (size_t i = 0; i < f->nbars; i++) {
        int w = (int)(svg_text_width(f->bar[i].name) / 7.4 + 0.5);

        left = w > left ? w : left;
    }
    left = left > 28 ? 28 : left;
    bars_scale(f, &s);
    wr_str_addf(out, "%s\n", f->chart.title);
    for (size_t i = 0; i < f->nbars; i++) {
        int pad = left - (int)(svg_text_width(f->bar[i].name) / 7.4 + 0.5);

        if (bars_new_group(f, i))
            wr_str_addf(out, "%s\n", f->bar[i].group);
        wr_str_addf(out, "  %s%*s  ", f->bar[i].name, pad > 0 ? pad : 0, "");
        bars_text_bar(&f->bar[i], &s, &f->chart.x, figure_width(style) - (unsigned)left - 14,
                      &names, style, out);
    }
    wr_str_addf(out, "%*s", left + 4, "");
    scale_axis_name(&s, &f->chart.x, out);
    wr_str_add(out, "\n");
    figure_legend(out, style, &names);
    figure_names_fini(&names);
}

static void bars_json(const struct report_figure *f, struct wr_str *out)
{
    report_json_key(out, "bars");
    wr_str_add(out, "[");
    for (size_t i = 0; i < f->nbars; i++) {
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "group", f->bar[i].group);
        report_json_member(out, "name", f->bar[i].name);
        report_json_key(out, "parts");
        wr_str_add(out, "[");
        for (size_t k = 0; k < f->bar[i].nparts; k++) {
            report_json_comma(out);
            wr_str_add(out, "{");
            report_json_member(out, "name", f->bar[i].part[k].name);
            report_json_number(out, "value", f->bar[i].part[k].value);
            wr_str_add(out, "}");
        }
        wr_str_add(out, "]}");
    }
    wr_str_add(out, "]");
}

static void bars_csv(const struct report_figure *f, struct report_table *t)
{
    static const char *const columns[] = {"group", "name", "part", "value"};

    figure_head(t, columns, 4, 3);
    for (size_t i = 0; i < f->nbars; i++)
        for (size_t k = 0; k < f->bar[i].nparts; k++) {
            report_table_add(t, "%s", f->bar[i].group);
            report_table_add(t, "%s", f->bar[i].name);
            report_table_add(t, "%s", f->bar[i].part[k].name);
            figure_number(t, f->bar[i].part[k].value);
        }
}

const struct figure_ops figure_bars = {bars_svg, bars_text, bars_json, bars_csv, bars_part_names};
