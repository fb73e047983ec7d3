#include "stat/series.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stat/dist.h"
#include "stat/moments.h"

struct stat_warmup stat_mser5(const double *x, size_t n)
{
    enum { BATCH = 5 };
    size_t nb = n / BATCH, best = 0;
    double least = INFINITY;
    struct stat_moments kept = {0};

    /* From the back, so that one pass has the moments of every tail. The last
     * few tails are short and prove nothing; they are never chosen. */
    for (size_t d = nb; d-- > 0;) {
        stat_moments_add(&kept, stat_mean(x + d * BATCH, BATCH));
        double mser = kept.m2 / ((double)kept.n * (double)kept.n);

        if (kept.n >= BATCH && mser <= least) {
            least = mser;
            best = d;
        }
    }
    return (struct stat_warmup){best * BATCH, nb >= 2 * BATCH && best <= nb / 2};
}

double stat_autocorrelation(const double *x, size_t n, size_t lag)
{
    struct stat_moments m = stat_moments_of(x, n);
    double sum = 0;

    for (size_t i = 0; i + lag < n; i++)
        sum += (x[i] - m.mean) * (x[i + lag] - m.mean);
    return m.m2 > 0 ? sum / m.m2 : NAN;
}

static struct stat_batches with_batches(const double *x, size_t n, size_t k, double level)
{
    size_t per = n / k;
    double *y = wr_alloc(k * sizeof *y);
    double steps = 0;

    x += n - k * per;
    for (size_t i = 0; i < k; i++)
        y[i] = stat_mean(x + i * per, per);
    for (size_t i = 0; i + 1 < k; i++)
        steps += (y[i + 1] - y[i]) * (y[i + 1] - y[i]);

    struct stat_moments m = stat_moments_of(y, k);
    double kd = (double)k, ratio = m.m2 > 0 ? 1 - steps / (2 * m.m2) : 0;
    struct stat_batches ret = {
        .mean = stat_mean_interval(y, k, level),
        .nbatches = k,
        .per_batch = per,
        .ratio = ratio,
        .correlated = ratio > stat_normal_quantile(0.95) * sqrt((kd - 2) / (kd * kd - 1)),
    };
    free(y);
    return ret;
}

bool stat_batch_means(const double *x, size_t n, size_t nbatches, double level,
                      struct stat_batches *ret, struct wr_err *err)
{
    static const size_t tries[] = {64, 32, 16};
    size_t need = nbatches ? nbatches : tries[2];

    if (nbatches == 1 || nbatches == 2)
        return wr_fail(err, WR_INPUT, "%zu batches say nothing of the spread; use at least 3",
                       nbatches);
    if (n < need)
        return wr_fail(err, WR_INPUT, "%zu samples do not fill %zu batches; measure longer", n,
                       need);
    if (nbatches) {
        *ret = with_batches(x, n, nbatches, level);
        return true;
    }
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        if (n < tries[i])
            continue;
        *ret = with_batches(x, n, tries[i], level);
        if (!ret->correlated)
            break;
    }
    return true;
}
