/* moments.c -- Welford's update of mean and variance, and the merge of Chan, Golub and LeVeque. */
#include "stat/moments.h"

#include <math.h>

void stat_moments_add(struct stat_moments *m, double x)
{
    double d = x - m->mean;

    m->min = m->n ? fmin(m->min, x) : x;
    m->max = m->n ? fmax(m->max, x) : x;
    m->n++;
    m->mean += d / (double)m->n;
    m->m2 += d * (x - m->mean);
}

void stat_moments_merge(struct stat_moments *into, const struct stat_moments *from)
{
    if (!from->n)
        return;
    if (!into->n) {
        *into = *from;
        return;
    }
    double a = (double)into->n, b = (double)from->n, d = from->mean - into->mean;

    into->mean += d * b / (a + b);
    into->m2 += from->m2 + d * d * a * b / (a + b);
    into->n += from->n;
    into->min = fmin(into->min, from->min);
    into->max = fmax(into->max, from->max);
}

double stat_mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

struct stat_moments stat_moments_of(const double *x, size_t n)
{
    struct stat_moments m = {0};

    for (size_t i = 0; i < n; i++)
        stat_moments_add(&m, x[i]);
    return m;
}

double stat_moments_variance(const struct stat_moments *m)
{
    return m->n < 2 ? NAN : m->m2 / (double)(m->n - 1);
}

double stat_moments_stddev(const struct stat_moments *m)
{
    return sqrt(stat_moments_variance(m));
}
