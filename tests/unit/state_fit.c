/* Fits against the numbers of an independent implementation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "state/estimate.h"
#include "state_reference.h"

static void close_to(const struct reference *r, const char *what, double got, double want,
                     double tol)
{
    if (!(fabs(got - want) <= tol))
        fail_msg("%s %s, %s: got %.12g, want %.12g", r->name, r->op, what, got, want);
}

static void the_likelihood_at_given_parameters_is_the_reference_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < NREFERENCES; i++) {
        struct reference r;
        struct hmm_model m;

        reference_open(&r, i);
        for (int k = 2; k <= 3; k++) {
            const char *key = k == 2 ? "hmm.2" : "hmm.3";
            const char *stationary = k == 2 ? "hmm.2.loglik_stationary_init_same_theta"
                                            : "hmm.3.loglik_stationary_init_same_theta";
            double want = reference_real(&r, k == 2 ? "hmm.2.loglik" : "hmm.3.loglik");

            reference_model(&r, key, &m);
            close_to(&r, "loglik", hmm_loglik(&r.w, &m), want, 1e-6 + 1e-10 * fabs(want));
            close_to(&r, "plain", hmm_loglik_plain(&r.w, &m), want, 1e-6 + 1e-10 * fabs(want));
            hmm_stationary(m.initial, &m, 0);
            close_to(&r, "stationary", hmm_loglik(&r.w, &m), reference_real(&r, stationary), 1e-6);
        }
        reference_close(&r);
    }
}

static void expectations_and_paths_are_the_reference_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < NREFERENCES; i++) {
        struct reference r;
        struct hmm_model m;
        struct hmm_stats st;

        reference_open(&r, i);
        reference_model(&r, "hmm.3", &m);
        uint8_t *path = malloc(r.d.data.n);

        close_to(&r, "viterbi", hmm_viterbi(path, &r.w, &m), reference_real(&r, "viterbi.logprob"),
                 1e-6);
        hmm_estep(&st, &r.w, &m);
        for (int a = 0; a < 3; a++) {
            json_t *row = json_array_get(reference_get(&r, "estep.expected_jumps"), (size_t)a);
            double time = json_number_value(
                json_array_get(reference_get(&r, "estep.expected_time_in_state_s"), (size_t)a));

            close_to(&r, "sojourn", st.s[0][a * 4], time, 1e-7 * time);
            for (int b = 0; b < 3; b++) {
                double want = json_number_value(json_array_get(row, (size_t)b));

                if (a != b)
                    close_to(&r, "jumps", m.q[0][a * 3 + b] * st.s[0][a * 3 + b], want,
                             1e-7 * want + 1e-12);
            }
        }
        free(path);
        reference_close(&r);
    }
}

/* The parameters that do not rest on a bound, in units of their standard error. */
static void compare_params(const struct reference *r, const struct state_estimate *e,
                           const char *key)
{
    char path[64];
    struct hmm_model m;
    double want[HMM_PARAMS], got[HMM_PARAMS];

    reference_model(r, key, &m);
    hmm_params_get(want, &m);
    hmm_params_get(got, &e->fit.model);
    snprintf(path, sizeof path, "%s.se_theta_logq_mu_logsd", key);
    const json_t *se = reference_get(r, path);

    snprintf(path, sizeof path, "%s.at_lower_bound", key);
    const json_t *low = reference_get(r, path);

    for (int i = 0; i < e->nparams; i++) {
        const json_t *one = json_array_get(se, (size_t)i);

        if (!json_is_number(one) || json_is_true(json_array_get(low, (size_t)i)))
            continue;
        close_to(r, "parameter", got[i], want[i], 0.02 * json_number_value(one));
        if (!e->fit.low[i] && !e->fit.high[i])
            close_to(r, "its error", e->se[i] / json_number_value(one), 1, 1e-2);
    }
}

