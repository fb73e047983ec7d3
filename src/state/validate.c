/* validate.c -- scores forecasters on the part of a series that they were not trained on.
 *
 * See validate.h. Each row of the result is one forecaster; all are scored by the rules of score.c.
 */
#include "state/validate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "score_priv.h"
#include "stat/sample.h"
#include "state/estimate.h"
#include "state/lib/forecast.h"
#include "state/model/simulate.h"

#define VALIDATE_TRAIN 0.5  /* by default the first half trains, the second tests */
#define VALIDATE_TAIL 0.025 /* either side of a 95 % interval */
enum { VALIDATE_LEAST_TRAIN = 20, VALIDATE_LEAST_TEST = 10 };

const int state_horizons[STATE_HORIZONS] = {1, 5, 15, 60};
const double state_mc_p[STATE_MC] = {0.01, 0.05, 0.1, 0.2, 0.3,  0.4, 0.5,
                                     0.6,  0.7,  0.8, 0.9, 0.95, 0.99};

static struct state_forecaster_row *validate_add_row(struct state_validation *v, const char *name,
                                                     bool baseline)
{
    assert(v->nrows < STATE_FORECASTERS);
    struct state_forecaster_row *r = &v->row[v->nrows++];

    *r = (struct state_forecaster_row){.name = name, .baseline = baseline};
    for (int h = 0; h < STATE_HORIZONS; h++)
        r->alpha[h] = NAN;
    return r;
}

static void validate_run_simple(struct state_validation *v, const struct trial *t)
{
    double *scratch = wr_alloc((t->n + 1) * sizeof *scratch), p[4];

    for (const struct simple *f = simple_table; f->name; f++) {
        struct state_forecaster_row *r = validate_add_row(v, f->name, true);

        for (int h = 0; h < v->nhorizons; h++) {
            struct tally sum = {0};
            struct hmm_mix m;

            p[3] = NAN;
            f->prepare(p, t, state_horizons[h], scratch);
            for (size_t i = t->train; i < t->n; i++) {
                f->predict(&m, p, t, i, state_horizons[h], scratch);
                tally_mix(&sum, t, &m, t->x[i]);
            }
            r->at[h] = tally_end(&sum);
            r->alpha[h] = p[3];
        }
    }
    free(scratch);
}

static void validate_run_empirical(struct state_validation *v, const struct trial *t)
{
    struct state_forecaster_row *r = validate_add_row(v, "empirical_train", true);
    struct tally sum = {0};

    for (size_t i = t->train; i < t->n; i++)
        tally_empirical(&sum, t, t->x[i]);
    r->at[0] = tally_end(&sum);
    for (int h = 1; h < v->nhorizons; h++)
        r->at[h] = r->at[0]; /* it does not look at the horizon */
}

/* p exp(Q dt), through the parts of the day. */
static void validate_ahead(double *p, const struct hmm_model *m, double from, double to)
{
    while (from < to) {
        double len = (double)HMM_DAY_S / m->nblocks, e[HMM_STATES * HMM_STATES];
        double until = m->nblocks > 1 ? (floor((from + m->day_offset_s) / len + 1e-9) + 1) * len -
                                            m->day_offset_s
                                      : to;
        double mid = (from + fmin(until, to)) / 2 + m->day_offset_s, next[HMM_STATES] = {0};
        int b = (int)floor(fmod(fmod(mid, HMM_DAY_S) + HMM_DAY_S, HMM_DAY_S) / len);

        until = until > from ? fmin(until, to) : to;
        hmm_expm(e, m->q[m->nblocks > 1 ? b : 0], m->k, until - from);
        for (int i = 0; i < m->k; i++)
            for (int j = 0; j < m->k; j++)
                next[j] += p[i] * e[i * m->k + j];
        memcpy(p, next, sizeof next);
        from = until;
    }
}

/* A model with fixed parameters whose filter runs on; also what it says without looking. */
static bool validate_run_model(struct state_validation *v, const struct trial *t,
                               const struct state_series *s, const struct hmm_model *m,
                               const char *name, const char *blind, double *ret_last,
                               struct wr_err *err)
{
    struct state_data_opts o = {.nblocks = m->nblocks, .day_offset_s = m->day_offset_s};
    struct state_data d;
    struct hmm_work w;
    size_t k = (size_t)m->k, at = 0;
    double share[HMM_STATES];

