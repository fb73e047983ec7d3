/* launched.h -- the link to the processes that a launcher has started together with this one. */
#ifndef SIM_LAUNCHED_H
#define SIM_LAUNCHED_H

#include "base/err.h"
#include "sim/link.h"

/* Opens the link to the other processes that mpirun, mpiexec or srun has started; *ret is NULL if
 * this is the only one. The environment variable WEIR_MPI names the MPI where the launcher does
 * not, or is the path of the shared object to load. */
bool sim_link_launched(struct sim_link **ret, struct wr_err *err);

#endif
