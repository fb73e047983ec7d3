/* chart_text.c -- curves in a terminal.
 *
 *   us │            ●      Cells of the plot; in each, dots of a line (Braille: 2 by 4
 *   10 ┤        ●  ■       dots a cell) or the mark of a point, which wins.
 *    5 ┤  ●  ● ■
 *      └──┴────┴─────      ASCII: one dot a cell.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scale_priv.h"

enum { NMARKS = 6 };
/* By ASCII or not, open or not. */
static const char *const marks[2][2][NMARKS] = {
    {{"●", "■", "▲", "◆", "▼", "★"}, {"○", "□", "△", "◇", "▽", "☆"}},
    {{"a", "b", "c", "d", "e", "f"}, {"A", "B", "C", "D", "E", "F"}},
};
static const char *const colours[NMARKS] = {"34", "31", "32", "35", "36", "33"};

struct cell {
    uint8_t dots;
    uint8_t series; /* whose colour; 1 + index mod NMARKS, 0: nobody's */
    uint8_t mark;   /* the same numbering */
    bool open;      /* the mark is */
};

struct canvas {
    const struct report_text_style *style;
    unsigned cols, rows; /* of cells */
    unsigned dx, dy;     /* dots per cell */
    struct cell *cell;
};

static struct cell *cell_at(const struct canvas *v, long dot_x, long dot_y)
{
    long col = dot_x / (long)v->dx, row = dot_y / (long)v->dy;

    if (dot_x < 0 || dot_y < 0 || col >= (long)v->cols || row >= (long)v->rows)
        return NULL;
    return &v->cell[(size_t)row * v->cols + (size_t)col];
}

static void dot(const struct canvas *v, long x, long y, uint8_t series)
{
    static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    struct cell *c = cell_at(v, x, y);

    if (!c)
        return;
    c->dots |= v->style->ascii ? 1 : braille[y % 4][x % 2];
    c->series = series;
}

/* The dot of a value; rows count from the top. */
static int dot_x(const struct canvas *v, double at)
{
    return (int)lround(at * (v->cols * v->dx - 1));
}

static int dot_y(const struct canvas *v, double at)
{
    return (int)lround((1 - at) * (v->rows * v->dy - 1));
}

static void line(const struct canvas *v, const double from[2], const double to[2], uint8_t series)
{
    double x0 = dot_x(v, from[0]), y0 = dot_y(v, from[1]);
    double x1 = dot_x(v, to[0]), y1 = dot_y(v, to[1]);
    int n = (int)fmax(fabs(x1 - x0), fabs(y1 - y0));

    for (int i = 0; i <= n; i++) {
        double t = n > 0 ? (double)i / n : 0;

        dot(v, lround(x0 + t * (x1 - x0)), lround(y0 + t * (y1 - y0)), series);
    }
}

/* Far outside the frame is outside all the same, and fits a long. */
static double near_frame(double at)
{
    return fmin(fmax(at, -10), 10);
}

static void draw_series(const struct canvas *v, const struct report_series *s, uint8_t id,
                        const struct scale *x, const struct scale *y)
{
    for (size_t i = 0; i < s->n && !s->marks_only; i++) {
        if (!scale_joined(x, y, s->point, i))
            continue;
        double from[2] = {near_frame(scale_at(x, s->point[i - 1].x)),
                          near_frame(scale_at(y, s->point[i - 1].y))};
        double to[2] = {near_frame(scale_at(x, s->point[i].x)),
                        near_frame(scale_at(y, s->point[i].y))};

        if (s->steps) {
            double corner[2] = {to[0], from[1]};

            line(v, from, corner, id);
            line(v, corner, to, id);
        } else {
            line(v, from, to, id);
        }
    }
    for (size_t i = 0; i < s->n && !s->line_only; i++) {
        double px = scale_at(x, s->point[i].x), py = scale_at(y, s->point[i].y);
        struct cell *c =
            isnan(px + py) ? NULL : cell_at(v, dot_x(v, near_frame(px)), dot_y(v, near_frame(py)));

        if (c) {
            c->mark = id;
            c->open = s->point[i].open;
        }
    }
}

