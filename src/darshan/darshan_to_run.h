/* darshan_to_run.h -- a Darshan log as a run file, like a profile of the job.
 *
 * Summary, job, ranks, phases of I/O, and slices of the job, its ranks, mounts and most used files.
 * docs/formats/darshan.md says what is measured in it and what is assumed.
 */
#ifndef DARSHAN_DARSHAN_TO_RUN_H
#define DARSHAN_DARSHAN_TO_RUN_H

#include "darshan/darshan.h"
#include "run/run.h"

struct darshan_to_run_how {
    const char *command; /* the command line; NULL: not known */
    int64_t slice_ns;    /* length of the slices; 0: by the job's length, as `weir profile` does */
    bool force;
};

/* `ret_notes` gets what was assumed, a line each. */
bool darshan_to_run(const struct darshan_log *log, const char *path,
                    const struct darshan_to_run_how *how, struct wr_str *ret_notes,
                    struct wr_err *err);

#endif
