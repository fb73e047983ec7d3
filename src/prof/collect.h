/* collect.h -- profiles of processes that have ended leave the directory and its memory.
 *
 * They are packed and appended to the launcher's archive, HOST-PID.wprofs; then their files go.
 * What cannot be appended (no room) stays as it is, and is read from there.
 */
#ifndef PROF_COLLECT_H
#define PROF_COLLECT_H

#include <stdbool.h>

struct prof_collect;

struct prof_collect *prof_collect_open(const char *dir, const char *host);
void prof_collect_close(struct prof_collect *c);

enum prof_collected {
    PROF_COLLECTED,
    PROF_IN_USE, /* a process has it mapped: a child that has not begun its own */
    PROF_CANNOT, /* it stays where it is */
};

/* `sure`: the process is known to be gone where the kernel does not tell who has a file mapped. */
enum prof_collected prof_collect(struct prof_collect *c, const char *path, bool sure);

#endif
