/* rank_msg.c -- point-to-point messages: the eager and rendezvous protocols, and matching.
 *
 *   eager       data -------------> [match]             one message
 *   rendezvous  RTS  -------------> [match]             three
 *                    <------- CTS --
 *               data ------------->
 *
 * MPI guarantees that messages of one pair of ranks are matched in the order in which they were
 * sent. The network does not (adaptive routing, rails, copies of different length), so a message
 * that arrives before an earlier one waits for it. Called by rank.c and rank_coll.c; the wire calls
 * ranks_sent and ranks_arrived.
 *
 * Invariant: a message is freed when its reference count (`holds`) is 0.
 */
#include "base/check.h"
#include "rank_priv.h"

/* ---- circular queues, by their last element ---- */

static void msg_put_req(struct ranks *rs, struct rank_queue *q, uint32_t h)
{
    struct rank_req *x = rank_req(rs, h);

    if (q->last == WR_NIL) {
        x->next = h;
    } else {
        x->next = rank_req(rs, q->last)->next;
        rank_req(rs, q->last)->next = h;
    }
    q->last = h;
}

void rank_put_msg(struct ranks *rs, struct rank_queue *q, uint32_t h)
{
    struct rank_msg *x = rank_msg(rs, h);

    if (q->last == WR_NIL) {
        x->next = h;
    } else {
        x->next = rank_msg(rs, q->last)->next;
        rank_msg(rs, q->last)->next = h;
    }
    q->last = h;
}

static bool msg_matches(const struct ranks *rs, const struct rank *r, const struct rank_req *q,
                        const struct rank_msg *m)
{
    return q->ctx == m->ctx && (q->tag == m->tag || q->tag == LOAD_ANY_TAG) &&
           (q->peer == LOAD_ANY || q->peer + rs->job[r->job].first == m->src);
}

/* Takes the first posted receive that the message matches; WR_NIL: none does. */
static uint32_t msg_take_posted(struct ranks *rs, struct rank *r, const struct rank_msg *m)
{
    uint32_t before = r->posted.last;

    if (before == WR_NIL)
        return WR_NIL;
    do {
        uint32_t h = rank_req(rs, before)->next;

        if (msg_matches(rs, r, rank_req(rs, h), m)) {
            rank_req(rs, before)->next = rank_req(rs, h)->next;
            if (r->posted.last == h)
                r->posted.last = before == h ? WR_NIL : before;
            return h;
        }
        before = h;
    } while (before != r->posted.last);
    return WR_NIL;
}

static uint32_t msg_take_unexpected(struct ranks *rs, struct rank *r, const struct rank_req *q)
{
    uint32_t before = r->unexpected.last;

    if (before == WR_NIL)
        return WR_NIL;
    do {
        uint32_t h = rank_msg(rs, before)->next;

        if (msg_matches(rs, r, q, rank_msg(rs, h))) {
            rank_msg(rs, before)->next = rank_msg(rs, h)->next;
            if (r->unexpected.last == h)
                r->unexpected.last = before == h ? WR_NIL : before;
            return h;
        }
        before = h;
    } while (before != r->unexpected.last);
    return WR_NIL;
}

/* ---- the order of a pair's messages ---- */

static uint32_t *msg_bucket_of(struct ranks *rs, uint32_t src, uint32_t dst)
{
    uint64_t h = ((uint64_t)src << 32 | dst) * UINT64_C(0x9e3779b97f4a7c15);

    return &rs->bucket[h >> 32 & (rs->nbuckets - 1)];
}

/* A message begins: it follows the last one of its pair that was not yet matched or queued. */
static void msg_chain(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    uint32_t *head = msg_bucket_of(rs, m->src, m->dst);

    for (uint32_t k = *head; k != WR_NIL; k = rank_msg(rs, k)->bucket) {
        struct rank_msg *other = rank_msg(rs, k);

        if (other->src == m->src && other->dst == m->dst) { /* the latest is the first found */
            other->follower = h;
            m->flags |= MSG_AFTER;
            break;
        }
    }
    m->bucket = *head;
    *head = h;
}