static void put_cell(const struct canvas *v, const struct cell *c, struct wr_str *out)
{
    uint8_t who = c->mark ? c->mark : c->series;
    char braille[] = {(char)0xe2, (char)(0xa0 | c->dots >> 6), (char)(0x80 | (c->dots & 63)), 0};

    if (!who) {
        wr_str_add(out, " ");
        return;
    }
    if (v->style->colour)
        wr_str_addf(out, "\033[%sm", colours[who - 1]);
    if (c->mark)
        wr_str_add(out, marks[v->style->ascii][c->open][who - 1]);
    else
        wr_str_add(out, v->style->ascii ? "." : braille);
    if (v->style->colour)
        wr_str_add(out, "\033[0m");
}

/* The tick on a row of cells, or NULL. */
static const double *tick_of_row(const struct canvas *v, const struct scale *y, unsigned row)
{
    for (size_t i = 0; i < y->nticks; i++)
        if (dot_y(v, scale_at(y, y->tick[i])) / (int)v->dy == (int)row)
            return &y->tick[i];
    return NULL;
}

static void put_rows(const struct canvas *v, const struct scale *y, int margin, struct wr_str *out)
{
    bool ascii = v->style->ascii;

    for (unsigned row = 0; row < v->rows; row++) {
        const double *tick = tick_of_row(v, y, row);
        char label[32] = "";

        if (tick)
            scale_label(y, *tick, label, sizeof label);
        wr_str_addf(out, "%*s %s", margin, label, ascii ? tick ? "+" : "|" : tick ? "┤" : "│");
        unsigned last = v->cols;
        while (last && !v->cell[(size_t)row * v->cols + last - 1].series &&
               !v->cell[(size_t)row * v->cols + last - 1].mark)
            last--;
        for (unsigned col = 0; col < last; col++)
            put_cell(v, &v->cell[(size_t)row * v->cols + col], out);
        wr_str_add(out, "\n");
    }
}

/* The axis below, its labels each under its tick, and its name. Names in the place of numbers are
 * too long for that: they are numbered, and listed below. */
static void put_x_axis(const struct canvas *v, const struct scale *x, const char *name,
                       bool numbered, int margin, struct wr_str *out)
{
    bool ascii = v->style->ascii;
    size_t width = v->cols + 12;
    char *labels = wr_alloc(width + 1), *ticks = wr_zalloc(v->cols, 1);
    size_t used = 0;

    memset(labels, ' ', width);
    for (size_t i = 0; i < x->nticks; i++) {
        char label[32];
        long col = dot_x(v, scale_at(x, x->tick[i])) / (int)v->dx;

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

static void put_legend(const struct report_chart *c, const struct report_text_style *style,
                       struct wr_str *out)
{
    for (size_t k = 0; k < c->nseries; k++) {
        const struct report_series *s = &c->series[k];
        const char *mark =
            s->line_only ? style->ascii ? ".." : "──" : marks[style->ascii][0][k % NMARKS];

        if (style->colour)
            wr_str_addf(out, "  \033[%sm%s\033[0m %s", colours[k % NMARKS], mark, s->name);
        else
            wr_str_addf(out, "  %s %s", mark, s->name);
    }
    if (c->open_means)
        wr_str_addf(out, "  %s %s", style->ascii ? "CAPITAL" : "○", c->open_means);
    wr_str_add(out, "\n");
}

static int label_width(const struct scale *y)
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
    struct canvas v = {.style = style, .rows = height - 6};
    scale_chart(c, width / 10, v.rows / 3, &x, &y);
    int margin = label_width(&y);

    v.cols = width - (unsigned)margin - 4;
    v.dx = style->ascii ? 1 : 2;
    v.dy = style->ascii ? 1 : 4;
    v.cell = wr_zalloc((size_t)v.rows * v.cols, sizeof *v.cell);
    for (size_t k = 0; k < c->nseries; k++)
        draw_series(&v, &c->series[k], (uint8_t)(k % NMARKS + 1), &x, &y);
    if (c->title)
        wr_str_addf(out, "%s\n", c->title);
    wr_str_addf(out, "%*s", margin - 1, "");
    report_axis_label(&c->y, out);
    wr_str_add(out, "\n");
    put_rows(&v, &y, margin, out);
    struct wr_str name = {0};
    report_axis_label(&c->x, &name);
    put_x_axis(&v, &x, wr_str_get(&name), c->x.ncategories, margin, out);
    wr_str_fini(&name);
    put_legend(c, style, out);
    for (size_t i = 0; i < c->x.ncategories; i++)
        wr_str_addf(out, "%4zu %s\n", i + 1, c->x.category[i]);
    free(v.cell);
}
