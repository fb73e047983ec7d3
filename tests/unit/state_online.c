/* libweir-state: what it answers, what it refuses, that it is robust, and that it never allocates.
 */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "state/lib/forecast.h"
#include "state/lib/weir-state.h"
#include "state_reference.h"

static void close_to(const char *what, double got, double want, double rel)
{
    if (!(fabs(got - want) <= rel * fmax(fabs(want), 1e-9)))
        fail_msg("%s: got %.10g, want %.10g", what, got, want);
}

/* A forecaster that was given the reference's model and has seen the whole series. */
static struct weir_state *with_model_of(struct reference *r, int alone)
{
    struct weir_state_config c = {.size = sizeof c, .refit_every = -1, .alone = alone};
    struct weir_state *s = weir_state_create(&c);
    struct hmm_model m;
    double mu[3], sd[3], q[9];

    reference_model(r, "forecast.train_fit_K3", &m);
    for (int i = 0; i < 3; i++) {
        mu[i] = m.emit[i][HMM_LOC];
        sd[i] = m.emit[i][HMM_SPREAD];
    }
    assert_int_equal(weir_state_set_model(s, 3, m.q[0], mu, sd), WEIR_STATE_OK);
    assert_int_equal(weir_state_get_model(s, q, NULL, NULL), 3);
    assert_memory_equal(q, m.q[0], sizeof q);
    for (size_t i = 0; i < r->s[0].n; i++)
        assert_int_equal(weir_state_observe(s, r->s[0].t[i], r->s[0].latency[i]), WEIR_STATE_OK);
    return s;
}

static void states_are(struct weir_state *s, const struct reference *r, const char *path,
                       double horizon, double rel)
{
    const json_t *want = reference_get(r, path);
    double p[3];

    assert_int_equal(weir_state_probabilities(s, horizon, p, 3), 3);
    for (int i = 0; i < 3; i++)
        close_to(path, p[i], json_number_value(json_array_get(want, (size_t)i)), rel);
}

static void a_known_model_alone_answers_as_the_reference_does(void **state)
{
    (void)state;
    struct reference r;

    reference_open(&r, 0);
    struct weir_state *s = with_model_of(&r, 1);
    double h = reference_real(&r, "api_example_at_last_obs.horizon_s");
    double above = reference_real(&r, "forecast.threshold_s");

    states_are(s, &r, "api_example_at_last_obs.filtered", 0, 1e-6);
    states_are(s, &r, "api_example_at_last_obs.state_prob_at_horizon", h, 1e-6);
    close_to("mean", weir_state_mean(s, h),
             reference_real(&r, "api_example_at_last_obs.mean_latency_s"), 1e-6);
    close_to("exceeds", weir_state_exceeds(s, h, above),
             reference_real(&r, "api_example_at_last_obs.p_exceed_threshold"), 1e-6);
    close_to("q90", weir_state_quantile(s, h, 0.9),
             reference_real(&r, "api_example_at_last_obs.q90_s"), 1e-6);
    close_to("time to idle", weir_state_time_to_idle(s),
             reference_real(&r, "api_example_at_last_obs.expected_time_to_idle_s"), 1e-6);
    close_to("stays idle", weir_state_stays_idle(s, h),
             reference_real(&r, "api_example_at_last_obs.p_idle_for_next_h"), 1e-6);
    weir_state_destroy(s);
    reference_close(&r);
}

/* The distribution is a mixture with the simple forecasters; the model carries most of it. */
static void a_model_that_fits_is_trusted(void **state)
{
    (void)state;
    struct reference r;

    reference_open(&r, 0);
    struct weir_state *s = with_model_of(&r, 0);
    double h = reference_real(&r, "api_example_at_last_obs.horizon_s");

    states_are(s, &r, "api_example_at_last_obs.state_prob_at_horizon", h, 1e-4);
    assert_true(weir_state_health(s) > 0.8);
    close_to("q90", weir_state_quantile(s, h, 0.9),
             reference_real(&r, "api_example_at_last_obs.q90_s"), 0.25);
    weir_state_destroy(s);
    reference_close(&r);
}