static void msg_leave_bucket(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    uint32_t *at = msg_bucket_of(rs, m->src, m->dst);

    while (*at != h)
        at = &rank_msg(rs, *at)->bucket;
    *at = m->bucket;
}

void rank_drop(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);

    wr_check(m->holds);
    if (--m->holds)
        return;
    if (m->handshake != WR_NIL)
        wr_pool_give(&rs->handshakes, m->handshake);
    wr_pool_give(&rs->msgs, h);
}

/* ---- sending ---- */

static uint64_t msg_wire_bytes(const struct ranks *rs, const struct rank_msg *m)
{
    return m->kind == MSG_RTS || m->kind == MSG_CTS ? rs->mpi.control_b : m->bytes;
}

static enum rank_class msg_class_of(const struct rank_msg *m)
{
    if (m->flags & MSG_MEMORY)
        return RANK_MEMORY;
    if (m->kind == MSG_RTS || m->kind == MSG_CTS)
        return RANK_CONTROL;
    return m->ctx == CTX_COLL ? RANK_COLLECTIVE : RANK_POINT;
}

/* The NIC gets the message at `t_ps`. */
static void msg_hand_over(struct ranks *rs, uint32_t h, uint64_t t_ps)
{
    rank_event(rs, &rs->rank[rank_msg(rs, h)->src], t_ps, RANK_EV_POST, h);
}

static uint64_t msg_delay_ps(const struct ranks *rs, const struct rank_msg *m)
{
    if (m->flags & MSG_MEMORY)
        return 0;
    return rank_ps(rs->mpi.send_delay_ps +
                   rs->mpi.send_delay_byte_ps * (double)msg_wire_bytes(rs, m));
}

static uint64_t msg_overhead_ps(const struct ranks *rs, const struct rank_msg *m)
{
    bool copied = m->kind == MSG_EAGER && !(m->flags & MSG_MEMORY);

    return rank_ps(rs->mpi.send_overhead_ps + (copied ? rs->mpi.copy_ps * (double)m->bytes : 0));
}

uint64_t rank_software_ps(const struct ranks *rs, const struct rank_msg *m)
{
    return msg_delay_ps(rs, m) + (m->kind == MSG_EAGER ? msg_overhead_ps(rs, m) : 0);
}

uint64_t rank_memory_ps(const struct ranks *rs, const struct rank_msg *m)
{
    return rank_ps(rs->mpi.memory_ps + rs->mpi.memory_byte_ps * (double)m->bytes);
}

/* Charges the processor; returns when it is done. A graph's operations use the graph's CPUs. */
static uint64_t msg_charge_work(struct ranks *rs, struct rank *r, uint32_t cpu, bool async,
                                uint64_t ps)
{
    uint64_t *free_ps = async ? rank_cpu(rs, r, cpu) : NULL;

    if (!free_ps)
        return rank_charge(rs, r, ps);
    *free_ps = (*free_ps > rs->sim->now ? *free_ps : rs->sim->now) + ps;
    r->overhead_ps += ps;
    return *free_ps;
}

