/* engine.c -- nodes take activities from their queues and walk them through their states. */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

enum { MOST_STATES = 1 << 20 };

/* --- what is on its way ------------------------------------------------------------- */

uint32_t stack_work(struct stack_engine *e, struct work w)
{
    uint32_t h = wr_pool_take(&e->works);

    w.next = WR_NIL;
    w.node = act_at(e, w.act)->node;
    w.op = act_at(e, w.act)->op;
    *(struct work *)wr_pool_at(&e->works, h) = w;
    return h;
}

void stack_put(struct stack_engine *e, uint64_t t, struct work w)
{
    uint32_t node = act_at(e, w.act)->node;

    sim_at(&e->sim, t, node, sim_lane(KIND_ARRIVE, 0), e->seq++, stack_work(e, w), 0);
}

void stack_post(struct stack_engine *e, uint64_t t, uint32_t act, uint32_t i, uint16_t phase,
                int64_t status, uint32_t peer)
{
    stack_put(e, t,
              (struct work){.act = act, .peer = peer, .i = i, .phase = phase, .status = status});
}

/* A message stands behind the data that a link has already taken. */
static double queue(const struct stack_engine *e, uint32_t from)
{
    const struct node *n = &e->node[e->laws->medium == STACK_SHARED ? e->medium : from];

    return n->data[0] || n->data[1] ? e->laws->queue_ns[n->data[1] > n->data[0]] : 0;
}

static uint64_t travel(const struct stack_engine *e, uint32_t from, uint64_t bytes)
{
    double ns = e->laws->latency_ns + (double)(bytes + e->fs->header_b) * e->laws->ns_per_b;

    return stack_ns(e->laws->queues ? ns + queue(e, from) : ns);
}

/* --- activities --------------------------------------------------------------------- */

uint32_t stack_begin(struct stack_engine *e, uint32_t node, uint16_t machine, uint64_t t)
{
    uint32_t h = wr_pool_take(&e->acts);
    struct act *a = act_at(e, h);
    uint32_t gen = a->gen;

    *a = (struct act){
        .t_begin = t,
        .node = node,
        .parent = WR_NIL,
        .asker = WR_NIL,
        .by = UINT32_MAX,
        .state = e->fs->machine.v[machine].first,
        .message = STACK_NONE,
        .prepared = STACK_NONE,
        .serving = STACK_NONE,
        .machine = machine,
        .named = STACK_NONE,
        .side = node >= e->clients,
        .open = 1,
        .gen = gen,
        .op = e->ops++,
    };
    a->var[STACK_VAR_ID] = node;
    e->counts.begun++;
    return h;
}

/* 0 it reads data, 1 it writes them, 2 neither. */
static uint8_t moves(const struct stack_engine *e, const struct act *a)
{
    const struct stack_machine *m =
        &e->fs->machine.v[a->named == STACK_NONE ? a->machine : a->named];
    int64_t op = a->var[STACK_VAR_OPERATION];

    return !m->moves || (op != STACK_OP_READ && op != STACK_OP_WRITE) ? 2 : op == STACK_OP_WRITE;
}

static struct stack_activity activity(const struct stack_engine *e, const struct act *a, uint64_t t)
{
    return (struct stack_activity){
        .node = a->node,
        .seq = a->seq,
        .file = a->file,
        .parent = a->parent != WR_NIL  ? act_at(e, a->parent)->op
                  : a->asker != WR_NIL ? a->asker_op
                                       : a->by,
        .machine = a->named == STACK_NONE ? a->machine : a->named,
        .root = a->machine,
        .writes = moves(e, a),
        .t_ns = a->t_begin,
        .end_ns = t,
    };
}

void stack_tell_begin(struct stack_engine *e, struct act *a)
{
    if (e->hooks.begin) {
        struct stack_activity what = activity(e, a, a->t_begin);

        e->hooks.begin(e->hooks.ctx, a->op, &what);
    }
}

