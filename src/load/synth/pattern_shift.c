/* pattern_shift.c -- node i sends to node i + n. */
#include <stddef.h>

#include "synth_priv.h"

struct shift_params {
    uint32_t n;
};

static const struct conf_row shift_rows[] = {
    {"n", CONF_U32, offsetof(struct shift_params, n), "1", .min = 1, .max = 4294967295.0,
     .help = "How far: node i sends to node i + n, around the end."},
    CONF_END,
};

static bool shift_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct shift_params *s = p->params;

    if (s->n % p->nnodes == 0)
        return wr_fail(
            err, WR_INPUT,
            "a shift by %u of %u nodes sends every message back to its source; use another n", s->n,
            p->nnodes);
    return true;
}

static uint32_t shift_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                           uint64_t nth)
{
    const struct shift_params *s = p->params;

    (void)rng;
    (void)nth;
    return (uint32_t)(((uint64_t)src + s->n) % p->nnodes);
}

const struct synth_pattern_ops synth_pattern_shift = {
    .kind = {"shift", "node i to node i + n", shift_rows, sizeof(struct shift_params)},
    .init = shift_init,
    .dest = shift_dest,
};
