/* hmm/mix.c -- density, CDF, quantiles, means and CRPS of a mixture of normals. Pure functions. */
#include "state/hmm/mix.h"

#include <assert.h>
#include <math.h>

/* ln of a Weibull variable: mean Euler's constant scales below its location, standard deviation
 * pi / sqrt(6) scales. */
#define MIX_EULER 0.57721566490153286
#define MIX_GUMBEL_SD 1.2825498301618640955
/* No double is beyond 40 standard deviations; halving that range 200 times leaves nothing, and
 * MIX_EXACT is what rounding of the distribution leaves. */
#define MIX_FARTHEST 40
enum { MIX_HALVINGS = 200 };
#define MIX_EXACT 1e-13

static double mix_phi(double z)
{
    return 0.39894228040143267794 * exp(-0.5 * z * z);
}

static double mix_below(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

void hmm_mix_states(struct hmm_mix *to, const struct hmm_model *m, const double *p, double scale)
{
    for (int s = 0; s < m->k; s++) {
        const double *e = m->emit[s];
        double w = p[s] * scale;

        if (m->family == HMM_WEIBULL) {
            hmm_mix_add(to, w, e[HMM_LOC] - MIX_EULER * e[HMM_SPREAD],
                        MIX_GUMBEL_SD * e[HMM_SPREAD]);
        } else if (m->family == HMM_MIXTURE) {
            hmm_mix_add(to, w * (1 - e[HMM_WEIGHT2]), e[HMM_LOC], e[HMM_SPREAD]);
            hmm_mix_add(to, w * e[HMM_WEIGHT2], e[HMM_LOC2], e[HMM_SPREAD2]);
        } else {
            hmm_mix_add(to, w, e[HMM_LOC], e[HMM_SPREAD]);
        }
    }
}

double hmm_mix_density(const struct hmm_mix *m, double x)
{
    double s = 0;

    for (int i = 0; i < m->n; i++)
        s += m->w[i] * mix_phi((x - m->mu[i]) / m->sd[i]) / m->sd[i];
    return s;
}

double hmm_mix_cdf(const struct hmm_mix *m, double x)
{
    double s = 0;

    for (int i = 0; i < m->n; i++)
        s += m->w[i] * mix_below((x - m->mu[i]) / m->sd[i]);
    return s;
}

double hmm_mix_above(const struct hmm_mix *m, double x)
{
    double s = 0;

    for (int i = 0; i < m->n; i++)
        s += m->w[i] * mix_below((m->mu[i] - x) / m->sd[i]);
    return s;
}

/* Between the lowest and the highest quantile of the parts, by bisection and then Newton. */
double hmm_mix_quantile(const struct hmm_mix *m, double p)
{
    assert(m->n > 0 && m->n <= HMM_MIX);
    double low = INFINITY, high = -INFINITY;

    if (!(p > 0) || !(p < 1))
        return p <= 0 ? -INFINITY : INFINITY;
    for (int i = 0; i < m->n; i++)
        if (m->w[i] > 0) {
            low = fmin(low, m->mu[i] - MIX_FARTHEST * m->sd[i]);
            high = fmax(high, m->mu[i] + MIX_FARTHEST * m->sd[i]);
        }
    for (int i = 0; i < MIX_HALVINGS && high - low > MIX_EXACT * (1 + fabs(low)); i++) {
        double mid = (low + high) / 2;

        if (p < 0.5 ? hmm_mix_cdf(m, mid) < p : hmm_mix_above(m, mid) > 1 - p)
            low = mid;
        else
            high = mid;
    }
    return (low + high) / 2;
}

double hmm_mix_mean_latency(const struct hmm_mix *m)
{
    double s = 0;

    for (int i = 0; i < m->n; i++)
        s += m->w[i] * exp(m->mu[i] + 0.5 * m->sd[i] * m->sd[i]);
    return s;
}

double hmm_mix_mean_below(const struct hmm_mix *m, double most_x)
{
    double s = 0, most = exp(most_x);

    for (int i = 0; i < m->n; i++) {
        double v = m->sd[i] * m->sd[i], z = (most_x - m->mu[i]) / m->sd[i];
        double inside = exp(m->mu[i] + 0.5 * v) * mix_below(z - m->sd[i]),
               all = most * mix_below(z);

        /* What is inside is below `most`; of a normal so wide that its mean is no number, too. */
        s += m->w[i] * ((inside <= all ? inside : all) + most * mix_below(-z));
    }
    return s;
}

/* E|Z| of a normal with that mean and sd. */
static double mix_mean_abs(double mu, double sd)
{
    double z = mu / sd;

    return 2 * sd * mix_phi(z) + mu * (2 * mix_below(z) - 1);
}

double hmm_mix_crps(const struct hmm_mix *m, double x)
{
    double a = 0, b = 0;

    for (int i = 0; i < m->n; i++) {
        a += m->w[i] * mix_mean_abs(x - m->mu[i], m->sd[i]);
        for (int j = 0; j < m->n; j++)
            b += m->w[i] * m->w[j] * mix_mean_abs(m->mu[i] - m->mu[j], hypot(m->sd[i], m->sd[j]));
    }
    return a - b / 2;
}

double hmm_mix_crps_latency(const struct hmm_mix *m, double x)
{
    double a = 0, b = 0, y = exp(x);

    for (int i = 0; i < m->n; i++) {
        double v = m->sd[i] * m->sd[i], mean = exp(m->mu[i] + v / 2);

        a += m->w[i] * (y * (2 * mix_below((x - m->mu[i]) / m->sd[i]) - 1) + mean -
                        2 * mean * mix_below((x - m->mu[i] - v) / m->sd[i]));
        for (int j = 0; j < m->n; j++) {
            double u = m->sd[j] * m->sd[j], both = sqrt(u + v), other = exp(m->mu[j] + u / 2);

            b += m->w[i] * m->w[j] *
                 (mean * (2 * mix_below((m->mu[i] + v - m->mu[j]) / both) - 1) +
                  other * (2 * mix_below((m->mu[j] + u - m->mu[i]) / both) - 1));
        }
    }
    return a - b / 2;
}