static const char *const baselines[] = {
    "marginal_lognormal", "empirical_train", "last_value_rw", "ewma", "ar1", "window60_lognormal"};

static const struct {
    size_t steps;
    double most; /* behind the best simple forecaster */
} horizons[] = {{1, 0.1}, {15, 0.1}};
enum { NHORIZONS = sizeof horizons / sizeof horizons[0] };

/* Mean losses at the horizons over the second half. */
static void rolling_losses(double ret[NHORIZONS], const struct state_series *x)
{
    struct weir_state *s = weir_state_create(NULL);
    size_t train = x->n / 2;

    memset(ret, 0, sizeof *ret * NHORIZONS);
    for (size_t i = 0; i < x->n; i++) {
        weir_state_observe(s, x->t[i], x->latency[i]);
        for (size_t h = 0; h < NHORIZONS; h++) {
            size_t to = i + horizons[h].steps;

            if (to >= train && to < x->n)
                ret[h] -= weir_state_log_density(s, x->t[to] - x->t[i], x->latency[to]) /
                          (double)(x->n - train);
        }
    }
    weir_state_destroy(s);
}

/* The promise: at most 0.1 nats worse than the best simple forecaster, on every series. */
static void forecasts_lose_at_most_a_tenth_of_a_nat(void **state)
{
    (void)state;
    for (size_t k = 0; k < NREFERENCES; k++) {
        struct reference r;
        double loss[NHORIZONS];

        reference_open(&r, k);
        rolling_losses(loss, &r.s[0]);
        for (size_t h = 0; h < NHORIZONS; h++) {
            double best = INFINITY;

            for (size_t b = 0; b < sizeof baselines / sizeof baselines[0]; b++) {
                char path[96];

                snprintf(path, sizeof path, "forecast.horizons.%zu.%s.logs_ln", horizons[h].steps,
                         baselines[b]);
                best = fmin(best, reference_real(&r, path));
            }
            if (!(loss[h] <= best + horizons[h].most))
                fail_msg("%s %s, %zu ahead: %.4f against %.4f", r.name, r.op, horizons[h].steps,
                         loss[h], best);
        }
        reference_close(&r);
    }
}

static void nothing_allocates_after_creation(void **state)
{
    (void)state;
    struct reference r;
    struct weir_state *s = weir_state_create(NULL);

    reference_open(&r, 2);
    struct mallinfo2 before = mallinfo2();

    for (size_t i = 0; i < r.s[0].n; i++) {
        weir_state_observe(s, r.s[0].t[i], r.s[0].latency[i]);
        weir_state_quantile(s, 60, 0.9);
        weir_state_advise(s, NULL, r.s[0].t[i], 0, 0, NULL);
    }
    struct mallinfo2 after = mallinfo2();

    assert_int_equal(before.uordblks, after.uordblks);
    assert_int_equal(before.hblkhd, after.hblkhd);
    weir_state_destroy(s);
    reference_close(&r);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct weir_state_config bad = {.size = sizeof bad, .states = 7};
    struct weir_state *s = weir_state_create(NULL);

    assert_null(weir_state_create(&bad));
    assert_true(isnan(weir_state_quantile(s, 1, 0.5)));
    assert_int_equal(weir_state_observe(s, 0, -1), WEIR_STATE_BAD);
    assert_int_equal(weir_state_observe(s, NAN, 1), WEIR_STATE_BAD);
    assert_int_equal(weir_state_observe(s, 5, 1), WEIR_STATE_OK);
    assert_int_equal(weir_state_observe(s, 4, 1), WEIR_STATE_BAD);
    assert_int_equal(weir_state_observe(s, 5, 1), WEIR_STATE_OK);
    assert_int_equal(weir_state_refit(s), WEIR_STATE_TOO_FEW);
    assert_int_equal(weir_state_observations(s), 2);
    assert_true(weir_state_quantile(s, 1, 0.5) > 0);
    weir_state_destroy(s);
    weir_state_destroy(NULL);
}

/* Latencies that repeat exactly every `period` probes. */
static struct weir_state *repeating(int period, int n)
{
    struct weir_state *s = weir_state_create(NULL);
    struct wr_rng g;
    double level[64];

