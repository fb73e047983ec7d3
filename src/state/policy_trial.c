/* policy_trial.c -- simulates a path, its probes and the three policies of policy_trial.h.
 *
 * The path is drawn once and kept as its jumps; costs of all chances of a period are worked out
 * before the policies choose, so that all choose among the same.
 */
#include "state/policy_trial.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "stat/moments.h"
#include "state/lib/weir-state.h"
#include "state/model/simulate.h"

const char *const state_policy_names[STATE_POLICIES] = {"always", "when idle", "oracle"};

enum { FOR_PATH = 0x7370, FOR_LATENCY = 0x736c }; /* as the storage device's */

/* A stretch of the path in one state. */
struct trial_stay {
    double until_s;
    int state;
};

struct trial {
    const struct hmm_model *m;
    const struct state_trial_how *how;
    WR_VEC(struct trial_stay) stay;
    double mean_s[HMM_STATES]; /* of a probe */
    struct wr_rng latency;
    struct weir_state *lib;
    size_t chances;             /* of a period */
    double *cost_s;             /* [chances], of the period under way */
    double *at[STATE_POLICIES]; /* [periods], what each policy's write cost */
    double waited_s[STATE_POLICIES];
};

/* E exp(x) of a state's ln latencies. A Weibull state's is a Gamma function. */
static double trial_mean_s(const struct hmm_model *m, int s)
{
    const double *p = m->emit[s];
    double one = exp(p[HMM_LOC] + p[HMM_SPREAD] * p[HMM_SPREAD] / 2);

    if (m->family == HMM_WEIBULL)
        return exp(p[HMM_LOC]) * tgamma(1 + p[HMM_SPREAD]);
    if (m->family != HMM_MIXTURE)
        return one;
    double two = exp(p[HMM_LOC2] + p[HMM_SPREAD2] * p[HMM_SPREAD2] / 2);

    return (1 - p[HMM_WEIGHT2]) * one + p[HMM_WEIGHT2] * two;
}

static void trial_draw_path(struct trial *t, double end_s)
{
    struct state_path path;
    struct wr_rng g;

    wr_rng_init(&g, t->how->seed, 0, FOR_PATH);
    state_path_open(&path, t->m, &g);
    for (double at_s = 0; at_s < end_s;) {
        int s = state_path_at(&path, at_s);

        wr_vec_push(&t->stay, (struct trial_stay){path.until_s, s});
        at_s = path.until_s;
    }
}

