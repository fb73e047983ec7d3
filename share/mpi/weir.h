/* weir.h -- calls of the simulator that MPI has no equivalent of. */
#ifndef WEIR_H
#define WEIR_H

/* The rank computes for that many microseconds of simulated time. */
void weir_compute(double usecs);

#endif
