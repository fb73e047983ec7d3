/* probe.h -- real writes and reads on storage paths, timed.
 *
 *   one thread per target:  wait ─ write + fdatasync ─ read back ─ ...
 *   the caller's thread:    takes results as they come, reports targets that hang
 *
 * A target that hangs blocks its own thread only. A probe's file has no name
 * (it is unlinked before it is written), so nothing is left behind however the process ends, and it
 * never grows beyond one probe.
 */
#ifndef STATE_PROBE_H
#define STATE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

int64_t state_wall_ns(void); /* the system's, since 1970 */

/* What a user writes: DIR, DIR@ostN (Lustre), or a block device. */
struct state_target {
    const char *text;
};

struct state_probe_opts {
    double interval_s, jitter; /* a start may be early or late by this part of the interval */
    double length_s;           /* 0: until interrupted */
    uint64_t bytes;
    uint64_t most; /* probes of each target; 0: any number */
    bool devices;  /* block devices may be written (with what they hold) */
    double hang_s; /* a probe that takes longer is reported; 0: 30 s */
    uint64_t seed;
    bool (*stop)(void); /* polled */
    /* The wall clock says once when it all begins; from there the monotonic one goes on, so that a
     * wall clock that is set meanwhile moves no probe. */
    int64_t mono_to_unix_ns;  /* what to add to wr_clock_ns; 0: as it is when the probes begin */
    int64_t (*wall_ns)(void); /* NULL: the system's clock */
};

enum state_probe_kind {
    STATE_PROBE_WRITE,
    STATE_PROBE_READ,
    STATE_PROBE_FAILED,
    STATE_PROBE_HANGS
};

struct state_probe_result {
    size_t target;
    enum state_probe_kind kind;
    bool read;             /* what failed or hangs is the read, not the write */
    int64_t unix_ns;       /* when it began; never goes back */
    int64_t clock_step_ns; /* by which the wall clock has left that time until now */
    double latency_s;
    double cost_s;     /* processor time of this thread */
    bool direct;       /* past the page cache */
    const char *words; /* of a failure; valid during the call */
};

/* Tries every target once before it returns true; an unusable one is an error. Calls `take` for
 * each result, from this thread only. Ends when the time is over, `most` is reached or `stop` says
 * so; what is under way is waited for, but not for those that hang. */
bool state_probe_run(const struct state_target *targets, size_t n,
                     const struct state_probe_opts *opts,
                     bool (*take)(void *arg, const struct state_probe_result *r,
                                  struct wr_err *err),
                     void *arg, struct wr_err *err);

#endif
