/* sampler.h -- samples the thread slots of running processes from outside, so that they need no
 * clock.
 *
 * Between slice edges it samples calls in flight: each sample that finds one adds the time since
 * the previous sample to that call's row. At a slice edge of the wall clock it writes a record of
 * each row that changed. A call that spans edges is spread over the time in which it was seen.
 *
 * The profile of a process that has ended is packed into the job's archive while others run, so
 * that memory is used for running processes only (prof_collect.h).
 *
 * Unprofiled processes (static programs, programs that drop their environment) are counted by the
 * kernel; the sampler keeps a profile for each one that it finds. The ends of processes that the
 * launcher waits for are recorded in the same form as those of children (lib/child.c).
 */
#ifndef PROF_SAMPLER_H
#define PROF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct prof_sampler;
struct prof_counters;

struct prof_sampling {
    const char *dir, *job;
    uint32_t clock;      /* enum prof_clock of the processes */
    uint64_t slice_ns;   /* 0: adaptive, grows with the job's age */
    uint64_t capacity_b; /* limit on the files of running processes; beyond it they share one */
    struct prof_counters *counters; /* of each thread; NULL: none; owned by the caller */
};

bool prof_sampler_open(struct prof_sampler **ret, const struct prof_sampling *what,
                       struct wr_err *err);
/* The current time in ns: the wall clock at the start plus the monotonic clock since, so it does
 * not jump when the wall clock is set. */
int64_t prof_sampler_now(const struct prof_sampler *s);
/* The time of the next sample, and the sample. The job's processes are descendants of this one. */
int64_t prof_sampler_next(const struct prof_sampler *s);
void prof_sampler_look(struct prof_sampler *s, int64_t now_ns);
/* Records the end of a child that was not waited for yet. */
void prof_sampler_ended(struct prof_sampler *s, pid_t child);
/* The last sample; writes all that is left into the logs. The command has ended and was not waited
 * for. */
void prof_sampler_close(struct prof_sampler *s, int64_t now_ns);

#endif
