/* hmm_fit.c -- many starts, few finalists, one winner. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

/* Steps, each about one pass over the data. EM climbs most of its way in a dozen steps, then crawls
 * (Dempster, Laird and Rubin 1977, section 3); a summit is reached by quasi-Newton steps, of which
 * a good start needs some dozens: the limit is for those that never end. */
enum {
    DEFAULT_EM_STEPS = 12,
    SETTLE_STEPS = 6,     /* EM after a state was dropped: the others take over its observations */
    SEMIFINAL_STEPS = 25, /* quasi-Newton: enough to rank starts */
    PINNED_STEPS = 60,    /* quasi-Newton after rates were put on their bounds */
    DEFAULT_NEWTON_STEPS = 400,
    DEFAULT_FINALISTS = 4,
};

/* Slopes are per unit of a logarithm: 1e-6 moves the log-likelihood by no digit that is printed. */
#define FIT_DEFAULT_GRAD_TOL 1e-6
/* In units of a logarithm: a rate so near to its bound (a factor of a million) and without a slope
 * that would raise it is on it; one nearer than FIT_ON_BOUND is reported as on it. */
#define FIT_NEAR_BOUND 14
#define FIT_NO_SLOPE 1e-9
#define FIT_ON_BOUND 1e-6
/* Differences of log-likelihood: that costs nothing; that is worth another round; that is as good
 * as the best. A likelihood ratio test at 5 % asks for 1.92. */
#define FIT_FREE 1e-7
#define FIT_WORTH_A_ROUND 1e-4
#define FIT_AS_GOOD 1e-3

/* A start after its first steps of EM, best first. */
struct runner {
    double loglik;
    double *theta; /* then the initial distribution */
};

struct race {
    struct runner at[HMM_STARTS];
    int n, np;
};

static struct hmm_fit_opts fit_with_defaults(const struct hmm_fit_opts *o)
{
    struct hmm_fit_opts d = *o;

    if (!d.base || d.base->k + 1 != d.k)
        d.grown = 0;
    d.nblocks = d.nblocks ? d.nblocks : 1;
    d.em_steps = d.em_steps ? d.em_steps : DEFAULT_EM_STEPS;
    d.finalists = d.finalists ? d.finalists : DEFAULT_FINALISTS;
    d.newton_most = d.newton_most ? d.newton_most : DEFAULT_NEWTON_STEPS;
    d.sd_least = d.sd_least > 0 ? d.sd_least : HMM_DEFAULT_SD_LEAST;
    d.sd_most = d.sd_most > 0 ? d.sd_most : HMM_DEFAULT_SD_MOST;
    d.grad_tol = d.grad_tol > 0 ? d.grad_tol : FIT_DEFAULT_GRAD_TOL;
    return d;
}

/* Sorted in; the last falls out where there are too many. */
static void fit_store(struct race *r, const struct hmm_model *m, double loglik)
{
    if (r->n == HMM_STARTS && !(loglik > r->at[r->n - 1].loglik))
        return;
    int at = r->n < HMM_STARTS ? r->n++ : r->n - 1;
    double *theta = r->at[at].theta;

    hmm_params_get(theta, m);
    memcpy(theta + r->np, m->initial, sizeof *theta * (size_t)m->k);
    for (; at > 0 && r->at[at - 1].loglik < loglik; at--)
        r->at[at] = r->at[at - 1];
    r->at[at] = (struct runner){loglik, theta};
}

static void fit_load(struct hmm_model *m, const struct race *r, int at)
{
    hmm_params_set(m, r->at[at].theta);
    memcpy(m->initial, r->at[at].theta + r->np, sizeof *m->initial * (size_t)m->k);
}

static bool fit_stopped(const struct hmm_fit_opts *o)
{
    return o->stop && o->stop(o->stop_arg);
}

/* The first steps of a start. */
static void fit_first_steps(struct race *r, struct hmm_model *m, struct hmm_work *w,
                            const struct hmm_fit_opts *o, bool last, struct hmm_fit *out)
{
    double f = -INFINITY;

    for (int step = 0; step < o->em_steps; step++) {
        f = hmm_em_step(w, m, o->initial, o->sd_least, o->sd_most);
        out->evaluations++;
        if (!isfinite(f))
            break;
    }
    if (isfinite(f) || (last && !r->n))
        fit_store(r, m, f);
}

