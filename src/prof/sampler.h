/* sampler.h -- looks at the slots of running processes from outside, so that they need no clock.
 *
 * Between slice edges it looks at calls under way: each look that finds one adds the time since the
 * last look to that call's row. At an edge of the wall clock's slices it writes what has changed
 * into the log of each process. A call that spans edges is spread over the time it was seen.
 *
 * What a process that has ended leaves is packed into the job's archive while the others run, so
 * that the profiles take the memory of those that run (collect.h).
 *
 * Processes without the library (static programs, programs that drop their environment) are told by
 * the kernel's own counters; the sampler keeps a profile for each of them.
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
    uint32_t clock; /* enum prof_clock of the processes */
    uint64_t slice_ns;
    uint64_t room_b;                /* for profiles of running processes; more share one */
    struct prof_counters *counters; /* what to count of each thread; NULL: nothing; the caller's */
};

bool prof_sampler_open(struct prof_sampler **ret, const struct prof_sampling *what,
                       struct wr_err *err);
/* Now, as the wall clock was when the sampler was opened, and as steadily as the monotonic clock:
 * it does not step when somebody sets the time. ns. */
int64_t prof_sampler_now(const struct prof_sampler *s);
/* When to look next, and the look. `root`: the job's first process. */
int64_t prof_sampler_next(const struct prof_sampler *s);
void prof_sampler_look(struct prof_sampler *s, int64_t now_ns, pid_t root);
/* The last look: everything that is known goes into the logs. `root` has ended but was not waited
 * for; or -1. */
void prof_sampler_close(struct prof_sampler *s, int64_t now_ns, pid_t root);

#endif
