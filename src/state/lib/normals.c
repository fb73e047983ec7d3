/* normals.c -- the table of tails. */
#include "normals_priv.h"

#include <math.h>

/* The derivatives of a normal's tail are its density times Hermite polynomials. */
void normals_fill_tails(double table[TAIL_ROWS][TAIL_TERMS])
{
    for (int i = 0; i < TAIL_ROWS; i++) {
        double z = (double)i / TAIL_PER_UNIT, before = 0, hermite = 1;
        double factor = -0.39894228040143267794 * exp(-0.5 * z * z);

        table[i][0] = 0.5 * erfc(z * M_SQRT1_2);
        for (int n = 1; n < TAIL_TERMS; n++) {
            factor /= n == 1 ? 1 : -n;
            table[i][n] = factor * hermite;
            double next = z * hermite - (n - 1) * before;

            before = hermite;
            hermite = next;
        }
    }
}
