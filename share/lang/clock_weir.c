/* clock_weir.c -- the clock of a simulation, for programs compiled by weir-cc: time and delays are
 * simulated, and each rank prints its own output. */

uint64_t comm_now_ps(void)
{
    return (uint64_t)(MPI_Wtime() * 1e12 + 0.5);
}

void comm_compute(int64_t nsecs)
{
    weir_compute((double)nsecs / 1000);
}

void comm_sleep(int64_t nsecs)
{
    weir_compute((double)nsecs / 1000);
}

void comm_align(void)
{
}

/* Without messages: the simulation has those of the program only. */
void comm_collect(const struct wr_str *mine, FILE *out)
{
    fwrite(wr_str_get(mine), 1, mine->n, out);
}
