/* ioload_process_priv.h -- the memory that the parent and the writing processes share.
 *
 * ioload.c creates it before the first fork. Each process writes its own element of outcome[] and
 * the atomic words; the parent writes go_ns and stop, and reads outcome[] after the process ended.
 */
#ifndef IOLOAD_PROCESS_PRIV_H
#define IOLOAD_PROCESS_PRIV_H

#include <stdatomic.h>

#include "ioload_account_priv.h"

/* What one process did: written by it alone, read by the parent after it ended. */
struct ioload_outcome {
    struct ioload_rank rank;
    struct wr_err err; /* valid when failed */
    bool failed;
};

struct ioload_shared {
    atomic_uint ready;       /* processes that wait for the beginning */
    atomic_llong go_ns;      /* Unix; 0: not known yet */
    atomic_uint writing;     /* processes that are not done */
    atomic_bool stop;        /* the parent asks all to end */
    int64_t mono_to_unix_ns; /* the wall clock when all began; later jumps are not followed */
    int64_t origin_ns;
    struct ioload_outcome outcome[];
};

/* What one process knows; in its own memory. */
struct ioload_process {
    const struct ioload_opts *o;
    uint32_t number; /* of the process, from 0 */
    struct ioload_shared *shared;
    struct account account;
    int fd;
};

/* All that a process does after the fork; its results are in its element of outcome[]. */
void ioload_process_run(struct ioload_process *p);

bool ioload_connect(int *ret, const char *path, struct wr_err *err);

static inline uint64_t ioload_part_b(const struct ioload_opts *o, uint32_t number)
{
    return o->total_b / o->processes + (number < o->total_b % o->processes);
}

#endif
