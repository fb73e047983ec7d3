/* kind.h -- recognises weir's other file formats, for errors about files of the wrong kind. */
#ifndef RUN_KIND_H
#define RUN_KIND_H

#include <stdbool.h>

#include "base/err.h"

/* Fails, with what the file at `path` is and the command that shows it, when it is a file of one of
 * weir's other formats. `wanted` is what the caller expected: "a run file". True when it is none of
 * them. */
bool run_kind_check(const char *path, const char *wanted, struct wr_err *err);

#endif
