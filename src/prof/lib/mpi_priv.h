/* mpi_priv.h -- wrappers of MPI calls, from C and Fortran.
 *
 * Handles are integers in MPICH and pointers in Open MPI, and Fortran passes addresses; all fit a
 * machine word, which is passed through unchanged. MPI calls made inside an MPI call (the C
 * functions behind the Fortran ones) are not counted again.
 */
#ifndef PROF_MPI_PRIV_H
#define PROF_MPI_PRIV_H

#include "lib_priv.h"

typedef uintptr_t lib_word;

LIB_HOT struct lib_call lib_mpi_begin(enum prof_op op, uint32_t row)
{
    struct lib_call c = {.slot = lib_slot()};

    if (c.slot && c.slot->mpi_in_flight)
        c.slot = NULL; /* inside another MPI call */
    if (!c.slot)
        return c;
    lib_move(&c, row);
    if (lib_unlikely(lib.callers))
        c.slot->mpi_path =
            lib_caller_row(__builtin_frame_address(0), __builtin_return_address(0)) + 1;
    __atomic_store_n(&c.slot->mpi_in_flight, prof_in_flight(op, row), __ATOMIC_RELAXED);
    if (lib.clock)
        c.t0 = lib_clock_begin(LIB_BIG, false);
    return c;
}

LIB_HOT void lib_mpi_end(struct lib_call *c, enum prof_op op, uint64_t bytes)
{
    if (!c->slot)
        return;
    __atomic_store_n(&c->slot->mpi_in_flight, 0, __ATOMIC_RELAXED);
    c->slot->path = 0; /* its calls on storage were counted */
    lib_end(c, op, (int64_t)bytes);
}

/* The size of `count` elements of a type. */
uint64_t lib_mpi_bytes(int count, lib_word type);
/* Called after MPI_Init: stores rank and size in the head. */
void lib_mpi_started(void);

#define P0 void
#define P1 lib_word a
#define P2 P1, lib_word b
#define P3 P2, lib_word c
#define P4 P3, lib_word d
#define P5 P4, lib_word e
#define P6 P5, lib_word f
#define P7 P6, lib_word g
#define P8 P7, lib_word h
#define P9 P8, lib_word i
#define P10 P9, lib_word j
#define P12 P10, lib_word k, lib_word l
#define P13 P12, lib_word m
#define A0
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A12 A10, k, l
#define A13 A12, m

#endif
