/* analyse.h -- throughput and share of each job while several were active, and the state of the
 * server.
 *
 *             start-up                       tail
 *   job A  ......|oo|##|##|##|##|##|##|##|oo|
 *   job B        |..|oo|##|##|##|##|oo|
 *                      |<- overlap ->|          every process of every job moves bytes
 *
 * The active overlap is the longest run of slices in which every process of every job moves bytes.
 * A slice at its ends in which a process starts or stops is left out, because that process is
 * active for a part of it only.
 */
#ifndef INTERFERENCE_ANALYSE_H
#define INTERFERENCE_ANALYSE_H

#include "base/str.h"
#include "interference/job_grid.h"
#include "stat/sample.h"

/* A job that alone reaches this fraction of the capacity saturates the server. */
#define INTERFERENCE_FILLS 0.9
/* Two rules whose predicted shares differ by less than this are a tie; a fraction of the total. */
#define INTERFERENCE_TIE_MARGIN 0.01

/* Definition of an active slice: every process moves bytes; some process of each job does; or, by
 * client nodes, the time from the start of the last node to the end of the first, flushes at the
 * end included, as seen on the network. */
enum interference_active {
    INTERFERENCE_ALL_PROCESSES,
    INTERFERENCE_ANY_PROCESS,
    INTERFERENCE_NODES
};
extern const char *const interference_active_names[]; /* end with NULL */

/* A run of the same job alone; volume and run time are NaN when there is none. */
struct interference_alone {
    double volume_b, runtime_s;
};

struct interference_result {
    double overall_bps;                  /* volume over run time */
    struct stat_interval overlap_bps;    /* NaN without an overlap; 95 % from batches of slices */
    double share;                        /* of the total throughput in the overlap */
    double spread;                       /* relative standard deviation of its processes' bytes */
    double overlap_part;                 /* of its run time */
    double single_bps;                   /* while no other job moves bytes; NaN: never */
    double alone_bps, alone_s, slowdown; /* NaN: no run alone; alone_s is for this volume */
    bool saturates;                      /* alone it reaches INTERFERENCE_FILLS of the capacity */
};

/* Rules of sharing: the server divides its throughput by client node, process or job. */
enum interference_rule {
    INTERFERENCE_RULE_NODES,
    INTERFERENCE_RULE_PROCESSES,
    INTERFERENCE_RULE_JOBS,
    INTERFERENCE_RULES
};
extern const char *const interference_rule_names[];

struct interference_analysis {
    enum interference_active active;
    bool overlaps;
    size_t from, to;             /* slices of the active overlap */
    size_t whole_from, whole_to; /* with the slices at its ends that were left out */
    double overlap_s;
    double total_bps;    /* all jobs in the overlap */
    double capacity_bps; /* the largest throughput seen, together or alone; NaN: not known */
    bool saturated;      /* the total is less than the sum of the jobs' rates alone */
    bool known;          /* `saturated` could be decided */
    double off[INTERFERENCE_RULES]; /* largest error of a share, 0 to 1; NaN: one job */
    enum interference_rule nearest;
    bool tie; /* another rule is within INTERFERENCE_TIE_MARGIN */
    struct interference_result *job;
};

void interference_analyse(struct interference_analysis *ret, const struct interference_set *s,
                          const struct interference_alone *alone, enum interference_active active);
void interference_analysis_fini(struct interference_analysis *a);

/* The weight of a job under a rule (its nodes, its processes, or 1), and its share of the sum. */
double interference_rule_count(const struct interference_job *j, enum interference_rule rule);
double interference_rule_share(const struct interference_set *s, enum interference_rule rule,
                               size_t job);

/* The result in sentences; lines of any length. */
void interference_verdict(const struct interference_set *s, const struct interference_analysis *a,
                          struct wr_str *out);

/* A chart of the rates of all jobs over time with the overlap marked. Memory is the arena's. */
struct report_chart;
void interference_chart(struct report_chart *ret, const struct interference_set *s,
                        const struct interference_analysis *a, struct wr_arena *arena);

#endif
