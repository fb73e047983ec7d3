/* seq.c -- the patterns of {1, 2, 4, ..., 64}, one value at a time.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#include <assert.h>
#include <math.h>

#include "func_math_priv.h"
#include "seq_priv.h"

static int64_t seq_nearest(double d)
{
    return nc_trunc(floor(d + 0.5));
}

static bool seq_arithmetic(const int64_t *terms, uint32_t n, struct nc_seq *s)
{
    int64_t delta, d;

    if (__builtin_sub_overflow(terms[1], terms[0], &delta))
        return false;
    for (uint32_t i = 2; i < n; i++)
        if (__builtin_sub_overflow(terms[i], terms[i - 1], &d) || d != delta)
            return false;
    s->kind = NC_SEQ_ADD;
    s->step = delta ? delta : 1;
    if (!delta) /* {4, 4, ..., 9}: one value */
        s->last = s->first;
    return true;
}

/* Each value a whole multiple of its neighbour, always the same one. */
static bool seq_geometric(const int64_t *terms, uint32_t n, struct nc_seq *s)
{
    bool up = terms[0] < terms[1];
    int64_t ratio = 0;

    for (uint32_t i = 1; i < n; i++) {
        int64_t small = up ? terms[i - 1] : terms[i], large = up ? terms[i] : terms[i - 1];

        if (small <= 0 || large % small || large / small < 2 || (ratio && large / small != ratio))
            return false;
        ratio = large / small;
    }
    s->kind = up ? NC_SEQ_MUL : NC_SEQ_DIV;
    s->step = ratio;
    return true;
}

bool nc_seq_whole(const int64_t *terms, uint32_t n, int64_t last, struct nc_seq *ret)
{
    struct nc_seq s = {.kind = NC_SEQ_ADD, .first = terms[0], .last = last};

    assert(n >= 1);
    if (n == 1)
        s.step = s.first <= s.last ? 1 : -1;
    else if (!seq_arithmetic(terms, n, &s) && (n < 3 || !seq_geometric(terms, n, &s)))
        return false;
    *ret = s;
    return true;
}

/* With the average ratio. */
bool nc_seq_real(const int64_t *terms, const double *real, uint32_t n, double last,
                 struct nc_seq *ret)
{
    struct nc_seq s = {.kind = NC_SEQ_REAL, .first = terms[0], .rfirst = real[0], .rlast = last};
    double sum = 0;

    assert(n >= 3);
    for (uint32_t i = 1; i < n; i++) {
        if (real[i - 1] == 0)
            return false;
        sum += real[i] / real[i - 1];
    }
    s.rstep = sum / (n - 1);
    if (!(s.rstep > 0) || s.rstep == 1 || !isfinite(s.rstep))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (seq_nearest(real[i - 1] * s.rstep) != terms[i])
            return false;
    *ret = s;
    return true;
}

static bool seq_real_term(const struct nc_seq *s, int64_t i, int64_t prev, int64_t *ret)
{
    double v = s->rfirst;

    for (int64_t k = 0; k < i && isfinite(v) && v != 0; k++)
        v *= s->rstep;
    bool falls = (s->rstep < 1) == (s->rfirst > 0);
    if (!isfinite(v) || (falls ? v < s->rlast : v > s->rlast) || fabs(v) > 0x1p62)
        return false;
    *ret = seq_nearest(v);
    return !(i && !*ret && !prev); /* it ends in zeros */
}

bool nc_seq_term(const struct nc_seq *s, int64_t i, int64_t prev, int64_t *ret)
{
    int64_t v = s->first;

    switch (s->kind) {
    case NC_SEQ_ADD:
        if (__builtin_mul_overflow(i, s->step, &v) || __builtin_add_overflow(v, s->first, &v) ||
            (s->step > 0 ? v > s->last : v < s->last))
            return false;
        break;
    case NC_SEQ_MUL:
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
    case NC_SEQ_REAL:
        return seq_real_term(s, i, prev, ret);
    case NC_SEQ_LIST:
        return false;
    }
    *ret = v;
    return true;
}

bool nc_seq_has(const struct nc_seq *s, int64_t v)
{
    int64_t delta;

    assert(s->kind == NC_SEQ_ADD && s->step);
    if (s->step > 0 ? v < s->first || v > s->last : v > s->first || v < s->last)
        return false;
    return !__builtin_sub_overflow(v, s->first, &delta) && delta % s->step == 0;
}
