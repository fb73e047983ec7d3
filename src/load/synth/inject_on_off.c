/* inject_on_off.c -- bursts: a Poisson process that a switch interrupts.
 *
 * The switch is on for an exponential time of mean `on`, off for one of mean
 * `off`; messages come while it is on, (on + off)/on times as densely as on
 * average. Kuczura, "The interrupted Poisson process as an overflow process", Bell
 * System Technical Journal 52(3), 1973: the gaps of this process are
 * independent and hyperexponential,
 *
 *   P(gap > t) = p exp(-k1 t) + (1 - p) exp(-k2 t),
 *   k1,2 = (l + a + w +- sqrt((l + a + w)^2 - 4 l w)) / 2,   p = (l - k2) / (k1 - k2),
 *
 * with l the rate while on, a = 1/on, w = 1/off. So a gap costs two draws whatever
 * the bursts are, and nothing need be remembered. The process is
 * stationary: the time to the first message mixes the same exponentials in proportion
 * to the time that they cover.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "synth_priv.h"

struct on_off_params {
    double on_ps, off_ps;
};

static const struct conf_row on_off_rows[] = {
    {"on", CONF_TIME, offsetof(struct on_off_params, on_ps), "10 us", .min = 1, .max = 1e15,
     .help = "Mean length of a burst."},
    {"off", CONF_TIME, offsetof(struct on_off_params, off_ps), "10 us", .min = 1, .max = 1e15,
     .help = "Mean length of the silence between bursts."},
    CONF_END,
};

enum { SHORT_PS, LONG_PS, P_SHORT, P_FIRST_SHORT }; /* of in->own */

static bool on_off_init(struct synth_inject *in, struct wr_err *err)
{
    const struct on_off_params *p = in->params;
    double a = 1 / p->on_ps, w = 1 / p->off_ps;
    double l = (1 + p->off_ps / p->on_ps) / in->mean_ps;
    double sum = l + a + w;
    /* (l - w)^2 + a (a + 2l + 2w) under the root cannot cancel. */
    double k1 = (sum + sqrt((l - w) * (l - w) + a * (a + 2 * l + 2 * w))) / 2;
    double k2 = l * w / k1;
    double share = (l - k2) / (k1 - k2);

    assert(in->mean_ps > 0);
    (void)err;
    in->own[SHORT_PS] = 1 / k1;
    in->own[LONG_PS] = 1 / k2;
    in->own[P_SHORT] = share;
    in->own[P_FIRST_SHORT] = share / k1 / in->mean_ps;
    return true;
}

static uint64_t on_off_gap(const struct synth_inject *in, struct synth_source *s)
{
    bool is_short = wr_rng_unit(&s->rng) < in->own[s->nth ? P_SHORT : P_FIRST_SHORT];
    double mean = in->own[is_short ? SHORT_PS : LONG_PS];

    return synth_ps_round(synth_ps_from(mean * wr_rng_exp(&s->rng)), s);
}

const struct synth_inject_ops synth_inject_on_off = {
    .kind = {"on-off", "bursts: a Poisson process switched on and off", on_off_rows,
             sizeof(struct on_off_params)},
    .init = on_off_init,
    .gap = on_off_gap,
};
