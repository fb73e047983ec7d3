/* policy_trial.h -- policies of when to write, tried on a simulated path.
 *
 *   period:  |----.----.----.----.----|----.----.-- ...      one write of `probes` probes in each
 *            ^ always                  a dot: a probe, whose latency the library sees, and a chance
 *                                      to write
 *
 * The hidden path is the one that the storage device `state` follows. What a write costs if it
 * begins at t is the time until its probes are done, each at the mean latency of the state that it
 * meets: the same for all policies, which differ only in when they begin.
 *
 *   always      at the beginning of each period
 *   when idle   as forecasts of libweir-state from the probes so far advise, at the latest at the
 *               last chance: it waits while a write now is expected to cost more than one later
 *   oracle      at the cheapest chance of the period: a bound, since the future is not known
 */
#ifndef STATE_POLICY_TRIAL_H
#define STATE_POLICY_TRIAL_H

#include "base/err.h"
#include "stat/sample.h"
#include "state/hmm/hmm.h"

enum state_policy { STATE_ALWAYS, STATE_WHEN_IDLE, STATE_ORACLE, STATE_POLICIES };
extern const char *const state_policy_names[STATE_POLICIES];

struct state_trial_how {
    double period_s, step_s; /* a write in each period, a probe and a chance in each step */
    double probes;           /* how many probes' size a write has */
    uint32_t periods;
    uint64_t seed;
    bool known; /* the library begins with the model; else it learns from the probes alone */
};

struct state_trial_policy {
    double mean_s, p90_s;        /* of a write */
    struct stat_interval regret; /* mean over periods of the cost less the oracle's, 95 % */
    double waited_s;             /* mean, from the beginning of the period to that of the write */
};

struct state_trial {
    struct state_trial_policy policy[STATE_POLICIES];
    double saved; /* what always-write loses against the oracle, the part that when-idle saves; NaN:
                     nothing is lost */
};

/* Fails where a write takes longer than a period on average, or the library cannot be made. */
bool state_policy_try(struct state_trial *ret, const struct hmm_model *m,
                      const struct state_trial_how *how, struct wr_err *err);

#endif