    state_data_init(&d, s, 1, &o);
    if (!hmm_work_init(&w, d.data.n, 0, m->k)) {
        state_data_fini(&d);
        return wr_fail(err, WR_SYSTEM, "not enough memory; choose fewer rows by `from` and `to`");
    }
    double *all = wr_alloc(d.data.n * k * sizeof *all);

    hmm_work_bind(&w, &d.data);
    hmm_filter(all, &w, m);
    for (size_t i = 0; i < d.data.n; i++) /* leave out boundaries of parts of the day */
        if (!isnan(d.x[i]))
            memmove(all + k * at++, all + k * i, k * sizeof *all);
    hmm_stationary(share, m, 0);
    struct state_forecaster_row *r = validate_add_row(v, name, false);
    struct state_forecaster_row *still = blind ? validate_add_row(v, blind, false) : NULL;

    for (int h = 0; h < v->nhorizons; h++) {
        struct tally sum = {0}, fixed = {0};

        for (size_t i = t->train; i < t->n; i++) {
            size_t from = i - (size_t)state_horizons[h];
            struct hmm_mix mix = {0}, long_run = {0};
            double p[HMM_STATES] = {0};

            memcpy(p, all + k * from, k * sizeof *p);
            validate_ahead(p, m, t->t[from], t->t[i]);
            hmm_mix_states(&mix, m, p, 1);
            tally_mix(&sum, t, &mix, t->x[i]);
            hmm_mix_states(&long_run, m, share, 1);
            if (still)
                tally_mix(&fixed, t, &long_run, t->x[i]);
        }
        r->at[h] = tally_end(&sum);
        if (still)
            still->at[h] = tally_end(&fixed);
    }
    if (ret_last)
        memcpy(ret_last, all + k * (t->train - 1), k * sizeof *ret_last);
    free(all);
    hmm_work_fini(&w);
    state_data_fini(&d);
    return true;
}

/* The library's forecaster, which learns as it goes. */
static bool validate_run_rolling(struct state_validation *v, const struct trial *t,
                                 const struct state_series *s, struct wr_err *err)
{
    struct weir_state *w = weir_state_create(NULL);
    struct tally sum[STATE_HORIZONS] = {{0}};

    if (!w)
        return wr_fail(err, WR_SYSTEM, "not enough memory for the rolling forecaster");
    for (size_t i = 0; i < t->n; i++) {
        weir_state_observe(w, s->t[i], s->latency[i]);
        for (int h = 0; h < v->nhorizons; h++) {
            size_t to = i + (size_t)state_horizons[h];
            struct hmm_mix m;

            if (to < t->train || to >= t->n)
                continue;
            weir_state_mix(w, s->t[to] - s->t[i], &m);
            tally_mix(&sum[h], t, &m, t->x[to]);
        }
    }
    weir_state_destroy(w);
    struct state_forecaster_row *r = validate_add_row(v, "rolling", false);

    for (int h = 0; h < v->nhorizons; h++)
        r->at[h] = tally_end(&sum[h]);
    return true;
}

/* The common area of two histograms over the range of both. */
static double validate_overlap(const double *a, size_t na, const double *b, size_t nb)
{
    enum { BINS = 50 };
    double low = fmin(a[0], b[0]), high = fmax(a[na - 1], b[nb - 1]), sum = 0;
    double ca[BINS] = {0}, cb[BINS] = {0};

    for (size_t i = 0; i < na; i++)
        ca[(int)fmin(BINS - 1, (a[i] - low) / (high - low) * BINS)] += 1 / (double)na;
    for (size_t i = 0; i < nb; i++)
        cb[(int)fmin(BINS - 1, (b[i] - low) / (high - low) * BINS)] += 1 / (double)nb;
    for (int i = 0; i < BINS; i++)
        sum += fmin(ca[i], cb[i]);
    return sum;
}

