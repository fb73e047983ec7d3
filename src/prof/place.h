/* place.h -- the directory of a job's profiles: made, marked as in use, and found again.
 *
 *   weir-prof-hhhhhhhh-XXXXXX/     locked as long as the launcher lives (base/scratch.h)
 *     .wprof-job                     what was run and where its run file goes
 *     *.wprof, *.wprofs
 */
#ifndef PROF_PLACE_H
#define PROF_PLACE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/scratch.h"

/* In memory where there is such a place: looking at the job must not be I/O of its own. `out`: of
 * the run file; `command`: as it was typed. */
bool prof_place_make(struct wr_scratch *ret, const char *out, const char *command,
                     struct wr_err *err);
/* A directory that the user named, which stays; it is made unless it is there. */
bool prof_place_given(struct wr_scratch *ret, const char *dir, struct wr_err *err);

/* What a launcher that was killed left. */
struct prof_left {
    struct wr_scratch *place; /* locked by us while it is looked at */
    char *out, *command;
    bool running; /* processes of the job still write to it */
};

/* All of this user's, one by one; what is empty is removed without a word. `each` may remove
 * the place. */
void prof_place_left(void (*each)(void *ctx, struct prof_left *l), void *ctx);

#endif
