/* kernel_wide_priv.h -- the kernels for WIDE doubles at once; included once per instruction set.
 *
 * The likelihood of one long series is a product of matrices, which may be cut anywhere:
 * each lane multiplies a stretch of its own, and the stretches' products are joined at the end.
 * That costs k times the arithmetic of the vector recursion and has no chain of
 * dependences between lanes.
 *
 * Densities are ratios to that of the state with the widest spread, where they have a bound:
 * one exponential less, and no maximum to look for. Logarithms are to base 2, so that an
 * exponential needs no reduction beyond taking off the integer.
 *
 * Before including: WIDE (lanes), KERNELS (name of the function that returns the table), LABEL.
 */
#include <math.h>
#include <string.h>

#include "hmm_priv.h"

typedef double vd __attribute__((vector_size(8 * WIDE)));
typedef int64_t vi __attribute__((vector_size(8 * WIDE)));
#define INLINE static inline __attribute__((always_inline))

static const double log2_e = 1.44269504088896340736, ln_2 = 0.69314718055994530942;

INLINE vd all(double x)
{
    return x - (vd){0};
}

INLINE vd pick(vi yes, vd a, vd b)
{
    return (vd)((yes & (vi)a) | (~yes & (vi)b));
}

/* 2^y for y <= 1000; below -1000 it is 0. The polynomial is the one of degree 10 whose largest
 * relative error from -1/2 to 1/2 is least (2.1e-16), even and odd terms side by side. */
INLINE vd vexp2(vd y)
{
    const double magic = 0x1.8p52; /* added, the integer sits in the low bits */
    vd t = y + magic, r = y - (t - magic), r2 = r * r;
    vd even = all(0x1.e3992178bd0ddp-28), odd = all(0x1.b6740fb0785eap-24);

    even = even * r2 + 0x1.62c157ec7ee12p-20;
    odd = odd * r2 + 0x1.ffcb55e844f93p-17;
    even = even * r2 + 0x1.43091260573e4p-13;
    odd = odd * r2 + 0x1.5d87fe9cc5ce9p-10;
    even = even * r2 + 0x1.3b2ab6fbde0f3p-7;
    odd = odd * r2 + 0x1.c6b08d703d48ap-5;
    even = even * r2 + 0x1.ebfbdff82c3b9p-3;
    odd = odd * r2 + 0x1.62e42fefa3a17p-1;
    even = even * r2 + 1;
    vd p = odd * r + even;

    return (vd)(((vi)p + ((vi)t << 52)) & (vi)(y > -1000));
}

/* Constants of the densities, -z^2/2 in units of ln 2 being -(scale (x - mu))^2. */
struct bells {
    vd mu[HMM_STATES], scale[HMM_STATES], add[HMM_STATES];
    int state[HMM_STATES]; /* which state each place holds: all orders are alike to a product */
};

INLINE void bells_set(const int k, struct bells *to, const struct hmm_normal *e)
{
    for (int s = 0; s < k; s++) {
        int from = to->state[s];

        to->mu[s] = all(e->mu[from]);
        to->scale[s] = all(e->isd[from] * sqrt(0.5 * log2_e));
        to->add[s] = all(e->add[from] * log2_e);
    }
}

/* In the order of the model. */
INLINE void bells_plain(const int k, struct bells *to, const struct hmm_normal *e)
{
    for (int s = 0; s < k; s++)
        to->state[s] = s;
    bells_set(k, to, e);
}

/* The widest first, and the others' constants relative to it. False when a ratio to it may grow so
 * much that four of them leave the range. The largest of A(x - a)^2 - B(x - b)^2 for A < B is
 * AB/(B - A) (a - b)^2. */
INLINE bool bells_relative(const int k, struct bells *to, const struct hmm_normal *e)
{
    const double most = 200;
    int wide = 0;

    for (int s = 1; s < k; s++)
        wide = e->isd[s] < e->isd[wide] ? s : wide;
    for (int s = 0; s < k; s++)
        to->state[s] = s ? s - (s <= wide) : wide;
    bells_set(k, to, e);
    for (int s = 1; s < k; s++) {
        double a = to->scale[0][0] * to->scale[0][0], b = to->scale[s][0] * to->scale[s][0];
        double apart = to->mu[s][0] - to->mu[0][0], rise = a * b / (b - a) * apart * apart;

        to->add[s] -= to->add[0];
        if (!(to->add[s][0] + (apart == 0 ? 0 : rise) < most))
            return false;
    }
    return true;
}

