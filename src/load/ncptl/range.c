/* range.c -- {1, 2, 4, ..., 64} and its relatives, one value at a time. */
#include <math.h>

#include "prog_priv.h"

static int64_t nearest(double d)
{
    return nc_trunc(floor(d + 0.5));
}

static bool arithmetic(struct nc_ev *e, const struct nc_rng *r, struct nc_seq *s)
{
    int64_t prev = nc_int(e, r->e[1]), delta;

    if (__builtin_sub_overflow(prev, s->first, &delta))
        return false;
    for (uint32_t i = 2; i < r->n; i++) {
        int64_t v = nc_int(e, r->e[i]), d;

        if (__builtin_sub_overflow(v, prev, &d) || d != delta)
            return false;
        prev = v;
    }
    s->kind = NC_SEQ_ADD;
    s->step = delta ? delta : 1;
    if (!delta) /* {4, 4, ..., 9}: one value */
        s->last = s->first;
    return true;
}

/* Each value a whole multiple of its neighbour, always the same one. */
static bool geometric(struct nc_ev *e, const struct nc_rng *r, struct nc_seq *s)
{
    bool up = s->first < nc_int(e, r->e[1]);
    int64_t ratio = 0;

    for (uint32_t i = 1; i < r->n; i++) {
        int64_t a = nc_int(e, r->e[i - 1]), b = nc_int(e, r->e[i]);
        int64_t small = up ? a : b, large = up ? b : a;

        if (small <= 0 || large % small || large / small < 2 || (ratio && large / small != ratio))
            return false;
        ratio = large / small;
    }
    s->kind = up ? NC_SEQ_MUL : NC_SEQ_DIV;
    s->step = ratio;
    return true;
}

/* The same in floating-point context, with the average ratio. */
static bool geometric_real(struct nc_ev *e, const struct nc_rng *r, struct nc_seq *s)
{
    double sum = 0, prev = nc_real(e, r->real[0]);

    s->rfirst = prev;
    for (uint32_t i = 1; i < r->n; i++) {
        double v = nc_real(e, r->real[i]);

        if (prev == 0)
            return false;
        sum += v / prev;
        prev = v;
    }
    s->rstep = sum / (r->n - 1);
    if (!(s->rstep > 0) || s->rstep == 1 || !isfinite(s->rstep))
        return false;
    for (uint32_t i = 1; i < r->n; i++)
        if (nearest(nc_real(e, r->real[i - 1]) * s->rstep) != nc_int(e, r->e[i]))
            return false;
    s->kind = NC_SEQ_REAL;
    s->rlast = nc_real(e, r->rlast);
    return true;
}

bool nc_seq_of(struct nc_ev *e, const struct nc_rng *r, struct nc_seq *ret)
{
    struct nc_seq s = {.kind = NC_SEQ_LIST};
    bool ok = true;

    if (r->kind != NR_ELLIPSIS) {
        *ret = s;
        return true;
    }
    s.first = nc_int(e, r->e[0]);
    s.last = nc_int(e, r->last);
    if (r->n == 1) {
        s.kind = NC_SEQ_ADD;
        s.step = s.first <= s.last ? 1 : -1;
    } else {
        ok =
            arithmetic(e, r, &s) || (r->n > 2 && (geometric(e, r, &s) || geometric_real(e, r, &s)));
    }
    if (e->bad)
        return false;
    if (!ok) {
        e->now = r->e[0];
        nc_ev_fail(e, NCF_PATTERN, s.first, s.last);
        return false;
    }
    *ret = s;
    return true;
}

static bool real_at(const struct nc_seq *s, int64_t i, int64_t prev, int64_t *ret)
{
    double v = s->rfirst;

    for (int64_t k = 0; k < i && isfinite(v) && v != 0; k++)
        v *= s->rstep;
    bool falls = (s->rstep < 1) == (s->rfirst > 0);
    if (!isfinite(v) || (falls ? v < s->rlast : v > s->rlast) || fabs(v) > 0x1p62)
        return false;
    *ret = nearest(v);
    return !(i && !*ret && !prev); /* it ends in zeros */
}

