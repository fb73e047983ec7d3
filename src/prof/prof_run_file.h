/* prof_run_file.h -- a directory of profiles as a run file.
 *
 * `weir profile` calls it when its command has ended and for jobs whose launcher was killed,
 * `weir profile show` for a directory that was kept.
 */
#ifndef PROF_RUN_FILE_H
#define PROF_RUN_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct prof_run_how {
    const char *command; /* the command line; NULL: not known */
    bool force;          /* replace a file that is there */
    bool failed;         /* the run ends as failed, with this reason */
    const char *reason;
    bool here; /* the job ran on this machine, just now: record how exact its clock is */
};

/* `ret_warnings` gets what was left out of the profiles, a line each, even on failure. */
bool prof_run_file(const char *dir, const char *path, const struct prof_run_how *how,
                   struct wr_str *ret_warnings, struct wr_err *err);

#endif
