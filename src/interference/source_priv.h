/* source_priv.h -- the jobs and slices of one run file, before they are placed on a grid. */
#ifndef INTERFERENCE_SOURCE_PRIV_H
#define INTERFERENCE_SOURCE_PRIV_H

#include "interference/job_grid.h"
#include "run/reader.h"

enum { INTERFERENCE_MOST_RANKS = 1 << 20 };

/* What a slice shows: bytes, or without bytes a call in flight, or time in a flush. */
enum source_what { SOURCE_MOVES, SOURCE_IN_FLIGHT, SOURCE_FLUSHES };

struct source_slice {
    uint32_t app, rank; /* app: index into `apps` */
    double t_s, dt_s, bytes;
    enum source_what what;
};

/* The first and the last I/O of a process; NaN: not known. */
struct source_phase {
    double from_s, to_s;
};

struct source_app {
    uint32_t number;
    const char *name;
    size_t nranks, nnodes;
    double start_s, elapsed_s;         /* NaN: not known */
    bool by_rank;                      /* has one series per rank */
    WR_VEC(int64_t) node;              /* by rank; may be shorter than nranks */
    WR_VEC(struct source_phase) phase; /* the same */
};

/* The owner of a series, indexed by the series' id in the file. */
struct source_series {
    uint32_t app, rank;
    double dt_s;
    enum source_what what;
};

/* Filled by source_read, then only read. */
struct source {
    const char *path, *host, *mode;
    bool has_epoch;
    int64_t epoch_ns;
    double clock_error_s, clock_step_s; /* NaN: not known */
    bool incomplete, moves;             /* `moves`: a slice has bytes */
    double slice_s;                     /* the usual length of a slice */
    WR_VEC(struct source_app) apps;
    WR_VEC(struct source_slice) slices;
    WR_VEC(struct source_series) series;
    WR_VEC(uint32_t) wanted; /* by series id; 1: its slices are read */
};

/* `most`: when the file has more slices than this (0: no limit) and stores gathered ones, those are
 * read. */
bool source_read(struct source *ret, const char *path, enum interference_op op, size_t most,
                 struct wr_arena *arena, struct wr_err *err);
void source_fini(struct source *s);

#endif
