/* scale_priv.h -- from values to places along an axis, with round ticks. */
#ifndef REPORT_SCALE_PRIV_H
#define REPORT_SCALE_PRIV_H

#include "base/str.h"
#include "report/chart.h"

enum { SCALE_MAX_TICKS = 32 };

/* An axis: its range, which round ticks widen, and these ticks in ascending order. */
struct scale {
    double min, max;
    bool log;
    double tick[SCALE_MAX_TICKS];
    size_t nticks;
    int decimals; /* of the labels of a linear axis */
    /* Labels with a unit of their own, "60 ms": what the unit of the axis counts ("s", "B/s"), and
     * how many of those it is. NULL: plain numbers, and the name of the axis has the unit. */
    const char *base;
    double per_unit;
};

/* Both axes of a chart. About `xticks` and `yticks` ticks; an axis whose range
 * is not given begins and ends on one. */
void scale_chart(const struct report_chart *c, unsigned xticks, unsigned yticks, struct scale *x,
                 struct scale *y);

/* 0 at min, 1 at max; beyond for what lies outside, NaN for what has no place. */
double scale_at(const struct scale *s, double value);

void scale_label(const struct scale *s, double value, char *buf, size_t size);

/* A value with its unit and the prefix that suits it: "1.2 kB"; units that take none stay. */
void scale_quantity(double value, const char *unit, char *buf, size_t size);

/* The name of the axis, with its unit unless the labels have it. */
void scale_axis_name(const struct scale *s, const struct report_axis *a, struct wr_str *out);

/* Does the line continue from point i - 1 to point i? */
static inline bool scale_joined(const struct scale *x, const struct scale *y,
                                const struct report_point *p, size_t i)
{
    double sum = i ? scale_at(x, p[i - 1].x) + scale_at(y, p[i - 1].y) + scale_at(x, p[i].x) +
                         scale_at(y, p[i].y)
                   : (double)__builtin_nanf("");

    return sum == sum;
}

#endif
