/* expm.c -- transition probabilities exp(Q dt) and the adjoint of that function.
 *
 * Q has a negative diagonal only. With c = -min(diag) the matrix A = Q + cI has no
 * negative entry, exp(Q dt) = exp(-c dt) exp(A dt), and neither the Taylor series of the
 * right side nor the squarings subtract anything: every entry, however small, is right to a few
 * units in the last place times the number of squarings. Rates at their lower bound
 * make entries of 1e-12 that a likelihood may hinge on, so this matters.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "hmm_priv.h"

double hmm_shift(const double *q, int k)
{
    double c = 0;

    for (int i = 0; i < k; i++)
        c = fmax(c, -q[i * k + i]);
    return c;
}

void hmm_matmul(double *restrict out, const double *a, const double *b, int k)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            double s = 0;

            for (int l = 0; l < k; l++)
                s += a[i * k + l] * b[l * k + j];
            out[i * k + j] = s;
        }
}

/* Halvings until c dt is at most 1/2, where 16 terms of the series are enough. */
static int expm_halvings(double cdt)
{
    int s;

    if (!(cdt > 0.5))
        return 0;
    frexp(cdt, &s);
    s += 1;
    return s > 1000 ? 1000 : s;
}

enum { TERMS = 16 };

static void expm_rows_to_one(double *p, int k)
{
    for (int i = 0; i < k; i++) {
        double s = 0;

        for (int j = 0; j < k; j++)
            s += p[i * k + j];
        for (int j = 0; j < k; j++)
            p[i * k + j] /= s;
    }
}

/* exp(Q h) for small c h, by Horner's rule. */
static void expm_small(double *ret, const double *q, int k, double c, double h)
{
    double a[HMM_STATES * HMM_STATES], t[HMM_STATES * HMM_STATES];

    for (int i = 0; i < k * k; i++)
        a[i] = q[i] * h;
    for (int i = 0; i < k; i++)
        a[i * k + i] = fmax(a[i * k + i] + c * h, 0);
    memset(ret, 0, sizeof *ret * (size_t)(k * k));
    for (int m = TERMS; m >= 1; m--) {
        for (int i = 0; i < k; i++)
            ret[i * k + i] += 1;
        hmm_matmul(t, a, ret, k);
        for (int i = 0; i < k * k; i++)
            ret[i] = t[i] / m;
    }
    for (int i = 0; i < k; i++)
        ret[i * k + i] += 1;
    expm_rows_to_one(ret, k); /* divides by exp(c h) */
}

void hmm_expm(double *ret, const double *q, int k, double dt)
{
    assert(k >= 1 && k <= HMM_STATES);
    double c = hmm_shift(q, k), t[HMM_STATES * HMM_STATES];
    int s = expm_halvings(c * dt);

    expm_small(ret, q, k, c, ldexp(dt, -s));
    for (; s > 0; s--) {
        hmm_matmul(t, ret, ret, k);
        memcpy(ret, t, sizeof *t * (size_t)(k * k));
        expm_rows_to_one(ret, k);
    }
}

/* The pair (E, L) for a short step: E = exp(B h), L = integral of exp(B u) V exp(B (h - u)), both
 * as series of non-negative terms; B = Q transposed. */
static void expm_adjoint_small(double *e, double *l, const double *b, int k, double c, double h,
                               const double *v)
{
    enum { KK = HMM_STATES * HMM_STATES };
    double a[KK], pow[KK] = {0}, d[KK] = {0}, t[KK], scale = exp(-c * h), fact = 1;
    int kk = k * k;

    memcpy(a, b, sizeof *a * (size_t)kk);
    for (int i = 0; i < k; i++) {
        a[i * k + i] = fmax(a[i * k + i] + c, 0);
        pow[i * k + i] = 1;
    }
    memcpy(e, pow, sizeof *e * (size_t)kk);
    memset(l, 0, sizeof *l * (size_t)kk);
    for (int m = 1; m <= TERMS; m++) {
        /* d_m = d_{m-1} A + A^{m-1} V */
        hmm_matmul(t, d, a, k);
        hmm_matmul(d, pow, v, k);
        for (int i = 0; i < kk; i++)
            d[i] += t[i];
        hmm_matmul(t, pow, a, k);
        memcpy(pow, t, sizeof *t * (size_t)kk);
        fact *= h / m;
        for (int i = 0; i < kk; i++) {
            e[i] += pow[i] * fact;
            l[i] += d[i] * fact;
        }
    }
    for (int i = 0; i < kk; i++) {
        e[i] *= scale;
        l[i] *= scale;
    }
}

