/* Scores of forecasts against an independent implementation; simulated series against their model.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state/estimate.h"
#include "state/model/simulate.h"
#include "state/validate.h"
#include "state_reference.h"

static void close_to(const char *who, const char *what, double got, double want, double tol)
{
    if (!(fabs(got - want) <= tol))
        fail_msg("%s, %s: got %.10g, want %.10g", who, what, got, want);
}

static void check_row(const struct reference *r, const struct state_scores *got, const char *name,
                      int steps)
{
    const struct {
        const char *key;
        double got, abs, rel;
    } all[] = {
        {"logs_ln", got->logs_ln, 1e-6, 0},
        {"crps_ln", got->crps_ln, 1e-6, 0},
        {"crps_ms", got->crps_ms, 1e-6, 1e-6},
        {"pinball_ms_0.5", got->pinball_ms[0], 1e-6, 1e-5},
        {"pinball_ms_0.9", got->pinball_ms[1], 1e-6, 1e-5},
        {"pinball_ms_0.99", got->pinball_ms[2], 1e-6, 1e-5},
        {"brier_exceed", got->brier, 1e-6, 0},
        {"pit_ks_D", got->pit_ks, 1e-6, 0},
        {"pit_mean", got->pit_mean, 1e-6, 0},
        {"pit_var_x12", got->pit_var12, 1e-6, 0},
        {"mae_ms_median", got->mae_ms, 1e-6, 1e-5},
    };
    char path[96], at[8];

    snprintf(at, sizeof at, "%d", steps);
    const json_t *row =
        json_object_get(json_object_get(reference_get(r, "forecast.horizons"), at), name);

    if (!row)
        return;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double want = json_number_value(json_object_get(row, all[i].key));

        snprintf(path, sizeof path, "%s at %d, %s", name, steps, all[i].key);
        close_to(r->name, path, all[i].got, want, all[i].abs + all[i].rel * fabs(want));
    }
}

static void scores_are_the_reference_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < NREFERENCES; i++) {
        struct reference r;
        struct hmm_model m, used;
        struct state_validation v;
        struct wr_err err = {0};

        reference_open(&r, i);
        reference_model(&r, "forecast.train_fit_K3", &m);
        struct state_validate_opts o = {.model = &m, .k = 3, .rounds = 200, .seed = 2};

        if (!state_validate(&v, &used, &r.s[0], &o, &err))
            fail_msg("%s", err.text);
        close_to(r.name, "threshold", v.threshold_s, reference_real(&r, "forecast.threshold_s"),
                 1e-9 * v.threshold_s);
        for (int k = 0; k < v.nrows; k++)
            for (int h = 0; h < v.nhorizons; h++) {
                const char *name = !strcmp(v.row[k].name, "hmm") ? "hmm3"
                                   : !strcmp(v.row[k].name, "hmm_stationary_mixture")
                                       ? "hmm3_stationary_mixture"
                                       : v.row[k].name;

                check_row(&r, &v.row[k].at[h], name, state_horizons[h]);
            }
        for (int p = 0; p < STATE_MC; p++) {
            size_t at = (size_t)p;
            double sd =
                json_number_value(json_array_get(reference_get(&r, "mc_qq.mc_sd_log10"), at));

            close_to(
                r.name, "observed quantile", v.observed[p],
                json_number_value(json_array_get(reference_get(&r, "mc_qq.observed_log10"), at)),
                1e-9);
            close_to(r.name, "model quantile", v.model[p],
                     json_number_value(
                         json_array_get(reference_get(&r, "mc_qq.model_stationary_log10"), at)),
                     1e-6);
            close_to(
                r.name, "simulated quantile", v.mc_mean[p],
                json_number_value(json_array_get(reference_get(&r, "mc_qq.mc_mean_log10"), at)),
                4 * sd * sqrt(2.0 / 200) + 1e-3);
        }
        reference_close(&r);
    }
}

static void an_own_fit_forecasts_as_well(void **state)
{
    (void)state;
    struct reference r;
    struct hmm_model used;
    struct state_validation v;
    struct wr_err err = {0};
    struct state_validate_opts o = {.k = 3, .starts = 8, .rounds = 10, .seed = 1, .rolling = true};

    reference_open(&r, 1);
    assert_true(state_validate(&v, &used, &r.s[0], &o, &err));
    for (int k = 0; k < v.nrows; k++)
        if (!strcmp(v.row[k].name, "hmm"))
            assert_true(v.row[k].at[0].logs_ln <=
                        reference_real(&r, "forecast.horizons.1.hmm3.logs_ln") + 0.003);
    assert_true(v.overlap > 0.6 && v.overlap <= 1);
    reference_close(&r);
}

/* A series drawn from a model is fitted: the truth is within a few standard errors. */
static void a_simulated_series_gives_its_model_back(void **state)
{
    (void)state;
    enum { N = 6000 };
    struct hmm_model m = {.k = 2, .nblocks = 2};
    double *t = malloc(N * sizeof *t), *x = malloc(N * sizeof *x), truth[HMM_PARAMS],
           got[HMM_PARAMS];
    struct wr_rng g;
    struct wr_err err = {0};
    struct state_estimate e[2];

    for (int b = 0; b < 2; b++) {
        m.q[b][1] = 1e-3 * (1 + 3 * b);
        m.q[b][2] = 2e-3;
    }
    for (int s = 0; s < 2; s++) {
        m.initial[s] = 0.5;
        m.emit[s][HMM_LOC] = -5 + s;
        m.emit[s][HMM_SPREAD] = 0.2 + 0.1 * s;
    }
    hmm_tidy(&m);
    wr_rng_init(&g, 3, 1, 1);
    for (int i = 0; i < N; i++)
        t[i] = i ? t[i - 1] + 50 + 20 * wr_rng_unit(&g) : 0;
    state_simulate(x, NULL, t, N, &m, m.initial, &g);
    for (int i = 0; i < N; i++)
        x[i] = exp(x[i]);
    struct state_series s = {.name = (char *)"drawn", .t = t, .latency = x, .n = N};
    struct state_estimate_opts o = {.k = 2, .nblocks = 2, .starts = 4, .seed = 1, .errors = true};

    if (!state_estimate(e, &s, 1, &o, &err))
        fail_msg("%s", err.text);
    hmm_params_get(truth, &m);
    hmm_params_get(got, &e[1].fit.model);
    for (int i = 0; i < e[1].nparams; i++)
        close_to("drawn", "parameter", (got[i] - truth[i]) / e[1].se[i], 0, 4);
    free(t);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_reference_s),
        cmocka_unit_test(an_own_fit_forecasts_as_well),
        cmocka_unit_test(a_simulated_series_gives_its_model_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