void stack_visited(struct stack_engine *e, struct act *a, uint16_t state, uint64_t t_enter,
                   uint64_t exec, uint64_t wait, int64_t code, enum stack_action action)
{
    struct stack_sum *sum = &e->counts.state[a->side][state];
    const struct stack_machine *m = &e->fs->machine.v[e->fs->state.v[state].machine];

    for (int i = 0; i < 2; i++, sum = &e->counts.io[a->var[STACK_VAR_WRITES] != 0][state]) {
        sum->n++;
        sum->exec_ns += exec;
        sum->wait_ns += e->fs->state.v[state].does == STACK_SLEEP ? 0 : wait;
    }
    if (a->named == STACK_NONE && a->side && !m->common)
        a->named = e->fs->state.v[state].machine;
    if (e->hooks.visit)
        e->hooks.visit(e->hooks.ctx, &(struct stack_visit){.node = a->node,
                                                           .op = a->op,
                                                           .state = state,
                                                           .action = (uint8_t)action,
                                                           .writes = moves(e, a),
                                                           .tag = a->tag,
                                                           .code = code,
                                                           .t_ns = t_enter,
                                                           .exec_ns = exec,
                                                           .wait_ns = wait});
}

static bool writing(const struct act *a)
{
    return a->var[STACK_VAR_WRITES] != 0;
}

/* What times depend on: the bytes that a request or an operation moves, or those of the file. */
static double extent(const struct stack_engine *e, const struct act *a)
{
    int64_t op = a->var[STACK_VAR_OPERATION], part = a->var[STACK_VAR_LENGTH];

    if (part > 0)
        return (double)part;
    return op == STACK_OP_READ || op == STACK_OP_WRITE ? (double)a->var[STACK_VAR_BYTES]
                                                       : (double)e->file[a->file].size;
}

static uint64_t law_at(const struct stack_engine *e, const struct act *a, const struct stack_law *l,
                       double x_b)
{
    if (!l->given)
        return 0;
    uint64_t ns = stack_law_ns(l, x_b, (double)e->setup.all_b);
    double stretch = a->side ? e->laws->stretch[a->machine] : 0;

    return stretch > 0 ? stack_ns(stretch * (double)ns) : ns;
}

uint64_t stack_exec_of(const struct stack_engine *e, const struct act *a, size_t at)
{
    return law_at(e, a, &e->laws->exec[writing(a)][at], extent(e, a));
}

/* How long the state waits that it is in, and is about to leave with its code. Of a data file: as
 * the one where the law was measured, which held a part of the file. */
static uint64_t wait_of(const struct stack_engine *e, const struct act *a)
{
    const struct stack_state *s = &e->fs->state.v[a->state];
    const struct object *f = &e->file[a->file];
    double parts = f->stuffed ? 1 : e->dfiles;

    if (!s->has_data_code)
        return law_at(e, a, &e->laws->wait[writing(a)][a->state], extent(e, a));
    if (a->code != s->data_code)
        return law_at(e, a, &e->laws->wait[0][a->state], 0);
    return law_at(e, a, &e->laws->wait[1][a->state], (double)f->size / parts * e->laws->servers);
}

static void steps(struct stack_engine *e, struct act *a, uint32_t first, uint32_t n, uint64_t t)
{
    for (uint32_t i = 0; i < n; i++)
        act_eval(e, a, e->fs->step.v[first + i], t);
}

/* --- sending ------------------------------------------------------------------------ */

static bool connect(struct stack_engine *e, uint32_t client, uint32_t server)
{
    if (client >= e->clients || server >= e->servers || !e->connected)
        return true;
    size_t bit = (size_t)client * e->servers + server;
    bool was = e->connected[bit / 64] >> bit % 64 & 1;

    e->connected[bit / 64] |= 1ull << bit % 64;
    /* The configuration's server is connected to before anything is sent. */
    return was || !server;
}

static void tell_message(struct stack_engine *e, const struct act *a, uint32_t to, uint16_t message,
                         bool answer, uint64_t bytes, uint64_t t)
{
    struct stack_traffic *k = &e->counts.message[message];

    *(answer ? &k->answers : &k->requests) += 1;
    *(answer ? &k->answer_b : &k->request_b) += bytes;
    if (e->hooks.message)
        e->hooks.message(e->hooks.ctx, &(struct stack_sent){.from = a->node,
                                                            .to = to,
                                                            .op = a->op,
                                                            .message = message,
                                                            .answer = answer,
                                                            .bytes = bytes,
                                                            .t_ns = t});
}

