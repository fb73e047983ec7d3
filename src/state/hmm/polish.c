/* polish.c -- BFGS within bounds, from the exact gradient.
 *
 * Parameters on a bound that the slope pushes outwards are held; the inverse curvature starts as
 * that of the complete data (one step is then one of EM) and learns the rest. Nocedal
 * and Wright, "Numerical optimization", 2006, ch. 6; the bounds by projection.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

/* Most that a step moves one parameter, in units of a logarithm: the likelihood is no parabola over
 * more than a factor of 20. */
#define POLISH_FARTHEST 3
/* Line search (Nocedal and Wright, Numerical Optimization, 3.1 and 3.5): the gain that is asked
 * for, as a share of what the slope predicts, and how much a step is shortened. Where the
 * likelihood is not finite no parabola is known, and the step is cut by most. */
#define POLISH_ARMIJO 1e-4
#define POLISH_SHORTEST 0.1
#define POLISH_LONGEST 0.6
#define POLISH_SHORTER 0.3
enum {
    POLISH_TRIES = 30, /* 0.3^30: no step is left */
    POLISH_STUCK = 2,  /* steps in a row that gain nothing: the second is with a fresh curvature */
};
/* Cosine of the angle between a step and the change of slopes, below which the update would make
 * the inverse curvature singular. */
#define POLISH_LEAST_CURVATURE 1e-10
/* Relative to the log-likelihood: rounding of its sum, and a gain that is none. */
#define POLISH_ROUNDING 1e-13
#define POLISH_NO_GAIN 1e-12
#define POLISH_FLAT 1e-4 /* largest slope of a summit that rounding does not let get flatter */

/* Everything of one climb; vectors have n entries, h is n x n. */
struct climb {
    struct hmm_model *m;
    struct hmm_work *w;
    const struct hmm_bounds *bounds;
    const bool *fixed;
    int n, evaluations;
    double f; /* ln likelihood */
    double *x, *g, *info, *dir, *x2, *g2, *s, *y, *hy, *h;
};

size_t hmm_fit_scratch(int nparams)
{
    assert(nparams >= 0 && nparams <= HMM_PARAMS);
    size_t n = (size_t)nparams;

    return n * n + 12 * n + HMM_STARTS * (n + HMM_STATES + 1) + 64;
}

static void polish_lay_out(struct climb *c, double *scratch)
{
    double **part[] = {&c->x,  &c->g, &c->info, &c->dir, &c->x2,
                       &c->g2, &c->s, &c->y,    &c->hy,  &c->h};

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        *part[i] = scratch + (int)i * c->n;
}

static double polish_evaluate(struct climb *c, const double *x, double *g)
{
    hmm_params_set(c->m, x);
    c->evaluations++;
    return hmm_gradient_info(g, c->info, c->w, c->m);
}

static bool polish_held(const struct climb *c, int i)
{
    if (c->fixed && c->fixed[i])
        return true;
    return (c->x[i] <= c->bounds->low[i] && c->g[i] < 0) ||
           (c->x[i] >= c->bounds->high[i] && c->g[i] > 0);
}

static double polish_steepest(const struct climb *c)
{
    double most = 0;

    for (int i = 0; i < c->n; i++)
        if (!polish_held(c, i))
            most = fmax(most, fabs(c->g[i]));
    return most;
}

static void polish_reset(struct climb *c)
{
    memset(c->h, 0, sizeof *c->h * (size_t)c->n * (size_t)c->n);
    for (int i = 0; i < c->n; i++)
        c->h[i * c->n + i] = 1 / c->info[i];
}

/* dir = H g over the free ones; returns the slope along it. Steps in ln q and ln sd beyond a few
 * units are never meant. */
static double polish_direct(struct climb *c)
{
    double slope = 0, most = 0;

    for (int i = 0; i < c->n; i++) {
        c->dir[i] = 0;
        if (polish_held(c, i))
            continue;
        for (int j = 0; j < c->n; j++)
            if (!polish_held(c, j))
                c->dir[i] += c->h[i * c->n + j] * c->g[j];
        slope += c->dir[i] * c->g[i];
        most = fmax(most, fabs(c->dir[i]));
    }
    if (most > POLISH_FARTHEST)
        for (int i = 0; i < c->n; i++)
            c->dir[i] *= POLISH_FARTHEST / most;
    return most > POLISH_FARTHEST ? slope * POLISH_FARTHEST / most : slope;
}

