/* describe.c -- density, cuts, labels, sojourn times and their distributions, without a model.
 *
 * See describe.h. Pure functions; memory they need is released before they return.
 */
#include "state/describe.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/sample.h"

const double state_qq_p[STATE_QQ] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3,  0.4, 0.5,
                                     0.6,  0.7,  0.75, 0.8, 0.9, 0.95, 0.98, 0.99};

static double *describe_sorted_log10(const double *latency, size_t n)
{
    double *x = wr_alloc((n + 1) * sizeof *x);

    for (size_t i = 0; i < n; i++)
        x[i] = log10(latency[i]);
    stat_sort(x, n);
    return x;
}

void state_density_of(struct state_density *ret, const double *latency, size_t n,
                      enum stat_bandwidth rule)
{
    double *x = describe_sorted_log10(latency, n);
    struct stat_kde k;

    *ret = (struct state_density){.rule = rule, .h = stat_kde_bandwidth(x, n, rule)};
    stat_kde_init(&k, x, n, ret->h);
    ret->nminima = stat_kde_minima(&k, ret->minima, STATE_CUTS);
    ret->nmaxima = stat_kde_maxima(&k, ret->maxima, STATE_CUTS + 1);
    ret->nminima = ret->nminima < STATE_CUTS ? ret->nminima : STATE_CUTS;
    ret->nmaxima = ret->nmaxima < STATE_CUTS + 1 ? ret->nmaxima : STATE_CUTS + 1;
    stat_kde_fini(&k);
    free(x);
}

/* The two deepest of many, in ascending order. */
static void describe_deepest(struct state_cuts *c, const struct stat_extremum *m, size_t n)
{
    size_t one = 0, two = 1;

    for (size_t i = 1; i < n; i++)
        if (m[i].depth > m[one].depth)
            one = i;
    two = one ? 0 : 1;
    for (size_t i = 0; i < n; i++)
        if (i != one && m[i].depth > m[two].depth)
            two = i;
    c->log10_s[0] = fmin(m[one].x, m[two].x);
    c->log10_s[1] = fmax(m[one].x, m[two].x);
    c->n = 2;
}

/* The bandwidth grows by 5 % until two minima are left: 1.05^400 is a factor of 3e8, beyond any
 * range of latencies. */
enum { MOST_MINIMA = 4096, CUTS_ROUNDS = 400 };
#define CUTS_WIDER 1.05

void state_cuts3(struct state_cuts *ret, const double *latency, size_t n)
{
    double *x = describe_sorted_log10(latency, n), h = stat_kde_bandwidth(x, n, STAT_NRD0);
    struct stat_extremum *now = wr_alloc(MOST_MINIMA * sizeof *now);
    struct stat_extremum *before = wr_alloc(MOST_MINIMA * sizeof *before);
    size_t nbefore = 0;

    *ret = (struct state_cuts){.h = h};
    for (int round = 0; round < CUTS_ROUNDS; round++, h *= CUTS_WIDER) {
        struct stat_kde k;

        stat_kde_init(&k, x, n, h);
        size_t found = stat_kde_minima(&k, now, MOST_MINIMA);

        stat_kde_fini(&k);
        found = found < MOST_MINIMA ? found : MOST_MINIMA;
        if (found <= 2) {
            ret->h = found == 2 || !nbefore ? h : h / CUTS_WIDER;
            if (found == 2 || !nbefore)
                for (size_t i = 0; i < found; i++)
                    ret->log10_s[ret->n++] = now[i].x;
            else
                describe_deepest(ret, before, nbefore);
            break;
        }
        struct stat_extremum *t = now;

        now = before;
        before = t;
        nbefore = found;
    }
    free(now);
    free(before);
    free(x);
}

void state_label(uint8_t *ret, const double *latency, size_t n, const struct state_cuts *cuts)
{
    for (size_t i = 0; i < n; i++) {
        double x = log10(latency[i]);

        ret[i] = 0;
        for (size_t c = 0; c < cuts->n; c++)
            ret[i] = (uint8_t)(ret[i] + (x > cuts->log10_s[c]));
    }
}

static double describe_median_step(const double *t, size_t n)
{
    double *dt = wr_alloc((n + 1) * sizeof *dt), m;

    for (size_t i = 1; i < n; i++)
        dt[i - 1] = t[i] - t[i - 1];
    stat_sort(dt, n ? n - 1 : 0);
    m = stat_quantile(dt, n ? n - 1 : 0, 0.5);
    free(dt);
    return m;
}