static void send_one(struct stack_engine *e, struct act *a, const struct stack_state *how,
                     uint32_t i, uint64_t t)
{
    const struct stack_fs *fs = e->fs;
    const struct stack_message *m = &fs->message.v[a->message];
    int64_t to = 0;

    a->var[STACK_VAR_I] = i;
    to = act_eval(e, a, how->to, t);
    uint32_t most = m->down ? e->clients : e->servers;
    uint32_t peer = to < 0 || to >= most ? 0 : (uint32_t)to;
    uint32_t h =
        stack_begin(e, m->down ? peer : e->clients + peer, m->down ? m->serves : fs->serves, t);
    struct act *r = act_at(e, h);
    uint32_t me = act_handle(e, a);

    memcpy(r->var, a->var, sizeof r->var);
    r->var[STACK_VAR_ID] = r->node;
    r->var[STACK_VAR_STATUS] = 0;
    r->file = a->file;
    r->stuffed = a->stuffed;
    r->asker = me;
    r->asker_i = i;
    r->asker_node = a->node;
    r->asker_op = a->op;
    r->t_sent = t;
    r->serving = a->message;
    steps(e, r, how->pass, how->npass, t);
    int64_t bytes = act_eval(e, r, m->request, t);
    uint64_t len = bytes > 0 ? (uint64_t)bytes : 0;

    tell_message(e, a, r->node, a->message, false, len, t);
    if (!m->down && !connect(e, a->node, peer)) {
        a->left++;
        stack_post(e, t + stack_ns(e->laws->latency_ns), me, i, PHASE_SENT, 0, WR_NIL);
        t += 2 * stack_ns(e->laws->latency_ns);
    }
    a->left++;
    stack_deliver(e, a->node, r->node, len, t, t + travel(e, a->node, len),
                  (struct work){.act = h, .phase = PHASE_BEGIN, .peer = WR_NIL});
}

static void send_all(struct stack_engine *e, struct act *a, const struct stack_state *s, uint64_t t,
                     uint64_t exec)
{
    if (a->prepared == STACK_NONE)
        return;
    const struct stack_state *how = &e->fs->state.v[a->prepared];
    int64_t n = a->var[STACK_VAR_COUNT];
    uint64_t lost = s->resends && a->lost ? a->lost : UINT64_MAX;

    a->lost = 0;
    for (int64_t i = 0; i < n; i++)
        if (lost >> i % 64 & 1)
            send_one(e, a, how, (uint32_t)i, t + exec * (uint64_t)(i + 1) / (uint64_t)n);
}

/* How many times longer answers take: what a request begins on its node waits for others as the
 * request does. */
static double patience(const struct stack_engine *e, const struct act *a)
{
    double by = e->laws->stretch[a->machine];

    while (!(by > 0) && a->parent != WR_NIL) {
        a = act_at(e, a->parent);
        by = e->laws->stretch[a->machine];
    }
    return by;
}

static void reply(struct stack_engine *e, struct act *a, const struct stack_state *s, uint64_t t)
{
    int64_t bytes = s->has_bytes ? act_eval(e, a, s->bytes, t)
                                 : act_eval(e, a, e->fs->message.v[a->serving].response, t);

    if (bytes < 0 || !stack_asker(e, a))
        return;
    uint64_t there = t + travel(e, a->node, (uint64_t)bytes);
    const struct act *who = act_at(e, a->asker);
    double stretch = patience(e, who);

    if (stretch > 0) {
        uint64_t later = a->t_sent + stack_ns(stretch * (double)(there - a->t_sent));

        there = later > t ? later : t + 1;
    }
    tell_message(e, a, a->asker_node, a->serving, true, (uint64_t)bytes, t);
    stack_deliver(e, a->node, a->asker_node, (uint64_t)bytes, t, there,
                  (struct work){.act = a->asker,
                                .i = a->asker_i,
                                .phase = s->phase,
                                .shows = a->shows,
                                .stuffed = a->stuffed,
                                .status = a->var[STACK_VAR_STATUS],
                                .peer = act_handle(e, a)});
}

/* --- the walk ----------------------------------------------------------------------- */

