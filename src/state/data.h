/* data.h -- series made ready for the recursions of state/hmm. */
#ifndef STATE_DATA_H
#define STATE_DATA_H

#include "base/err.h"
#include "state/hmm/work.h"
#include "state/probes.h"

struct state_data_opts {
    int nblocks;         /* parts of the day; 1: none */
    double day_offset_s; /* time of day at t = 0 */
    double rounding_s;   /* latencies are rounded to multiples of this; 0: exact */
};

/* Owns what `data` points to. */
struct state_data {
    struct hmm_data data;
    double *x, *lo, *hi, *dt;
    uint8_t *block;
    size_t seen; /* observations; data.n may be larger by boundaries of parts of the day */
};

void state_data_init(struct state_data *ret, const struct state_series *s, size_t nseries,
                     const struct state_data_opts *opts);
void state_data_fini(struct state_data *d);

#endif
