/* event.h -- an event: something that happens to one logical process at one time.
 *
 *   key = destination << 32 | sub-key        sub-key = kind << 24 | input port
 *
 * A partition executes its events in the order of (time, key, sequence). The input port is the
 * kind's own number (a port of a router, a rank). The sequence orders events of one key at one
 * time. None of these depends on the order in which other events were executed, so the order is
 * the same for any number of partitions.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

struct sim_event {
    uint64_t t;    /* picoseconds */
    uint64_t key;  /* destination << 32 | kind << 24 | input port */
    uint32_t seq;  /* compared modulo 2^32 */
    uint32_t arg;  /* the kind's own: a packet, a message, a rank */
    uint32_t arg2; /* the same */
    uint32_t next; /* link of the queue that holds the event; in an outbox: bytes of payload */
};

static inline struct sim_event sim_event(uint64_t t, uint32_t dst, uint32_t subkey, uint32_t seq,
                                         uint32_t arg, uint32_t arg2)
{
    return (struct sim_event){
        .t = t, .key = (uint64_t)dst << 32 | subkey, .seq = seq, .arg = arg, .arg2 = arg2};
}

static inline uint32_t sim_subkey(uint32_t kind, uint32_t in_port)
{
    return kind << 24 | in_port;
}

static inline uint32_t sim_dst(const struct sim_event *e)
{
    return (uint32_t)(e->key >> 32);
}

static inline uint32_t sim_kind(const struct sim_event *e)
{
    return (uint32_t)e->key >> 24;
}

static inline uint32_t sim_in_port(const struct sim_event *e)
{
    return (uint32_t)e->key & 0xffffff;
}

/* Does an event of this time, key and sequence come before *b? */
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
