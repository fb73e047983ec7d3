/* store_far.c -- requests and blocks between partitions, by value.
 *
 *            client                              site
 *   WRITE    request ------- ask: a copy ------> copy          the client's waits for the ack
 *            slot    <------ pull: moves ------- slot          its request is the one on that side
 *            slot    ------- data: moves ------> slot
 *            request <------ ack: its causes --- copy, which ends
 *   READ     slot    ------- pull: moves ------> slot, copy    of what the site reads of it
 *            slot    <------ data: moves ------- slot, and the copy ends
 *
 * A copy has the handle of the request that it is a copy of; a slot of a WRITE that is at its
 * client has the handle of the copy. Nothing else that is on one side has a name on the other.
 */
#include <assert.h>
#include <string.h>

#include "store_priv.h"

/* Requests and slots as they travel: what the other side needs of store_req and store_slot, in
 * words of eight bytes. */
struct packed_req {
    uint32_t far, node, site;
    uint16_t app;
    uint8_t mode, from, small, pad[7];
    int64_t file;
    uint64_t at, end, bytes, mark_ps;
    uint64_t ps[CAUSES];
};

struct packed_slot {
    uint32_t req, far; /* there */
    uint64_t at, bytes, mark_ps;
    uint64_t ps[CAUSES];
};

struct packed_head {
    uint32_t kind; /* enum store_msg */
    uint32_t copy; /* after the slot there is a request */
};
_Static_assert(sizeof(struct packed_head) + sizeof(struct packed_slot) +
                           sizeof(struct packed_req) <=
                       STORE_MOST_PACKED &&
                   sizeof(struct packed_req) % 8 == 0 && sizeof(struct packed_slot) % 8 == 0,
               "a message fits");

static char *far_put(char *at, const void *x, size_t n)
{
    memcpy(at, x, n);
    return at + n;
}

/* ---- requests ---- */

static char *far_put_req(char *at, const struct store_req *q, uint32_t far)
{
    struct packed_req p = {.far = far,
                           .node = q->node,
                           .site = q->site,
                           .app = q->app,
                           .mode = q->mode,
                           .from = q->from,
                           .small = q->small,
                           .file = q->file,
                           .at = q->at,
                           .end = q->end,
                           .bytes = q->bytes,
                           .mark_ps = q->mark_ps};

    memcpy(p.ps, q->ps, sizeof p.ps);
    return far_put(at, &p, sizeof p);
}

static uint32_t far_take_copy(struct store *s, const struct packed_req *p)
{
    struct store_req q = {.owner = WR_NIL,
                          .far = p->far,
                          .node = p->node,
                          .site = p->site,
                          .mode = p->mode,
                          .from = p->from,
                          .small = p->small,
                          .app = p->app,
                          .file = p->file,
                          .at = p->at,
                          .end = p->end,
                          .bytes = p->bytes,
                          .mark_ps = p->mark_ps};

    assert(p->site < s->nsites && p->node < s->nodes);
    memcpy(q.ps, p->ps, sizeof q.ps);
    return store_req_new(s, &q);
}

/* Copies the causes to the request that waits for the acknowledgement. */
static uint32_t far_take_ack(struct store *s, const struct packed_req *p)
{
    struct store_req *q = store_req(s, p->far);

    q->mark_ps = p->mark_ps;
    memcpy(q->ps, p->ps, sizeof q->ps);
    return p->far;
}

/* ---- slots ---- */

static char *far_put_slot(char *at, const struct store_slot *x, uint32_t req, uint32_t far)
{
    struct packed_slot p = {
        .req = req, .far = far, .at = x->at, .bytes = x->bytes, .mark_ps = x->mark_ps};

    memcpy(p.ps, x->ps, sizeof p.ps);
    return far_put(at, &p, sizeof p);
}

static uint32_t far_take_slot(struct store *s, const struct packed_slot *p, uint32_t req)
{
    uint32_t h = wr_pool_take(&s->slots);
    struct store_slot *x = store_slot(s, h);

    *x = (struct store_slot){.req = req,
                             .far = p->far,
                             .entry = WR_NIL,
                             .at = p->at,
                             .bytes = p->bytes,
                             .mark_ps = p->mark_ps};
    memcpy(x->ps, p->ps, sizeof x->ps);
    return h;
}

static char *far_pack_slot(struct store *s, uint32_t h, enum store_msg kind, char *at,
                           struct packed_head *head)
{
    const struct store_slot x = *store_slot(s, h);
    const struct store_req *q = store_req(s, x.req);

    wr_pool_give(&s->slots, h);
    if (q->mode == MODE_WRITE && kind == MSG_PULL)
        return far_put_slot(at, &x, q->far, x.req);
    if (q->mode == MODE_WRITE)
        return far_put_slot(at, &x, x.far, WR_NIL);
    if (kind == MSG_PULL) {
        head->copy = true;
        return far_put_req(far_put_slot(at, &x, WR_NIL, WR_NIL), q, x.req);
    }
    at = far_put_slot(at, &x, q->far, WR_NIL);
    wr_pool_give(&s->reqs, x.req);
    return at;
}

/* ---- messages ---- */

uint32_t store_pack(struct store *s, uint64_t user, void *buf)
{
    uint32_t h = (uint32_t)user;
    enum store_msg kind = (enum store_msg)(user >> 32);
    struct packed_head head = {.kind = kind};
    char *at = (char *)buf + sizeof head;

    assert(kind <= MSG_ACK);
    if (kind == MSG_ASK) {
        at = far_put_req(at, store_req(s, h), h);
    } else if (kind == MSG_ACK) {
        at = far_put_req(at, store_req(s, h), store_req(s, h)->far);
        wr_pool_give(&s->reqs, h);
    } else {
        at = far_pack_slot(s, h, kind, at, &head);
    }
    memcpy(buf, &head, sizeof head);
    return (uint32_t)(at - (char *)buf);
}

uint64_t store_unpack(struct store *s, const void *buf)
{
    struct packed_head head;
    struct packed_slot slot;
    struct packed_req req;
    const char *at = (const char *)buf + sizeof head;
    uint32_t h;

    memcpy(&head, buf, sizeof head);
    if (head.kind == MSG_ASK || head.kind == MSG_ACK) {
        memcpy(&req, at, sizeof req);
        h = head.kind == MSG_ASK ? far_take_copy(s, &req) : far_take_ack(s, &req);
    } else {
        memcpy(&slot, at, sizeof slot);
        if (head.copy) {
            memcpy(&req, at + sizeof slot, sizeof req);
            slot.req = far_take_copy(s, &req);
        }
        h = far_take_slot(s, &slot, slot.req);
    }
    return (uint64_t)head.kind << 32 | h;
}
