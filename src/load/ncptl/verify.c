/* verify.c -- can all ranks finish, and does everybody get what they wait for?
 *
 * All ranks run against each other without time. Sends never block (they are
 * buffered), receives and collectives do. Messages are not kept, only counted:
 * those of one (sender, receiver, tag, size) are all alike, so the k-th receive is
 * served as soon as k messages were sent.
 *
 * When nobody can go on, whoever still waits is stuck, and asking each for whom it
 * waits leads to a cycle or to a rank that has ended.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ncptl_tool.h"
#include "prog_priv.h"

enum { NOTHING = UINT32_MAX, SHOWN = 4, LONGEST_CYCLE = 8 };

/* Messages that are alike; `cast` tells multicasts from sends. */
struct channel {
    uint32_t from, to;
    int64_t tag, bytes;
    bool cast;
    uint64_t sent, wanted;
    uint32_t sent_by; /* a statement */
};

/* A collective that some of its members have reached. */
struct meeting {
    enum ncptl_op op;
    uint64_t key, key2;
    int64_t bytes;
    uint32_t members, arrived;
    uint32_t first; /* of the ranks that wait here */
};

enum state { READY, RECEIVING, WAITING, MEETING, ENDED };

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
    uint32_t meeting, next;    /* MEETING: and the next rank that waits there */
    WR_VEC(struct want) wants; /* asynchronous receives */
    uint64_t sends, ios;       /* asynchronous, not waited for */
};

struct table {
    uint32_t *at; /* open addressing into a vector */
    uint32_t cap;
};

struct verifier {
    const struct ncptl_prog *p;
    struct vrank *rank;
    WR_VEC(struct channel) channels;
    WR_VEC(struct meeting) meetings;
    struct table channel_table, meeting_table;
    WR_VEC(uint32_t) ready;
    uint64_t ops, most;
    struct ncptl_log *log; /* without what depends on time */
    struct wr_err *err;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15;
    return h ^ h >> 29;
}

/* ---- finding channels and meetings ---- */

static uint64_t channel_hash(const struct channel *c)
{
    uint64_t h = mix(((uint64_t)c->from << 32) | c->to, (uint64_t)c->tag);

    return mix(mix(h, (uint64_t)c->bytes), c->cast);
}

static bool same_channel(const struct channel *a, const struct channel *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag && a->bytes == b->bytes &&
           a->cast == b->cast;
}

static uint64_t meeting_hash(const struct meeting *m)
{
    return mix(mix(mix(m->op, m->key), m->key2), (uint64_t)m->bytes);
}

static bool same_meeting(const struct meeting *a, const struct meeting *b)
{
    return a->op == b->op && a->key == b->key && a->key2 == b->key2 && a->bytes == b->bytes;
}

static void grow_table(struct table *t, size_t n, const struct verifier *v, bool channels)
{
    if (t->cap && (n + 1) * 2 < t->cap)
        return;
    t->cap = t->cap ? t->cap * 2 : 1024;
    free(t->at);
    t->at = wr_alloc(t->cap * sizeof *t->at);
    memset(t->at, 0xff, t->cap * sizeof *t->at);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h = channels ? channel_hash(&v->channels.v[i]) : meeting_hash(&v->meetings.v[i]);
        uint32_t k = (uint32_t)h & (t->cap - 1);

        while (t->at[k] != NOTHING)
            k = (k + 1) & (t->cap - 1);
        t->at[k] = i;
    }
}

static uint32_t channel_for(struct verifier *v, struct channel want)
{
    struct table *t = &v->channel_table;

    grow_table(t, v->channels.n, v, true);
    uint32_t k = (uint32_t)channel_hash(&want) & (t->cap - 1);
    while (t->at[k] != NOTHING && !same_channel(&v->channels.v[t->at[k]], &want))
        k = (k + 1) & (t->cap - 1);
    if (t->at[k] == NOTHING) {
        t->at[k] = (uint32_t)v->channels.n;
        wr_vec_push(&v->channels, want);
    }
    return t->at[k];
}

/* Sources and targets together. */
static uint32_t members(const struct ncptl_event *ev)
{
    const struct ncptl_group *a = &ev->group, *b = &ev->targets;
    uint32_t n = a->n;

    if (ev->op != NCPTL_REDUCE || a->key == b->key)
        return n;
    for (uint32_t i = 0; i < b->n; i++)
        n += ncptl_group_index(a, ncptl_member(b, i)) < 0;
    return n;
}