static void polish_move(const struct climb *c, double *to, double step)
{
    for (int i = 0; i < c->n; i++) {
        to[i] = c->x[i] + step * c->dir[i];
        if (to[i] < c->bounds->low[i])
            to[i] = c->bounds->low[i];
        if (to[i] > c->bounds->high[i])
            to[i] = c->bounds->high[i];
    }
}

/* The BFGS update of the inverse curvature of -f; skipped where it would not stay positive. */
static void polish_update(struct climb *c)
{
    int n = c->n;
    double sy = 0, yhy = 0, ss = 0, yy = 0;

    for (int i = 0; i < n; i++) {
        c->s[i] = c->x2[i] - c->x[i];
        c->y[i] = c->g[i] - c->g2[i];
        sy += c->s[i] * c->y[i];
        ss += c->s[i] * c->s[i];
        yy += c->y[i] * c->y[i];
    }
    if (!(sy > POLISH_LEAST_CURVATURE * sqrt(ss * yy)))
        return;
    for (int i = 0; i < n; i++) {
        c->hy[i] = 0;
        for (int j = 0; j < n; j++)
            c->hy[i] += c->h[i * n + j] * c->y[j];
        yhy += c->hy[i] * c->y[i];
    }
    double f = (1 + yhy / sy) / sy;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c->h[i * n + j] +=
                f * c->s[i] * c->s[j] - (c->hy[i] * c->s[j] + c->s[i] * c->hy[j]) / sy;
}

/* Looks along dir for a step that gains enough. False: there is none. */
static bool polish_search(struct climb *c, double slope)
{
    double step = 1, f2, noise = POLISH_ROUNDING * fabs(c->f);

    for (int tries = 0; tries < POLISH_TRIES; tries++) {
        polish_move(c, c->x2, step);
        f2 = polish_evaluate(c, c->x2, c->g2);
        if (f2 >= c->f + POLISH_ARMIJO * step * slope - noise) {
            polish_update(c);
            memcpy(c->x, c->x2, sizeof *c->x * (size_t)c->n);
            memcpy(c->g, c->g2, sizeof *c->g * (size_t)c->n);
            c->f = f2;
            return true;
        }
        /* Where a parabola through both values and the slope has its top. */
        double next = isfinite(f2) ? -slope * step * step / (2 * (f2 - c->f - slope * step)) : 0;

        step = next > POLISH_SHORTEST * step && next < POLISH_LONGEST * step ? next
               : isfinite(f2)                                                ? POLISH_SHORTER * step
                              : POLISH_SHORTEST * step;
    }
    return false;
}

struct hmm_polish hmm_polish(struct hmm_model *m, struct hmm_work *w,
                             const struct hmm_bounds *bounds, const bool *fixed, int most,
                             double tol, double *scratch)
{
    struct climb c = {.m = m, .w = w, .bounds = bounds, .fixed = fixed, .n = hmm_nparams(m)};
    int stuck = 0;

    polish_lay_out(&c, scratch);
    hmm_params_get(c.x, m);
    memset(c.dir, 0, sizeof *c.dir * (size_t)c.n);
    polish_move(&c, c.x, 0);
    c.f = polish_evaluate(&c, c.x, c.g);
    polish_reset(&c);
    for (int i = 0; i < most && isfinite(c.f) && stuck < POLISH_STUCK; i++) {
        double slope, before = c.f;

        if (polish_steepest(&c) < tol)
            break;
        slope = polish_direct(&c);
        if (!(slope > 0) || !polish_search(&c, slope)) {
            polish_evaluate(&c, c.x, c.g); /* info of where we are */
            polish_reset(&c);
            stuck++;
            continue;
        }
        if (c.f - before < POLISH_NO_GAIN * fabs(c.f))
            stuck++;
        else
            stuck = 0;
    }
    hmm_params_set(m, c.x);
    double grad = polish_steepest(&c);

    return (struct hmm_polish){.loglik = c.f,
                               .grad_most = grad,
                               .evaluations = c.evaluations,
                               .converged = grad < fmax(tol, POLISH_FLAT)};
}
