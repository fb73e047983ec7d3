/* scale.c -- chooses the range and the round ticks of an axis, linear or logarithmic.
 *
 * Used by chart_svg.c and chart_text.c alike, so that a chart has the same ticks on a page and on a
 * terminal of the same size.
 */
#include "scale_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is larger, or on a logarithmic axis smaller than its inverse, is not drawn: round
 * numbers around it would leave the doubles. */
#define LARGEST 1e300

/* The round number 1, 2 or 5 times a power of ten at or above v > 0. */
static double scale_round_up(double v)
{
    double ten = pow(10, floor(log10(v))), part = v / ten;
    const double slack = 1 + 1e-9; /* 0.1 is not exactly ten times 0.01 */

    if (part <= 1 * slack)
        return ten;
    if (part <= 2 * slack)
        return 2 * ten;
    return part <= 5 * slack ? 5 * ten : 10 * ten;
}

static double scale_round_down(double v)
{
    double ten = pow(10, floor(log10(v) + 1e-9)), part = v / ten * (1 + 1e-9);

    return part >= 5 ? 5 * ten : part >= 2 ? 2 * ten : ten;
}

static void scale_linear_ticks(struct scale *s, bool fixed, unsigned target)
{
    double size = fmax(fabs(s->min), fabs(s->max));

    /* A range of one value is widened on both sides. */
    if (!(s->max - s->min > 1e-12 * size) || size < 1 / LARGEST) {
        double pad = size >= 1 / LARGEST ? size / 2 : 0.5;

        s->max += pad;
        s->min -= size >= 1 / LARGEST ? pad : 0;
    }
    double step = scale_round_up((s->max - s->min) / target);
    double first = ceil(s->min / step - 1e-6), last = floor(s->max / step + 1e-6);

    if (!fixed) {
        first = floor(s->min / step + 1e-6);
        last = ceil(s->max / step - 1e-6);
        s->min = first * step;
        s->max = last * step;
    }
    for (int k = 0; first + k <= last && s->nticks < SCALE_MAX_TICKS; k++)
        s->tick[s->nticks++] = (first + k) * step;
    s->decimals = (int)fmax(0, ceil(-log10(step) - 1e-9));
}

/* Ticks at 1, 2, 5 of every decade when they are few, else at decades. */
static void scale_log_ticks(struct scale *s, bool fixed, unsigned target)
{
    static const double mantissa[] = {1, 2, 5};
    double decades = log10(s->max) - log10(s->min);
    bool fine = decades * 3 <= target + 2;
    int every = (int)fmax(1, ceil(decades / target));

    if (!fixed) {
        s->min = fine ? scale_round_down(s->min) : pow(10, floor(log10(s->min) + 1e-9));
        s->max = fine ? scale_round_up(s->max) : pow(10, ceil(log10(s->max) - 1e-9));
        if (s->max <= s->min)
            s->max = s->min * 10;
    }
    int from = (int)floor(log10(s->min) + 1e-9), to = (int)ceil(log10(s->max) - 1e-9);

    for (int k = from; k <= to; k += fine ? 1 : every)
        for (int i = 0; i < (fine ? 3 : 1) && s->nticks < SCALE_MAX_TICKS; i++) {
            double v = pow(10, k) * mantissa[i];

            if (v >= s->min * (1 - 1e-9) && v <= s->max * (1 + 1e-9))
                s->tick[s->nticks++] = v;
        }
}

/* The range of all values of one axis. */
struct range {
    double low, high;
    double positive; /* the smallest positive value */
};

static void scale_widen(struct range *r, double v)
{
    if (!(fabs(v) <= LARGEST))
        return;
    r->low = fmin(r->low, v);
    r->high = fmax(r->high, v);
    if (v >= 1 / LARGEST)
        r->positive = fmin(r->positive, v);
}

static void scale_name_ticks(struct scale *s, size_t n)
{
    size_t every = (n + SCALE_MAX_TICKS - 1) / SCALE_MAX_TICKS;

    *s = (struct scale){.min = -0.5, .max = (double)n - 0.5};
    for (size_t i = 0; i < n; i += every)
        s->tick[s->nticks++] = (double)i;
}

/* Plain digits of larger values, and of smaller ones on a logarithmic axis, would crowd it. */
#define MOST_PLAIN 1e5
#define LEAST_PLAIN 1e-4

