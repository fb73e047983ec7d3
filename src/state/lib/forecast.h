/* forecast.h -- the whole forecast of a `struct weir_state`, for the rest of weir. */
#ifndef STATE_LIB_FORECAST_H
#define STATE_LIB_FORECAST_H

#include "state/hmm/mix.h"
#include "state/lib/weir-state.h"

/* Untouched before the first observation. */
void weir_state_mix(struct weir_state *s, double horizon_s, struct hmm_mix *ret);

/* From now on as on a processor without wide vectors: the answers are the same to 1e-9. */
void weir_state_plainly(struct weir_state *s);

#endif
