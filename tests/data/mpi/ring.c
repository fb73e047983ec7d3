/* Messages around a ring, in all ways there are; every value is checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir.h>

static int me, n, rounds = 3; /* of each rank its own */

static void expect(int is, int want, const char *what)
{
    if (is == want)
        return;
    fprintf(stderr, "rank %d: %s is %d, not %d\n", me, what, is, want);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void blocking(void)
{
    int token = 0;
    MPI_Status status;

    if (me == 0) {
        token = 100;
        MPI_Send(&token, 1, MPI_INT, 1 % n, 7, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, n - 1, 7, MPI_COMM_WORLD, &status);
        expect(token, 100 + n - 1, "the token");
        expect(status.MPI_SOURCE, n - 1, "its source");
    } else {
        MPI_Recv(&token, 1, MPI_INT, me - 1, 7, MPI_COMM_WORLD, &status);
        token++;
        MPI_Send(&token, 1, MPI_INT, (me + 1) % n, 7, MPI_COMM_WORLD);
    }
}

/* Two messages with one tag, waited for in the other order; a larger buffer than needed. */
static void requests(void)
{
    int right = (me + 1) % n, left = (me + n - 1) % n, out[2] = {me, me + 1000}, in[2][4], count,
        which;
    MPI_Request r[4];
    MPI_Status status;

    MPI_Irecv(in[0], 4, MPI_INT, left, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], 4, MPI_INT, left, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[3]);
    out[0] = out[1] = -1; /* weir copies; MPI would not allow it */
    MPI_Wait(&r[1], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(count, 1, "the count");
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    expect(in[0][0], left, "the first");
    expect(in[1][0], left + 1000, "the second");
    MPI_Waitany(4, r, &which, MPI_STATUS_IGNORE);
    expect(which == 2 || which == 3, 1, "a send");
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&me, 1, MPI_INT, left, 5, &out[0], 1, MPI_INT, right, 5, MPI_COMM_WORLD, &status);
    expect(out[0], right, "from the right");
    MPI_Recv(&out[0], 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
}

static void collectives(void)
{
    int sum, max, *all = malloc((size_t)n * sizeof *all), *mine = malloc((size_t)n * sizeof *mine),
                  x = me + 1;
    double d = 0.5;

    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum, n * (n + 1) / 2, "the sum");
    MPI_Reduce(&x, &max, 1, MPI_INT, MPI_MAX, n - 1, MPI_COMM_WORLD);
    if (me == n - 1)
        expect(max, n, "the maximum");
    MPI_Scan(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum, (me + 1) * (me + 2) / 2, "the scan");
    if (me == 2 % n)
        d = 2.25;
    MPI_Bcast(&d, 1, MPI_DOUBLE, 2 % n, MPI_COMM_WORLD);
    expect((int)(d * 4), 9, "the broadcast");
    MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        expect(all[i], i + 1, "the gathered");
        mine[i] = me * 100 + i;
    }
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        expect(all[i], i * 100 + me, "the exchanged");
    MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(all, 1, MPI_INT, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect(x, me + 1, "the scattered");
    free(all);
    free(mine);
}

/* Even and odd ranks, each backwards; and the same tags do not mix. */
static void communicators(void)
{
    MPI_Comm half, twin;
    int rank, size, x = me, got;

    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    expect(size, me % 2 ? n / 2 : (n + 1) / 2, "the half");
    expect(rank, size - 1 - me / 2, "the place");
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, half);
    expect(x, me % 2 ? size * size : size * (size - 1), "the half's sum");
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (me == 0) {
        int a = 1, b = 2;
        MPI_Send(&a, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        MPI_Send(&b, 1, MPI_INT, 1, 9, twin);
    } else if (me == 1) {
        MPI_Recv(&got, 1, MPI_INT, 0, 9, twin, MPI_STATUS_IGNORE);
        expect(got, 2, "from the twin");
        MPI_Recv(&got, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(got, 1, "from the world");
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv)
{
    double t;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (int i = 0; i < rounds; i++) {
        blocking();
        requests();
        collectives();
        communicators();
    }
    t = MPI_Wtime();
    weir_compute(1000);
    t = MPI_Wtime() - t;
    expect((int)(t * 1e6 + 0.5), 1000, "the computed time");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("ring of %d: all is well after %d rounds\n", n, rounds);
    MPI_Finalize();
    return 0;
}
