/* Densities, cuts, sojourn times and their distributions against an independent implementation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stat/special.h"
#include "state/describe.h"
#include "state_reference.h"

static void close_to(const char *who, const char *what, double got, double want, double tol)
{
    if (!(fabs(got - want) <= tol))
        fail_msg("%s, %s: got %.12g, want %.12g", who, what, got, want);
}

static void check_minima(const struct reference *r, const struct state_density *d, const char *key)
{
    char path[64];

    snprintf(path, sizeof path, "kde.%s.minima", key);
    const json_t *want = reference_get(r, path);

    for (size_t i = 0; i < json_array_size(want); i++) {
        const json_t *m = json_array_get(want, i);
        double x = json_number_value(json_object_get(m, "log10_s")), best = INFINITY;

        if (json_number_value(json_object_get(m, "depth_local")) < 1.02)
            continue;
        for (size_t j = 0; j < d->nminima; j++)
            best = fmin(best, fabs(d->minima[j].x - x));
        close_to(r->name, "minimum", best, 0, 1e-6);
    }
}

static void bandwidths_and_valleys_are_the_reference_s(void **state)
{
    (void)state;
    static const char *const rule[] = {"nrd0_silverman", "nrd_scott", "scipy_scott",
                                       "scipy_silverman"};

    for (size_t i = 0; i < NREFERENCES; i++) {
        struct reference r;

        reference_open(&r, i);
        for (int k = 0; k < 4; k++) {
            struct state_density d;
            char path[64];

            state_density_of(&d, r.s[0].latency, r.s[0].n, (enum stat_bandwidth)k);
            snprintf(path, sizeof path, "kde.bandwidths.%s", rule[k]);
            double want = reference_real(&r, path);

            close_to(r.name, path, d.h, want, 1e-10 * want);
            if (k < 2)
                check_minima(&r, &d, rule[k]);
        }
        reference_close(&r);
    }
}

static void check_families(const struct reference *r, const char *key,
                           const struct state_family_fit *fits)
{
    for (int i = 0; i < STATE_FAMILIES; i++) {
        const struct state_family_fit *f = &fits[i];
        char path[128];

        snprintf(path, sizeof path, "%s.pooled.%s", key, f->family->name);
        const json_t *want = reference_get(r, path);

        if (!json_is_object(want) || !json_object_get(want, "loglik"))
            continue;
        for (int p = 0; p < f->family->nparams; p++) {
            double v = json_number_value(
                json_object_get(json_object_get(want, "params"), f->family->param[p]));

            close_to(path, f->family->param[p], f->p[p], v, 1e-5 * fabs(v));
        }
        double loglik = json_number_value(json_object_get(want, "loglik"));

        close_to(path, "loglik", f->loglik, loglik, 1e-6 + 1e-9 * fabs(loglik));
        close_to(path, "D", f->ks, json_number_value(json_object_get(want, "ks_D")), 1e-8);
        close_to(path, "exact p", f->ks_p_exact,
                 json_number_value(json_object_get(want, "ks_p_exact")), 1e-6);
        close_to(path, "limit p", f->ks_p_limit,
                 json_number_value(json_object_get(want, "ks_p_asymptotic")), 1e-6);
    }
}

static void cuts_sojourns_and_families_agree_with_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < NREFERENCES; i++) {
        struct reference r;
        struct state_cuts c;
        struct state_family_fit fits[STATE_FAMILIES];

        reference_open(&r, i);
        const struct state_series *s = &r.s[0];
        uint8_t *label = malloc(s->n);
        double *soj = malloc(s->n * sizeof *soj);
        const json_t *cuts = reference_get(&r, "kde.cuts3_log10");

        state_cuts3(&c, s->latency, s->n);
        assert_int_equal(c.n, json_array_size(cuts));
        for (size_t j = 0; j < c.n; j++)
            close_to(r.name, "cut", c.log10_s[j], json_number_value(json_array_get(cuts, j)), 5e-3);
        if (c.n == 2 && reference_get(&r, "sojourn.n")) {
            state_label(label, s->latency, s->n, &c);
            size_t n = state_sojourns(soj, NULL, s->t, label, s->n);

            assert_int_equal(n, (size_t)reference_real(&r, "sojourn.n"));
            state_fit_families(fits, soj, n, 0, 1);
            check_families(&r, "sojourn", fits);
        }
        struct hmm_model m;

        reference_model(&r, "hmm.3", &m);
        hmm_viterbi(label, &r.w, &m);
        size_t n = state_sojourns(soj, NULL, s->t, label, s->n);

        assert_int_equal(n, (size_t)reference_real(&r, "sojourn_viterbi.n"));
        state_fit_families(fits, soj, n, 0, 1);
        check_families(&r, "sojourn_viterbi", fits);
        free(label);
        free(soj);
        reference_close(&r);
    }
}

static void the_bootstrap_p_is_that_of_lilliefors(void **state)
{
    (void)state;
    struct reference r;
    struct hmm_model m;
    struct state_family_fit fits[STATE_FAMILIES];

    reference_open(&r, 0);
    uint8_t *label = malloc(r.s[0].n);
    double *soj = malloc(r.s[0].n * sizeof *soj);

    reference_model(&r, "hmm.3", &m);
    hmm_viterbi(label, &r.w, &m);
    size_t n = state_sojourns(soj, NULL, r.s[0].t, label, r.s[0].n);

    state_fit_families(fits, soj, n, 2000, 1);
    close_to(r.name, "p", fits[0].ks_p_fitted,
             reference_real(&r, "sojourn_viterbi.lilliefors_exp_p"), 0.04);
    free(label);
    free(soj);
    reference_close(&r);
}

/* Every family: draws have its quantiles, and fitting finds the parameters again. */
static void families_agree_with_themselves(void **state)
{
    (void)state;
    static const double p[STATE_FAMILIES][2] = {{0.3},    {5, 2},   {1, 0.5},
                                                {0.7, 3}, {0.6, 2}, {2, 3}};
    enum { N = 20000 };
    double *x = malloc(N * sizeof *x);

    for (int i = 0; i < STATE_FAMILIES; i++) {
        const struct stat_family *family = &stat_families[i];
        struct wr_rng g;
        double fitted[2], below = 0;

        wr_rng_init(&g, 1, (uint32_t)i, 2);
        for (int j = 0; j < N; j++) {
            x[j] = family->draw(p[i], &g);
            below += x[j] < family->quantile(p[i], 0.3);
        }
        close_to(family->name, "quantile", below / N, 0.3, 0.012);
        assert_true(family->fit(fitted, x, N));
        for (int j = 0; j < family->nparams; j++)
            close_to(family->name, family->param[j], fitted[j] / p[i][j], 1, 0.03);
        for (double q = 0.001; q < 1; q += 0.0999)
            close_to(family->name, "inverse", family->cdf(p[i], family->quantile(p[i], q)), q,
                     1e-10);
    }
    free(x);
}