static void fit_run_starts(struct race *r, struct hmm_model *m, struct hmm_work *w,
                           const struct hmm_fit_opts *o, struct hmm_fit *out)
{
    int last = o->starts + o->grown - 1;
    struct hmm_gaps gaps = {.n = 0};

    if (o->grown)
        hmm_find_gaps(&gaps, w, o->base);

    for (int i = o->from ? -1 : 0; i <= last && !(r->n && fit_stopped(o)); i++) {
        if (i < 0)
            *m = *o->from;
        else if (i < o->starts)
            hmm_start(m, w, o, i);
        else
            hmm_grow(m, w, o->base, &gaps, o->seed, i - o->starts);
        fit_first_steps(r, m, w, o, i == last, out);
    }
}

/* Rates that only ever wanted to be smaller: put them on their bound when that costs nothing, so
 * that they are reported as being on it. */
static void fit_pin_to_bounds(struct hmm_model *m, struct hmm_work *w, const struct hmm_bounds *b,
                              const struct hmm_fit_opts *o, struct hmm_polish *done,
                              double *scratch)
{
    double theta[HMM_PARAMS], g[HMM_PARAMS];
    int nq = m->nblocks * m->k * (m->k - 1);
    struct hmm_model was = *m;
    bool any = false;

    hmm_gradient(g, w, m);
    hmm_params_get(theta, m);
    for (int i = 0; i < nq; i++)
        if (theta[i] > b->low[i] && theta[i] < b->low[i] + FIT_NEAR_BOUND && g[i] <= FIT_NO_SLOPE) {
            theta[i] = b->low[i];
            any = true;
        }
    if (!any)
        return;
    hmm_params_set(m, theta);
    struct hmm_polish again = hmm_polish(m, w, b, NULL, PINNED_STEPS, o->grad_tol, scratch);

    if (again.loglik >= done->loglik - FIT_FREE) {
        again.evaluations += done->evaluations;
        *done = again;
    } else {
        *m = was;
    }
}

static void fit_mark_bounds(struct hmm_fit *fit, const struct hmm_bounds *b)
{
    double theta[HMM_PARAMS];

    hmm_params_get(theta, &fit->model);
    for (int i = 0; i < hmm_nparams(&fit->model); i++) {
        fit->low[i] = theta[i] <= b->low[i] + FIT_ON_BOUND;
        fit->high[i] = theta[i] >= b->high[i] - FIT_ON_BOUND;
    }
}

/* Two that are as good would end alike. */
static bool fit_same_end(const struct race *r, int i)
{
    return i && r->at[i - 1].loglik - r->at[i].loglik < HMM_SAME_SUMMIT * fabs(r->at[i].loglik);
}

/* A few steps of each decide which starts are followed to the end: early on, small states look like
 * noise. */
static void fit_run_semifinals(struct race *r, struct hmm_model *m, struct hmm_work *w,
                               const struct hmm_fit_opts *o, struct hmm_fit *out, double *scratch)
{
    struct hmm_bounds bounds;
    double before = INFINITY;
    int n = 0;

    hmm_bounds_of(&bounds, w, m, o->sd_least, o->sd_most);
    for (int i = 0; i < r->n && n < o->semifinalists && !fit_stopped(o); i++) {
        if (before - r->at[i].loglik < HMM_SAME_SUMMIT * fabs(r->at[i].loglik))
            continue;
        before = r->at[i].loglik;
        fit_load(m, r, i);
        struct hmm_polish p =
            hmm_polish(m, w, &bounds, NULL, SEMIFINAL_STEPS, o->grad_tol, scratch);
        struct runner here = {p.loglik, r->at[i].theta};
        int at = n++;

        out->evaluations += p.evaluations;
        hmm_params_get(here.theta, m);
        r->at[i] = r->at[at];
        for (; at > 0 && r->at[at - 1].loglik < here.loglik; at--)
            r->at[at] = r->at[at - 1];
        r->at[at] = here;
    }
    r->n = n ? n : r->n;
}

/* How those ended that were followed to the end. */
struct ends {
    double at[HMM_STARTS];
    int n;
};

