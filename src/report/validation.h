/* validation.h -- simulated runs against measured ones, quantity by quantity.
 *
 *   run files ──> values (job, quantity, unit) ──> pairs by job and quantity ──> relative error
 *                 one or several runs per side     what only one side has        with an interval
 *
 * A quantity is a row of one of the queries in validation.c: times, rates, volumes, counts,
 * latencies. It has a value per run; some are means over samples of a run (ranks, messages,
 * repetitions). Where a side has several runs they are repetitions, and the interval of the error
 * is over runs; else over the samples of the one run; else there is none.
 */
#ifndef REPORT_VALIDATION_H
#define REPORT_VALIDATION_H

#include "base/mem.h"
#include "report/runs.h"
#include "stat/sample.h"

enum report_error_over {
    REPORT_ERROR_ONE_RUN, /* one value on both sides: no interval */
    REPORT_ERROR_RUNS,
    REPORT_ERROR_SAMPLES,
};

/* One side of a quantity. */
struct report_estimate {
    double mean;           /* over runs; NaN: this side does not have it */
    uint64_t runs;         /* in which it is */
    uint64_t n;            /* samples of the one run; of several runs: of all */
    double error, freedom; /* standard error of the mean and its degrees of freedom; 0: exact */
};

struct report_quantity {
    const char *job; /* "": of the run as a whole */
    const char *name;
    const char *unit;    /* "ns", "B", "B/s", ...; "": a count */
    const char *samples; /* what n counts: "ranks", "messages", ... */
    struct report_estimate simulated, measured;
    struct stat_interval error; /* simulated / measured - 1; ends NaN: one run */
    enum report_error_over over;
};

/* Filled by report_validate(), read only after it; all text lives in the arena. */
struct report_validation {
    struct wr_arena arena;
    WR_VEC(struct report_quantity) v; /* by job and quantity, in the order of the queries */
    size_t pairs;                     /* of them on both sides */
    const char *renamed[2]; /* the only job of each side, if their names differ; else NULL */
};

struct report_validate_how {
    bool by_rank;            /* times of each rank, too */
    const char *const *jobs; /* "SIMULATED=MEASURED": names of the same job */
    size_t njobs;
    const char *const *only; /* quantities to compare, with `*` and `?`; none: all */
    size_t nonly;
};

/* Intervals are of 95 %. Fails where no quantity is on both sides. */
bool report_validate(struct report_validation *ret, const struct report_runs *simulated,
                     const struct report_runs *measured, const struct report_validate_how *how,
                     struct wr_err *err);
void report_validation_close(struct report_validation *v);

bool report_quantity_paired(const struct report_quantity *q);
/* Is the error of the pair larger than the tolerance? */
bool report_quantity_beyond(const struct report_quantity *q, double tolerance);
/* "ranks", "runs", or "one run" */
const char *report_quantity_over(const struct report_quantity *q);
/* The unit in which the larger side is at least 1, and how many of q->unit it is: ("ms", 1e6). */
const char *report_quantity_unit(const struct report_quantity *q, double *ret_scale);

/* All pairs together. */
struct report_agreed {
    double mean, worst;                     /* of |error| */
    const struct report_quantity *furthest; /* NULL: no pair */
};
struct report_agreed report_validation_agreed(const struct report_validation *v);

/* Does the file come from a simulation? */
bool report_is_simulated(const struct run_info *info);

#endif
