/* study_priv.h -- the state of an open study, shared by the files of this module.
 *
 * study.c reads the file and lists the runs; after study_open() all is fixed but the states and
 * costs of the runs and open_b, which execute.c sets while it inspects and executes.
 */
#ifndef STUDY_STUDY_PRIV_H
#define STUDY_STUDY_PRIV_H

#include <sys/types.h>

#include "run/run.h"
#include "stack/stack_job.h"
#include "study/study.h"
#include "world/config.h"

/* One choice of an axis, as a user names it. */
struct study_option {
    struct conf_key key;
    struct conf_list set;  /* of const char *: "machine.routing=par" */
    struct conf_list jobs; /* of const char *: names */
};

struct study_axis {
    struct conf_key key;
    const char *sets;         /* the key that `values` are for; by default the axis' name */
    struct conf_list values;  /* of const char * */
    struct conf_list options; /* of struct study_option */
};

struct study_config {
    const char *name;
    struct world_config run;
    struct stack_config stack; /* instead of `run` */
    struct conf_list cross;    /* of struct study_axis */
};

/* A choice, after ranges are spelled out. */
struct study_choice {
    const char *label;
    const char *value;                 /* of the axis' key, or NULL */
    const void *at;                    /* the configuration's field that says so */
    const struct study_option *option; /* or NULL */
};

/* An axis with its choices listed. */
struct study_dim {
    const char *name, *key;      /* of the axis; of the configuration, for `values` */
    bool is_seed;                /* runs that differ in it only open alike */
    struct study_choice *choice; /* [n] */
    uint32_t n;
};

struct study {
    struct wr_arena arena; /* names, labels and paths */
    const char *file;
    const char *const *sets; /* overrides from the command line, with `section` in front */
    size_t nsets;
    struct study_config c; /* as the file says, filled by `conf` */
    struct conf *conf;
    const char *section;                   /* "run", or "stack": what the runs are */
    struct study_dim dim[STUDY_MOST_AXES]; /* [ndims] the axes; the first varies slowest */
    size_t ndims;
    struct study_run *run; /* [nruns] all points of the product of the axes */
    size_t nruns;
    uint64_t open_b; /* memory that opening the largest world took */
};

/* The configuration of one run, as struct study_config; its `run` is the run's. */
bool study_load(const struct study *s, const struct study_run *r, struct conf **ret,
                struct study_config *into, struct wr_err *err);
/* DIR/NAME.weir, of the arena. */
const char *study_path(struct study *s, const struct study_run *r, const char *dir);
/* A directory that is there already must be empty or hold what a study wrote, unless `force`. */
bool study_make_dir(const char *dir, bool force, struct wr_err *err);
extern const struct wr_format study_script_format;
/* The command that makes the run again. */
void study_command(const struct study *s, const struct study_run *r, const char *dir,
                   struct wr_str *out);

bool study_put_point(const struct study *s, const struct study_run *r, struct run *run,
                     struct wr_err *err);

/* study_stack.c: runs that are tests on a file system. */
bool study_of_stack(const struct study *s);
bool study_stack_try(const struct stack_config *c, double *ret_ranks, struct wr_err *err);
bool study_stack_run(struct study *s, const struct study_run *r, const struct conf *conf,
                     const struct stack_config *c, const char *dir, bool *ret_interrupted,
                     struct wr_err *err);

/* study_state.c */
void study_look(const struct conf *conf, const char *section, const char *path,
                enum study_state *ret_state, double *ret_wall_s);
/* study_memory.c: may one more process start beside those running, each of which may come to hold
 * `need_b`? */
bool study_memory_fits(uint64_t need_b, const pid_t *running, size_t n);
uint64_t study_rss(pid_t pid); /* resident bytes; 0: not known */

#endif
