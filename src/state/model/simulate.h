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

/* A hidden path that depends on its stream of randomness alone, and not on when it is looked at:
 * jumps are drawn one after the other. Times do not go back. */
struct state_path {
    const struct hmm_model *m;
    struct wr_rng g;
    int now, next; /* the state until `until`, and after it */
    double until_s;
};

/* At 0 s it is in the long run's states. The model outlives it. */
void state_path_open(struct state_path *p, const struct hmm_model *m, const struct wr_rng *g);
int state_path_at(struct state_path *p, double t_s);

#endif
