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

size_t stack_means(struct stack_point *p, size_t n)
{
    size_t out = 0;

    if (n)
        qsort(p, n, sizeof *p, by_point);
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
static void sizes_init(struct sizes *s, const struct stack_point *p, size_t n, double x)
{
    *s = (struct sizes){.p = wr_zalloc(n + 1, sizeof *p), .mid = wr_zalloc(n + 1, sizeof *p)};
    for (size_t i = 0; i < n; i++)
        if (isnan(x) || p[i].x < x || p[i].x > x)
            s->p[s->n++] = (struct stack_point){p[i].x, fmax(p[i].y, 1e-12)};
    memcpy(s->mid, s->p, s->n * sizeof *s->p);
    s->sizes = stack_medians(s->mid, s->n);
    if (s->n)
        qsort(s->p, s->n, sizeof *s->p, by_point);
}

static void sizes_fini(struct sizes *s)
{
    free(s->p);
    free(s->mid);
}

/* --- the shapes: twice too long is as wrong as twice too short ---------------------- */

/* Where a function of one variable that falls and then rises is least. */
typedef double error_fn(const struct stack_point *p, size_t n, double at,
                        const struct stack_fit *f);

static double least(error_fn *error, const struct stack_point *p, size_t n,
                    const struct stack_fit *f, double low, double high)
{
    for (int i = 0; i < 100; i++) {
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

static int by_weighed(const void *a, const void *b)
{
    const struct weighed *p = a, *q = b;

    return p->y < q->y ? -1 : p->y > q->y;
}

/* The median of all samples, where each size counts the same. The median of the sizes' medians
 * would jump from one of the few to the next. */
static struct stack_fit fit_constant(const struct sizes *s)
{
    struct weighed *w = wr_zalloc(s->n + 1, sizeof *w);
    size_t i = 0;

    for (size_t from = 0, end; from < s->n; from = end) {
        for (end = from; end < s->n && s->p[end].x <= s->p[from].x;)
            end++;
        for (size_t k = from; k < end; k++)
            w[k] = (struct weighed){s->p[k].y, 1 / (double)(end - from)};
    }
    qsort(w, s->n, sizeof *w, by_weighed);
    double half = (double)s->sizes / 2, sum = w[0].weight;

    while (sum < half - 1e-9)
        sum += w[++i].weight;
    size_t next = i + (sum < half + 1e-9 && i + 1 < s->n);
    struct stack_fit f = {.shape = STACK_CONSTANT, .constant = (w[i].y + w[next].y) / 2};

    free(w);
    return f;
}

/* The geometric mean of y / (r + x): so much makes the line s (r + x) least wrong. */
static double scale(const struct stack_point *p, size_t n, double r)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += log(p[i].y / fmax(r + p[i].x, 1e-12));
    return exp(sum / (double)n);
}

static struct stack_fit line_of(const struct stack_point *p, size_t n, double r)
{
    double s = scale(p, n, r);

    return (struct stack_fit){.shape = STACK_LINE, .constant = s * r, .slope = s};
}

static double squares(const struct stack_fit *f, const struct stack_point *p, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double d = log(fmax(stack_fit_at(f, p[i].x), 1e-12) / p[i].y);

        sum += d * d;
    }
    return sum;
}

static double line_error(const struct stack_point *p, size_t n, double log_r,
                         const struct stack_fit *unused)
{
    struct stack_fit f = line_of(p, n, exp(log_r));

    (void)unused;
    return squares(&f, p, n);
}

static struct stack_fit fit_proportional(const struct sizes *s)
{
    return (struct stack_fit){.shape = STACK_PROPORTIONAL, .slope = scale(s->mid, s->sizes, 0)};
}

/* A line through the medians `p`; flat where that is the best that does not fall. */
static struct stack_fit line_through(const struct stack_point *p, size_t n)
{
    static const double tenfold = 2.302585092994046;
    double low = log(fmax(p[0].x, 1)) - 4 * tenfold, high = log(fmax(p[n - 1].x, 1)) + 4 * tenfold;
    double r = low, at = low, best = INFINITY;

    while (r < high) {
        double error = line_error(p, n, r, NULL);

        if (error < best) {
            best = error;
            at = r;
        }
        r += tenfold / 4;
    }
    struct stack_fit f =
        line_of(p, n, exp(least(line_error, p, n, NULL, at - tenfold / 4, at + tenfold / 4)));
    struct stack_fit none = line_of(p, n, 0);

    if (squares(&none, p, n) <= squares(&f, p, n))
        f = none;
    if (f.slope * p[n - 1].x < 1e-3 * f.constant) {
        f.constant += f.slope * p[n - 1].x / 2;
        f.slope = 0;
    }
    return f;
}

static struct stack_fit fit_line(const struct sizes *s)
{
    return line_through(s->mid, s->sizes);
}

static double after_error(const struct stack_point *p, size_t n, double after,
                          const struct stack_fit *f)
{
    struct stack_fit bent = *f;

    bent.after = after;
    return squares(&bent, p, n);
}

/* A line through the sizes up to the `k`th, and dearer bytes beyond it. */
static struct stack_fit knee_at(const struct stack_point *p, size_t n, size_t k)
{
    struct stack_fit f = line_through(p, k + 1);
    double at = stack_fit_at(&f, p[k].x), low = INFINITY, high = f.slope;

    f.shape = STACK_KNEE;
    f.knee = p[k].x;
    for (size_t i = k + 1; i < n; i++) {
        double after = fmax((p[i].y - at) / (p[i].x - p[k].x), f.slope);

        low = fmin(low, after);
        high = fmax(high, after);
    }
    f.after = high > low ? least(after_error, p + k + 1, n - k - 1, &f, low, high) : high;
    return f;
}

static struct stack_fit fit_knee(const struct sizes *s)
{
    struct stack_fit best = line_through(s->mid, s->sizes);
    double sum = squares(&best, s->mid, s->sizes);

    for (size_t k = 1; k + 1 < s->sizes; k++) {
        struct stack_fit f = knee_at(s->mid, s->sizes, k);
        double other = squares(&f, s->mid, s->sizes);

        if (other < sum) {
            sum = other;
            best = f;
        }
    }
    return best;
}

typedef struct stack_fit fitter(const struct sizes *s);
static fitter *const fitters[] = {fit_constant, fit_proportional, fit_line, fit_knee};
/* A knee is one of the sizes: it is chosen, not fitted. */
static const size_t parameters[] = {1, 1, 2, 3};

double stack_fit_at(const struct stack_fit *f, double x)
{
    if (f->shape == STACK_KNEE && x > f->knee)
        return f->constant + f->slope * f->knee + f->after * (x - f->knee);
    return f->constant + f->slope * x;
}

/* --- which of them ------------------------------------------------------------------- */

double stack_fit_without(enum stack_shape shape, const struct stack_point *p, size_t n, double x)
{
    struct sizes rest;
    double told = NAN;

    sizes_init(&rest, p, n, x);
    if (rest.sizes >= parameters[shape]) {
        struct stack_fit f = fitters[shape](&rest);

        told = stack_fit_at(&f, x);
    }
    sizes_fini(&rest);
    return told;
}

static double wrong_by(double told, double is)
{
    return fabs(log(fmax(told, 1e-12) / is));
}

/* Each size is told by the others. */
static double left_out(enum stack_shape shape, const struct sizes *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->sizes; i++)
        sum += wrong_by(stack_fit_without(shape, s->p, s->n, s->mid[i].x), s->mid[i].y);
    return sum / (double)s->sizes;
}

