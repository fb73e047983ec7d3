/* range.c -- the values of ranges such as {1, 2, 4, ..., 64} and of comprehensions.
 *
 * seq.c recognises the patterns. The number of values that one evaluation may visit is bounded by
 * nc_ev.fuel.
 */
#include <assert.h>
#include <stdlib.h>

#include "prog_priv.h"

enum { FEW_TERMS = 64 };

/* The values of the terms before the dots, in `few` when they fit. */
static int64_t *range_terms(struct nc_ev *e, const struct nc_rng *r, int64_t *few)
{
    int64_t *v = r->n <= FEW_TERMS ? few : wr_alloc(r->n * sizeof *v);

    for (uint32_t i = 0; i < r->n; i++)
        v[i] = nc_int(e, r->e[i]);
    return v;
}

static bool range_real(struct nc_ev *e, const struct nc_rng *r, const int64_t *terms,
                       struct nc_seq *ret)
{
    double few[FEW_TERMS], *real = r->n <= FEW_TERMS ? few : wr_alloc(r->n * sizeof *real);

    for (uint32_t i = 0; i < r->n; i++)
        real[i] = nc_real(e, r->real[i]);
    bool ok = nc_seq_real(terms, real, r->n, nc_real(e, r->rlast), ret);

    if (real != few)
        free(real);
    return ok;
}

bool nc_seq_of(struct nc_ev *e, const struct nc_rng *r, struct nc_seq *ret)
{
    struct nc_seq s = {.kind = NC_SEQ_LIST};
    int64_t few[FEW_TERMS];
    bool ok = true;

    assert(r->kind != NR_COMP);
    if (r->kind == NR_ELLIPSIS) {
        int64_t *terms = range_terms(e, r, few), first = terms[0], last = nc_int(e, r->last);

        ok = nc_seq_whole(terms, r->n, last, &s) || (r->n > 2 && range_real(e, r, terms, &s));
        if (terms != few)
            free(terms);
        if (!ok) {
            e->now = r->e[0];
            nc_ev_fail(e, NCF_PATTERN, first, last);
        }
    }
    if (!ok || e->bad)
        return false;
    *ret = s;
    return true;
}

bool nc_seq_at(struct nc_ev *e, const struct nc_rng *r, const struct nc_seq *s, int64_t i,
               int64_t prev, int64_t *ret)
{
    if (s->kind != NC_SEQ_LIST)
        return nc_seq_term(s, i, prev, ret);
    if (i >= r->n)
        return false;
    *ret = nc_int(e, r->e[i]);
    return !e->bad;
}

/* ---- all values at once ---- */

static bool range_use_fuel(struct nc_ev *e)
{
    if (e->fuel-- > 0)
        return true;
    nc_ev_fail(e, NCF_TOO_MANY, 0, 0);
    return false;
}

struct comp {
    struct nc_ev *e;
    const struct nc_rng *r;
    uint32_t gen;
    nc_value_fn *fn;
    void *ctx;
};

static bool range_comp_value(void *ctx, int64_t value);

static bool range_comp_from(struct comp *c)
{
    if (c->gen < c->r->ngens) {
        const struct nc_cgen *g = &c->r->gens[c->gen];

        return nc_values(c->e, g->ranges, g->nranges, range_comp_value, c);
    }
    if (c->r->where && !nc_true(c->e, c->r->where))
        return false;
    int64_t v = nc_int(c->e, c->r->e[0]);
    return c->e->bad || c->fn(c->ctx, v);
}

static bool range_comp_value(void *ctx, int64_t value)
{
    struct comp inner = *(struct comp *)ctx;

    inner.e->tmp[inner.r->gens[inner.gen].tmp] = value;
    inner.gen++;
    return range_comp_from(&inner) || inner.e->bad;
}

static bool range_seq_values(struct nc_ev *e, const struct nc_rng *r, nc_value_fn *fn, void *ctx)
{
    struct nc_seq s;
    int64_t v = 0;

    if (!nc_seq_of(e, r, &s))
        return true;
    for (int64_t i = 0; nc_seq_at(e, r, &s, i, v, &v); i++)
        if (!range_use_fuel(e) || fn(ctx, v))
            return true;
    return e->bad != NCF_NONE;
}

bool nc_values(struct nc_ev *e, const struct nc_rng *r, uint32_t n, nc_value_fn *fn, void *ctx)
{
    for (uint32_t i = 0; i < n; i++) {
        struct comp c = {.e = e, .r = &r[i], .fn = fn, .ctx = ctx};

        if (r[i].kind == NR_COMP ? range_comp_from(&c) : range_seq_values(e, &r[i], fn, ctx))
            return true;
    }
    return false;
}

static bool range_is_value(void *ctx, int64_t value)
{
    return value == *(int64_t *)ctx;
}

bool nc_in_ranges(struct nc_ev *e, const struct nc_rng *r, uint32_t n, int64_t value)
{
    for (uint32_t i = 0; i < n; i++) {
        struct nc_seq s;

        if (r[i].kind == NR_ELLIPSIS) {
            if (!nc_seq_of(e, &r[i], &s))
                return false;
            if (s.kind == NC_SEQ_ADD) {
                if (nc_seq_has(&s, value))
                    return true;
                continue;
            }
        }
        if (nc_values(e, &r[i], 1, range_is_value, &value))
            return !e->bad;
    }
    return false;
}
