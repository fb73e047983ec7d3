/* scaling.h -- how latencies depend on the size of a request, from probes of several sizes.
 *
 * A probe of b bytes takes L + b / B in whatever state, times a slowdown that does not depend on
 * its size. The states that probes of different sizes meet are the same ones, so the medians of the
 * sizes lie on such a line, too, and the part of a probe's latency that is fixed is L / (L + b /
 * B).
 */
#ifndef STATE_SCALING_H
#define STATE_SCALING_H

#include "state/model/model.h"
#include "state/probes.h"

/* What the probes in the files are: size and operation of those chosen, and the line through the
 * medians of all sizes that have STATE_SCALING_LEAST probes of that operation. Rows of other
 * targets, operations and times are left out. */
enum { STATE_SCALING_LEAST = 20 };

bool state_scaling(struct state_probed *ret, char *const *paths, size_t npaths,
                   const struct state_choice *choice, struct wr_err *err);

#endif
