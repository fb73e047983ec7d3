/* step_comm.c -- messages and collectives of one rank.
 *
 * The state of a statement of two sets is two words of the rank: `cur`, the current peer, and
 * `left`, the messages still to be exchanged with it. Task variables are computed again at every
 * step.
 */
#include "step_priv.h"

enum { FEW_TASKS = 64 }; /* below, trying all is cheaper than looking up */

static void comm_bind_tasks(struct nc_ev *e, const struct nc_pair *pair, int64_t outer,
                            int64_t inner)
{
    if (pair->outer.tmp >= 0)
        e->tmp[pair->outer.tmp] = outer;
    if (pair->inner.tmp >= 0)
        e->tmp[pair->inner.tmp] = inner;
}

/* The first of an ascending list that is >= x. */
static int64_t comm_from_list(const uint32_t *list, uint64_t lo, uint64_t end, int64_t x)
{
    uint64_t hi = end;

    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (list[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end ? (int64_t)list[lo] : NC_NO_TASK;
}

/* The table of pairs, pinned once per execution of the statement; NULL: compute or try. */
static const struct nc_pin *comm_pair_table(struct nc_step *s, enum nc_grade grade)
{
    if (grade != NC_LOOSE || s->p->n <= FEW_TASKS)
        return NULL;
    if (!s->r->pin[0])
        nc_pair_pin(s->e, s->in->pair, &s->r->pin[0]);
    return s->r->pin[0];
}

/* The next outer member >= x that sees this rank's task. */
static int64_t comm_next_outer(struct nc_step *s, int64_t x)
{
    const struct nc_pair *pair = s->in->pair;
    uint32_t me = s->r->task;
    const struct nc_pin *t = comm_pair_table(s, pair->inverse);

    if (s->e->bad)
        return NC_NO_TASK;
    return t ? comm_from_list(t->in, t->in_at[me], t->in_at[me + 1], x)
             : nc_pair_next(s->e, pair, me, x);
}

/* The next inner member >= x that this rank's task sees. */
static int64_t comm_next_inner(struct nc_step *s, int64_t x)
{
    const struct nc_pair *pair = s->in->pair;
    uint32_t me = s->r->task;

    if (!nc_set_has(s->e, &pair->outer, NC_NO_TASK, me))
        return NC_NO_TASK;
    const struct nc_pin *t =
        comm_pair_table(s, pair->inner.kind == NC_SUCH ? pair->inner.grade : NC_EXACT);
    if (s->e->bad)
        return NC_NO_TASK;
    if (t)
        return comm_from_list(t->out, t->out_at[me], t->out_at[me + 1], x);
    if (pair->outer.tmp >= 0)
        s->e->tmp[pair->outer.tmp] = me;
    return nc_set_next(s->e, &pair->inner, me, x);
}

/* ---- messages ---- */

static uint32_t comm_attributes(struct nc_ev *e, const struct nc_cmsg *m, struct ncptl_event *ev)
{
    uint32_t flags = m->flags;

    ev->tag = 0;
    ev->tag_text = NULL;
    if (m->plain)
        return flags;
    if (m->tag_text) {
        ev->tag = m->tag_hash;
        ev->tag_text = m->tag_text;
        flags |= NCPTL_F_TAG;
    } else if (m->tag) {
        ev->tag = nc_int(e, m->tag);
        flags |= ev->tag ? NCPTL_F_TAG : 0;
    }
    if (m->align) {
        ev->align = nc_int(e, m->align);
        if (!(flags & NCPTL_F_MISALIGN) && ev->align > 0)
            flags |= NCPTL_F_ALIGN;
    }
    if (m->ofs) {
        ev->ofs = nc_int(e, m->ofs);
        flags |= ev->ofs ? NCPTL_F_OFS : 0;
    }
    if (m->buf) {
        ev->buf = nc_int(e, m->buf);
        flags |= ev->buf >= 0 ? NCPTL_F_BUF : 0;
    }
    return flags;
}

static int64_t comm_message_size(struct nc_ev *e, const struct nc_cmsg *m)
{
    int64_t bytes = m->size ? nc_value(e, m->size) : 0;

    if (bytes < 0) {
        e->now = m->size;
        nc_ev_fail(e, NCF_NEGATIVE, bytes, 0);
    }
    return bytes;
}

static void comm_count_message(struct ncptl_rank *r, enum ncptl_op op, uint32_t flags,
                               int64_t bytes)
{
    if (r->warm)
        return;
    if (op == NCPTL_SEND) {
        r->counters.msgs_sent++;
        r->counters.bytes_sent += bytes;
    } else if (flags & NCPTL_F_ASYNC) {
        r->pending.msgs_received++;
        r->pending.bytes_received += bytes;
    } else {
        r->counters.msgs_received++;
        r->counters.bytes_received += bytes;
    }
}

static enum nc_did comm_message(struct nc_step *s, enum ncptl_op op, const struct nc_cmsg *m,
                                int64_t peer)
{
    uint32_t flags = comm_attributes(s->e, m, s->ev);

    s->ev->bytes = comm_message_size(s->e, m);
    s->ev->peer = (uint32_t)nc_ev_proc_of(s->e, peer);
    if (s->e->bad)
        return NC_STOP;
    comm_count_message(s->r, op, flags, s->ev->bytes);
    return nc_yield(s, op, flags);
}

static int64_t comm_how_many(struct nc_ev *e, const struct nc_cmsg *m)
{
    return m->count ? nc_value(e, m->count) : 1;
}

/* One side of a statement: the receives of this rank, or its sends. */
struct half {
    enum ncptl_op op;
    const struct nc_cmsg *msg;
    bool outer;    /* the task of this rank is the outer one */
    int remembers; /* by how many bits its half of the cache word is shifted */
};

/* A remembered first peer: 0 unknown, 1 none, else 2 + 2 * peer + (is it alone?) */
enum { UNKNOWN, NONE, SOME };

static int64_t comm_search_peer(struct nc_step *s, const struct half *h, int64_t x)
{
    return h->outer ? comm_next_inner(s, x) : comm_next_outer(s, x);
}

static int64_t comm_next_peer(struct nc_step *s, const struct half *h, int64_t x)
{
    if (!s->in->cache)
        return comm_search_peer(s, h, x);

    uint64_t *word = (uint64_t *)&s->r->slot[s->in->cache - 1];
    uint32_t known = (uint32_t)(*word >> h->remembers);
    if (known == UNKNOWN) {
        int64_t first = comm_search_peer(s, h, 0);
        bool alone = first != NC_NO_TASK && comm_search_peer(s, h, first + 1) == NC_NO_TASK;

        known = first == NC_NO_TASK ? NONE : (uint32_t)(SOME + 2 * first + alone);
        if (s->e->bad)
            return NC_NO_TASK;
        *word |= (uint64_t)known << h->remembers;
    }
    if (known == NONE || (x && (known & 1)))
        return NC_NO_TASK;
    return x ? comm_search_peer(s, h, x) : (known - SOME) / 2;
}

static enum nc_did comm_next_message(struct nc_step *s, const struct half *h)
{
    struct ncptl_rank *r = s->r;

    while (r->left <= 0) {
        int64_t peer = comm_next_peer(s, h, r->cur + 1);

        if (peer == NC_NO_TASK || s->e->bad)
            return s->e->bad ? NC_STOP : NC_GO;
        r->cur = peer;
        comm_bind_tasks(s->e, s->in->pair, h->outer ? r->task : peer, h->outer ? peer : r->task);
        r->left = comm_how_many(s->e, h->msg);
        if (s->e->bad)
            return NC_STOP;
    }
    comm_bind_tasks(s->e, s->in->pair, h->outer ? r->task : r->cur, h->outer ? r->cur : r->task);
    r->left--;
    return comm_message(s, h->op, h->msg, r->cur);
}

static enum nc_did comm_statement_done(struct nc_step *s)
{
    s->r->cur = -1;
    s->r->left = 0;
    s->r->phase = 0;
    s->r->pc++;
    if (s->r->pin[0])
        nc_release(s->p, &s->r->pin[0]);
    return NC_GO;
}

enum nc_did nc_step_send(struct nc_step *s)
{
    enum nc_did did;

    if (!s->r->phase) {
        if (s->in->rmsg) {
            did = comm_next_message(s, &(struct half){NCPTL_RECV, s->in->rmsg, false, 32});
            if (did != NC_GO)
                return did;
        }
        s->r->phase = 1;
        s->r->cur = -1;
        s->r->left = 0;
    }
    did = comm_next_message(s, &(struct half){NCPTL_SEND, s->in->msg, true, 0});
    return did == NC_GO ? comm_statement_done(s) : did;
}

enum nc_did nc_step_recv(struct nc_step *s)
{
    enum nc_did did = comm_next_message(s, &(struct half){NCPTL_RECV, s->in->msg, false, 32});

    return did == NC_GO ? comm_statement_done(s) : did;
}

enum nc_did nc_step_recv_pull(struct nc_step *s)
{
    enum nc_did did = comm_next_message(s, &(struct half){NCPTL_RECV, s->in->msg, true, 0});

    return did == NC_GO ? comm_statement_done(s) : did;
}

/* ---- multicasts: every root that sends to this rank, and the rank itself ---- */

static int64_t comm_next_root(struct nc_step *s, int64_t x)
{
    int64_t root = comm_next_outer(s, x), me = s->r->task;

    if (me < x || (root != NC_NO_TASK && root <= me) || s->e->bad)
        return root;
    return nc_set_has(s->e, &s->in->pair->outer, NC_NO_TASK, me) ? me : root;
}

/* The targets of the root, without the root. */
static bool comm_receivers(struct nc_step *s, int64_t root)
{
    const struct nc_set *in = &s->in->pair->inner;
    struct ncptl_group *g = &s->ev->group;
    uint32_t proc = (uint32_t)nc_ev_proc_of(s->e, root);

    if (!nc_set_group(s->e, in, root, g, &s->r->pin[1]))
        return false;
    int64_t at = in->kind == NC_OTHERS ? -1 : ncptl_group_index(g, proc);
    if (at >= 0) {
        g->hole = (uint32_t)at;
        g->n--;
        g->key -= nc_mix(proc);
    }
    return true;
}

enum nc_did nc_step_mcast(struct nc_step *s)
{
    struct ncptl_rank *r = s->r;
    uint32_t flags;

    while (r->left <= 0) {
        int64_t root = comm_next_root(s, r->cur + 1);

        if (s->e->bad)
            return NC_STOP;
        if (root == NC_NO_TASK)
            return comm_statement_done(s);
        r->cur = root;
        comm_bind_tasks(s->e, s->in->pair, root, r->task);
        r->left = comm_how_many(s->e, s->in->msg);
        if (s->e->bad)
            return NC_STOP;
    }
    r->left--;
    comm_bind_tasks(s->e, s->in->pair, r->cur, r->task);
    flags = comm_attributes(s->e, s->in->msg, s->ev);
    s->ev->bytes = comm_message_size(s->e, s->in->msg);
    s->ev->peer = (uint32_t)nc_ev_proc_of(s->e, r->cur);
    if (s->e->bad || !comm_receivers(s, r->cur))
        return NC_STOP;
    return nc_yield(s, NCPTL_MCAST, flags);
}

/* ---- collectives ---- */

static enum nc_did comm_skip(struct nc_step *s)
{
    s->r->pc++;
    return NC_GO;
}

enum nc_did nc_step_reduce(struct nc_step *s)
{
    const struct nc_ins *in = s->in;
    const struct nc_set *from = in->pair ? &in->pair->outer : in->set;
    struct ncptl_group *sources = &s->ev->group, *targets = &s->ev->targets;
    uint32_t flags;
    int64_t n;

    if (!nc_set_group(s->e, from, NC_NO_TASK, sources, &s->r->pin[1]))
        return NC_STOP;
    *targets = *sources;
    if (in->pair && sources->n && !nc_pair_group(s->e, in->pair, targets, &s->r->pin[2]))
        return NC_STOP;
    bool sends = ncptl_group_index(sources, s->r->proc) >= 0;
    bool receives = ncptl_group_index(targets, s->r->proc) >= 0;
    if (!sources->n || !targets->n || (!sends && !receives))
        return comm_skip(s);
    flags = comm_attributes(s->e, !sends && in->rmsg ? in->rmsg : in->msg, s->ev);
    n = comm_how_many(s->e, in->msg);
    if (__builtin_mul_overflow(n > 0 ? n : 0, nc_int(s->e, in->msg->size), &s->ev->bytes))
        nc_ev_fail(s->e, NCF_OVERFLOW, n, 0);
    if (s->e->bad)
        return NC_STOP;
    s->r->pc++;
    return nc_yield(s, NCPTL_REDUCE, flags);
}

enum nc_did nc_step_barrier(struct nc_step *s)
{
    if (!nc_set_has(s->e, s->in->set, NC_NO_TASK, s->r->task))
        return comm_skip(s);
    if (s->e->bad || !nc_set_group(s->e, s->in->set, NC_NO_TASK, &s->ev->group, &s->r->pin[1]))
        return NC_STOP;
    s->r->pc++;
    return nc_yield(s, NCPTL_BARRIER, 0);
}
