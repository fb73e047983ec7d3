/* rank_why.c -- attribution of a rank's time: to the account it is in, and to what it waited for.
 *
 * Each time that a message or access completes for which a rank waits, the time since the previous
 * such completion is divided over the stages of that message or access (base/cause.h). Time in
 * communication or I/O in which the rank waited for nothing is attributed to software.
 *
 * Invariant: what is attributed to a rank never exceeds the time in its accounts.
 */
#include "base/check.h"
#include "rank_priv.h"

/* An account that not every rank has. */
static uint64_t *why_cold_account(struct ranks *rs, const struct rank *r)
{
    uint32_t me = rank_index(rs, r);

    if (r->account >= RANK_ACCOUNTS)
        return &rs->coll_ps[r->account - RANK_ACCOUNTS][me];
    return r->account == RANK_IO ? &rs->cold[me].io_ps : &rs->cold[me].idle_ps;
}

void rank_update_account(struct ranks *rs, struct rank *r)
{
    uint64_t now = rs->sim->now, ps = now - r->since_ps;

    wr_check(r->since_ps <= now && r->account < RANK_ACCOUNTS + LOAD_COLLS);
    if (r->account < RANK_IO)
        r->account_ps[r->account] += ps;
    else if (ps)
        *why_cold_account(rs, r) += ps;
    if (__builtin_expect(rs->lines != NULL, 0))
        rank_timeline_add(rs, r, ps);
    r->since_ps = now;
}

/* ---- what was waited for ---- */

/* Does the rank wait for this request now? */
static bool why_awaits(const struct rank *r, const struct rank_req *q)
{
    if (r->calling)
        return false;
    if (q->flags & REQ_COLL)
        return r->state == RANK_IN_COLL;
    if (!(q->flags & REQ_ASYNC))
        return r->state == RANK_BLOCKED;
    return r->state == RANK_LISTENING || (r->state == RANK_WAITING && r->of >> q->kind & 1);
}

static bool why_communicates(const struct rank *r)
{
    return r->account == RANK_SEND || r->account == RANK_RECV || r->account == RANK_WAIT ||
           r->account >= RANK_ACCOUNTS;
}

/* When the rank began to wait: its account was updated last, or its processor became free. */
static uint64_t why_idle_since(const struct ranks *rs, const struct rank *r)
{
    uint64_t busy = r->busy_ps < rs->sim->now ? r->busy_ps : rs->sim->now;

    return r->since_ps > busy ? r->since_ps : busy;
}

/* When the message being handled was posted, when it began to leave, and its idle latency. */
static bool why_message_times(const struct ranks *rs, const struct rank_msg *m,
                              struct cause_trip *ret)
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

/* The time before the last message of a rendezvous is kept in sums only: a part of it is divided
 * in the same proportions as the whole. */
static uint64_t why_split_handshake(uint64_t *ps, uint64_t from_ps, const struct rank_side *side,
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

void rank_attribute_message(struct ranks *rs, const struct rank_req *q, const struct rank_msg *m)
{
    struct rank *r = &rs->rank[q->rank];
    uint64_t now = rs->sim->now, from, ps[CAUSES] = {0};
    struct cause_trip trip;

    if (r->since_ps == now || !why_communicates(r) || !why_awaits(r, q) ||
        !why_message_times(rs, m, &trip))
        return;
    from = why_idle_since(rs, r);
    trip.begin_ps = trip.post_ps - rank_software_ps(rs, m);
    if (m->handshake != WR_NIL) {
        const struct rank_handshake *k = wr_pool_at(&rs->handshakes, m->handshake);

        from = why_split_handshake(ps, from, q->kind == REQ_SEND ? &k->sender : &k->receiver,
                                   trip.post_ps);
        trip.begin_ps = trip.post_ps;
    }
    cause_split(ps, from, now, &trip);
    for (int i = 0; i < ATTRIBUTED; i++)
        rs->attribution[q->rank].ps[i] += ps[ATTRIBUTED_FIRST + i];
    rank_update_account(rs, r);
}

void rank_attribute_access(struct ranks *rs, const struct rank_req *q, const uint64_t *cause_ps)
{
    struct rank *r = &rs->rank[q->rank];
    uint64_t now = rs->sim->now;

    if (r->since_ps == now || r->account != RANK_IO || !why_awaits(r, q))
        return;
    cause_share(rs->io_attribution[q->rank], now - why_idle_since(rs, r), cause_ps, now - q->ps);
    rank_update_account(rs, r);
}

/* ---- rendezvous ---- */

static struct rank_handshake *why_handshake_of(const struct ranks *rs, const struct rank_msg *m)
{
    wr_check(m->handshake != WR_NIL);
    return wr_pool_at(&rs->handshakes, m->handshake);
}

void rank_handshake_begin(struct ranks *rs, struct rank_msg *m, uint64_t begin_ps)
{
    m->handshake = wr_pool_take(&rs->handshakes);
    *why_handshake_of(rs, m) = (struct rank_handshake){
        .since_ps = begin_ps, .sender = {.begin_ps = begin_ps}, .receiver = {.begin_ps = begin_ps}};
}

static void why_add_handshake(struct rank_handshake *k, const uint64_t *ps, uint64_t now)
{
    for (int i = 0; i < CAUSES; i++) {
        k->sender.ps[i] += ps[i];
        k->receiver.ps[i] += ps[i];
    }
    k->since_ps = now;
}

void rank_handshake_arrived(struct ranks *rs, const struct rank_msg *m)
{
    struct rank_handshake *k = why_handshake_of(rs, m);
    uint64_t ps[CAUSES] = {0};
    struct cause_trip trip;

    if (!why_message_times(rs, m, &trip))
        return;
    trip.begin_ps = k->since_ps;
    cause_split(ps, k->since_ps, rs->sim->now, &trip);
    why_add_handshake(k, ps, rs->sim->now);
}

void rank_handshake_held(struct ranks *rs, const struct rank_msg *m)
{
    struct rank_handshake *k = why_handshake_of(rs, m);
    uint64_t ps[CAUSES] = {[CAUSE_PARTNER] = rs->sim->now - k->since_ps};

    why_add_handshake(k, ps, rs->sim->now);
}

void rank_handshake_wanted(struct ranks *rs, const struct rank_msg *m)
{
    if (m->handshake == WR_NIL)
        return;
    rank_handshake_held(rs, m);
    why_handshake_of(rs, m)->receiver = (struct rank_side){.begin_ps = rs->sim->now};
}
