/* normals_priv.h -- many normals asked at once, as an observation and a question need them.
 *
 * Both are dominated by exponentials and tails, so these are done here, four at a time, tails
 * from a table of Taylor series. The compiler makes two instructions of one where the
 * processor has vectors of two.
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

/* So that no group lies across two lines of the cache. */
#define QUAD_ALIGN _Alignas(32)
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
    typedef double pair __attribute__((vector_size(16)));
    pair half = __builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3);

    return half[0] + half[1];
}

QUAD_INLINE quad quad_if(quad_bits yes, quad a, quad b)
{
    return (quad)((yes & (quad_bits)a) | (~yes & (quad_bits)b));
}

/* Added to a number below 2^51 in size, its whole part sits in the low bits of the sum. */
#define NORMALS_ROUND 0x1.8p52

/* exp(-h) for h >= 0, relative error below 1e-12; 0 where it would be less than 1e-304. A power of
 * 2, times the polynomial of degree 8 that errs least from -1/2 to 1/2, even and odd terms side by
 * side. */
QUAD_INLINE quad normals_exp(quad h)
{
    quad y = h * -1.4426950408889634074;
    quad n = y + NORMALS_ROUND, r = y - (n - NORMALS_ROUND), r2 = r * r;
    quad even = 0x1.61afcff7d86c7p-20 * r2 + 0x1.430acca1cd4a3p-13;
    quad odd = 0x1.00dad22c7b4eep-16 * r2 + 0x1.5d87483892c91p-10;

    even = even * r2 + 0x1.3b2ab5c52a45bp-7;
    odd = odd * r2 + 0x1.c6b08dd46d011p-5;
    even = even * r2 + 0x1.ebfbdff9319d0p-3;
    odd = odd * r2 + 0x1.62e42fef86160p-1;
    even = even * r2 + 0x1.ffffffffff7a3p-1;
    return (quad)(((quad_bits)(even + odd * r) + ((quad_bits)n << 52)) & (quad_bits)(h < 700.0));
}

/* exp(-z^2/2) of x in four normals. */
QUAD_INLINE quad normals_bells(quad mu, quad inv_sd, double x)
{
    quad z = (x - mu) * inv_sd;

    return normals_exp(0.5 * z * z);
}

/* The rows of a 4 x 4 matrix become its columns. */
QUAD_INLINE void quad_turn(quad v[QUAD])
{
    quad a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
    quad b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
    quad c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6);
    quad d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);

    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/* The probabilities of more than z; 0 and 1 beyond the table. */
QUAD_INLINE quad normals_above(const double table[TAIL_ROWS][TAIL_TERMS], quad z)
{
    quad_bits below = (quad_bits)(z < 0);
    quad a = quad_if(below, -z, z);
    quad_bits within = (quad_bits)(a < (double)TAIL_END);

    a = (quad)(within & (quad_bits)a);
    quad n = a * TAIL_PER_UNIT + NORMALS_ROUND;
    quad d = a - (n - NORMALS_ROUND) * (1.0 / TAIL_PER_UNIT), d2 = d * d, c[TAIL_TERMS];
    quad_bits row = (quad_bits)n & 0xffff;

    for (int i = 0; i < QUAD; i++) {
        c[i] = quad_load(table[row[i]]);
        c[QUAD + i] = quad_load(table[row[i]] + QUAD);
    }
    quad_turn(c);
    quad_turn(c + QUAD);
    quad q = ((c[0] + c[1] * d) + (c[2] + c[3] * d) * d2) +
             ((c[4] + c[5] * d) + (c[6] + c[7] * d) * d2) * (d2 * d2);

    q = (quad)(within & (quad_bits)q);
    return quad_if(below, 1 - q, q);
}

#endif
