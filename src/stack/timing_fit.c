/* timing_fit.c -- fits a constant, a proportional or a linear timing model to samples.
 *
 * calib.c calls stack_fit() for each state. The shape with the smallest leave-one-size-out error is
 * used; more parameters have to earn their place. Errors are logarithms: twice too long counts as
 * much as twice too short.
 */
#include "stack/calib.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/sample.h"

/* The least time or size that a logarithm is taken of; samples are whole microseconds. */
#define FIT_LEAST 1e-12
/* Steps of the search for a minimum; each keeps two thirds of the interval, 100 reach (2/3)^100. */
#define FIT_THIRDS 100
/* The ratio of a line's constant to its slope is searched over so many decades below the smallest
 * and above the largest size, from so many starts in each decade. */
#define FIT_DECADES 4
#define FIT_PER_DECADE 4
/* A line that rises by less than this part of its constant over all sizes is a constant. */
#define FIT_FLAT 1e-3
/* Sums of weights that differ by rounding are equal. */
#define FIT_TIE 1e-9

static int fit_compare_points(const void *a, const void *b)
{
    const struct stack_point *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

size_t stack_medians(struct stack_point *p, size_t n)
{
    double *y = wr_zalloc(n + 1, sizeof *y);
    size_t out = 0;

    assert(p || !n);
    if (n)
        qsort(p, n, sizeof *p, fit_compare_points);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && p[end].x == p[i].x; end++)
            y[end - i] = p[end].y; /* ascending, as the points are */
        p[out++] = (struct stack_point){p[i].x, stat_quantile(y, end - i, 0.5)};
    }
    free(y);
    return out;
}

size_t stack_means(struct stack_point *p, size_t n)
{
    size_t out = 0;

    assert(p || !n);
    if (n)
        qsort(p, n, sizeof *p, fit_compare_points);
    for (size_t i = 0, end; i < n; i = end) {
        double x = p[i].x, sum = 0;

        for (end = i; end < n && p[end].x <= x; end++)
            sum += p[end].y;
        p[out++] = (struct stack_point){x, sum / (double)(end - i)};
    }
    return out;
}

/* --- samples of several sizes ------------------------------------------------------ */

struct sizes {
    struct stack_point *p; /* samples in ascending order */
    size_t n;
    struct stack_point *mid; /* the median of each size */
    size_t sizes;
};

/* All samples but those of the size `x`; NaN: all. */
static void fit_sizes_init(struct sizes *s, const struct stack_point *p, size_t n, double x)
{
    *s = (struct sizes){.p = wr_zalloc(n + 1, sizeof *p), .mid = wr_zalloc(n + 1, sizeof *p)};
    for (size_t i = 0; i < n; i++)
        if (isnan(x) || p[i].x < x || p[i].x > x)
            s->p[s->n++] = (struct stack_point){p[i].x, fmax(p[i].y, FIT_LEAST)};
    memcpy(s->mid, s->p, s->n * sizeof *s->p);
    s->sizes = stack_medians(s->mid, s->n);
    if (s->n)
        qsort(s->p, s->n, sizeof *s->p, fit_compare_points);
}

static void fit_sizes_fini(struct sizes *s)
{
    free(s->p);
    free(s->mid);
}

/* --- the shapes: twice too long is as wrong as twice too short ---------------------- */

/* Where a function of one variable that falls and then rises is least. */
typedef double error_fn(const struct stack_point *p, size_t n, double at,
                        const struct stack_fit *f);

static double fit_minimise(error_fn *error, const struct stack_point *p, size_t n,
                           const struct stack_fit *f, double low, double high)
{
    assert(low <= high);
    for (int i = 0; i < FIT_THIRDS; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (error(p, n, a, f) <= error(p, n, b, f))
            high = b;
        else
            low = a;
    }
    return (low + high) / 2;
}

struct weighed {
    double y, weight;
};

static int fit_compare_weighted(const void *a, const void *b)
{
    const struct weighed *p = a, *q = b;

    return p->y < q->y ? -1 : p->y > q->y;
}

/* The median of all samples, where each size counts the same. The median of the sizes' medians
 * would jump from one of the few to the next. */
static struct stack_fit fit_constant(const struct sizes *s)
{
    assert(s->n > 0 && s->sizes > 0);
    struct weighed *w = wr_zalloc(s->n + 1, sizeof *w);
    size_t i = 0;

    for (size_t from = 0, end; from < s->n; from = end) {
        for (end = from; end < s->n && s->p[end].x <= s->p[from].x;)
            end++;
        for (size_t k = from; k < end; k++)
            w[k] = (struct weighed){s->p[k].y, 1 / (double)(end - from)};
    }
    qsort(w, s->n, sizeof *w, fit_compare_weighted);
    double half = (double)s->sizes / 2, sum = w[0].weight;

    while (sum < half - FIT_TIE)
        sum += w[++i].weight;
    size_t next = i + (sum < half + FIT_TIE && i + 1 < s->n);
    struct stack_fit f = {.shape = STACK_CONSTANT, .constant = (w[i].y + w[next].y) / 2};

    free(w);
    return f;
}

