/* job.h -- a test on a file system: from a few words to a simulation ready to run.
 *
 *   stack_config ──stack_sim_open──> fs.h, law.h, the test ──> drive.h
 *
 * Whoever simulates says it this way: the verbs of `weir stack`, and the runs of a study.
 */
#ifndef STACK_JOB_H
#define STACK_JOB_H

#include "stack/store.h"

struct stack_config {
    const char *fs, *laws; /* laws "": the file system's default */
    const char *test;      /* an IOR command line, or a program's file and its options */
    const char *args;      /* more options of it */
    uint32_t servers, metas, datas, tasks, dfiles;
    const char *first_server; /* "": the middle, or 0 */
    uint64_t seed;
    bool vary;             /* times are drawn from the laws' bands */
    uint32_t cb, cb_nodes; /* how collective calls gather: enum stack_cb_mode, aggregators */
    uint64_t cb_buffer_b;
    const char *fault;       /* "machine:state=code@visit*times", or "" */
    const char *net;         /* a machine file; who opens the simulation opens `wire` of it */
    struct stack_wire *wire; /* or NULL; the simulation closes it, also when it does not open */
    struct conf_list set;    /* of const char *: overrides of the machine file, as after --set */
};

extern const struct conf_row stack_config_rows[];

struct stack_sim {
    struct stack_fs *fs;
    struct stack_laws *laws;
    struct ior_test test;
    struct wr_str words; /* of the test */
    struct stack_wire *wire;
    struct stack_play *program; /* until the drive has it */
    struct stack_setup setup;
    struct stack_drive *drive;
    bool has_test;
};

bool stack_sim_open(struct stack_sim *ret, const struct stack_config *c,
                    const struct stack_hooks *hooks, struct wr_err *err);
void stack_sim_close(struct stack_sim *s);

#endif