/* Makes ready what a later state sends. */
static void prepare(struct stack_engine *e, struct act *a, uint16_t state,
                    const struct stack_state *s, uint64_t t)
{
    if (s->message == STACK_NONE)
        return;
    bool other = s->instead != STACK_NONE && act_eval(e, a, s->swap, t);

    a->message = other ? s->instead : s->message;
    a->prepared = state;
    a->lost = 0;
    a->var[STACK_VAR_STATUS] = 0;
    a->var[STACK_VAR_ANSWER] = 0;
    int64_t n = act_eval(e, a, s->count, t);

    int64_t most = e->fs->message.v[a->message].down ? e->clients : 4 * (int64_t)e->servers;

    a->var[STACK_VAR_COUNT] = n < 0 ? 0 : n > most ? most : n;
}

uint16_t stack_next_of(const struct stack_fs *fs, const struct stack_state *s, int64_t code)
{
    const struct stack_next *n = fs->next.v + s->next;
    uint16_t to = STACK_TERMINATE;

    for (uint32_t i = 0; i < s->nnext; i++) {
        if (!n[i].any && n[i].code == code)
            return n[i].to;
        if (n[i].any)
            to = n[i].to;
    }
    return to;
}

/* Where a code leads, through returns; STACK_TERMINATE: the activity is over. */
static uint16_t follow(struct stack_engine *e, struct act *a, uint16_t state, int64_t code)
{
    uint16_t to = stack_next_of(e->fs, &e->fs->state.v[state], code);

    a->var[STACK_VAR_COD] = code;
    while (to == STACK_RETURN && a->depth)
        to = stack_next_of(e->fs, &e->fs->state.v[a->frame[--a->depth]], code);
    return to == STACK_RETURN ? STACK_TERMINATE : to;
}

/* Into nested machines until a state does something itself. */
static void dive(struct stack_engine *e, struct act *a, uint64_t t)
{
    const struct stack_state *s = &e->fs->state.v[a->state];

    while (s->does == STACK_JUMP_TO) {
        steps(e, a, s->set, s->nset, t);
        a->frame[a->depth++] = a->state;
        a->state = e->fs->machine.v[s->target].first;
        s = &e->fs->state.v[a->state];
    }
}

/* Is this the visit that is to fail? */
static bool faulty(struct stack_engine *e)
{
    uint64_t n = e->faults++;

    return n >= e->setup.fault.first && n - e->setup.fault.first < e->setup.fault.times;
}

/* Leaves `state` with `code`; false: the activity has ended. */
static bool leave(struct stack_engine *e, struct act *a, uint16_t state, int64_t code,
                  uint64_t exec, uint64_t wait, enum stack_action action, uint64_t t)
{
    uint64_t entered = t - exec - wait;

    /* answers that are still to come would find nobody */
    if (state == e->setup.fault.state && !a->left && faulty(e)) {
        a->code = code = a->var[STACK_VAR_STATUS] = e->setup.fault.code;
        if (e->fs->state.v[state].does == STACK_RECEIVE)
            a->lost |= 1ull << (uint64_t)a->var[STACK_VAR_I] % 64;
    }
    uint16_t to = follow(e, a, state, code);

    if (to == STACK_TERMINATE && action == STACK_COMPLETE)
        action = STACK_TERMINATED;
    stack_visited(e, a, state, entered, exec, wait, a->code, action);
    if (to == STACK_TERMINATE)
        return false;
    a->state = to;
    return true;
}

/* A machine that another one forks, where it wants to: as that one sees things now. NULL: not. */
static struct act *fork_one(struct stack_engine *e, struct act *a, const struct stack_fork *f,
                            uint64_t t)
{
    if (!act_eval(e, a, f->when, t))
        return NULL;
    struct act *c = act_at(e, stack_begin(e, a->node, f->machine, t));

    memcpy(c->var, a->var, sizeof c->var);
    c->file = a->file;
    c->stuffed = a->stuffed;
    c->seq = e->node[a->node].seq++;
    return c;
}

