/* inject_periodic.c -- one message every mean gap, exactly. */
#include <stddef.h>

#include "synth_priv.h"

struct periodic_params {
    uint32_t phase;
};

static const struct conf_row periodic_rows[] = {
    {"phase", CONF_CHOICE, offsetof(struct periodic_params, phase), "random",
     .names = synth_phase_names,
     .help = "Each node starts at its own random part of the gap, or all in lockstep at once."},
    CONF_END,
};

static uint64_t periodic_gap(const struct synth_inject *in, struct synth_source *s)
{
    const struct periodic_params *p = in->params;

    if (s->nth)
        return synth_ps_round(in->gap, s);
    return p->phase == SYNTH_PHASE_LOCKSTEP ? 0 : synth_ps_part(in->gap, &s->rng);
}

const struct synth_inject_ops synth_inject_periodic = {
    .kind = {"periodic", "one message every mean gap, from a random phase or in lockstep",
             periodic_rows, sizeof(struct periodic_params)},
    .gap = periodic_gap,
};
