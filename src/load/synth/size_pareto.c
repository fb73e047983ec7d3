/* size_pareto.c -- many small messages and a heavy tail, up to a bound.
 *
 * The bounded Pareto distribution of shape a on [min, max], with r = min/max:
 *
 *   size = min (1 - u (1 - r^a))^(-1/a)
 *   mean = a min ((1 - r^(a-1)) / (a-1)) / (1 - r^a),   the middle factor -ln r at a = 1
 */
#include <math.h>
#include <stddef.h>

#include "synth_priv.h"

struct pareto_params {
    uint64_t min, max;
    double shape;
};

static const struct conf_row pareto_rows[] = {
    {"min", CONF_BYTES, offsetof(struct pareto_params, min), "256 B", .min = 1, .max = 0x1p40,
     .help = "The smallest message, and the most frequent."},
    {"max", CONF_BYTES, offsetof(struct pareto_params, max), "1 MiB", .min = 1, .max = 0x1p40,
     .help = "No message is larger."},
    {"shape", CONF_REAL, offsetof(struct pareto_params, shape), "1.2", .min = 0.01, .max = 100,
     .help = "How fast large messages become rare; below 2 the tail is heavy."},
    CONF_END,
};

enum { CUT, MINUS_INVERSE }; /* of z->own: 1 - r^a and -1/a */

static bool size_pareto_init(struct synth_size *z, struct wr_err *err)
{
    const struct pareto_params *p = z->params;
    double a = p->shape, log_r = log((double)p->min / (double)p->max);

    if (!synth_size_ordered(p->min, p->max, err))
        return false;
    if (p->min == p->max)
        return wr_fail(err, WR_INPUT, "min and max are equal; use constant");
    double middle = fabs(a - 1) < 1e-9 ? -log_r : -expm1((a - 1) * log_r) / (a - 1);

    z->own[CUT] = -expm1(a * log_r);
    z->own[MINUS_INVERSE] = -1 / a;
    z->mean = a * (double)p->min * middle / z->own[CUT];
    z->max = p->max;
    return true;
}

static uint64_t size_pareto_draw(const struct synth_size *z, struct wr_rng *rng)
{
    const struct pareto_params *p = z->params;
    double u = wr_rng_unit(rng);
    double x = (double)p->min * pow(1 - u * z->own[CUT], z->own[MINUS_INVERSE]);

    return synth_size_round(fmin(x, (double)p->max), rng);
}

const struct synth_size_ops synth_size_pareto = {
    .kind = {"pareto", "many small messages and a heavy tail, up to a bound", pareto_rows,
             sizeof(struct pareto_params)},
    .init = size_pareto_init,
    .draw = size_pareto_draw,
};