static void fits_reach_the_reference_s_maxima(void **state)
{
    (void)state;
    for (size_t i = 0; i < NREFERENCES; i++) {
        struct reference r;
        struct state_estimate e[3];
        struct wr_err err = {0};

        reference_open(&r, i);
        for (int k = 2; k <= 3; k++) {
            struct state_estimate_opts o = {.k = k, .starts = 12, .seed = 1, .errors = true};
            double want = reference_real(&r, k == 2 ? "hmm.2.loglik" : "hmm.3.loglik");

            if (!state_estimate(e, r.s, r.ns, &o, &err))
                fail_msg("%s: %s", r.name, err.text);
            if (!(e[k - 1].fit.loglik >= want - 1e-3))
                fail_msg("%s %s: %d states reach %.6f, want %.6f", r.name, r.op, k,
                         e[k - 1].fit.loglik, want);
            if (e[k - 1].fit.loglik < want + 1e-3)
                compare_params(&r, &e[k - 1], k == 2 ? "hmm.2" : "hmm.3");
        }
        reference_close(&r);
    }
}

/* Its fourth state is narrow and passed through quickly: few starts lead there. */
static void four_states_reach_the_reference_s_best(void **state)
{
    struct state_estimate e[4];
    struct state_estimate_opts o = {.k = 4, .seed = 1};
    struct wr_err err = {0};
    struct reference r;

    (void)state;
    reference_open(&r, 0);
    if (!state_estimate(e, r.s, r.ns, &o, &err))
        fail_msg("%s", err.text);
    double want = reference_real(&r, "hmm.4.loglik");

    if (!(e[3].fit.loglik >= want - 1e-3))
        fail_msg("%s: %.4f, the reference %.4f", r.name, e[3].fit.loglik, want);
    reference_close(&r);
}

/* A value that turns up too often, too few times for chance: growing starts there. */
static void a_narrow_state_of_a_few_observations_is_found(void **state)
{
    enum { N = 800 };
    struct state_series s = {.name = (char *)"spike", .n = N};
    struct state_estimate e[2];
    struct state_estimate_opts o = {.k = 2, .starts = 2, .seed = 1};
    struct wr_err err = {0};
    struct wr_rng g;
    double t[N], latency[N];

    (void)state;
    wr_rng_init(&g, 5, 1, 1);
    for (int i = 0; i < N; i++) {
        t[i] = 60 * i;
        latency[i] =
            exp(-5 + (i % 80 == 7 ? 0.35 + 0.002 * wr_rng_unit(&g) : 0.3 * wr_rng_normal(&g)));
    }
    s.t = t;
    s.latency = latency;
    if (!state_estimate(e, &s, 1, &o, &err))
        fail_msg("%s", err.text);
    const double *narrow = e[1].fit.model.emit[1];

    if (!(fabs(narrow[HMM_LOC] + 4.65) < 0.01 && narrow[HMM_SPREAD] < 0.01))
        fail_msg("found %g wide at %g", narrow[HMM_SPREAD], narrow[HMM_LOC]);
}

static void pooling_a_series_with_itself_changes_no_parameter(void **state)
{
    (void)state;
    struct reference r;
    struct state_estimate one[2], two[2];
    struct state_estimate_opts o = {.k = 2, .starts = 4, .seed = 1, .errors = true};
    struct wr_err err = {0};

    reference_open(&r, 0);
    struct state_series both[2] = {r.s[0], r.s[0]};

    assert_true(state_estimate(one, r.s, 1, &o, &err));
    assert_true(state_estimate(two, both, 2, &o, &err));
    close_to(&r, "loglik", two[1].fit.loglik, 2 * one[1].fit.loglik, 1e-5);
    for (int i = 0; i < one[1].nparams; i++)
        close_to(&r, "error", two[1].se[i] * sqrt(2) / one[1].se[i], 1, 1e-3);
    reference_close(&r);
}

