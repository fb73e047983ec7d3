/* Policies of when to write, tried on simulated paths. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "state/model/model.h"
#include "state/policy_trial.h"

static const struct state_trial_how hours = {
    .period_s = 3600, .step_s = 60, .probes = 1000, .periods = 200, .seed = 4};

static void try_model(struct state_trial *ret, const char *json, const struct state_trial_how *how)
{
    struct wr_err err = {0};
    struct hmm_model m;

    if (!state_model_parse(&m, "m", json, strlen(json), &err) ||
        !state_policy_try(ret, &m, how, &err))
        fail_msg("%s", err.text);
}

#define TWO \
    "{\"meanlog\": [-6, -3], \"sdlog\": [0.1, 0.1], \"Q\": [[-0.001, 0.001], [0.001, -0.001]]}"

static void with_one_state_it_does_not_matter_when_to_write(void **state)
{
    struct state_trial t;

    (void)state;
    try_model(&t, "{\"meanlog\": [-6], \"sdlog\": [0.1], \"Q\": [[0]]}", &hours);
    for (int p = 0; p < STATE_POLICIES; p++) {
        assert_true(fabs(t.policy[p].mean_s / (1000 * exp(-6 + 0.005)) - 1) < 1e-9);
        assert_true(fabs(t.policy[p].regret.mid) < 1e-9);
    }
}

/* The mean of the two states, the one that the oracle nearly always finds, and one in between. */
static void waiting_costs_less_than_always_and_more_than_the_oracle(void **state)
{
    double idle_s = 1000 * exp(-6 + 0.005), busy_s = 1000 * exp(-3 + 0.005);
    const struct state_trial_policy *p;
    struct state_trial t;

    (void)state;
    try_model(&t, TWO, &hours);
    p = t.policy;
    assert_true(fabs(p[STATE_ALWAYS].mean_s / ((idle_s + busy_s) / 2) - 1) < 0.2);
    assert_true(p[STATE_ORACLE].mean_s >= idle_s);
    assert_true(p[STATE_ORACLE].mean_s < p[STATE_WHEN_IDLE].mean_s);
    assert_true(p[STATE_WHEN_IDLE].mean_s < p[STATE_ALWAYS].mean_s / 2);
    assert_true(p[STATE_WHEN_IDLE].regret.mid > 0);
    assert_true(p[STATE_ALWAYS].waited_s == 0);
    assert_true(t.saved > 0.6 && t.saved < 1);
}

static void the_same_seed_gives_the_same_bits(void **state)
{
    struct state_trial_how other = hours;
    struct state_trial a, b, c;

    (void)state;
    other.seed = 5;
    try_model(&a, TWO, &hours);
    try_model(&b, TWO, &hours);
    try_model(&c, TWO, &other);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.policy[STATE_ALWAYS].mean_s != c.policy[STATE_ALWAYS].mean_s);
}

static void a_write_that_does_not_fit_is_refused(void **state)
{
    struct state_trial_how large = hours;
    struct wr_err err = {0};
    struct state_trial t;
    struct hmm_model m;

    (void)state;
    large.probes = 1e6;
    assert_true(state_model_parse(&m, "m", TWO, strlen(TWO), &err));
    assert_false(state_policy_try(&t, &m, &large, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "more than half of the period"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_one_state_it_does_not_matter_when_to_write),
        cmocka_unit_test(waiting_costs_less_than_always_and_more_than_the_oracle),
        cmocka_unit_test(the_same_seed_gives_the_same_bits),
        cmocka_unit_test(a_write_that_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
