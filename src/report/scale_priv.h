/* scale_priv.h -- from values to places along an axis, with round ticks. */
#ifndef REPORT_SCALE_PRIV_H
#define REPORT_SCALE_PRIV_H

#include "report/chart.h"

enum { SCALE_MAX_TICKS = 32 };

struct scale {
    double min, max;
    bool log;
    double tick[SCALE_MAX_TICKS];
    size_t nticks;
    int decimals; /* of the labels of a linear axis */
};

/* Both axes of a chart. About `xticks` and `yticks` ticks; an axis whose range
 * is not given begins and ends on one. */
void scale_chart(const struct report_chart *c, unsigned xticks, unsigned yticks, struct scale *x,
                 struct scale *y);

/* 0 at min, 1 at max; beyond for what lies outside, NaN for what has no place. */
double scale_at(const struct scale *s, double value);

void scale_label(const struct scale *s, double value, char *buf, size_t size);

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
