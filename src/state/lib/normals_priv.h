/* normals_priv.h -- many normals asked at once, as an observation and a question need them.
 *
 * Both are dominated by exponentials and tails, so these are done here: exponentials four at a
 * time, tails from a table of Taylor series. The compiler makes two instructions of one where the
 * processor has vectors of two, and nothing is contracted: the same numbers come out on every
 * machine.
 */
#ifndef STATE_LIB_NORMALS_PRIV_H
#define STATE_LIB_NORMALS_PRIV_H

#include <stdint.h>
#include <string.h>

/* Tails: 1 - Phi(z) around z = i / TAIL_PER_UNIT, up to TAIL_END; beyond it is below 1e-15. */
enum { TAIL_PER_UNIT = 32, TAIL_END = 8, TAIL_ROWS = TAIL_END * TAIL_PER_UNIT + 1, TAIL_TERMS = 8 };

enum { QUAD = 4 };
typedef double quad __attribute__((vector_size(32)));
typedef uint64_t quad_bits __attribute__((vector_size(32)));
/* In memory: aligned as its numbers are. */
typedef double quad_at __attribute__((vector_size(32), aligned(8), may_alias));

#define QUAD_INLINE static inline __attribute__((always_inline))

void normals_fill_tails(double table[TAIL_ROWS][TAIL_TERMS]);

QUAD_INLINE quad quad_load(const double *from)
{
    return *(const quad_at *)from;
}

QUAD_INLINE void quad_store(double *to, quad v)
{
    *(quad_at *)to = v;
}

QUAD_INLINE double quad_sum(quad v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}

/* exp(-h) for h >= 0, relative error below 1e-11; 1e-304 where it would be less. */
QUAD_INLINE quad normals_exp(quad h)
{
    const double round = 0x1.8p52; /* added, the integer sits in the low bits */
    quad_bits within = (quad_bits)(h < 700.0);
    const quad far = {700, 700, 700, 700};
    quad y = -(quad)((within & (quad_bits)h) | (~within & (quad_bits)far));
    quad n = y * 1.4426950408889634074 + round;
    quad whole = n - round;
    quad r = (y - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
    quad r2 = r * r, r4 = r2 * r2;
    quad low = (1.0 + r) + (1.0 / 2 + 1.0 / 6 * r) * r2;
    quad middle = (1.0 / 24 + 1.0 / 120 * r) + (1.0 / 720 + 1.0 / 5040 * r) * r2;
    quad e = low + (middle + (1.0 / 40320 + 1.0 / 362880 * r) * r4) * r4;

    return (quad)((quad_bits)e + ((quad_bits)n << 52));
}

/* exp(-z^2/2) of x in four normals. */
QUAD_INLINE quad normals_bells(quad mu, quad inv_sd, double x)
{
    quad z = (x - mu) * inv_sd;

    return normals_exp(0.5 * z * z);
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
