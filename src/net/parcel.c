/* parcel.c -- a packet and what it must know of its message, by value, over a seam.
 *
 *     the sender's partition      others           the receiver's partition
 *     net_msg <- pkt ~~parcel~~> pkt -> a copy ~~~> pkt -> net_msg, the one record for all
 *         ^----- pkt ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~> pkt ------^
 *
 * A packet that crosses a seam ends here and begins there; so does what is known of its message,
 * and nothing of one partition is ever touched by another. The sender's record counts the packets
 * that have not left, and ends when all have. Where a packet only passes through, a
 * copy of the record is its own. In the receiver's partition the packets of a message meet in one
 * record: made by the first that comes, found by the others by who sent the message and when it
 * began, and gone when the last is delivered. A message of one packet needs no finding.
 *
 * What the client knows of a message (its word `user`) goes with the packet that was made last. The
 * partitions in between keep it as bytes.
 *
 * A packet may leave its receiver's partition again and come back. Its record stays there,
 * and the parcel says where (`known`).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net_priv.h"

struct parcel {
    struct route_pkt route;
    uint64_t t_birth, t_tail;
    uint32_t part, tail_part, out;
    uint32_t msg; /* known: the record in the receiver's partition */
    uint32_t src, dst;
    uint64_t bytes; /* of the message */
    uint64_t t_post_ps, t_first_ps, user;
    uint16_t app;
    uint8_t cls, rail, near, out_vc;
    bool last, known;
};
_Static_assert(sizeof(struct parcel) == 96, "an event and its parcel are two cache lines");
_Static_assert(sizeof(struct parcel) + NET_MOST_USER <= SIM_MOST_PAYLOAD,
               "what a client says of a message fits in one event");

/* What a client says of a message that passes through. */
struct box {
    uint32_t next, bytes;
    unsigned char data[NET_MOST_USER];
};

static uint32_t packets_of(const struct net *n, uint64_t bytes)
{
    return bytes <= n->p.packet_b ? 1 : (uint32_t)((bytes + n->p.packet_b - 1) / n->p.packet_b);
}

/* All but the last packet of a message are as large as packets can be. */
static uint32_t packet_bytes(const struct net *n, const struct parcel *p)
{
    if (p->bytes <= n->p.packet_b)
        return (uint32_t)p->bytes;
    uint32_t rest = p->last ? (uint32_t)(p->bytes % n->p.packet_b) : 0;

    return rest ? rest : (uint32_t)n->p.packet_b;
}

/* ---- leaving ---- */

static uint32_t take_out(struct net *n, const struct net_msg *m, void *user)
{
    uint32_t h = (uint32_t)m->user;
    const struct box *b = wr_pool_at(&n->boxes, h);
    uint32_t bytes = b->bytes;

    memcpy(user, b->data, bytes);
    wr_pool_give(&n->boxes, h);
    return bytes;
}

/* What the client says goes along, in bytes. */
static uint32_t say(struct net *n, const struct net_pkt *k, const struct net_msg *m, void *user)
{
    uint32_t bytes = 0;

    if (n->part_of[k->route.dst_router] == n->me)
        return 0;
    if (m->flags & NET_MSG_COPY)
        return m->flags & NET_MSG_BOXED ? take_out(n, m, user) : 0;
    if (k->last && n->client.pack)
        bytes = n->client.pack(n->client.ctx, m, user);
    assert(bytes <= NET_MOST_USER && bytes % 8 == 0);
    return bytes;
}

/* The packet leaves: what becomes of its message's record here. */
static void leave(struct net *n, const struct net_pkt *k, struct net_msg *m, struct parcel *p)
{
    if (n->part_of[k->route.dst_router] == n->me) {
        p->msg = k->msg;
        p->known = true;
    } else if (m->flags & NET_MSG_COPY) {
        p->msg = (uint32_t)m->unsent;
        p->known = m->flags & NET_MSG_KNOWN;
        wr_pool_give(&n->msgs, k->msg);
    } else if (!--m->unarrived)
        net_msg_end(n, k->msg, NET_MSG_ARRIVED);
}

static inline __attribute__((always_inline)) void fill(struct parcel *p, const struct net_pkt *k,
                                                       const struct net_msg *m)
{
    *p = (struct parcel){
        .route = k->route,
        .t_birth = k->t_birth,
        .t_tail = k->t_tail,
        .part = k->part,
        .tail_part = k->tail_part,
        .out = k->out,
        .src = m->src,
        .dst = m->dst,
        .bytes = m->bytes,
        .t_post_ps = m->t_post_ps,
        .t_first_ps = m->t_first_ps,
        .user = m->user,
        .app = m->app,
        .cls = m->cls,
        .rail = m->rail,
        .near = m->near,
        .out_vc = k->out_vc,
        .last = k->last,
    };
}

/* With what the client says, or when the pipe is full. */
static NET_APART void send_seldom(struct net *n, uint32_t to, const struct sim_event *e,
                                  const struct net_pkt *k, struct net_msg *m)
{
    struct {
        struct parcel p;
        unsigned char user[NET_MOST_USER];
    } box;

    fill(&box.p, k, m);
    uint32_t user_b = say(n, k, m, box.user);

    leave(n, k, m, &box.p);
    sim_part_send(n->part, to, e, &box, (uint32_t)sizeof box.p + user_b);
}

