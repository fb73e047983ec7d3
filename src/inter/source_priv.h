/* source_priv.h -- one run file as it is, before it is laid on a grid. */
#ifndef INTER_SOURCE_PRIV_H
#define INTER_SOURCE_PRIV_H

#include "inter/jobs.h"
#include "run/reader.h"

enum { INTER_MOST_RANKS = 1 << 20 };

struct source_slice {
    uint32_t app, rank; /* app: place in `apps` */
    double t_s, dt_s, bytes;
    bool flush; /* no bytes, but time spent in flushing them, or a call under way */
};

struct source_app {
    uint32_t number;
    const char *name;
    size_t nranks, nnodes;
    double start_s, elapsed_s; /* NaN: not known */
    bool by_rank;              /* has series of its ranks */
    WR_VEC(int64_t) node;      /* by rank; those not told are left out */
};

/* Whose the slices of a series are, by its id in the file. */
struct source_series {
    uint32_t app, rank;
    double dt_s;
    bool flush;
};

struct source {
    const char *path, *host, *mode;
    bool has_epoch;
    int64_t epoch_ns;
    double clock_error_s, clock_step_s; /* NaN: not known */
    bool incomplete, moves;             /* any bytes at all */
    double slice_s;                     /* the usual one */
    WR_VEC(struct source_app) apps;
    WR_VEC(struct source_slice) slices;
    WR_VEC(struct source_series) series;
    WR_VEC(uint32_t) wanted; /* 1: the series is one of them */
};

/* `most`: of more slices than that (0: never) those are read that the file has gathered, if any. */
bool source_read(struct source *ret, const char *path, enum inter_op op, size_t most,
                 struct wr_arena *arena, struct wr_err *err);
void source_fini(struct source *s);

#endif