/* Relative densities of k states for lanes of x; returns the base-2 logarithm of the largest. */
INLINE vd densities(const int k, vd *b, vd x, const struct bells *e)
{
    vd most = all(0);

    for (int s = 0; s < k; s++) {
        vd z = (x - e->mu[s]) * e->scale[s];

        b[s] = e->add[s] - z * z;
        most = s ? pick(b[s] > most, b[s], most) : b[s];
    }
    vi missing = x != x; /* NaN */ // NOLINT(misc-redundant-expression)

    for (int s = 0; s < k; s++)
        b[s] = pick(missing, all(1), vexp2(b[s] - most));
    return pick(missing, all(0), most);
}

/* The same relative to the first place, whose own ratio is 1 and is left out; nothing missing. */
INLINE vd ratios(const int k, vd *b, vd x, const struct bells *e)
{
    vd z0 = (x - e->mu[0]) * e->scale[0], q0 = z0 * z0;

    for (int s = 1; s < k; s++) {
        vd z = (x - e->mu[s]) * e->scale[s];

        b[s] = vexp2((q0 + e->add[s]) - z * z);
    }
    return e->add[0] - q0;
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
    struct bells bells;
    vd sum = all(0);

    bells_plain(k, &bells, e);
    for (size_t i = 0; i < n; i += WIDE) {
        size_t have = n - i < WIDE ? n - i : WIDE;
        vd in = all(NAN), out[HMM_STATES];

        memcpy(&in, x + i, have * sizeof *x);
        sum += densities(k, out, in, &bells);
        for (size_t l = 0; l < have; l++)
            for (int s = 0; s < k; s++)
                b[(i + l) * (size_t)k + (size_t)s] = out[s][l];
    }
    return lanes_sum(sum) * ln_2;
}

static double wide_emit(double *b, const double *x, size_t n, const struct hmm_normal *e, int k)
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

static void wide_load_classes(struct lanes *to, const struct hmm_view *v, const struct bells *order,
                              const uint32_t *cls)
{
    int k = v->k, kk = hmm_kk(k);

    to->terms = 1;
    for (int l = 0; l < WIDE; l++)
        if (v->classes[cls[l]].terms > to->terms)
            to->terms = v->classes[cls[l]].terms;
    for (int l = 0; l < WIDE; l++) {
        const struct hmm_class *c = &v->classes[cls[l]];
        const double *coef = v->coef + (size_t)c->coef * (size_t)kk;

        to->cls[l] = cls[l];
        to->g[l] = c->g;
        to->c[l] = c->terms > 1 ? c->c * log2_e : 0;
        for (int t = 0; t < to->terms; t++)
            for (int j = 0; j < k * k; j++) {
                int from = order->state[j / k] * k + order->state[j % k];

                to->coef[t][j][l] = t < c->terms ? coef[t * kk + from] : 0;
            }
    }
}

INLINE uint32_t class_at(const struct hmm_view *v, size_t i)
{
    return v->dt[i] < 0 ? 0 : v->id ? v->cls[v->id[i]] : 1;
}

/* Products of matrices, one for each lane's stretch. */
struct product {
    vd m[16];
    vd sum, total; /* of base-2 logarithms: of the last few hundred, of those before */
    vd least;      /* the smallest that a product was before it was brought back into range */
    vi exponent;
};

/* Brings the products back into range by a power of two, which costs no logarithm. */
INLINE void rescale(const int k, struct product *p)
{
    vd sum = p->m[0];

    for (int j = 1; j < k * k; j++)
        sum += p->m[j];
    vi e = ((vi)sum >> 52) - 1023;
    vd down = (vd)((1023 - e) << 52);

    p->least = pick(sum < p->least, sum, p->least);
    p->exponent += e;
    for (int j = 0; j < k * k; j++)
        p->m[j] *= down;
}

/* m <- m p diag(b), b[0] being 1 where it is `relative`. */
INLINE void multiply(const int k, const bool relative, vd *m, const vd *p, const vd *b)
{
    for (int a = 0; a < k; a++) {
        vd row[4];

        for (int j = 0; j < k; j++) {
            vd s = m[a * k] * p[j];

            for (int l = 1; l < k; l++)
                s += m[a * k + l] * p[l * k + j];
            row[j] = relative && !j ? s : s * b[j];
        }
        for (int j = 0; j < k; j++)
            m[a * k + j] = row[j];
    }
}

/* One observation of each lane. */
INLINE void advance(const int k, const bool relative, struct product *to, const struct lanes *at,
                    const struct bells *e, const struct hmm_view *v, size_t i, size_t len)
{
    vd x, b[4];

    for (int l = 0; l < WIDE; l++)
        x[l] = v->x[(size_t)l * len + i];
    to->sum += relative ? ratios(k, b, x, e) : densities(k, b, x, e);
    if (at->terms == 1) {
        multiply(k, relative, to->m, at->coef[0], b);
        return;
    }
    vd p[16], dt;

    for (int l = 0; l < WIDE; l++)
        dt[l] = v->dt[(size_t)l * len + i];
    vd d = dt - at->g;

    to->sum -= at->c * d;
    for (int j = 0; j < k * k; j++) {
        vd s = at->coef[at->terms - 1][j];

        for (int t = at->terms - 2; t >= 0; t--)
            s = s * d + at->coef[t][j];
        p[j] = s;
    }
    multiply(k, relative, to->m, p, b);
}

