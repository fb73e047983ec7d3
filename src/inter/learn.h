/* learn.h -- what runs teach about a server, and what follows for jobs put together.
 *
 *   runs of one job   ─> what such a job reaches alone: its cap; the most of them: the capacity
 *   runs of several   ─> what the server carries with so many active; which rule of sharing fits
 *        │                and how far single splits are from it
 *        └─> each predicted from the others, and compared with what was seen: the errors are the
 *            range of the next prediction
 *
 * Jobs are alike when they have the same numbers of processes and nodes and the same mode of
 * file. Of several runs alike the middle one counts: a disturbed run does not move it.
 */
#ifndef INTER_LEARN_H
#define INTER_LEARN_H

#include "base/err.h"
#include "base/mem.h"
#include "inter/analyse.h"
#include "stat/share.h"

enum { INTER_MOST_ACTIVE = 16 };

/* Jobs alike, alone. Rates are B/s. */
struct inter_alike {
    const char *mode; /* "" when not known */
    size_t processes, nodes;
    WR_VEC(double) rates; /* of each run, ascending once learnt */
    double low_bps, mid_bps, high_bps;
    bool fills;     /* one of them came near what the server carries: no cap of its own */
    double cap_bps; /* what it reaches undisturbed */
};

/* What the server carries in one mode. */
struct inter_carried {
    const char *mode;
    double by_active[INTER_MOST_ACTIVE]; /* [k - 1]: k jobs are active */
    size_t runs[INTER_MOST_ACTIVE];      /* each is from so many; 0: as with fewer */
    size_t n;
};

/* What a group of runs is for. */
enum inter_part { INTER_TEACHES = 1, INTER_IS_ASKED = 2, INTER_DOES_BOTH = 3 };

/* How two jobs of an overlap shared, summed over pairs: y is the log of the ratio of what one flow
 * of each got, x the log of the ratio of the processes behind a flow. The flows of a job are its
 * nodes, its processes, or the one that it is, as the rule says. */
struct inter_pairs {
    double xx, xy, yy;
    double var; /* of y, in units of the variance of one flow */
};

/* One set of runs that went on together, or one that was alone. */
struct inter_group {
    struct inter_set set;
    const char *name; /* of its first file */
    enum inter_part part;
    double total_bps; /* that the server carried; NaN: not learnt */
    /* Of its active overlap, by rule: */
    bool overlaps;
    double off[INTER_RULES]; /* largest difference of a share, as inter_analysis has it */
    struct inter_pairs pairs[INTER_RULES];
};

/* How far an observed run time is from its prediction: the log of their ratio. */
struct inter_residual {
    const struct inter_group *of;
    double log_ratio;
};

struct inter_lesson {
    WR_VEC(struct inter_group) groups;
    WR_VEC(struct inter_alike) alike;
    WR_VEC(struct inter_carried) carried;
    /* How shares in overlaps follow the numbers of processes and of nodes: the exponent of the
     * ratio, 1 where sharing is by them and 0 where they do not matter; NaN: too few pairs. */
    double slope[2], slope_sd[2];
    size_t pairs[2];
    double rule_off[INTER_RULES]; /* mean difference of shares; NaN: no overlap */
    size_t overlaps;              /* of so many groups */
    enum inter_rule rule;         /* nearest to the shares; nodes where they cannot tell */
    bool rule_told;               /* whether they can */
    /* Of jobs that were together, each predicted without its own group (inter_calibrate). */
    WR_VEC(struct inter_residual) residuals;
    size_t most; /* slices of a run (inter_load); 0: as many as there are */
    struct wr_arena arena;
};

enum { INTER_SLOPE_PROCESSES, INTER_SLOPE_NODES };

/* Files or directories of *.weir. Runs that overlap on the clock become one group. */
bool inter_lesson_add(struct inter_lesson *l, const char *const *paths, size_t n,
                      enum inter_part part, enum inter_op op, struct wr_err *err);
/* After all runs were added. With `together` also runs of several jobs teach the capacity. */
bool inter_lesson_learn(struct inter_lesson *l, bool together, struct wr_err *err);
void inter_lesson_fini(struct inter_lesson *l);

/* NULL: nothing like it was alone. */
const struct inter_alike *inter_find_alike(const struct inter_lesson *l, const char *mode,
                                           size_t processes, size_t nodes);
const struct inter_carried *inter_find_carried(const struct inter_lesson *l, const char *mode);

/* A job to predict. */
struct inter_ask {
    const char *mode;
    size_t processes, nodes;
    double volume_b, start_s;
};

/* How jobs are weighed: by a rule, exactly, or as the overlaps were seen to depart from it. */
struct inter_how {
    enum inter_rule rule;
    bool fitted;
};

struct inter_told {
    double alone_s, runtime_s;
    double low_s, high_s; /* holds INTER_RANGE of the observed times */
    double weight;
    bool guessed; /* nothing like it was alone: its cap is the server's */
};

/* The part of observed times that a range is to hold, and of how many residuals it can be told. */
#define INTER_RANGE 0.8
enum { INTER_RANGE_LEAST = 9 };

/* The residuals of all jobs that were together; without it ranges are the prior's. */
void inter_calibrate(struct inter_lesson *l, struct inter_how how);
/* So many residuals are there for predicting this group (NULL: for jobs that were not seen). */
size_t inter_range_cases(const struct inter_lesson *l, const struct inter_group *but);

/* False: its mode was never seen. */
bool inter_predict(struct inter_told *ret, const struct inter_lesson *l,
                   const struct inter_ask *ask, size_t n, struct inter_how how, struct wr_err *err);
/* The same for jobs that were seen together, one for each job of the group, from all others. */
bool inter_predict_group(struct inter_told *ret, const struct inter_lesson *l,
                         const struct inter_group *g, struct inter_how how, struct wr_err *err);

#endif
