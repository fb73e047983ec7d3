/* load_mpi.h -- MPI programs in C as a workload: its operations, for the table in load/kinds. */
#ifndef LOAD_MPI_LOAD_MPI_H
#define LOAD_MPI_LOAD_MPI_H

#include "load/load.h"

extern const struct load_ops load_mpi;

#endif