INLINE void change_classes(struct lanes *at, const struct hmm_view *v, const struct bells *order,
                           size_t i, size_t len, bool always)
{
    uint32_t cls[WIDE], differ = always;

    for (int l = 0; l < WIDE; l++) {
        cls[l] = class_at(v, (size_t)l * len + i);
        differ |= cls[l] ^ at->cls[l];
    }
    if (differ)
        wide_load_classes(at, v, order, cls);
}

/* `grid`: from the second observation on every step is the same. */
INLINE void stretch(const int k, const bool relative, const bool grid, struct product *ret,
                    const struct bells *e, const struct hmm_view *v, size_t len)
{
    struct lanes at = {.terms = 1};
    struct product to = {.least = all(1)};

    for (int j = 0; j < k * k; j++)
        to.m[j] = all(j % (k + 1) ? 0 : 1);
    change_classes(&at, v, e, 0, len, true);
    advance(k, relative, &to, &at, e, v, 0, len);
    change_classes(&at, v, e, 1, len, true);
    if (grid)
        at.terms = 1; /* for the compiler: this holds anyway */
    for (size_t i = 1; i < len; i++) {
        if (!grid)
            change_classes(&at, v, e, i, len, false);
        advance(k, relative, &to, &at, e, v, i, len);
        if ((i & 3) == 3)
            rescale(k, &to);
        if ((i & 511) == 511) { /* sums of stretches, so that long series lose no digit */
            to.total += to.sum;
            to.sum = all(0);
        }
    }
    rescale(k, &to);
    *ret = to;
}

/* The last observations, which are not enough for another one of each lane. */
INLINE double step_alone(const int k, double *mat, const struct hmm_view *v, size_t i)
{
    const struct hmm_class *c = &v->classes[class_at(v, i)];
    double tmp[16], d = v->dt[i] - c->g;
    const double *step = hmm_step_matrix(tmp, c, v->coef, d, hmm_kk(k));
    struct bells plain;
    vd b[4];

    bells_plain(k, &plain, v->normal);
    vd most = densities(k, b, all(v->x[i]), &plain);

    for (int j = 0; j < k * k; j++)
        mat[j] = step[j] * b[j % k][0];
    return most[0] * ln_2 - (c->terms > 1 ? c->c * d : 0);
}

/* alpha <- alpha mat, scaled to sum to 1; adds the logarithm of the scale. */
INLINE bool join(const int k, double *alpha, double *sum, const double *mat)
{
    double next[4], total = 0;

    for (int j = 0; j < k; j++) {
        next[j] = 0;
        for (int a = 0; a < k; a++)
            next[j] += alpha[a] * mat[a * k + j];
        total += next[j];
    }
    for (int j = 0; j < k; j++)
        alpha[j] = next[j] / total;
    *sum += log(total);
    return total > 1e-250 && total < 1e250;
}

/* The stretches in order, and what is left over after them. */
INLINE bool loglik_k(const int k, double *ret, const struct hmm_view *v)
{
    size_t len = v->n / WIDE;
    struct product p;
    struct bells e;
    double alpha[4] = {1}, mat[16], sum = 0;

    if (!v->complete || !bells_relative(k, &e, v->normal)) {
        bells_plain(k, &e, v->normal);
        stretch(k, false, false, &p, &e, v, len);
    } else if (v->grid) {
        stretch(k, true, true, &p, &e, v, len);
    } else {
        stretch(k, true, false, &p, &e, v, len);
    }
    for (int l = 0; l < WIDE; l++) {
        sum += (p.total[l] + p.sum[l] + (double)p.exponent[l]) * ln_2;
        for (int j = 0; j < k * k; j++)
            mat[e.state[j / k] * k + e.state[j % k]] = p.m[j][l];
        if (!(p.least[l] > 1e-250) || !join(k, alpha, &sum, mat))
            return false;
    }
    for (size_t i = len * WIDE; i < v->n; i++) {
        sum += step_alone(k, mat, v, i);
        if (!join(k, alpha, &sum, mat))
            return false;
    }
    *ret = sum;
    return isfinite(sum);
}

static bool wide_loglik(double *ret, const struct hmm_view *v)
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
    static const struct hmm_kernels table = {LABEL, wide_emit, wide_loglik};

    return &table;
}