/* How far medians are from the law that was fitted to them. */
static double in_sample(const struct stack_fit *f, const struct sizes *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->sizes; i++)
        sum += wrong_by(stack_fit_at(f, s->mid[i].x), s->mid[i].y);
    return sum / (double)s->sizes;
}

/* How many sizes the law misses: what eight of ten samples took lies beside it. */
static size_t missed(const struct stack_fit *f, const struct sizes *s)
{
    size_t count = 0;

    for (size_t i = 0, end; i < s->n; i = end) {
        for (end = i; end < s->n && s->p[end].x <= s->p[i].x;)
            end++;
        size_t tenth = (end - i) / 10;
        double y = stack_fit_at(f, s->p[i].x);

        count += y < s->p[i + tenth].y || y > s->p[end - 1 - tenth].y;
    }
    return count;
}

/* A bend between the last two sizes is told by no other size: without either of them nothing is
 * left of it. So where a law is far from medians that were measured, a knee is taken that misses
 * fewer sizes, or halves the error. Bytes beyond it are dearer by half at least: less is noise. */
#define FAR 0.1
#define BEND 1.5

static bool bends(const struct stack_fit *knee, const struct stack_fit *f, const struct sizes *s)
{
    double error = in_sample(f, s);

    return error > FAR && knee->after > BEND * knee->slope &&
           (missed(knee, s) < missed(f, s) || in_sample(knee, s) < error / 2);
}

/* A shape with more parameters has to tell sizes better by a tenth, and by half a hundredth. What
 * moves no data seldom depends on bytes, and a line through the noise of a few sizes goes far
 * astray beyond them: there it has to be twice as good. */
#define LEAST 0.005

static struct stack_fit choose(const struct sizes *s, enum stack_shape most)
{
    struct stack_fit best = fit_constant(s);
    double much = most < STACK_KNEE ? 0.5 : 0.9;

    best.loso = s->sizes > 1 ? left_out(STACK_CONSTANT, s) : NAN;
    for (int k = STACK_PROPORTIONAL; k <= (int)most && s->sizes >= parameters[k]; k++) {
        /* With as many sizes as parameters nothing can be left out: a line it is, when data move
         * and no simpler law is near. */
        double loso = s->sizes > parameters[k] ? left_out((enum stack_shape)k, s) : NAN;
        bool worse = isnan(loso) ? k > STACK_LINE || most < STACK_KNEE || best.loso < FAR
                                 : loso >= much * best.loso || best.loso - loso < LEAST;

        if (worse)
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
        return wr_fail(err, WR_INPUT, "no samples; a law needs at least one size");
    sizes_init(&s, p, n, NAN);
    struct stack_fit best = choose(&s, most);

    if (most == STACK_KNEE && best.shape != STACK_KNEE && s.sizes > parameters[STACK_KNEE]) {
        struct stack_fit knee = fit_knee(&s);

        if (knee.shape == STACK_KNEE && bends(&knee, &best, &s)) {
            knee.loso = left_out(STACK_KNEE, &s);
            best = knee;
        }
    }
    sizes_fini(&s);
    *ret = best;
    return true;
}
