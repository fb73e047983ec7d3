/* rank_account.c -- the counters and states of a partition's ranks, for a process that does not
 * execute them. What is read is stored where it would be if they had been executed here: accounts
 * of ranks and jobs, marks, and of pending requests only those that a deadlock report needs.
 * Called by world/gather.c while no partition runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "rank_priv.h"

/* ---- a rank ---- */

/* Counters of struct rank that are words. */
static const size_t words[] = {
    offsetof(struct rank, since_ps),    offsetof(struct rank, busy_ps),
    offsetof(struct rank, overhead_ps), offsetof(struct rank, bytes_sent),
    offsetof(struct rank, bytes_recvd),
};

enum {
    RARE_WORDS = sizeof(struct rank_cold) / sizeof(uint64_t),
    NWORDS = sizeof words / sizeof *words,
};
_Static_assert(sizeof(struct rank_cold) == RARE_WORDS * sizeof(uint64_t), "64-bit words");

static uint64_t *account_word(struct rank *r, size_t i)
{
    return (uint64_t *)((char *)r + words[i]);
}

static void account_pack_rank(const struct ranks *rs, uint32_t i, struct wr_bytes *out)
{
    struct rank *r = &rs->rank[i];

    for (size_t k = 0; k < NWORDS; k++)
        wr_bytes_u64(out, *account_word(r, k));
    wr_bytes_many(out, r->account_ps, RANK_IO);
    wr_bytes_u64(out, r->msgs_sent);
    wr_bytes_u64(out, r->msgs_recvd);
    wr_bytes_u64(out, r->where);
    wr_bytes_u64(out, r->state);
    wr_bytes_u64(out, r->account);
    for (int c = 0; c < LOAD_COLLS; c++) {
        wr_bytes_u64(out, rs->coll_ps[c][i]);
        wr_bytes_u64(out, rs->colls[c][i]);
    }
    wr_bytes_many(out, (const uint64_t *)&rs->cold[i], RARE_WORDS);
    wr_bytes_many(out, rs->attribution[i].ps, ATTRIBUTED);
    if (rs->io_attribution)
        wr_bytes_many(out, rs->io_attribution[i], CAUSES);
}

static void account_take_rank(struct ranks *rs, uint32_t i, struct wr_reader *in)
{
    struct rank *r = &rs->rank[i];

    for (size_t k = 0; k < NWORDS; k++)
        *account_word(r, k) = wr_read_u64(in);
    wr_read_many(in, r->account_ps, RANK_IO);
    r->msgs_sent = (uint32_t)wr_read_u64(in);
    r->msgs_recvd = (uint32_t)wr_read_u64(in);
    r->where = (uint32_t)wr_read_u64(in);
    r->state = (uint8_t)wr_read_below(in, RANK_OVER + 1);
    r->account = (uint8_t)wr_read_below(in, (uint64_t)RANK_ACCOUNTS + LOAD_COLLS);
    for (int c = 0; c < LOAD_COLLS; c++) {
        rs->coll_ps[c][i] = wr_read_u64(in);
        rs->colls[c][i] = (uint32_t)wr_read_u64(in);
    }
    wr_read_many(in, (uint64_t *)&rs->cold[i], RARE_WORDS);
    wr_read_many(in, rs->attribution[i].ps, ATTRIBUTED);
    if (rs->io_attribution)
        wr_read_many(in, rs->io_attribution[i], CAUSES);
}

/* ---- what a rank waits for ---- */

/* The request that the rank waits for, if there is one, and the senders of RTS messages that it has
 * not matched. */
static void account_pack_waits(const struct ranks *rs, uint32_t i, struct wr_bytes *out)
{
    const struct rank *r = &rs->rank[i];
    uint32_t h = rank_lacks(rs, r), last = r->unexpected.last;

    wr_bytes_u64(out, h != WR_NIL);
    if (h != WR_NIL) {
        const struct rank_req *q = rank_req(rs, h);

        wr_bytes_u64(out, q->kind);
        wr_bytes_u64(out, q->ctx);
        wr_bytes_u64(out, q->peer);
        wr_bytes_u64(out, q->bytes);
        wr_bytes_u64(out, (uint64_t)q->tag);
    }
    for (uint32_t k = last; k != WR_NIL;) {
        const struct rank_msg *m = rank_msg(rs, k);

        if (m->kind == MSG_RTS)
            wr_bytes_u64(out, (uint64_t)m->src + 1); /* never 0, which ends them */
        k = m->next == last ? WR_NIL : m->next;
    }
    wr_bytes_u64(out, 0);
}

static void account_take_waits(struct ranks *rs, uint32_t i, struct wr_reader *in)
{
    struct rank *r = &rs->rank[i];
    uint64_t src;

    if (wr_read_below(in, 2)) {
        uint32_t h = rank_new_req(rs, r, (enum rank_req_kind)wr_read_below(in, REQ_KINDS), 0);
        struct rank_req *q = rank_req(rs, h);

        q->ctx = (uint8_t)wr_read_u64(in);
        q->peer = (uint32_t)wr_read_u64(in);
        q->bytes = wr_read_u64(in);
        q->tag = (int64_t)wr_read_u64(in);
        q->next = h;
        in->bad = in->bad || (q->peer != LOAD_ANY && q->peer >= rs->job[r->job].load.ranks);
        *(r->state == RANK_BLOCKED ? &r->blocking : &r->posted.last) = h;
    }
    while ((src = wr_read_below(in, (uint64_t)rs->n + 1))) {
        uint32_t h = wr_pool_take(&rs->msgs);

        *rank_msg(rs, h) = (struct rank_msg){.kind = MSG_RTS, .src = (uint32_t)src - 1};
        rank_put_msg(rs, &r->unexpected, h);
    }
}

