/* fit.c -- the shapes that laws may have, and which of them fits. */
#include "stack/calib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const stack_shape_names[] = {"constant", "proportional", "line", "knee"};

static int by_point(const void *a, const void *b)
{
    const struct stack_point *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

size_t stack_medians(struct stack_point *p, size_t n)
{
    size_t out = 0;

    if (n)
        qsort(p, n, sizeof *p, by_point);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && p[end].x == p[i].x;)
            end++;
        size_t k = end - i;

        p[out++] = (struct stack_point){p[i].x, (p[i + (k - 1) / 2].y + p[i + k / 2].y) / 2};
    }
    return out;
}

/* --- the shapes, by least squares of relative errors --------------------------- */

static double weight(const struct stack_point *p)
{
    double y = p->y > 1e-12 ? p->y : 1e-12;

    return 1 / (y * y);
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The median of the sizes' medians, or of what they take per byte: one busy run moves it little. */
static double middle(const struct stack_point *p, size_t n, bool per_byte)
{
    double *y = wr_zalloc(n, sizeof *y);

    for (size_t i = 0; i < n; i++)
        y[i] = per_byte ? p[i].y / fmax(p[i].x, 1) : p[i].y;
    qsort(y, n, sizeof *y, by_double);
    double at = (y[(n - 1) / 2] + y[n / 2]) / 2;

    free(y);
    return at;
}

static struct stack_fit fit_constant(const struct stack_point *p, size_t n)
{
    return (struct stack_fit){.shape = STACK_CONSTANT, .constant = middle(p, n, false)};
}

static struct stack_fit fit_proportional(const struct stack_point *p, size_t n)
{
    return (struct stack_fit){.shape = STACK_PROPORTIONAL, .slope = middle(p, n, true)};
}

static struct stack_fit fit_line(const struct stack_point *p, size_t n)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;

    for (size_t i = 0; i < n; i++) {
        double k = weight(&p[i]);

        w += k;
        wx += k * p[i].x;
        wy += k * p[i].y;
        wxx += k * p[i].x * p[i].x;
        wxy += k * p[i].x * p[i].y;
    }
    double det = w * wxx - wx * wx;
    double b = det > 0 ? (w * wxy - wx * wy) / det : 0;
    double a = (wy - b * wx) / w;

    if (b < 0)
        return fit_constant(p, n);
    if (a < 0) {
        a = 0;
        b = wxx > 0 ? wxy / wxx : 0;
    }
    return (struct stack_fit){.shape = STACK_LINE, .constant = a, .slope = b};
}

static double squares(const struct stack_fit *f, const struct stack_point *p, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double d = stack_fit_at(f, p[i].x) - p[i].y;

        sum += weight(&p[i]) * d * d;
    }
    return sum;
}

/* The knee is at one of the points; what follows it rises at least as fast. */
static struct stack_fit fit_knee(const struct stack_point *p, size_t n)
{
    struct stack_fit best = fit_line(p, n);
    double least = squares(&best, p, n);

    for (size_t k = 1; k + 1 < n; k++) {
        struct stack_fit f = fit_line(p, k + 1);
        double at = f.constant + f.slope * p[k].x, wxx = 0, wxy = 0;

        for (size_t i = k + 1; i < n; i++) {
            double x = p[i].x - p[k].x;

            wxx += weight(&p[i]) * x * x;
            wxy += weight(&p[i]) * x * (p[i].y - at);
        }
        f.shape = STACK_KNEE;
        f.knee = p[k].x;
        f.after = wxy / wxx > f.slope ? wxy / wxx : f.slope;
        double sum = squares(&f, p, n);

        if (sum < least) {
            least = sum;
            best = f;
        }
    }
    return best;
}

typedef struct stack_fit fitter(const struct stack_point *p, size_t n);
static fitter *const fitters[] = {fit_constant, fit_proportional, fit_line, fit_knee};
/* A knee is one of the sizes: it is chosen, not fitted. */
static const size_t parameters[] = {1, 1, 2, 3};

