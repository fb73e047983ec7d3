/* verify.c -- checks that all ranks of a program can finish, without simulating time.
 *
 * All ranks run against each other. Sends never block (they are buffered), receives and collectives
 * do. Messages are not stored, only counted: those of one (sender, receiver, tag, size) are all
 * alike, so the k-th receive is served as soon as k messages were sent.
 *
 * When no rank can run, each rank that still waits is stuck. Following from each the rank that it
 * waits for leads to a cycle (a deadlock) or to a rank that has ended.
 *
 * Invariants: a rank is in `ready` iff `queued`; a rank is on the list of a collective iff its
 * state is IN_COLL; `arrived` counts that list.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "ncptl_tool.h"
#include "prog_priv.h"

enum { NOTHING = UINT32_MAX, SHOWN = 4, LONGEST_CYCLE = 8 };

/* Messages that are alike; `cast` distinguishes multicasts from sends. */
struct channel {
    uint32_t from, to;
    int64_t tag, bytes;
    bool cast;
    uint64_t sent, wanted;
    uint32_t sent_by; /* a statement */
};

/* A collective instance that some of its members have reached. */
struct coll {
    enum ncptl_op op;
    uint64_t key, key2;
    int64_t bytes;
    uint32_t members, arrived;
    uint32_t first; /* of the ranks that wait here */
};

enum state { READY, RECEIVING, WAITING, IN_COLL, ENDED };

struct want {
    uint32_t channel;
    uint64_t ticket; /* served when channel->sent > ticket */
};

struct vrank {
    struct ncptl_rank *r;
    enum state state;
    bool queued;
    uint32_t stmt; /* where it waits */
    uint32_t of;   /* WAITING: for what */
    struct want want;
    uint32_t coll, next;       /* IN_COLL: which, and the next rank on its list */
    WR_VEC(struct want) wants; /* asynchronous receives */
    uint64_t sends, ios;       /* asynchronous, not waited for */
};

struct verifier {
    const struct ncptl_prog *p;
    struct vrank *rank;
    WR_VEC(struct channel) channels;
    WR_VEC(struct coll) colls;
    struct wr_map channel_of, coll_of; /* into `channels`, `colls` */
    WR_VEC(uint32_t) ready;
    uint64_t ops, most;
    struct ncptl_log *log; /* without what depends on time */
    struct wr_err *err;
};

/* ---- finding channels and collective instances ---- */

static uint64_t verify_channel_hash(const struct channel *c)
{
    uint64_t h = wr_hash_u64(WR_HASH_INIT, (uint64_t)c->from << 32 | c->to);

    return wr_hash_u64(wr_hash_u64(wr_hash_u64(h, (uint64_t)c->tag), (uint64_t)c->bytes), c->cast);
}

static uint64_t verify_coll_hash(const struct coll *m)
{
    uint64_t h = wr_hash_u64(WR_HASH_INIT, m->op);

    return wr_hash_u64(wr_hash_u64(wr_hash_u64(h, m->key), m->key2), (uint64_t)m->bytes);
}

/* What is looked for: one of the two. */
struct verify_wanted {
    const struct verifier *v;
    const struct channel *channel;
    const struct coll *coll;
};

static bool verify_same_channel(const void *ctx, uint64_t index)
{
    const struct verify_wanted *want = ctx;
    const struct channel *a = &want->v->channels.v[index], *b = want->channel;

    return a->from == b->from && a->to == b->to && a->tag == b->tag && a->bytes == b->bytes &&
           a->cast == b->cast;
}

static bool verify_same_coll(const void *ctx, uint64_t index)
{
    const struct verify_wanted *want = ctx;
    const struct coll *a = &want->v->colls.v[index], *b = want->coll;

    return a->op == b->op && a->key == b->key && a->key2 == b->key2 && a->bytes == b->bytes;
}

static uint32_t verify_find_channel(struct verifier *v, struct channel channel)
{
    struct verify_wanted want = {v, .channel = &channel};
    uint64_t hash = verify_channel_hash(&channel);
    uint64_t known = wr_map_find(&v->channel_of, hash, verify_same_channel, &want);

    if (known != WR_MAP_NONE)
        return (uint32_t)known;
    wr_map_add(&v->channel_of, hash, v->channels.n);
    wr_vec_push(&v->channels, channel);
    return (uint32_t)v->channels.n - 1;
}

