/* describe.h -- a series before any model: density, its valleys as borders of states, sojourns.
 *
 *   log10 latency ─ kernel density ─ valleys ─ labels ─ sojourn times ─ distributions
 *
 * The path of a fitted model may give the labels instead, which is the better way: labels cut at
 * valleys flicker, and flicker looks like short sojourns.
 */
#ifndef STATE_DESCRIBE_H
#define STATE_DESCRIBE_H

#include "stat/family.h"
#include "stat/kde.h"
#include "state/hmm/hmm.h"
#include "state/probes.h"

enum { STATE_CUTS = 256 };

struct state_density {
    enum stat_bandwidth rule;
    double h;
    struct stat_extremum minima[STATE_CUTS], maxima[STATE_CUTS + 1];
    size_t nminima, nmaxima;
};

void state_density_of(struct state_density *ret, const double *latency, size_t n,
                      enum stat_bandwidth rule);

/* Two cuts for three states: beginning with nrd0 the bandwidth grows by 5 % until two valleys are
 * left; if it jumps below two, the two deepest of the step before. */
struct state_cuts {
    double log10_s[2];
    size_t n;
    double h;
};

void state_cuts3(struct state_cuts *ret, const double *latency, size_t n);

/* The label of each latency: how many cuts it is beyond. */
void state_label(uint8_t *ret, const double *latency, size_t n, const struct state_cuts *cuts);

/* Times between changes of label; those that touch a gap (more than 5 median steps) are left out,
 * as are the first and the last. Returns how many; `state` is the label during each. */
size_t state_sojourns(double *ret, uint8_t *ret_state, const double *t, const uint8_t *label,
                      size_t n);

enum { STATE_FAMILIES = 6, STATE_QQ = 17 };
extern const double state_qq_p[STATE_QQ];

struct state_family_fit {
    const struct stat_family *family;
    bool fits;
    double p[2], loglik, aic;
    double ks, ks_p_exact, ks_p_limit, ks_p_fitted; /* the last is NaN when not asked for */
    double qq_fitted[STATE_QQ], qq_sample[STATE_QQ];
};

/* All families; `rounds` of the bootstrap, 0: none. */
void state_fit_families(struct state_family_fit ret[STATE_FAMILIES], const double *sojourn,
                        size_t n, uint32_t rounds, uint64_t seed);

/* Is the level of ln latency the same throughout? Kwiatkowski, Phillips, Schmidt and Shin, 1992:
 * the statistic, and its p between 0.01 and 0.1 (the ends mean "at most", "at least"). */
struct state_kpss {
    double statistic, p;
};

struct state_kpss state_stationarity(const double *latency, size_t n);

#endif
