/* clock_mpi.c -- MPI programs on a real machine: a common start, and output collected by rank 0. */

void comm_align(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void comm_collect(const struct wr_str *mine, FILE *out)
{
    enum { PIECE = 1 << 20 };
    char *piece = wr_alloc(PIECE);

    for (size_t at = 0; nc.proc && at <= mine->n; at += PIECE) {
        size_t n = mine->n - at < PIECE ? mine->n - at : PIECE;

        MPI_Send(wr_str_get(mine) + at, (int)n, MPI_BYTE, 0, mpi_most_tag, MPI_COMM_WORLD);
    }
    if (!nc.proc)
        fwrite(wr_str_get(mine), 1, mine->n, out);
    for (int p = 1; !nc.proc && p < nc.tasks; p++) {
        int got = PIECE;

        while (got == PIECE) { /* the last one is shorter */
            MPI_Status status;

            MPI_Recv(piece, PIECE, MPI_BYTE, p, mpi_most_tag, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &got);
            fwrite(piece, 1, (size_t)got, out);
        }
    }
    free(piece);
}
