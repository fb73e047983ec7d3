/* event.h -- something that happens to one logical process at one time.
 *
 * Events of one partition are executed in the order of (time, destination,
 * lane, sequence). The lane says through which of the destination's doors the
 * event comes: its top byte is the kind, the rest is the kind's own (a port).
 * The sequence orders what comes through one door at one time. None of the
 * four depends on who was executed before whom elsewhere, so the order is the
 * same for any number of partitions.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

struct sim_event {
    uint64_t t;   /* picoseconds */
    uint64_t key; /* destination << 32 | kind << 24 | door */
    uint32_t seq;
    uint32_t arg; /* the kind's own: a packet, a message, a rank */
    uint32_t arg2;
    uint32_t next; /* the queue's */
};

static inline struct sim_event sim_event(uint64_t t, uint32_t dst, uint32_t lane, uint32_t seq,
                                         uint32_t arg, uint32_t arg2)
{
    return (struct sim_event){
        .t = t, .key = (uint64_t)dst << 32 | lane, .seq = seq, .arg = arg, .arg2 = arg2};
}

static inline uint32_t sim_lane(uint32_t kind, uint32_t door)
{
    return kind << 24 | door;
}

static inline uint32_t sim_dst(const struct sim_event *e)
{
    return (uint32_t)(e->key >> 32);
}

static inline uint32_t sim_kind(const struct sim_event *e)
{
    return (uint32_t)e->key >> 24;
}

static inline uint32_t sim_door(const struct sim_event *e)
{
    return (uint32_t)e->key & 0xffffff;
}

/* Would an event of this time, key and sequence come before *b? */
static inline bool sim_earlier(uint64_t t, uint64_t key, uint32_t seq, const struct sim_event *b)
{
    if (t != b->t)
        return t < b->t;
    return key != b->key ? key < b->key : (int32_t)(seq - b->seq) < 0;
}

static inline bool sim_before(const struct sim_event *a, const struct sim_event *b)
{
    return sim_earlier(a->t, a->key, a->seq, b);
}

#endif