static void special_functions_have_their_published_values(void **state)
{
    (void)state;
    close_to("digamma", "1", stat_digamma(1), -0.57721566490153286061, 1e-14);
    close_to("digamma", "0.1", stat_digamma(0.1), -10.423754940411076795, 1e-13);
    close_to("trigamma", "1", stat_trigamma(1), 1.6449340668482264365, 1e-13);
    close_to("gamma", "P(3, 2)", stat_incomplete_gamma(3, 2), 0.32332358381693654053, 1e-14);
    close_to("gamma", "P(0.5, 4)", stat_incomplete_gamma(0.5, 4), 0.99532226501895273416, 1e-14);
    close_to("gamma", "inverse", stat_incomplete_gamma_inverse(3, 0.32332358381693654053), 2,
             1e-12);
    close_to("Kolmogorov", "exact", stat_ks_p_exact(0.274, 10), 1 - 0.6284796154565, 1e-9);
}

/* A level that moves is distinguished from one that stays. */
static void a_moving_level_is_not_stationary(void **state)
{
    (void)state;
    enum { N = 2000 };
    double stays[N], moves[N];
    struct wr_rng g;

    wr_rng_init(&g, 1, 1, 1);
    for (int i = 0; i < N; i++) {
        stays[i] = exp(wr_rng_normal(&g));
        moves[i] = exp(wr_rng_normal(&g) + i * 1e-3);
    }
    assert_true(state_stationarity(stays, N).p > 0.05);
    assert_true(state_stationarity(moves, N).p <= 0.01);
    for (int i = 0; i < N; i++)
        stays[i] = 0.005;
    assert_true(isnan(state_stationarity(stays, N).p)); /* nothing differs: nothing to test */
}

/* Clusters so far apart that the density between them is next to nothing. */
static void every_valley_is_found_and_lies_halfway(void **state)
{
    (void)state;
    enum { CLUSTERS = 40, EACH = 25 };
    double latency[CLUSTERS * EACH];
    struct state_density d;

    for (int i = 0; i < CLUSTERS * EACH; i++)
        latency[i] = pow(10, -6 + i / EACH * 0.3 + (i % EACH - EACH / 2) * 1e-3);
    state_density_of(&d, latency, CLUSTERS * EACH, STAT_NRD0);
    assert_int_equal(d.nminima, 0); /* the rule smooths them all away */
    struct stat_kde k;
    struct stat_extremum valley[CLUSTERS];

    for (int i = 0; i < CLUSTERS * EACH; i++)
        latency[i] = log10(latency[i]);
    stat_kde_init(&k, latency, CLUSTERS * EACH, 0.01);
    assert_int_equal(stat_kde_minima(&k, valley, CLUSTERS), CLUSTERS - 1);
    for (int i = 0; i < CLUSTERS - 1; i++)
        close_to("clusters", "valley", valley[i].x, -5.85 + 0.3 * i, 1e-6);
    stat_kde_fini(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidths_and_valleys_are_the_reference_s),
        cmocka_unit_test(cuts_sojourns_and_families_agree_with_the_reference),
        cmocka_unit_test(the_bootstrap_p_is_that_of_lilliefors),
        cmocka_unit_test(families_agree_with_themselves),
        cmocka_unit_test(special_functions_have_their_published_values),
        cmocka_unit_test(a_moving_level_is_not_stationary),
        cmocka_unit_test(every_valley_is_found_and_lies_halfway),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
