/* synth_grid_priv.h -- nodes laid out on a grid: node = x0 + e0*(x1 + e1*(x2 + ...)). */
#ifndef LOAD_SYNTH_GRID_PRIV_H
#define LOAD_SYNTH_GRID_PRIV_H

#include "base/err.h"
#include "conf/conf.h"

enum { SYNTH_MAX_DIMS = 8 };

/* Does the list of extents hold exactly the nodes? If not, say which three-
 * dimensional grid would. */
bool synth_grid_check(const struct conf_list *extents, uint32_t nnodes, struct wr_err *err);

#endif
