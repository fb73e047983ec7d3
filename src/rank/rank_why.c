/* rank_why.c -- why a rank's time passed: the account it is in, and what it waited for.
 *
 * Each time that something a rank waits for is complete, the time since the last such moment is
 * divided by how that message or access came about (base/cause.h). Time in communication or I/O
 * in which it waited for nothing is its own processor's.
 */
#include "rank_priv.h"

/* An account that not every rank has. */
static uint64_t *rare_account(struct ranks *rs, const struct rank *r)
{
    uint32_t me = rank_index(rs, r);

    if (r->account >= RANK_ACCOUNTS)
        return &rs->coll_ps[r->account - RANK_ACCOUNTS][me];
    return r->account == RANK_IO ? &rs->rare[me].io_ps : &rs->rare[me].idle_ps;
}

void rank_settle(struct ranks *rs, struct rank *r)
{
    uint64_t now = rs->sim->now, ps = now - r->since_ps;

    if (r->account < RANK_IO)
        r->account_ps[r->account] += ps;
    else if (ps)
        *rare_account(rs, r) += ps;
    if (__builtin_expect(rs->lines != NULL, 0))
        rank_timeline_add(rs, r, ps);
    r->since_ps = now;
}

/* ---- what was waited for ---- */

/* Does the rank wait for this request now? */
static bool awaits(const struct rank *r, const struct rank_req *q)
{
    if (r->calling)
        return false;
    if (q->flags & REQ_COLL)
        return r->state == RANK_MEETING;
    if (!(q->flags & REQ_ASYNC))
        return r->state == RANK_BLOCKED;
    return r->state == RANK_LISTENING || (r->state == RANK_WAITING && r->of >> q->kind & 1);
}

static bool communicates(const struct rank *r)
{
    return r->account == RANK_SEND || r->account == RANK_RECV || r->account == RANK_WAIT ||
           r->account >= RANK_ACCOUNTS;
}

/* The rank waits since then: it has been settled before, and its processor is free. */
static uint64_t idle_since(const struct ranks *rs, const struct rank *r)
{
    uint64_t busy = r->busy_ps < rs->sim->now ? r->busy_ps : rs->sim->now;

    return r->since_ps > busy ? r->since_ps : busy;
}

/* When the message being handled was posted, when it began to leave, and how long it takes. */
static bool trip_of(const struct ranks *rs, const struct rank_msg *m, struct cause_trip *ret)
{
    if (m->flags & MSG_MEMORY) {
        *ret = (struct cause_trip){
            .post_ps = m->t_ps, .first_ps = m->t_ps, .idle_ps = rank_memory_ps(rs, m)};
        return true;
    }
    if (rs->trip == WR_NIL)
        return false;
    rs->wire.trip(rs->wire.ctx, rs->trip, rs->trip_arrived, ret);
    return true;
}

/* What came before the last message of a rendezvous is kept in sums: a part of it is
 * taken to be made like the whole. */
static uint64_t split_shake(uint64_t *ps, uint64_t from_ps, const struct rank_side *side,
                            uint64_t post_ps)
{
    if (from_ps < side->begin_ps) {
        ps[CAUSE_PARTNER] += side->begin_ps - from_ps;
        from_ps = side->begin_ps;
    }
    if (from_ps >= post_ps)
        return from_ps;
    cause_share(ps, post_ps - from_ps, side->ps, post_ps - side->begin_ps);
    return post_ps;
}

void rank_blame_message(struct ranks *rs, const struct rank_req *q, const struct rank_msg *m)
{
    struct rank *r = &rs->rank[q->rank];
    uint64_t now = rs->sim->now, from, ps[CAUSES] = {0};
    struct cause_trip trip;

    if (r->since_ps == now || !communicates(r) || !awaits(r, q) || !trip_of(rs, m, &trip))
        return;
    from = idle_since(rs, r);
    trip.begin_ps = trip.post_ps - rank_software_ps(rs, m);
    if (m->shake != WR_NIL) {
        const struct rank_shake *k = wr_pool_at(&rs->shakes, m->shake);

        from = split_shake(ps, from, q->kind == REQ_SEND ? &k->sender : &k->receiver, trip.post_ps);
        trip.begin_ps = trip.post_ps;
    }
    cause_split(ps, from, now, &trip);
    for (int i = 0; i < BLAMES; i++)
        rs->blame[q->rank].ps[i] += ps[BLAME_FIRST + i];
    rank_settle(rs, r);
}

void rank_blame_access(struct ranks *rs, const struct rank_req *q, const uint64_t *part)
{
    struct rank *r = &rs->rank[q->rank];
    uint64_t now = rs->sim->now;

    if (r->since_ps == now || r->account != RANK_IO || !awaits(r, q))
        return;
    cause_share(rs->io_blame[q->rank], now - idle_since(rs, r), part, now - q->ps);
    rank_settle(rs, r);
}

/* ---- rendezvous ---- */

static struct rank_shake *shake_of(const struct ranks *rs, const struct rank_msg *m)
{
    return wr_pool_at(&rs->shakes, m->shake);
}

void rank_shake_begin(struct ranks *rs, struct rank_msg *m, uint64_t begin_ps)
{
    m->shake = wr_pool_take(&rs->shakes);
    *shake_of(rs, m) = (struct rank_shake){
        .since_ps = begin_ps, .sender = {.begin_ps = begin_ps}, .receiver = {.begin_ps = begin_ps}};
}

static void shake_add(struct rank_shake *k, const uint64_t *ps, uint64_t now)
{
    for (int i = 0; i < CAUSES; i++) {
        k->sender.ps[i] += ps[i];
        k->receiver.ps[i] += ps[i];
    }
    k->since_ps = now;
}

void rank_shake_arrived(struct ranks *rs, const struct rank_msg *m)
{
    struct rank_shake *k = shake_of(rs, m);
    uint64_t ps[CAUSES] = {0};
    struct cause_trip trip;

    if (!trip_of(rs, m, &trip))
        return;
    trip.begin_ps = k->since_ps;
    cause_split(ps, k->since_ps, rs->sim->now, &trip);
    shake_add(k, ps, rs->sim->now);
}

void rank_shake_held(struct ranks *rs, const struct rank_msg *m)
{
    struct rank_shake *k = shake_of(rs, m);
    uint64_t ps[CAUSES] = {[CAUSE_PARTNER] = rs->sim->now - k->since_ps};

    shake_add(k, ps, rs->sim->now);
}

void rank_shake_wanted(struct ranks *rs, const struct rank_msg *m)
{
    if (m->shake == WR_NIL)
        return;
    rank_shake_held(rs, m);
    shake_of(rs, m)->receiver = (struct rank_side){.begin_ps = rs->sim->now};
}
