/* compare.h -- what sharing the machine cost each job, and why.
 *
 * Two groups of runs: the base (a job alone, usually) and those with others. For each job of the
 * second group that the first one has too:
 *
 *   slowdown    ratio of the means of elapsed, communication, I/O time and message latency, with a
 *               bootstrap interval: over seeds, pairs of runs with the same seed; or, where
 *               there is one pair, over ranks, and then it says nothing about other seeds
 *   causes      the mean rank's time by cause in both groups. The causes' changes add up to the
 *               change of elapsed: what no cause was given for is the cause "unknown"
 */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "base/str.h"
#include "report/runs.h"
#include "stat/regress.h"
#include "stat/sample.h"

enum report_over { REPORT_OVER_NOTHING, REPORT_OVER_SEEDS, REPORT_OVER_RANKS };

extern const char *const report_over_names[]; /* "", "seeds", "ranks" */

/* One measure of a job in both groups: means in ns, their ratio, what the interval is over. */
struct report_change {
    double base_ns, with_ns;
    struct stat_interval ratio; /* NaN where the base is 0 or unknown */
    enum report_over over;
};

struct report_cause {
    const char *during, *cause; /* "io", "device_others" */
    double base_ns, with_ns;
};

/* Ranks of a job on whose server the same number of other jobs' ranks have their data. */
struct report_crowd {
    uint32_t others;
    size_t ranks;
    double base_ns, with_ns; /* their I/O, means */
    double waited_ns;        /* of it behind others' requests at the device */
};

struct report_compared {
    const char *job;
    uint64_t ranks;
    size_t pairs; /* of seeds */
    struct report_change change[REPORT_MEASURES];
    WR_VEC(struct report_cause) cause; /* empty: the runs do not say why */
    WR_VEC(struct report_crowd) crowd; /* ascending; empty: not known, or all ranks are alike */
    struct stat_line per_other;        /* I/O gained, in ns, against `others`, rank by rank */
};

/* Filled by report_compare_open(), read only after it; all text lives in the arena. */
struct report_compare {
    struct wr_arena arena;
    WR_VEC(struct report_compared) job;
    size_t unpaired; /* runs that had no partner of the same seed */
    bool alone; /* jobs of the base are alone, those of the others are not: else alternatives */
};

/* Intervals are of 95 %; `seed` is the bootstrap's. A group whose runs differ in more than
 * seed and workload is refused: it has no one answer. */
bool report_compare_open(struct report_compare *ret, const struct report_runs *base,
                         const struct report_runs *with, uint64_t seed, struct wr_err *err);
void report_compare_close(struct report_compare *c);

/* In words: "cosmoflow: I/O is slower, takes 2.40 times as long; 97 % of the increase is ..." */
void report_compare_words(const struct report_compared *c, struct wr_str *out);

/* Several comparisons, and what the runs of each have in common ("both, random, par"), or "". */
struct report_comparison {
    const char *group;
    struct report_compare c;
};
struct report_comparisons {
    struct wr_arena arena;
    WR_VEC(struct report_comparison) v;
};

/* The runs of a study in which several jobs run, each with the baselines of its jobs in `all`.
 * `chosen` are those to compare; there may be none. */
bool report_compare_study(struct report_comparisons *ret, const struct report_runs *all,
                          const struct report_runs *chosen, uint64_t seed, struct wr_err *err);
bool report_compare_add(struct report_comparisons *list, const char *group,
                        const struct report_runs *base, const struct report_runs *with,
                        uint64_t seed, struct wr_err *err);
void report_comparisons_close(struct report_comparisons *list);

/* A cause in few words, for a picture: "device, behind other jobs". */
const char *report_cause_words(const char *cause);

#endif
