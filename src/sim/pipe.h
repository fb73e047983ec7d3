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
    SIM_PIPE = 1 << 12,     /* cells */
    SIM_MOST_PAYLOAD = 512, /* bytes */
    SIM_LINE_CELLS = 2,
    SIM_PIPE_AHEAD = 32, /* cells that the writer and the reader ask for in time */
};

/* While an event is in a pipe its `next` says how many bytes follow it. */
union sim_cell {
    struct sim_event e;
    unsigned char data[32];
};
_Static_assert(sizeof(union sim_cell) == sizeof(struct sim_event), "an event is a cell");
#define SIM_PIPE_SKIP UINT32_MAX /* no event: go on at the ring's beginning */

/* What one side writes again and again lies in no line that the other reads: only what is shown
 * does, which is one line for both the clock and the tail. */
struct sim_pipe {
    _Alignas(128) _Atomic uint64_t clock; /* the writer's; all before it has been put, and shown */
    _Atomic uint32_t tail;
    _Alignas(128) uint32_t put, head_seen;
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

/* The line is going to be written: to have it here alone by then. */
static inline void sim_pipe_soon(const void *line)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Writer: room for an event and `bytes` behind it, a multiple of 8, at most SIM_MOST_PAYLOAD; the
 * caller fills both in, all but the event's `next`. NULL when the ring is full. What has just been
 * written elsewhere would have to wait there to be copied, so it had better be written here. */
static inline struct sim_event *sim_pipe_claim(struct sim_pipe *p, uint32_t bytes)
{
    uint32_t at = p->put % SIM_PIPE, cells = sim_pipe_cells(bytes);
    uint32_t skip = at + cells > SIM_PIPE ? SIM_PIPE - at : 0;

    if (!sim_pipe_room(p, skip + cells))
        return NULL;
    if (__builtin_expect(skip != 0, 0)) {
        p->ring[at].e.next = SIM_PIPE_SKIP;
        at = 0;
    }
    p->ring[at].e.next = bytes;
    p->put += skip + cells;
    for (uint32_t i = 0; i < cells; i += SIM_LINE_CELLS)
        sim_pipe_soon(&p->ring[(p->put + SIM_PIPE_AHEAD + i) % SIM_PIPE]);
    return &p->ring[at].e;
}

/* All of a claimed event but its `next`, field by field: what is still in registers goes straight
 * to the ring. */
static inline __attribute__((always_inline)) void sim_pipe_fill(struct sim_event *to,
                                                                const struct sim_event *e)
{
    to->t = e->t;
    to->key = e->key;
    to->seq = e->seq;
    to->arg = e->arg;
    to->arg2 = e->arg2;
}

/* Writer: false when it is full. */
static inline bool sim_pipe_put(struct sim_pipe *p, const struct sim_event *e, const void *data,
                                uint32_t bytes)
{
    struct sim_event *to = sim_pipe_claim(p, bytes);

    if (!to)
        return false;
    sim_pipe_fill(to, e);
    if (bytes)
        memcpy(to + 1, data, bytes);
    return true;
}

/* Was there anything to show? */
static inline bool sim_pipe_show(struct sim_pipe *p)
{
    if (p->put == atomic_load_explicit(&p->tail, memory_order_relaxed))
        return false;
    atomic_store_explicit(&p->tail, p->put, memory_order_release);
    return true;
}

/* Reader: what has been shown, asked for ahead of its being read. */
static inline void sim_pipe_fetch(struct sim_pipe *p)
{
    p->tail_seen = atomic_load_explicit(&p->tail, memory_order_acquire);
    uint32_t n = p->tail_seen - p->got;

    for (uint32_t i = 0; i < n && i < SIM_PIPE_AHEAD; i += SIM_LINE_CELLS)
        __builtin_prefetch(&p->ring[(p->got + i) % SIM_PIPE]);
}

/* Reader: the next event, or NULL; it and its payload are there until sim_pipe_free(). */
static inline const struct sim_event *sim_pipe_get(struct sim_pipe *p)
{
    if (p->got == p->tail_seen) {
        sim_pipe_fetch(p);
        if (p->got == p->tail_seen)
            return NULL;
    }
    const struct sim_event *e = &p->ring[p->got % SIM_PIPE].e;

    if (__builtin_expect(e->next == SIM_PIPE_SKIP, 0)) { /* it is shown with what follows it */
        p->got += SIM_PIPE - p->got % SIM_PIPE;
        e = &p->ring[0].e;
    }
    uint32_t cells = sim_pipe_cells(e->next);

    p->got += cells;
    for (uint32_t i = 0; i < cells; i += SIM_LINE_CELLS)
        if ((int32_t)(p->tail_seen - (p->got + SIM_PIPE_AHEAD - cells + i)) > 0)
            __builtin_prefetch(&p->ring[(p->got + SIM_PIPE_AHEAD - cells + i) % SIM_PIPE]);
    return e;
}

/* What follows an event in its pipe. */
static inline const void *sim_pipe_data(const struct sim_event *e)
{
    return e + 1;
}

static inline bool sim_pipe_empty(struct sim_pipe *p)
{
    return p->got == atomic_load_explicit(&p->tail, memory_order_acquire);
}

static inline void sim_pipe_free(struct sim_pipe *p)
{
    if (p->got != atomic_load_explicit(&p->head, memory_order_relaxed))
        atomic_store_explicit(&p->head, p->got, memory_order_release);
}

#endif