/* The geometric mean of y / (r + x): so much makes the line s (r + x) least wrong. */
static double fit_scale(const struct stack_point *p, size_t n, double r)
{
    assert(n > 0 && r >= 0);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += log(p[i].y / fmax(r + p[i].x, FIT_LEAST));
    return exp(sum / (double)n);
}

static struct stack_fit fit_line_of_ratio(const struct stack_point *p, size_t n, double r)
{
    double s = fit_scale(p, n, r);

    return (struct stack_fit){.shape = STACK_LINE, .constant = s * r, .slope = s};
}

static double fit_squares(const struct stack_fit *f, const struct stack_point *p, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double d = log(fmax(stack_fit_at(f, p[i].x), FIT_LEAST) / p[i].y);

        sum += d * d;
    }
    return sum;
}

static double fit_line_error(const struct stack_point *p, size_t n, double log_r,
                             const struct stack_fit *unused)
{
    struct stack_fit f = fit_line_of_ratio(p, n, exp(log_r));

    (void)unused;
    return fit_squares(&f, p, n);
}

static struct stack_fit fit_proportional(const struct sizes *s)
{
    return (struct stack_fit){.shape = STACK_PROPORTIONAL, .slope = fit_scale(s->mid, s->sizes, 0)};
}

/* A line through the medians `p`; flat where that is the best that does not fall. */
static struct stack_fit fit_line_through(const struct stack_point *p, size_t n)
{
    assert(n > 1);
    static const double tenfold = 2.302585092994046;
    double low = log(fmax(p[0].x, 1)) - FIT_DECADES * tenfold,
           high = log(fmax(p[n - 1].x, 1)) + FIT_DECADES * tenfold;
    double r = low, at = low, best = INFINITY;

    while (r < high) {
        double error = fit_line_error(p, n, r, NULL);

        if (error < best) {
            best = error;
            at = r;
        }
        r += tenfold / FIT_PER_DECADE;
    }
    struct stack_fit f = fit_line_of_ratio(
        p, n,
        exp(fit_minimise(fit_line_error, p, n, NULL, at - tenfold / FIT_PER_DECADE,
                         at + tenfold / FIT_PER_DECADE)));
    struct stack_fit none = fit_line_of_ratio(p, n, 0);

    if (fit_squares(&none, p, n) <= fit_squares(&f, p, n))
        f = none;
    if (f.slope * p[n - 1].x < FIT_FLAT * f.constant) {
        f.constant += f.slope * p[n - 1].x / 2;
        f.slope = 0;
    }
    return f;
}

static struct stack_fit fit_line(const struct sizes *s)
{
    return fit_line_through(s->mid, s->sizes);
}

typedef struct stack_fit fitter(const struct sizes *s);
static fitter *const fitters[] = {fit_constant, fit_proportional, fit_line};
static const size_t parameters[] = {1, 1, 2};

double stack_fit_at(const struct stack_fit *f, double x)
{
    return f->constant + f->slope * x;
}

/* --- which of them ------------------------------------------------------------------- */

double stack_fit_without(enum stack_shape shape, const struct stack_point *p, size_t n, double x)
{
    assert(shape < STACK_SHAPES);
    struct sizes rest;
    double predicted = NAN;

    fit_sizes_init(&rest, p, n, x);
    if (rest.sizes >= parameters[shape]) {
        struct stack_fit f = fitters[shape](&rest);

        predicted = stack_fit_at(&f, x);
    }
    fit_sizes_fini(&rest);
    return predicted;
}

static double fit_log_error(double predicted, double is)
{
    return fabs(log(fmax(predicted, FIT_LEAST) / is));
}

/* The leave-one-size-out error of a shape. */
static double fit_left_out_error(enum stack_shape shape, const struct sizes *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->sizes; i++)
        sum += fit_log_error(stack_fit_without(shape, s->p, s->n, s->mid[i].x), s->mid[i].y);
    return sum / (double)s->sizes;
}

/* Waits seldom depend on bytes, and a line through the noise of a few sizes is far off beyond them:
 * a shape with more parameters has to halve the error of sizes left out (MUCH), and reduce it by
 * 0.5 % (LEAST). With as many sizes as parameters nothing can be left out. */
#define MUCH 0.5
#define LEAST 0.005

static struct stack_fit fit_choose_shape(const struct sizes *s, enum stack_shape most)
{
    assert(most < STACK_SHAPES);
    struct stack_fit best = fit_constant(s);

    best.loso = s->sizes > 1 ? fit_left_out_error(STACK_CONSTANT, s) : NAN;
    for (int k = STACK_PROPORTIONAL; k <= (int)most && s->sizes > parameters[k]; k++) {
        double loso = fit_left_out_error((enum stack_shape)k, s);

        if (loso >= MUCH * best.loso || best.loso - loso < LEAST)
            continue;
        best = fitters[k](s);
        best.loso = loso;
    }
    return best;
}

bool stack_fit(struct stack_fit *ret, const struct stack_point *p, size_t n, enum stack_shape most,
               struct wr_err *err)
{
    struct sizes s;

    if (!n)
        return wr_fail(err, WR_INPUT, "no samples; a model needs at least one size");
    fit_sizes_init(&s, p, n, NAN);
    *ret = fit_choose_shape(&s, most);
    fit_sizes_fini(&s);
    return true;
}
