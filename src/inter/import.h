/* import.h -- slices that other tools recorded, from a table to run files.
 *
 *   run,app,node,rank,slice_start_epoch,bytes,calls,fsync_s
 *   pair1,P,1,0,1794767908.25,7580480,1,0.0
 *
 * A line is what one process of one job did in one slice; docs/formats/slices-csv.md tells
 * every column.
 */
#ifndef INTER_IMPORT_H
#define INTER_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"

enum inter_import_metric {
    INTER_M_WRITE_BYTES,
    INTER_M_WRITE_CALLS,
    INTER_M_WRITE_TIME,
    INTER_M_READ_BYTES,
    INTER_M_READ_CALLS,
    INTER_M_READ_TIME,
    INTER_M_SYNC_TIME,
    INTER_METRICS
};

struct inter_import_row {
    const char *run, *app;
    double t_s; /* of the clock, or since the run's origin */
    double rank, node;
    double metric[INTER_METRICS]; /* bytes, calls, seconds; NaN: not told */
};

/* What a table of jobs tells of one. */
struct inter_import_job {
    const char *run, *app, *mode;
    double start_s, runtime_s;
};

struct inter_import {
    WR_VEC(struct inter_import_row) rows; /* by run, then as they came */
    WR_VEC(struct inter_import_job) jobs;
    bool clocked, has_runs;
    double slice_s;
    struct wr_arena arena;
};

/* `slice_s` 0: the shortest distance between slices. Texts compressed with zstd are taken as
 * well. */
bool inter_import_parse(struct inter_import *ret, const char *name, const char *text, size_t len,
                        double slice_s, struct wr_err *err);
bool inter_import_read(struct inter_import *ret, const char *path, double slice_s,
                       struct wr_err *err);
/* Adds what a table of jobs tells to an import that was read. */
bool inter_import_jobs(struct inter_import *im, const char *path, struct wr_err *err);
void inter_import_fini(struct inter_import *im);

struct inter_import_to {
    const char *path;    /* a file; of a table with runs, a directory for one file each */
    const char *only;    /* a pattern of the runs' names, or NULL: all */
    const char *mode;    /* of the files, where no table of jobs tells it; NULL: not known */
    const char *command; /* for the run files */
    bool force;
};

/* All of them or, when one fails, none. */
bool inter_import_write(const struct inter_import *im, const struct inter_import_to *to,
                        size_t *ret_n, struct wr_err *err);

#endif