static const struct prefix {
    char name; /* 0: none */
    double factor;
} prefixes[] = {{'p', 1e-12}, {'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {0, 1},
                {'k', 1e3},   {'M', 1e6},  {'G', 1e9},  {'T', 1e12}, {'P', 1e15}};

enum { NPREFIXES = sizeof prefixes / sizeof *prefixes };

/* Units that take prefixes: "us" is a prefix and "s". Others (%, MiB/s) stay as they are. */
static void scale_split_unit(struct scale *s, const char *unit)
{
    static const char *const bases[] = {"s", "B", "B/s"};

    for (size_t i = 0; unit && i < sizeof bases / sizeof *bases; i++)
        for (size_t k = 0; k < NPREFIXES; k++) {
            const char *rest = unit + (prefixes[k].name != 0);

            if (*unit && (!prefixes[k].name || *unit == prefixes[k].name) &&
                !strcmp(rest, bases[i])) {
                s->base = bases[i];
                s->per_unit = prefixes[k].factor;
            }
        }
}

static bool scale_is_crowded(const struct scale *s)
{
    return fmax(fabs(s->min), fabs(s->max)) >= MOST_PLAIN || (s->log && s->min < LEAST_PLAIN);
}

static void scale_axis(struct scale *s, const struct report_axis *a, const struct range *r,
                       unsigned target)
{
    bool fixed = a->max > a->min, empty = !(r->high >= r->low);

    if (a->ncategories) {
        scale_name_ticks(s, a->ncategories);
        return;
    }
    *s = (struct scale){.min = empty ? 0 : r->low, .max = empty ? 1 : r->high};
    if (fixed) {
        s->min = a->min;
        s->max = a->max;
    }
    s->log = a->log && (fixed ? a->min >= 1 / LARGEST : !empty && r->high >= 1 / LARGEST);
    if (s->log && !fixed)
        s->min = r->positive;
    if (!s->log && a->zero && !fixed)
        s->min = fmin(s->min, 0);
    if (s->log)
        scale_log_ticks(s, fixed, target);
    else
        scale_linear_ticks(s, fixed, target);
    if (scale_is_crowded(s))
        scale_split_unit(s, a->unit);
}

void scale_chart(const struct report_chart *c, unsigned xticks, unsigned yticks, struct scale *x,
                 struct scale *y)
{
    struct range rx = {INFINITY, -INFINITY, INFINITY}, ry = rx;

    for (size_t k = 0; k < c->nseries; k++)
        for (size_t i = 0; i < c->series[k].n; i++) {
            const struct report_point *p = &c->series[k].point[i];

            if (!(fabs(p->x) <= LARGEST && fabs(p->y) <= LARGEST))
                continue;
            scale_widen(&rx, p->x);
            scale_widen(&ry, p->y);
            if (p->low < p->high) {
                scale_widen(&ry, p->low);
                scale_widen(&ry, p->high);
            }
        }
    scale_axis(x, &c->x, &rx, xticks);
    scale_axis(y, &c->y, &ry, yticks);
}

double scale_at(const struct scale *s, double value)
{
    if (!(fabs(value) <= LARGEST) || (s->log && value < 1 / LARGEST))
        return NAN;
    if (s->log)
        return (log(value) - log(s->min)) / (log(s->max) - log(s->min));
    return (value - s->min) / (s->max - s->min);
}

/* "60 ms": the prefix leaves 1 to 999 before the point. */
static void scale_label_with_unit(const struct scale *s, double value, char *buf, size_t size)
{
    double v = value * s->per_unit;
    size_t k = 0;

    while (k + 1 < NPREFIXES && fabs(v) >= prefixes[k + 1].factor * (1 - 1e-9))
        k++;
    if (fabs(value) < 1e-300)
        snprintf(buf, size, "0");
    else
        snprintf(buf, size, "%.4g %.1s%s", v / prefixes[k].factor,
                 prefixes[k].name ? &prefixes[k].name : "", s->base);
}

void scale_quantity(double value, const char *unit, char *buf, size_t size)
{
    struct scale s = {.base = NULL};

    scale_split_unit(&s, unit);
    if (s.base)
        scale_label_with_unit(&s, value, buf, size);
    else
        snprintf(buf, size, "%.4g%s%s", value, *unit ? " " : "", unit);
}

void scale_label(const struct scale *s, double value, char *buf, size_t size)
{
    static const char suffix[] = {0, 'k', 'M', 'G', 'T', 'P'};
    double top = fmax(fabs(s->min), fabs(s->max)), scaled = value;
    unsigned k = 0;

    if (s->base) {
        scale_label_with_unit(s, value, buf, size);
        return;
    }
    /* Thousands only where plain digits would crowd the axis. */
    while (top >= MOST_PLAIN && fabs(scaled) >= 1000 && k + 1 < sizeof suffix) {
        scaled /= 1000;
        k++;
    }
    if (s->log || k) /* 20000, not 2e+04, where there is no suffix */
        snprintf(buf, size, "%.*g%.1s", k ? 4 : 5, scaled, k ? &suffix[k] : "");
    else
        snprintf(buf, size, "%.*f", s->decimals, fabs(value) < 1e-300 ? 0.0 : value);
}

void scale_axis_name(const struct scale *s, const struct report_axis *a, struct wr_str *out)
{
    bool unit = a->unit && *a->unit && !s->base;

    wr_str_addf(out, "%s%s%s", a->label ? a->label : "", unit ? ", " : "", unit ? a->unit : "");
}
