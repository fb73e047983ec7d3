/* chart_text.c -- curves in a terminal.
 *
 *   us │            ●      Cells of the plot; in each, dots of a line (Braille: 2 by 4
 *   10 ┤        ●  ■       dots a cell) or the mark of a point, which wins.
 *    5 ┤  ●  ● ■
 *      └──┴────┴─────      ASCII: one dot a cell, letters for marks.
 *
 * The range of a fan is two dotted lines. Where there are several series, a line without points
 * carries the mark of its series now and then, each in columns of its own: so all can be
 * distinguished without colour.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/ink.h"
#include "scale_priv.h"

struct cell {
    uint8_t dots;
    uint8_t series; /* whose colour; 1 + its number, 0: no series */
    uint8_t mark;   /* the same numbering */
    bool open;      /* the mark is */
};
enum { MOST_SERIES = UINT8_MAX - 1 };

struct canvas {
    const struct report_text_style *style;
    unsigned cols, rows; /* of cells */
    unsigned dx, dy;     /* dots per cell */
    struct cell *cell;
    const uint32_t *ink; /* colours of the series */
    size_t nseries;
};

static struct cell *chart_text_cell_at(const struct canvas *v, long dot_x, long dot_y)
{
    long col = dot_x / (long)v->dx, row = dot_y / (long)v->dy;

    if (dot_x < 0 || dot_y < 0 || col >= (long)v->cols || row >= (long)v->rows)
        return NULL;
    return &v->cell[(size_t)row * v->cols + (size_t)col];
}

static void chart_text_dot(const struct canvas *v, long x, long y, uint8_t series)
{
    static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    struct cell *c = chart_text_cell_at(v, x, y);

    if (!c)
        return;
    c->dots |= v->style->ascii ? 1 : braille[y % 4][x % 2];
    c->series = series;
}

/* The dot of a value; rows count from the top. */
static int chart_text_dot_x(const struct canvas *v, double at)
{
    return (int)lround(at * (v->cols * v->dx - 1));
}

static int chart_text_dot_y(const struct canvas *v, double at)
{
    return (int)lround((1 - at) * (v->rows * v->dy - 1));
}

static void chart_text_line(const struct canvas *v, const double from[2], const double to[2],
                            uint8_t series)
{
    double x0 = chart_text_dot_x(v, from[0]), y0 = chart_text_dot_y(v, from[1]);
    double x1 = chart_text_dot_x(v, to[0]), y1 = chart_text_dot_y(v, to[1]);
    int n = (int)fmax(fabs(x1 - x0), fabs(y1 - y0));

    for (int i = 0; i <= n; i++) {
        double t = n > 0 ? (double)i / n : 0;

        chart_text_dot(v, lround(x0 + t * (x1 - x0)), lround(y0 + t * (y1 - y0)), series);
    }
}

/* Far outside the frame is outside all the same, and fits a long. */
static double chart_text_near_frame(double at)
{
    return fmin(fmax(at, -10), 10);
}

/* Every how many columns a line has its mark: enough that each series has columns of its own. */
static unsigned chart_text_mark_every(const struct canvas *v)
{
    return v->nseries > 8 ? (unsigned)v->nseries : 8;
}

/* Marks the topmost cell of the series in a column; false: it has none there that is free. */
static bool chart_text_mark_column(const struct canvas *v, uint8_t id, unsigned col)
{
    for (unsigned row = 0; row < v->rows; row++) {
        struct cell *c = &v->cell[(size_t)row * v->cols + col];

        if (c->series != id || c->mark)
            continue;
        c->mark = id;
        c->open = false;
        return true;
    }
    return false;
}

/* Puts the mark of a series on its line, once a column; on a steep one at least once. */
static void chart_text_mark_line(const struct canvas *v, uint8_t id)
{
    unsigned every = chart_text_mark_every(v);
    /* Neighbours are not side by side, unless 3 divides the distance. */
    unsigned first = (id - 1u) * (every % 3 ? 3 : 1) % every;
    bool any = false;

    for (unsigned col = first; col < v->cols; col += every)
        any |= chart_text_mark_column(v, id, col);
    for (unsigned col = 0; !any && col < v->cols; col++)
        any = chart_text_mark_column(v, id, col);
}

/* The ends of the range of a fan: every fourth dot, so that the curve itself stands out. */
static void chart_text_draw_range(const struct canvas *v, const struct report_series *s, uint8_t id,
                                  const struct scale *x, const struct scale *y)
{
    long dots = (long)v->cols * (long)v->dx;

    for (size_t i = 1; i < s->n; i++) {
        const struct report_point *a = &s->point[i - 1], *b = &s->point[i];
        double x0 = scale_at(x, a->x), x1 = scale_at(x, b->x);

        for (int up = 0; up < 2; up++) {
            double y0 = scale_at(y, up ? a->high : a->low), y1 = scale_at(y, up ? b->high : b->low);

            if (isnan(x0 + x1 + y0 + y1) || !(x1 > x0))
                continue;
            long from = lround(fmax(x0, 0) * (double)(dots - 1));
            long to = lround(fmin(x1, 1) * (double)(dots - 1));

            for (long dot = from; dot <= to; dot++)
                if (dot % 4 == 0) {
                    double t = ((double)dot / (double)(dots - 1) - x0) / (x1 - x0);

                    chart_text_dot(
                        v, dot, chart_text_dot_y(v, chart_text_near_frame(y0 + t * (y1 - y0))), id);
                }
        }
    }
}

