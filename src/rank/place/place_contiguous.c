/* place_contiguous.c -- the first free nodes, in the machine's order. */
#include <string.h>

#include "place_priv.h"

static bool contiguous_pick(const struct place_ask *ask, uint32_t *picked, struct wr_err *err)
{
    (void)err;
    memcpy(picked, ask->free, ask->nodes * sizeof *picked);
    return true;
}

const struct place_ops place_contiguous = {
    .kind = {"contiguous", "the first free nodes, in the machine's order", NULL, 0},
    .pick = contiguous_pick,
};
