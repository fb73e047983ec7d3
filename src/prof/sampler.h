/* sampler.h -- looks at the slots of running processes from outside, so that they need no clock.
 *
 * Between slice edges it looks at calls under way: each look that finds one adds the time since the
 * last look to that call's row. At an edge of the wall clock's slices it writes what has changed
 * into the log of each process. A call that spans edges is spread over the time it was seen.
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

/* `counters`: NULL, or what to count of each thread that does I/O; stays the caller's. */
bool prof_sampler_open(struct prof_sampler **ret, const char *dir, const char *job,
                       uint64_t slice_ns, struct prof_counters *counters, struct wr_err *err);
/* When to look next, and the look; wall clock, ns. `root`: the job's first process. */
int64_t prof_sampler_next(const struct prof_sampler *s);
void prof_sampler_look(struct prof_sampler *s, int64_t now_ns, pid_t root);
/* The last look: everything that is known goes into the logs. `root` has ended but was not waited
 * for; or -1. */
void prof_sampler_close(struct prof_sampler *s, int64_t now_ns, pid_t root);

int64_t prof_wall_ns(void);

#endif
