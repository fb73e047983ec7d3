/* kernel_wide_priv.h -- the kernels for WIDE doubles at once; included once per instruction set.
 *
 * The likelihood of one long series is a product of matrices, which may be cut anywhere:
 * each lane multiplies a stretch of its own, and the stretches' products are joined at the end.
 * That costs k times the arithmetic of the vector recursion and has no chain of
 * dependences between lanes.
 *
 * Before including: WIDE (lanes), KERNELS (name of the function that returns the table), LABEL.
 */
#include <math.h>
#include <string.h>

#include "hmm_priv.h"

typedef double vd __attribute__((vector_size(8 * WIDE)));
typedef int64_t vi __attribute__((vector_size(8 * WIDE)));
#define INLINE static inline __attribute__((always_inline))

INLINE vd all(double x)
{
    return x - (vd){0};
}

INLINE vd pick(vi yes, vd a, vd b)
{
    return (vd)((yes & (vi)a) | (~yes & (vi)b));
}

/* exp for x <= 0; below -708 it is 0. The error is less than one unit in the last place or two:
 * |r| <= ln(2)/2, where the thirteenth term of the series is below 2e-16. */
INLINE vd vexp(vd x)
{
    const double log2e = 1.44269504088896340736, magic = 0x1.8p52;
    const double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;
    vi dead = x < -708;
    vd t = pick(dead, all(0), x) * log2e + magic;
    vi n = (vi)t << 52; /* the low bits of t are the integer */
    vd k = t - magic;
    vd r = (x - k * ln2_hi) - k * ln2_lo;
    vd p = all(1.0 / 479001600);

    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return pick(dead, all(0), (vd)((vi)p + n));
}

/* Relative densities of k states for lanes of x; returns the largest's logarithm. */
INLINE vd densities(const int k, vd *b, vd x, const struct hmm_normal *e)
{
    vd most = all(0);

    for (int s = 0; s < k; s++) {
        vd z = (x - e->mu[s]) * e->isd[s];

        b[s] = e->add[s] - 0.5 * z * z;
        most = s ? pick(b[s] > most, b[s], most) : b[s];
    }
    vi missing = x != x; /* NaN */ // NOLINT(misc-redundant-expression)

    for (int s = 0; s < k; s++)
        b[s] = pick(missing, all(1), vexp(b[s] - most));
    return pick(missing, all(0), most);
}

INLINE double lanes_sum(vd v)
{
    double s = 0;

    for (int l = 0; l < WIDE; l++)
        s += v[l];
    return s;
}

INLINE double emit_k(const int k, double *b, const double *x, size_t n, const struct hmm_normal *e)
{
    vd sum = all(0);

    for (size_t i = 0; i < n; i += WIDE) {
        size_t have = n - i < WIDE ? n - i : WIDE;
        vd in = all(NAN), out[HMM_STATES];

        memcpy(&in, x + i, have * sizeof *x);
        sum += densities(k, out, in, e);
        for (size_t l = 0; l < have; l++)
            for (int s = 0; s < k; s++)
                b[(i + l) * (size_t)k + (size_t)s] = out[s][l];
    }
    return lanes_sum(sum);
}

static double emit(double *b, const double *x, size_t n, const struct hmm_normal *e, int k)
{
    return HMM_BY_STATES(k, emit_k, b, x, n, e);
}

/* The coefficients of the classes that the lanes are in, side by side. */
struct lanes {
    vd coef[HMM_TERMS][16];
    vd g, c;
    uint32_t cls[WIDE];
    int terms;
};

static void load_classes(struct lanes *to, const struct hmm_view *v, const uint32_t *cls)
{
    int kk = hmm_kk(v->k);

    to->terms = 1;
    for (int l = 0; l < WIDE; l++)
        if (v->classes[cls[l]].terms > to->terms)
            to->terms = v->classes[cls[l]].terms;
    for (int l = 0; l < WIDE; l++) {
        const struct hmm_class *c = &v->classes[cls[l]];
        const double *coef = v->coef + (size_t)c->coef * (size_t)kk;

        to->cls[l] = cls[l];
        to->g[l] = c->g;
        to->c[l] = c->terms > 1 ? c->c : 0;
        for (int t = 0; t < to->terms; t++)
            for (int j = 0; j < v->k * v->k; j++)
                to->coef[t][j][l] = t < c->terms ? coef[t * kk + j] : 0;
    }
}

INLINE uint32_t class_at(const struct hmm_view *v, size_t i)
{
    return v->dt[i] < 0 ? 0 : v->id ? v->cls[v->id[i]] : 1;
}

