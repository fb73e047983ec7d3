/* stack_help.h -- a simulated test of the I/O stack, for tests. */
#ifndef STACK_HELP_H
#define STACK_HELP_H

#include <stdlib.h>
#include <string.h>

#include "stack/stack_drive.h"
#include "stack/stack_trace.h"

struct stack_lab {
    struct stack_fs *fs;
    struct stack_timings *timings;
    struct ior_test test;
    struct stack_setup setup;
    struct stack_trace trace;
    struct stack_drive *drive;
    const struct stack_counts *counts;
};

/* `start`: the server of the first file's metadata; UINT32_MAX: as usual. */
static inline void stack_lab_run_at(struct stack_lab *l, const char *fs, const char *timings,
                                    uint32_t servers, uint32_t start, uint32_t tasks,
                                    const char *command)
{
    struct wr_err err = {0};
    bool stopped;

    *l = (struct stack_lab){0};
    if (!stack_fs_open(&l->fs, fs, &err) ||
        !stack_timings_open(&l->timings, l->fs, timings, &err) ||
        !ior_parse(&l->test, command, tasks, &err))
        fail_msg("%s", err.text);
    l->setup = (struct stack_setup){
        .fs = l->fs, .timings = l->timings, .servers = servers, .start = start};
    l->setup.hooks = stack_trace_hooks(&l->trace);
    l->trace.fs = l->fs;
    if (!stack_drive_open(&l->drive, &l->setup, &l->test, tasks, 1, &err))
        fail_msg("%s", err.text);
    l->trace.clients = l->setup.clients;
    stack_drive_begin(l->drive);
    if (!stack_drive_run(l->drive, &stopped, &err))
        fail_msg("%s", err.text);
    l->counts = stack_engine_counts(stack_drive_engine(l->drive));
}

static inline void stack_lab_run(struct stack_lab *l, const char *fs, const char *timings,
                                 uint32_t servers, uint32_t tasks, const char *command)
{
    stack_lab_run_at(l, fs, timings, servers, UINT32_MAX, tasks, command);
}

static inline void stack_lab_end(struct stack_lab *l)
{
    stack_drive_close(l->drive);
    stack_trace_fini(&l->trace);
    ior_fini(&l->test);
    stack_timings_close(l->timings);
    stack_fs_close(l->fs);
}

static inline const struct stack_traffic *stack_lab_message(const struct stack_lab *l,
                                                            const char *name)
{
    for (size_t i = 0; i < l->fs->message.n; i++)
        if (!strcmp(l->fs->message.v[i].name, name))
            return &l->counts->message[i];
    return NULL;
}

#endif
