/* The library's forecaster beside forecasters that need no model, on series of quite different
 * character: whatever the data do, it must not lose much to the best of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "prop.h"
#include "state/lib/weir-state.h"
#include "state/validate.h"

enum { N = 300, CASES = 1 };

/* The next ln latency; `m` is what a character remembers. */
struct moment {
    struct wr_rng *g;
    double i, m[2];
};

static bool chance(struct moment *s, double p)
{
    return wr_rng_unit(s->g) < p;
}

static double noise(struct moment *s, double sd)
{
    return sd * wr_rng_normal(s->g);
}

static double two_states(struct moment *s)
{
    if (chance(s, 0.03))
        s->m[0] = !(s->m[0] > 0);
    return -5 + 1.2 * s->m[0] + noise(s, 0.1);
}

static double hasty_states(struct moment *s)
{
    if (chance(s, 0.3))
        s->m[0] = !(s->m[0] > 0);
    return -5 + 1.2 * s->m[0] + noise(s, 0.1);
}

static double five_states(struct moment *s)
{
    if (chance(s, 0.05))
        s->m[0] = wr_rng_below(s->g, 5);
    return -6 + 0.7 * s->m[0] + noise(s, 0.08);
}

static double bursts(struct moment *s)
{
    if (s->m[0] > 0)
        s->m[0] -= 1;
    else if (chance(s, 0.01))
        s->m[0] = 5 + wr_rng_below(s->g, 30);
    return s->m[0] > 0 ? -3 + noise(s, 0.5) : -5.5 + noise(s, 0.08);
}

static double random_walk(struct moment *s)
{
    s->m[0] += noise(s, 0.05);
    return -4 + s->m[0] + noise(s, 0.02);
}

static double drift(struct moment *s)
{
    return -5 + 2 * s->i / N + noise(s, 0.1);
}

static double drifting_states(struct moment *s)
{
    if (chance(s, 0.04))
        s->m[0] = wr_rng_below(s->g, 3);
    return -6 + 0.7 * s->m[0] + 0.8 * s->i / N + noise(s, 0.08);
}

static double waves(struct moment *s)
{
    return -5 + 0.5 * sin(s->i * 2 * M_PI / 144) + noise(s, 0.1);
}

static double every_quarter_hour(struct moment *s)
{
    return -5 + (fmod(s->i, 15) < 1 ? 2 : 0) + noise(s, 0.1);
}

static double heavy_tail(struct moment *s)
{
    return -6 + wr_rng_exp(s->g) / 1.5; /* Pareto */
}

static double rare_spikes(struct moment *s)
{
    return -5 + noise(s, 0.1) + (chance(s, 0.02) ? 3 + noise(s, 1) : 0);
}

static double back_and_forth(struct moment *s)
{
    s->m[0] = -0.7 * s->m[0] + noise(s, 0.2);
    return -5 + s->m[0];
}

static double slow_return(struct moment *s)
{
    s->m[0] = 0.95 * s->m[0] + noise(s, 0.1);
    return -5 + s->m[0];
}

static double changing_noise(struct moment *s)
{
    s->m[0] = 0.98 * s->m[0] + noise(s, 0.15);
    return -5 + noise(s, 0.15 * exp(s->m[0]));
}

static double new_levels(struct moment *s)
{
    if (chance(s, 0.01))
        s->m[0] = noise(s, 2);
    return -5 + s->m[0] + noise(s, 0.1);
}

static double unseen_level(struct moment *s)
{
    return (s->i > 0.6 * N ? -2 : -5) + noise(s, 0.1);
}

static double very_steady(struct moment *s)
{
    return -5 + noise(s, 0.002);
}

static double whole_milliseconds(struct moment *s)
{
    return log(ceil(exp(two_states(s)) * 1000) / 1000);
}

static const struct character {
    const char *name;
    double (*next)(struct moment *s);
} characters[] = {
    {"two states", two_states},
    {"hasty states", hasty_states},
    {"five states", five_states},
    {"bursts", bursts},
    {"random walk", random_walk},
    {"drift", drift},
    {"drifting states", drifting_states},
    {"waves", waves},
    {"every quarter hour", every_quarter_hour},
    {"heavy tail", heavy_tail},
    {"rare spikes", rare_spikes},
    {"back and forth", back_and_forth},
    {"slow return", slow_return},
    {"changing noise", changing_noise},
    {"new levels", new_levels},
    {"a level never seen", unseen_level},
    {"very steady", very_steady},
    {"whole milliseconds", whole_milliseconds},
};
enum { NCHARACTERS = sizeof characters / sizeof characters[0] };

/* One step ahead this is the promise. Further ahead a series that wanders for 300 steps is not
 * enough to learn how far it wanders in 15. */
static const double most_behind[] = {0.1, 0.3, 0.8};

static void judge(const struct character *c, const struct state_validation *v, uint64_t seed)
{
    for (int h = 0; h < v->nhorizons; h++) {
        double best = INFINITY, mine = INFINITY;

        for (int r = 0; r < v->nrows; r++) {
            if (v->row[r].baseline)
                best = fmin(best, v->row[r].at[h].logs_ln);
            else if (!strcmp(v->row[r].name, "rolling"))
                mine = v->row[r].at[h].logs_ln;
        }
        if (!(mine <= best + most_behind[h]))
            fail_msg("%s, seed %llu, %d ahead: %.3f against %.3f", c->name,
                     (unsigned long long)seed, state_horizons[h], mine, best);
    }
}

