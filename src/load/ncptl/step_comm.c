/* step_comm.c -- messages and collectives of one rank.
 *
 * A statement of two sets is walked with two words: `cur`, the peer we are at, and
 * `left`, how many messages are still to go to it. Task variables are set anew at
 * every step, so nothing else needs to be remembered.
 */
#include "step_priv.h"

enum { FEW_TASKS = 64 }; /* below, trying all is cheaper than looking up */

static void bind(struct nc_ev *e, const struct nc_pair *pair, int64_t outer, int64_t inner)
{
    if (pair->outer.tmp >= 0)
        e->tmp[pair->outer.tmp] = outer;
    if (pair->inner.tmp >= 0)
        e->tmp[pair->inner.tmp] = inner;
}

/* The first of an ascending list that is >= x. */
static int64_t from_list(const uint32_t *list, uint64_t lo, uint64_t end, int64_t x)
{
    uint64_t hi = end;

    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (list[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end ? (int64_t)list[lo] : NC_NOBODY;
}

/* The table of who sees whom, taken once per execution; NULL: compute or try. */
static const struct nc_pin *table(struct nc_step *s, enum nc_grade grade)
{
    if (grade != NC_LOOSE || s->p->n <= FEW_TASKS)
        return NULL;
    if (!s->r->pin[0])
        nc_pair_pin(s->e, s->in->pair, &s->r->pin[0]);
    return s->r->pin[0];
}

/* The next outer member >= x that sees this rank's task. */
static int64_t next_outer(struct nc_step *s, int64_t x)
{
    const struct nc_pair *pair = s->in->pair;
    uint32_t me = s->r->task;
    const struct nc_pin *t = table(s, pair->inverse);

    if (s->e->bad)
        return NC_NOBODY;
    return t ? from_list(t->in, t->in_at[me], t->in_at[me + 1], x)
             : nc_pair_next(s->e, pair, me, x);
}

/* The next inner member >= x that this rank's task sees. */
static int64_t next_inner(struct nc_step *s, int64_t x)
{
    const struct nc_pair *pair = s->in->pair;
    uint32_t me = s->r->task;

    if (!nc_set_has(s->e, &pair->outer, NC_NOBODY, me))
        return NC_NOBODY;
    const struct nc_pin *t = table(s, pair->inner.kind == NC_SUCH ? pair->inner.grade : NC_EXACT);
    if (s->e->bad)
        return NC_NOBODY;
    if (t)
        return from_list(t->out, t->out_at[me], t->out_at[me + 1], x);
    if (pair->outer.tmp >= 0)
        s->e->tmp[pair->outer.tmp] = me;
    return nc_set_next(s->e, &pair->inner, me, x);
}

/* ---- messages ---- */

static uint32_t attributes(struct nc_ev *e, const struct nc_cmsg *m, struct ncptl_event *ev)
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

static int64_t message_size(struct nc_ev *e, const struct nc_cmsg *m)
{
    int64_t bytes = m->size ? nc_value(e, m->size) : 0;

    if (bytes < 0) {
        e->now = m->size;
        nc_ev_fail(e, NCF_NEGATIVE, bytes, 0);
    }
    return bytes;
}

static void count_message(struct ncptl_rank *r, enum ncptl_op op, uint32_t flags, int64_t bytes)
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

static enum nc_did message(struct nc_step *s, enum ncptl_op op, const struct nc_cmsg *m,
                           int64_t peer)
{
    uint32_t flags = attributes(s->e, m, s->ev);

    s->ev->bytes = message_size(s->e, m);
    s->ev->peer = (uint32_t)nc_ev_proc_of(s->e, peer);
    if (s->e->bad)
        return NC_STOP;
    count_message(s->r, op, flags, s->ev->bytes);
    return nc_yield(s, op, flags);
}

static int64_t how_many(struct nc_ev *e, const struct nc_cmsg *m)
{
    return m->count ? nc_value(e, m->count) : 1;
}

/* One side of a statement: who we receive from, or who we send to. */
struct half {
    enum ncptl_op op;
    const struct nc_cmsg *msg;
    bool outer;    /* our task is the outer one */
    int remembers; /* by how many bits its half of the cache word is shifted */
};

/* A remembered first peer: 0 unknown, 1 nobody, else 2 + 2 * peer + (is it alone?) */
enum { UNKNOWN, NONE, SOME };

static int64_t search(struct nc_step *s, const struct half *h, int64_t x)
{
    return h->outer ? next_inner(s, x) : next_outer(s, x);
}

static int64_t next_peer(struct nc_step *s, const struct half *h, int64_t x)
{
    if (!s->in->cache)
        return search(s, h, x);

    uint64_t *word = (uint64_t *)&s->r->slot[s->in->cache - 1];
    uint32_t known = (uint32_t)(*word >> h->remembers);
    if (known == UNKNOWN) {
        int64_t first = search(s, h, 0);
        bool alone = first != NC_NOBODY && search(s, h, first + 1) == NC_NOBODY;

        known = first == NC_NOBODY ? NONE : (uint32_t)(SOME + 2 * first + alone);
        if (s->e->bad)
            return NC_NOBODY;
        *word |= (uint64_t)known << h->remembers;
    }
    if (known == NONE || (x && (known & 1)))
        return NC_NOBODY;
    return x ? search(s, h, x) : (known - SOME) / 2;
}

static enum nc_did walk(struct nc_step *s, const struct half *h)
{
    struct ncptl_rank *r = s->r;

    while (r->left <= 0) {
        int64_t peer = next_peer(s, h, r->cur + 1);

        if (peer == NC_NOBODY || s->e->bad)
            return s->e->bad ? NC_STOP : NC_GO;
        r->cur = peer;
        bind(s->e, s->in->pair, h->outer ? r->task : peer, h->outer ? peer : r->task);
        r->left = how_many(s->e, h->msg);
        if (s->e->bad)
            return NC_STOP;
    }
    bind(s->e, s->in->pair, h->outer ? r->task : r->cur, h->outer ? r->cur : r->task);
    r->left--;
    return message(s, h->op, h->msg, r->cur);
}

static enum nc_did done(struct nc_step *s)
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
            did = walk(s, &(struct half){NCPTL_RECV, s->in->rmsg, false, 32});
            if (did != NC_GO)
                return did;
        }
        s->r->phase = 1;
        s->r->cur = -1;
        s->r->left = 0;
    }
    did = walk(s, &(struct half){NCPTL_SEND, s->in->msg, true, 0});
    return did == NC_GO ? done(s) : did;
}

