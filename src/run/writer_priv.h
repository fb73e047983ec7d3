/* writer_priv.h -- an open run file, shared by writer.c (its life) and put.c (its facts). */
#ifndef RUN_WRITER_PRIV_H
#define RUN_WRITER_PRIV_H

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
    RUN_S_GATHER,
    RUN_S_SWEEP,
    RUN_S_STACK_STATE,
    RUN_S_STACK_MESSAGE,
    RUN_S_STACK_PHASE,
    RUN_S_STACK_PARAM,
    RUN_S_STACK_STEP,
    RUN_S_STACK_CHECK,
    RUN_S_COUNT,
};

/* Text or number -> small id, by open addressing; id 0 is an empty place. */
struct run_ids {
    struct {
        uint64_t hash;
        uint32_t id;
    } * slot;
    uint32_t n, cap; /* cap is 0 or a power of two */
};

struct run_series_key {
    uint32_t entity, metric;
    int64_t dt_ps;
};

struct run {
    sqlite3 *db;
    char *path;
    struct wr_output out;            /* while it has not got its name: `out.f` is set */
    uint64_t began_ns, committed_ns; /* of wr_clock_ns */
    uint32_t pending;                /* rows put since the last commit */
    bool open;                       /* a transaction is open */
    struct wr_err broken;            /* the first failure */
    sqlite3_stmt *stmt[RUN_S_COUNT];
    WR_VEC(char *) text; /* dict id i + 1 */
    struct run_ids text_ids;
    WR_VEC(struct run_series_key) series; /* series id i + 1 */
    struct run_ids series_ids;
    uint64_t slices;      /* put so far */
    uint64_t progress_ns; /* when how far it is was put last */
};

/* A statement ready to bind, inside a transaction; NULL when the run is broken. */
sqlite3_stmt *run_begin(struct run *run, enum run_stmt which, struct wr_err *err);
/* Step, reset, count, and commit when it is time. */
bool run_step(struct run *run, enum run_stmt which, struct wr_err *err);
/* Remember the first failure and say it. */
bool run_break(struct run *run, int rc, struct wr_err *err);

/* gather.c: at the end of a run that is complete. */
bool run_gather(struct run *run, struct wr_err *err);

bool run_put_meta_text(struct run *run, const char *key, const char *value, struct wr_err *err);

#endif
