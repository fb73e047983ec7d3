/* size_constant.c -- all messages have the same size. */
#include <stddef.h>

#include "synth_priv.h"

struct constant_params {
    uint64_t bytes;
};

static const struct conf_row constant_rows[] = {
    {"bytes", CONF_BYTES, offsetof(struct constant_params, bytes), "4 KiB", .min = 1, .max = 0x1p40,
     .help = "Size of every message."},
    CONF_END,
};

static bool constant_init(struct synth_size *z, struct wr_err *err)
{
    const struct constant_params *c = z->params;

    (void)err;
    z->mean = (double)c->bytes;
    z->max = c->bytes;
    return true;
}

static uint64_t constant_draw(const struct synth_size *z, struct wr_rng *rng)
{
    (void)rng;
    return z->max;
}

const struct synth_size_ops synth_size_constant = {
    .kind = {"constant", "all messages have the same size", constant_rows,
             sizeof(struct constant_params)},
    .init = constant_init,
    .draw = constant_draw,
};
