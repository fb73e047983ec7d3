/* mpi.c -- a small MPI job with a known volume: prof-mpi-MPICH FILE.
 *
 * Each rank writes 1 MiB alone and 1 MiB together with the others, and reads 1 MiB; between
 * that all wait for rank 0, who sleeps.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    char *buf = malloc(MIB);
    MPI_Status status;
    MPI_File f;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(buf, 'a' + rank, MIB);
    MPI_Offset at = (MPI_Offset)rank * MIB, behind = (MPI_Offset)size * MIB;

    if (argc != 2 ||
        MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f))
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_File_write_at(f, at, buf, MIB, MPI_BYTE, &status);
    MPI_File_write_at_all(f, behind + at, buf, MIB / 8, MPI_DOUBLE, &status);
    MPI_File_read_at(f, at, buf, MIB / 4, MPI_INT, &status);
    MPI_File_sync(f);
    MPI_File_close(&f);
    if (rank == 0)
        usleep(200000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int ok = sum == size * (size - 1) / 2 && buf[0] == 'a' + rank && buf[MIB - 1] == 'a' + rank;

    free(buf);
    MPI_Finalize();
    return ok ? 0 : 8;
}
