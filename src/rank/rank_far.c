/* rank_far.c -- messages between ranks in different partitions.
 *
 *   sender's partition                      |          receiver's partition
 *   numbers the message; when its last      | allocates a record from the bytes, accepts it in the
 *   packet leaves, packs it into bytes      | order of numbers, and frees it, or answers with it (a
 *   and frees it                            | rendezvous), in the same way
 *
 * The record of a handshake travels with its messages. Requests stay with their ranks: a message
 * has their handles, which are valid in the partition of the request.
 *
 * Within a partition, the order of a pair's messages is a list (rank_msg.c). Two partitions cannot
 * share a list, so both count. The counts are kept for the whole run, about 24 bytes for each pair
 * of ranks in different partitions that ever exchanged a message.
 */
#include <string.h>

#include "base/check.h"
#include "rank_priv.h"

/* ---- pairs: a hash table that grows by one head at a time (linear hashing, Litwin 1980) ---- */

static uint32_t far_head_of(const struct rank_pairs *t, uint32_t src, uint32_t dst)
{
    uint64_t h = ((uint64_t)src << 32 | dst) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(h >> 32) & (2 * t->round - 1);

    return at < t->nheads ? at : at & (t->round - 1);
}

static uint32_t *far_head(const struct rank_pairs *t, uint32_t i)
{
    return wr_pool_at(&t->head, i);
}

static struct rank_pair *far_pair_at(const struct rank_pairs *t, uint32_t h)
{
    return wr_pool_at(&t->pair, h);
}

/* Adds a head, to which some pairs of another one move. */
static void far_grow(struct rank_pairs *t)
{
    uint32_t fresh = t->nheads++, *at = far_head(t, fresh - t->round);

    *far_head(t, fresh) = WR_NIL;
    while (*at != WR_NIL) {
        uint32_t h = *at;
        struct rank_pair *p = far_pair_at(t, h);

        if (far_head_of(t, p->src, p->dst) != fresh) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = *far_head(t, fresh);
        *far_head(t, fresh) = h;
    }
    if (t->nheads == 2 * t->round)
        t->round *= 2;
}

static struct rank_pair *far_pair_of(struct rank_pairs *t, uint32_t src, uint32_t dst)
{
    uint32_t *at = far_head(t, far_head_of(t, src, dst));

    for (uint32_t h = *at; h != WR_NIL; h = far_pair_at(t, h)->next)
        if (far_pair_at(t, h)->src == src && far_pair_at(t, h)->dst == dst)
            return far_pair_at(t, h);
    uint32_t h = wr_pool_take(&t->pair);

    *far_pair_at(t, h) = (struct rank_pair){.next = *at, .src = src, .dst = dst, .early = WR_NIL};
    *at = h;
    if (++t->n > t->nheads)
        far_grow(t);
    return far_pair_at(t, h);
}

void rank_far_open(struct rank_pairs *t)
{
    enum { CAP = 1 << 28, HEADS = 64 };

    wr_pool_init(&t->pair, "pairs of ranks", sizeof(struct rank_pair), CAP);
    wr_pool_init(&t->head, "pairs of ranks", sizeof(uint32_t), CAP);
    t->round = t->nheads = HEADS;
    for (uint32_t i = 0; i < HEADS; i++)
        *far_head(t, i) = WR_NIL;
}

void rank_far_close(struct rank_pairs *t)
{
    wr_pool_fini(&t->pair);
    wr_pool_fini(&t->head);
}

/* ---- messages to other partitions ---- */

void rank_far_begin(struct ranks *rs, struct rank_msg *m)
{
    wr_check(rank_is_far(rs, rs->node[m->dst]));
    m->flags |= MSG_FAR;
    m->number = far_pair_of(&rs->pairs, m->src, m->dst)->count++;
}

/* Takes the next message in order from those that arrived early; WR_NIL: it has not arrived. */
static uint32_t far_take_early(struct ranks *rs, struct rank_pair *p)
{
    for (uint32_t *at = &p->early; *at != WR_NIL; at = &rank_msg(rs, *at)->bucket) {
        uint32_t h = *at;

        if (rank_msg(rs, h)->number == p->count) {
            *at = rank_msg(rs, h)->bucket;
            return h;
        }
    }
    return WR_NIL;
}

void rank_far_arrive(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    struct rank_pair *p = far_pair_of(&rs->pairs, m->src, m->dst);

    wr_check((int32_t)(m->number - p->count) >= 0); /* never twice */
    if (m->number != p->count) {
        m->bucket = p->early;
        p->early = h;
        return;
    }
    for (; h != WR_NIL; h = far_take_early(rs, p)) {
        p->count++;
        rank_take_in(rs, h);
    }
}

/* ---- by value ---- */

/* A message as it travels: the fields of struct rank_msg that the receiver needs. */
struct packed {
    uint32_t number, src, dst, sreq, rreq;
    uint8_t kind, ctx, flags;
    bool has_handshake; /* its handshake follows */
    uint64_t bytes;
    int64_t tag;
    uint64_t t_ps;
};
_Static_assert(sizeof(struct packed) + sizeof(struct rank_handshake) <= RANK_MOST_PACKED &&
                   sizeof(struct packed) % 8 == 0 && sizeof(struct rank_handshake) % 8 == 0,
               "a message fits");

uint32_t ranks_pack(struct ranks *rs, uint64_t user, void *buf)
{
    uint32_t h = (uint32_t)user;
    const struct rank_msg *m = rank_msg(rs, h);

    wr_check(m->kind == MSG_DATA || m->kind == MSG_CTS || m->flags & MSG_FAR);
    struct packed p = {.number = m->number,
                       .src = m->src,
                       .dst = m->dst,
                       .sreq = m->kind == MSG_RTS || m->kind == MSG_CTS ? m->sreq : WR_NIL,
                       .rreq = m->rreq,
                       .kind = m->kind,
                       .ctx = m->ctx,
                       .flags = m->flags,
                       .has_handshake = m->handshake != WR_NIL,
                       .bytes = m->bytes,
                       .tag = m->tag,
                       .t_ps = m->t_ps};

    memcpy(buf, &p, sizeof p);
    if (p.has_handshake)
        memcpy((char *)buf + sizeof p, wr_pool_at(&rs->handshakes, m->handshake),
               sizeof(struct rank_handshake));
    rank_drop(rs, h);
    return (uint32_t)(sizeof p + (p.has_handshake ? sizeof(struct rank_handshake) : 0));
}

uint64_t ranks_unpack(struct ranks *rs, const void *buf)
{
    uint32_t h = wr_pool_take(&rs->msgs);
    struct rank_msg *m = rank_msg(rs, h);
    struct packed p;

    memcpy(&p, buf, sizeof p);
    *m = (struct rank_msg){.number = p.number,
                           .src = p.src,
                           .dst = p.dst,
                           .sreq = p.sreq,
                           .rreq = p.rreq,
                           .kind = p.kind,
                           .ctx = p.ctx,
                           .flags = p.flags,
                           .holds = 1,
                           .bytes = p.bytes,
                           .tag = p.tag,
                           .t_ps = p.t_ps,
                           .handshake = WR_NIL};
    if (p.has_handshake) {
        m->handshake = wr_pool_take(&rs->handshakes);
        memcpy(wr_pool_at(&rs->handshakes, m->handshake), (const char *)buf + sizeof p,
               sizeof(struct rank_handshake));
    }
    return h;
}
