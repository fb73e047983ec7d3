/* topo_slim_fly.c -- the largest known networks of diameter 2 for their degree.
 *
 * Besta and Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network
 * Topology", SC 2014, after McKay, Miller, Siran (1998) and Hafner (2004).
 * q = 4w + d, d in {-1, 0, 1}, q a power of a prime; all sums and products are
 * in the field of q elements. Routers come in two halves:
 *
 *   (0, x, y) -- (0, x, y')   when y - y' is in X
 *   (1, m, c) -- (1, m, c')   when c - c' is in X'
 *   (0, x, y) -- (1, m, c)    when y = m x + c
 *
 *   router = half * q * q + x * q + y          ports: terminals, local, global
 */
#include "net/topo/topo_slim_fly.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "field_priv.h"
#include "topo_priv.h"

enum { LOCAL = TOPO_OWN, GLOBAL };

struct slim_fly {
    struct topo_field field;
    uint32_t nodes, nset;              /* nset: elements of X, and of X' */
    uint16_t set[2][TOPO_FIELD_MAX];   /* X and X', in the order of their powers */
    uint16_t place[2][TOPO_FIELD_MAX]; /* where an element is in its set, plus 1; 0: not */
};

static const struct conf_row rows[] = {
    {.key = "q",
     .type = CONF_U32,
     .offset = offsetof(struct topo_slim_fly_params, q),
     .min = 3,
     .max = TOPO_FIELD_MAX,
     .help = "A power of a prime that leaves 0, 1 or 3 divided by 4; there are 2 q^2 routers."},
    {.key = "nodes",
     .type = CONF_U32,
     .offset = offsetof(struct topo_slim_fly_params, nodes),
     .def = "0",
     .max = 60000,
     .help = "Terminals per router; 0: half of the ports between routers, rounded up."},
    CONF_END,
};

/* d of q = 4w + d. */
static int slim_fly_delta(uint32_t q)
{
    return q % 4 == 3 ? -1 : (int)(q % 4);
}

static void slim_fly_put(struct slim_fly *s, uint32_t which, uint32_t n, uint32_t power)
{
    uint32_t element = s->field.power[power % (s->field.q - 1)];

    s->set[which][n] = (uint16_t)element;
    s->place[which][element] = (uint16_t)(n + 1);
}

/* The generating sets, closed under negation so that "differs by" has no
 * direction. d = 1 and 0: the even powers and the odd ones. d = -1: -1 is an odd
 * power, so each half of the even powers is taken with its negatives. */
static void slim_fly_fill_sets(struct slim_fly *s)
{
    uint32_t q = s->field.q, w = (q + 1) / 4;

    s->nset = (q - (uint32_t)slim_fly_delta(q)) / 2;
    for (uint32_t i = 0; i < s->nset; i++) {
        uint32_t even = slim_fly_delta(q) >= 0 || i < w ? 2 * i : 2 * w - 1 + 2 * (i - w);

        slim_fly_put(s, 0, i, even);
        slim_fly_put(s, 1, i, even + 1);
    }
}

static bool slim_fly_suits(uint32_t q)
{
    struct topo_field f;

    return q >= 3 && q % 4 != 2 && topo_field_init(&f, q);
}

static bool slim_fly_check_q(struct slim_fly *s, uint32_t q, struct wr_err *err)
{
    uint32_t below = q < TOPO_FIELD_MAX ? q : TOPO_FIELD_MAX, above = q;

    if (slim_fly_suits(q)) {
        topo_field_init(&s->field, q);
        slim_fly_fill_sets(s);
        return true;
    }
    while (below > 3 && !slim_fly_suits(below))
        below--;
    while (above < TOPO_FIELD_MAX && !slim_fly_suits(above))
        above++;
    return wr_fail(err, WR_INPUT,
                   "q: %u is not a power of a prime that leaves 0, 1 or 3 divided by 4 (at most "
                   "%u); the nearest are %u and %u",
                   q, TOPO_FIELD_MAX, slim_fly_suits(below) ? below : 3,
                   slim_fly_suits(above) ? above : below);
}

static void slim_fly_plug_local(struct topo *t, const struct slim_fly *s, uint32_t r,
                                uint32_t which)
{
    const struct topo_field *f = &s->field;

    for (uint32_t i = 0; i < s->nset; i++) {
        uint32_t step = s->set[which][i], back = s->place[which][topo_field_neg(f, step)] - 1u;
        uint32_t to = r - r % f->q + topo_field_add(f, r % f->q, step);

        if (to > r)
            topo_cable(t, (struct topo_end){r, (uint16_t)(s->nodes + i)},
                       (struct topo_end){to, (uint16_t)(s->nodes + back)}, LOCAL);
    }
}

