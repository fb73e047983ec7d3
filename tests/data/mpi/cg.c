/* Conjugate gradients for the Laplacian of a line with fixed ends, in blocks of rows: halos by
 * messages, dot products by allreduce. The right-hand side has a known solution, which must come
 * out. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, n, rows = 32;
static double *x, *r, *p, *q; /* with a place for a neighbour's value at both ends */

static void halo(double *v)
{
    MPI_Request req[4];
    int left = me ? me - 1 : MPI_PROC_NULL, right = me < n - 1 ? me + 1 : MPI_PROC_NULL;

    v[0] = v[rows + 1] = 0;
    MPI_Irecv(&v[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req[0]);
    MPI_Irecv(&v[rows + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &req[1]);
    MPI_Isend(&v[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &req[2]);
    MPI_Isend(&v[rows], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req[3]);
    MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
}

static void multiply(double *to, double *from)
{
    halo(from);
    for (int i = 1; i <= rows; i++)
        to[i] = 2 * from[i] - from[i - 1] - from[i + 1];
}

static double dot(const double *a, const double *b)
{
    double mine = 0, all;

    for (int i = 1; i <= rows; i++)
        mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double solution(int i)
{
    return sin(0.1 * i) + 0.01 * i;
}

int main(int argc, char **argv)
{
    double rr, worst = 0, all;
    int steps = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc > 1)
        rows = atoi(argv[1]);
    x = calloc(rows + 2, sizeof *x);
    r = calloc(rows + 2, sizeof *r);
    p = calloc(rows + 2, sizeof *p);
    q = calloc(rows + 2, sizeof *q);
    for (int i = 1; i <= rows; i++)
        q[i] = solution(me * rows + i);
    multiply(r, q); /* the right-hand side; x is 0 */
    for (int i = 1; i <= rows; i++)
        p[i] = r[i];
    for (rr = dot(r, r); rr > 1e-22 && steps < 10 * n * rows; steps++) {
        multiply(q, p);
        double alpha = rr / dot(p, q), next;

        for (int i = 1; i <= rows; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        next = dot(r, r);
        for (int i = 1; i <= rows; i++)
            p[i] = r[i] + next / rr * p[i];
        rr = next;
    }
    for (int i = 1; i <= rows; i++)
        worst = fmax(worst, fabs(x[i] - solution(me * rows + i)));
    MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("cg: %d ranks, %s after %d steps\n", n, all < 1e-7 ? "right" : "WRONG", steps);
    MPI_Finalize();
    return me == 0 && all >= 1e-7;
}
