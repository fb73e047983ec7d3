/* stack_drive.h -- an IOR command line drives clients.
 *
 *   ior_next()  "write 4 MiB at 0"  ──>  calls of the file system's library  ──>  stack_engine.h
 *
 * Around what the test itself asks for, IOR looks whether the file is there, makes it empty,
 * checks its size after each phase and removes it in the end; of a shared file the first task
 * alone does so, and opens it for all.
 */
#ifndef STACK_DRIVE_H
#define STACK_DRIVE_H

#include "load/ior/ior.h"
#include "stack/play.h"
#include "stack/stack_engine.h"

/* A phase of a repetition, as IOR prints it. */
struct stack_phase {
    bool writes;
    int64_t rep;
    uint64_t transfers, bytes;
    uint64_t open_first, open_last, io_first, io_last, close_first, close_last; /* ns */
    uint64_t io_ns; /* of all transfers */
    uint32_t opened;
};

/* What collective calls did between the tasks. */
struct stack_collected {
    uint64_t calls, two_phase; /* of these, with aggregators */
    uint64_t rounds, messages, bytes, ns;
    uint64_t holes_b; /* holes of windows that were read before writing */
};

struct stack_drive;

/* Fills the rest of `setup` from the test: clients, files, bytes, hooks.done. Other hooks stay. */
bool stack_drive_open(struct stack_drive **ret, struct stack_setup *setup,
                      const struct ior_test *test, uint32_t tasks, uint64_t seed,
                      struct wr_err *err);
/* The same for a program, which is the drive's from now on, also when this fails. Its writes are
 * one phase, its reads another. */
bool stack_drive_open_program(struct stack_drive **ret, struct stack_setup *setup,
                              struct stack_play *program, uint32_t tasks, uint64_t seed,
                              struct wr_err *err);
void stack_drive_close(struct stack_drive *d);
struct stack_engine *stack_drive_engine(struct stack_drive *d);
const struct ior_where *stack_drive_where(const struct stack_drive *d);

/* Every task begins at 0. */
void stack_drive_begin(struct stack_drive *d);
/* To the end; false when interrupted. Fails when the machines do not come to an end. */
bool stack_drive_run(struct stack_drive *d, bool *ret_interrupted, struct wr_err *err);

struct stack_collected stack_drive_collected(const struct stack_drive *d);
size_t stack_drive_phases(const struct stack_drive *d, const struct stack_phase **ret);

/* What one task did: its time in calls, its bytes, and when it had ended. */
struct stack_task_sum {
    uint64_t io_ns, written_b, read_b, end_ns;
};
struct stack_task_sum stack_drive_task(const struct stack_drive *d, uint32_t task);

/* When the last task had ended, ns; 0 before. */
uint64_t stack_drive_end(const struct stack_drive *d);

static inline double stack_s(uint64_t ns)
{
    return (double)ns * 1e-9;
}

#endif
