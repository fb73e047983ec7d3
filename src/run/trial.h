/* trial.h -- names of the run files of an experiment. Each job of a trial has a run file of its
 * own; the names are the only record of which jobs ran together.
 *
 *   private.4.r1.P.weir      mode private, size 4 alone, first repetition
 *   private.1+4.r1.Q.weir    sizes 1 and 4 together: the second job, of size 4
 */
#ifndef RUN_TRIAL_H
#define RUN_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { RUN_TRIAL_JOBS = 8 }; /* together, at most */

struct run_trial {
    const char *mode; /* mode_len characters of it */
    size_t mode_len;
    uint32_t size[RUN_TRIAL_JOBS]; /* of every job */
    size_t n;
    uint32_t repetition; /* from 1 */
    size_t job;          /* index of the file's job */
};

/* Job 0 is P, then Q, R, ... */
char run_trial_letter(size_t job);
/* "private.1+4.r1": the name of a file up to its job. */
void run_trial_id(struct wr_str *out, const struct run_trial *t);
/* False: the path has no such name. The mode points into the path. */
bool run_trial_parse(struct run_trial *ret, const char *path);

#endif
