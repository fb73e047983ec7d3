/* size_bimodal.c -- small messages and large ones. */
#include <stddef.h>

#include "synth_priv.h"

struct bimodal_params {
    uint64_t small_b, large_b;
    double large_fraction;
};

static const struct conf_row bimodal_rows[] = {
    {"small", CONF_BYTES, offsetof(struct bimodal_params, small_b), "128 B", .min = 1,
     .max = 0x1p40, .help = "Size of a small message."},
    {"large", CONF_BYTES, offsetof(struct bimodal_params, large_b), "64 KiB", .min = 1,
     .max = 0x1p40, .help = "Size of a large message."},
    {"large_fraction", CONF_FRACTION, offsetof(struct bimodal_params, large_fraction), "10 %",
     .min = 0, .max = 1, .help = "Part of the messages that is large."},
    CONF_END,
};

static bool bimodal_init(struct synth_size *z, struct wr_err *err)
{
    const struct bimodal_params *b = z->params;

    if (!synth_size_ordered(b->small_b, b->large_b, err))
        return false;
    z->mean = (double)b->small_b + b->large_fraction * ((double)b->large_b - (double)b->small_b);
    z->max = b->large_b;
    return true;
}

static uint64_t bimodal_draw(const struct synth_size *z, struct wr_rng *rng)
{
    const struct bimodal_params *b = z->params;

    return wr_rng_unit(rng) < b->large_fraction ? b->large_b : b->small_b;
}

const struct synth_size_ops synth_size_bimodal = {
    .kind = {"bimodal", "small messages and a fraction of large ones", bimodal_rows,
             sizeof(struct bimodal_params)},
    .init = bimodal_init,
    .draw = bimodal_draw,
};
