/* trail.c -- keeps the counters of a process as they were read. At most MARKS of them: a process
 * that is not settled by then is watched less closely. */
#include "prof/trail.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { MARKS = 256 };

static bool trail_spans(const struct prof_trail *t, int64_t slice_ns)
{
    return t->v.n > 1 && t->v.v[0].ns / slice_ns != t->v.v[t->v.n - 1].ns / slice_ns;
}

void prof_trail_read(struct prof_trail *t, pid_t pid, int64_t now_ns, int64_t slice_ns)
{
    assert(pid > 0 && slice_ns > 0);
    struct prof_mark m = {.from_ns = t->read_ns, .ns = now_ns};

    if (t->has_library || t->v.n >= MARKS || !prof_kernel_own(pid, &m.io))
        return;
    t->read_ns = now_ns;
    if (t->v.n && !memcmp(&t->v.v[t->v.n - 1].io, &m.io, sizeof m.io))
        return;
    struct prof_blank_process who = prof_blank_process(pid);

    if (!who.start || who.nested)
        return; /* it has just ended; or a profile that it has is not the sampler's */
    t->who = who;
    wr_vec_push(&t->v, m);
    if (!t->useful && trail_spans(t, slice_ns)) {
        t->has_library = prof_kernel_has_library(pid);
        t->useful = !t->has_library;
    }
}

void prof_trail_fini(struct prof_trail *t)
{
    wr_vec_fini(&t->v);
    *t = (struct prof_trail){0};
}
