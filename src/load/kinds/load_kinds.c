/* load_kinds.c -- the table of workloads.
 *
 * A workload X is one file src/load/X/load_X.c, its header load_X.h and its line in LOAD_PLUGINS.
 */
#include "load/kinds/load_kinds.h"

#include "load/goal/load_goal.h"
#include "load/ior/load_ior.h"
#include "load/mpi/load_mpi.h"
#include "load/ncptl/load_ncptl.h"
#include "load/profile/load_profile.h"

#define LOAD_PLUGINS(X) X(ncptl) X(goal) X(ior) X(mpi) X(profile)

#define LOAD_KINDS_OPS(n) &load_##n,
#define LOAD_KINDS_KIND(n) &load_##n.kind,

const struct load_ops *const load_table[] = {LOAD_PLUGINS(LOAD_KINDS_OPS) NULL};
const struct conf_kind *const load_kinds[] = {LOAD_PLUGINS(LOAD_KINDS_KIND) NULL};