/* Rounded to 1 ms, a plain fit lets states shrink; an interval fit finds what was there. */
static void rounding_does_not_collapse_a_state(void **state)
{
    (void)state;
    struct reference r;
    struct state_estimate exact[3], rounded[3];
    struct state_estimate_opts o = {.k = 3, .starts = 8, .seed = 1};
    struct wr_err err = {0};

    reference_open(&r, 1);
    assert_true(state_estimate(exact, r.s, 1, &o, &err));
    for (size_t i = 0; i < r.s[0].n; i++)
        r.s[0].latency[i] = fmax(round(r.s[0].latency[i] * 1e3), 1) / 1e3;
    assert_true(fabs(state_rounding(r.s[0].latency, r.s[0].n) - 1e-3) < 1e-12);
    o.rounding_s = 1e-3;
    assert_true(state_estimate(rounded, r.s, 1, &o, &err));
    for (int s = 0; s < 3; s++) {
        close_to(&r, "location", rounded[2].fit.model.emit[s][HMM_LOC],
                 exact[2].fit.model.emit[s][HMM_LOC], 0.05);
        close_to(&r, "spread", rounded[2].fit.model.emit[s][HMM_SPREAD],
                 exact[2].fit.model.emit[s][HMM_SPREAD], 0.03);
    }
    reference_close(&r);
}

static void a_profile_interval_falls_by_what_it_should(void **state)
{
    (void)state;
    struct reference r;
    struct state_estimate e[2];
    struct state_estimate_opts o = {
        .k = 2, .starts = 4, .seed = 1, .errors = true, .profiles = true};
    struct wr_err err = {0};
    double theta[HMM_PARAMS];

    reference_open(&r, 0);
    assert_true(state_estimate(e, r.s, 1, &o, &err));
    hmm_params_get(theta, &e[1].fit.model);
    for (int i = 0; i < e[1].nparams; i++) {
        double down = theta[i] - e[1].profile[i].low, up = e[1].profile[i].high - theta[i];

        /* Near a quadratic both sides are 1.96 standard errors. */
        if (!(down > 1.5 * e[1].se[i] && down < 2.7 * e[1].se[i] && up > 1.5 * e[1].se[i] &&
              up < 2.7 * e[1].se[i]))
            fail_msg("parameter %d: %g below, %g above, error %g", i, down, up, e[1].se[i]);
    }
    reference_close(&r);
}

static void too_little_to_fit_is_said(void **state)
{
    (void)state;
    double t[4] = {0, 1, 2, 3}, same[4] = {0.1, 0.1, 0.1, 0.1}, some[4] = {0.1, 0.2, 0.1, 0.3};
    struct state_series s = {.name = (char *)"few", .t = t, .latency = some, .n = 1};
    struct state_estimate_opts o = {.k = 2, .starts = 2, .seed = 1};
    struct state_estimate e[2];
    struct wr_err err = {0};

    assert_false(state_estimate(e, &s, 1, &o, &err));
    assert_non_null(strstr(err.text, "too few"));
    s.n = 4;
    s.latency = same;
    assert_false(state_estimate(e, &s, 1, &o, &err));
    assert_non_null(strstr(err.text, "the same"));
    s.latency = some;
    assert_true(state_estimate(e, &s, 1, &o, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_likelihood_at_given_parameters_is_the_reference_s),
        cmocka_unit_test(expectations_and_paths_are_the_reference_s),
        cmocka_unit_test(fits_reach_the_reference_s_maxima),
        cmocka_unit_test(four_states_reach_the_reference_s_best),
        cmocka_unit_test(a_narrow_state_of_a_few_observations_is_found),
        cmocka_unit_test(pooling_a_series_with_itself_changes_no_parameter),
        cmocka_unit_test(rounding_does_not_collapse_a_state),
        cmocka_unit_test(a_profile_interval_falls_by_what_it_should),
        cmocka_unit_test(too_little_to_fit_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
