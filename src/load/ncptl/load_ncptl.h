/* load_ncptl.h -- coNCePTuaL programs as a workload: its operations, for the table in load/kinds.
 */
#ifndef LOAD_NCPTL_LOAD_NCPTL_H
#define LOAD_NCPTL_LOAD_NCPTL_H

#include "load/load.h"

extern const struct load_ops load_ncptl;

#endif
