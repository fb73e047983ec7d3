/* estimate.c -- fits models with 1 to k states to series and reports their uncertainty.
 *
 * Called by `weir state fit` and validate.c. Fits of fewer states are the starts of those with
 * more.
 */
#include "state/estimate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct state_data_opts estimate_data_opts(const struct state_estimate_opts *o)
{
    return (struct state_data_opts){.nblocks = o->nblocks ? o->nblocks : 1,
                                    .day_offset_s = o->day_offset_s,
                                    .rounding_s = o->rounding_s};
}

static bool estimate_work_for(struct hmm_work *w, const struct hmm_data *d, int k,
                              struct wr_err *err)
{
    if (!hmm_work_init(w, d->n, 0, k))
        return wr_fail(err, WR_SYSTEM,
                       "not enough memory for %zu observations; choose fewer by `from` and `to`",
                       d->n);
    hmm_work_bind(w, d);
    return true;
}

/* Enough to see more than one state's worth? */
static bool estimate_check_size(const struct state_data *d, const struct state_estimate_opts *o,
                                struct wr_err *err)
{
    struct hmm_model m = {.k = o->k, .nblocks = o->nblocks ? o->nblocks : 1, .family = o->family};
    int np = hmm_nparams(&m);
    bool differ = false;

    if (np > HMM_PARAMS)
        return wr_fail(err, WR_INPUT,
                       "%d states in %d parts of the day are %d parameters, more "
                       "than %d; ask for fewer",
                       o->k, m.nblocks, np, HMM_PARAMS);
    if (d->seen < 2 || (int)d->seen < 2 * o->k)
        return wr_fail(err, WR_INPUT,
                       "%zu observations are too few for %d states; probe longer or "
                       "ask for fewer states",
                       d->seen, o->k);
    for (size_t i = 0; i < d->data.n && !differ; i++)
        differ = !isnan(d->x[i]) && d->x[i] != d->x[0];
    if (!differ)
        return wr_fail(err, WR_INPUT,
                       "all latencies are the same, %g s; measure with a finer clock "
                       "or give more data",
                       exp(d->x[0]));
    return true;
}

enum {
    DEFAULT_STARTS = 24,
    FEW_STATES = 3, /* with so few the starts of hmm_start find the summit */
    /* Starts made from a model with one state less, for each other start, and how many observations
     * all of them may look at: some seconds. */
    GROWN_LEAST = 2,
    GROWN_MOST = 20,
    GROWN_WORTH = 3000000,
};

/* Many states make many summits: a short series, whose starts cost little, gets more of them. */
static int estimate_grown_starts(int starts, int k, size_t n)
{
    size_t more = n ? GROWN_WORTH / n * (size_t)starts / DEFAULT_STARTS : 0;

    if (k <= FEW_STATES || more < GROWN_LEAST * (size_t)starts)
        return GROWN_LEAST * starts;
    return (int)(more > GROWN_MOST * (size_t)starts ? GROWN_MOST * (size_t)starts : more);
}

static struct hmm_fit_opts estimate_fit_opts(const struct state_estimate_opts *o, int k, size_t n,
                                             const struct hmm_model *base)
{
    int starts = o->starts > 0 ? o->starts : DEFAULT_STARTS;
    int finalists = k > 3 ? starts / 3 : starts / 2;

    return (struct hmm_fit_opts){.k = k,
                                 .nblocks = o->nblocks,
                                 .family = o->family,
                                 .initial = o->initial,
                                 .day_offset_s = o->day_offset_s,
                                 .starts = k == 1 ? 1 : starts,
                                 .base = base,
                                 .grown = estimate_grown_starts(starts, k, n),
                                 .finalists = finalists > 2 ? finalists : 2,
                                 .semifinalists = k > 3 ? 3 * starts : 0,
                                 .rounds = k > 3 ? 3 : 0,
                                 .renewed = 3 * starts,
                                 .seed = o->seed,
                                 .stop = o->stop,
                                 .stop_arg = o->stop_arg};
}

static void estimate_summarise(struct state_estimate *e, size_t seen)
{
    e->n = seen;
    e->nparams = hmm_nparams(&e->fit.model);
    e->aic = 2 * e->nparams - 2 * e->fit.loglik;
    e->bic = e->nparams * log((double)seen) - 2 * e->fit.loglik;
    e->held_out = NAN;
    for (int i = 0; i < HMM_PARAMS; i++)
        e->se[i] = NAN;
}