/* Sources and targets together. */
static uint32_t verify_coll_members(const struct ncptl_event *ev)
{
    const struct ncptl_group *a = &ev->group, *b = &ev->targets;
    uint32_t n = a->n;

    if (ev->op != NCPTL_REDUCE || a->key == b->key)
        return n;
    for (uint32_t i = 0; i < b->n; i++)
        n += ncptl_group_index(a, ncptl_member(b, i)) < 0;
    return n;
}

static uint32_t verify_find_coll(struct verifier *v, const struct ncptl_event *ev)
{
    struct coll coll = {.op = ev->op, .key = ev->group.key, .first = NOTHING};

    if (ev->op == NCPTL_REDUCE) {
        coll.key2 = ev->targets.key;
        coll.bytes = ev->bytes;
    }
    struct verify_wanted want = {v, .coll = &coll};
    uint64_t hash = verify_coll_hash(&coll);
    uint64_t known = wr_map_find(&v->coll_of, hash, verify_same_coll, &want);

    if (known != WR_MAP_NONE)
        return (uint32_t)known;
    coll.members = verify_coll_members(ev);
    wr_map_add(&v->coll_of, hash, v->colls.n);
    wr_vec_push(&v->colls, coll);
    return (uint32_t)v->colls.n - 1;
}

/* ---- running ---- */

static void verify_wake(struct verifier *v, uint32_t i)
{
    assert(i < v->p->n);
    if (v->rank[i].queued)
        return;
    v->rank[i].queued = true;
    wr_vec_push(&v->ready, i);
}

static bool verify_is_served(const struct verifier *v, const struct want *w)
{
    return v->channels.v[w->channel].sent > w->ticket;
}

static void verify_send(struct verifier *v, uint32_t from, uint32_t to,
                        const struct ncptl_event *ev)
{
    uint32_t i = verify_find_channel(v, (struct channel){.from = from,
                                                         .to = to,
                                                         .tag = ev->tag,
                                                         .bytes = ev->bytes,
                                                         .cast = ev->op == NCPTL_MCAST});

    assert(from < v->p->n && to < v->p->n);
    v->channels.v[i].sent++;
    v->channels.v[i].sent_by = ev->stmt;
    if (v->rank[to].state == RECEIVING || v->rank[to].state == WAITING)
        verify_wake(v, to);
}

/* false: it must wait */
static bool verify_receive(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    struct want w = {.channel =
                         verify_find_channel(v, (struct channel){.from = ev->peer,
                                                                 .to = k->r->proc,
                                                                 .tag = ev->tag,
                                                                 .bytes = ev->bytes,
                                                                 .cast = ev->op == NCPTL_MCAST})};

    w.ticket = v->channels.v[w.channel].wanted++;
    if (ev->flags & NCPTL_F_ASYNC) {
        wr_vec_push(&k->wants, w);
        return true;
    }
    k->want = w;
    k->state = verify_is_served(v, &w) ? READY : RECEIVING;
    return k->state == READY;
}

/* `of`: NCPTL_SENDS | ... */
static bool verify_complete(struct verifier *v, struct vrank *k, uint32_t of)
{
    k->of = of;
    while ((of & NCPTL_RECVS) && k->wants.n && verify_is_served(v, &k->wants.v[k->wants.n - 1]))
        k->wants.n--;
    if ((of & NCPTL_RECVS) && k->wants.n) {
        k->want = k->wants.v[k->wants.n - 1];
        k->state = WAITING;
        return false;
    }
    k->sends = of & NCPTL_SENDS ? 0 : k->sends;
    k->ios = of & NCPTL_IOS ? 0 : k->ios;
    k->state = READY;
    return true;
}

static bool verify_join_coll(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    uint32_t at = verify_find_coll(v, ev);
    struct coll *m = &v->colls.v[at];

    assert(m->arrived < m->members);
    if (++m->arrived < m->members) {
        k->state = IN_COLL;
        k->coll = at;
        k->next = m->first;
        m->first = k->r->proc;
        return false;
    }
    for (uint32_t i = m->first, next; i != NOTHING; i = next) {
        next = v->rank[i].next;
        v->rank[i].state = READY;
        verify_wake(v, i);
    }
    m->arrived = 0;
    m->first = NOTHING;
    return true;
}

