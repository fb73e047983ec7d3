/* place.h -- the directory of a job's profiles: made, marked as in use, and found again.
 *
 *   weir-prof-PID-XXXXXX/
 *     .wprof-job         what was run and where its run file goes; locked as long as the launcher
 * lives
 *     *.wprof, *.wprofs
 *
 * The lock goes with the launcher, however it ends and whatever namespace it is in. A directory
 * whose lock is free was left behind.
 */
#ifndef PROF_PLACE_H
#define PROF_PLACE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct prof_place {
    char *dir;
    int lock; /* < 0: the directory was given, and stays */
};

/* In memory where there is such a place: looking at the job must not be I/O of its own. `out`: of
 * the run file; `command`: as it was typed. */
bool prof_place_make(struct prof_place *ret, const char *out, const char *command,
                     struct wr_err *err);
/* A directory that the user named; it is made unless it is there. */
bool prof_place_given(struct prof_place *ret, const char *dir, struct wr_err *err);
/* With what weir put there. */
void prof_place_remove(struct prof_place *p);
void prof_place_fini(struct prof_place *p);

/* What a launcher that was killed left. */
struct prof_left {
    struct prof_place place; /* locked by us while it is looked at */
    char *out, *command;
    bool running; /* processes of the job still write to it */
};

/* All of this user's, one by one; what is empty is removed without a word. `each` may remove
 * the place. */
void prof_place_left(void (*each)(void *ctx, struct prof_left *l), void *ctx);

#endif
