/* experiment.h -- an experiment: a command at several sizes, alone and together, with repetitions;
 * and its result tables.
 *
 *   spec ─> trials, round robin over repetitions ─> run files in a directory ─> tables
 *
 *   private.4.r1.P.weir        size 4 alone, first repetition
 *   private.1+4.r1.P.weir      sizes 1 and 4 together: job P ...
 *   private.1+4.r1.Q.weir      ... and job Q
 *
 * The run files are the state: a trial whose files are complete is done. An experiment that was
 * stopped continues with the first trial that is not, and repetitions can be added later.
 */
#ifndef INTERFERENCE_EXPERIMENT_EXPERIMENT_H
#define INTERFERENCE_EXPERIMENT_EXPERIMENT_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "conf/conf.h"
#include "interference/analyse.h"
#include "run/trial.h"
#include "stat/outlier.h"

enum { EXPERIMENT_JOBS = RUN_TRIAL_JOBS };

struct experiment_path {
    double rate_bps; /* 0: no limited path */
};

/* The keys of the file; set by experiment_open, then only read. */
struct experiment_spec {
    const char *command;
    struct conf_list modes;    /* const char * */
    struct conf_list sizes;    /* uint32_t */
    struct conf_list together; /* const char *: "1+4"; none: all pairs */
    uint32_t repetitions;
    uint32_t outliers; /* enum stat_outlier */
    double limit;
    double slice_ps, pause_ps, timeout_ps;
    const char *directory;
    struct experiment_path path;
};

extern const struct conf_row experiment_spec_rows[];

struct experiment_trial {
    const char *mode;
    size_t n;
    uint32_t size[EXPERIMENT_JOBS];
    uint32_t repetition; /* from 1 */
    const char *id;      /* private.1+4.r1 */
};

struct experiment {
    struct experiment_spec spec;
    struct conf *conf;
    const char *out; /* the directory of the run files */
    bool force;      /* replace files of another experiment there */
    WR_VEC(struct experiment_trial) trials;
    struct wr_arena arena;
};

/* Reads and checks the file; `out` may not exist yet. */
bool experiment_open(struct experiment *ret, const char *spec, const char *const *sets,
                     size_t nsets, const char *out, struct wr_err *err);
bool experiment_open_text(struct experiment *ret, const char *name, const char *text, size_t len,
                          const char *out, struct wr_err *err);
/* Plans nothing: the trials are those whose run files are all among `runs`, in the order of mode,
 * number of jobs, sizes and repetition. So a file that plans millions costs no more than the runs.
 */
bool experiment_open_runs(struct experiment *ret, const char *spec, const char *out,
                          const char *const *runs, size_t n, struct wr_err *err);
/* Has no trial before it the same mode and sizes? */
bool experiment_is_first(const struct experiment *e, size_t trial);
void experiment_close(struct experiment *e);

/* Path of the run file of job i of a trial. */
const char *experiment_run_path(const struct experiment *e, const struct experiment_trial *t,
                                size_t i, struct wr_arena *arena);
/* The command of a job, for a shell, with its placeholders replaced. */
struct experiment_values {
    const char *scratch, *socket, *run;
    double begin_s;
};
void experiment_command(const struct experiment *e, const struct experiment_trial *t, size_t i,
                        const struct experiment_values *v, struct wr_str *out);
/* Whether the command writes its run file itself; otherwise it is profiled. */
bool experiment_writes_run(const struct experiment *e);

bool experiment_done(const struct experiment *e, const struct experiment_trial *t);
/* Runs the trials that are not done. When stopped: true with *ret_interrupted; finished trials
 * stay. */
bool experiment_run(const struct experiment *e, struct wr_progress *progress, bool (*stop)(void),
                    bool *ret_interrupted, struct wr_err *err);

/* ---- tables ---- */

struct experiment_mean {
    double mean, sd; /* NaN: no run, one run */
};

struct experiment_job {
    uint32_t size;
    size_t processes, nodes; /* as recorded in the run files */
    struct experiment_mean overall_bps, overlap_bps, runtime_s, spread;
    double volume_b, start_s;
    /* Predicted by the equations of the paper (two jobs; stat/share.h), and by the model with each
     * rule. */
    double equations_s, model_s[INTERFERENCE_RULES];
};

/* Statistics of one combination of mode and sizes over its repetitions. */
struct experiment_cell {
    const char *mode;
    size_t n, runs, kept;
    double overlap_s;
    struct experiment_job job[EXPERIMENT_JOBS];
};

struct experiment_tables {
    WR_VEC(struct experiment_cell) cells; /* those alone first */
    struct wr_arena arena;
};

bool experiment_tables(struct experiment_tables *ret, const struct experiment *e,
                       struct wr_err *err);
void experiment_tables_fini(struct experiment_tables *t);

#endif
