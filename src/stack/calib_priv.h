/* calib_priv.h -- what calib.c, calib_flow.c and band.c share: the draft of a calibration.
 *
 * A draft is made by calib_draft(), completed by band.c (bands, trust) and freed by
 * calib_draft_fini(). `flows`, `slowdown` and `queue_s` change while it is fitted, `states` does
 * not.
 */
#ifndef STACK_CALIB_PRIV_H
#define STACK_CALIB_PRIV_H

#include "stack/calib.h"

/* The timing model of flows that have the medium to themselves. */
struct calib_flows {
    uint32_t knots;
    double x[STACK_PIECES];          /* bytes of a call, ascending: those of the tests */
    double constant_s[2];            /* [reads, writes] of a flow */
    double slope_s[2][STACK_PIECES]; /* of a byte, from the knot before */
    double answer_slowdown[2];       /* [reads, writes] factor on a client's wait for answers */
    double parallel;                 /* of a shared medium: as in timing.h */
};

/* Bands of measured / predicted: eight of ten samples lie between `low` and `high`. */
struct calib_bands {
    struct stack_band *of[3]; /* [reads, writes, neither][machines]; high 0: nothing is known */
    struct stack_band io;     /* reads and writes together */
};

/* A calibration in progress: everything that the text of the timing models is made of. */
struct draft {
    /* Set up, then constant: */
    const struct stack_log *log;
    const struct stack_timings *base; /* of what the log does not show; or NULL */
    const char *title;
    bool shared;          /* the medium: tried as shared, or as switched */
    const uint16_t *test; /* [tests] numbers in the log */
    size_t tests;
    /* Filled in this order: */
    struct wr_str states; /* the text of the states; does not change while flows are fitted */
    bool tuned;           /* `slowdown` and `queue_s` have been tuned */
    double *slowdown;     /* [machines] */
    double queue_s[2];    /* [reads, writes] wait of a message behind data on its link */
    struct calib_flows flows;
    struct calib_bands bands;
    double trust[3]; /* [calib_way] mean error of tests left out, as a logarithm; NaN: none */
};

/* Which tests are left out together: those with one size of a call, one set-up, one pattern. */
enum calib_way { CALIB_SIZES, CALIB_SETUPS, CALIB_PATTERNS, CALIB_WAYS };

/* Medians of reads and writes as predicted and measured, [2 * test + writes]; NaN: none. */
struct calib_predicted {
    double *measured, *predicted, *se; /* se: standard error of the logarithm of `is` */
};

/* The timing models of the draft, for a simulation. */
struct stack_timings *calib_open(const struct draft *d, struct wr_err *err);
bool calib_put(struct wr_str *out, const struct draft *d, struct wr_err *err);

/* calib_flow.c: fits d->flows, and predicts each test without those that are left out with it. */
bool calib_flows_fit(struct draft *d, struct wr_err *err);
bool calib_flows_left_out(struct draft *d, enum calib_way way, struct calib_predicted *ret,
                          struct wr_err *err);
void calib_predicted_fini(struct calib_predicted *t);
/* The mean error of what is predicted, as a logarithm; NaN: nothing is. */
double calib_predicted_error(const struct draft *d, const struct calib_predicted *t);

/* calib.c: all but the bands. */
bool calib_draft(struct draft *ret, const struct stack_log *log, const struct stack_timings *base,
                 const char *title, bool shared, struct wr_err *err);
void calib_draft_fini(struct draft *d);

#endif
