/* stack_job.h -- a test on a file system: from a few keys to a simulation ready to run.
 *
 *   stack_config --stack_sim_open--> fs.h, timing.h, the test --> stack_drive.h
 *
 * The verbs of `weir stack` and the runs of a study open their simulations here.
 */
#ifndef STACK_JOB_H
#define STACK_JOB_H

#include "stack/stack_record.h"

/* A simulation as it is configured: the keys of stack_job.c. Constant after reading. */
struct stack_config {
    const char *fs;             /* a shipped file system, or a machine file */
    const char *timings;        /* timing models: shipped ones or a file; "": the default */
    const char *former_timings; /* the same by its key before version 0.2, `laws` */
    const char *test;           /* an IOR command line, or a program's file and its options */
    const char *args;           /* more options of it */
    uint32_t servers, metas, datas, tasks, dfiles; /* as in struct stack_setup; tasks: clients */
    const char *first_server;                      /* "": the middle, or 0 */
    uint64_t seed;
    bool vary;             /* times are drawn from the timing models' bands */
    uint32_t cb, cb_nodes; /* how collective calls gather: enum stack_cb_mode, aggregators */
    uint64_t cb_buffer_b;
    const char *fault;       /* "machine:state=code@visit*times", or "" */
    const char *net;         /* a machine file; the caller opens `wire` of it */
    struct stack_wire *wire; /* or NULL; the simulation closes it, also when it does not open */
    struct conf_list set;    /* of const char *: overrides of the machine file, as after --set */
};

extern const struct conf_row stack_config_rows[];

/* A simulation of a test on a file system: all that stack_sim_open() opened. */
struct stack_sim {
    struct stack_fs *fs;
    struct stack_timings *timings;
    struct ior_test test;       /* if has_test; else `program` */
    struct wr_str words;        /* of the test */
    struct stack_wire *wire;    /* a simulated network; NULL: the timing models' link */
    struct stack_play *program; /* until the drive has it */
    struct stack_setup setup;
    struct stack_drive *drive;
    bool has_test;
    struct wr_str label;  /* "extrapolated: ..." with the reason, for tables; else empty */
    struct wr_str beyond; /* why the test lies outside what the models were fitted on; else empty */
};

bool stack_sim_open(struct stack_sim *ret, const struct stack_config *c,
                    const struct stack_hooks *hooks, struct wr_err *err);
void stack_sim_close(struct stack_sim *s);

#endif
