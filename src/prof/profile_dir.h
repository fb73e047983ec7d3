/* profile_dir.h -- the directory of a job's profiles: made, marked as in use, and found again.
 *
 *   weir-prof-hhhhhhhh-XXXXXX/     locked as long as the launcher lives (base/scratch.h)
 *     .wprof-job                     what was run and where its run file goes
 *     *.wprof, *.wprofs
 */
#ifndef PROF_PROFILE_DIR_H
#define PROF_PROFILE_DIR_H

#include <stdbool.h>

#include "base/err.h"
#include "base/scratch.h"

/* Makes the directory, in /dev/shm if possible, because sampling must not cause I/O. `out`: the run
 * file; `command`: as it was typed. */
bool prof_dir_make(struct wr_scratch *ret, const char *out, const char *command,
                   struct wr_err *err);
/* Uses a directory that the user named; it is made if needed and stays. */
bool prof_dir_given(struct wr_scratch *ret, const char *dir, struct wr_err *err);

/* The directory that a killed launcher left. */
struct prof_left {
    struct wr_scratch *place; /* locked by the caller while it is examined */
    char *out, *command;
    bool running; /* processes of the job still write to it */
};

/* Calls `each` for every such directory of this user; empty ones are removed. `each` may remove the
 * directory. */
void prof_dir_left(void (*each)(void *ctx, struct prof_left *l), void *ctx);

#endif
