/* writer_priv.h -- an open run file, shared by writer.c (creation, commits, end) and run_put.c
 * (facts). */
#ifndef RUN_WRITER_PRIV_H
#define RUN_WRITER_PRIV_H

#include "base/map.h"
#include "base/mem.h"
#include "base/output.h"
#include "run/run.h"
#include "sql_priv.h"

enum run_stmt {
    RUN_S_META,
    RUN_S_INPUT,
    RUN_S_DICT,
    RUN_S_SUMMARY,
    RUN_S_APP,
    RUN_S_RANK,
    RUN_S_COLL,
    RUN_S_CAUSE,
    RUN_S_MARK,
    RUN_S_INTERVAL,
    RUN_S_LOG,
    RUN_S_OUTPUT,
    RUN_S_LINK,
    RUN_S_FLOW,
    RUN_S_SERVER,
    RUN_S_BUFFER,
    RUN_S_CLIENT,
    RUN_S_HIST,
    RUN_S_HIST_CELL,
    RUN_S_SERIES,
    RUN_S_SLICE,
    RUN_S_SLICES,
    RUN_S_GATHER,
    RUN_S_SWEEP,
    RUN_S_STACK_STATE,
    RUN_S_STACK_MESSAGE,
    RUN_S_STACK_PHASE,
    RUN_S_STACK_PARAM,
    RUN_S_STACK_STEP,
    RUN_S_STACK_CHECK,
    RUN_S_PROCESS,
    RUN_S_ACCESS,
    RUN_S_USE,
    RUN_S_IO_PHASE,
    RUN_S_COUNT,
};

/* A slice that is not in the database yet. */
struct run_slice_row {
    int64_t t_ps, dt_ps; /* dt_ps RUN_NULL: the series' own */
    double value;
    uint32_t series;
};

/* db, path, out and began_ns are set by run_create; the rest changes with puts. */
struct run {
    sqlite3 *db;
    char *path;                      /* the name that the file gets */
    struct wr_output out;            /* `out.f` is set until the file has its name */
    uint64_t began_ns, committed_ns; /* of wr_clock_ns */
    uint32_t pending;                /* rows put since the last commit */
    bool open;                       /* a transaction is open */
    struct wr_err broken;            /* the first failure */
    sqlite3_stmt *stmt[RUN_S_COUNT]; /* prepared at first use */
    WR_VEC(char *) text;             /* dict id i + 1 */
    struct wr_map text_index;        /* a text to its index in `text` */
    WR_VEC(int64_t) series_dt_ps;    /* of series id i + 1 */
    struct wr_map series_ids;        /* entity << 32 | metric to a series id */
    uint64_t slices;                 /* put so far ... */
    WR_VEC(struct run_slice_row)
    rows;                 /* ... of which these are not in the database yet (run_put_rows) */
    uint64_t progress_ns; /* last write of the progress */
};

/* A statement ready to bind, inside a transaction; NULL when the run is broken. */
sqlite3_stmt *run_begin(struct run *run, enum run_stmt which, struct wr_err *err);
/* Step, reset, count, and commit when it is time. */
bool run_step(struct run *run, enum run_stmt which, struct wr_err *err);
/* Step, reset and count. */
bool run_step_only(struct run *run, enum run_stmt which, uint32_t rows, struct wr_err *err);
/* Commits if a batch is full or a second has passed. */
bool run_commit_in_time(struct run *run, struct wr_err *err);
/* run_put.c: inserts waiting slices. Called before each commit. */
bool run_put_rows(struct run *run, struct wr_err *err);
/* Records the first failure and returns it in err. Always false. */
bool run_break(struct run *run, int rc, struct wr_err *err);

/* slices_gather.c: at the end of a run that is complete. */
bool run_gather(struct run *run, struct wr_err *err);

bool run_put_meta_text(struct run *run, const char *key, const char *value, struct wr_err *err);

/* The id of a text in `dict`, added if new. */
bool run_intern(struct run *run, const char *text, uint32_t *ret, struct wr_err *err);

#endif
