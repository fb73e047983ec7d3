/* size_uniform.c -- every size of a range alike. */
#include <stddef.h>

#include "synth_priv.h"

struct uniform_params {
    uint64_t min, max;
};

static const struct conf_row uniform_rows[] = {
    {"min", CONF_BYTES, offsetof(struct uniform_params, min), "1 B", .min = 1, .max = 0x1p40,
     .help = "The smallest message."},
    {"max", CONF_BYTES, offsetof(struct uniform_params, max), "8 KiB", .min = 1, .max = 0x1p40,
     .help = "The largest message."},
    CONF_END,
};

static bool size_uniform_init(struct synth_size *z, struct wr_err *err)
{
    const struct uniform_params *u = z->params;

    if (!synth_size_ordered(u->min, u->max, err))
        return false;
    z->mean = ((double)u->min + (double)u->max) / 2;
    z->max = u->max;
    return true;
}

static uint64_t size_uniform_draw(const struct synth_size *z, struct wr_rng *rng)
{
    const struct uniform_params *u = z->params;
    /* Of a range below 2^40, 64 bits favour no size by more than 2^-24. */
    unsigned __int128 span = u->max - u->min + 1;

    return u->min + (uint64_t)(span * wr_rng_u64(rng) >> 64);
}

const struct synth_size_ops synth_size_uniform = {
    .kind = {"uniform", "every size between min and max alike", uniform_rows,
             sizeof(struct uniform_params)},
    .init = size_uniform_init,
    .draw = size_uniform_draw,
};
