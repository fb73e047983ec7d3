/* figure_lines.c -- the figure kind "lines": curves, marks and bands over two axes.
 *
 * chart_svg.c and chart_text.c draw it; JSON and CSV are written here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure_priv.h"

static void lines_series_names(const struct report_figure *f,
                               void (*fn)(void *ctx, const char *name), void *ctx)
{
    for (size_t i = 0; i < f->chart.nseries; i++)
        if (!f->chart.series[i].guide)
            fn(ctx, f->chart.series[i].name);
}

/* The chart with the colours of the document. */
static struct report_chart lines_with_inks(const struct report_figure *f)
{
    struct report_series *s = wr_zalloc(f->chart.nseries + 1, sizeof *s);
    struct report_chart c = f->chart;

    for (size_t i = 0; i < c.nseries; i++) {
        s[i] = f->chart.series[i];
        for (size_t k = 0; k < f->ninks; k++)
            if (!strcmp(f->ink[k].name, s[i].name))
                s[i].ink = 1 + f->ink[k].k;
    }
    c.series = s;
    return c;
}

static void lines_svg(const struct report_figure *f, bool whole, struct wr_str *out)
{
    struct report_chart c = lines_with_inks(f);

    if (whole)
        report_chart_svg(&c, out);
    else
        report_chart_svg_inline(&c, f->id, out);
    free((void *)c.series);
}

static void lines_text(const struct report_figure *f, const struct report_text_style *style,
                       struct wr_str *out)
{
    struct report_chart c = lines_with_inks(f);

    report_chart_text(&c, style, out);
    free((void *)c.series);
}

static const char *lines_style_of(const struct report_series *s)
{
    if (s->fan)
        return "fan";
    if (s->area)
        return "area";
    if (s->guide)
        return "guide";
    if (s->steps)
        return "steps";
    return s->marks_only ? "marks" : s->line_only ? "line" : "curve";
}

enum member { OF_X, OF_Y, OF_LOW, OF_HIGH, OF_OPEN, MEMBERS };

static double lines_member_of(const struct report_point *p, enum member m)
{
    bool interval = p->low < p->high;

    switch (m) {
    case OF_X:
        return p->x;
    case OF_Y:
        return p->y;
    case OF_LOW:
        return interval ? p->low : NAN;
    case OF_HIGH:
        return interval ? p->high : NAN;
    default:
        return p->open;
    }
}

static bool lines_has_member(const struct report_series *s, enum member m)
{
    bool any = m <= OF_Y;

    for (size_t i = 0; i < s->n && !any; i++)
        any = m == OF_OPEN ? s->point[i].open : s->point[i].low < s->point[i].high;
    return any;
}

static void lines_put_series(const struct report_series *s, struct wr_str *out)
{
    static const char *const names[MEMBERS] = {"x", "y", "low", "high", "open"};

    report_json_comma(out);
    wr_str_add(out, "{");
    report_json_member(out, "name", s->name);
    report_json_member(out, "style", lines_style_of(s));
    for (enum member m = OF_X; m < MEMBERS; m++) {
        if (!lines_has_member(s, m))
            continue;
        report_json_key(out, names[m]);
        wr_str_add(out, "[");
        for (size_t i = 0; i < s->n; i++) {
            report_json_comma(out);
            report_json_real(out, lines_member_of(&s->point[i], m));
        }
        wr_str_add(out, "]");
    }
    wr_str_add(out, "}");
}

static void lines_put_marks(const struct report_chart *c, struct wr_str *out)
{
    report_json_key(out, "marks");
    wr_str_add(out, "[");
    for (size_t i = 0; i < c->nmarks; i++) {
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_number(out, c->mark[i].across ? "y" : "x", c->mark[i].at);
        report_json_member(out, "label", c->mark[i].label);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
}

static void lines_put_bands(const struct report_chart *c, struct wr_str *out)
{
    report_json_key(out, "bands");
    wr_str_add(out, "[");
    for (size_t i = 0; i < c->nbands; i++) {
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_number(out, "x0", c->band[i].x0);
        report_json_number(out, "x1", c->band[i].x1);
        report_json_member(out, "label", c->band[i].label);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
}

static void lines_json(const struct report_figure *f, struct wr_str *out)
{
    if (f->chart.open_means)
        report_json_member(out, "open_means", f->chart.open_means);
    if (f->chart.nmarks)
        lines_put_marks(&f->chart, out);
    if (f->chart.nbands)
        lines_put_bands(&f->chart, out);
    report_json_key(out, "series");
    wr_str_add(out, "[");
    for (size_t i = 0; i < f->chart.nseries; i++)
        lines_put_series(&f->chart.series[i], out);
    wr_str_add(out, "]");
}

static void lines_csv(const struct report_figure *f, struct report_table *t)
{
    static const char *const columns[] = {"series", "x", "y", "low", "high"};

    figure_head(t, columns, 5, 1);
    for (size_t k = 0; k < f->chart.nseries; k++)
        for (size_t i = 0; i < f->chart.series[k].n; i++) {
            report_table_add(t, "%s", f->chart.series[k].name);
            for (enum member m = OF_X; m < OF_OPEN; m++)
                figure_number(t, lines_member_of(&f->chart.series[k].point[i], m));
        }
}

const struct figure_ops figure_lines = {lines_svg, lines_text, lines_json, lines_csv,
                                        lines_series_names};