/* The stay that t_s lies in. */
static size_t trial_find(const struct trial *t, double t_s)
{
    size_t low = 0, high = t->stay.n - 1;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (t->stay.v[mid].until_s <= t_s)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* How long a write takes that begins at t_s. */
static double trial_cost_s(const struct trial *t, double t_s)
{
    double left = t->how->probes, at_s = t_s;

    for (size_t i = trial_find(t, t_s);; i++) {
        double each = t->mean_s[t->stay.v[i].state];
        bool last = i + 1 == t->stay.n;

        if (last || at_s + left * each <= t->stay.v[i].until_s)
            return at_s + left * each - t_s;
        left -= (t->stay.v[i].until_s - at_s) / each;
        at_s = t->stay.v[i].until_s;
    }
}

/* What is left of a period, and what a write costs in the idle state and at the period's end. */
struct trial_outlook {
    double left_s, idle_s, end_s;
};

/* Writes unless waiting is expected to be cheaper: the path becomes idle in time with probability
 * 1 - exp(-left / expected time to idle), and then a write costs what it does there; else it is
 * made at the end of the period. */
static enum weir_state_advice trial_decide(const struct weir_state_view *v, void *arg)
{
    const struct trial_outlook *o = arg;
    double reached = v->time_to_idle_s > 0 ? 1 - exp(-o->left_s / v->time_to_idle_s) : 1;
    double later_s = reached * o->idle_s + (1 - reached) * o->end_s;

    return later_s < v->cost_s && v->p_idle < 0.5 ? WEIR_STATE_WAIT : WEIR_STATE_WRITE;
}

static bool trial_advises(const struct trial *t, double now_s, double begin_s)
{
    double loc[HMM_STATES], spread[HMM_STATES];
    struct trial_outlook outlook = {.left_s = begin_s + t->how->period_s - now_s};
    struct weir_state_policy policy = {.size = sizeof policy,
                                       .longest_s = 10 * t->how->period_s,
                                       .probes_per_write = t->how->probes,
                                       .decide = trial_decide,
                                       .arg = &outlook};

    if (!weir_state_get_model(t->lib, NULL, loc, spread))
        return true; /* nothing is known yet */
    outlook.idle_s = t->how->probes * exp(loc[0] + spread[0] * spread[0] / 2);
    outlook.end_s = t->how->probes * weir_state_mean(t->lib, outlook.left_s);
    return weir_state_advise(t->lib, &policy, now_s, 0, begin_s, NULL) == WEIR_STATE_WRITE;
}

/* The chance that the library chooses. Probes go on, except while the write is under way. */
static size_t trial_when_idle(struct trial *t, double begin_s)
{
    size_t chosen = t->chances;

    for (size_t i = 0; i < t->chances; i++) {
        double now_s = begin_s + (double)i * t->how->step_s;

        if (chosen < i && now_s < begin_s + (double)chosen * t->how->step_s + t->cost_s[chosen])
            continue;
        int s = t->stay.v[trial_find(t, now_s)].state;

        weir_state_observe(t->lib, now_s, exp(state_draw(t->m, s, &t->latency)));
        if (chosen == t->chances && (i + 1 == t->chances || trial_advises(t, now_s, begin_s)))
            chosen = i;
    }
    return chosen;
}

static size_t trial_cheapest(const struct trial *t)
{
    size_t best = 0;

    for (size_t i = 1; i < t->chances; i++)
        if (t->cost_s[i] < t->cost_s[best])
            best = i;
    return best;
}

static void trial_period(struct trial *t, uint32_t n)
{
    double begin_s = n * t->how->period_s;
    size_t chosen[STATE_POLICIES] = {0};

    for (size_t i = 0; i < t->chances; i++)
        t->cost_s[i] = trial_cost_s(t, begin_s + (double)i * t->how->step_s);
    chosen[STATE_WHEN_IDLE] = trial_when_idle(t, begin_s);
    chosen[STATE_ORACLE] = trial_cheapest(t);
    for (int p = 0; p < STATE_POLICIES; p++) {
        t->at[p][n] = t->cost_s[chosen[p]];
        t->waited_s[p] += (double)chosen[p] * t->how->step_s / t->how->periods;
    }
}

static void trial_sum(struct state_trial *ret, const struct trial *t)
{
    uint32_t n = t->how->periods;
    double *x = wr_alloc((n + 1) * sizeof *x);

    for (int p = 0; p < STATE_POLICIES; p++) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = t->at[p][i] - t->at[STATE_ORACLE][i];
        ret->policy[p].regret = stat_mean_interval(x, n, 0.95);
        ret->policy[p].mean_s = stat_mean(t->at[p], n);
        ret->policy[p].waited_s = t->waited_s[p];
        memcpy(x, t->at[p], n * sizeof *x);
        stat_sort(x, n);
        ret->policy[p].p90_s = stat_quantile(x, n, 0.9);
    }
    free(x);
    double lost = ret->policy[STATE_ALWAYS].regret.mid;

    ret->saved = lost > 0.001 * ret->policy[STATE_ORACLE].mean_s
                     ? 1 - ret->policy[STATE_WHEN_IDLE].regret.mid / lost
                     : NAN;
}

static bool trial_open(struct trial *t, struct wr_err *err)
{
    double share[HMM_STATES], mean_s = 0, rates[HMM_STATES * HMM_STATES], loc[HMM_STATES],
                              spread[HMM_STATES];
    int k = t->m->k;

    hmm_stationary(share, t->m, 0);
    for (int s = 0; s < k; s++) {
        t->mean_s[s] = trial_mean_s(t->m, s);
        mean_s += share[s] * t->mean_s[s];
        loc[s] = t->m->emit[s][HMM_LOC];
        spread[s] = t->m->emit[s][HMM_SPREAD];
    }
    memcpy(rates, t->m->q[0], (size_t)(k * k) * sizeof *rates);
    if (mean_s * t->how->probes > t->how->period_s / 2)
        return wr_fail(err, WR_INPUT,
                       "a write takes %.3g s on average, more than half of the period of %.3g s; "
                       "make writes smaller or periods longer",
                       mean_s * t->how->probes, t->how->period_s);
    t->lib = weir_state_create(NULL);
    if (!t->lib || (t->how->known && weir_state_set_model(t->lib, k, rates, loc, spread)))
        return wr_fail(err, WR_SYSTEM,
                       "the library refused the model or had no memory; try "
                       "without it being known");
    return true;
}

bool state_policy_try(struct state_trial *ret, const struct hmm_model *m,
                      const struct state_trial_how *how, struct wr_err *err)
{
    struct trial t = {.m = m, .how = how, .chances = (size_t)(how->period_s / how->step_s)};

    assert(how->periods >= 2 && t.chances >= 2 && how->probes > 0);
    bool ok = trial_open(&t, err);

    if (ok) {
        t.cost_s = wr_zalloc(t.chances, sizeof *t.cost_s);
        for (int p = 0; p < STATE_POLICIES; p++)
            t.at[p] = wr_zalloc(how->periods, sizeof *t.at[p]);
        wr_rng_init(&t.latency, how->seed, 0, FOR_LATENCY);
        trial_draw_path(&t, (how->periods + 1) * how->period_s);
        for (uint32_t i = 0; i < how->periods; i++)
            trial_period(&t, i);
        trial_sum(ret, &t);
    }
    for (int p = 0; p < STATE_POLICIES; p++)
        free(t.at[p]);
    free(t.cost_s);
    wr_vec_fini(&t.stay);
    weir_state_destroy(t.lib);
    return ok;
}
