/* size_lognormal.c -- the logarithm of the size is normal, within bounds.
 *
 * The distribution is cut at the bounds (sizes beyond are drawn again), with
 * Phi the normal distribution, m = ln median, a = (ln min - m)/s, b = (ln max - m)/s:
 *
 *   mean = exp(m + s^2/2) (Phi(b - s) - Phi(a - s)) / (Phi(b) - Phi(a))
 */
#include <math.h>
#include <stddef.h>

#include "synth_priv.h"

struct lognormal_params {
    uint64_t median, min, max;
    double sigma;
};

static const struct conf_row lognormal_rows[] = {
    {"median", CONF_BYTES, offsetof(struct lognormal_params, median), "4 KiB", .min = 1,
     .max = 0x1p40, .help = "Half of the messages is smaller, before the bounds cut."},
    {"sigma", CONF_REAL, offsetof(struct lognormal_params, sigma), "1", .min = 1e-3, .max = 10,
     .help = "Standard deviation of the natural logarithm of the size."},
    {"min", CONF_BYTES, offsetof(struct lognormal_params, min), "1 B", .min = 1, .max = 0x1p40,
     .help = "No message is smaller."},
    {"max", CONF_BYTES, offsetof(struct lognormal_params, max), "1 MiB", .min = 1, .max = 0x1p40,
     .help = "No message is larger."},
    CONF_END,
};

static double size_lognormal_phi(double x)
{
    return erfc(-x * M_SQRT1_2) / 2;
}

/* Phi(b) - Phi(a) for a <= b, taken on the side where it does not cancel. */
static double size_lognormal_phi_between(double a, double b)
{
    return a > 0 ? size_lognormal_phi(-a) - size_lognormal_phi(-b)
                 : size_lognormal_phi(b) - size_lognormal_phi(a);
}

static bool size_lognormal_init(struct synth_size *z, struct wr_err *err)
{
    const struct lognormal_params *p = z->params;
    double m = log((double)p->median), s = p->sigma;

    if (!synth_size_ordered(p->min, p->max, err))
        return false;
    double a = (log((double)p->min) - m) / s, b = (log((double)p->max) - m) / s;
    double kept = size_lognormal_phi_between(a, b);

    if (kept < 0.1)
        return wr_fail(err, WR_INPUT,
                       "the bounds keep only %.2g %% of the distribution, and drawing the rest "
                       "again takes long; widen min and max or move the median",
                       100 * kept);
    z->mean = exp(m + s * s / 2) * size_lognormal_phi_between(a - s, b - s) / kept;
    z->max = p->max;
    z->own[0] = m;
    return true;
}

static uint64_t size_lognormal_draw(const struct synth_size *z, struct wr_rng *rng)
{
    const struct lognormal_params *p = z->params;
    double x;

    do
        x = exp(z->own[0] + p->sigma * wr_rng_normal(rng));
    while (x < (double)p->min || x > (double)p->max);
    return synth_size_round(x, rng);
}

const struct synth_size_ops synth_size_lognormal = {
    .kind = {"lognormal", "the logarithm of the size is normal, within bounds", lognormal_rows,
             sizeof(struct lognormal_params)},
    .init = size_lognormal_init,
    .draw = size_lognormal_draw,
};