    wr_rng_init(&g, 5, (uint32_t)period, 0);
    for (int i = 0; i < period; i++)
        level[i] = -5 + (period == 20 ? i < 10 : 1.5 * wr_rng_unit(&g));
    for (int i = 0; i < n; i++)
        assert_int_equal(weir_state_observe(s, 60.0 * i, exp(level[i % period])), WEIR_STATE_OK);
    return s;
}

static void a_series_that_repeats_is_named(void **state)
{
    static const struct {
        int period, n;
    } series[] = {{2, 60}, {7, 60}, {7, 720}, {20, 120}, {20, 1000}, {48, 300}, {60, 720}};

    (void)state;
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        struct weir_state *s = repeating(series[i].period, series[i].n);
        double gain = 0;

        close_to("period", weir_state_period(s, &gain), 60.0 * series[i].period, 1e-6);
        if (!(gain > 0.3))
            fail_msg("period %d: a gain of %g", series[i].period, gain);
        assert_true(weir_state_health(s) < exp(-gain));
        weir_state_destroy(s);
    }
}

/* Hidden Markov chains, real disks and daily benchmarks: no period. */
static void other_series_are_not_taken_to_repeat(void **state)
{
    (void)state;
    for (size_t k = 0; k < NREFERENCES; k++) {
        struct reference r;
        struct weir_state *s = weir_state_create(NULL);
        double gain = 7;

        reference_open(&r, k);
        for (size_t i = 0; i < r.s[0].n; i++) {
            weir_state_observe(s, r.s[0].t[i], r.s[0].latency[i]);
            if (i % 211 == 60 && weir_state_period(s, &gain) != 0)
                fail_msg("%s: a period of %g s after %zu", r.name, weir_state_period(s, NULL), i);
        }
        if (weir_state_period(s, &gain) != 0 || gain != 0)
            fail_msg("%s: a period of %g s", r.name, weir_state_period(s, NULL));
        weir_state_destroy(s);
        reference_close(&r);
    }
}

static void forecasts_that_were_checked_are_counted(void **state)
{
    struct weir_state *s = weir_state_create(NULL);

    (void)state;
    assert_int_equal(weir_state_checked(s, 60), 0);
    for (int i = 0; i < 60; i++)
        weir_state_observe(s, 60.0 * i, 0.004 + 1e-4 * (i % 3));
    assert_int_equal(weir_state_checked(s, 1), 59);
    assert_int_equal(weir_state_checked(s, 60), 59);
    assert_int_equal(weir_state_checked(s, 900), 45);
    assert_int_equal(weir_state_checked(s, 3600), 0);
    assert_int_equal(weir_state_checked(s, 1e9), 0);
    weir_state_destroy(s);
}

/* Beside a model that was set, what its slowest state does counts as seen. */
static void a_mean_is_bounded_by_what_was_seen_and_what_is_known(void **state)
{
    static const double q[] = {-1e-3, 1e-3, 1e-3, -1e-3}, mu[] = {-5, -2}, sd[] = {0.1, 0.1};
    struct weir_state_config c = {.size = sizeof c, .states = 2, .refit_every = -1};
    struct weir_state *known = weir_state_create(&c), *seen = weir_state_create(&c);

    (void)state;
    weir_state_set_model(known, 2, q, mu, sd);
    weir_state_observe(known, 0, exp(-5));
    weir_state_observe(seen, 0, exp(-5));
    assert_true(weir_state_mean(seen, 1e5) <= exp(-5) * (1 + 1e-9));
    assert_true(weir_state_mean(known, 1e5) > 2 * exp(-5));
    assert_true(weir_state_mean(known, 1e5) < exp(-2));
    weir_state_destroy(known);
    weir_state_destroy(seen);
}