/* Follows the best starts to the end; the best of all goes to `out`. */
static void fit_run_finals(struct race *r, struct hmm_model *m, struct hmm_work *w,
                           const struct hmm_fit_opts *o, struct ends *ends, struct hmm_fit *out,
                           double *scratch)
{
    struct hmm_bounds bounds;
    int most = ends->n + o->finalists;

    if (o->semifinalists)
        fit_run_semifinals(r, m, w, o, out, scratch);
    hmm_bounds_of(&bounds, w, m, o->sd_least, o->sd_most);
    for (int i = 0; i < r->n && ends->n < most && ends->n < HMM_STARTS; i++) {
        if (fit_same_end(r, i))
            continue;
        if (ends->n && fit_stopped(o))
            return;
        fit_load(m, r, i);
        struct hmm_polish p = hmm_polish(m, w, &bounds, NULL, o->newton_most, o->grad_tol, scratch);

        ends->at[ends->n++] = p.loglik;
        out->evaluations += p.evaluations;
        if (ends->n > 1 && !(p.loglik > out->loglik))
            continue;
        out->loglik = p.loglik;
        out->grad_most = p.grad_most;
        out->converged = p.converged;
        out->model = *m;
    }
}

/* A summit often differs from the highest in one state only: takes each state of the best away,
 * lets the others settle, and adds one in the ways of grow.c. Goes on while that gains. */
static void fit_run_rounds(struct race *r, struct hmm_model *m, struct hmm_work *w,
                           const struct hmm_fit_opts *o, struct ends *ends, struct hmm_fit *out,
                           double *scratch)
{
    for (int round = 0; round < o->rounds && !fit_stopped(o); round++) {
        const struct hmm_model best = out->model;
        double was = out->loglik;

        r->n = 0;
        for (int s = 0; s < best.k && !fit_stopped(o); s++) {
            struct hmm_model base = best;
            struct hmm_gaps gaps = {.n = 0};
            double f = 0;

            hmm_drop_state(&base, s);
            for (int step = 0; step < SETTLE_STEPS && isfinite(f); step++)
                f = hmm_em_step(w, &base, o->initial, o->sd_least, o->sd_most);
            if (!isfinite(f))
                continue;
            hmm_find_gaps(&gaps, w, &base);
            for (int i = 0; i < o->renewed && !(r->n && fit_stopped(o)); i++) {
                hmm_grow(m, w, &base, &gaps, o->seed + (uint64_t)(round + 1), i);
                fit_first_steps(r, m, w, o, false, out);
            }
        }
        fit_run_finals(r, m, w, o, ends, out, scratch);
        if (!(out->loglik > was + FIT_WORTH_A_ROUND))
            return;
    }
}

static void fit_finish(struct hmm_work *w, const struct hmm_fit_opts *o, const struct ends *ends,
                       struct hmm_fit *out, double *scratch)
{
    struct hmm_bounds bounds;
    struct hmm_polish p = {out->loglik, out->grad_most, 0, out->converged};
    int best = 0;

    for (int i = 0; i < ends->n; i++)
        best += ends->at[i] > out->loglik - FIT_AS_GOOD;
    out->finals = ends->n;
    out->best_share = (double)best / ends->n;
    hmm_bounds_of(&bounds, w, &out->model, o->sd_least, o->sd_most);
    fit_pin_to_bounds(&out->model, w, &bounds, o, &p, scratch);
    out->loglik = p.loglik;
    out->grad_most = p.grad_most;
    out->evaluations += p.evaluations;
    hmm_tidy(&out->model);
    fit_mark_bounds(out, &bounds);
}

bool hmm_fit(struct hmm_fit *ret, struct hmm_work *w, const struct hmm_fit_opts *opts,
             double *scratch)
{
    assert(w->data && opts->k >= 1 && opts->k <= w->k_cap);
    struct hmm_fit_opts o = fit_with_defaults(opts);
    struct race r = {.np = 0};
    struct hmm_model m;
    bool seen = false;

    for (size_t i = 0; i < w->data->n && !seen; i++)
        seen = !isnan(w->data->x[i]);
    if (!seen)
        return false;
    memset(ret, 0, sizeof *ret);
    hmm_start(&m, w, &o, 0);
    r.np = hmm_nparams(&m);
    double *space = scratch + (size_t)r.np * (size_t)r.np + 12 * (size_t)r.np;

    for (int i = 0; i < HMM_STARTS; i++)
        r.at[i].theta = space + i * (r.np + HMM_STATES);
    struct ends ends = {.n = 0};

    fit_run_starts(&r, &m, w, &o, ret);
    fit_run_finals(&r, &m, w, &o, &ends, ret, scratch);
    if (!ends.n)
        return false;
    fit_run_rounds(&r, &m, w, &o, &ends, ret, scratch);
    fit_finish(w, &o, &ends, ret, scratch);
    return true;
}
