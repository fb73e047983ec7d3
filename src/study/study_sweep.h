/* study_sweep.h -- one configuration under many loads, routings and seeds.
 *
 * Each point is a simulation of its own, in a process of its own, so as many
 * run at once as there are cores; what a point gives depends on its
 * configuration alone. Points are handed out heaviest first, because those
 * take longest.
 */
#ifndef STUDY_STUDY_SWEEP_H
#define STUDY_STUDY_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "run/run.h"

struct study_sweep {
    const char *file;        /* the configuration */
    const char *const *sets; /* overrides for every point */
    size_t nsets;
    /* One curve each, as machine.routing would be written; without any, the
     * configuration's makes the only curve, and `series` is its name. */
    const char *const *routings;
    size_t nroutings;
    const char *series;
    const double *loads;
    size_t nloads;
    uint32_t seeds; /* seed, seed + 1, ... of the configuration */
    uint32_t jobs;  /* processes at once */
};

/* Loads every configuration the sweep will use and opens its machine, so that
 * what is wrong is said before anything is simulated. */
bool study_sweep_check(const struct study_sweep *s, struct wr_err *err);

/* Runs all points into `run`. Ctrl-C ends it: *ret_interrupted, and the points
 * that were finished are in the run file. */
bool study_sweep_run(const struct study_sweep *s, struct run *run, struct wr_progress *progress,
                     bool *ret_interrupted, struct wr_err *err);

#endif