static void no_character_costs_more_than_a_tenth_of_a_nat(void **state)
{
    /* Nothing is asked of the fixed model; it spares fitting one. */
    static const struct hmm_model fixed = {.k = 2,
                                           .nblocks = 1,
                                           .initial = {0.5, 0.5},
                                           .q = {{-1e-3, 1e-3, 1e-3, -1e-3}},
                                           .emit = {{-5, 1}, {-4, 1}}};
    struct state_validate_opts o = {.model = &fixed, .rounds = 1, .k = 2, .rolling = true};
    uint64_t seed = prop_seed();
    double t[N], latency[N];

    (void)state;
    for (uint32_t i = 0; i < prop_cases(CASES) * NCHARACTERS; i++) {
        const struct character *c = &characters[i % NCHARACTERS];
        struct wr_rng g;
        struct moment s = {.g = &g};
        struct state_series series = {.name = (char *)"series", .t = t, .latency = latency, .n = N};
        struct state_validation v;
        struct hmm_model m;
        struct wr_err err = {0};

        wr_rng_init(&g, seed, i, 1);
        for (int k = 0; k < N; k++, s.i++) {
            t[k] = 60.0 * k + 6 * wr_rng_unit(&g);
            latency[k] = exp(c->next(&s));
        }
        if (!state_validate(&v, &m, &series, &o, &err))
            fail_msg("%s: %s", c->name, err.text);
        assert_int_equal(v.nhorizons, 3);
        judge(c, &v, seed);
    }
}

/* A density has no sense where nothing varies, but the answers have. */
static void a_constant_is_forecast_as_one(void **state)
{
    struct weir_state *w = weir_state_create(NULL);

    (void)state;
    for (int i = 0; i < 400; i++)
        assert_int_equal(weir_state_observe(w, 60.0 * i, 0.004), WEIR_STATE_OK);
    for (double horizon = 60; horizon < 4000; horizon *= 4) {
        double low = weir_state_quantile(w, horizon, 0.05);
        double high = weir_state_quantile(w, horizon, 0.95);

        if (!(low > 0.00399 && high < 0.00401))
            fail_msg("in %g s: %g to %g", horizon, low, high);
    }
    assert_true(weir_state_exceeds(w, 60, 0.005) < 0.02);
    weir_state_destroy(w);
}

/* ---- how forecasts depend on the horizon ---- */

/* A forecaster that has seen the first n of a character's series; the largest of them. */
static struct weir_state *seen_of(const struct character *c, uint64_t seed, int n, double *ret_most)
{
    struct weir_state *w = weir_state_create(NULL);
    struct wr_rng g;
    struct moment s = {.g = &g};

    *ret_most = 0;
    wr_rng_init(&g, seed, (uint32_t)n, 2);
    for (int i = 0; i < n; i++, s.i++) {
        double latency = exp(c->next(&s));

        *ret_most = fmax(*ret_most, latency);
        assert_int_equal(weir_state_observe(w, 60.0 * i + 6 * wr_rng_unit(&g), latency),
                         WEIR_STATE_OK);
    }
    return w;
}

/* Short ones, and those at which a longer horizon is scored for the first time. */
static const int lengths[] = {1, 7, 60, 61, 120};
enum { NLENGTHS = sizeof lengths / sizeof lengths[0] };

/* A little further ahead, what a quantile leaves above it is about the same. */
static void is_continuous(struct weir_state *w, const char *name, int n)
{
    static const double p[] = {0.1, 0.5, 0.99};

    for (double h = 20; h < 15000; h *= 1.37)
        for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
            double at = weir_state_quantile(w, h, p[i]), further = h * 1.001;
            double above = weir_state_exceeds(w, further, at);

            if (!(fabs(above - (1 - p[i])) <= 0.05 * (1 - p[i])))
                fail_msg("%s, %d seen: %g is exceeded by %g in %.5g s and by %g in %.5g s", name, n,
                         at, 1 - p[i], h, above, further);
        }
}

/* Around the horizons that are scored, more closely. */
static void has_no_jump(struct weir_state *w, const char *name, int n)
{
    for (double steps = 1; steps < 100; steps += steps < 10 ? 0.5 : 2.5) {
        double h = 60 * steps, at = weir_state_quantile(w, h, 0.99);
        double above = weir_state_exceeds(w, h + 1e-3, at);

        if (!(fabs(above - 0.01) < 1e-4))
            fail_msg("%s, %d seen: jumps to %g at %g steps", name, n, above, steps);
    }
}

static void forecasts_change_with_the_horizon_without_a_jump(void **state)
{
    uint64_t seed = prop_seed();

    (void)state;
    for (int i = 0; i < NCHARACTERS; i++)
        for (int k = 0; k < NLENGTHS; k++) {
            double most;
            struct weir_state *w = seen_of(&characters[i], seed, lengths[k], &most);

            is_continuous(w, characters[i].name, lengths[k]);
            has_no_jump(w, characters[i].name, lengths[k]);
            weir_state_destroy(w);
        }
}

static void a_mean_is_never_above_what_was_seen(void **state)
{
    uint64_t seed = prop_seed();

    (void)state;
    for (int i = 0; i < NCHARACTERS; i++)
        for (int k = 0; k < NLENGTHS; k++) {
            double most;
            struct weir_state *w = seen_of(&characters[i], seed, lengths[k], &most);

            for (double h = 1; h < 1e6; h *= 3) {
                double mean = weir_state_mean(w, h);

                if (!(mean > 0 && mean <= most * (1 + 1e-12)))
                    fail_msg("%s, %d seen: a mean of %g in %g s, above %g", characters[i].name,
                             lengths[k], mean, h, most);
            }
            weir_state_destroy(w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_character_costs_more_than_a_tenth_of_a_nat),
        cmocka_unit_test(a_constant_is_forecast_as_one),
        cmocka_unit_test(forecasts_change_with_the_horizon_without_a_jump),
        cmocka_unit_test(a_mean_is_never_above_what_was_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
