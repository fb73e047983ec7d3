#include "state/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct state_data_opts data_opts(const struct state_estimate_opts *o)
{
    return (struct state_data_opts){.nblocks = o->nblocks ? o->nblocks : 1,
                                    .day_offset_s = o->day_offset_s,
                                    .rounding_s = o->rounding_s};
}

static bool work_for(struct hmm_work *w, const struct hmm_data *d, int k, struct wr_err *err)
{
    if (!hmm_work_init(w, d->n, 0, k))
        return wr_fail(err, WR_SYSTEM,
                       "not enough memory for %zu observations; fit a part of them "
                       "with --from and --to",
                       d->n);
    hmm_work_bind(w, d);
    return true;
}

/* Enough to see more than one state's worth? */
static bool check_size(const struct state_data *d, const struct state_estimate_opts *o,
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

/* Many states make many summits: a short series, whose starts cost little, gets more of them. */
static int grown_starts(int starts, int k, size_t n)
{
    const size_t worth = 3000000; /* observations looked at by all of them */
    size_t more = n ? worth / n * (size_t)starts / 24 : 0;

    if (k <= 3 || more < 2 * (size_t)starts)
        return 2 * starts;
    return (int)(more > 20 * (size_t)starts ? 20 * (size_t)starts : more);
}

static struct hmm_fit_opts fit_opts(const struct state_estimate_opts *o, int k, size_t n,
                                    const struct hmm_model *base)
{
    int starts = o->starts > 0 ? o->starts : 24;
    int finalists = k > 3 ? starts / 3 : starts / 2;

    return (struct hmm_fit_opts){.k = k,
                                 .nblocks = o->nblocks,
                                 .family = o->family,
                                 .initial = o->initial,
                                 .day_offset_s = o->day_offset_s,
                                 .starts = k == 1 ? 1 : starts,
                                 .base = base,
                                 .grown = grown_starts(starts, k, n),
                                 .finalists = finalists > 2 ? finalists : 2,
                                 .semifinalists = k > 3 ? 3 * starts : 0,
                                 .rounds = k > 3 ? 3 : 0,
                                 .renewed = 3 * starts,
                                 .seed = o->seed,
                                 .stop = o->stop,
                                 .stop_arg = o->stop_arg};
}

static void summarise(struct state_estimate *e, size_t seen)
{
    e->n = seen;
    e->nparams = hmm_nparams(&e->fit.model);
    e->aic = 2 * e->nparams - 2 * e->fit.loglik;
    e->bic = e->nparams * log((double)seen) - 2 * e->fit.loglik;
    e->held_out = NAN;
    for (int i = 0; i < HMM_PARAMS; i++)
        e->se[i] = NAN;
}

static void uncertainty(struct state_estimate *e, struct hmm_work *w,
                        const struct state_estimate_opts *o, double *scratch)
{
    const double chi2_95_half = 1.920729410347062;

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
    struct state_data_opts d_opts = data_opts(opts);
    struct state_data d;
    struct hmm_work w;

    state_data_init(&d, s, nseries, &d_opts);
    if (!check_size(&d, opts, err) || !work_for(&w, &d.data, opts->k, err)) {
        state_data_fini(&d);
        return false;
    }
    double *scratch = wr_alloc(sizeof *scratch * hmm_fit_scratch(HMM_PARAMS));
    bool ok = true;

    for (int k = 1; ok && k <= opts->k; k++) {
        struct state_estimate *e = &ret[k - 1];
        struct hmm_fit_opts o = fit_opts(opts, k, d.data.n, k > 1 ? &ret[k - 2].fit.model : NULL);

        memset(e, 0, sizeof *e);
        ok = hmm_fit(&e->fit, &w, &o, scratch);
        summarise(e, d.seen);
    }
    if (ok)
        uncertainty(&ret[opts->k - 1], &w, opts, scratch);
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
    bool ok = work_for(&w, &d.data, m->k, err);

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