static uint32_t meeting_for(struct verifier *v, const struct ncptl_event *ev)
{
    struct table *t = &v->meeting_table;
    struct meeting want = {.op = ev->op, .key = ev->group.key, .first = NOTHING};

    if (ev->op == NCPTL_REDUCE) {
        want.key2 = ev->targets.key;
        want.bytes = ev->bytes;
    }
    grow_table(t, v->meetings.n, v, false);
    uint32_t k = (uint32_t)meeting_hash(&want) & (t->cap - 1);
    while (t->at[k] != NOTHING && !same_meeting(&v->meetings.v[t->at[k]], &want))
        k = (k + 1) & (t->cap - 1);
    if (t->at[k] == NOTHING) {
        want.members = members(ev);
        t->at[k] = (uint32_t)v->meetings.n;
        wr_vec_push(&v->meetings, want);
    }
    return t->at[k];
}

/* ---- running ---- */

static void wake(struct verifier *v, uint32_t i)
{
    if (v->rank[i].queued)
        return;
    v->rank[i].queued = true;
    wr_vec_push(&v->ready, i);
}

static bool served(const struct verifier *v, const struct want *w)
{
    return v->channels.v[w->channel].sent > w->ticket;
}

static void sent(struct verifier *v, uint32_t from, uint32_t to, const struct ncptl_event *ev)
{
    uint32_t i = channel_for(v, (struct channel){.from = from,
                                                 .to = to,
                                                 .tag = ev->tag,
                                                 .bytes = ev->bytes,
                                                 .cast = ev->op == NCPTL_MCAST});

    v->channels.v[i].sent++;
    v->channels.v[i].sent_by = ev->stmt;
    if (v->rank[to].state == RECEIVING || v->rank[to].state == WAITING)
        wake(v, to);
}

