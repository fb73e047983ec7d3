/* pattern_uniform.c -- every message goes to a random node. */
#include <stddef.h>

#include "synth_priv.h"

struct uniform_params {
    bool self;
};

static const struct conf_row uniform_rows[] = {
    {"self", CONF_BOOL, offsetof(struct uniform_params, self), "false",
     .help = "May a node draw itself; such a message passes through its own router."},
    CONF_END,
};

static bool pattern_uniform_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct uniform_params *u = p->params;

    if (p->nnodes < 2 && !u->self)
        return wr_fail(err, WR_INPUT,
                       "one node has no other node to send to; add nodes or set self: true");
    return true;
}

static uint32_t pattern_uniform_dest(const struct synth_pattern *p, uint32_t src,
                                     struct wr_rng *rng, uint64_t nth)
{
    const struct uniform_params *u = p->params;

    (void)nth;
    if (u->self)
        return wr_rng_below(rng, p->nnodes);
    return synth_other(p->nnodes, src, rng);
}

const struct synth_pattern_ops synth_pattern_uniform = {
    .kind = {"uniform", "every message to a random node", uniform_rows,
             sizeof(struct uniform_params)},
    .init = pattern_uniform_init,
    .dest = pattern_uniform_dest,
};