/* They begin when this node is free, and nobody waits for them. */
static void spawn(struct stack_engine *e, struct act *a, const struct stack_state *s, uint64_t t)
{
    for (uint32_t i = 0; i < s->nfork; i++) {
        struct act *c = fork_one(e, a, &e->fs->fork.v[s->fork + i], t);

        if (!c)
            continue;
        c->var[STACK_VAR_STATUS] = 0;
        c->by = a->op;
        c->background = 1;
        steps(e, c, s->pass, s->npass, t);
        stack_tell_begin(e, c);
        stack_post(e, t, act_handle(e, c), 0, PHASE_BEGIN, 0, WR_NIL);
    }
}

static void children(struct stack_engine *e, struct act *a, const struct stack_state *s, uint64_t t,
                     uint32_t *first)
{
    uint32_t me = act_handle(e, a);

    a->left = 0;
    a->var[STACK_VAR_STATUS] = 0;
    for (uint32_t i = 0; i < s->nfork; i++) {
        struct act *c = fork_one(e, a, &e->fs->fork.v[s->fork + i], t);

        if (!c)
            continue;
        c->parent = me;
        c->message = a->message;
        c->prepared = a->prepared;
        c->creating = a->creating;
        stack_tell_begin(e, c);
        a->left++;
        if (*first == WR_NIL)
            *first = act_handle(e, c);
        else
            stack_post(e, t, act_handle(e, c), 0, PHASE_BEGIN, 0, WR_NIL);
    }
}

static bool first_forks(const struct stack_fs *fs, uint16_t machine)
{
    const struct stack_state *s = &fs->state.v[fs->machine.v[machine].first];

    for (int i = 0; i < STACK_DEEPEST && s->does == STACK_JUMP_TO; i++)
        s = &fs->state.v[fs->machine.v[s->target].first];
    return s->does == STACK_FORK;
}

/* The libraries above the file system are no state machines: one call goes straight into another.
 */
static uint64_t between(struct stack_engine *e, const struct act *a, uint16_t state)
{
    if (e->fs->machine.v[e->fs->state.v[state].machine].kind == STACK_CALL_OF)
        return 0;
    e->counts.state[a->side][state].between_ns += e->between[a->side];
    return e->between[a->side];
}

enum went { ON, WAITS, ENDED };

/* One state at time *t. ON: the next may be entered; WAITS: something has to arrive first. */
static enum went enter(struct stack_engine *e, struct act *a, uint64_t *t, uint32_t *child)
{
    dive(e, a, *t);
    const struct stack_fs *fs = e->fs;
    uint16_t at = a->state;
    const struct stack_state *s = &fs->state.v[at];
    bool rests = s->does == STACK_WAIT || s->does == STACK_SLEEP;
    bool defers = rests && (!s->has_when || act_eval(e, a, s->when, *t));
    uint64_t exec = stack_exec_of(e, a, at);

    prepare(e, a, at, s, *t);
    steps(e, a, s->set, s->nset, *t);
    a->t_enter = *t;
    a->exec_ns = exec;
    if (s->does == STACK_FORK) {
        children(e, a, s, *t, child);
        if (a->left)
            return WAITS;
    }
    if (s->has_tag)
        a->tag = act_eval(e, a, s->tag, *t);
    *t += exec;
    if (s->does == STACK_RECEIVE && s->receives_data && a->var[STACK_VAR_PHASE] == PHASE_ANSWER &&
        !a->var[STACK_VAR_STATUS])
        a->left += writing(a) ? 2 : 1;
    a->code = s->has_code ? act_eval(e, a, s->code, *t) : 0;
    switch (s->does) {
    case STACK_SEND:
        send_all(e, a, s, a->t_enter, exec);
        defers = a->left > 0;
        break;
    case STACK_RECEIVE:
        if (s->receives_data && a->var[STACK_VAR_PHASE] == PHASE_ANSWER &&
            !a->var[STACK_VAR_STATUS])
            stack_flow_ready(e, act_at(e, a->peer), *t);
        defers = a->left > 0;
        break;
    case STACK_REPLY:
        reply(e, a, s, *t);
        break;
    case STACK_FLOW:
        (s->pulls ? stack_flow_pull : stack_flow_ready)(e, a, *t);
        defers = true;
        break;
    case STACK_TAKE:
        defers = !stack_take(e, a, s, *t);
        break;
    case STACK_SPAWN:
        spawn(e, a, s, *t);
        break;
    case STACK_DISPATCH: {
        uint16_t to = fs->message.v[a->serving].serves;
        bool forks = first_forks(fs, to);

        stack_visited(e, a, at, a->t_enter, exec, 0, a->code,
                      forks ? STACK_DEFERRED : STACK_COMPLETE);
        a->machine = to;
        a->state = fs->machine.v[to].first;
        *t += between(e, a, at);
        return ON;
    }
    default:
        break;
    }
    a->t_exit = *t;
    if (s->below != STACK_NONE && exec && (s->does == STACK_SEND || s->does == STACK_REPLY))
        a->exec_ns = exec = stack_below(e, a, s->below, a->t_enter, exec);
    if (rests && defers)
        stack_post(e, *t + wait_of(e, a), act_handle(e, a), 0, PHASE_STORED, 0, WR_NIL);
    if (defers)
        return WAITS;
    if (!leave(e, a, at, a->code, exec, 0, STACK_COMPLETE, *t))
        return ENDED;
    *t += between(e, a, at);
    return ON;
}

