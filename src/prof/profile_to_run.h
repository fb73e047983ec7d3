/* profile_to_run.h -- a job's profiles as a run file. */
#ifndef PROF_PROFILE_TO_RUN_H
#define PROF_PROFILE_TO_RUN_H

#include "prof/read/profile_job.h"
#include "run/run.h"

/* Apps, ranks, slices and the summary; docs/formats/run-file.md names them. */
bool prof_to_run(struct run *run, const struct prof_job *j, struct wr_err *err);

#endif
