/* prof_collect.h -- archives the profiles of processes that have ended, which frees their memory.
 *
 * A profile is packed and appended to the launcher's archive, HOST-PID.wprofs; then its file is
 * removed. If it cannot be appended (disk full) the file stays and is read as it is.
 */
#ifndef PROF_PROF_COLLECT_H
#define PROF_PROF_COLLECT_H

#include <stdbool.h>

struct prof_collect;

struct prof_collect *prof_collect_open(const char *dir, const char *host);
void prof_collect_close(struct prof_collect *c);

enum prof_collected {
    PROF_COLLECTED,
    PROF_IN_USE, /* a process has it mapped: a forked child without a profile yet */
    PROF_CANNOT, /* the file stays */
};

/* `sure`: the process is known to be gone; used on file systems without leases. */
enum prof_collected prof_collect(struct prof_collect *c, const char *path, bool sure);

#endif
