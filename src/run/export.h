/* export.h -- tables of a run file as a plain SQLite database, for other programs. */
#ifndef RUN_EXPORT_H
#define RUN_EXPORT_H

#include "base/output.h"
#include "run/reader.h"

extern const struct wr_format run_export_format;

/* One table for each view, with its columns and rows. `force`: also replaces a database that was
 * not exported by weir. */
bool run_export(struct run_reader *r, const char *const *views, size_t n, const char *path,
                bool force, struct wr_err *err);

#endif
