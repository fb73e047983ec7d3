/* training.h -- the training set of the interference model: runs, what is fitted to them, and
 * predictions of run times.
 *
 *   runs of one job     ─> rate of that configuration alone; the highest is the server capacity
 *   runs of several     ─> capacity with k active jobs; the sharing rule that fits best, and the
 *        │                 scatter of the observed shares around it
 *        └─> each run is predicted from the others; the ratios observed / predicted give the
 *            range of the next prediction
 *
 * Two jobs have the same configuration when they have the same numbers of processes and nodes and
 * the same file mode. The median over the runs of a configuration is used, so that one disturbed
 * run does not change it.
 *
 * Order of calls: interference_training_add for all runs, then interference_training_fit once,
 * then interference_calibrate (for ranges), then predictions. Called by `weir interfere predict`
 * and by the report section "predicted".
 */
#ifndef INTERFERENCE_TRAINING_H
#define INTERFERENCE_TRAINING_H

#include "base/err.h"
#include "base/mem.h"
#include "interference/analyse.h"
#include "stat/share.h"

enum { INTERFERENCE_MOST_ACTIVE = 16 };

/* One configuration, from its runs alone. Rates are B/s. All but `rates` is set by
 * interference_training_fit. */
struct interference_config {
    const char *mode; /* "" when not known */
    size_t processes, nodes;
    WR_VEC(double) rates; /* one per run; ascending after the fit */
    double low_bps, mid_bps, high_bps;
    bool fills;     /* a run came near the server capacity: the job itself sets no cap */
    double cap_bps; /* rate that it reaches undisturbed */
};

/* The server capacity in one file mode. */
struct interference_capacity {
    const char *mode;
    double by_active[INTERFERENCE_MOST_ACTIVE]; /* [k - 1]: B/s while k jobs are active */
    size_t runs[INTERFERENCE_MOST_ACTIVE];      /* number of runs behind it; 0: copied from k - 1 */
    size_t n;                                   /* entries in use */
};

/* What a group of runs is used for; a bit set. */
enum interference_role {
    INTERFERENCE_TRAINS = 1,
    INTERFERENCE_IS_PREDICTED = 2,
    INTERFERENCE_BOTH_ROLES = 3
};

/* Sums over the pairs of jobs of an overlap. y is the log of the ratio of the rates per flow, x the
 * log of the ratio of the processes per flow. The flows of a job are its nodes, its processes, or
 * one, as the rule says. */
struct interference_pairs {
    double xx, xy, yy;
    double var; /* of y, in units of the variance of one flow */
};

/* Runs that were active at the same time, or one run alone. */
struct interference_group {
    struct interference_set set;
    const char *name; /* base name of its first file */
    enum interference_role role;
    double total_bps; /* rate of the server over all jobs; NaN: not used */
    /* Of its active overlap, by rule; set by the fit: */
    bool overlaps;
    double off[INTERFERENCE_RULES]; /* largest error of a share, as in interference_analysis */
    struct interference_pairs pairs[INTERFERENCE_RULES];
};

/* Prediction error of one job: the log of observed / predicted run time. */
struct interference_residual {
    const struct interference_group *of;
    double log_ratio;
};

struct interference_training {
    /* Grows with interference_training_add; not changed by the fit but for the groups' results. */
    WR_VEC(struct interference_group) groups;

    /* Set by interference_training_fit. */
    WR_VEC(struct interference_config) configs; /* by mode, nodes, processes */
    WR_VEC(struct interference_capacity) capacities;
    /* Exponents of the share ratio over the ratio of processes and of nodes: 1 where sharing is
     * proportional, 0 where the number has no effect; NaN: too few pairs. */
    double slope[2], slope_sd[2];
    size_t pairs[2];
    double rule_off[INTERFERENCE_RULES]; /* mean error of shares; NaN: no overlap */
    size_t overlaps;                     /* groups with an overlap */
    enum interference_rule rule;         /* nearest to the shares; by nodes if undecided */
    bool rule_known;                     /* the shares decide between the rules */

    /* Set by interference_calibrate: each job predicted without its own group. */
    WR_VEC(struct interference_residual) residuals;

    size_t most; /* limit on slices per run (interference_load), set by the caller; 0: none */
    struct wr_arena arena;
};

enum { INTERFERENCE_SLOPE_PROCESSES, INTERFERENCE_SLOPE_NODES };

/* Adds files, or directories of *.weir. Runs that overlap on the wall clock form one group. */
bool interference_training_add(struct interference_training *t, const char *const *paths, size_t n,
                               enum interference_role role, enum interference_op op,
                               struct wr_err *err);
/* Fits the model, once, after all runs were added. `together`: runs of several jobs contribute to
 * the capacity as well. */
bool interference_training_fit(struct interference_training *t, bool together, struct wr_err *err);
void interference_training_fini(struct interference_training *t);

/* NULL: no run of this configuration alone; of this mode. */
const struct interference_config *interference_find_config(const struct interference_training *t,
                                                           const char *mode, size_t processes,
                                                           size_t nodes);
const struct interference_capacity *interference_find_capacity(
    const struct interference_training *t, const char *mode);

/* A job whose run time is predicted. */
struct interference_query {
    const char *mode; /* "" when not known */
    size_t processes, nodes;
    double volume_b, start_s;
};

/* The weight of a job: by a rule, or by the rule corrected by the fitted exponent. */
struct interference_weighting {
    enum interference_rule rule;
    bool fitted;
};

struct interference_prediction {
    double alone_s, runtime_s;
    double low_s, high_s; /* the range holds INTERFERENCE_RANGE of observed run times */
    double weight;
    bool guessed; /* no run of this configuration alone: its cap is the server capacity */
};

/* The coverage of a range, and the residuals that are needed to compute it. */
#define INTERFERENCE_RANGE 0.8
enum { INTERFERENCE_RANGE_LEAST = 9 };

/* Computes the residuals of all jobs that ran together; without it ranges are the prior's. */
void interference_calibrate(struct interference_training *t, struct interference_weighting how);
/* Number of residuals for predicting group `but` (NULL: jobs outside the training set). */
size_t interference_range_cases(const struct interference_training *t,
                                const struct interference_group *but);

/* Predicts n jobs that start at their start_s. False: a mode has no run in the training set. */
bool interference_predict(struct interference_prediction *ret,
                          const struct interference_training *t,
                          const struct interference_query *ask, size_t n,
                          struct interference_weighting how, struct wr_err *err);
/* Predicts the jobs of a group from all other groups. `ret` has one entry per job. */
bool interference_predict_group(struct interference_prediction *ret,
                                const struct interference_training *t,
                                const struct interference_group *g,
                                struct interference_weighting how, struct wr_err *err);

#endif
