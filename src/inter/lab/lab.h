/* lab.h -- an experiment: commands alone and together, again and again, and its tables.
 *
 *   spec ─> trials, round robin over repetitions ─> run files in a directory ─> tables
 *
 *   private.4.r1.P.weir        size 4 alone, first repetition
 *   private.1+4.r1.P.weir      sizes 1 and 4 together: job P ...
 *   private.1+4.r1.Q.weir      ... and job Q
 *
 * The run files are the state: a trial whose files are complete is done. So an experiment that was
 * stopped goes on where it was, and more repetitions can be added.
 */
#ifndef INTER_LAB_LAB_H
#define INTER_LAB_LAB_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "conf/conf.h"
#include "inter/analyse.h"
#include "run/trial.h"
#include "stat/outlier.h"

enum { LAB_JOBS = RUN_TRIAL_JOBS };

struct lab_path {
    double rate_bps; /* 0: none */
};

struct lab_spec {
    const char *command;
    struct conf_list modes;    /* const char * */
    struct conf_list sizes;    /* uint32_t */
    struct conf_list together; /* const char *: "1+4"; none: all pairs */
    uint32_t repetitions;
    uint32_t outliers; /* enum stat_outlier */
    double limit;
    double slice_ps, pause_ps, timeout_ps;
    const char *directory;
    struct lab_path path;
};

extern const struct conf_row lab_rows[];

struct lab_trial {
    const char *mode;
    size_t n;
    uint32_t size[LAB_JOBS];
    uint32_t repetition; /* from 1 */
    const char *id;      /* private.1+4.r1 */
};

struct lab {
    struct lab_spec spec;
    struct conf *conf;
    const char *out; /* the directory of the run files */
    bool force;      /* whatever else it holds */
    WR_VEC(struct lab_trial) trials;
    struct wr_arena arena;
};

/* Reads and checks; `out` may not exist yet. */
bool lab_open(struct lab *ret, const char *spec, const char *const *sets, size_t nsets,
              const char *out, struct wr_err *err);
bool lab_open_text(struct lab *ret, const char *name, const char *text, size_t len, const char *out,
                   struct wr_err *err);
void lab_close(struct lab *l);

/* Job i of a trial leaves this run file. */
const char *lab_run_path(const struct lab *l, const struct lab_trial *t, size_t i,
                         struct wr_arena *arena);
/* The command of a job, for a shell. */
struct lab_values {
    const char *scratch, *socket, *run;
    double begin_s;
};
void lab_command(const struct lab *l, const struct lab_trial *t, size_t i,
                 const struct lab_values *v, struct wr_str *out);
/* Whether the command writes its run file itself; otherwise it is profiled. */
bool lab_writes_run(const struct lab *l);

bool lab_done(const struct lab *l, const struct lab_trial *t);
/* All trials that are not done. Stopped: true with *ret_interrupted; what was done stays. */
bool lab_run(const struct lab *l, struct wr_progress *progress, bool (*stop)(void),
             bool *ret_interrupted, struct wr_err *err);

/* ---- tables ---- */

struct lab_mean {
    double mean, sd; /* NaN: no run, one run */
};

struct lab_job {
    uint32_t size;
    size_t processes, nodes; /* as the runs tell */
    struct lab_mean overall_bps, overlap_bps, runtime_s, spread;
    double volume_b, start_s;
    /* By the published equations (two jobs), and by the model with each rule. */
    double equations_s, model_s[INTER_RULES];
};

/* One mode and sizes, over its repetitions. */
struct lab_cell {
    const char *mode;
    size_t n, runs, kept;
    double overlap_s;
    struct lab_job job[LAB_JOBS];
};

struct lab_tables {
    WR_VEC(struct lab_cell) cells; /* those alone first */
    struct wr_arena arena;
};

bool lab_tables(struct lab_tables *ret, const struct lab *l, struct wr_err *err);
void lab_tables_fini(struct lab_tables *t);

#endif
