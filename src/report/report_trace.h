/* report_trace.h -- the time lines of a run, for viewers of traces (Chrome, Perfetto). */
#ifndef REPORT_REPORT_TRACE_H
#define REPORT_REPORT_TRACE_H

#include <stdio.h>

#include "base/err.h"
#include "run/reader.h"

/* Were there bars of what ranks did? Only recorded ones have them (view timeline). */
bool report_trace(struct run_reader *r, FILE *out, bool *ret_ranks, struct wr_err *err);

#endif
