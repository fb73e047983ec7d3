/* analyse.h -- who got how much while jobs overlapped, and what that says of the server.
 *
 *             start-up                       tail
 *   job A  ......|oo|##|##|##|##|##|##|##|oo|
 *   job B        |..|oo|##|##|##|##|oo|
 *                      |<- overlap ->|          every process of every job moves something
 *
 * The active overlap is the longest stretch of slices in which all processes of all jobs move
 * more than nothing, without a slice at its ends in which some process begins or ends, because
 * that one is active for a part of it only.
 */
#ifndef INTER_ANALYSE_H
#define INTER_ANALYSE_H

#include "base/str.h"
#include "inter/jobs.h"
#include "stat/sample.h"

/* A job that reaches this part of the capacity alone fills the server. */
#define INTER_FILLS 0.9
/* Shares that differ by less than this part of all do not tell rules apart. */
#define INTER_AS_NEAR 0.01

/* What counts as all being active: every process in every slice; some process of each job in
 * every slice; or the time from the moment when the last client node has begun to that when the
 * first has ended, what is flushed at the end included: what a network sees. */
enum inter_active { INTER_ALL_PROCESSES, INTER_ANY_PROCESS, INTER_NODES };
extern const char *const inter_active_names[]; /* end with NULL */

/* What a job took alone; volume and runtime are NaN when nobody told. */
struct inter_alone {
    double volume_b, runtime_s;
};

struct inter_result {
    double overall_bps;                  /* volume over run time */
    struct stat_interval overlap_bps;    /* NaN without an overlap; 95 % from batches of slices */
    double share;                        /* of what all get in the overlap */
    double spread;                       /* relative standard deviation of its processes' bytes */
    double overlap_part;                 /* of its run time */
    double single_bps;                   /* while no other job moves anything; NaN: never */
    double alone_bps, alone_s, slowdown; /* NaN: not told; alone_s is for this volume */
    bool saturates;                      /* could fill the server by itself */
};

/* How the shares compare with what a rule of sharing would give. */
enum inter_rule { INTER_RULE_NODES, INTER_RULE_PROCESSES, INTER_RULE_JOBS, INTER_RULES };
extern const char *const inter_rule_names[];

struct inter_analysis {
    enum inter_active active;
    bool overlaps;
    size_t from, to;             /* slices of the active overlap */
    size_t whole_from, whole_to; /* with the ends that were cut */
    double overlap_s;
    double total_bps;        /* all jobs in the overlap */
    double capacity_bps;     /* the most that was seen: together, or one alone; NaN: not known */
    bool saturated;          /* together they get less than each could take alone */
    bool known;              /* whether that can be said */
    double off[INTER_RULES]; /* largest difference of a share, as a part of 1; NaN: one job */
    enum inter_rule nearest;
    bool tie; /* another rule is as near */
    struct inter_result *job;
};

void inter_analyse(struct inter_analysis *ret, const struct inter_set *s,
                   const struct inter_alone *alone, enum inter_active active);
void inter_analysis_fini(struct inter_analysis *a);

/* What a job counts by a rule: nodes, processes, or 1; and its share of all. */
double inter_rule_count(const struct inter_job *j, enum inter_rule rule);
double inter_rule_share(const struct inter_set *s, enum inter_rule rule, size_t job);

/* What it all means, in words; lines of any length. */
void inter_verdict(const struct inter_set *s, const struct inter_analysis *a, struct wr_str *out);

/* The rates of all jobs over time, the overlap marked. Memory is the arena's. */
struct report_chart;
void inter_picture(struct report_chart *ret, const struct inter_set *s,
                   const struct inter_analysis *a, struct wr_arena *arena);

#endif
