/* blank.h -- heads of the profiles that the sampler makes itself: of an unprofiled process (one
 * without the library), and the shared one for processes that cannot have a file of their own. */
#ifndef PROF_BLANK_H
#define PROF_BLANK_H

#include <sys/types.h>

#include "prof/form/form.h"

struct prof_blank {
    const char *host, *job;
    uint64_t slice_ns;
    bool adaptive;
    int64_t job_ns;            /* when the job began */
    int64_t now_ns, offset_ns; /* wall clock; it minus CLOCK_MONOTONIC */
};

/* An unprofiled process; start 0: it is gone. */
struct prof_blank_process {
    pid_t pid, parent;
    pid_t seen;      /* its number in the PID namespace of its parent, which records its end */
    uint32_t pid_ns; /* of its parent; 0: that of this process */
    bool nested;     /* in a PID namespace of its own or its parents' */
    uint64_t start;  /* clock ticks after boot */
    char exe[512];
};

struct prof_blank_process prof_blank_process(pid_t pid);

/* A profile from the kernel's counters: one slot, one row, PROF_ROW_FIRST. */
void prof_blank_kernel(struct prof_head *h, struct prof_name names[PROF_NAMES],
                       const struct prof_blank *b, const struct prof_blank_process *p);
void prof_blank_shared(struct prof_head *h, struct prof_name names[PROF_ROW_FIRST],
                       const struct prof_blank *b, uint32_t clock, uint64_t capacity_b);

#endif