static void validate_monte_carlo(struct state_validation *v, const struct trial *t,
                                 const struct hmm_model *m, const double *filtered, int rounds,
                                 uint64_t seed)
{
    size_t n = t->n - t->train;
    double *x = wr_alloc((n + 1) * sizeof *x), *q = wr_alloc((size_t)rounds * sizeof *q);
    double *all = wr_alloc((size_t)rounds * STATE_MC * sizeof *all);
    double share[HMM_STATES], p[HMM_STATES] = {0};
    struct hmm_mix long_run = {0};
    double *first = NULL;

    memcpy(p, filtered, sizeof *p * (size_t)m->k);
    validate_ahead(p, m, t->t[t->train - 1], t->t[t->train]);
    double *seen = wr_alloc((n + 1) * sizeof *seen);

    memcpy(seen, t->x + t->train, n * sizeof *seen);
    stat_sort(seen, n);
    for (int r = 0; r < rounds; r++) {
        struct wr_rng g;

        wr_rng_init(&g, seed, (uint32_t)r, 0x6d63);
        state_simulate(x, NULL, t->t + t->train, n, m, p, &g);
        stat_sort(x, n);
        if (!first) {
            first = wr_alloc((n + 1) * sizeof *first);
            memcpy(first, x, n * sizeof *first);
            v->overlap = validate_overlap(seen, n, first, n);
        }
        for (int i = 0; i < STATE_MC; i++)
            all[i * rounds + r] = stat_quantile(x, n, state_mc_p[i]) * M_LOG10E;
    }
    hmm_stationary(share, m, 0);
    hmm_mix_states(&long_run, m, share, 1);
    for (int i = 0; i < STATE_MC; i++) {
        double sum = 0;

        memcpy(q, all + i * rounds, (size_t)rounds * sizeof *q);
        stat_sort(q, (size_t)rounds);
        for (int r = 0; r < rounds; r++)
            sum += q[r] / rounds;
        v->observed[i] = stat_quantile(seen, n, state_mc_p[i]) * M_LOG10E;
        v->mc_mean[i] = sum;
        v->mc_low[i] = stat_quantile(q, (size_t)rounds, VALIDATE_TAIL);
        v->mc_high[i] = stat_quantile(q, (size_t)rounds, 1 - VALIDATE_TAIL);
        v->model[i] = hmm_mix_quantile(&long_run, state_mc_p[i]) * M_LOG10E;
        v->inside += v->observed[i] >= v->mc_low[i] && v->observed[i] <= v->mc_high[i];
    }
    free(first);
    free(seen);
    free(all);
    free(q);
    free(x);
}

static bool validate_train_model(struct hmm_model *ret, const struct state_series *s, size_t train,
                                 const struct state_validate_opts *o, struct wr_err *err)
{
    struct state_series half = *s;
    struct state_estimate *e = wr_zalloc((size_t)o->k, sizeof *e);
    struct state_estimate_opts eo = {.k = o->k, .starts = o->starts, .seed = o->seed};

    half.n = train;
    bool ok = state_estimate(e, &half, 1, &eo, err) || wr_wrap(err, "the training part");

    if (ok)
        *ret = e[o->k - 1].fit.model;
    free(e);
    return ok;
}

bool state_validate(struct state_validation *ret, struct hmm_model *ret_model,
                    const struct state_series *s, const struct state_validate_opts *opts,
                    struct wr_err *err)
{
    double part = opts->train_share > 0 ? opts->train_share : VALIDATE_TRAIN, last[HMM_STATES];
    size_t train = opts->train ? opts->train : (size_t)floor(part * (double)s->n);
    struct state_validation v = {.n = s->n, .train = train};
    struct hmm_model m;
    struct trial t;

    if (train < VALIDATE_LEAST_TRAIN || s->n < train + VALIDATE_LEAST_TEST)
        return wr_fail(err, WR_INPUT,
                       "%s: %zu observations to train on and %zu to test are too few; "
                       "probe longer",
                       s->name, train, s->n - train);
    if (opts->model)
        m = *opts->model;
    else if (!validate_train_model(&m, s, train, opts, err))
        return false;
    double *x = wr_alloc((s->n + 1) * sizeof *x);

    trial_init(&t, s, x, train);
    v.threshold_s = exp(t.threshold);
    for (int h = 0; h < STATE_HORIZONS && (size_t)state_horizons[h] * 4 < train; h++)
        v.nhorizons++;
    validate_run_simple(&v, &t);
    validate_run_empirical(&v, &t);
    bool ok = validate_run_model(&v, &t, s, &m, "hmm", "hmm_stationary_mixture", last, err) &&
              (!opts->truth ||
               validate_run_model(&v, &t, s, opts->truth, "hmm_truth", NULL, NULL, err)) &&
              (!opts->rolling || validate_run_rolling(&v, &t, s, err));

    if (ok)
        validate_monte_carlo(&v, &t, &m, last, opts->rounds > 0 ? opts->rounds : 200, opts->seed);
    trial_fini(&t);
    free(x);
    if (ok) {
        *ret = v;
        *ret_model = m;
    }
    return ok;
}
