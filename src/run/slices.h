/* slices.h -- slices of some of a run's series, read as cheaply as the file allows.
 *
 * A complete run with many slices also stores sums over RUN_GATHER neighbours (slices_gather.c): an
 * eighth of the rows, for charts that have fewer points than the run has slices.
 */
#ifndef RUN_SLICES_H
#define RUN_SLICES_H

#include "run/reader.h"

struct run_slices {
    int64_t first_ps, last_ps; /* start of the first and the last */
    int64_t dt_ps;             /* the shortest usual width; 0: not known */
    double n;                  /* slices of that width from the first to the last; 0: none */
    double nseries;            /* series in the file */
    bool gathered;             /* the file has gathered ones, RUN_GATHER * dt_ps wide, from 0 on */
};

bool run_slices(struct run_slices *ret, struct run_reader *r, struct wr_err *err);

/* A slice, or the sum of several. */
struct run_heap {
    uint32_t series; /* id in fact_series */
    int64_t t_ps;
    int64_t dt_ps; /* 0: the series' usual width, or that of RUN_GATHER slices */
    double sum, most;
    double n;
};

typedef bool run_each_heap(void *ctx, const struct run_heap *h);

/* Calls fn for the slices of series with wanted[id] != 0, by time; fn returns false to stop.
 * `gathered`: reads gathered slices; the file must have them. */
bool run_each_slice(struct run_reader *r, const struct run_slices *s, const uint32_t *wanted,
                    size_t n, bool gathered, run_each_heap *fn, void *ctx, struct wr_err *err);

#endif
