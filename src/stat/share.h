/* share.h -- jobs that share one server: the rate of each, and when it is done.
 *
 * Weighted processor sharing with caps. While a job has something left it is active;
 * the capacity is divided among active jobs in proportion to their weights, no job gets
 * more than its cap, and what a capped job leaves goes to the others (water-filling):
 *
 *     rate_i = min(cap_i, level * weight_i),   sum of rates = min(capacity, sum of caps)
 *
 *     capacity |AAAAAAAA|BBBBBBBB|BBBBBBBB|
 *              |AAAAAAAA|BBBBBBBB|BBBBBBBB|
 *              |AAAAAAAA|AAAAAAAA|        |   B has a cap and leaves the rest idle
 *              A begins  B begins  A ends   B ends
 *
 * Rates change only when a job begins or ends, so the schedule is a list of parts with
 * constant rates, at most twice as many as jobs, and exact but for rounding. Units are
 * the caller's: volume / rate is a time.
 */
#ifndef STAT_SHARE_H
#define STAT_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { STAT_SHARE_JOBS = 1000 }; /* at most */

struct stat_share_job {
    double volume; /* 0: done when it begins, never active */
    double start;
    double weight;
    double cap; /* INFINITY: none */
};

/* What the server gives while k jobs are active: by_active[k - 1], the last one for more. */
struct stat_share_capacity {
    const double *by_active;
    size_t n;
};

struct stat_share_part {
    double from, to;
    double *rate; /* per job; NaN for one that is not active */
};

struct stat_share {
    size_t njobs, nparts;
    struct stat_share_part *part; /* in order of time; times without active jobs are left out */
    double *finish, *runtime;     /* per job */
    const struct stat_share_part *all; /* all jobs active; NULL: never */
};

/* Whether the model can be asked: numbers in range, weights above 0, at least one job.
 * The message begins with what is wrong: "the volume is -1; ...". */
bool stat_share_check_capacity(const struct stat_share_capacity *c, struct wr_err *err);
bool stat_share_check_job(const struct stat_share_job *job, struct wr_err *err);

/* The jobs and the capacity have passed the checks, and 1 <= njobs <= STAT_SHARE_JOBS. */
void stat_share_solve(struct stat_share *ret, const struct stat_share_job *jobs, size_t njobs,
                      const struct stat_share_capacity *c);
void stat_share_fini(struct stat_share *s);

/* Run times of two jobs of equal volumes that begin together, by the published equations;
 * "large" is the one with more weight:
 *
 *     large together = large alone * (w_large + w_small) / w_large
 *     small together = small alone + large alone
 *
 * and back. The inverse has a negative time where no two jobs behave like that. */
struct stat_share_pair {
    double large, small;
};

struct stat_share_pair stat_share_pair_together(struct stat_share_pair alone,
                                                struct stat_share_pair weight);
struct stat_share_pair stat_share_pair_alone(struct stat_share_pair together,
                                             struct stat_share_pair weight);

/* The inverse for any number of jobs: what each would have taken alone. While jobs are active
 * each has the part of the server that its weight is of all active weights; the time alone is the
 * sum of these parts. For two jobs that begin together these are the equations above, and for
 * jobs that could fill a server of one capacity it is exact. `end` is after `start`. */
struct stat_share_seen {
    double start, end, weight;
};

void stat_share_alone(double *ret, const struct stat_share_seen *jobs, size_t n);

#endif
