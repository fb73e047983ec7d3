/* live.h -- jobs that are being profiled right now: who does how much I/O where.
 *
 *   directories of profiles ─> glance ─> counters of every process and mount
 *                              glance ─> the difference, by job and mount: rates
 *
 * Profiles are mapped files that threads count in while they run, so looking costs the jobs
 * nothing. Directories and profiles may come and go between two looks.
 */
#ifndef INTER_LIVE_LIVE_H
#define INTER_LIVE_LIVE_H

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
    uint32_t flights;           /* calls under way */
    double total[PROF_WORDS_N]; /* since they began */
    double rate[PROF_WORDS_N];  /* per second since the last look */
    double share;               /* of the bytes that all jobs moved there since; NaN: none did */
};

struct live;

/* NULL or none: those that `weir profile` makes, wherever they are on this machine. */
struct live *live_open(const char *const *dirs, size_t n);
void live_close(struct live *l);

/* Looks at all that is there. Rates are 0 on the first look. Processes that have ended and mounts
 * where nothing ever happened are left out. Rows, busiest first, are valid until the next look.
 * `now_ns`: the wall clock. */
bool live_look(struct live *l, int64_t now_ns, const struct live_row **ret, size_t *ret_n,
               struct wr_err *err);
/* What the last look could not read: directories of others, damaged profiles. */
size_t live_unread(const struct live *l);

#endif