size_t state_sojourns(double *ret, uint8_t *ret_state, const double *t, const uint8_t *label,
                      size_t n)
{
    double gap = 5 * describe_median_step(t, n);
    size_t found = 0, from = 0;
    bool whole = false; /* began with a change of label, no gap since */

    for (size_t i = 1; i < n; i++) {
        bool skips = t[i] - t[i - 1] > gap;

        if (skips)
            whole = false;
        if (label[i] == label[i - 1])
            continue;
        if (whole && from) {
            ret[found] = t[i] - t[from];
            if (ret_state)
                ret_state[found] = label[from];
            found++;
        }
        from = i;
        whole = !skips;
    }
    return found;
}

void state_fit_families(struct state_family_fit ret[STATE_FAMILIES], const double *sojourn,
                        size_t n, uint32_t rounds, uint64_t seed)
{
    assert(sojourn || !n);
    double *x = wr_alloc((n + 1) * sizeof *x);

    memcpy(x, sojourn, n * sizeof *x);
    stat_sort(x, n);
    for (int i = 0; i < STATE_FAMILIES; i++) {
        struct state_family_fit *f = &ret[i];

        *f = (struct state_family_fit){.family = &stat_families[i], .ks_p_fitted = NAN};
        f->fits = n > 0 && f->family->fit(f->p, x, n);
        if (!f->fits)
            continue;
        f->loglik = stat_family_loglik(f->family, f->p, x, n);
        f->aic = 2 * f->family->nparams - 2 * f->loglik;
        f->ks = stat_ks_distance(f->family, f->p, x, n);
        f->ks_p_exact = stat_ks_p_exact(f->ks, n);
        f->ks_p_limit = stat_ks_p_limit(f->ks, n);
        if (rounds)
            f->ks_p_fitted = stat_ks_p_fitted(f->family, f->p, f->ks, n, rounds, seed);
        for (int q = 0; q < STATE_QQ; q++) {
            f->qq_fitted[q] = f->family->quantile(f->p, state_qq_p[q]);
            f->qq_sample[q] = stat_quantile(x, n, state_qq_p[q]);
        }
    }
    free(x);
}

/* The test of Kwiatkowski, Phillips, Schmidt and Shin (J. Econometrics 54, 1992): critical values
 * of their table 1 for a constant level, 4 (n / 100)^(1/4) lags with the weights of Bartlett. */
struct state_kpss state_stationarity(const double *latency, size_t n)
{
    static const struct {
        double statistic, p;
    } table[] = {{0.347, 0.10}, {0.463, 0.05}, {0.574, 0.025}, {0.739, 0.01}};
    double mean = 0, sum = 0, partial = 0, long_run = 0, *e = wr_alloc((n + 1) * sizeof *e);
    size_t lags = (size_t)floor(4 * pow((double)n / 100, 0.25));
    struct state_kpss r = {NAN, NAN};
    enum { KPSS_FEW = 8 };                     /* too few to speak of a long run */
    static const double KPSS_ROUNDING = 1e-24; /* what rounding leaves of a constant */

    for (size_t i = 0; i < n; i++)
        mean += log(latency[i]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        e[i] = log(latency[i]) - mean;
        sum += e[i];
        partial += sum * sum;
    }
    for (size_t lag = 0; lag <= lags && lag < n; lag++) {
        double c = 0;

        for (size_t i = lag; i < n; i++)
            c += e[i] * e[i - lag];
        long_run += (lag ? 2 * (1 - (double)lag / (double)(lags + 1)) : 1) * c / (double)n;
    }
    free(e);
    if (n < KPSS_FEW || !(long_run > KPSS_ROUNDING * (1 + mean * mean)))
        return r;
    r.statistic = partial / ((double)n * (double)n) / long_run;
    r.p = r.statistic <= table[0].statistic ? 0.1 : 0.01;
    for (int i = 0; i < 3; i++)
        if (r.statistic > table[i].statistic && r.statistic <= table[i + 1].statistic)
            r.p = table[i].p + (table[i + 1].p - table[i].p) * (r.statistic - table[i].statistic) /
                                   (table[i + 1].statistic - table[i].statistic);
    return r;
}
