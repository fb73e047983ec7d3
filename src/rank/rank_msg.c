/* rank_msg.c -- messages: eager and rendezvous, and who gets what.
 *
 *   eager       send --------------> [match]            one message
 *   rendezvous  ask  --------------> [match]            three
 *                    <------ clear --
 *               data -------------->
 *
 * MPI promises that messages of one pair of ranks are matched in the order they were sent in.
 * The network does not (adaptive routing, rails, copies of different length), so a
 * message that arrives before its forerunner waits for it.
 */
#include "rank_priv.h"

/* ---- queues, by their last ---- */

static void put_req(struct ranks *rs, struct rank_queue *q, uint32_t h)
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

static bool matches(const struct ranks *rs, const struct rank *r, const struct rank_req *q,
                    const struct rank_msg *m)
{
    return q->ctx == m->ctx && (q->tag == m->tag || q->tag == LOAD_ANY_TAG) &&
           (q->peer == LOAD_ANY || q->peer + rs->job[r->job].first == m->src);
}

/* Take the first posted receive that the message suits; WR_NIL: none does. */
static uint32_t take_posted(struct ranks *rs, struct rank *r, const struct rank_msg *m)
{
    uint32_t before = r->posted.last;

    if (before == WR_NIL)
        return WR_NIL;
    do {
        uint32_t h = rank_req(rs, before)->next;

        if (matches(rs, r, rank_req(rs, h), m)) {
            rank_req(rs, before)->next = rank_req(rs, h)->next;
            if (r->posted.last == h)
                r->posted.last = before == h ? WR_NIL : before;
            return h;
        }
        before = h;
    } while (before != r->posted.last);
    return WR_NIL;
}

