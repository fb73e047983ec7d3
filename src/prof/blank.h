/* blank.h -- heads of the profiles that the sampler makes itself: of a process without the library,
 * and of processes that find no room for their own. */
#ifndef PROF_BLANK_H
#define PROF_BLANK_H

#include <sys/types.h>

#include "prof/form/form.h"

struct prof_blank {
    const char *host, *job;
    uint64_t slice_ns;
    int64_t now_ns, offset_ns; /* wall clock; it minus CLOCK_MONOTONIC */
};

/* Told by the kernel's counters, in one slot and one row, PROF_ROW_FIRST. */
void prof_blank_kernel(struct prof_head *h, struct prof_name names[PROF_NAMES],
                       const struct prof_blank *b, pid_t pid);
void prof_blank_shared(struct prof_head *h, struct prof_name names[PROF_ROW_FIRST],
                       const struct prof_blank *b, uint32_t clock, uint64_t room_b);

#endif
