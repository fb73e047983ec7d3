/* serial.c -- serialised packets: a packet and its message's record, by value, over a boundary.
 *
 *     sender's partition           others           receiver's partition
 *     net_msg <- pkt ~serialised~> pkt -> a copy ~> pkt -> net_msg, one record for all packets
 *         ^----- pkt ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~> pkt ------^
 *
 * Called by boundary.c. A packet that crosses a boundary is freed in one partition and allocated in
 * the next, and so is the record of its message: no partition touches memory of another. The
 * sender's record counts the packets that have not left, and is freed when all have. In a partition
 * that a packet only passes through, it has a copy of the record for itself. In the receiver's
 * partition all packets of a message share one record: the first packet makes it, the others find
 * it by (sender, time of the first packet), and it is freed when the last one is delivered. A
 * message of one packet needs no search.
 *
 * The client's payload (net_client.pack) travels with the last packet. The partitions in between
 * keep it as bytes (`payloads`).
 *
 * A packet may leave its receiver's partition and return. The record stays there, and the
 * serialised packet has its handle (`known`).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "net_priv.h"

enum { MAX_PAYLOADS = 1 << 22 };

/* Both are copied whole; the receiver sets the fields that differ. The packet's `msg` is the record
 * in the receiver's partition, or WR_NIL if that is not known. */
struct serial_pkt {
    unsigned char pkt[sizeof(struct net_pkt)]; /* an outbox is not aligned as packets are */
    struct net_msg msg;
};
_Static_assert(sizeof(struct serial_pkt) + NET_MOST_USER <= SIM_MAX_PAYLOAD,
               "a packet and its payload fit in one event");

/* The client's payload of a message that passes through; `next` is the pool's. */
struct serial_payload {
    uint32_t next, bytes;
    unsigned char data[NET_MOST_USER];
};

static uint32_t serial_packets(const struct net *n, uint64_t bytes)
{
    return bytes <= n->p.packet_b ? 1 : (uint32_t)((bytes + n->p.packet_b - 1) / n->p.packet_b);
}

/* ---- leaving ---- */

static uint32_t serial_take_payload(struct net *n, const struct net_msg *m, void *user)
{
    uint32_t h = (uint32_t)m->user;
    const struct serial_payload *b = wr_pool_at(&n->payloads, h);
    uint32_t bytes = b->bytes;

    memcpy(user, b->data, bytes);
    wr_pool_give(&n->payloads, h);
    return bytes;
}

/* Writes the payload that travels with a packet; returns its bytes. */
static uint32_t serial_pack_payload(struct net *n, const struct net_pkt *k, const struct net_msg *m,
                                    void *user)
{
    uint32_t bytes = 0;

    if (n->partition_of[k->route.dst_router] == n->me)
        return 0;
    if (m->flags & NET_MSG_COPY)
        return m->flags & NET_MSG_PAYLOAD ? serial_take_payload(n, m, user) : 0;
    if (k->last && n->client.pack)
        bytes = n->client.pack(n->client.ctx, m, user);
    assert(bytes <= NET_MOST_USER && bytes % 8 == 0);
    return bytes;
}

/* The packet leaves: updates or frees its message's record here. Returns the record in the
 * receiver's partition, or WR_NIL if that is not known. */
static uint32_t serial_end_record(struct net *n, const struct net_pkt *k, struct net_msg *m)
{
    uint32_t known = WR_NIL;

    if (n->partition_of[k->route.dst_router] == n->me)
        known = k->msg;
    else if (m->flags & NET_MSG_COPY) {
        if (m->flags & NET_MSG_KNOWN)
            known = (uint32_t)m->unsent;
        wr_pool_give(&n->msgs, k->msg);
    } else if (!--m->unarrived)
        net_msg_end(n, k->msg, NET_MSG_ARRIVED);
    return known;
}

static void serial_fill(struct serial_pkt *p, const struct net_pkt *k, const struct net_msg *m)
{
    memcpy(p->pkt, k, sizeof p->pkt);
    p->msg = *m;
}

static void serial_set_known(struct serial_pkt *p, uint32_t known)
{
    memcpy(p->pkt + offsetof(struct net_pkt, msg), &known, sizeof known);
}

/* Sends a packet with the client's payload. */
static NET_COLD void serial_send_payload(struct net *n, uint32_t to, const struct sim_event *e,
                                         const struct net_pkt *k, struct net_msg *m)
{
    struct {
        struct serial_pkt p;
        unsigned char user[NET_MOST_USER];
    } box;

    serial_fill(&box.p, k, m);
    uint32_t user_b = serial_pack_payload(n, k, m, box.user);

    serial_set_known(&box.p, serial_end_record(n, k, m));
    sim_partition_send(n->partition, to, e, &box, (uint32_t)sizeof box.p + user_b);
}

void net_serial_send(struct net *n, uint32_t to, const struct sim_event *e, uint32_t h)
{
    struct net_pkt *k = net_pkt(n, h);
    struct net_msg *m = net_msg_at(n, k->msg);

    wr_check(to != n->me && to < n->npartitions);
    if (m->flags & NET_MSG_PAYLOAD || (k->last && n->client.pack))
        serial_send_payload(n, to, e, k, m);
    else {
        struct sim_event *there =
            sim_partition_claim(n->partition, to, e->t, sizeof(struct serial_pkt));
        struct serial_pkt *p = (struct serial_pkt *)(there + 1);

        sim_event_fill(there, e);
        serial_fill(p, k, m);
        serial_set_known(p, serial_end_record(n, k, m));
    }
    k->from = k->out = WR_NIL; /* prefetches by events executed long ago must find no port */
    wr_pool_give(&n->pkts, h);
}

