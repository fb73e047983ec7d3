/* baseline.c -- forecasters that need no hidden states: what a model must beat. */
#include <math.h>

#include "score_priv.h"
#include "stat/moments.h"

static double sd_of(const double *x, size_t n)
{
    double m = stat_mean(x, n), s = 0;

    for (size_t i = 0; i < n; i++)
        s += (x[i] - m) * (x[i] - m);
    return fmax(sqrt(s / (double)n), 1e-9);
}

static void one_normal(struct hmm_mix *ret, double mu, double sd)
{
    ret->n = 0;
    hmm_mix_add(ret, 1, mu, sd);
}

static void marginal_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    (void)k;
    (void)scratch;
    p[0] = stat_mean(t->x, t->train);
    p[1] = sd_of(t->x, t->train);
}

static void marginal_predict(struct hmm_mix *ret, const double p[4], const struct trial *t,
                             size_t i, int k, const double *scratch)
{
    (void)t;
    (void)i;
    (void)k;
    (void)scratch;
    one_normal(ret, p[0], p[1]);
}

/* The last value, as far off as k steps were in training. */
static void last_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    size_t n = t->train - (size_t)k;

    for (size_t i = 0; i < n; i++)
        scratch[i] = t->x[i + (size_t)k] - t->x[i];
    p[0] = sd_of(scratch, n);
}

static void last_predict(struct hmm_mix *ret, const double p[4], const struct trial *t, size_t i,
                         int k, const double *scratch)
{
    (void)scratch;
    one_normal(ret, t->x[i - (size_t)k], p[0]);
}

static double ewma_run(double *level, const struct trial *t, int k, double alpha)
{
    double m = t->x[0], s = 0;

    for (size_t i = 0; i < t->n; i++)
        level[i] = m += alpha * (t->x[i] - m);
    for (size_t i = (size_t)k; i < t->train; i++) {
        double e = t->x[i] - level[i - (size_t)k];

        s += e * e;
    }
    return s / (double)(t->train - (size_t)k);
}

/* The moving average that erred least in training. */
static void ewma_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    static const double alphas[] = {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
    double best = INFINITY;

    for (size_t a = 0; a < sizeof alphas / sizeof alphas[0]; a++) {
        double mse = ewma_run(scratch, t, k, alphas[a]);

        if (mse < best) {
            best = mse;
            p[3] = alphas[a];
        }
    }
    p[0] = fmax(sqrt(ewma_run(scratch, t, k, p[3])), 1e-9);
}

static void ewma_predict(struct hmm_mix *ret, const double p[4], const struct trial *t, size_t i,
                         int k, const double *level)
{
    (void)t;
    one_normal(ret, level[i - (size_t)k], p[0]);
}

static void ar1_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    double m = stat_mean(t->x, t->train), xy = 0, xx = 0;
    size_t n = t->train - 1;

    for (size_t i = 0; i < n; i++) {
        xy += (t->x[i] - m) * (t->x[i + 1] - m);
        xx += (t->x[i] - m) * (t->x[i] - m);
    }
    double phi = fmin(fmax(xx > 0 ? xy / xx : 0, -0.9999), 0.9999);

    for (size_t i = 0; i < n; i++)
        scratch[i] = t->x[i + 1] - m - phi * (t->x[i] - m);
    p[0] = m;
    p[1] = pow(phi, k);
    p[2] = sd_of(scratch, n) * sqrt((1 - pow(phi, 2 * k)) / (1 - phi * phi));
}

static void ar1_predict(struct hmm_mix *ret, const double p[4], const struct trial *t, size_t i,
                        int k, const double *scratch)
{
    (void)scratch;
    one_normal(ret, p[0] + p[1] * (t->x[i - (size_t)k] - p[0]), fmax(p[2], 1e-9));
}

enum { WINDOW = 60 };

static void window_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    (void)p;
    (void)t;
    (void)k;
    (void)scratch;
}

static void window_predict(struct hmm_mix *ret, const double p[4], const struct trial *t, size_t i,
                           int k, const double *scratch)
{
    size_t to = i - (size_t)k + 1, from = to > WINDOW ? to - WINDOW : 0;

    (void)p;
    (void)scratch;
    one_normal(ret, stat_mean(t->x + from, to - from), fmax(sd_of(t->x + from, to - from), 0.02));
}

const struct simple simple_table[] = {
    {"marginal_lognormal", marginal_prepare, marginal_predict},
    {"last_value_rw", last_prepare, last_predict},
    {"ewma", ewma_prepare, ewma_predict},
    {"ar1", ar1_prepare, ar1_predict},
    {"window60_lognormal", window_prepare, window_predict},
    {.name = NULL},
};