/* A level never seen before: the model's weight falls, the forecast follows. */
static void a_new_regime_is_followed(void **state)
{
    (void)state;
    struct weir_state *s = weir_state_create(NULL);
    struct wr_rng *g = calloc(1, sizeof *g);

    wr_rng_init(g, 1, 1, 1);
    for (int i = 0; i < 400; i++)
        weir_state_observe(s, 60.0 * i, exp(-5 + (i / 40 % 2) + 0.1 * wr_rng_normal(g)));
    for (int i = 400; i < 440; i++)
        weir_state_observe(s, 60.0 * i, exp(2 + 0.1 * wr_rng_normal(g)));
    double median = weir_state_quantile(s, 60, 0.5);

    if (!(median > exp(1.5) && median < exp(2.5)))
        fail_msg("median %g", median);
    weir_state_destroy(s);
    free(g);
}

/* Quantiles are found from exact tails, exceedances from a table: they undo each other, also far
 * out. */
static void a_quantile_is_exceeded_as_often_as_it_says(void **state)
{
    (void)state;
    struct weir_state *s = weir_state_create(NULL);
    struct wr_rng *g = calloc(1, sizeof *g);

    wr_rng_init(g, 2, 1, 1);
    for (int i = 0; i < 700; i++) {
        weir_state_observe(s, 60.0 * i, exp(-5 + (i / 40 % 3) + 0.1 * wr_rng_normal(g)));
        if (i % 100 != 5 && i % 100 != 77)
            continue;
        for (double above = 0.999; above > 1e-14; above *= 0.6) {
            double horizon = 40 + 1e4 * above;

            close_to("above",
                     weir_state_exceeds(s, horizon, weir_state_quantile(s, horizon, 1 - above)),
                     1 - (1 - above), 1e-9);
        }
    }
    assert_true(weir_state_exceeds(s, 60, 0) == 1);
    assert_true(weir_state_exceeds(s, 60, INFINITY) == 0);
    weir_state_destroy(s);
    free(g);
}

/* A step is a step however often it was made before: jittered and repeated ones, many horizons. */
static void probabilities_do_not_depend_on_what_was_asked_before(void **state)
{
    (void)state;
    static const double q[] = {-1e-3, 8e-4, 2e-4, 2e-3, -3e-3, 1e-3, 5e-4, 5e-4, -1e-3};
    static const double mu[] = {-5, -4, -3}, sd[] = {0.1, 0.2, 0.3};
    struct weir_state_config c = {.size = sizeof c, .refit_every = -1};
    struct weir_state *often = weir_state_create(&c);

    weir_state_set_model(often, 3, q, mu, sd);
    for (int i = 0; i < 50; i++)
        weir_state_observe(often, 60.0 * i, exp(-5 + i % 3));
    for (int i = 0; i < 200; i++) {
        struct weir_state *fresh = weir_state_create(&c);
        double a[3], b[3], horizon = i % 2 ? 300 : 7.3 * i;

        weir_state_set_model(fresh, 3, q, mu, sd);
        for (int j = 0; j < 50; j++)
            weir_state_observe(fresh, 60.0 * j, exp(-5 + j % 3));
        weir_state_probabilities(often, horizon, a, 3);
        weir_state_probabilities(fresh, horizon, b, 3);
        close_to("sum", a[0] + a[1] + a[2], 1, 1e-12);
        for (int j = 0; j < 3; j++)
            close_to("state", a[j], b[j], 1e-12);
        weir_state_destroy(fresh);
    }
    weir_state_destroy(often);
}

static enum weir_state_advice never(const struct weir_state_view *v, void *arg)
{
    *(double *)arg = v->cost_s;
    return WEIR_STATE_WAIT;
}

static void advice_keeps_the_budget_and_the_hour(void **state)
{
    (void)state;
    struct weir_state *s = weir_state_create(NULL);
    struct weir_state_view v;
    double seen = 0;
    struct weir_state_policy own = {.size = sizeof own, .decide = never, .arg = &seen};

    for (int i = 0; i < 100; i++)
        weir_state_observe(s, 60.0 * i, 0.01 + 1e-4 * (i % 7));
    /* All spent: wait; but after an hour write whatever it costs. */
    assert_int_equal(weir_state_advise(s, NULL, 6000, 1e6, 5900, &v), WEIR_STATE_WAIT);
    assert_int_equal(weir_state_advise(s, NULL, 6000, 1e6, 2000, &v), WEIR_STATE_WRITE);
    assert_int_equal(weir_state_advise(s, NULL, 6000, 0, 5900, &v), WEIR_STATE_WRITE);
    assert_int_equal(weir_state_advise(s, &own, 6000, 0, 5900, &v), WEIR_STATE_WAIT);
    assert_true(seen > 0.005 && seen < 0.02);
    weir_state_destroy(s);
}