static void grow(struct stack_engine *e, const struct act *a)
{
    struct object *f = &e->file[a->file];
    uint64_t end = (uint64_t)(a->var[STACK_VAR_OFFSET] + a->var[STACK_VAR_BYTES]);

    f->size = end > f->size ? end : f->size;
}

/* The activity is over at `t`; the parent that goes on now, or WR_NIL. */
static uint32_t finish(struct stack_engine *e, struct act *a, uint64_t t)
{
    uint64_t least =
        a->t_begin + law_at(e, a, &e->laws->total[writing(a)][a->machine], extent(e, a));
    uint32_t me = act_handle(e, a), parent = a->parent;
    bool mine = a->parent == WR_NIL && a->asker == WR_NIL && !a->background;
    int64_t status = a->var[STACK_VAR_STATUS];
    uint32_t node = a->node;

    if (least > t) { /* a whole operation has a law of its own */
        stack_post(e, least, me, 0, PHASE_PADDED, 0, WR_NIL);
        return WR_NIL;
    }
    struct stack_sum *sum = &e->counts.total[writing(a)][a->machine];

    sum->n++;
    sum->exec_ns += t - a->t_begin;
    e->counts.ended++;
    if (e->hooks.end) {
        struct stack_activity what = activity(e, a, t);

        e->hooks.end(e->hooks.ctx, a->op, &what);
    }
    if (mine && a->var[STACK_VAR_OPERATION] == STACK_OP_WRITE)
        grow(e, a);
    a->open = 0;
    if (e->node[node].running == me)
        e->node[node].running = parent;
    wr_pool_give(&e->acts, me);
    if (parent != WR_NIL) {
        struct act *p = act_at(e, parent);

        if (status)
            p->var[STACK_VAR_STATUS] = status;
        return --p->left ? WR_NIL : parent;
    }
    if (mine)
        e->setup.done(e->setup.done_ctx, node, status, t);
    return WR_NIL;
}

/* All children of a fork have ended. */
static bool joined(struct stack_engine *e, struct act *a, uint64_t *t)
{
    const struct stack_state *s = &e->fs->state.v[a->state];

    *t += a->exec_ns;
    a->code = s->has_code ? act_eval(e, a, s->code, *t) : 0;
    return leave(e, a, a->state, a->code, a->exec_ns, 0, STACK_COMPLETE, *t);
}

/* From one state to the next, into children and back, until something has to arrive. */
static uint64_t walk(struct stack_engine *e, uint32_t h, bool ended, uint64_t t)
{
    for (uint32_t states = 0;; states++) {
        struct act *a = act_at(e, h);
        uint32_t child = WR_NIL;
        enum went went = ended ? ENDED : enter(e, a, &t, &child);

        ended = false;
        if (states == MOST_STATES)
            e->stuck = a->state;
        if ((went == WAITS && child == WR_NIL) || e->stuck != STACK_NONE)
            return t;
        if (went == WAITS) {
            h = child;
            e->node[a->node].running = child;
        }
        if (went != ENDED)
            continue;
        h = finish(e, a, t);
        if (h == WR_NIL)
            return t;
        ended = !joined(e, act_at(e, h), &t);
    }
}