void rank_send(struct ranks *rs, struct rank *r, uint32_t req)
{
    struct rank_req *q = rank_req(rs, req);

    wr_check(q->kind == REQ_SEND && q->peer < rs->job[r->job].load.ranks);
    uint32_t me = rank_index(rs, r), to = q->peer + rs->job[r->job].first;
    bool near = rs->node[to] == r->node, eager = near || q->bytes <= rs->mpi.eager_b;
    uint32_t h = wr_pool_take(&rs->msgs);
    struct rank_msg *m = rank_msg(rs, h);

    *m = (struct rank_msg){.follower = WR_NIL,
                           .src = me,
                           .dst = to,
                           .sreq = req,
                           .rreq = WR_NIL,
                           .kind = eager ? MSG_EAGER : MSG_RTS,
                           .ctx = q->ctx,
                           .flags = near ? MSG_MEMORY : 0,
                           .holds = 1,
                           .bytes = q->bytes,
                           .tag = q->tag,
                           .handshake = WR_NIL};
    uint64_t ps = msg_overhead_ps(rs, m),
             done = msg_charge_work(rs, r, q->cpu, q->flags & REQ_ASYNC, ps);

    if (!eager)
        rank_handshake_begin(rs, m, done - ps);
    r->msgs_sent++;
    r->bytes_sent += q->bytes;
    if (rank_is_far(rs, rs->node[to]))
        rank_far_begin(rs, m);
    else
        msg_chain(rs, h);
    msg_hand_over(rs, h, done + msg_delay_ps(rs, m));
    if (!eager || rs->mpi.eager_done != RANK_COPIED)
        return;
    m->sreq = WR_NIL;
    if (rank_cpu(rs, r, q->cpu) && q->flags & REQ_ASYNC)
        rank_event(rs, r, done, RANK_EV_DONE, req);
    else
        rank_complete(rs, req);
}

/* The NIC or the memory has got the message. */
void rank_post(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    struct rank *from = &rs->rank[m->src];

    m->t_ps = rs->sim->now;
    if (m->flags & MSG_MEMORY) {
        rank_event(rs, from, rs->sim->now + rank_memory_ps(rs, m), RANK_EV_MEMORY, h);
        return;
    }
    rs->live += 2; /* until it is sent, and until it has arrived */
    m->holds++;
    rs->wire.send(rs->wire.ctx, from->node, rs->node[m->dst], msg_wire_bytes(rs, m),
                  rs->job[from->job].app, (uint8_t)msg_class_of(m), h);
}

void ranks_sent(struct ranks *rs, uint64_t user, uint32_t it)
{
    struct rank_msg *m = rank_msg(rs, (uint32_t)user);

    wr_check(rs->trip == WR_NIL && !(m->flags & MSG_MEMORY));
    rs->live--;
    rs->trip = it;
    rs->trip_arrived = false;
    if (m->sreq != WR_NIL && (m->kind == MSG_EAGER || m->kind == MSG_DATA)) {
        rank_attribute_message(rs, rank_req(rs, m->sreq), m);
        rank_complete(rs, m->sreq);
        m->sreq = WR_NIL;
    }
    rank_drop(rs, (uint32_t)user);
    rs->trip = WR_NIL;
}

/* ---- receiving ---- */

/* A receive has its data. */
static void msg_received(struct ranks *rs, struct rank *r, uint32_t req, const struct rank_msg *m)
{
    struct rank_req *q = rank_req(rs, req);
    double copy =
        m->kind == MSG_EAGER && !(m->flags & MSG_MEMORY) ? rs->mpi.copy_ps * (double)m->bytes : 0;
    uint64_t ps = rank_ps(rs->mpi.recv_overhead_ps + copy), now = rs->sim->now;
    uint64_t *free_ps = q->flags & REQ_ASYNC ? rank_cpu(rs, r, q->cpu) : NULL;

    rank_attribute_message(rs, q, m);
    if (free_ps) {
        *free_ps = (*free_ps > now ? *free_ps : now) + ps;
        r->overhead_ps += ps;
        if (*free_ps > now) {
            rank_event(rs, r, *free_ps, RANK_EV_DONE, req);
            return;
        }
    } else if (ps && (r->state == RANK_READY || r->state == RANK_DELAYED)) {
        r->debt_ps += ps;
    } else if (ps) {
        rank_charge(rs, r, ps);
    }
    rank_complete(rs, req);
}

static bool msg_listens(const struct ranks *rs, const struct rank *r)
{
    return rs->mpi.progress == RANK_PROGRESS_ALWAYS || rs->job[r->job].load.cpus ||
           r->state == RANK_WAITING || r->state == RANK_IN_COLL ||
           (r->state == RANK_BLOCKED && r->account != RANK_IO);
}

