/* field_priv.h -- arithmetic in the finite field of q = p^n elements.
 *
 * An element is the number whose digits in base p are the coefficients of its
 * polynomial; 0 is zero and 1 is one. Sums are looked up; products add
 * logarithms to the base of a primitive element.
 */
#ifndef NET_TOPO_FIELD_PRIV_H
#define NET_TOPO_FIELD_PRIV_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPO_FIELD_MAX = 256 };

struct topo_field {
    uint32_t q, p, n;
    uint16_t power[TOPO_FIELD_MAX]; /* power[i]: the primitive element to the i, i < q-1 */
    uint16_t log[TOPO_FIELD_MAX];   /* of every element but 0 */
    uint8_t neg[TOPO_FIELD_MAX];
    uint8_t sum[TOPO_FIELD_MAX][TOPO_FIELD_MAX];
};

/* False when q is not a power of a prime, or beyond TOPO_FIELD_MAX. */
bool topo_field_init(struct topo_field *f, uint32_t q);

static inline uint32_t topo_field_add(const struct topo_field *f, uint32_t a, uint32_t b)
{
    return f->sum[a][b];
}

static inline uint32_t topo_field_neg(const struct topo_field *f, uint32_t a)
{
    return f->neg[a];
}

static inline uint32_t topo_field_mul(const struct topo_field *f, uint32_t a, uint32_t b)
{
    return a && b ? f->power[(f->log[a] + f->log[b]) % (f->q - 1)] : 0;
}

#endif
