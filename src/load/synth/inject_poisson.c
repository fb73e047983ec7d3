/* inject_poisson.c -- gaps are exponential: messages come at any time alike. */
#include "synth_priv.h"

static uint64_t poisson_gap(const struct synth_inject *in, struct synth_source *s)
{
    return synth_ps_round(synth_ps_from(in->mean_ps * wr_rng_exp(&s->rng)), s);
}

const struct synth_inject_ops synth_inject_poisson = {
    .kind = {"poisson", "exponential gaps: messages come at any time alike", NULL, 0},
    .gap = poisson_gap,
};