/* What is compiled for wide vectors answers as what every processor runs. */
static void wide_vectors_change_nothing(void **state)
{
    (void)state;
    for (int states = 2; states <= 5; states++) {
        struct weir_state_config c = {.size = sizeof c, .states = states};
        struct weir_state *wide = weir_state_create(&c), *plain = weir_state_create(&c);
        struct wr_rng g;

        wr_rng_init(&g, 3, 1, (uint32_t)states);
        weir_state_plainly(plain);
        for (int i = 0; i < 900; i++) {
            double t = 60.0 * i + wr_rng_unit(&g), outlier = i && i % 97 == 0 ? 40 : 0;
            double latency = exp(-5 + (i / 30 % 3) + 0.1 * wr_rng_normal(&g) + outlier);

            weir_state_observe(wide, t, latency);
            weir_state_observe(plain, t, latency);
            double a = weir_state_exceeds(wide, 300, 0.01),
                   b = weir_state_exceeds(plain, 300, 0.01);

            close_to("above", a, b, i < 97 ? 1e-11 : 1e-9);
        }
        weir_state_destroy(wide);
        weir_state_destroy(plain);
    }
}

/* One thread observes, others ask. */
struct sharing {
    struct weir_state *s;
    int refused, nonsense;
};

static void *observe_all(void *arg)
{
    struct sharing *w = arg;

    for (int i = 0; i < 4000; i++)
        w->refused += weir_state_observe(w->s, i, 0.01 + 1e-5 * (i % 13)) != WEIR_STATE_OK;
    return NULL;
}

static void *ask_all(void *arg)
{
    struct sharing *w = arg;
    double p[8];

    for (int i = 0; i < 2000; i++) {
        double above = weir_state_exceeds(w->s, 60, 0.01),
               median = weir_state_quantile(w->s, 5, 0.5);
        int k = weir_state_probabilities(w->s, 5, p, 8);

        w->nonsense += !(above >= 0 && above <= 1 + 1e-12) && !isnan(above);
        w->nonsense += !(median > 0) && !isnan(median);
        for (int j = 0; j < k; j++)
            w->nonsense += !(p[j] >= 0 && p[j] <= 1 + 1e-9);
        weir_state_advise(w->s, NULL, 4000 + i, 0, 0, NULL);
        if (i % 200 == 0)
            weir_state_refit(w->s);
    }
    return NULL;
}

static void threads_may_share_one(void **state)
{
    (void)state;
    struct weir_state *s = weir_state_create(NULL);
    struct sharing each[4] = {{s, 0, 0}, {s, 0, 0}, {s, 0, 0}, {s, 0, 0}};
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i ? ask_all : observe_all, &each[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(each[i].refused + each[i].nonsense, 0);
    }
    assert_int_equal(weir_state_observations(s), 4000);
    weir_state_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_model_alone_answers_as_the_reference_does),
        cmocka_unit_test(a_model_that_fits_is_trusted),
        cmocka_unit_test(forecasts_lose_at_most_a_tenth_of_a_nat),
        cmocka_unit_test(nothing_allocates_after_creation),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_series_that_repeats_is_named),
        cmocka_unit_test(other_series_are_not_taken_to_repeat),
        cmocka_unit_test(forecasts_that_were_checked_are_counted),
        cmocka_unit_test(a_mean_is_bounded_by_what_was_seen_and_what_is_known),
        cmocka_unit_test(a_new_regime_is_followed),
        cmocka_unit_test(a_quantile_is_exceeded_as_often_as_it_says),
        cmocka_unit_test(probabilities_do_not_depend_on_what_was_asked_before),
        cmocka_unit_test(advice_keeps_the_budget_and_the_hour),
        cmocka_unit_test(wide_vectors_change_nothing),
        cmocka_unit_test(threads_may_share_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
