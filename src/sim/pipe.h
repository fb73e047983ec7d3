/* pipe.h -- events on their way from one partition to another: a ring with one writer and one
 * reader, and no lock.
 *
 *     head (the reader's)      tail (the writer's, shown)     put (the writer's own)
 *        v                        v                             v
 *     [  | e | e | e | e | e | e |   e | e | e  |  ...  ]
 *          taken next                not shown yet
 *
 * What is put is shown by sim_pipe_show(), so that a batch costs one cache line's journey.
 */
#ifndef SIM_PIPE_H
#define SIM_PIPE_H

#include <stdatomic.h>
#include <stddef.h>

#include "sim/event.h"

enum { SIM_PIPE = 1 << 12 };

struct sim_pipe {
    _Alignas(128) _Atomic uint32_t tail;
    uint32_t put, head_seen;
    _Alignas(128) _Atomic uint32_t head;
    uint32_t got, tail_seen;
    _Alignas(128) struct sim_event ring[SIM_PIPE];
};

/* Writer: false when it is full. */
static inline bool sim_pipe_put(struct sim_pipe *p, const struct sim_event *e)
{
    if (__builtin_expect(p->put - p->head_seen == SIM_PIPE, 0)) {
        p->head_seen = atomic_load_explicit(&p->head, memory_order_acquire);
        if (p->put - p->head_seen == SIM_PIPE)
            return false;
    }
    p->ring[p->put++ % SIM_PIPE] = *e;
    return true;
}

/* Was there anything to show? */
static inline bool sim_pipe_show(struct sim_pipe *p)
{
    if (p->put == atomic_load_explicit(&p->tail, memory_order_relaxed))
        return false;
    atomic_store(&p->tail, p->put);
    return true;
}

/* Reader: the next event, or NULL; it is there until sim_pipe_free(). */
static inline const struct sim_event *sim_pipe_get(struct sim_pipe *p)
{
    if (p->got == p->tail_seen) {
        p->tail_seen = atomic_load_explicit(&p->tail, memory_order_acquire);
        if (p->got == p->tail_seen)
            return NULL;
    }
    return &p->ring[p->got++ % SIM_PIPE];
}

static inline bool sim_pipe_empty(struct sim_pipe *p)
{
    return p->got == atomic_load(&p->tail);
}

static inline void sim_pipe_free(struct sim_pipe *p)
{
    if (p->got != atomic_load_explicit(&p->head, memory_order_relaxed))
        atomic_store_explicit(&p->head, p->got, memory_order_release);
}

#endif