static void estimate_uncertainty(struct state_estimate *e, struct hmm_work *w,
                                 const struct state_estimate_opts *o, double *scratch)
{
    const double chi2_95_half = 1.920729410347062; /* half the 95 % quantile of chi2(1) */

    if (o->errors || o->profiles) {
        hmm_standard_errors(e->se, w, &e->fit, scratch);
        e->has_errors = true;
    }
    for (int i = 0; o->profiles && i < e->nparams; i++)
        if (!(o->stop && o->stop(o->stop_arg)))
            e->profile[i] = hmm_profile(w, &e->fit, i, e->se[i], chi2_95_half, scratch);
    e->has_profiles = o->profiles;
}

bool state_estimate(struct state_estimate *ret, const struct state_series *s, size_t nseries,
                    const struct state_estimate_opts *opts, struct wr_err *err)
{
    assert(nseries && opts->k >= 1 && opts->k <= HMM_STATES);
    struct state_data_opts d_opts = estimate_data_opts(opts);
    struct state_data d;
    struct hmm_work w;

    state_data_init(&d, s, nseries, &d_opts);
    if (!estimate_check_size(&d, opts, err) || !estimate_work_for(&w, &d.data, opts->k, err)) {
        state_data_fini(&d);
        return false;
    }
    double *scratch = wr_alloc(sizeof *scratch * hmm_fit_scratch(HMM_PARAMS));
    bool ok = true;

    for (int k = 1; ok && k <= opts->k; k++) {
        struct state_estimate *e = &ret[k - 1];
        struct hmm_fit_opts o =
            estimate_fit_opts(opts, k, d.data.n, k > 1 ? &ret[k - 2].fit.model : NULL);

        memset(e, 0, sizeof *e);
        ok = hmm_fit(&e->fit, &w, &o, scratch);
        estimate_summarise(e, d.seen);
    }
    if (ok)
        estimate_uncertainty(&ret[opts->k - 1], &w, opts, scratch);
    else
        wr_fail(err, WR_INPUT,
                "no model with %d states fits these data; look at them with `weir "
                "state describe`",
                opts->k);
    free(scratch);
    hmm_work_fini(&w);
    state_data_fini(&d);
    return ok;
}

bool state_loglik(double *ret, const struct state_series *s, size_t nseries,
                  const struct hmm_model *m, double rounding_s, struct wr_err *err)
{
    struct state_data_opts o = {
        .nblocks = m->nblocks, .day_offset_s = m->day_offset_s, .rounding_s = rounding_s};
    struct state_data d;
    struct hmm_work w;

    state_data_init(&d, s, nseries, &o);
    bool ok = estimate_work_for(&w, &d.data, m->k, err);

    if (ok) {
        *ret = hmm_loglik(&w, m);
        hmm_work_fini(&w);
    }
    state_data_fini(&d);
    return ok;
}

bool state_held_out(struct state_estimate *io, const struct state_series *s, size_t nseries,
                    const struct state_estimate_opts *opts, struct wr_err *err)
{
    struct state_series *half = wr_alloc((nseries + 1) * sizeof *half);
    struct state_estimate *e = wr_zalloc((size_t)opts->k, sizeof *e);
    struct state_estimate_opts plain = *opts;
    size_t rest = 0;

    plain.errors = plain.profiles = false;
    for (size_t i = 0; i < nseries; i++) {
        half[i] = s[i];
        half[i].n = s[i].n / 2;
        rest += s[i].n - half[i].n;
    }
    bool ok = state_estimate(e, half, nseries, &plain, err) || wr_wrap(err, "the first half alone");

    for (int k = 1; ok && k <= opts->k; k++) {
        double all, first;

        ok = state_loglik(&all, s, nseries, &e[k - 1].fit.model, opts->rounding_s, err) &&
             state_loglik(&first, half, nseries, &e[k - 1].fit.model, opts->rounding_s, err);
        if (ok)
            io[k - 1].held_out = (all - first) / (double)rest;
    }
    free(e);
    free(half);
    return ok;
}