/* false: it must wait */
static bool receive(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    struct want w = {.channel = channel_for(v, (struct channel){.from = ev->peer,
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
    k->state = served(v, &w) ? READY : RECEIVING;
    return k->state == READY;
}

/* `of`: NCPTL_SENDS | ... */
static bool complete(struct verifier *v, struct vrank *k, uint32_t of)
{
    k->of = of;
    while ((of & NCPTL_RECVS) && k->wants.n && served(v, &k->wants.v[k->wants.n - 1]))
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

static bool meet(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    uint32_t at = meeting_for(v, ev);
    struct meeting *m = &v->meetings.v[at];

    if (++m->arrived < m->members) {
        k->state = MEETING;
        k->meeting = at;
        k->next = m->first;
        m->first = k->r->proc;
        return false;
    }
    for (uint32_t i = m->first, next; i != NOTHING; i = next) {
        next = v->rank[i].next;
        v->rank[i].state = READY;
        wake(v, i);
    }
    m->arrived = 0;
    m->first = NOTHING;
    return true;
}

/* Evaluate what would be printed, so that its mistakes are found too. */
static bool evaluate(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    struct wr_str text = {0};
    bool ok = (ev->flags & NCPTL_F_TIMED) || ncptl_text(v->p, k->r, ev, &text, v->err);

    wr_str_fini(&text);
    return ok;
}

enum go { GO_ON, HOLD, GIVE_UP };

static enum go operation(struct verifier *v, struct vrank *k, const struct ncptl_event *ev)
{
    uint32_t me = k->r->proc;

    k->stmt = ev->stmt;
    switch (ev->op) {
    case NCPTL_SEND:
        k->sends += ev->flags & NCPTL_F_ASYNC ? 1 : 0;
        sent(v, me, ev->peer, ev);
        return GO_ON;
    case NCPTL_RECV:
        return receive(v, k, ev) ? GO_ON : HOLD;
    case NCPTL_WAIT:
        return complete(v, k, ev->of) ? GO_ON : HOLD;
    case NCPTL_MCAST:
        if (ev->peer != me)
            return receive(v, k, ev) ? GO_ON : HOLD;
        k->sends += ev->flags & NCPTL_F_ASYNC ? 1 : 0;
        for (uint32_t i = 0; i < ev->group.n; i++)
            sent(v, me, ncptl_member(&ev->group, i), ev);
        return GO_ON;
    case NCPTL_BARRIER:
    case NCPTL_REDUCE:
        return meet(v, k, ev) ? GO_ON : HOLD;
    case NCPTL_WRITE:
    case NCPTL_READ:
        if ((ev->flags & NCPTL_F_COLL) && !(ev->flags & NCPTL_F_ASYNC))
            return meet(v, k, ev) ? GO_ON : HOLD;
        k->ios += ev->flags & NCPTL_F_ASYNC ? 1 : 0;
        return GO_ON;
    case NCPTL_OUTPUT:
    case NCPTL_BACKEND:
        return evaluate(v, k, ev) ? GO_ON : GIVE_UP;
    case NCPTL_LOG:
    case NCPTL_AGGREGATE:
        return ncptl_log_add(v->log, k->r, ev, v->err) ? GO_ON : GIVE_UP;
    default:
        return GO_ON;
    }
}

/* Until it waits, ends or fails. */
static bool run(struct verifier *v, struct vrank *k)
{
    struct ncptl_event ev;

    if (k->state == RECEIVING && !served(v, &k->want))
        return true;
    if (k->state == WAITING && !complete(v, k, k->of))
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
        switch (operation(v, k, &ev)) {
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

/* ---- telling what is wrong ---- */

struct complaints {
    struct wr_str text;
    uint64_t count; /* of the current kind */
    uint32_t stmt;  /* of the first */
    bool any;
};

static void begin_kind(struct complaints *c)
{
    c->count = 0;
}

/* true when this one is to be written */
static bool another(struct complaints *c, uint32_t stmt)
{
    if (!c->any)
        c->stmt = stmt;
    c->any = true;
    if (c->count++ >= SHOWN)
        return false;
    wr_str_add(&c->text, "\n  ");
    return true;
}

static void end_kind(struct complaints *c, const char *what)
{
    if (c->count > SHOWN)
        wr_str_addf(&c->text, "\n  ... and %" PRIu64 " more %s", c->count - SHOWN, what);
}

static bool is_there(const struct verifier *v, uint32_t meeting, uint32_t rank)
{
    return v->rank[rank].state == MEETING && v->rank[rank].meeting == meeting;
}

/* For whom a rank waits; in a meeting, the first who could still come. */
static uint32_t waits_for(const struct verifier *v, uint32_t i)
{
    const struct vrank *k = &v->rank[i];

    if (k->state == RECEIVING || k->state == WAITING)
        return v->channels.v[k->want.channel].from;
    const struct nc_ins *in = &v->p->code[k->stmt];
    struct nc_ev e;
    for (uint32_t other = 0; other < v->p->n; other++) {
        if (is_there(v, k->meeting, other))
            continue;
        nc_ev_init(&e, v->p, k->r);
        int64_t task = nc_ev_task_of(&e, other);
        if ((in->op == NI_BARRIER || in->op == NI_IO) && nc_set_has(&e, in->set, NC_NOBODY, task))
            return other;
        if (in->op == NI_REDUCE && !in->pair && nc_set_has(&e, in->set, NC_NOBODY, task))
            return other;
        if (in->op == NI_REDUCE && in->pair &&
            (nc_set_has(&e, &in->pair->outer, NC_NOBODY, task) ||
             nc_pair_next(&e, in->pair, task, 0) != NC_NOBODY))
            return other;
        if (in->op != NI_BARRIER && in->op != NI_REDUCE &&
            in->op != NI_IO) /* a loop's synchronization */
            return other;
    }
    return NOTHING;
}

static const char *meets(enum ncptl_op op)
{
    return op == NCPTL_BARRIER  ? "synchronizes"
           : op == NCPTL_REDUCE ? "reduces"
           : op == NCPTL_WRITE  ? "writes with others"
                                : "reads with others";
}

static void add_wait(struct verifier *v, uint32_t i, struct complaints *c)
{
    const struct vrank *k = &v->rank[i];
    char where[32];

    ncptl_where(v->p, k->stmt, where, sizeof where);
    if (k->state == MEETING)
        wr_str_addf(&c->text, "%u (%s at %s)", i, meets(v->meetings.v[k->meeting].op), where);
    else
        wr_str_addf(&c->text, "%u (%s %" PRId64 " bytes at %s)", i,
                    k->state == WAITING ? "awaits" : "receives",
                    v->channels.v[k->want.channel].bytes, where);
}

static void add_cycle(struct verifier *v, uint32_t i, struct complaints *c)
{
    uint32_t first = i;

    if (!another(c, v->rank[i].stmt))
        return;
    wr_str_add(&c->text, "deadlock: ");
    for (uint32_t n = 0; n < LONGEST_CYCLE; n++) {
        add_wait(v, i, c);
        wr_str_add(&c->text, " waits for ");
        i = waits_for(v, i);
        if (i == first)
            break;
    }
    if (i != first)
        wr_str_add(&c->text, "... ");
    wr_str_addf(&c->text, "%u", first);
}

/* Follows everyone's chain of waiting; mark[i] is the round in which i was met. */
static void tell_stuck(struct verifier *v, struct complaints *c)
{
    uint32_t *mark = wr_zalloc(v->p->n, sizeof *mark), n = v->p->n;

    begin_kind(c);
    for (uint32_t start = 0; start < n; start++) {
        uint32_t i = start;

        while (i != NOTHING && v->rank[i].state != ENDED && v->rank[i].state != READY && !mark[i]) {
            mark[i] = start + 1;
            i = waits_for(v, i);
        }
        if (i != NOTHING && mark[i] == start + 1 && v->rank[i].state != ENDED)
            add_cycle(v, i, c);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to =
            v->rank[i].state == ENDED || v->rank[i].state == READY ? NOTHING : waits_for(v, i);

        if (to == NOTHING || v->rank[to].state != ENDED || !another(c, v->rank[i].stmt))
            continue;
        add_wait(v, i, c);
        wr_str_addf(&c->text, " waits for %u, which has ended without doing its part", to);
    }
    end_kind(c, "tasks that wait");
    free(mark);
}

static void tell_unwaited(struct verifier *v, struct complaints *c)
{
    begin_kind(c);
    for (uint32_t i = 0; i < v->p->n; i++) {
        struct vrank *k = &v->rank[i];

        if (k->state != ENDED || !(k->wants.n || k->sends || k->ios) || !another(c, k->stmt))
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
    end_kind(c, "tasks that do not await completion");
}

static void tell_unreceived(struct verifier *v, struct complaints *c)
{
    begin_kind(c);
    for (size_t i = 0; i < v->channels.n; i++) {
        const struct channel *h = &v->channels.v[i];
        char where[32];

        if (h->sent <= h->wanted || !another(c, h->sent_by))
            continue;
        ncptl_where(v->p, h->sent_by, where, sizeof where);
        wr_str_addf(&c->text,
                    "task %u sends %" PRIu64 " message(s) of %" PRId64
                    " bytes to task %u (at %s) that nobody receives",
                    h->from, h->sent - h->wanted, h->bytes, h->to, where);
    }
    end_kind(c, "kinds of messages that nobody receives");
}

static bool judge(struct verifier *v)
{
    struct complaints c = {0};

    tell_stuck(v, &c);
    tell_unwaited(v, &c);
    tell_unreceived(v, &c);
    if (c.any)
        nc_fail(&v->p->src, NC_COMMUNICATION, v->p->code[c.stmt].at, v->err,
                "with %u tasks, not everything that begins also ends:%s", v->p->n,
                wr_str_get(&c.text));
    wr_str_fini(&c.text);
    return !c.any;
}

/* ---- all of it ---- */

static bool run_all(struct verifier *v)
{
    for (uint32_t i = v->p->n; i-- > 0;)
        wake(v, i);
    while (v->ready.n) {
        struct vrank *k = &v->rank[v->ready.v[--v->ready.n]];

        k->queued = false;
        if (k->state != ENDED && k->state != MEETING && !run(v, k))
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

    v.rank = wr_zalloc(p->n, sizeof *v.rank);
    v.log = ncptl_log_new(p, false);
    for (uint32_t i = 0; i < p->n; i++) {
        v.rank[i].r = (struct ncptl_rank *)(ranks + i * size);
        ncptl_rank_init(p, v.rank[i].r, i);
    }
    bool ok = run_all(&v), done = !most || v.ops < most;
    if (ok && done)
        ok = judge(&v) && ncptl_log_finish(v.log, err);
    for (uint32_t i = 0; i < p->n; i++) {
        wr_vec_fini(&v.rank[i].wants);
        ncptl_rank_fini(p, v.rank[i].r);
    }
    wr_vec_fini(&v.channels);
    wr_vec_fini(&v.meetings);
    wr_vec_fini(&v.ready);
    ncptl_log_free(v.log);
    free(v.channel_table.at);
    free(v.meeting_table.at);
    free(v.rank);
    free(ranks);
    if (ok)
        *ret_complete = done;
    return ok;
}