bool nc_seq_at(struct nc_ev *e, const struct nc_rng *r, const struct nc_seq *s, int64_t i,
               int64_t prev, int64_t *ret)
{
    int64_t v;

    switch (s->kind) {
    case NC_SEQ_LIST:
        if (i >= r->n)
            return false;
        *ret = nc_int(e, r->e[i]);
        return !e->bad;
    case NC_SEQ_ADD:
        if (__builtin_mul_overflow(i, s->step, &v) || __builtin_add_overflow(v, s->first, &v) ||
            (s->step > 0 ? v > s->last : v < s->last))
            return false;
        break;
    case NC_SEQ_MUL:
        v = s->first;
        if ((i && __builtin_mul_overflow(prev, s->step, &v)) || v > s->last)
            return false;
        break;
    case NC_SEQ_DIV:
        if (i && !prev)
            return false;
        v = i ? prev / s->step : s->first;
        if (v < s->last)
            return false;
        break;
    default:
        return real_at(s, i, prev, ret);
    }
    *ret = v;
    return true;
}

/* ---- all values at once ---- */

static bool burn(struct nc_ev *e)
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

static bool comp_value(void *ctx, int64_t value);

static bool comp_from(struct comp *c)
{
    if (c->gen < c->r->ngens) {
        const struct nc_cgen *g = &c->r->gens[c->gen];

        return nc_values(c->e, g->ranges, g->nranges, comp_value, c);
    }
    if (c->r->where && !nc_true(c->e, c->r->where))
        return false;
    int64_t v = nc_int(c->e, c->r->e[0]);
    return c->e->bad || c->fn(c->ctx, v);
}

static bool comp_value(void *ctx, int64_t value)
{
    struct comp inner = *(struct comp *)ctx;

    inner.e->tmp[inner.r->gens[inner.gen].tmp] = value;
    inner.gen++;
    return comp_from(&inner) || inner.e->bad;
}

static bool seq_values(struct nc_ev *e, const struct nc_rng *r, nc_value_fn *fn, void *ctx)
{
    struct nc_seq s;
    int64_t v = 0;

    if (!nc_seq_of(e, r, &s))
        return true;
    for (int64_t i = 0; nc_seq_at(e, r, &s, i, v, &v); i++)
        if (!burn(e) || fn(ctx, v))
            return true;
    return e->bad != NCF_NONE;
}

bool nc_values(struct nc_ev *e, const struct nc_rng *r, uint32_t n, nc_value_fn *fn, void *ctx)
{
    for (uint32_t i = 0; i < n; i++) {
        struct comp c = {.e = e, .r = &r[i], .fn = fn, .ctx = ctx};

        if (r[i].kind == NR_COMP ? comp_from(&c) : seq_values(e, &r[i], fn, ctx))
            return true;
    }
    return false;
}

static bool is_value(void *ctx, int64_t value)
{
    return value == *(int64_t *)ctx;
}

static bool in_progression(const struct nc_seq *s, int64_t v)
{
    int64_t delta;

    if (s->step > 0 ? v < s->first || v > s->last : v > s->first || v < s->last)
        return false;
    return !__builtin_sub_overflow(v, s->first, &delta) && delta % s->step == 0;
}

bool nc_in_ranges(struct nc_ev *e, const struct nc_rng *r, uint32_t n, int64_t value)
{
    for (uint32_t i = 0; i < n; i++) {
        struct nc_seq s;

        if (r[i].kind == NR_ELLIPSIS) {
            if (!nc_seq_of(e, &r[i], &s))
                return false;
            if (s.kind == NC_SEQ_ADD) {
                if (in_progression(&s, value))
                    return true;
                continue;
            }
        }
        if (nc_values(e, &r[i], 1, is_value, &value))
            return !e->bad;
    }
    return false;
}