/* Evaluates the text that would be printed, so that its errors are found too. */
static bool verify_evaluate_text(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    struct wr_str text = {0};
    bool ok = (ev->flags & NCPTL_F_TIMED) || ncptl_text(v->p, k->r, ev, &text, v->err);

    wr_str_fini(&text);
    return ok;
}

enum go { GO_ON, HOLD, GIVE_UP };

static enum go verify_operation(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    uint32_t me = k->r->proc;

    k->stmt = ev->stmt;
    switch (ev->op) {
    case NCPTL_SEND:
        k->sends += ev->flags & NCPTL_F_ASYNC ? 1 : 0;
        verify_send(v, me, ev->peer, ev);
        return GO_ON;
    case NCPTL_RECV:
        return verify_receive(v, k, ev) ? GO_ON : HOLD;
    case NCPTL_WAIT:
        return verify_complete(v, k, ev->of) ? GO_ON : HOLD;
    case NCPTL_MCAST:
        if (ev->peer != me)
            return verify_receive(v, k, ev) ? GO_ON : HOLD;
        k->sends += ev->flags & NCPTL_F_ASYNC ? 1 : 0;
        for (uint32_t i = 0; i < ev->group.n; i++)
            verify_send(v, me, ncptl_member(&ev->group, i), ev);
        return GO_ON;
    case NCPTL_BARRIER:
    case NCPTL_REDUCE:
        return verify_join_coll(v, k, ev) ? GO_ON : HOLD;
    case NCPTL_WRITE:
    case NCPTL_READ:
        if ((ev->flags & NCPTL_F_COLL) && !(ev->flags & NCPTL_F_ASYNC))
            return verify_join_coll(v, k, ev) ? GO_ON : HOLD;
        k->ios += ev->flags & NCPTL_F_ASYNC ? 1 : 0;
        return GO_ON;
    case NCPTL_OUTPUT:
    case NCPTL_BACKEND:
        return verify_evaluate_text(v, k, ev) ? GO_ON : GIVE_UP;
    case NCPTL_LOG:
    case NCPTL_AGGREGATE:
        return ncptl_log_add(v->log, k->r, ev, v->err) ? GO_ON : GIVE_UP;
    default:
        return GO_ON;
    }
}

/* Until it waits, ends or fails. */
static bool verify_run_rank(struct verifier *v, struct vrank *k)
{
    struct ncptl_event ev;

    if (k->state == RECEIVING && !verify_is_served(v, &k->want))
        return true;
    if (k->state == WAITING && !verify_complete(v, k, k->of))
        return true;
    k->state = READY;
    while (!v->most || v->ops < v->most) {
        enum ncptl_op op = ncptl_next(v->p, k->r, &ev);

        v->ops++;
        if (op == NCPTL_FAIL)
            return ncptl_fault(v->p, k->r, v->err);
        if (op == NCPTL_END) {
            k->state = ENDED;
            return true;
        }
        switch (verify_operation(v, k, &ev)) {
        case GO_ON:
            break;
        case HOLD:
            return true;
        case GIVE_UP:
            return false;
        }
    }
    return true;
}

/* ---- reports ---- */

struct findings {
    struct wr_str text;
    uint64_t count; /* of the current kind */
    uint32_t stmt;  /* of the first */
    bool any;
};

static void verify_begin_kind(struct findings *c)
{
    c->count = 0;
}

/* true when this one is to be written */
static bool verify_add_finding(struct findings *c, uint32_t stmt)
{
    if (!c->any)
        c->stmt = stmt;
    c->any = true;
    if (c->count++ >= SHOWN)
        return false;
    wr_str_add(&c->text, "\n  ");
    return true;
}

static void verify_end_kind(struct findings *c, const char *what)
{
    if (c->count > SHOWN)
        wr_str_addf(&c->text, "\n  ... and %" PRIu64 " more %s", c->count - SHOWN, what);
}

static bool verify_has_joined(const struct verifier *v, uint32_t coll, uint32_t rank)
{
    return v->rank[rank].state == IN_COLL && v->rank[rank].coll == coll;
}