void hmm_expm_adjoint(double *ret, const double *q, int k, double dt, const double *v)
{
    enum { KK = HMM_STATES * HMM_STATES };
    double c = hmm_shift(q, k), b[KK], e[KK], t[KK], u[KK];
    int s = expm_halvings(c * dt);

    assert(k >= 1 && k <= HMM_STATES);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            b[i * k + j] = q[j * k + i];
    expm_adjoint_small(e, ret, b, k, c, ldexp(dt, -s), v);
    for (; s > 0; s--) {
        hmm_matmul(t, e, ret, k);
        hmm_matmul(u, ret, e, k);
        for (int i = 0; i < k * k; i++)
            ret[i] = t[i] + u[i];
        hmm_matmul(t, e, e, k);
        memcpy(e, t, sizeof *t * (size_t)(k * k));
    }
}

/* Solves a x = b in place; false when singular. */
static bool expm_solve(double *a, double *b, int n, int stride)
{
    for (int c = 0; c < n; c++) {
        int best = c;

        for (int r = c + 1; r < n; r++)
            if (fabs(a[r * stride + c]) > fabs(a[best * stride + c]))
                best = r;
        if (!(fabs(a[best * stride + c]) > DBL_MIN))
            return false;
        for (int j = 0; best != c && j < n; j++) {
            double t = a[c * stride + j];

            a[c * stride + j] = a[best * stride + j];
            a[best * stride + j] = t;
        }
        double t = b[c];

        b[c] = b[best];
        b[best] = t;
        for (int r = c + 1; r < n; r++) {
            double f = a[r * stride + c] / a[c * stride + c];

            for (int j = c; f != 0 && j < n; j++)
                a[r * stride + j] -= f * a[c * stride + j];
            b[r] -= f * b[c];
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int j = r + 1; j < n; j++)
            b[r] -= a[r * stride + j] * b[j];
        b[r] /= a[r * stride + r];
    }
    return true;
}

/* Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov
 * chains", 1985: elimination without subtraction. */
void hmm_stationary(double *ret, const struct hmm_model *m, int block)
{
    assert(block >= 0 && block < m->nblocks);
    int k = m->k;
    double a[HMM_STATES * HMM_STATES], total = 1;

    memcpy(a, m->q[block], sizeof *a * (size_t)(k * k));
    for (int n = k - 1; n > 0; n--) {
        double out = 0;

        for (int j = 0; j < n; j++)
            out += a[n * k + j];
        for (int i = 0; i < n; i++) {
            a[i * k + n] = out > 0 ? a[i * k + n] / out : 0;
            for (int j = 0; j < n; j++)
                if (j != i)
                    a[i * k + j] += a[i * k + n] * a[n * k + j];
        }
    }
    ret[0] = 1;
    for (int n = 1; n < k; n++) {
        ret[n] = 0;
        for (int i = 0; i < n; i++)
            ret[n] += ret[i] * a[i * k + n];
        total += ret[n];
    }
    for (int i = 0; i < k; i++)
        ret[i] /= total;
}

void hmm_time_to(double *ret, const double *q, int k, int to)
{
    double a[HMM_STATES * HMM_STATES], b[HMM_STATES];
    int at[HMM_STATES], n = 0;

    for (int i = 0; i < k; i++)
        if (i != to)
            at[n++] = i;
    for (int r = 0; r < n; r++) {
        b[r] = 1;
        for (int c = 0; c < n; c++)
            a[r * n + c] = -q[at[r] * k + at[c]];
    }
    bool ok = expm_solve(a, b, n, n);

    ret[to] = 0;
    for (int r = 0; r < n; r++)
        ret[at[r]] = ok && b[r] >= 0 ? b[r] : INFINITY;
}
