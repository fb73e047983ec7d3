/* inject_bernoulli.c -- in every slot a message starts with the same chance.
 *
 * A slot is the time of a packet on the injection link unless given. Instead of
 * throwing a coin per slot, the number of slots to the next message is drawn at
 * once: it is geometric, K = 1 + floor(ln U / ln(1 - p)), with mean 1/p, so the
 * mean gap is slot/p, whatever the slot.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "synth_priv.h"

struct bernoulli_params {
    double slot_ps;
    uint32_t phase;
};

static const struct conf_row bernoulli_rows[] = {
    {"slot", CONF_TIME, offsetof(struct bernoulli_params, slot_ps), "0 ns", .min = 0, .max = 1e15,
     .help = "Length of a slot; 0: the time of a packet on the injection link."},
    {"phase", CONF_CHOICE, offsetof(struct bernoulli_params, phase), "random",
     .names = synth_phase_names,
     .help = "Slots of a node begin at its own random phase, or those of all nodes in lockstep."},
    CONF_END,
};

static bool bernoulli_init(struct synth_inject *in, struct wr_err *err)
{
    const struct bernoulli_params *b = in->params;

    assert(in->mean_ps > 0);
    if (b->slot_ps > 0)
        in->slot = synth_ps_from(b->slot_ps);
    double slot_ps = (double)in->slot.whole + ldexp((double)in->slot.frac, -64);
    double p = slot_ps / in->mean_ps;

    if (slot_ps < 1)
        return wr_fail(err, WR_INPUT, "a slot of %g ps is below 1 ps; give a longer slot", slot_ps);
    /* The quotient of two nearly equal doubles may pass 1 by rounding. */
    if (p > 1 + 1e-12)
        return wr_fail(err, WR_INPUT,
                       "%.4g messages per slot of %.6g ns are asked for and a slot starts at most "
                       "one; lower the load, shorten the slot or send larger messages",
                       p, slot_ps / 1e3);
    in->own[0] = p >= 1 ? 0 : 1 / log1p(-p);
    return true;
}

static uint64_t bernoulli_gap(const struct synth_inject *in, struct synth_source *s)
{
    const struct bernoulli_params *b = in->params;
    /* 1 - unit() is in (0, 1], so the logarithm is finite. */
    uint64_t slots = (uint64_t)(log(1 - wr_rng_unit(&s->rng)) * in->own[0]);

    if (s->nth)
        return synth_ps_round(synth_ps_times(in->slot, slots + 1), s);
    uint64_t phase = b->phase == SYNTH_PHASE_LOCKSTEP ? 0 : synth_ps_part(in->slot, &s->rng);
    return phase + synth_ps_round(synth_ps_times(in->slot, slots), s);
}

const struct synth_inject_ops synth_inject_bernoulli = {
    .kind = {"bernoulli", "in every slot a message starts with the same chance", bernoulli_rows,
             sizeof(struct bernoulli_params)},
    .init = bernoulli_init,
    .gap = bernoulli_gap,
};