double stack_fit_at(const struct stack_fit *f, double x)
{
    if (f->shape == STACK_KNEE && x > f->knee)
        return f->constant + f->slope * f->knee + f->after * (x - f->knee);
    return f->constant + f->slope * x;
}

double stack_fit_without(enum stack_shape shape, const struct stack_point *p, size_t n, size_t i)
{
    struct stack_point *rest = wr_zalloc(n, sizeof *rest);
    size_t k = 0;

    for (size_t j = 0; j < n; j++)
        if (j != i)
            rest[k++] = p[j];
    double told = NAN;

    if (k >= parameters[shape]) {
        struct stack_fit f = fitters[shape](rest, k);

        told = stack_fit_at(&f, p[i].x);
    }
    free(rest);
    return told;
}

/* Each size is told by the others: twice too long is as wrong as twice too short. */
static double left_out(enum stack_shape shape, const struct stack_point *p, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(log(fmax(stack_fit_without(shape, p, n, i), 1e-12) / fmax(p[i].y, 1e-12)));
    return sum / (double)n;
}

/* A shape with more parameters has to tell sizes better by a tenth, and by half a hundredth. What
 * moves no data seldom depends on bytes, and a line through the noise of a few sizes goes far
 * astray beyond them: there it has to be twice as good. */
#define LEAST 0.005

bool stack_fit(struct stack_fit *ret, const struct stack_point *p, size_t n, enum stack_shape most,
               struct wr_err *err)
{
    if (!n)
        return wr_fail(err, WR_INPUT, "no samples; a law needs at least one size");
    struct stack_fit best = fit_constant(p, n);

    double much = most < STACK_KNEE ? 0.5 : 0.9;

    best.loso = n > 1 ? left_out(STACK_CONSTANT, p, n) : NAN;
    for (int s = most < STACK_KNEE ? STACK_LINE : STACK_PROPORTIONAL; s <= (int)most; s++) {
        if (n < parameters[s])
            break;
        /* With as many sizes as parameters nothing can be left out: a line it is, when data move.
         */
        double loso = n > parameters[s] ? left_out((enum stack_shape)s, p, n) : NAN;

        if (isnan(loso) ? s > STACK_LINE || most < STACK_KNEE
                        : loso >= much * best.loso || best.loso - loso < LEAST)
            continue;
        best = fitters[s](p, n);
        best.loso = loso;
    }
    *ret = best;
    return true;
}

/* How many sizes the law misses: what eight of ten samples took lies beside it. */
static size_t missed(const struct stack_fit *f, const struct stack_point *sorted, size_t n)
{
    size_t count = 0;

    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end].x == sorted[i].x;)
            end++;
        size_t tenth = (end - i) / 10;
        double y = stack_fit_at(f, sorted[i].x);

        count += y < sorted[i + tenth].y || y > sorted[end - 1 - tenth].y;
    }
    return count;
}

/* Bytes beyond a knee are dearer by so much at least: less is noise. */
#define BEND 1.2

bool stack_fit_samples(struct stack_fit *ret, struct stack_point *p, size_t n, struct wr_err *err)
{
    struct stack_point *m = wr_zalloc(n + 1, sizeof *m);

    qsort(p, n, sizeof *p, by_point);
    memcpy(m, p, n * sizeof *m);
    size_t sizes = stack_medians(m, n);
    bool ok = stack_fit(ret, m, sizes, STACK_KNEE, err);

    if (ok && ret->shape != STACK_KNEE && sizes > parameters[STACK_KNEE]) {
        struct stack_fit knee = fit_knee(m, sizes);

        if (knee.after > BEND * knee.slope && missed(&knee, p, n) < missed(ret, p, n)) {
            knee.loso = left_out(STACK_KNEE, m, sizes);
            *ret = knee;
        }
    }
    free(m);
    return ok;
}