static void chart_text_draw_series(const struct canvas *v, const struct report_series *s,
                                   uint8_t id, const struct scale *x, const struct scale *y)
{
    if (s->fan)
        chart_text_draw_range(v, s, id, x, y);
    for (size_t i = 0; i < s->n && !s->marks_only; i++) {
        if (!scale_joined(x, y, s->point, i))
            continue;
        double from[2] = {chart_text_near_frame(scale_at(x, s->point[i - 1].x)),
                          chart_text_near_frame(scale_at(y, s->point[i - 1].y))};
        double to[2] = {chart_text_near_frame(scale_at(x, s->point[i].x)),
                        chart_text_near_frame(scale_at(y, s->point[i].y))};

        if (s->steps) {
            double corner[2] = {to[0], from[1]};

            chart_text_line(v, from, corner, id);
            chart_text_line(v, corner, to, id);
        } else {
            chart_text_line(v, from, to, id);
        }
    }
    if (s->line_only && v->nseries > 1)
        chart_text_mark_line(v, id);
    for (size_t i = 0; i < s->n && !s->line_only; i++) {
        double px = scale_at(x, s->point[i].x), py = scale_at(y, s->point[i].y);
        struct cell *c = isnan(px + py)
                             ? NULL
                             : chart_text_cell_at(v, chart_text_dot_x(v, chart_text_near_frame(px)),
                                                  chart_text_dot_y(v, chart_text_near_frame(py)));

        if (c) {
            c->mark = id;
            c->open = s->point[i].open;
        }
    }
}

static void chart_text_put_cell(const struct canvas *v, const struct cell *c, struct wr_str *out)
{
    uint8_t who = c->mark ? c->mark : c->series;
    char braille[] = {(char)0xe2, (char)(0xa0 | c->dots >> 6), (char)(0x80 | (c->dots & 63)), 0};

    if (!who) {
        wr_str_add(out, " ");
        return;
    }
    ink_put(out, v->style, v->ink[who - 1],
            c->mark           ? palette_glyph(who - 1, v->style->ascii, c->open)
            : v->style->ascii ? "."
                              : braille);
}

/* The tick on a row of cells, or NULL. */
static const double *chart_text_tick_of_row(const struct canvas *v, const struct scale *y,
                                            unsigned row)
{
    for (size_t i = 0; i < y->nticks; i++)
        if (chart_text_dot_y(v, scale_at(y, y->tick[i])) / (int)v->dy == (int)row)
            return &y->tick[i];
    return NULL;
}

static void chart_text_put_rows(const struct canvas *v, const struct scale *y, int margin,
                                struct wr_str *out)
{
    bool ascii = v->style->ascii;

    for (unsigned row = 0; row < v->rows; row++) {
        const double *tick = chart_text_tick_of_row(v, y, row);
        char label[32] = "";

        if (tick)
            scale_label(y, *tick, label, sizeof label);
        wr_str_addf(out, "%*s %s", margin, label, ascii ? tick ? "+" : "|" : tick ? "┤" : "│");
        unsigned last = v->cols;
        while (last && !v->cell[(size_t)row * v->cols + last - 1].series &&
               !v->cell[(size_t)row * v->cols + last - 1].mark)
            last--;
        for (unsigned col = 0; col < last; col++)
            chart_text_put_cell(v, &v->cell[(size_t)row * v->cols + col], out);
        wr_str_add(out, "\n");
    }
}

/* The axis below, its labels each under its tick, and its name. Names in the place of numbers are
 * too long for that: they are numbered, and listed below. */
static void chart_text_put_x_axis(const struct canvas *v, const struct scale *x, const char *name,
                                  bool numbered, int margin, struct wr_str *out)
{
    bool ascii = v->style->ascii;
    size_t width = v->cols + 12;
    char *labels = wr_alloc(width + 1), *ticks = wr_zalloc(v->cols, 1);
    size_t used = 0;

    memset(labels, ' ', width);
    for (size_t i = 0; i < x->nticks; i++) {
        char label[32];
        long col = chart_text_dot_x(v, scale_at(x, x->tick[i])) / (int)v->dx;

        scale_label(x, x->tick[i] + numbered, label, sizeof label);
        long begin = col - (long)strlen(label) / 2;
        ticks[col] = 1;
        if (begin < (long)used - (used == 0) || begin + strlen(label) > width)
            continue;
        begin = begin < 0 ? 0 : begin;
        memcpy(labels + begin, label, strlen(label));
        used = (size_t)begin + strlen(label) + 1;
    }
    labels[used ? used - 1 : 0] = 0;
    wr_str_addf(out, "%*s %s", margin, "", ascii ? "+" : "└");
    for (unsigned col = 0; col < v->cols; col++)
        wr_str_add(out, ascii ? ticks[col] ? "+" : "-" : ticks[col] ? "┴" : "─");
    wr_str_addf(out, "\n%*s  %s\n", margin, "", labels);
    int indent = margin + 2 + ((int)v->cols - (int)strlen(name)) / 2;
    wr_str_addf(out, "%*s%s\n", indent < 0 ? 0 : indent, "", name);
    free(labels);
    free(ticks);
}

