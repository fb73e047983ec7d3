/* import.h -- converts a table of slices that another tool recorded into run files.
 *
 *   run,app,node,rank,slice_start_epoch,bytes,calls,fsync_s
 *   pair1,P,1,0,1794767908.25,7580480,1,0.0
 *
 * A row is one process of one job in one slice; docs/formats/slices-csv.md describes every column.
 */
#ifndef INTERFERENCE_IMPORT_H
#define INTERFERENCE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"

enum interference_import_metric {
    INTERFERENCE_M_WRITE_BYTES,
    INTERFERENCE_M_WRITE_CALLS,
    INTERFERENCE_M_WRITE_TIME,
    INTERFERENCE_M_READ_BYTES,
    INTERFERENCE_M_READ_CALLS,
    INTERFERENCE_M_READ_TIME,
    INTERFERENCE_M_SYNC_TIME,
    INTERFERENCE_METRICS
};

struct interference_import_row {
    const char *run, *app;
    double t_s; /* wall clock, or since the run's origin */
    double rank, node;
    double metric[INTERFERENCE_METRICS]; /* bytes, calls, seconds; NaN: no such column */
};

/* One row of a table of jobs. */
struct interference_import_job {
    const char *run, *app, *mode;
    double start_s, runtime_s;
};

struct interference_import {
    WR_VEC(struct interference_import_row) rows; /* sorted by run, time, app, rank, node */
    WR_VEC(struct interference_import_job) jobs;
    bool clocked, has_runs; /* times are of the wall clock; there is a column `run` */
    double slice_s;
    struct wr_arena arena;
};

/* `slice_s` 0: the shortest distance between two slices. zstd-compressed text is accepted. */
bool interference_import_parse(struct interference_import *ret, const char *name, const char *text,
                               size_t len, double slice_s, struct wr_err *err);
bool interference_import_read(struct interference_import *ret, const char *path, double slice_s,
                              struct wr_err *err);
/* Adds a table of jobs to an import that was read. */
bool interference_import_jobs(struct interference_import *im, const char *path, struct wr_err *err);
void interference_import_fini(struct interference_import *im);

struct interference_import_to {
    const char *path;    /* a file; for a table with a column `run`, a directory */
    const char *only;    /* a pattern of the runs' names, or NULL: all */
    const char *mode;    /* file mode where the table of jobs has none; NULL: not known */
    const char *command; /* for the run files */
    bool force;
};

/* Writes all runs, or none when one fails. */
bool interference_import_write(const struct interference_import *im,
                               const struct interference_import_to *to, size_t *ret_n,
                               struct wr_err *err);

#endif
