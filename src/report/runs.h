/* runs.h -- many run files side by side: which run of a study each is, and what its jobs took.
 *
 *   a.weir                               one run file
 *   DIR                                  all complete run files of a directory
 *   DIR:placement=random,routing=par     those of a study whose choices are these
 *
 * Runs that differ in the choice on the axis `seed` alone are repetitions of each other. An axis
 * is one of workloads if on it the jobs that run differ; a job's baseline is the run with the
 * same choices on all other axes in which it is alone.
 */
#ifndef REPORT_RUNS_H
#define REPORT_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "run/reader.h"

enum { REPORT_MOST_AXES = 32 };

/* What a job took, means over its ranks; NaN: the run does not say. */
enum report_measure {
    REPORT_ELAPSED,
    REPORT_COMPUTE,
    REPORT_COMM,
    REPORT_IO,
    REPORT_IDLE,
    REPORT_MESSAGE, /* latency of its messages, mean */
    REPORT_MEASURES,
};

extern const char *const report_measure_names[]; /* "elapsed", ... */

/* A job of one run; NaN: not known. */
struct report_job {
    const char *name;
    int64_t app; /* its number in the run file */
    uint64_t ranks;
    double ns[REPORT_MEASURES]; /* means over ranks, or over messages */
    double elapsed_max_ns, message_p99_ns;
};

struct report_choice {
    const char *axis, *label;
};

/* A run file of a group; filled when the group is opened, not changed after it. */
struct report_member {
    const char *path;
    struct run_reader *run; /* opened and closed by the caller; NULL: opened when needed */
    const char *study;      /* "" when of none */
    int64_t place, of;      /* which of how many; -1, 0 when of none */
    uint64_t seed;
    struct report_choice choice[REPORT_MOST_AXES];
    size_t nchoices;
    struct report_job *job;
    size_t njobs;
};

/* What a server allows those who ask; all zero is what a user may at a terminal. */
struct report_access {
    uint64_t deadline_ns; /* of wr_clock_ns; 0: none */
    bool no_links;        /* of a directory only files that lie in it, not what links lead to */
};

struct report_runs {
    struct wr_arena arena;
    struct report_access access;
    WR_VEC(struct report_member) member; /* those of a directory in the study's order */
    size_t left_out;                     /* run files of directories that are not complete */
};

/* A run file that is named itself must be complete. */
bool report_runs_open(struct report_runs *ret, const char *const *operands, size_t n,
                      struct wr_err *err);
bool report_runs_open_for(struct report_runs *ret, const char *const *operands, size_t n,
                          const struct report_access *access, struct wr_err *err);
void report_runs_close(struct report_runs *r);
/* Does the operand stand for run files of a directory? */
bool report_is_group(const char *operand);

/* The file, open; let go of it with report_member_close. */
bool report_member_open(struct run_reader **ret, const struct report_member *m, struct wr_err *err);
void report_member_close(const struct report_member *m, struct run_reader *r);

const struct report_job *report_job_named(const struct report_member *m, const char *name);
const char *report_label(const struct report_member *m, const char *axis); /* or NULL */

/* Do they agree on all axes but `seed` and, if `loads` is not NULL, those that it marks? Axes are
 * those of `a`. */
bool report_alike(const struct report_member *a, const struct report_member *b, const bool *loads);

/* Which axes of the members are of workloads: loads[axis of the member 0]. */
void report_workload_axes(const struct report_runs *r, bool *loads);

/* What `job` took of member `m`, rank by rank; `n` of them. NaN where it is not known. */
bool report_rank_times(const struct report_member *m, const struct report_job *job,
                       enum report_measure what, double *ret, size_t n, struct wr_err *err);

#endif
