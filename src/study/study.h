/* study.h -- one file that describes many runs: a configuration, and what to cross.
 *
 *   name: hybrid                         study_rows
 *   run: base.yaml  (or inline)          struct world_config; or stack: (stack/stack_job.h)
 *   cross:                               one axis each; the first varies slowest
 *     workload:  options of sets and jobs
 *     seed:      a key and its values
 *
 *   study_open ─> study_inspect ─> study_execute | study_slurm
 *
 * A run of the study is a point of the product of its axes: the base with the overrides of each
 * axis' choice. It is one process and one run file DIR/<its choices>.weir, which says in its
 * summary which point it is; so a directory needs no list of what is in it, and it does not matter
 * which process wrote a file (this one, an earlier one, a task of a job array).
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "conf/conf.h"

extern const struct conf_row study_rows[];
extern const size_t study_rows_size; /* of the struct they fill, for tests */

enum { STUDY_MOST_AXES = 16, STUDY_MOST_RUNS = 100000 };

enum study_state {
    STUDY_ABSENT, /* no run file */
    STUDY_TORN,   /* begun and not finished */
    STUDY_FAILED, /* ended with an error */
    STUDY_OLD,    /* of another configuration, input or version */
    STUDY_BUSY,   /* another process is writing it */
    STUDY_DONE,
};

extern const char *const study_state_names[];

struct study_run {
    const char *name; /* its choices joined: the run file without .weir */
    uint32_t choice[STUDY_MOST_AXES];
    enum study_state state; /* after study_inspect */
    double cost; /* expected seconds, or ranks if no earlier run is known; the largest runs first */
};

struct study;

/* Reads the file, and counts and names the runs. `sets` override the base of all runs. */
bool study_open(struct study **ret, const char *file, const char *const *sets, size_t nsets,
                struct wr_err *err);
void study_close(struct study *s);

const char *study_name(const struct study *s);
size_t study_axes(const struct study *s);
const char *study_axis(const struct study *s, size_t axis);
const char *study_label(const struct study *s, const struct study_run *r, size_t axis);
size_t study_runs(const struct study *s);
const struct study_run *study_run(const struct study *s, size_t i);
/* By number or name. */
bool study_find(const struct study *s, const char *which, size_t *ret, struct wr_err *err);

/* Loads the configuration of every run and opens its machine, so that errors are reported
 * before anything is simulated; and finds out which runs `dir` holds already. `only`: of one
 * run, or SIZE_MAX. */
bool study_inspect(struct study *s, const char *dir, size_t only, struct wr_err *err);

struct study_how {
    const char *dir;
    uint32_t jobs; /* processes at once; 0: one per core, and no more than fit in memory */
    size_t only;   /* one run, or SIZE_MAX */
    bool force;    /* also those that are done */
    struct wr_progress *progress;
};

struct study_outcome {
    size_t ran, kept, busy, failed;
    bool interrupted;
    struct wr_str failures; /* one line each */
};

/* Runs what is not done yet. A run that fails does not stop the others. */
bool study_execute(struct study *s, const struct study_how *how, struct study_outcome *ret,
                   struct wr_err *err);

struct study_slurm {
    const char *dir, *program;  /* the weir that the tasks run */
    const char *const *options; /* of sbatch */
    size_t noptions;
    const char *const *sets; /* as given to study_open */
    size_t nsets;
    bool force, submit; /* without `submit` only the script is written */
};

/* Writes DIR/study.sbatch, a job array with a task for each run that is not done, and submits it.
 * *ret_tasks of them; `ret_said` is what sbatch printed. */
bool study_slurm(struct study *s, const struct study_slurm *how, size_t *ret_tasks,
                 struct wr_str *ret_said, struct wr_err *err);

#endif
