/* live.h -- I/O rates of jobs that are being profiled now, by job and mount.
 *
 *   directories of profiles ─> glance ─> counters of every process and mount
 *                              glance ─> the difference, by job and mount: rates
 *
 * Profiles are mapped files that threads count in while they run, so reading them costs the jobs
 * nothing. Directories and profiles may appear and disappear between two calls.
 */
#ifndef INTERFERENCE_LIVE_LIVE_H
#define INTERFERENCE_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "prof/form/form.h"

/* A job on a mount. */
struct live_row {
    const char *job, *host, *mount, *fs;
    uint32_t processes;         /* that have used this mount */
    uint32_t calls_in_flight;   /* calls that have started and not returned */
    double total[PROF_WORDS_N]; /* since the processes started */
    double rate[PROF_WORDS_N];  /* per second since the previous call of live_look */
    double share;               /* of the bytes that all jobs moved on this mount; NaN: none */
};

struct live;

/* NULL or none: the directories that `weir profile` makes on this machine. */
struct live *live_open(const char *const *dirs, size_t n);
void live_close(struct live *l);

/* Reads all profiles. Rates are 0 on the first call. Processes that have ended and unused mounts
 * are left out. Rows, highest rate first, are valid until the next call. `now_ns`: the wall clock.
 */
bool live_look(struct live *l, int64_t now_ns, const struct live_row **ret, size_t *ret_n,
               struct wr_err *err);
/* What the last call could not read: directories of other users, damaged profiles. */
size_t live_unread(const struct live *l);

#endif