void net_parcel_send(struct net *n, uint32_t to, const struct sim_event *e, uint32_t h)
{
    const struct net_pkt *k = net_pkt(n, h);
    struct net_msg *m = net_msg_at(n, k->msg);
    bool says = m->flags & NET_MSG_BOXED || (k->last && n->client.pack);
    struct sim_event *there = says ? NULL : sim_part_claim(n->part, to, sizeof(struct parcel));

    if (there) {
        struct parcel *p = (struct parcel *)(there + 1);

        sim_pipe_fill(there, e);
        fill(p, k, m);
        leave(n, k, m, p);
    } else
        send_seldom(n, to, e, k, m);
    wr_pool_give(&n->pkts, h);
}

/* ---- coming ---- */

/* Messages of several packets from a NIC begin at different times (net_may_part). */
static uint32_t *bucket(const struct net *n, uint32_t src, uint32_t rail, uint64_t t_first_ps)
{
    uint64_t who = (uint64_t)src * n->p.rails + rail;
    uint64_t hash = (t_first_ps ^ who << 40) * UINT64_C(0x9e3779b97f4a7c15) + who;

    return &n->bucket[hash * UINT64_C(0xd6e8feb86659fd93) >> n->bucket_shift];
}

/* A record for what the parcel says. */
static uint32_t make(struct net *n, const struct parcel *p, uint32_t packets, uint32_t flags)
{
    uint32_t h = wr_pool_take(&n->msgs);

    *net_msg_at(n, h) = (struct net_msg){
        .src = p->src,
        .dst = p->dst,
        .unarrived = packets,
        .bytes = p->bytes,
        .t_post_ps = p->t_post_ps,
        .t_first_ps = p->t_first_ps,
        .user = p->user,
        .app = p->app,
        .cls = p->cls,
        .rail = p->rail,
        .near = p->near,
        .flags = (uint8_t)flags,
    };
    return h;
}

static uint32_t find(struct net *n, const struct parcel *p, uint32_t packets)
{
    uint32_t *first = bucket(n, p->src, p->rail, p->t_first_ps);

    for (uint32_t h = *first; h != WR_NIL;) {
        const struct net_msg *m = net_msg_at(n, h);

        if (m->src == p->src && m->t_first_ps == p->t_first_ps && m->rail == p->rail)
            return h;
        h = m->next;
    }
    uint32_t h = make(n, p, packets, NET_MSG_SENT | NET_MSG_FOUND);

    net_msg_at(n, h)->next = *first;
    *first = h;
    return h;
}

void net_parcel_forget(struct net *n, uint32_t h)
{
    const struct net_msg *m = net_msg_at(n, h);
    uint32_t *at = bucket(n, m->src, m->rail, m->t_first_ps);

    while (*at != h)
        at = &net_msg_at(n, *at)->next;
    *at = m->next;
}

static uint32_t pass_through(struct net *n, const struct parcel *p, const void *user,
                             uint32_t bytes)
{
    uint32_t h =
        make(n, p, 1, NET_MSG_SENT | NET_MSG_COPY | (p->known ? (uint32_t)NET_MSG_KNOWN : 0));
    struct net_msg *m = net_msg_at(n, h);

    m->unsent = p->msg;
    if (!bytes)
        return h;
    uint32_t at = wr_pool_take(&n->boxes);
    struct box *b = wr_pool_at(&n->boxes, at);

    b->bytes = bytes;
    memcpy(b->data, user, bytes);
    m->user = at;
    m->flags |= NET_MSG_BOXED;
    return h;
}

static uint32_t enter(struct net *n, const struct parcel *p, const void *user, uint32_t bytes)
{
    if (n->part_of[p->route.dst_router] != n->me)
        return pass_through(n, p, user, bytes);
    if (p->known)
        return p->msg;
    uint32_t packets = packets_of(n, p->bytes);
    uint32_t h = packets == 1 ? make(n, p, 1, NET_MSG_SENT) : find(n, p, packets);
    struct net_msg *m = net_msg_at(n, h);

    if (bytes)
        m->user = n->client.unpack(n->client.ctx, m, user, bytes);
    return h;
}

uint32_t net_parcel_open(struct net *n, const struct sim_event *e, const void *data, uint32_t bytes)
{
    const struct parcel *p = data;
    uint32_t h = wr_pool_take(&n->pkts);

    *net_pkt(n, h) = (struct net_pkt){
        .msg = enter(n, p, p + 1, bytes - (uint32_t)sizeof *p),
        .from = e->arg,
        .bytes = packet_bytes(n, p),
        .route = p->route,
        .t_birth = p->t_birth,
        .t_tail = p->t_tail,
        .out = p->out,
        .out_vc = p->out_vc,
        .last = p->last,
        .part = p->part,
        .tail_part = p->tail_part,
    };
    return h;
}

/* ---- setting up ---- */

/* Can messages be told apart by their beginning? A full packet must take a picosecond to inject. */
bool net_may_part(const struct net_params *p)
{
    return 1e12 / p->link[TOPO_INJECT].bandwidth * (double)p->packet_b >= 1;
}

void net_parcels_open(struct net *n)
{
    uint32_t log2 = 10;

    while (log2 < 24 && UINT64_C(1) << log2 < n->nterms / n->parts)
        log2++;
    n->bucket_shift = 64 - log2;
    n->bucket = wr_alloc(sizeof *n->bucket << log2);
    memset(n->bucket, 0xff, sizeof *n->bucket << log2);
    wr_pool_init(&n->boxes, "messages", sizeof(struct box), 1 << 22);
}

void net_parcels_close(struct net *n)
{
    free(n->bucket);
    wr_pool_fini(&n->boxes);
}