/* As the plot has it: a line with its mark, or the mark alone. */
static void chart_text_put_sample(const struct canvas *v, const struct report_series *s, size_t k,
                                  struct wr_str *out)
{
    const char *dash = v->style->ascii ? "." : "─";
    const char *mark = palette_glyph(k, v->style->ascii, false);
    char text[24];

    if (!s->line_only)
        snprintf(text, sizeof text, "%s", mark);
    else
        snprintf(text, sizeof text, "%s%s%s", dash, v->nseries > 1 ? mark : "", dash);
    wr_str_add(out, "  ");
    ink_put(out, v->style, v->ink[k], text);
    wr_str_addf(out, " %s", s->name);
}

/* As many rows as the width needs. */
static void chart_text_put_legend(const struct report_chart *c, const struct canvas *v,
                                  unsigned width, struct wr_str *out)
{
    unsigned at = 0;

    for (size_t k = 0; k < v->nseries; k++) {
        unsigned n = ink_columns(c->series[k].name) + 3 + (c->series[k].line_only ? 2 : 1);

        wr_str_add(out, at && at + n > width ? "\n" : "");
        at = at && at + n > width ? n : at + n;
        chart_text_put_sample(v, &c->series[k], k, out);
    }
    if (v->nseries < c->nseries)
        wr_str_addf(out, "\n  and %zu more, which are not drawn", c->nseries - v->nseries);
    if (c->open_means)
        wr_str_addf(out, "\n  %s %s", v->style->ascii ? "CAPITAL" : "○", c->open_means);
    wr_str_add(out, "\n");
}

/* The colours of the document, or those of the chart alone. */
static uint32_t *chart_text_inks_of(const struct report_chart *c)
{
    uint32_t *ink = wr_zalloc(c->nseries + 1, sizeof *ink);

    ink_of_series(c, ink);
    for (size_t k = 0; k < c->nseries; k++)
        ink[k] = c->series[k].ink ? c->series[k].ink - 1 : ink[k];
    return ink;
}

static int chart_text_label_width(const struct scale *y)
{
    size_t width = 0;
    char label[32];

    for (size_t i = 0; i < y->nticks; i++) {
        scale_label(y, y->tick[i], label, sizeof label);
        width = strlen(label) > width ? strlen(label) : width;
    }
    return (int)width + 1;
}

void report_chart_text(const struct report_chart *c, const struct report_text_style *style,
                       struct wr_str *out)
{
    unsigned width = style->width ? style->width : 76, height = style->height ? style->height : 22;
    struct scale x, y;

    width = width < 30 ? 30 : width > 500 ? 500 : width;
    height = height < 10 ? 10 : height > 200 ? 200 : height;
    uint32_t *ink = chart_text_inks_of(c);
    struct canvas v = {.style = style,
                       .rows = height - 6,
                       .ink = ink,
                       .nseries = c->nseries < MOST_SERIES ? c->nseries : MOST_SERIES};
    scale_chart(c, width / 10, v.rows / 3, &x, &y);
    int margin = chart_text_label_width(&y);

    v.cols = width - (unsigned)margin - 4;
    v.dx = style->ascii ? 1 : 2;
    v.dy = style->ascii ? 1 : 4;
    v.cell = wr_zalloc((size_t)v.rows * v.cols, sizeof *v.cell);
    for (size_t k = 0; k < v.nseries; k++)
        chart_text_draw_series(&v, &c->series[k], (uint8_t)(k + 1), &x, &y);
    if (c->title)
        wr_str_addf(out, "%s\n", c->title);
    wr_str_addf(out, "%*s", margin - 1, "");
    scale_axis_name(&y, &c->y, out);
    wr_str_add(out, "\n");
    chart_text_put_rows(&v, &y, margin, out);
    struct wr_str name = {0};
    scale_axis_name(&x, &c->x, &name);
    chart_text_put_x_axis(&v, &x, wr_str_get(&name), c->x.ncategories, margin, out);
    wr_str_fini(&name);
    chart_text_put_legend(c, &v, width, out);
    for (size_t i = 0; i < c->x.ncategories; i++)
        wr_str_addf(out, "%4zu %s\n", i + 1, c->x.category[i]);
    free(v.cell);
    free(ink);
}
