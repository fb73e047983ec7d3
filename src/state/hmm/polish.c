/* polish.c -- BFGS within bounds, from the exact gradient.
 *
 * Parameters on a bound that the slope pushes outwards are held; the inverse curvature starts as
 * that of the complete data (one step is then one of EM) and learns the rest. Nocedal
 * and Wright, "Numerical optimization", 2006, ch. 6; the bounds by projection.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

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
    size_t n = (size_t)nparams;

    return n * n + 12 * n + HMM_STARTS * (n + HMM_STATES + 1) + 64;
}

static void lay_out(struct climb *c, double *scratch)
{
    double **part[] = {&c->x,  &c->g, &c->info, &c->dir, &c->x2,
                       &c->g2, &c->s, &c->y,    &c->hy,  &c->h};

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        *part[i] = scratch + (int)i * c->n;
}

static double evaluate(struct climb *c, const double *x, double *g)
{
    hmm_params_set(c->m, x);
    c->evaluations++;
    return hmm_gradient_info(g, c->info, c->w, c->m);
}

static bool held(const struct climb *c, int i)
{
    if (c->fixed && c->fixed[i])
        return true;
    return (c->x[i] <= c->bounds->low[i] && c->g[i] < 0) ||
           (c->x[i] >= c->bounds->high[i] && c->g[i] > 0);
}

static double steepest(const struct climb *c)
{
    double most = 0;

    for (int i = 0; i < c->n; i++)
        if (!held(c, i))
            most = fmax(most, fabs(c->g[i]));
    return most;
}

static void forget(struct climb *c)
{
    memset(c->h, 0, sizeof *c->h * (size_t)c->n * (size_t)c->n);
    for (int i = 0; i < c->n; i++)
        c->h[i * c->n + i] = 1 / c->info[i];
}

/* dir = H g over the free ones; returns the slope along it. Steps in ln q and ln sd beyond a few
 * units are never meant. */
static double direct(struct climb *c)
{
    double slope = 0, most = 0;

    for (int i = 0; i < c->n; i++) {
        c->dir[i] = 0;
        if (held(c, i))
            continue;
        for (int j = 0; j < c->n; j++)
            if (!held(c, j))
                c->dir[i] += c->h[i * c->n + j] * c->g[j];
        slope += c->dir[i] * c->g[i];
        most = fmax(most, fabs(c->dir[i]));
    }
    if (most > 3)
        for (int i = 0; i < c->n; i++)
            c->dir[i] *= 3 / most;
    return most > 3 ? slope * 3 / most : slope;
}

static void move(const struct climb *c, double *to, double step)
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
static void learn(struct climb *c)
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
    if (!(sy > 1e-10 * sqrt(ss * yy)))
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
static bool search(struct climb *c, double slope)
{
    double step = 1, f2, noise = 1e-13 * fabs(c->f);

    for (int tries = 0; tries < 30; tries++) {
        move(c, c->x2, step);
        f2 = evaluate(c, c->x2, c->g2);
        if (f2 >= c->f + 1e-4 * step * slope - noise) {
            learn(c);
            memcpy(c->x, c->x2, sizeof *c->x * (size_t)c->n);
            memcpy(c->g, c->g2, sizeof *c->g * (size_t)c->n);
            c->f = f2;
            return true;
        }
        /* Where a parabola through both values and the slope has its top. */
        double next = isfinite(f2) ? -slope * step * step / (2 * (f2 - c->f - slope * step)) : 0;

        step = next > 0.1 * step && next < 0.6 * step ? next
               : isfinite(f2)                         ? 0.3 * step
                                                      : 0.1 * step;
    }
    return false;
}

struct hmm_polish hmm_polish(struct hmm_model *m, struct hmm_work *w,
                             const struct hmm_bounds *bounds, const bool *fixed, int most,
                             double tol, double *scratch)
{
    struct climb c = {.m = m, .w = w, .bounds = bounds, .fixed = fixed, .n = hmm_nparams(m)};
    int stuck = 0;

    lay_out(&c, scratch);
    hmm_params_get(c.x, m);
    memset(c.dir, 0, sizeof *c.dir * (size_t)c.n);
    move(&c, c.x, 0);
    c.f = evaluate(&c, c.x, c.g);
    forget(&c);
    for (int i = 0; i < most && isfinite(c.f) && stuck < 2; i++) {
        double slope, before = c.f;

        if (steepest(&c) < tol)
            break;
        slope = direct(&c);
        if (!(slope > 0) || !search(&c, slope)) {
            evaluate(&c, c.x, c.g); /* info of where we are */
            forget(&c);
            stuck++;
            continue;
        }
        if (c.f - before < 1e-12 * fabs(c.f))
            stuck++;
        else
            stuck = 0;
    }
    hmm_params_set(m, c.x);
    double grad = steepest(&c);

    return (struct hmm_polish){.loglik = c.f,
                               .grad_most = grad,
                               .evaluations = c.evaluations,
                               .converged = grad < fmax(tol, 1e-4)};
}
