/* stack_validate.h -- simulated times of a file system against those of real logs.
 *
 *   log ──> each test ──> simulated with its own servers, processes and IOR command (replay.h)
 *             │                 │
 *             └── measured ─────┴──> one stack_check per function, class or state
 *
 * `weir stack validate` calls stack_validate() and prints the checks. With `left_out` every test is
 * predicted by timing models that were calibrated without the tests of its size of a call.
 */
#ifndef STACK_VALIDATE_H
#define STACK_VALIDATE_H

#include "base/mem.h"
#include "run/run.h"
#include "stack/calib.h"
#include "stack/stack_log.h"

/* What is compared beside reads and writes. */
enum stack_check_by {
    STACK_CHECK_BY_FUNCTION,
    STACK_CHECK_BY_CLASS,
    STACK_CHECK_BY_STATE,
    STACK_CHECK_BY_ALL
};

enum stack_check_kind {
    STACK_CHECK_IO,       /* a read or write of the application */
    STACK_CHECK_FUNCTION, /* an operation, request or call as a whole */
    STACK_CHECK_WORK,     /* the work of a state that is a function of the published model */
    STACK_CHECK_TOTAL,    /* the same with its waiting */
    STACK_CHECK_CLASS,    /* seconds of a class of states, per node and run */
    STACK_CHECK_STATE,    /* the work of any state */
    STACK_CHECK_KINDS
};
extern const char *const stack_check_kinds[STACK_CHECK_KINDS]; /* "io", "function", ... */

/* One quantity of one test: measured and simulated. Times are in seconds. */
struct stack_check {
    enum stack_check_kind kind;
    const struct stack_log_test *test;
    const char *beyond; /* why the test is extrapolated; NULL: it is not */
    char name[160];
    size_t n;                /* measured values */
    double p10, median, p90; /* of them; p10 and p90 are values */
    double simulated;
    double low, high; /* the band in which eight of ten values should lie; NaN: not known */
    size_t held;      /* of the n values, how many lie in the band */
    double runs; /* median relative error when each run is predicted by the others of its test; NaN:
                    there is one run. No timing model can be expected to be nearer. */
};

struct stack_checks {
    WR_VEC(struct stack_check) row; /* in the order of the tests */
    char **beyond;                  /* [tests + 1] by number, why each is extrapolated, or NULL */
    size_t ntests;
};

struct stack_validate_how {
    enum stack_check_by by;
    bool left_out;
    enum stack_see see; /* of the models calibrated for left_out */
};

/* The log outlives the checks, which point into it. Fails where the log has no reads or writes. */
bool stack_validate(struct stack_checks *ret, const struct stack_log *log,
                    struct stack_timings *models, const struct stack_validate_how *how,
                    struct wr_err *err);
void stack_checks_fini(struct stack_checks *c);

/* simulated / measured median - 1; NaN: nothing was measured */
double stack_check_error(const struct stack_check *r);
/* Does the simulated time lie between p10 and p90, and the measured median in the band? */
bool stack_check_inside(const struct stack_check *r);
bool stack_check_in_band(const struct stack_check *r);

/* How many checks hold. */
struct stack_verdict {
    double worst_io;                 /* largest error of reads and writes */
    size_t functions, near;          /* functions and their states; within STACK_NEAR */
    size_t repeated;                 /* of the functions, those measured in several runs */
    size_t steady, steady_near;      /* whose runs agree within STACK_NEAR; which are also near */
    size_t bands, medians_in_band;   /* checks with a band; those whose median it holds */
    size_t samples, samples_in_band; /* values of the checks with a band */
};
#define STACK_NEAR 0.3 /* relative error up to which a prediction counts as near */
struct stack_verdict stack_checks_verdict(const struct stack_checks *c);

/* How many tests are extrapolated, and why the first is; 0: none. */
size_t stack_checks_beyond(const struct stack_checks *c, const char **ret_first);

/* The rows of the table stack_check of a run file. */
bool stack_checks_to_run(struct run *run, const struct stack_checks *c, struct wr_err *err);

#endif
