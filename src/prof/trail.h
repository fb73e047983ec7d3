/* trail.h -- the kernel's counters of a process, read again and again before it is known whether
 * the process has the library.
 *
 * A process is taken for unprofiled only after a while, or when it has ended without a profile. Its
 * trail then shows when it moved its bytes. Used by the sampler alone.
 */
#ifndef PROF_TRAIL_H
#define PROF_TRAIL_H

#include <sys/types.h>

#include "base/mem.h"
#include "prof/blank.h"
#include "prof/form/io.h"

struct prof_mark {
    int64_t from_ns, ns; /* wall clock of the sampler: the reading before, and this one */
    struct prof_io io;   /* of its running threads */
};

/* Empty: all zero. `who` is known with the first mark; its program is that of the last. */
struct prof_trail {
    struct prof_blank_process who;
    WR_VEC(struct prof_mark) v; /* each differs from the one before */
    int64_t read_ns;            /* of the last reading; 0: none */
    bool has_library;           /* it is not continued: the library counts */
    bool useful;                /* it has marks in several slices, and no library */
};

/* Reads the counters; nothing is added if the process is gone or did nothing since. */
void prof_trail_read(struct prof_trail *t, pid_t pid, int64_t now_ns, int64_t slice_ns);
void prof_trail_fini(struct prof_trail *t);

#endif
