/* mpi_stack_priv.h -- a stack for each rank, and the switch between it and the simulator. */
#ifndef LOAD_MPI_MPI_STACK_PRIV_H
#define LOAD_MPI_MPI_STACK_PRIV_H

#include <stdbool.h>
#include <stddef.h>

/* One of the two is running: `here` is where the other one goes on. */
struct mpi_stack {
    void *here;
    char *base; /* of the mapping, whose lowest page cannot be touched */
    size_t size;
    void (*entry)(void *);
    void *arg;
    const void *host; /* the simulator's stack, for sanitizers */
    size_t host_size;
};

/* False: errno says why. `entry` is called with `arg` at the first switch and must not return. The
 * struct must stay where it is. */
bool mpi_stack_open(struct mpi_stack *s, size_t size, void (*entry)(void *), void *arg);
void mpi_stack_close(struct mpi_stack *s);

/* From the simulator to the rank, until that one leaves; and back. */
void mpi_stack_enter(struct mpi_stack *s);
void mpi_stack_leave(struct mpi_stack *s);

#endif
