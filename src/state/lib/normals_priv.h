/* normals_priv.h -- many normals asked at once, as an observation and a question need them.
 *
 * Both are dominated by exponentials and tails, so these are done here: exponentials two at a time
 * with vectors every processor has, tails from a table of Taylor series. The same numbers come out
 * on every machine.
 */
#ifndef STATE_LIB_NORMALS_PRIV_H
#define STATE_LIB_NORMALS_PRIV_H

#include <stdint.h>
#include <string.h>

/* Tails: 1 - Phi(z) around z = i / TAIL_PER_UNIT, up to TAIL_END; beyond it is below 1e-15. */
enum { TAIL_PER_UNIT = 32, TAIL_END = 8, TAIL_ROWS = TAIL_END * TAIL_PER_UNIT + 1, TAIL_TERMS = 8 };

typedef double normals_pair __attribute__((vector_size(16)));
typedef uint64_t normals_bits __attribute__((vector_size(16)));

void normals_fill_tails(double table[TAIL_ROWS][TAIL_TERMS]);

/* exp(-h) for h >= 0, relative error below 1e-14; 1e-304 where it would be less. */
static inline normals_pair normals_exp(normals_pair h)
{
    const double round = 0x1.8p52; /* added, the integer sits in the low bits */
    normals_bits within = (normals_bits)(h < 700.0);
    normals_pair far = {700, 700};
    normals_pair y = -(normals_pair)((within & (normals_bits)h) | (~within & (normals_bits)far));
    normals_pair n = y * 1.4426950408889634074 + round;
    normals_pair whole = n - round;
    normals_pair r = (y - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
    normals_pair r2 = r * r, r4 = r2 * r2;
    normals_pair low = (1.0 + r) + (1.0 / 2 + 1.0 / 6 * r) * r2;
    normals_pair middle = (1.0 / 24 + 1.0 / 120 * r) + (1.0 / 720 + 1.0 / 5040 * r) * r2;
    normals_pair high =
        (1.0 / 40320 + 1.0 / 362880 * r) + (1.0 / 3628800 + 1.0 / 39916800 * r) * r2;
    normals_pair e = low + (middle + high * r4) * r4;

    return (normals_pair)((normals_bits)e + ((normals_bits)n << 52));
}

/* ret[i] = exp(-z^2/2) of x in normal i, for an even n; ret may have any alignment. */
static inline void normals_bells(double *ret, const double *mu, const double *inv_sd, int n,
                                 double x)
{
    for (int i = 0; i < n; i += 2) {
        normals_pair m, s;

        memcpy(&m, mu + i, sizeof m);
        memcpy(&s, inv_sd + i, sizeof s);
        normals_pair z = (x - m) * s, e = normals_exp(0.5 * z * z);

        memcpy(ret + i, &e, sizeof e);
    }
}

/* The probability of more than z; 0 and 1 beyond the table. */
static inline double normals_above(const double table[TAIL_ROWS][TAIL_TERMS], double z)
{
    double a = z < 0 ? -z : z;

    if (!(a < TAIL_END))
        return z < 0;
    int row = (int)(a * TAIL_PER_UNIT + 0.5);
    const double *c = table[row];
    double d = a - row * (1.0 / TAIL_PER_UNIT), d2 = d * d, d4 = d2 * d2;
    double q = ((c[0] + c[1] * d) + (c[2] + c[3] * d) * d2) +
               ((c[4] + c[5] * d) + (c[6] + c[7] * d) * d2) * d4;

    return z < 0 ? 1 - q : q;
}

#endif
