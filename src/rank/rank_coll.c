/* rank_coll.c -- a rank executes the schedule of a collective (coll/coll.h) step by step.
 *
 * Called by rank.c when the operation begins and when requests of it complete. Invariant: a rank
 * in state RANK_IN_COLL has its record in `coll`, and `left` counts its incomplete requests.
 */
#include "base/check.h"
#include "rank_priv.h"

static struct rank_coll *coll_instance_of(const struct ranks *rs, const struct rank *r)
{
    return wr_pool_at(&rs->colls_open, r->coll);
}

static uint32_t coll_request(struct ranks *rs, struct rank *r, struct rank_coll *c,
                             enum rank_req_kind kind, uint32_t peer, uint64_t bytes)
{
    uint32_t h = rank_new_req(rs, r, kind, REQ_COLL);
    struct rank_req *q = rank_req(rs, h);

    q->ctx = CTX_COLL;
    q->peer = load_member(&c->group, peer);
    q->bytes = bytes;
    q->tag = (int64_t)c->group.key;
    c->left++;
    return h;
}

static void coll_begin_step(struct ranks *rs, struct rank *r, struct rank_coll *c,
                            const struct coll_step *s)
{
    bool serial = rs->mpi.sendrecv == RANK_SERIAL && s->what == (COLL_SENDS | COLL_RECVS) &&
                  !s->go_on && !c->open;

    if (serial) {
        c->recv_from = s->from;
        c->recv_b = s->recv_b;
    } else if (s->what & COLL_RECVS) {
        rank_recv(rs, r, coll_request(rs, r, c, REQ_RECV, s->from, s->recv_b));
    }
    if (s->what & COLL_SENDS)
        rank_send(rs, r, coll_request(rs, r, c, REQ_SEND, s->to, s->send_b));
    c->open = s->go_on;
}

/* Starts the steps that can start now. True: the collective is complete. */
static bool coll_walk(struct ranks *rs, struct rank *r, struct rank_coll *c)
{
    struct coll_step s;

    for (;;) {
        if (!c->open && c->left)
            return false;
        if (c->recv_from != LOAD_NO_RANK) {
            uint32_t from = c->recv_from;

            c->recv_from = LOAD_NO_RANK;
            rank_recv(rs, r, coll_request(rs, r, c, REQ_RECV, from, c->recv_b));
            continue;
        }
        if (!c->open && r->busy_ps > rs->sim->now) {
            rank_wake(rs, r);
            return false;
        }
        if (!coll_step(c->ops, &c->call, c->step, &s))
            return true;
        c->step++;
        coll_begin_step(rs, r, c, &s);
    }
}

bool rank_coll_continue(struct ranks *rs, struct rank *r)
{
    bool through;

    wr_check(r->state == RANK_IN_COLL && r->coll != WR_NIL);
    r->calling = true;
    through = coll_walk(rs, r, coll_instance_of(rs, r));
    r->calling = false;
    if (!through)
        return false;
    wr_pool_give(&rs->colls_open, r->coll);
    r->coll = WR_NIL;
    r->state = RANK_READY;
    return true;
}

bool rank_coll_begin(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    uint32_t me = rank_index(rs, r), job0 = rs->job[r->job].first;
    struct rank_coll *c;

    wr_check(op->coll < LOAD_COLLS && r->coll == WR_NIL);
    rs->colls[op->coll][me]++;
    rank_enter(rs, r, RANK_ACCOUNTS + op->coll);
    r->coll = wr_pool_take(&rs->colls_open);
    c = coll_instance_of(rs, r);
    *c = (struct rank_coll){
        .group = op->group,
        .call = {.rank = (uint32_t)load_group_index(&op->group, me - job0),
                 .size = load_group_size(&op->group),
                 .root = (uint32_t)load_group_index(&op->group, op->root),
                 .bytes = op->bytes},
        .recv_from = LOAD_NO_RANK,
    };
    /* Barriers and the like have no root. */
    if (c->call.root >= c->call.size)
        c->call.root = 0;
    c->ops = coll_pick(&rs->choice, (enum load_coll)op->coll, c->call.size, op->bytes);
    r->state = RANK_IN_COLL;
    return rank_coll_continue(rs, r);
}
