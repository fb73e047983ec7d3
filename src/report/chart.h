/* chart.h -- several curves in one frame: what is drawn, and on what.
 *
 *   struct report_chart ──> scales (ticks, ranges) ──> text for a terminal
 *     x, y axes                                    └─> SVG
 *     series of points
 *
 * The chart is plain data and knows no run file; all renderers share one layout of
 * the axes (scale.h). Points with a y that is not a number break the line.
 */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct report_point {
    double x, y;
    double low, high; /* an interval around y; equal: none */
    bool open;        /* drawn hollow: there is something to say against it */
};

struct report_series {
    const char *name;
    const struct report_point *point;
    size_t n;
    bool marks_only; /* reference points: no line */
    bool line_only;  /* many points: no marks */
    bool steps;      /* between points y stays, then jumps */
    bool guide;      /* not data but something to compare with: drawn thin */
    bool area;       /* filled down to 0 */
    bool fan;        /* what is between low and high is a band, not bars */
    uint32_t ink;    /* its colour, from 1; 0: in turn */
};

/* A line across the picture, and a shaded range of x, with their words. */
struct report_mark {
    double at;
    bool across; /* at a y; else at an x */
    const char *label;
};

struct report_band {
    double x0, x1;
    const char *label;
};

struct report_axis {
    const char *label, *unit; /* "time", "ms"; no unit: NULL */
    double min, max;          /* equal: from the points */
    bool log;                 /* ignored when no value is positive */
    bool zero;                /* begins at 0 (linear axes only) */
    /* Names in the place of numbers: the first at 0, the second at 1, ... */
    const char *const *category;
    size_t ncategories;
};

/* A chart as data. Nothing in it is owned: it points to what the maker keeps. */
struct report_chart {
    const char *title;
    const char *desc;       /* what is seen, in words, for those who do not see it */
    const char *open_means; /* what is said of open points; NULL if there are none */
    struct report_axis x, y;
    const struct report_series *series;
    size_t nseries;
    const struct report_mark *mark;
    size_t nmarks;
    const struct report_band *band;
    size_t nbands;
};

struct report_text_style {
    unsigned width, height; /* of the whole, in characters; 0: 76 by 22 */
    bool ascii;             /* nothing beyond ASCII */
    bool colour;            /* colours of the terminal */
};

void report_chart_text(const struct report_chart *c, const struct report_text_style *style,
                       struct wr_str *out);

/* A whole SVG file, readable on light and on dark ground. */
void report_chart_svg(const struct report_chart *c, struct wr_str *out);

/* The same without title and style, to stand in a page that has
 * report_svg_css(). `id` keeps the names of several pictures apart. */
void report_chart_svg_inline(const struct report_chart *c, const char *id, struct wr_str *out);
void report_svg_css(struct wr_str *out);

/* Text with lines of at most `width` bytes, broken between words. */
void report_wrap(struct wr_str *out, const char *text, size_t width);

/* Text as content or attribute of HTML and XML. */
void report_escape(struct wr_str *out, const char *text);

#endif