enum nc_did nc_step_recv(struct nc_step *s)
{
    enum nc_did did = walk(s, &(struct half){NCPTL_RECV, s->in->msg, false, 32});

    return did == NC_GO ? done(s) : did;
}

enum nc_did nc_step_recv_pull(struct nc_step *s)
{
    enum nc_did did = walk(s, &(struct half){NCPTL_RECV, s->in->msg, true, 0});

    return did == NC_GO ? done(s) : did;
}

/* ---- multicasts: every source from which we hear, and ourselves ---- */

static int64_t next_root(struct nc_step *s, int64_t x)
{
    int64_t root = next_outer(s, x), me = s->r->task;

    if (me < x || (root != NC_NOBODY && root <= me) || s->e->bad)
        return root;
    return nc_set_has(s->e, &s->in->pair->outer, NC_NOBODY, me) ? me : root;
}

/* Everyone the root sees, without the root. */
static bool receivers(struct nc_step *s, int64_t root)
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
        int64_t root = next_root(s, r->cur + 1);

        if (s->e->bad)
            return NC_STOP;
        if (root == NC_NOBODY)
            return done(s);
        r->cur = root;
        bind(s->e, s->in->pair, root, r->task);
        r->left = how_many(s->e, s->in->msg);
        if (s->e->bad)
            return NC_STOP;
    }
    r->left--;
    bind(s->e, s->in->pair, r->cur, r->task);
    flags = attributes(s->e, s->in->msg, s->ev);
    s->ev->bytes = message_size(s->e, s->in->msg);
    s->ev->peer = (uint32_t)nc_ev_proc_of(s->e, r->cur);
    if (s->e->bad || !receivers(s, r->cur))
        return NC_STOP;
    return nc_yield(s, NCPTL_MCAST, flags);
}

/* ---- collectives ---- */

static enum nc_did skip(struct nc_step *s)
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

    if (!nc_set_group(s->e, from, NC_NOBODY, sources, &s->r->pin[1]))
        return NC_STOP;
    *targets = *sources;
    if (in->pair && sources->n && !nc_pair_group(s->e, in->pair, targets, &s->r->pin[2]))
        return NC_STOP;
    bool sends = ncptl_group_index(sources, s->r->proc) >= 0;
    bool receives = ncptl_group_index(targets, s->r->proc) >= 0;
    if (!sources->n || !targets->n || (!sends && !receives))
        return skip(s);
    flags = attributes(s->e, !sends && in->rmsg ? in->rmsg : in->msg, s->ev);
    n = how_many(s->e, in->msg);
    if (__builtin_mul_overflow(n > 0 ? n : 0, nc_int(s->e, in->msg->size), &s->ev->bytes))
        nc_ev_fail(s->e, NCF_OVERFLOW, n, 0);
    if (s->e->bad)
        return NC_STOP;
    s->r->pc++;
    return nc_yield(s, NCPTL_REDUCE, flags);
}

enum nc_did nc_step_barrier(struct nc_step *s)
{
    if (!nc_set_has(s->e, s->in->set, NC_NOBODY, s->r->task))
        return skip(s);
    if (s->e->bad || !nc_set_group(s->e, s->in->set, NC_NOBODY, &s->ev->group, &s->r->pin[1]))
        return NC_STOP;
    s->r->pc++;
    return nc_yield(s, NCPTL_BARRIER, 0);
}