static uint32_t take_unexpected(struct ranks *rs, struct rank *r, const struct rank_req *q)
{
    uint32_t before = r->unexpected.last;

    if (before == WR_NIL)
        return WR_NIL;
    do {
        uint32_t h = rank_msg(rs, before)->next;

        if (matches(rs, r, q, rank_msg(rs, h))) {
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

static uint32_t *bucket_of(struct ranks *rs, uint32_t src, uint32_t dst)
{
    uint64_t h = ((uint64_t)src << 32 | dst) * UINT64_C(0x9e3779b97f4a7c15);

    return &rs->bucket[h >> 32 & (rs->nbuckets - 1)];
}

/* A message begins: it follows the last one of its pair that was not yet taken in. */
static void follow(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    uint32_t *head = bucket_of(rs, m->src, m->dst);

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

static void leave_bucket(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    uint32_t *at = bucket_of(rs, m->src, m->dst);

    while (*at != h)
        at = &rank_msg(rs, *at)->bucket;
    *at = m->bucket;
}

void rank_drop(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);

    if (--m->holds)
        return;
    if (m->shake != WR_NIL)
        wr_pool_give(&rs->shakes, m->shake);
    wr_pool_give(&rs->msgs, h);
}

/* ---- sending ---- */

static uint64_t wire_bytes(const struct ranks *rs, const struct rank_msg *m)
{
    return m->kind == MSG_ASK || m->kind == MSG_CLEAR ? rs->mpi.control_b : m->bytes;
}

static enum rank_class class_of(const struct rank_msg *m)
{
    if (m->flags & MSG_MEMORY)
        return RANK_MEMORY;
    if (m->kind == MSG_ASK || m->kind == MSG_CLEAR)
        return RANK_CONTROL;
    return m->ctx == CTX_COLL ? RANK_COLLECTIVE : RANK_POINT;
}

/* The message is on its way to the NIC, which has it at `t_ps`. */
static void hand_over(struct ranks *rs, uint32_t h, uint64_t t_ps)
{
    rank_event(rs, &rs->rank[rank_msg(rs, h)->src], t_ps, RANK_EV_POST, h);
}

static uint64_t delay_ps(const struct ranks *rs, const struct rank_msg *m)
{
    if (m->flags & MSG_MEMORY)
        return 0;
    return rank_ps(rs->mpi.send_delay_ps + rs->mpi.send_delay_byte_ps * (double)wire_bytes(rs, m));
}

static uint64_t overhead_ps(const struct ranks *rs, const struct rank_msg *m)
{
    bool copied = m->kind == MSG_EAGER && !(m->flags & MSG_MEMORY);

    return rank_ps(rs->mpi.send_overhead_ps + (copied ? rs->mpi.copy_ps * (double)m->bytes : 0));
}

uint64_t rank_software_ps(const struct ranks *rs, const struct rank_msg *m)
{
    return delay_ps(rs, m) + (m->kind == MSG_EAGER ? overhead_ps(rs, m) : 0);
}

uint64_t rank_memory_ps(const struct ranks *rs, const struct rank_msg *m)
{
    return rank_ps(rs->mpi.memory_ps + rs->mpi.memory_byte_ps * (double)m->bytes);
}

/* When the processor has done its part. A graph's operations use its own cpus. */
static uint64_t work(struct ranks *rs, struct rank *r, uint32_t cpu, bool async, uint64_t ps)
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
    uint32_t me = rank_index(rs, r), to = q->peer + rs->job[r->job].first;
    bool near = rs->node[to] == r->node, eager = near || q->bytes <= rs->mpi.eager_b;
    uint32_t h = wr_pool_take(&rs->msgs);
    struct rank_msg *m = rank_msg(rs, h);

    *m = (struct rank_msg){.follower = WR_NIL,
                           .src = me,
                           .dst = to,
                           .sreq = req,
                           .rreq = WR_NIL,
                           .kind = eager ? MSG_EAGER : MSG_ASK,
                           .ctx = q->ctx,
                           .flags = near ? MSG_MEMORY : 0,
                           .holds = 1,
                           .bytes = q->bytes,
                           .tag = q->tag,
                           .shake = WR_NIL};
    uint64_t ps = overhead_ps(rs, m), done = work(rs, r, q->cpu, q->flags & REQ_ASYNC, ps);

    if (!eager)
        rank_shake_begin(rs, m, done - ps);
    r->msgs_sent++;
    r->bytes_sent += q->bytes;
    if (rank_is_far(rs, rs->node[to]))
        rank_far_begin(rs, m);
    else
        follow(rs, h);
    hand_over(rs, h, done + delay_ps(rs, m));
    if (!eager || rs->mpi.eager_done != RANK_COPIED)
        return;
    m->sreq = WR_NIL;
    if (rank_cpu(rs, r, q->cpu) && q->flags & REQ_ASYNC)
        rank_event(rs, r, done, RANK_EV_DONE, req);
    else
        rank_complete(rs, req);
}

/* The NIC has it, or the memory. */
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
    rs->wire.send(rs->wire.ctx, from->node, rs->node[m->dst], wire_bytes(rs, m),
                  rs->job[from->job].app, (uint8_t)class_of(m), h);
}

void ranks_sent(struct ranks *rs, uint64_t user, uint32_t it)
{
    struct rank_msg *m = rank_msg(rs, (uint32_t)user);

    rs->live--;
    rs->trip = it;
    rs->trip_arrived = false;
    if (m->sreq != WR_NIL && (m->kind == MSG_EAGER || m->kind == MSG_DATA)) {
        rank_blame_message(rs, rank_req(rs, m->sreq), m);
        rank_complete(rs, m->sreq);
        m->sreq = WR_NIL;
    }
    rank_drop(rs, (uint32_t)user);
    rs->trip = WR_NIL;
}

/* ---- receiving ---- */

/* A receive has its data. */
static void received(struct ranks *rs, struct rank *r, uint32_t req, const struct rank_msg *m)
{
    struct rank_req *q = rank_req(rs, req);
    double copy =
        m->kind == MSG_EAGER && !(m->flags & MSG_MEMORY) ? rs->mpi.copy_ps * (double)m->bytes : 0;
    uint64_t ps = rank_ps(rs->mpi.recv_overhead_ps + copy), now = rs->sim->now;
    uint64_t *free_ps = q->flags & REQ_ASYNC ? rank_cpu(rs, r, q->cpu) : NULL;

    rank_blame_message(rs, q, m);
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

static bool listens(const struct ranks *rs, const struct rank *r)
{
    return rs->mpi.progress == RANK_PROGRESS_ALWAYS || rs->job[r->job].load.cpus ||
           r->state == RANK_WAITING || r->state == RANK_MEETING ||
           (r->state == RANK_BLOCKED && r->account != RANK_IO);
}

/* Turn the message round: its receiver answers. */
static void answer(struct ranks *rs, uint32_t h, enum rank_msg_kind kind)
{
    struct rank_msg *m = rank_msg(rs, h);
    uint32_t to = m->src;

    rank_shake_held(rs, m);
    m->src = m->dst;
    m->dst = to;
    m->kind = (uint8_t)kind;
    hand_over(rs, h, rs->sim->now + delay_ps(rs, m));
}

/* A handshake's next message, now or when the rank is in a call. */
static void shake(struct ranks *rs, struct rank *r, uint32_t h)
{
    if (listens(rs, r))
        answer(rs, h, rank_msg(rs, h)->kind == MSG_ASK ? MSG_CLEAR : MSG_DATA);
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
        answer(rs, h, rank_msg(rs, h)->kind == MSG_ASK ? MSG_CLEAR : MSG_DATA);
    }
}

static void matched(struct ranks *rs, struct rank *r, uint32_t req, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);

    if (m->kind == MSG_ASK) {
        m->rreq = req;
        shake(rs, r, h);
        return;
    }
    received(rs, r, req, m);
    rank_drop(rs, h);
}