/* The receiver answers with the same record: sender and receiver are swapped. */
static void msg_answer(struct ranks *rs, uint32_t h, enum rank_msg_kind kind)
{
    struct rank_msg *m = rank_msg(rs, h);
    uint32_t to = m->src;

    rank_handshake_held(rs, m);
    m->src = m->dst;
    m->dst = to;
    m->kind = (uint8_t)kind;
    msg_hand_over(rs, h, rs->sim->now + msg_delay_ps(rs, m));
}

/* Sends the handshake's next message, now or when the rank is in a call of MPI. */
static void msg_handshake(struct ranks *rs, struct rank *r, uint32_t h)
{
    if (msg_listens(rs, r))
        msg_answer(rs, h, rank_msg(rs, h)->kind == MSG_RTS ? MSG_CTS : MSG_DATA);
    else
        rank_put_msg(rs, &r->deferred, h);
}

void rank_catch_up(struct ranks *rs, struct rank *r)
{
    while (r->deferred.last != WR_NIL) {
        uint32_t last = r->deferred.last, h = rank_msg(rs, last)->next;

        rank_msg(rs, last)->next = rank_msg(rs, h)->next;
        if (h == last)
            r->deferred.last = WR_NIL;
        msg_answer(rs, h, rank_msg(rs, h)->kind == MSG_RTS ? MSG_CTS : MSG_DATA);
    }
}

static void msg_matched(struct ranks *rs, struct rank *r, uint32_t req, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);

    if (m->kind == MSG_RTS) {
        m->rreq = req;
        msg_handshake(rs, r, h);
        return;
    }
    msg_received(rs, r, req, m);
    rank_drop(rs, h);
}

void rank_recv(struct ranks *rs, struct rank *r, uint32_t req)
{
    uint32_t h = msg_take_unexpected(rs, r, rank_req(rs, req));

    if (h == WR_NIL) {
        msg_put_req(rs, &r->posted, req);
        return;
    }
    rank_handshake_wanted(rs, rank_msg(rs, h));
    msg_matched(rs, r, req, h);
}

/* The message is the next one of its pair: matches it, or queues it as unexpected. */
void rank_take_in(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    struct rank *r = &rs->rank[m->dst];

    if (m->kind == MSG_EAGER) {
        r->msgs_recvd++;
        r->bytes_recvd += m->bytes;
    }
    uint32_t req = msg_take_posted(rs, r, m);

    if (req == WR_NIL)
        rank_put_msg(rs, &r->unexpected, h);
    else
        msg_matched(rs, r, req, h);
}

void rank_arrive(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    struct rank *r = &rs->rank[m->dst];

    wr_hist_add(&rs->job[r->job].latency[msg_class_of(m)], rs->sim->now - m->t_ps);
    if (m->kind == MSG_RTS || m->kind == MSG_CTS)
        rank_handshake_arrived(rs, m);
    if (m->kind == MSG_CTS) {
        msg_handshake(rs, r, h);
        return;
    }
    if (m->kind == MSG_DATA) {
        r->msgs_recvd++;
        r->bytes_recvd += m->bytes;
        msg_received(rs, r, m->rreq, m);
        rank_drop(rs, h);
        return;
    }
    if (m->flags & MSG_FAR) {
        rank_far_arrive(rs, h);
        return;
    }
    m->flags |= MSG_HERE;
    if (m->flags & MSG_AFTER)
        return;
    while (h != WR_NIL && rank_msg(rs, h)->flags & MSG_HERE) {
        uint32_t follower = rank_msg(rs, h)->follower;

        msg_leave_bucket(rs, h);
        rank_take_in(rs, h);
        if (follower != WR_NIL)
            rank_msg(rs, follower)->flags &= (uint8_t)~MSG_AFTER;
        h = follower;
    }
}

void ranks_arrived(struct ranks *rs, uint64_t user, uint32_t it)
{
    wr_check(rs->trip == WR_NIL);
    rs->live--;
    rs->trip = it;
    rs->trip_arrived = true;
    rank_arrive(rs, (uint32_t)user);
    rs->trip = WR_NIL;
}
