/* scratch.h -- a directory for a while, which is known to be left behind when its maker is gone.
 *
 *   WHERE/PREFIXhhhhhhhh-XXXXXX     hhhhhhhh: the machine, since locks may be known to one only
 *
 * The directory is locked as long as the process that made it or one of its forked children lives,
 * whatever namespace they are in. A directory of the same machine and user without a lock was left
 * behind. On a file system without such locks no directory counts as left behind.
 */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include <stdbool.h>

struct wr_scratch {
    char *dir;
    int lock; /* a descriptor of the directory; < 0: none */
};

/* False: errno says why. */
bool wr_scratch_make(struct wr_scratch *ret, const char *where, const char *prefix);
/* With all that is in it, and the memory. */
void wr_scratch_remove(struct wr_scratch *s);
/* The directory stays. */
void wr_scratch_fini(struct wr_scratch *s);

/* All that this user left in `where`, locked by us; `each` may remove it, and is not called for it
 * again. */
void wr_scratch_left(const char *where, const char *prefix,
                     void (*each)(void *ctx, struct wr_scratch *s), void *ctx);
/* The same, removed. */
void wr_scratch_clean(const char *where, const char *prefix);

#endif
