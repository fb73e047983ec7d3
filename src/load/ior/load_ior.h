/* load_ior.h -- IOR command lines as a workload: its operations, for the table in load/kinds. */
#ifndef LOAD_IOR_LOAD_IOR_H
#define LOAD_IOR_LOAD_IOR_H

#include "load/load.h"

extern const struct load_ops load_ior;

#endif
