/* pipe.h -- events on their way from one partition to another: a ring with one writer and one
 * reader, and no lock.
 *
 *     head (the reader's)      tail (the writer's, shown)     put (the writer's own)
 *        v                        v                             v
 *     [  | e ~ ~ | e | e ~ | e |     e | e ~ ~ ~ |  ...  ]      e event, ~ its payload
 *          taken next                  not shown yet
 *
 * What an event is about follows it by value: the reader never touches memory that the writer
 * uses, and reads what comes in the order of its addresses, which processors fetch ahead. An
 * event and its payload lie behind each other; where the ring's end would part them, the cells left
 * over are skipped. What is put is shown by sim_pipe_show(), so that a batch costs one cache
 * line's journey.
 */
#ifndef SIM_PIPE_H
#define SIM_PIPE_H

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "sim/event.h"

enum {
    SIM_PIPE = 1 << 12,    /* cells */
    SIM_MOST_PAYLOAD = 512 /* bytes */
};

/* While an event is in a pipe its `next` says how many bytes follow it. */
union sim_cell {
    struct sim_event e;
    unsigned char data[32];
};
_Static_assert(sizeof(union sim_cell) == sizeof(struct sim_event), "an event is a cell");
#define SIM_PIPE_SKIP UINT32_MAX /* no event: go on at the ring's beginning */

struct sim_pipe {
    _Alignas(128) _Atomic uint32_t tail;
    uint32_t put, head_seen;
    _Alignas(128) _Atomic uint32_t head;
    uint32_t got, tail_seen;
    _Alignas(128) union sim_cell ring[SIM_PIPE];
};

static inline uint32_t sim_pipe_cells(uint32_t bytes)
{
    return 1 + (bytes + (uint32_t)sizeof(union sim_cell) - 1) / (uint32_t)sizeof(union sim_cell);
}

/* Writer: is there room for so many cells more? */
static inline bool sim_pipe_room(struct sim_pipe *p, uint32_t cells)
{
    if (__builtin_expect(p->put + cells - p->head_seen <= SIM_PIPE, 1))
        return true;
    p->head_seen = atomic_load_explicit(&p->head, memory_order_acquire);
    return p->put + cells - p->head_seen <= SIM_PIPE;
}

/* Writer: false when it is full. `bytes` is a multiple of 8, at most SIM_MOST_PAYLOAD. */
static inline bool sim_pipe_put(struct sim_pipe *p, const struct sim_event *e, const void *data,
                                uint32_t bytes)
{
    uint32_t at = p->put % SIM_PIPE, cells = sim_pipe_cells(bytes);
    uint32_t skip = at + cells > SIM_PIPE ? SIM_PIPE - at : 0;

    if (!sim_pipe_room(p, skip + cells))
        return false;
    if (__builtin_expect(skip != 0, 0)) {
        p->ring[at].e.next = SIM_PIPE_SKIP;
        at = 0;
    }
    p->ring[at].e = *e;
    p->ring[at].e.next = bytes;
    if (bytes)
        memcpy(p->ring[at + 1].data, data, bytes);
    p->put += skip + cells;
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

/* Reader: the next event, or NULL; it and its payload are there until sim_pipe_free(). */
static inline const struct sim_event *sim_pipe_get(struct sim_pipe *p)
{
    if (p->got == p->tail_seen) {
        p->tail_seen = atomic_load_explicit(&p->tail, memory_order_acquire);
        if (p->got == p->tail_seen)
            return NULL;
    }
    const struct sim_event *e = &p->ring[p->got % SIM_PIPE].e;

    if (__builtin_expect(e->next == SIM_PIPE_SKIP, 0)) { /* it is shown with what follows it */
        p->got += SIM_PIPE - p->got % SIM_PIPE;
        e = &p->ring[0].e;
    }
    p->got += sim_pipe_cells(e->next);
    return e;
}

/* What follows an event in its pipe. */
static inline const void *sim_pipe_data(const struct sim_event *e)
{
    return e + 1;
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
