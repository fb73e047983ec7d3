/* curvature.c -- how well the data pin the parameters down: standard errors, profiles. */
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

/* Steps of difference quotients of slopes: a thousandth of the width that complete data would have,
 * so that the curvature is constant over it, and long enough that rounding of slopes is small. */
#define CURVE_STEP 1e-3
#define CURVE_LEAST_STEP 1e-6
/* The profile is followed outward in steps that grow, from somewhat less than where a parabola
 * would end (the first step is likely inside), then its end is bracketed by halving. Standard
 * errors beyond these are not believed. */
enum { PROFILE_STEPS = 60, PROFILE_OUTWARD = 12, PROFILE_HALVINGS = 20 };
#define PROFILE_LONGER 1.5
#define PROFILE_SHORT 0.7
#define PROFILE_LEAST_SE 1e-4
#define PROFILE_MOST_SE 2
#define PROFILE_EXACT 1e-4    /* of the last step: more digits than an interval is printed with */
#define PROFILE_GRAD_TOL 1e-4 /* the log-likelihood is compared with a drop of about 2 */

/* Row i of the curvature by central differences of the exact gradient. */
static void curvature_row(double *row, struct hmm_work *w, const struct hmm_model *m,
                          const double *theta, int i, double h)
{
    double x[HMM_PARAMS], up[HMM_PARAMS], down[HMM_PARAMS];
    struct hmm_model at = *m;
    int n = hmm_nparams(m);

    memcpy(x, theta, sizeof *x * (size_t)n);
    x[i] = theta[i] + h;
    hmm_params_set(&at, x);
    hmm_gradient(up, w, &at);
    x[i] = theta[i] - h;
    hmm_params_set(&at, x);
    hmm_gradient(down, w, &at);
    for (int j = 0; j < n; j++)
        row[j] = (down[j] - up[j]) / (2 * h);
}

/* Inverts a symmetric positive matrix in place by Cholesky; false when it is not positive. */
static bool curvature_invert(double *a, int n)
{
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double s = a[i * n + j];

            for (int l = 0; l < j; l++)
                s -= a[i * n + l] * a[j * n + l];
            if (i == j && !(s > 0))
                return false;
            a[i * n + j] = i == j ? sqrt(s) : s / a[j * n + j];
        }
    }
    for (int j = 0; j < n; j++) { /* the inverse of the triangle, in place */
        a[j * n + j] = 1 / a[j * n + j];
        for (int i = j + 1; i < n; i++) {
            double s = 0;

            for (int l = j; l < i; l++)
                s -= a[i * n + l] * a[l * n + j];
            a[i * n + j] = s / a[i * n + i];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = 0;

            for (int l = i; l < n; l++)
                s += a[l * n + i] * a[l * n + j];
            a[j * n + i] = s;
        }
    return true;
}

void hmm_standard_errors(double *ret, struct hmm_work *w, const struct hmm_fit *fit,
                         double *scratch)
{
    const struct hmm_model *m = &fit->model;
    int n = hmm_nparams(m), at[HMM_PARAMS], nfree = 0;
    double theta[HMM_PARAMS], row[HMM_PARAMS], g[HMM_PARAMS], info[HMM_PARAMS];

    hmm_params_get(theta, m);
    hmm_gradient_info(g, info, w, m);
    for (int i = 0; i < n; i++) {
        ret[i] = NAN;
        if (!fit->low[i] && !fit->high[i])
            at[nfree++] = i;
    }
    for (int i = 0; i < nfree; i++) {
        /* A small part of the width that complete data would have. */
        double h = fmin(fmax(CURVE_STEP / sqrt(info[at[i]]), CURVE_LEAST_STEP), CURVE_STEP);

        curvature_row(row, w, m, theta, at[i], h);
        for (int j = 0; j < nfree; j++)
            scratch[i * nfree + j] = row[at[j]];
    }
    for (int i = 0; i < nfree; i++)
        for (int j = 0; j < i; j++)
            scratch[i * nfree + j] = scratch[j * nfree + i] =
                (scratch[i * nfree + j] + scratch[j * nfree + i]) / 2;
    if (!curvature_invert(scratch, nfree))
        return;
    for (int i = 0; i < nfree; i++)
        ret[at[i]] = sqrt(scratch[i * nfree + i]);
}

/* The likelihood with parameter `at` held at x and all others best, starting from *m. */
static double curvature_profile_at(struct hmm_model *m, struct hmm_work *w,
                                   const struct hmm_bounds *b, int at, double x, double *scratch)
{
    double theta[HMM_PARAMS];
    bool fixed[HMM_PARAMS] = {false};

    hmm_params_get(theta, m);
    theta[at] = x;
    hmm_params_set(m, theta);
    fixed[at] = true;
    return hmm_polish(m, w, b, fixed, PROFILE_STEPS, PROFILE_GRAD_TOL, scratch).loglik;
}

static double curvature_profile_end(struct hmm_work *w, const struct hmm_fit *fit, int at,
                                    double step, double drop, const struct hmm_bounds *b,
                                    double *scratch)
{
    struct hmm_model m = fit->model, inner = m;
    double theta[HMM_PARAMS], limit = step > 0 ? b->high[at] : b->low[at];

    hmm_params_get(theta, &m);
    double in = theta[at], out = in + step;

    for (int i = 0; i < PROFILE_OUTWARD;
         i++, out += step, step *= PROFILE_LONGER) { /* until it is outside */
        if (step > 0 ? out >= limit : out <= limit)
            return limit;
        if (curvature_profile_at(&m, w, b, at, out, scratch) < fit->loglik - drop)
            break;
        in = out;
        inner = m;
    }
    for (int i = 0;
         i < PROFILE_HALVINGS && fabs(out - in) > PROFILE_EXACT * (fabs(step) + CURVE_STEP); i++) {
        double mid = (in + out) / 2;

        m = inner;
        if (curvature_profile_at(&m, w, b, at, mid, scratch) < fit->loglik - drop) {
            out = mid;
        } else {
            in = mid;
            inner = m;
        }
    }
    return (in + out) / 2;
}

struct hmm_interval hmm_profile(struct hmm_work *w, const struct hmm_fit *fit, int at, double se,
                                double drop, double *scratch)
{
    struct hmm_bounds b;
    double step = isfinite(se) ? fmin(fmax(se, PROFILE_LEAST_SE), PROFILE_MOST_SE) *
                                     sqrt(2 * drop) * PROFILE_SHORT
                               : 1;

    hmm_bounds_of(&b, w, &fit->model, HMM_DEFAULT_SD_LEAST, HMM_DEFAULT_SD_MOST);
    return (struct hmm_interval){curvature_profile_end(w, fit, at, -step, drop, &b, scratch),
                                 curvature_profile_end(w, fit, at, step, drop, &b, scratch)};
}