static uint64_t resume(struct stack_engine *e, const struct work *w, uint64_t t)
{
    struct act *a = act_at(e, w->act);
    struct node *n = &e->node[a->node];

    if (!a->open || a->op != w->op) /* it did not wait for this */
        return t;
    n->running = w->act;
    if (w->phase == PHASE_BEGIN) {
        a->t_begin = t;
        if (a->asker != WR_NIL && a->parent == WR_NIL) {
            a->op = e->ops++;
            a->seq = n->seq;
            n->seq += 2; /* the request, and the one that is posted in its place */
            stack_tell_begin(e, a);
        }
        return walk(e, w->act, false, t);
    }
    if (w->phase == PHASE_PADDED)
        return walk(e, w->act, true, t);
    const struct stack_state *s = &e->fs->state.v[a->state];
    int64_t code = a->code;

    if (s->does == STACK_SEND || s->does == STACK_RECEIVE) {
        a->left -= a->left > 0;
        a->peer = w->peer;
        a->var[STACK_VAR_I] = w->i;
        a->var[STACK_VAR_PHASE] = w->phase;
        if (w->shows)
            a->stuffed = w->stuffed;
        if (w->status) {
            a->var[STACK_VAR_STATUS] = w->status;
            a->lost |= 1ull << w->i % 64;
        }
    } else if (s->has_then) {
        code = act_eval(e, a, s->then, t);
    }
    if (s->below != STACK_NONE && (s->does == STACK_WAIT || s->does == STACK_FLOW))
        stack_below(e, a, s->below, a->t_exit, t - a->t_exit);
    a->var[STACK_VAR_IN_PROCESS] = a->left;
    bool on = leave(e, a, a->state, code, a->exec_ns, t - a->t_exit, STACK_DEFERRED, t);

    return walk(e, w->act, !on, t);
}

/* --- nodes -------------------------------------------------------------------------- */

static void serve(struct stack_engine *e, uint32_t at, uint64_t t)
{
    struct node *n = &e->node[at];
    uint32_t h = n->first;
    struct work w = *(struct work *)wr_pool_at(&e->works, h);

    n->first = w.next;
    n->queued--;
    wr_pool_give(&e->works, h);
    n->busy_until = resume(e, &w, t);
    if (n->queued && !n->waking) {
        n->waking = true;
        sim_at(&e->sim, n->busy_until, at, sim_lane(KIND_NODE, 0), e->seq++, 0, 0);
    }
}

void stack_on_arrive(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    uint32_t at = sim_dst(ev);
    struct node *n = &e->node[at];

    if (n->queued)
        ((struct work *)wr_pool_at(&e->works, n->last))->next = ev->arg;
    else
        n->first = ev->arg;
    n->last = ev->arg;
    n->queued++;
    if (n->waking)
        return;
    if (n->busy_until > ev->t) {
        n->waking = true;
        sim_at(&e->sim, n->busy_until, at, sim_lane(KIND_NODE, 0), e->seq++, 0, 0);
        return;
    }
    serve(e, at, ev->t);
}

void stack_on_node(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    uint32_t at = sim_dst(ev);

    e->node[at].waking = false;
    serve(e, at, ev->t);
}

void stack_on_later(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;

    if (ev->arg == LATER_PASSED)
        e->setup.passed(e->setup.done_ctx, ev->t);
    else
        e->setup.done(e->setup.done_ctx, sim_dst(ev), 0, ev->t);
}

void stack_engine_call(struct stack_engine *e, uint32_t client, const struct stack_call *call,
                       uint64_t t_ns)
{
    uint32_t h = stack_begin(e, client, e->fs->operation[e->setup.api][call->op], t_ns);
    struct act *a = act_at(e, h);

    a->file = call->file;
    a->stuffed = e->file[call->file].stuffed;
    a->creating = call->creating;
    a->var[STACK_VAR_OPERATION] = call->op;
    a->var[STACK_VAR_BYTES] = (int64_t)call->bytes;
    a->var[STACK_VAR_OFFSET] = (int64_t)call->offset;
    a->var[STACK_VAR_WRITES] = call->op == STACK_OP_WRITE;
    a->var[STACK_VAR_WHO] = client;
    stack_tell_begin(e, a);
    stack_post(e, t_ns, h, 0, PHASE_BEGIN, 0, WR_NIL);
}
