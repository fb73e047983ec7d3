/* launched.h -- was this process started with others, to run one simulation together? */
#ifndef SIM_LAUNCHED_H
#define SIM_LAUNCHED_H

#include "base/err.h"
#include "sim/link.h"

/* The link to the others that mpirun, mpiexec or srun has started; NULL: this one is alone.
 * WEIR_MPI names the MPI where the launcher does not say which it is, or is a path of the shared
 * object that speaks it. */
bool sim_link_launched(struct sim_link **ret, struct wr_err *err);

#endif
