/* mpi.c -- time in MPI, and MPI-IO, for any MPI library.
 *
 * The MPI functions are resolved at their first call, so that this library does not link to MPI.
 */
#include <dlfcn.h>
#include <errno.h>
#include <time.h>

#include "mpi_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

uint64_t lib_mpi_bytes(int count, lib_word type)
{
    static void *find;
    int size = 0;
    int (*type_size)(lib_word, int *) =
        (int (*)(lib_word, int *))(find ? find : lib_find(&find, "MPI_Type_size"));

    return count > 0 && !type_size(type, &size) && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

#define AROUND(name, n, op, row, bytes)                             \
    int name(P##n);                                                 \
    LIB_API int name(P##n)                                          \
    {                                                               \
        struct lib_call call = lib_mpi_begin(op, row);              \
        int result = LIB_REAL(name)(A##n);                          \
                                                                    \
        lib_mpi_end(&call, op, call.slot && !result ? (bytes) : 0); \
        return result;                                              \
    }

/* Communication: time. */
#define TALK(name, n) AROUND(MPI_##name, n, PROF_META, PROF_ROW_MPI, 0)
TALK(Send, 6)
TALK(Ssend, 6)
TALK(Bsend, 6)
TALK(Rsend, 6)
TALK(Recv, 7)
TALK(Isend, 7)
TALK(Issend, 7)
TALK(Irecv, 7)
TALK(Sendrecv, 12)
TALK(Sendrecv_replace, 9)
TALK(Probe, 4)
TALK(Iprobe, 5)
TALK(Wait, 2)
TALK(Waitall, 3)
TALK(Waitany, 4)
TALK(Waitsome, 5)
TALK(Test, 3)
TALK(Testall, 4)
TALK(Testany, 5)
TALK(Testsome, 5)
TALK(Start, 1)
TALK(Startall, 2)
TALK(Barrier, 1)
TALK(Bcast, 5)
TALK(Reduce, 7)
TALK(Allreduce, 6)
TALK(Reduce_scatter, 6)
TALK(Reduce_scatter_block, 6)
TALK(Scan, 6)
TALK(Exscan, 6)
TALK(Gather, 8)
TALK(Gatherv, 9)
TALK(Scatter, 8)
TALK(Scatterv, 9)
TALK(Allgather, 7)
TALK(Allgatherv, 8)
TALK(Alltoall, 7)
TALK(Alltoallv, 9)
TALK(Alltoallw, 9)
TALK(Ibarrier, 2)
TALK(Ibcast, 6)
TALK(Iallreduce, 7)
TALK(Comm_dup, 2)
TALK(Comm_split, 4)
TALK(Put, 8)
TALK(Get, 8)
TALK(Accumulate, 9)
TALK(Win_fence, 2)
TALK(Win_lock, 4)
TALK(Win_unlock, 2)
TALK(Finalize, 0)

/* MPI-IO. (file, buffer, count, type, ...) and (file, offset, buffer, count, type, ...) */
#define IO(name, n, op, row) AROUND(MPI_File_##name, n, op, row, lib_mpi_bytes((int)c, d))
#define IO_AT(name, n, op, row) AROUND(MPI_File_##name, n, op, row, lib_mpi_bytes((int)d, e))
#define ALONE PROF_ROW_MPI
#define TOGETHER PROF_ROW_MPI_COLL
IO(read, 5, PROF_READ, ALONE)
IO(write, 5, PROF_WRITE, ALONE)
IO(iread, 5, PROF_READ, ALONE)
IO(iwrite, 5, PROF_WRITE, ALONE)
IO(read_shared, 5, PROF_READ, ALONE)
IO(write_shared, 5, PROF_WRITE, ALONE)
IO_AT(read_at, 6, PROF_READ, ALONE)
IO_AT(write_at, 6, PROF_WRITE, ALONE)
IO_AT(iread_at, 6, PROF_READ, ALONE)
IO_AT(iwrite_at, 6, PROF_WRITE, ALONE)
IO(read_all, 5, PROF_READ, TOGETHER)
IO(write_all, 5, PROF_WRITE, TOGETHER)
IO(iread_all, 5, PROF_READ, TOGETHER)
IO(iwrite_all, 5, PROF_WRITE, TOGETHER)
IO(read_ordered, 5, PROF_READ, TOGETHER)
IO(write_ordered, 5, PROF_WRITE, TOGETHER)
IO_AT(read_at_all, 6, PROF_READ, TOGETHER)
IO_AT(write_at_all, 6, PROF_WRITE, TOGETHER)
IO_AT(iread_at_all, 6, PROF_READ, TOGETHER)
IO_AT(iwrite_at_all, 6, PROF_WRITE, TOGETHER)
IO(read_all_begin, 4, PROF_READ, TOGETHER)
IO(write_all_begin, 4, PROF_WRITE, TOGETHER)
IO_AT(read_at_all_begin, 5, PROF_READ, TOGETHER)
IO_AT(write_at_all_begin, 5, PROF_WRITE, TOGETHER)
AROUND(MPI_File_open, 5, PROF_OPEN, TOGETHER, 0)
AROUND(MPI_File_close, 1, PROF_OPEN, TOGETHER, 0)
AROUND(MPI_File_sync, 1, PROF_SYNC, TOGETHER, 0)
AROUND(MPI_File_set_view, 6, PROF_OPEN, TOGETHER, 0)
AROUND(MPI_File_set_size, 2, PROF_OPEN, TOGETHER, 0)
AROUND(MPI_File_preallocate, 2, PROF_OPEN, TOGETHER, 0)

void lib_mpi_started(void)
{
    static void *find_rank, *find_size;
    /* A variable: the program may hold the only live copy of it. */
    void *here = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    void *open_mpi = here ? here : lib_look("ompi_mpi_comm_world");
    lib_word world = open_mpi ? (lib_word)open_mpi : 0x44000000;
    int (*rank)(lib_word, int *) = (int (*)(lib_word, int *))lib_find(&find_rank, "MPI_Comm_rank");
    int (*size)(lib_word, int *) = (int (*)(lib_word, int *))lib_find(&find_size, "MPI_Comm_size");
    int r = -1, n = -1;
    struct timespec t;

    if (!lib_slot() || !lib.head || rank(world, &r) || size(world, &n))
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    lib.head->rank = r;
    lib.head->nranks = n;
    lib.head->mpi_init_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    lib.head->mpi = 1;
}

#define INIT(name, n)                                                  \
    int name(P##n);                                                    \
    LIB_API int name(P##n)                                             \
    {                                                                  \
        struct lib_call call = lib_mpi_begin(PROF_META, PROF_ROW_MPI); \
        int result = LIB_REAL(name)(A##n);                             \
                                                                       \
        lib_mpi_end(&call, PROF_META, 0);                              \
        if (!result)                                                   \
            lib_mpi_started();                                         \
        return result;                                                 \
    }

INIT(MPI_Init, 2)
INIT(MPI_Init_thread, 4)