static void slim_fly_plug_global(struct topo *t, const struct slim_fly *s, uint32_t r)
{
    const struct topo_field *f = &s->field;
    uint32_t q = f->q, x = r / q, y = r % q, first = s->nodes + s->nset;

    for (uint32_t m = 0; m < q; m++) {
        uint32_t c = topo_field_add(f, y, topo_field_neg(f, topo_field_mul(f, m, x)));

        topo_cable(t, (struct topo_end){r, (uint16_t)(first + m)},
                   (struct topo_end){q * q + m * q + c, (uint16_t)(first + x)}, GLOBAL);
    }
}

static bool slim_fly_build(struct topo *t, struct wr_err *err)
{
    const struct topo_slim_fly_params *p = t->params;
    struct slim_fly s = {.nodes = 0};

    if (!slim_fly_check_q(&s, p->q, err))
        return false;
    uint32_t q = p->q, degree = s.nset + q, nrouters = 2 * q * q;

    s.nodes = p->nodes ? p->nodes : (degree + 1) / 2;
    if (!topo_check_size(nrouters, (uint64_t)s.nodes + degree, (uint64_t)nrouters * s.nodes, err))
        return false;
    topo_alloc(t, nrouters, s.nodes + degree, nrouters * s.nodes, 2 * q);
    t->class_name[LOCAL] = "local";
    t->class_name[GLOBAL] = "global";
    t->nclasses = GLOBAL + 1;
    for (uint32_t r = 0; r < nrouters; r++) {
        uint32_t half = r / (q * q);

        t->group[r] = r / q;
        for (uint32_t n = 0; n < s.nodes; n++)
            topo_attach(t, r * s.nodes + n, (struct topo_end){r, (uint16_t)n});
        slim_fly_plug_local(t, &s, r, half);
        if (!half)
            slim_fly_plug_global(t, &s, r);
    }
    t->priv = wr_alloc(sizeof s);
    *(struct slim_fly *)t->priv = s;
    return true;
}

static void slim_fly_fini(struct topo *t)
{
    free(t->priv);
}

/* The port from `here` to `to` if a cable joins them, else TOPO_NONE. */
static uint32_t slim_fly_port_between(const struct slim_fly *s, uint32_t here, uint32_t to)
{
    const struct topo_field *f = &s->field;
    uint32_t q = f->q, half = here / (q * q), first = s->nodes + s->nset;
    uint32_t hx = here / q % q, hy = here % q, tx = to / q % q, ty = to % q;

    if (half == to / (q * q)) {
        uint32_t step = topo_field_add(f, ty, topo_field_neg(f, hy));

        return hx == tx && s->place[half][step] ? s->nodes + s->place[half][step] - 1u : TOPO_NONE;
    }
    uint32_t y = half ? ty : hy, c = half ? hy : ty;

    return topo_field_add(f, topo_field_mul(f, hx, tx), c) == y ? first + tx : TOPO_NONE;
}

static uint32_t slim_fly_next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    const struct slim_fly *s = t->priv;
    struct topo_ports ret = {.v = ports};
    uint32_t direct = slim_fly_port_between(s, here, dst);

    if (direct != TOPO_NONE) {
        topo_ports_put(&ret, direct);
        return ret.n;
    }
    for (uint32_t p = s->nodes; p < t->nports; p++)
        if (slim_fly_port_between(s, topo_port(t, here, p)->peer, dst) != TOPO_NONE)
            topo_ports_put(&ret, p);
    return ret.n;
}

static void slim_fly_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_slim_fly_params *p = t->params;
    uint64_t q = p->q, routers = 2 * q * q;
    uint32_t degree = (uint32_t)((3 * (int64_t)q - slim_fly_delta(p->q)) / 2);

    *ret = (struct topo_facts){
        .terminals = routers * (p->nodes ? p->nodes : (degree + 1) / 2),
        .routers = routers,
        .cables = routers * degree / 2,
        .degree = degree,
        .diameter = 2,
    };
}

static void slim_fly_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX])
{
    const struct topo_slim_fly_params *p = t->params;

    snprintf(name, TOPO_NAME_MAX, "%u.%u.%u", router / p->q / p->q, router / p->q % p->q,
             router % p->q);
}

const struct topo_ops topo_slim_fly = {
    .kind = {.name = "slim-fly",
             .summary = "nearly the most routers that can be two hops apart",
             .rows = rows,
             .params_size = sizeof(struct topo_slim_fly_params)},
    .build = slim_fly_build,
    .fini = slim_fly_fini,
    .next = slim_fly_next,
    .facts = slim_fly_facts,
    .router_name = slim_fly_router_name,
};
