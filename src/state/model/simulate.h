/* simulate.h -- series drawn from a model. */
#ifndef STATE_SIMULATE_H
#define STATE_SIMULATE_H

#include "base/rng.h"
#include "state/hmm/hmm.h"

/* Draws ln latencies at times t[0..n-1]. The hidden path is exact: every jump is drawn. The state
 * at t[0] comes from `initial`; where `state` is not NULL it gets the path. */
void state_simulate(double *x, uint8_t *state, const double *t, size_t n, const struct hmm_model *m,
                    const double *initial, struct wr_rng *g);

/* One ln latency of a state. */
double state_draw(const struct hmm_model *m, int s, struct wr_rng *g);

/* The state at `to`, in seconds, of a path that is in state s at `from`. */
int state_advance(const struct hmm_model *m, int s, double from, double to, struct wr_rng *g);

/* One of 0..k-1 by weights. */
int state_pick(const double *w, int k, struct wr_rng *g);

#endif
