/* field.c -- builds the tables of a finite field: finds a primitive polynomial by trying all. */
#include "field_priv.h"

#include <stddef.h>

static uint32_t field_add(const struct topo_field *f, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;

    for (uint32_t place = 1; place < f->q; place *= f->p)
        sum += (a / place + b / place) % f->p * place;
    return sum;
}

static uint32_t field_scale(const struct topo_field *f, uint32_t a, uint32_t digit)
{
    uint32_t ret = 0;

    for (uint32_t place = 1; place < f->q; place *= f->p)
        ret += a / place % f->p * digit % f->p * place;
    return ret;
}

/* One step in the powers of a candidate. In a prime field the candidate is the
 * number `c`; in an extension it is the polynomial x, and x^n is replaced by
 * the polynomial `c` of lower degree. */
static uint32_t field_times_candidate(const struct topo_field *f, uint32_t a, uint32_t c)
{
    if (f->n == 1)
        return a * c % f->p;
    uint32_t top = f->q / f->p;

    return field_add(f, a % top * f->p, field_scale(f, c, a / top));
}

/* Do the powers of the candidate run through all elements but 0? Then it is
 * primitive, and what was reduced by is irreducible. */
static bool field_is_primitive(struct topo_field *f, uint32_t c)
{
    uint32_t a = 1;

    for (uint32_t i = 0; i < f->q - 1; i++) {
        if (!a || (i && a == 1))
            return false;
        f->power[i] = (uint16_t)a;
        f->log[a] = (uint16_t)i;
        a = field_times_candidate(f, a, c);
    }
    return a == 1;
}

static void field_fill_sums(struct topo_field *f)
{
    for (uint32_t a = 0; a < f->q; a++)
        for (uint32_t b = 0; b < f->q; b++) {
            f->sum[a][b] = (uint8_t)field_add(f, a, b);
            if (!f->sum[a][b])
                f->neg[a] = (uint8_t)b;
        }
}

bool topo_field_init(struct topo_field *f, uint32_t q)
{
    uint32_t p = 2, n = 0, rest = q;

    if (q < 2 || q > TOPO_FIELD_MAX)
        return false;
    while (q % p)
        p++;
    for (; rest % p == 0; rest /= p)
        n++;
    if (rest != 1)
        return false;
    *f = (struct topo_field){.q = q, .p = p, .n = n};
    for (uint32_t c = 1; c < q; c++)
        if (field_is_primitive(f, c)) {
            field_fill_sums(f);
            return true;
        }
    return false; /* every finite field has a primitive element */
}
