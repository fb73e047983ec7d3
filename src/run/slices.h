/* slices.h -- slices of some of a run's series, read as cheaply as the file allows.
 *
 * A complete run of many slices has them gathered by RUN_GATHER besides (gather.c): an eighth of
 * the rows, for pictures that have fewer dots than the run has slices.
 */
#ifndef RUN_SLICES_H
#define RUN_SLICES_H

#include "run/reader.h"

struct run_slices {
    int64_t first_ps, last_ps; /* beginnings of the first and the last */
    int64_t dt_ps;             /* the shortest usual width; 0: none is told */
    double n;                  /* slices of that width from the first to the last; 0: none */
    double nseries;            /* that the file has */
    bool gathered;             /* the file has them gathered, RUN_GATHER * dt_ps from 0 on */
};

bool run_slices(struct run_slices *ret, struct run_reader *r, struct wr_err *err);

/* A slice, or what several were gathered into. */
struct run_heap {
    uint32_t series; /* id in fact_series */
    int64_t t_ps;
    int64_t dt_ps; /* 0: the series' usual width, or that of RUN_GATHER slices */
    double sum, most;
    double n;
};

typedef bool run_each_heap(void *ctx, const struct run_heap *h);

/* Those of the series with wanted[id] != 0, in the order of time. The function returns false to
 * stop. `gathered`: only where the file has them. */
bool run_each_slice(struct run_reader *r, const struct run_slices *s, const uint32_t *wanted,
                    size_t n, bool gathered, run_each_heap *fn, void *ctx, struct wr_err *err);

#endif
