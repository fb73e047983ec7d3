/* process_priv.h -- what one writing process is given, and what it leaves behind. */
#ifndef IOLOAD_PROCESS_PRIV_H
#define IOLOAD_PROCESS_PRIV_H

#include <stdatomic.h>

#include "account_priv.h"

enum { IOLOAD_WORDS = 256 };

/* In shared memory. */
struct ioload_desk {
    struct ioload_rank rank;
    struct wr_err err;
    bool failed;
};

struct ioload_hall {
    atomic_uint ready;   /* processes that wait for the beginning */
    atomic_llong go_ns;  /* Unix; 0: not known yet */
    atomic_uint writing; /* processes that are not done */
    atomic_bool stop;
    int64_t mono_to_unix_ns; /* the wall clock when all began; later jumps are not followed */
    int64_t origin_ns;
    struct ioload_desk desk[];
};

struct ioload_process {
    const struct ioload_opts *o;
    uint32_t number;
    struct ioload_hall *hall;
    struct account account;
    int fd;
};

/* The whole life of a process once it was forked; its results are on its desk. */
void ioload_process_live(struct ioload_process *p);

bool ioload_connect(int *ret, const char *path, struct wr_err *err);

static inline uint64_t ioload_part_b(const struct ioload_opts *o, uint32_t number)
{
    return o->total_b / o->processes + (number < o->total_b % o->processes);
}

#endif