/* ---- arriving ---- */

/* The list of records that may be of a message. Messages of several packets from one NIC start at
 * different times (net_may_partition). */
static uint32_t *serial_bucket(const struct net *n, uint32_t src, uint32_t rail,
                               uint64_t t_first_ps)
{
    uint64_t nic = (uint64_t)src * n->p.rails + rail;
    uint64_t hash = (t_first_ps ^ nic << 40) * UINT64_C(0x9e3779b97f4a7c15) + nic;

    return &n->bucket[hash * UINT64_C(0xd6e8feb86659fd93) >> n->bucket_shift];
}

/* Allocates a record for the message of a serialised packet. */
static uint32_t serial_new_record(struct net *n, const struct serial_pkt *p, uint32_t packets,
                                  uint32_t flags)
{
    uint32_t h = wr_pool_take(&n->msgs);
    struct net_msg *m = net_msg_at(n, h);

    *m = p->msg;
    m->unarrived = packets;
    m->flags = (uint8_t)flags;
    return h;
}

static uint32_t serial_find_record(struct net *n, const struct serial_pkt *p, uint32_t packets)
{
    uint32_t *first = serial_bucket(n, p->msg.src, p->msg.rail, p->msg.t_first_ps);

    for (uint32_t h = *first; h != WR_NIL;) {
        const struct net_msg *m = net_msg_at(n, h);

        if (m->src == p->msg.src && m->t_first_ps == p->msg.t_first_ps && m->rail == p->msg.rail)
            return h;
        h = m->next;
    }
    uint32_t h = serial_new_record(n, p, packets, NET_MSG_SENT | NET_MSG_FOUND);

    net_msg_at(n, h)->next = *first;
    *first = h;
    return h;
}

void net_serial_forget(struct net *n, uint32_t h)
{
    const struct net_msg *m = net_msg_at(n, h);
    uint32_t *at = serial_bucket(n, m->src, m->rail, m->t_first_ps);

    while (*at != h) {
        wr_check(*at != WR_NIL);
        at = &net_msg_at(n, *at)->next;
    }
    *at = m->next;
}

static uint32_t serial_copy_record(struct net *n, const struct serial_pkt *p, uint32_t known,
                                   const void *user, uint32_t bytes)
{
    uint32_t flags = NET_MSG_SENT | NET_MSG_COPY | (known != WR_NIL ? NET_MSG_KNOWN : 0u);
    uint32_t h = serial_new_record(n, p, 1, flags);
    struct net_msg *m = net_msg_at(n, h);

    m->unsent = known;
    if (!bytes)
        return h;
    uint32_t at = wr_pool_take(&n->payloads);
    struct serial_payload *b = wr_pool_at(&n->payloads, at);

    b->bytes = bytes;
    memcpy(b->data, user, bytes);
    m->user = at;
    m->flags |= NET_MSG_PAYLOAD;
    return h;
}

/* The record of an arrived packet's message; k->msg is the record here, if that is known. */
static uint32_t serial_record_of(struct net *n, const struct net_pkt *k, const struct serial_pkt *p,
                                 const void *user, uint32_t bytes)
{
    if (n->partition_of[k->route.dst_router] != n->me)
        return serial_copy_record(n, p, k->msg, user, bytes);
    if (k->msg != WR_NIL)
        return k->msg;
    uint32_t packets = serial_packets(n, p->msg.bytes);
    uint32_t h =
        packets == 1 ? serial_new_record(n, p, 1, NET_MSG_SENT) : serial_find_record(n, p, packets);
    struct net_msg *m = net_msg_at(n, h);

    if (bytes)
        m->user = n->client.unpack(n->client.ctx, m, user, bytes);
    return h;
}

uint32_t net_serial_receive(struct net *n, const struct sim_event *e, const void *data,
                            uint32_t bytes)
{
    assert(bytes >= sizeof(struct serial_pkt));
    const struct serial_pkt *p = data;
    uint32_t h = wr_pool_take(&n->pkts);
    struct net_pkt *k = net_pkt(n, h);

    memcpy(k, p->pkt, sizeof *k);
    k->msg = serial_record_of(n, k, p, p + 1, bytes - (uint32_t)sizeof *p);
    k->from = e->arg;
    return h;
}

/* ---- setting up ---- */

/* Are messages of a NIC distinguished by the time of their first packet? A full packet must take
 * at least a picosecond to inject. */
bool net_may_partition(const struct net_params *p)
{
    return 1e12 / p->link[TOPO_INJECT].bandwidth * (double)p->packet_b >= 1;
}

void net_serial_open(struct net *n)
{
    uint32_t log2 = 10; /* at least 1,024 buckets, about one per terminal, at most 16 Mi */

    assert(n->npartitions);
    while (log2 < 24 && UINT64_C(1) << log2 < n->nterms / n->npartitions)
        log2++;
    n->bucket_shift = 64 - log2;
    n->bucket = wr_alloc(sizeof *n->bucket << log2);
    memset(n->bucket, 0xff, sizeof *n->bucket << log2);
    wr_pool_init(&n->payloads, "messages", sizeof(struct serial_payload), MAX_PAYLOADS);
}

void net_serial_close(struct net *n)
{
    free(n->bucket);
    wr_pool_fini(&n->payloads);
}