void rank_recv(struct ranks *rs, struct rank *r, uint32_t req)
{
    uint32_t h = take_unexpected(rs, r, rank_req(rs, req));

    if (h == WR_NIL) {
        put_req(rs, &r->posted, req);
        return;
    }
    rank_shake_wanted(rs, rank_msg(rs, h));
    matched(rs, r, req, h);
}

/* Its turn among the messages of its pair has come. */
void rank_take_in(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    struct rank *r = &rs->rank[m->dst];

    if (m->kind == MSG_EAGER) {
        r->msgs_recvd++;
        r->bytes_recvd += m->bytes;
    }
    uint32_t req = take_posted(rs, r, m);

    if (req == WR_NIL)
        rank_put_msg(rs, &r->unexpected, h);
    else
        matched(rs, r, req, h);
}

void rank_arrive(struct ranks *rs, uint32_t h)
{
    struct rank_msg *m = rank_msg(rs, h);
    struct rank *r = &rs->rank[m->dst];

    wr_hist_add(&rs->job[r->job].latency[class_of(m)], rs->sim->now - m->t_ps);
    if (m->kind == MSG_ASK || m->kind == MSG_CLEAR)
        rank_shake_arrived(rs, m);
    if (m->kind == MSG_CLEAR) {
        shake(rs, r, h);
        return;
    }
    if (m->kind == MSG_DATA) {
        r->msgs_recvd++;
        r->bytes_recvd += m->bytes;
        received(rs, r, m->rreq, m);
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

        leave_bucket(rs, h);
        rank_take_in(rs, h);
        if (follower != WR_NIL)
            rank_msg(rs, follower)->flags &= (uint8_t)~MSG_AFTER;
        h = follower;
    }
}

void ranks_arrived(struct ranks *rs, uint64_t user, uint32_t it)
{
    rs->live--;
    rs->trip = it;
    rs->trip_arrived = true;
    rank_arrive(rs, (uint32_t)user);
    rs->trip = WR_NIL;
}
