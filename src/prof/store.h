/* store.h -- a job's profiles as a run file. */
#ifndef PROF_STORE_H
#define PROF_STORE_H

#include "prof/read/job.h"
#include "run/run.h"

/* Apps, ranks, slices and the summary; docs/formats/run-file.md names them. */
bool prof_store(struct run *run, const struct prof_job *j, struct wr_err *err);

#endif
