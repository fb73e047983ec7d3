/* kind.h -- what a file is that is not a run file, and which verb reads it. */
#ifndef RUN_KIND_H
#define RUN_KIND_H

#include <stdbool.h>

#include "base/err.h"

/* Fails, with what the file at `path` is and the command that shows it, when it is a file of one of
 * weir's other formats. `wanted` is what the caller had hoped for: "a run file". True, and nothing
 * said, when it is none of them. */
bool run_kind_check(const char *path, const char *wanted, struct wr_err *err);

#endif