/* ---- jobs ---- */

static bool *account_is_local(const struct ranks *rs, const struct rank_jobs *j)
{
    bool *ret = wr_zalloc(j->load.ranks, sizeof *ret);

    for (uint32_t k = 0; k < j->load.ranks; k++)
        ret[k] = !rank_is_far(rs, rs->rank[j->first + k].node);
    return ret;
}

static void account_pack_job(const struct ranks *rs, const struct rank_jobs *j,
                             struct wr_bytes *out)
{
    for (int c = 0; c < RANK_CLASSES; c++)
        wr_bytes_hist(out, &j->latency[c]);
    wr_bytes_hist(out, j->iteration);
    if (!j->load.ops->pack)
        return;
    bool *own = account_is_local(rs, j);

    j->load.ops->pack(&j->load, own, out);
    free(own);
}

static void account_take_job(const struct ranks *rs, struct rank_jobs *j, struct wr_reader *in)
{
    for (int c = 0; c < RANK_CLASSES; c++)
        wr_read_hist(in, &j->latency[c]);
    wr_read_hist(in, j->iteration);
    if (!j->load.ops->take)
        return;
    bool *own = account_is_local(rs, j);

    j->load.ops->take(&j->load, own, in);
    free(own);
}

/* ---- marks ---- */

static void account_pack_marks(const struct ranks *rs, struct wr_bytes *out)
{
    uint32_t n = rank_marks_made(rs);

    wr_bytes_u64(out, n);
    for (uint32_t k = 0; k < n; k++) {
        const struct rank_mark *m = wr_pool_at(&rs->marks, rs->marks.fresh - n + k);

        wr_bytes_u64(out, m->rank);
        wr_bytes_u64(out, m->mark);
        wr_bytes_u64(out, m->t_ps);
    }
}

static void account_take_marks(struct ranks *rs, struct wr_reader *in)
{
    for (size_t n = wr_read_count(in, 3); n; n--) {
        struct rank_mark *m = wr_pool_at(&rs->marks, wr_pool_take(&rs->marks));

        m->rank = (uint32_t)wr_read_below(in, rs->n);
        m->mark = (uint32_t)wr_read_u64(in);
        m->t_ps = wr_read_u64(in);
    }
}

/* ---- state ---- */

static void account_pack_state(const struct ranks *rs, struct wr_bytes *out)
{
    wr_bytes_u64(out, rs->left);
    wr_bytes_u64(out, rs->live);
    wr_bytes_u64(out, rs->ops);
    for (uint32_t i = 0; i < rs->njobs; i++) {
        wr_bytes_u64(out, rs->job[i].left);
        wr_bytes_u64(out, rs->job[i].end_ps);
    }
    wr_bytes_u64(out, rs->failed != WR_NIL);
    if (rs->failed == WR_NIL)
        return;
    struct wr_err err = {0};

    rank_fault(rs, &err);
    wr_bytes_u64(out, rs->failed);
    wr_bytes_u64(out, rs->failed_ps);
    wr_bytes_u64(out, err.code);
    wr_bytes_text(out, err.text);
}

static void account_take_state(struct ranks *rs, struct wr_reader *in)
{
    rs->left = (uint32_t)wr_read_u64(in);
    rs->live = wr_read_u64(in);
    rs->ops = wr_read_u64(in);
    for (uint32_t i = 0; i < rs->njobs; i++) {
        rs->job[i].left = (uint32_t)wr_read_u64(in);
        rs->job[i].end_ps = wr_read_u64(in);
    }
    if (!wr_read_below(in, 2))
        return;
    if (!rs->fault)
        rs->fault = wr_zalloc(1, sizeof *rs->fault);
    rs->failed = (uint32_t)wr_read_below(in, rs->n);
    rs->failed_ps = wr_read_u64(in);
    rs->fault->code = (enum wr_code)wr_read_u64(in);
    char *text = wr_read_text(in);

    snprintf(rs->fault->text, sizeof rs->fault->text, "%s", text);
    free(text);
}

void ranks_pack_accounts(const struct ranks *rs, bool all, struct wr_bytes *out)
{
    account_pack_state(rs, out);
    if (!all)
        return;
    for (uint32_t i = 0; i < rs->n; i++)
        if (!rank_is_far(rs, rs->rank[i].node)) {
            account_pack_rank(rs, i, out);
            account_pack_waits(rs, i, out);
            rank_timeline_pack(rs, i, out);
        }
    for (uint32_t i = 0; i < rs->njobs; i++)
        account_pack_job(rs, &rs->job[i], out);
    account_pack_marks(rs, out);
}

void ranks_take_accounts(struct ranks *rs, bool all, struct wr_reader *in)
{
    account_take_state(rs, in);
    if (!all)
        return;
    for (uint32_t i = 0; i < rs->n; i++)
        if (!rank_is_far(rs, rs->rank[i].node)) {
            account_take_rank(rs, i, in);
            account_take_waits(rs, i, in);
            rank_timeline_take(rs, i, in);
        }
    for (uint32_t i = 0; i < rs->njobs; i++)
        account_take_job(rs, &rs->job[i], in);
    account_take_marks(rs, in);
}