/* The rank that a rank waits for; in a collective, the first member that has not reached it. */
static uint32_t verify_waits_for(const struct verifier *v, uint32_t i)
{
    const struct vrank *k = &v->rank[i];

    if (k->state == RECEIVING || k->state == WAITING)
        return v->channels.v[k->want.channel].from;
    const struct nc_ins *in = &v->p->code[k->stmt];
    struct nc_ev e;
    for (uint32_t other = 0; other < v->p->n; other++) {
        if (verify_has_joined(v, k->coll, other))
            continue;
        nc_ev_init(&e, v->p, k->r);
        int64_t task = nc_ev_task_of(&e, other);
        if ((in->op == NI_BARRIER || in->op == NI_IO) && nc_set_has(&e, in->set, NC_NO_TASK, task))
            return other;
        if (in->op == NI_REDUCE && !in->pair && nc_set_has(&e, in->set, NC_NO_TASK, task))
            return other;
        if (in->op == NI_REDUCE && in->pair &&
            (nc_set_has(&e, &in->pair->outer, NC_NO_TASK, task) ||
             nc_pair_next(&e, in->pair, task, 0) != NC_NO_TASK))
            return other;
        if (in->op != NI_BARRIER && in->op != NI_REDUCE &&
            in->op != NI_IO) /* a loop's synchronization */
            return other;
    }
    return NOTHING;
}

static const char *verify_coll_verb(enum ncptl_op op)
{
    assert(op == NCPTL_BARRIER || op == NCPTL_REDUCE || op == NCPTL_WRITE || op == NCPTL_READ);
    return op == NCPTL_BARRIER  ? "synchronizes"
           : op == NCPTL_REDUCE ? "reduces"
           : op == NCPTL_WRITE  ? "writes with others"
                                : "reads with others";
}

static void verify_add_wait(struct verifier *v, uint32_t i, struct findings *c)
{
    const struct vrank *k = &v->rank[i];
    char where[32];

    ncptl_where(v->p, k->stmt, where, sizeof where);
    if (k->state == IN_COLL)
        wr_str_addf(&c->text, "%u (%s at %s)", i, verify_coll_verb(v->colls.v[k->coll].op), where);
    else
        wr_str_addf(&c->text, "%u (%s %" PRId64 " bytes at %s)", i,
                    k->state == WAITING ? "awaits" : "receives",
                    v->channels.v[k->want.channel].bytes, where);
}

static void verify_add_cycle(struct verifier *v, uint32_t i, struct findings *c)
{
    uint32_t first = i;

    if (!verify_add_finding(c, v->rank[i].stmt))
        return;
    wr_str_add(&c->text, "deadlock: ");
    for (uint32_t n = 0; n < LONGEST_CYCLE; n++) {
        verify_add_wait(v, i, c);
        wr_str_add(&c->text, " waits for ");
        i = verify_waits_for(v, i);
        if (i == first)
            break;
    }
    if (i != first)
        wr_str_add(&c->text, "... ");
    wr_str_addf(&c->text, "%u", first);
}

/* Follows from each rank the chain of ranks that wait; mark[i] is the round that reached i. */
static void verify_report_stuck(struct verifier *v, struct findings *c)
{
    uint32_t *mark = wr_zalloc(v->p->n, sizeof *mark), n = v->p->n;

    verify_begin_kind(c);
    for (uint32_t start = 0; start < n; start++) {
        uint32_t i = start;

        while (i != NOTHING && v->rank[i].state != ENDED && v->rank[i].state != READY && !mark[i]) {
            mark[i] = start + 1;
            i = verify_waits_for(v, i);
        }
        if (i != NOTHING && mark[i] == start + 1 && v->rank[i].state != ENDED)
            verify_add_cycle(v, i, c);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = v->rank[i].state == ENDED || v->rank[i].state == READY
                          ? NOTHING
                          : verify_waits_for(v, i);

        if (to == NOTHING || v->rank[to].state != ENDED || !verify_add_finding(c, v->rank[i].stmt))
            continue;
        verify_add_wait(v, i, c);
        wr_str_addf(&c->text, " waits for %u, which has ended without doing its part", to);
    }
    verify_end_kind(c, "tasks that wait");
    free(mark);
}

