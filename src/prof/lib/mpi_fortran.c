/* mpi_fortran.c -- the same calls from Fortran (mpif.h and `use mpi`): lower case, an underscore,
 * all arguments by address, and one more, in which the error comes back. Lengths of texts follow at
 * the end. Some MPIs go on through the C functions, which then do not count, and some do not.
 */
#include <dlfcn.h>

#include "mpi_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static uint64_t fortran_bytes(lib_word count, lib_word type)
{
    static void *look;
    static bool looked;
    int handle = *(const int *)type;

    if (!looked) {
        look = lib_look("MPI_Type_f2c");
        looked = true;
    }
    /* Where handles are integers there is nothing to turn them into. */
    lib_word c = look ? ((lib_word(*)(int))look)(handle) : (lib_word)(unsigned)handle;

    return lib_mpi_bytes(*(const int *)count, c);
}

/* n: arguments in all; error: the one that comes back. */
#define AROUND(name, n, error, op, row, bytes)                                     \
    void name(P##n);                                                               \
    LIB_API void name(P##n)                                                        \
    {                                                                              \
        struct lib_call call = lib_mpi_begin(op, row);                             \
                                                                                   \
        LIB_REAL(name)(A##n);                                                      \
        lib_mpi_end(&call, op, call.slot && !*(const int *)(error) ? (bytes) : 0); \
    }

#define TALK(name, n, error) AROUND(mpi_##name##_, n, error, PROF_META, PROF_ROW_MPI, 0)
TALK(send, 7, g)
TALK(ssend, 7, g)
TALK(bsend, 7, g)
TALK(rsend, 7, g)
TALK(recv, 8, h)
TALK(isend, 8, h)
TALK(issend, 8, h)
TALK(irecv, 8, h)
TALK(sendrecv, 13, m)
TALK(sendrecv_replace, 10, j)
TALK(probe, 5, e)
TALK(iprobe, 6, f)
TALK(wait, 3, c)
TALK(waitall, 4, d)
TALK(waitany, 5, e)
TALK(waitsome, 6, f)
TALK(test, 4, d)
TALK(testall, 5, e)
TALK(testany, 6, f)
TALK(testsome, 6, f)
TALK(start, 2, b)
TALK(startall, 3, c)
TALK(barrier, 2, b)
TALK(bcast, 6, f)
TALK(reduce, 8, h)
TALK(allreduce, 7, g)
TALK(reduce_scatter, 7, g)
TALK(reduce_scatter_block, 7, g)
TALK(scan, 7, g)
TALK(exscan, 7, g)
TALK(gather, 9, i)
TALK(gatherv, 10, j)
TALK(scatter, 9, i)
TALK(scatterv, 10, j)
TALK(allgather, 8, h)
TALK(allgatherv, 9, i)
TALK(alltoall, 8, h)
TALK(alltoallv, 10, j)
TALK(alltoallw, 10, j)
TALK(ibarrier, 3, c)
TALK(ibcast, 7, g)
TALK(iallreduce, 8, h)
TALK(comm_dup, 3, c)
TALK(comm_split, 5, e)
TALK(put, 9, i)
TALK(get, 9, i)
TALK(accumulate, 10, j)
TALK(win_fence, 3, c)
TALK(win_lock, 5, e)
TALK(win_unlock, 3, c)
TALK(finalize, 1, a)

#define IO(name, n, error, op, row) \
    AROUND(mpi_file_##name##_, n, error, op, row, fortran_bytes(c, d))
#define IO_AT(name, n, error, op, row) \
    AROUND(mpi_file_##name##_, n, error, op, row, fortran_bytes(d, e))
#define ALONE PROF_ROW_MPI
#define TOGETHER PROF_ROW_MPI_COLL
IO(read, 6, f, PROF_READ, ALONE)
IO(write, 6, f, PROF_WRITE, ALONE)
IO(iread, 6, f, PROF_READ, ALONE)
IO(iwrite, 6, f, PROF_WRITE, ALONE)
IO(read_shared, 6, f, PROF_READ, ALONE)
IO(write_shared, 6, f, PROF_WRITE, ALONE)
IO_AT(read_at, 7, g, PROF_READ, ALONE)
IO_AT(write_at, 7, g, PROF_WRITE, ALONE)
IO_AT(iread_at, 7, g, PROF_READ, ALONE)
IO_AT(iwrite_at, 7, g, PROF_WRITE, ALONE)
IO(read_all, 6, f, PROF_READ, TOGETHER)
IO(write_all, 6, f, PROF_WRITE, TOGETHER)
IO(iread_all, 6, f, PROF_READ, TOGETHER)
IO(iwrite_all, 6, f, PROF_WRITE, TOGETHER)
IO(read_ordered, 6, f, PROF_READ, TOGETHER)
IO(write_ordered, 6, f, PROF_WRITE, TOGETHER)
IO_AT(read_at_all, 7, g, PROF_READ, TOGETHER)
IO_AT(write_at_all, 7, g, PROF_WRITE, TOGETHER)
IO_AT(iread_at_all, 7, g, PROF_READ, TOGETHER)
IO_AT(iwrite_at_all, 7, g, PROF_WRITE, TOGETHER)
IO(read_all_begin, 5, e, PROF_READ, TOGETHER)
IO(write_all_begin, 5, e, PROF_WRITE, TOGETHER)
IO_AT(read_at_all_begin, 6, f, PROF_READ, TOGETHER)
IO_AT(write_at_all_begin, 6, f, PROF_WRITE, TOGETHER)
AROUND(mpi_file_open_, 7, f, PROF_OPEN, TOGETHER, 0)
AROUND(mpi_file_close_, 2, b, PROF_OPEN, TOGETHER, 0)
AROUND(mpi_file_sync_, 2, b, PROF_SYNC, TOGETHER, 0)
AROUND(mpi_file_set_view_, 8, g, PROF_OPEN, TOGETHER, 0)
AROUND(mpi_file_set_size_, 3, c, PROF_OPEN, TOGETHER, 0)
AROUND(mpi_file_preallocate_, 3, c, PROF_OPEN, TOGETHER, 0)

#define INIT(name, n, error)                                           \
    void name(P##n);                                                   \
    LIB_API void name(P##n)                                            \
    {                                                                  \
        struct lib_call call = lib_mpi_begin(PROF_META, PROF_ROW_MPI); \
                                                                       \
        LIB_REAL(name)(A##n);                                          \
        lib_mpi_end(&call, PROF_META, 0);                              \
        if (!*(const int *)(error))                                    \
            lib_mpi_started();                                         \
    }

INIT(mpi_init_, 1, a)
INIT(mpi_init_thread_, 3, c)
