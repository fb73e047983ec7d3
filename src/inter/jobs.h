/* jobs.h -- jobs of several run files, their slices laid on one grid of time.
 *
 *   a.weir  epoch 10:00:00.00  |..|##|##|##|..|
 *   b.weir  epoch 10:00:00.50        |..|##|##|##|
 *   grid                       |  |  |  |  |  |  |     bytes of every process in every slice
 *
 * Measured runs tell the wall clock of their origin; simulated ones begin at 0 together. A run
 * file may hold several jobs.
 */
#ifndef INTER_JOBS_H
#define INTER_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum inter_op { INTER_WRITE, INTER_READ, INTER_BOTH };
extern const char *const inter_op_names[]; /* end with NULL */
enum inter_align { INTER_BY_CLOCK, INTER_BY_START };
extern const char *const inter_align_names[];

struct inter_load {
    enum inter_op op;
    enum inter_align align;
    double slice_s; /* of the grid; 0: the longest of the runs' */
    size_t most;    /* slices of the grid, then longer ones; 0: as many as there are */
};

struct inter_job {
    const char *name; /* unique in its set */
    const char *path, *host;
    const char *mode; /* "private", "shared", or NULL: not known */
    size_t nranks, nnodes;
    size_t nactive;            /* ranks that count: the others move nothing, or next to nothing */
    bool *counts;              /* by rank */
    bool whole_only;           /* no series per process: the job stands for all of them */
    double start_s, runtime_s; /* since the grid's origin */
    double volume_b;
    double *bytes;       /* [rank * nslices + slice] */
    size_t first, after; /* slices in which it moves anything */
    int64_t *node;       /* by rank; -1: not told */
    uint32_t *busy_to;   /* by rank: the slice after the last in which it does anything at all,
                            flushing included */
};

struct inter_set {
    struct inter_job *job;
    size_t njobs;
    double slice_s;
    size_t nslices;
    bool clocked;               /* the grid is on the wall clock */
    int64_t epoch_ns;           /* of its origin */
    WR_VEC(const char *) notes; /* what a reader should know: sentences */
    struct wr_arena arena;
};

/* Run files that cannot be laid side by side are refused with what to do. */
bool inter_load(struct inter_set *ret, const char *const *paths, size_t n,
                const struct inter_load *how, struct wr_err *err);
void inter_fini(struct inter_set *s);

/* Series a job has: one for each process, or one for all. */
static inline size_t inter_rows(const struct inter_job *j)
{
    return j->whole_only ? 1 : j->nranks;
}

/* Processes that take part: a launcher or a shell is none. */
static inline size_t inter_processes(const struct inter_job *j)
{
    return j->whole_only ? j->nranks : j->nactive;
}

static inline double inter_bytes(const struct inter_set *s, const struct inter_job *j, size_t rank,
                                 size_t slice)
{
    return j->bytes[rank * s->nslices + slice];
}

/* All of a job in one slice. */
double inter_job_bytes(const struct inter_set *s, const struct inter_job *j, size_t slice);
void inter_note(struct inter_set *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