static void verify_report_unwaited(struct verifier *v, struct findings *c)
{
    verify_begin_kind(c);
    for (uint32_t i = 0; i < v->p->n; i++) {
        struct vrank *k = &v->rank[i];

        if (k->state != ENDED || !(k->wants.n || k->sends || k->ios) ||
            !verify_add_finding(c, k->stmt))
            continue;
        wr_str_addf(&c->text, "task %u never awaits completion of", i);
        if (k->sends)
            wr_str_addf(&c->text, " %" PRIu64 " asynchronous send(s)", k->sends);
        if (k->wants.n)
            wr_str_addf(&c->text, "%s %zu asynchronous receive(s)", k->sends ? " and" : "",
                        k->wants.n);
        if (k->ios)
            wr_str_addf(&c->text, "%s %" PRIu64 " asynchronous access(es) to files",
                        k->sends || k->wants.n ? " and" : "", k->ios);
    }
    verify_end_kind(c, "tasks that do not await completion");
}

static void verify_report_unreceived(struct verifier *v, struct findings *c)
{
    verify_begin_kind(c);
    for (size_t i = 0; i < v->channels.n; i++) {
        const struct channel *h = &v->channels.v[i];
        char where[32];

        if (h->sent <= h->wanted || !verify_add_finding(c, h->sent_by))
            continue;
        ncptl_where(v->p, h->sent_by, where, sizeof where);
        wr_str_addf(&c->text,
                    "task %u sends %" PRIu64 " message(s) of %" PRId64
                    " bytes to task %u (at %s) that no task receives",
                    h->from, h->sent - h->wanted, h->bytes, h->to, where);
    }
    verify_end_kind(c, "kinds of messages that no task receives");
}

static bool verify_report(struct verifier *v)
{
    struct findings c = {0};

    verify_report_stuck(v, &c);
    verify_report_unwaited(v, &c);
    verify_report_unreceived(v, &c);
    if (c.any)
        nc_fail(&v->p->src, NC_COMMUNICATION, v->p->code[c.stmt].at, v->err,
                "with %u tasks, not everything that begins also ends:%s", v->p->n,
                wr_str_get(&c.text));
    wr_str_fini(&c.text);
    return !c.any;
}

/* ---- all of it ---- */

static bool verify_run_ranks(struct verifier *v)
{
    for (uint32_t i = v->p->n; i-- > 0;)
        verify_wake(v, i);
    while (v->ready.n) {
        struct vrank *k = &v->rank[v->ready.v[--v->ready.n]];

        k->queued = false;
        if (k->state != ENDED && k->state != IN_COLL && !verify_run_rank(v, k))
            return false;
        if (v->most && v->ops >= v->most)
            return true;
    }
    return true;
}

bool ncptl_verify(const struct ncptl_prog *p, uint64_t most, bool *ret_complete, struct wr_err *err)
{
    struct verifier v = {.p = p, .most = most, .err = err};
    size_t size = ncptl_rank_size(p);
    char *ranks = wr_alloc(size * p->n);

    assert(p->n && ret_complete);
    v.rank = wr_zalloc(p->n, sizeof *v.rank);
    v.log = ncptl_log_new(p, false);
    for (uint32_t i = 0; i < p->n; i++) {
        v.rank[i].r = (struct ncptl_rank *)(ranks + i * size);
        ncptl_rank_init(p, v.rank[i].r, i);
    }
    bool ok = verify_run_ranks(&v), done = !most || v.ops < most;
    if (ok && done)
        ok = verify_report(&v) && ncptl_log_finish(v.log, err);
    for (uint32_t i = 0; i < p->n; i++) {
        wr_vec_fini(&v.rank[i].wants);
        ncptl_rank_fini(p, v.rank[i].r);
    }
    wr_vec_fini(&v.channels);
    wr_vec_fini(&v.colls);
    wr_vec_fini(&v.ready);
    ncptl_log_free(v.log);
    wr_map_fini(&v.channel_of);
    wr_map_fini(&v.coll_of);
    free(v.rank);
    free(ranks);
    if (ok)
        *ret_complete = done;
    return ok;
}
