/* policy.c -- shall I write now? */
#include <math.h>
#include <string.h>

#include "online_priv.h"

/* Defaults; the first two are those of the sentence below. */
#define POLICY_IO_SHARE 0.1
#define POLICY_LONGEST_S 3600
#define POLICY_NOT_DEAR 1.2 /* times the usual price: the states of a path differ by more */
#define POLICY_FULL_PURSE 4 /* usual prices that the budget can save up */

#define API __attribute__((visibility("default")))

/* "As often as possible, at most a tenth of the run time in I/O, at least once an hour": the budget
 * grows with time, and a write is worth its price while it is not dearer than usual. With a full
 * purse even a dear write is made: what is saved beyond that is never spent. */
static enum weir_state_advice policy_default(const struct weir_state_view *v, void *arg)
{
    (void)arg;
    if (!(v->budget_s >= v->cost_s))
        return WEIR_STATE_WAIT;
    if (v->cost_s <= POLICY_NOT_DEAR * v->cost_later_s)
        return WEIR_STATE_WRITE;
    return v->budget_s >= POLICY_FULL_PURSE * v->cost_later_s ? WEIR_STATE_WRITE : WEIR_STATE_WAIT;
}

API enum weir_state_advice weir_state_advise(struct weir_state *s,
                                             const struct weir_state_policy *policy, double t_s,
                                             double spent_s, double last_write_s,
                                             struct weir_state_view *ret)
{
    struct weir_state_policy p = {0};
    struct weir_state_view v = {.t_s = t_s, .since_write_s = t_s - last_write_s};
    double now[HMM_STATES] = {1};

    if (policy)
        memcpy(&p, policy, policy->size && policy->size < sizeof p ? policy->size : sizeof p);
    p.io_share = p.io_share > 0 ? p.io_share : POLICY_IO_SHARE;
    p.longest_s = p.longest_s > 0 ? p.longest_s : POLICY_LONGEST_S;
    p.probes_per_write = p.probes_per_write > 0 ? p.probes_per_write : 1;
    double ahead = 0;

    if (weir_state_observations(s)) {
        pthread_mutex_lock(&s->lock);
        ahead = fmax(t_s - online_now(s)->t, 0);
        pthread_mutex_unlock(&s->lock);
    }
    int k = weir_state_probabilities(s, ahead, now, HMM_STATES);

    v.p_idle = k ? now[0] : NAN;
    v.budget_s = p.io_share * (t_s - p.start_s) - spent_s;
    v.cost_s = p.probes_per_write * weir_state_mean(s, ahead);
    v.cost_later_s = p.probes_per_write * weir_state_mean(s, ahead + p.longest_s);
    v.time_to_idle_s = weir_state_time_to_idle(s);
    v.health = weir_state_health(s);
    if (ret)
        *ret = v;
    if (v.since_write_s >= p.longest_s)
        return WEIR_STATE_WRITE;
    return (p.decide ? p.decide : policy_default)(&v, p.arg);
}