/* Brings the product back into range by a power of two, which costs no logarithm. */
INLINE void rescale(const int k, vd *m, vi *exponent)
{
    vd sum = m[0];

    for (int j = 1; j < k * k; j++)
        sum += m[j];
    vi e = ((vi)sum >> 52) - 1023;
    vd down = (vd)((1023 - e) << 52);

    *exponent += e;
    for (int j = 0; j < k * k; j++)
        m[j] *= down;
}

struct product {
    vd m[16];
    vd sum; /* of logarithms */
    vi exponent;
};

INLINE void multiply(const int k, vd *m, const vd *p, const vd *b)
{
    for (int a = 0; a < k; a++) {
        vd row[4];

        for (int j = 0; j < k; j++) {
            vd s = m[a * k] * p[j];

            for (int l = 1; l < k; l++)
                s += m[a * k + l] * p[l * k + j];
            row[j] = s * b[j];
        }
        for (int j = 0; j < k; j++)
            m[a * k + j] = row[j];
    }
}

INLINE void stretch(const int k, struct product *to, const struct hmm_view *v, size_t len)
{
    struct lanes at;
    uint32_t cls[WIDE];
    vd m[16], b[4], sum = all(0), total = all(0);
    vi exponent = {0};

    for (int j = 0; j < k * k; j++)
        m[j] = all(j % (k + 1) ? 0 : 1);
    for (int l = 0; l < WIDE; l++)
        cls[l] = class_at(v, (size_t)l * len);
    load_classes(&at, v, cls);
    for (size_t i = 0; i < len; i++) {
        vd x, dt;
        uint32_t differ = 0;

        for (int l = 0; l < WIDE; l++) {
            cls[l] = class_at(v, (size_t)l * len + i);
            differ |= cls[l] ^ at.cls[l];
            x[l] = v->x[(size_t)l * len + i];
        }
        if (differ)
            load_classes(&at, v, cls);
        sum += densities(k, b, x, v->normal);
        if (at.terms == 1) {
            multiply(k, m, at.coef[0], b);
        } else {
            vd p[16];

            for (int l = 0; l < WIDE; l++)
                dt[l] = v->dt[(size_t)l * len + i];
            vd d = dt - at.g;

            sum -= at.c * d;
            for (int j = 0; j < k * k; j++) {
                vd s = at.coef[at.terms - 1][j];

                for (int t = at.terms - 2; t >= 0; t--)
                    s = s * d + at.coef[t][j];
                p[j] = s;
            }
            multiply(k, m, p, b);
        }
        if ((i & 3) == 3)
            rescale(k, m, &exponent);
        if ((i & 511) == 511) { /* sums of stretches, so that long series lose no digit */
            total += sum;
            sum = all(0);
        }
    }
    rescale(k, m, &exponent);
    memcpy(to->m, m, sizeof m);
    to->sum = total + sum;
    to->exponent = exponent;
}

/* The stretches in order, and what is left over after them. */
INLINE bool loglik_k(const int k, double *ret, const struct hmm_view *v)
{
    size_t len = v->n / WIDE;
    struct product p;
    double alpha[4] = {1}, sum;

    stretch(k, &p, v, len);
    sum = lanes_sum(p.sum);
    for (size_t l = 0; l < WIDE + (v->n - len * WIDE); l++) {
        double next[4], total = 0, mat[16];
        vd b[4];

        if (l < WIDE) {
            sum += (double)p.exponent[l] * 0.69314718055994530942;
            for (int j = 0; j < k * k; j++)
                mat[j] = p.m[j][l];
        } else {
            size_t i = len * WIDE + l - WIDE;
            const struct hmm_class *c = &v->classes[class_at(v, i)];
            double tmp[16], d = v->dt[i] - c->g;
            const double *step = hmm_step_matrix(tmp, c, v->coef, d, hmm_kk(k));
            vd most = densities(k, b, all(v->x[i]), v->normal);

            sum += most[0] - (c->terms > 1 ? c->c * d : 0);
            for (int j = 0; j < k * k; j++)
                mat[j] = step[j] * b[j % k][0];
        }
        for (int j = 0; j < k; j++) {
            next[j] = 0;
            for (int a = 0; a < k; a++)
                next[j] += alpha[a] * mat[a * k + j];
            total += next[j];
        }
        if (!(total > 1e-250 && total < 1e250))
            return false;
        sum += log(total);
        for (int j = 0; j < k; j++)
            alpha[j] = next[j] / total;
    }
    *ret = sum;
    return isfinite(sum);
}

static bool loglik(double *ret, const struct hmm_view *v)
{
    if (v->n < 64)
        return false;
    switch (v->k) {
    case 2:
        return loglik_k(2, ret, v);
    case 3:
        return loglik_k(3, ret, v);
    case 4:
        return loglik_k(4, ret, v);
    default:
        return false;
    }
}

const struct hmm_kernels *KERNELS(void)
{
    static const struct hmm_kernels table = {LABEL, emit, loglik};

    return &table;
}
