/* job_grid.h -- the jobs of several run files, their slices on one grid of time.
 *
 *   a.weir  epoch 10:00:00.00  |..|##|##|##|..|
 *   b.weir  epoch 10:00:00.50        |..|##|##|##|
 *   grid                       |  |  |  |  |  |  |     bytes of every process in every slice
 *
 * Measured runs record the wall clock of their origin; simulated runs all start at 0. A run file
 * may hold several jobs.
 */
#ifndef INTERFERENCE_JOB_GRID_H
#define INTERFERENCE_JOB_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum interference_op { INTERFERENCE_WRITE, INTERFERENCE_READ, INTERFERENCE_BOTH };
extern const char *const interference_op_names[]; /* end with NULL */
enum interference_align { INTERFERENCE_BY_CLOCK, INTERFERENCE_BY_START };
extern const char *const interference_align_names[];

struct interference_load {
    enum interference_op op;
    enum interference_align align;
    double slice_s; /* length of a slice of the grid; 0: the longest of the runs' */
    size_t most;    /* limit on the slices of the grid; more become longer; 0: none */
};

/* What the start and the run time of a job are: of its I/O phase, from the first byte to the last
 * or to the end of the flush after it; of its life, where phases are not recorded; or of the slices
 * in which it moves bytes. */
enum interference_timed { INTERFERENCE_IO_PHASE, INTERFERENCE_LIFE, INTERFERENCE_SLICES };
extern const char *const interference_timed_names[];

struct interference_job {
    const char *name; /* unique in its set */
    const char *path, *host;
    const char *mode; /* "private", "shared", or NULL: not known */
    size_t nranks, nnodes;
    size_t nactive;            /* ranks that take part; the others move (almost) nothing */
    bool *counts;              /* by rank: it takes part */
    bool whole_only;           /* no series per process: one series for the whole job */
    double start_s, runtime_s; /* since the grid's origin */
    enum interference_timed timed;
    double life_s; /* NaN: not known */
    double volume_b;
    double *bytes;       /* [rank * nslices + slice] */
    size_t first, after; /* [first, after): slices in which it moves bytes */
    int64_t *node;       /* by rank; -1: not known */
    uint32_t *busy_to;   /* by rank: the slice after its last activity, flushes included */
};

/* Set up by interference_load, then only read. */
struct interference_set {
    struct interference_job *job;
    size_t njobs;
    double slice_s;
    size_t nslices;
    bool clocked;               /* the grid is on the wall clock */
    int64_t epoch_ns;           /* of its origin */
    WR_VEC(const char *) notes; /* caveats for the user: sentences */
    struct wr_arena arena;
};

/* Fails, saying what to do, when the run files cannot be placed on one grid. */
bool interference_load(struct interference_set *ret, const char *const *paths, size_t n,
                       const struct interference_load *how, struct wr_err *err);
void interference_set_fini(struct interference_set *s);

/* Number of series of a job: one per process, or one. */
static inline size_t interference_rows(const struct interference_job *j)
{
    return j->whole_only ? 1 : j->nranks;
}

/* Number of processes that take part; a launcher or a shell does not. */
static inline size_t interference_processes(const struct interference_job *j)
{
    return j->whole_only ? j->nranks : j->nactive;
}

static inline double interference_bytes(const struct interference_set *s,
                                        const struct interference_job *j, size_t rank, size_t slice)
{
    return j->bytes[rank * s->nslices + slice];
}

/* Bytes of a whole job in one slice. */
double interference_job_bytes(const struct interference_set *s, const struct interference_job *j,
                              size_t slice);

#endif
