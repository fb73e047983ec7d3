/* meter.h -- the counters of messages while a simulation runs: each fact is counted once.
 *
 * Means, percentiles, rates and totals are derived from these by the readers. Called by world/ from
 * event handlers; nothing allocates after meter_init. With partitions, each has a meter (a share)
 * that counts its own nodes in the common array; meter_add sums up the rest.
 */
#ifndef METER_METER_H
#define METER_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hist.h"

/* The distance of a message, as enum net_near. */
enum meter_near { METER_SAME_ROUTER, METER_SAME_GROUP, METER_REMOTE, METER_NEARS };

/* Counters of a node; changed by the node's partition only. */
struct meter_node {
    _Alignas(64) uint64_t msgs_sent;
    uint64_t bytes_sent;
    uint64_t msgs_recvd, bytes_recvd;
    uint64_t t_first_ps, t_last_ps; /* first and last arrival */
    uint64_t first_bytes;           /* of the first arrival */
};
_Static_assert(sizeof(struct meter_node) == 64, "a node is a cache line");

struct meter {
    uint32_t nnodes;
    struct meter_node *node;
    struct wr_hist *latency;                /* [METER_NEARS] of measured messages */
    struct wr_hist *packet;                 /* packets, from the start of injection */
    uint64_t window_from_ps, window_to_ps;  /* the measurement */
    uint64_t window_sent_b, window_recvd_b; /* posted and arrived within it */
    uint64_t measured, unfinished;          /* messages posted within it; of those not arrived */
};

void meter_init(struct meter *m, uint32_t nnodes, uint64_t from_ps, uint64_t to_ps);
void meter_fini(struct meter *m);

/* Shares: several meters with one array of nodes, each node counted by one of them; and the sum. */
void meter_init_share(struct meter *m, const struct meter *whole);
void meter_fini_share(struct meter *m);
void meter_clear(struct meter *whole); /* but for the nodes */
void meter_add(struct meter *whole, const struct meter *share);

/* A share as bytes, for a process that did not count it: meter_take_accounts stores it in the same
 * share there. Its nodes are those with partition_of[node] == me. */
void meter_pack_accounts(const struct meter *share, const uint8_t *partition_of, uint32_t me,
                         struct wr_bytes *out);
void meter_take_accounts(struct meter *share, const uint8_t *partition_of, uint32_t me,
                         struct wr_reader *in);

static inline bool meter_in_window(const struct meter *m, uint64_t t_ps)
{
    return t_ps >= m->window_from_ps && t_ps < m->window_to_ps;
}

static inline void meter_sent(struct meter *m, uint32_t node, uint64_t bytes, uint64_t now_ps)
{
    m->node[node].msgs_sent++;
    m->node[node].bytes_sent += bytes;
    if (meter_in_window(m, now_ps)) {
        m->window_sent_b += bytes;
        m->measured++;
        m->unfinished++;
    }
}

static inline void meter_arrived(struct meter *m, uint32_t node, enum meter_near near,
                                 uint64_t bytes, uint64_t posted_ps, uint64_t now_ps)
{
    struct meter_node *to = &m->node[node];

    if (!to->msgs_recvd++) {
        to->t_first_ps = now_ps;
        to->first_bytes = bytes;
    }
    to->bytes_recvd += bytes;
    to->t_last_ps = now_ps;
    if (meter_in_window(m, now_ps))
        m->window_recvd_b += bytes;
    if (meter_in_window(m, posted_ps)) {
        m->unfinished--;
        wr_hist_add(&m->latency[near], now_ps - posted_ps);
    }
}

/* All latencies together. */
void meter_all(const struct meter *m, struct wr_hist *ret);

/* Bytes per second a node accepts: within the measurement, or, when it is
 * not bounded by time, between each node's first and last arrival. */
double meter_accepted(const struct meter *m, double window_ps);

#endif
