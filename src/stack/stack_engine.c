/* stack_engine.c -- nodes take activities from their queues and step them through their states.
 *
 * Calls of clients come in by stack_engine_call(), everything else by events: an arrival at a node
 * (stack_on_arrive), a node that is free again (stack_on_node), a pause that is over
 * (stack_on_later). engine_walk() steps one activity until it has to wait.
 *
 * Invariants: a node executes one activity at a time; time never decreases along a walk; a message
 *             that is sent is answered, or its sender has ended before.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stack_engine_priv.h"

enum { MOST_STATES = 1 << 20 };

/* --- what is on its way ------------------------------------------------------------- */

uint32_t stack_work(struct stack_engine *e, struct work w)
{
    uint32_t h = wr_pool_take(&e->works);

    w.next = WR_NIL;
    w.node = activity_at(e, w.activity)->node;
    w.op = activity_at(e, w.activity)->op;
    *(struct work *)wr_pool_at(&e->works, h) = w;
    return h;
}

void stack_put(struct stack_engine *e, uint64_t t, struct work w)
{
    uint32_t node = activity_at(e, w.activity)->node;

    sim_at(&e->sim, t, node, sim_subkey(KIND_ARRIVE, 0), e->seq++, stack_work(e, w), 0);
}

void stack_post(struct stack_engine *e, uint64_t t, uint32_t activity, uint32_t i, uint16_t phase,
                int64_t status, uint32_t peer)
{
    stack_put(e, t,
              (struct work){
                  .activity = activity, .peer = peer, .i = i, .phase = phase, .status = status});
}

/* A message queues behind the data that its link has already taken: the contents of the sockets,
 * but no more than the bytes in transfer. */
static double engine_queue_ns(const struct stack_engine *e, uint32_t from)
{
    const struct node *n = &e->node[e->timings->medium == STACK_SHARED ? e->medium : from];
    double all_ns = (double)(n->data_b[0] + n->data_b[1]) * e->timings->ns_per_b, ns;

    if (!n->data[0] && !n->data[1])
        return 0;
    ns = e->timings->queue_ns[n->data[1] > n->data[0]];
    return ns < all_ns ? ns : all_ns;
}

static uint64_t engine_travel_ns(const struct stack_engine *e, uint32_t from, uint64_t bytes)
{
    double ns = e->timings->latency_ns + (double)(bytes + e->fs->header_b) * e->timings->ns_per_b;

    return stack_ns(e->timings->queues ? ns + engine_queue_ns(e, from) : ns);
}

/* --- activities --------------------------------------------------------------------- */

uint32_t stack_begin(struct stack_engine *e, uint32_t node, uint16_t machine, uint64_t t)
{
    assert(node < e->clients + e->servers && machine < e->fs->machine.n);
    uint32_t h = wr_pool_take(&e->activities);
    struct activity *a = activity_at(e, h);
    uint32_t gen = a->gen;

    *a = (struct activity){
        .t_begin = t,
        .node = node,
        .parent = WR_NIL,
        .requester = WR_NIL,
        .by = UINT32_MAX,
        .lost = WR_NIL,
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

/* 0: the activity reads data, 1: it writes, 2: neither. */
static uint8_t engine_direction(const struct stack_engine *e, const struct activity *a)
{
    const struct stack_machine *m =
        &e->fs->machine.v[a->named == STACK_NONE ? a->machine : a->named];
    int64_t op = a->var[STACK_VAR_OPERATION];

    return !m->moves || (op != STACK_OP_READ && op != STACK_OP_WRITE) ? 2 : op == STACK_OP_WRITE;
}

static struct stack_activity engine_describe_activity(const struct stack_engine *e,
                                                      const struct activity *a, uint64_t t)
{
    return (struct stack_activity){
        .node = a->node,
        .seq = a->seq,
        .file = a->file,
        .parent = a->parent != WR_NIL      ? activity_at(e, a->parent)->op
                  : a->requester != WR_NIL ? a->requester_op
                                           : a->by,
        .machine = a->named == STACK_NONE ? a->machine : a->named,
        .root = a->machine,
        .writes = engine_direction(e, a),
        .t_ns = a->t_begin,
        .end_ns = t,
    };
}

void stack_report_begin(struct stack_engine *e, struct activity *a)
{
    if (e->hooks.begin) {
        struct stack_activity what = engine_describe_activity(e, a, a->t_begin);

        e->hooks.begin(e->hooks.ctx, a->op, &what);
    }
}

void stack_visited(struct stack_engine *e, struct activity *a, uint16_t state, uint64_t t_enter,
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
                                                           .writes = engine_direction(e, a),
                                                           .tag = a->tag,
                                                           .code = code,
                                                           .t_ns = t_enter,
                                                           .exec_ns = exec,
                                                           .wait_ns = wait});
}

static bool engine_is_writing(const struct activity *a)
{
    return a->var[STACK_VAR_WRITES] != 0;
}

/* The bytes that times depend on: those of the request or operation, or the length of the file. */
static double engine_extent_b(const struct stack_engine *e, const struct activity *a)
{
    int64_t op = a->var[STACK_VAR_OPERATION], part = a->var[STACK_VAR_LENGTH];

    if (part > 0)
        return (double)part;
    return op == STACK_OP_READ || op == STACK_OP_WRITE ? (double)a->var[STACK_VAR_BYTES]
                                                       : (double)e->file[a->file].size;
}

static uint64_t engine_timing_ns(const struct stack_engine *e, const struct activity *a,
                                 const struct stack_timing *l, double x_b)
{
    if (!l->given)
        return 0;
    uint64_t ns = stack_timing_ns(l, x_b, (double)e->setup.all_b);
    double slowdown = a->side ? e->timings->slowdown[engine_is_writing(a)][a->machine] : 0;

    return slowdown > 0 ? stack_ns(slowdown * (double)ns) : ns;
}

/* The work of a state. A flow works for its first buffers before it waits; a state that sends works
 * for each of its messages. */
uint64_t stack_exec_of(const struct stack_engine *e, const struct activity *a, size_t at)
{
    const struct stack_state *s = &e->fs->state.v[at];
    const struct stack_timing *timing = &e->timings->exec[engine_is_writing(a)][at];
    double b = engine_extent_b(e, a);

    if (s->does == STACK_SEND && timing->per_message_ns > 0) {
        struct stack_timing all = *timing;

        all.constant_ns += all.per_message_ns * (double)a->var[STACK_VAR_COUNT];
        return engine_timing_ns(e, a, &all, b);
    }
    if (s->does == STACK_FLOW) {
        uint64_t first = e->fs->buffers * e->fs->buffer_b, all = stack_world_moves(e, a);

        b = (double)(all < first ? all : first);
    }
    return engine_timing_ns(e, a, timing, b);
}

/* The wait of the current state, which is about to leave with its code. A wait for a data file
 * depends on the bytes of one data file where the timing model was measured. */
static uint64_t engine_wait_ns(const struct stack_engine *e, const struct activity *a)
{
    const struct stack_state *s = &e->fs->state.v[a->state];
    const struct object *f = &e->file[a->file];
    double parts = f->stuffed ? 1 : e->dfiles;

    if (!s->has_data_code)
        return engine_timing_ns(e, a, &e->timings->wait[engine_is_writing(a)][a->state],
                                engine_extent_b(e, a));
    if (a->code != s->data_code)
        return engine_timing_ns(e, a, &e->timings->wait[0][a->state], 0);
    return engine_timing_ns(e, a, &e->timings->wait[1][a->state],
                            (double)f->size / parts *
                                (e->timings->alone ? 1 : e->timings->servers));
}

static void engine_run_steps(struct stack_engine *e, struct activity *a, uint32_t first, uint32_t n,
                             uint64_t t)
{
    for (uint32_t i = 0; i < n; i++)
        activity_eval(e, a, e->fs->step.v[first + i], t);
}

/* --- sending ------------------------------------------------------------------------ */

/* Message `i` of those sent together failed. They are kept in the order of their numbers, each
 * once. */
static void engine_lost_add(struct stack_engine *e, struct activity *a, uint32_t i)
{
    uint32_t *at = &a->lost;

    while (*at != WR_NIL && ((struct work *)wr_pool_at(&e->works, *at))->i < i)
        at = &((struct work *)wr_pool_at(&e->works, *at))->next;
    if (*at != WR_NIL && ((struct work *)wr_pool_at(&e->works, *at))->i == i)
        return;
    uint32_t h = wr_pool_take(&e->works);

    *(struct work *)wr_pool_at(&e->works, h) = (struct work){.next = *at, .i = i};
    *at = h;
}

/* Takes the first of them; false: there is none. */
static bool engine_lost_take(struct stack_engine *e, struct activity *a, uint32_t *ret_i)
{
    uint32_t h = a->lost;

    if (h == WR_NIL)
        return false;
    const struct work *w = wr_pool_at(&e->works, h);

    *ret_i = w->i;
    a->lost = w->next;
    wr_pool_give(&e->works, h);
    return true;
}

static void engine_lost_forget(struct stack_engine *e, struct activity *a)
{
    for (uint32_t i; engine_lost_take(e, a, &i);)
        ;
}

static bool engine_connect(struct stack_engine *e, uint32_t client, uint32_t server)
{
    if (client >= e->clients || server >= e->servers || !e->connected)
        return true;
    size_t bit = (size_t)client * e->servers + server;
    bool was = e->connected[bit / 64] >> bit % 64 & 1;

    e->connected[bit / 64] |= 1ull << bit % 64;
    /* The configuration's server is connected to before anything is sent. */
    return was || !server;
}

static void engine_report_message(struct stack_engine *e, const struct activity *a, uint32_t to,
                                  uint16_t message, bool answer, uint64_t bytes, uint64_t t)
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

static void engine_send_one(struct stack_engine *e, struct activity *a,
                            const struct stack_state *how, uint32_t i, uint64_t t)
{
    const struct stack_fs *fs = e->fs;
    const struct stack_message *m = &fs->message.v[a->message];
    int64_t to = 0;

    a->var[STACK_VAR_I] = i;
    to = activity_eval(e, a, how->to, t);
    uint32_t most = m->down ? e->clients : e->servers;
    uint32_t peer = to < 0 || to >= most ? 0 : (uint32_t)to;
    uint32_t h =
        stack_begin(e, m->down ? peer : e->clients + peer, m->down ? m->serves : fs->serves, t);
    struct activity *r = activity_at(e, h);
    uint32_t me = activity_handle(e, a);

    memcpy(r->var, a->var, sizeof r->var);
    r->var[STACK_VAR_ID] = r->node;
    r->var[STACK_VAR_STATUS] = 0;
    r->file = a->file;
    r->stuffed = a->stuffed;
    r->requester = me;
    r->requester_i = i;
    r->requester_node = a->node;
    r->requester_op = a->op;
    r->t_sent = t;
    r->serving = a->message;
    engine_run_steps(e, r, how->pass, how->npass, t);
    int64_t bytes = activity_eval(e, r, m->request, t);
    uint64_t len = bytes > 0 ? (uint64_t)bytes : 0;

    engine_report_message(e, a, r->node, a->message, false, len, t);
    if (!m->down && !engine_connect(e, a->node, peer)) {
        a->left++;
        stack_post(e, t + stack_ns(e->timings->latency_ns), me, i, PHASE_SENT, 0, WR_NIL);
        t += 2 * stack_ns(e->timings->latency_ns);
    }
    a->left++;
    stack_deliver(e, a->node, r->node, len, t, t + engine_travel_ns(e, a->node, len),
                  (struct work){.activity = h, .phase = PHASE_BEGIN, .peer = WR_NIL});
}

static void engine_send_all(struct stack_engine *e, struct activity *a, const struct stack_state *s,
                            uint64_t t, uint64_t exec)
{
    if (a->prepared == STACK_NONE)
        return;
    const struct stack_state *how = &e->fs->state.v[a->prepared];
    int64_t n = a->var[STACK_VAR_COUNT];
    bool again = s->resends && a->lost != WR_NIL;
    uint32_t i = 0;

    if (!again)
        engine_lost_forget(e, a);
    for (; again ? engine_lost_take(e, a, &i) : i < n; i++)
        engine_send_one(e, a, how, i, t + exec * (i + 1) / (uint64_t)n);
}

/* The slowdown of answers. An activity without one has that of the activity that began it. */
static double engine_answer_slowdown(const struct stack_engine *e, const struct activity *a)
{
    bool w = engine_is_writing(a);
    double by = e->timings->slowdown[w][a->machine];

    while (!(by > 0) && a->parent != WR_NIL) {
        a = activity_at(e, a->parent);
        by = e->timings->slowdown[w][a->machine];
    }
    return by;
}

static void engine_reply(struct stack_engine *e, struct activity *a, const struct stack_state *s,
                         uint64_t t)
{
    int64_t bytes = s->has_bytes ? activity_eval(e, a, s->bytes, t)
                                 : activity_eval(e, a, e->fs->message.v[a->serving].response, t);

    if (bytes < 0 || !stack_requester_is_open(e, a))
        return;
    uint64_t there = t + engine_travel_ns(e, a->node, (uint64_t)bytes);
    const struct activity *requester = activity_at(e, a->requester);
    double slowdown = engine_answer_slowdown(e, requester);

    if (slowdown > 0 && s->phase != PHASE_KEPT) { /* only answers are slowed down, not data */
        uint64_t later = a->t_sent + stack_ns(slowdown * (double)(there - a->t_sent));

        there = later > t ? later : t + 1;
    }
    engine_report_message(e, a, a->requester_node, a->serving, true, (uint64_t)bytes, t);
    stack_deliver(e, a->node, a->requester_node, (uint64_t)bytes, t, there,
                  (struct work){.activity = a->requester,
                                .i = a->requester_i,
                                .phase = s->phase,
                                .shows = a->shows,
                                .stuffed = a->stuffed,
                                .status = a->var[STACK_VAR_STATUS],
                                .peer = activity_handle(e, a)});
}

/* --- the walk ----------------------------------------------------------------------- */

/* Makes ready what a later state sends. */
static void engine_prepare(struct stack_engine *e, struct activity *a, uint16_t state,
                           const struct stack_state *s, uint64_t t)
{
    if (s->message == STACK_NONE)
        return;
    bool other = s->instead != STACK_NONE && activity_eval(e, a, s->swap, t);

    a->message = other ? s->instead : s->message;
    a->prepared = state;
    engine_lost_forget(e, a);
    a->var[STACK_VAR_STATUS] = 0;
    a->var[STACK_VAR_ANSWER] = 0;
    int64_t n = activity_eval(e, a, s->count, t);

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
static uint16_t engine_follow_code(struct stack_engine *e, struct activity *a, uint16_t state,
                                   int64_t code)
{
    uint16_t to = stack_next_of(e->fs, &e->fs->state.v[state], code);

    a->var[STACK_VAR_COD] = code;
    while (to == STACK_RETURN && a->depth)
        to = stack_next_of(e->fs, &e->fs->state.v[a->frame[--a->depth]], code);
    return to == STACK_RETURN ? STACK_TERMINATE : to;
}

/* Descends into nested machines until a state does something itself. */
static void engine_descend(struct stack_engine *e, struct activity *a, uint64_t t)
{
    const struct stack_state *s = &e->fs->state.v[a->state];

    while (s->does == STACK_JUMP_TO) {
        engine_run_steps(e, a, s->set, s->nset, t);
        a->frame[a->depth++] = a->state;
        a->state = e->fs->machine.v[s->target].first;
        s = &e->fs->state.v[a->state];
    }
}

/* Is this the visit that is to fail? */
static bool engine_is_faulty(struct stack_engine *e)
{
    uint64_t n = e->faults++;

    return n >= e->setup.fault.first && n - e->setup.fault.first < e->setup.fault.times;
}

/* Leaves `state` with `code`; false: the activity has ended. */
static bool engine_leave(struct stack_engine *e, struct activity *a, uint16_t state, int64_t code,
                         uint64_t exec, uint64_t wait, enum stack_action action, uint64_t t)
{
    uint64_t entered = t - exec - wait;

    /* answers in flight would find no receiver, so such a visit does not fail */
    if (state == e->setup.fault.state && !a->left && engine_is_faulty(e)) {
        a->code = code = a->var[STACK_VAR_STATUS] = e->setup.fault.code;
        if (e->fs->state.v[state].does == STACK_RECEIVE)
            engine_lost_add(e, a, (uint32_t)a->var[STACK_VAR_I]);
    }
    uint16_t to = engine_follow_code(e, a, state, code);

    if (to == STACK_TERMINATE && action == STACK_COMPLETE)
        action = STACK_TERMINATED;
    stack_visited(e, a, state, entered, exec, wait, a->code, action);
    if (to == STACK_TERMINATE)
        return false;
    a->state = to;
    return true;
}

/* Begins a child that the activity forks, with a copy of its variables. NULL: its condition is
 * false. */
static struct activity *engine_fork_one(struct stack_engine *e, struct activity *a,
                                        const struct stack_fork *f, uint64_t t)
{
    if (!activity_eval(e, a, f->when, t))
        return NULL;
    struct activity *c = activity_at(e, stack_begin(e, a->node, f->machine, t));

    memcpy(c->var, a->var, sizeof c->var);
    c->file = a->file;
    c->stuffed = a->stuffed;
    c->seq = e->node[a->node].seq++;
    return c;
}

/* Background children: they begin when this node is free, and the activity does not wait for them.
 */
static void engine_spawn(struct stack_engine *e, struct activity *a, const struct stack_state *s,
                         uint64_t t)
{
    for (uint32_t i = 0; i < s->nfork; i++) {
        struct activity *c = engine_fork_one(e, a, &e->fs->fork.v[s->fork + i], t);

        if (!c)
            continue;
        c->var[STACK_VAR_STATUS] = 0;
        c->by = a->op;
        c->background = 1;
        engine_run_steps(e, c, s->pass, s->npass, t);
        stack_report_begin(e, c);
        stack_post(e, t, activity_handle(e, c), 0, PHASE_BEGIN, 0, WR_NIL);
    }
}

static void engine_fork_children(struct stack_engine *e, struct activity *a,
                                 const struct stack_state *s, uint64_t t, uint32_t *first)
{
    uint32_t me = activity_handle(e, a);

    a->left = 0;
    a->var[STACK_VAR_STATUS] = 0;
    for (uint32_t i = 0; i < s->nfork; i++) {
        struct activity *c = engine_fork_one(e, a, &e->fs->fork.v[s->fork + i], t);

        if (!c)
            continue;
        c->parent = me;
        c->message = a->message;
        c->prepared = a->prepared;
        c->creating = a->creating;
        stack_report_begin(e, c);
        a->left++;
        if (*first == WR_NIL)
            *first = activity_handle(e, c);
        else
            stack_post(e, t, activity_handle(e, c), 0, PHASE_BEGIN, 0, WR_NIL);
    }
}

static bool engine_first_forks(const struct stack_fs *fs, uint16_t machine)
{
    const struct stack_state *s = &fs->state.v[fs->machine.v[machine].first];

    for (int i = 0; i < STACK_DEEPEST && s->does == STACK_JUMP_TO; i++)
        s = &fs->state.v[fs->machine.v[s->target].first];
    return s->does == STACK_FORK;
}

/* Time between two states. The libraries above the file system are no state machines: their calls
 * have none. */
static uint64_t engine_between_ns(struct stack_engine *e, const struct activity *a, uint16_t state)
{
    if (e->fs->machine.v[e->fs->state.v[state].machine].kind == STACK_CALL_OF)
        return 0;
    e->counts.state[a->side][state].between_ns += e->between[a->side];
    return e->between[a->side];
}

enum walk_result { WALK_ON, WALK_WAITS, WALK_ENDED };

/* Enters one state at *t and advances *t. WALK_ON: the next may be entered; WALK_WAITS: the
 * activity waits for an arrival, or for `child`; WALK_ENDED: it has ended. */
static enum walk_result engine_enter(struct stack_engine *e, struct activity *a, uint64_t *t,
                                     uint32_t *child)
{
    engine_descend(e, a, *t);
    const struct stack_fs *fs = e->fs;
    uint16_t at = a->state;
    const struct stack_state *s = &fs->state.v[at];
    bool waits = s->does == STACK_WAIT || s->does == STACK_SLEEP;
    bool defers = waits && (!s->has_when || activity_eval(e, a, s->when, *t));
    uint64_t exec = stack_exec_of(e, a, at);

    engine_prepare(e, a, at, s, *t);
    engine_run_steps(e, a, s->set, s->nset, *t);
    a->t_enter = *t;
    a->exec_ns = exec;
    if (s->does == STACK_FORK) {
        engine_fork_children(e, a, s, *t, child);
        if (a->left)
            return WALK_WAITS;
    }
    if (s->has_tag)
        a->tag = activity_eval(e, a, s->tag, *t);
    *t += exec;
    if (s->does == STACK_RECEIVE && s->receives_data && a->var[STACK_VAR_PHASE] == PHASE_ANSWER &&
        !a->var[STACK_VAR_STATUS])
        a->left += engine_is_writing(a) ? 2 : 1;
    a->code = s->has_code ? activity_eval(e, a, s->code, *t) : 0;
    switch (s->does) {
    case STACK_SEND:
        engine_send_all(e, a, s, a->t_enter, exec);
        defers = a->left > 0;
        break;
    case STACK_RECEIVE:
        if (s->receives_data && a->var[STACK_VAR_PHASE] == PHASE_ANSWER &&
            !a->var[STACK_VAR_STATUS])
            stack_flow_ready(e, activity_at(e, a->peer), *t);
        defers = a->left > 0;
        break;
    case STACK_REPLY:
        engine_reply(e, a, s, *t);
        break;
    case STACK_FLOW:
        (s->pulls ? stack_flow_pull : stack_flow_ready)(e, a, *t);
        defers = true;
        break;
    case STACK_TAKE:
        defers = !stack_take(e, a, s, *t);
        break;
    case STACK_SPAWN:
        engine_spawn(e, a, s, *t);
        break;
    case STACK_DISPATCH: {
        uint16_t to = fs->message.v[a->serving].serves;
        bool forks = engine_first_forks(fs, to);

        stack_visited(e, a, at, a->t_enter, exec, 0, a->code,
                      forks ? STACK_DEFERRED : STACK_COMPLETE);
        a->machine = to;
        a->state = fs->machine.v[to].first;
        *t += engine_between_ns(e, a, at);
        return WALK_ON;
    }
    default:
        break;
    }
    a->t_exit = *t;
    if (s->below != STACK_NONE && exec && (s->does == STACK_SEND || s->does == STACK_REPLY))
        a->exec_ns = exec = stack_below(e, a, s->below, a->t_enter, exec);
    if (waits && defers)
        stack_post(e, *t + engine_wait_ns(e, a), activity_handle(e, a), 0, PHASE_STORED, 0, WR_NIL);
    if (defers)
        return WALK_WAITS;
    if (!engine_leave(e, a, at, a->code, exec, 0, STACK_COMPLETE, *t))
        return WALK_ENDED;
    *t += engine_between_ns(e, a, at);
    return WALK_ON;
}

static void engine_grow_file(struct stack_engine *e, const struct activity *a)
{
    struct object *f = &e->file[a->file];
    uint64_t end = (uint64_t)(a->var[STACK_VAR_OFFSET] + a->var[STACK_VAR_BYTES]);

    f->size = end > f->size ? end : f->size;
}

/* The activity is over at `t`; the parent that goes on now, or WR_NIL. */
static uint32_t engine_finish(struct stack_engine *e, struct activity *a, uint64_t t)
{
    uint64_t least =
        a->t_begin + engine_timing_ns(e, a, &e->timings->total[engine_is_writing(a)][a->machine],
                                      engine_extent_b(e, a));
    uint32_t me = activity_handle(e, a), parent = a->parent;
    bool mine = a->parent == WR_NIL && a->requester == WR_NIL && !a->background;
    int64_t status = a->var[STACK_VAR_STATUS];
    uint32_t node = a->node;

    assert(a->open && t >= a->t_begin);
    if (least > t) { /* a whole operation has a timing model of its own */
        stack_post(e, least, me, 0, PHASE_PADDED, 0, WR_NIL);
        return WR_NIL;
    }
    struct stack_sum *sum = &e->counts.total[engine_is_writing(a)][a->machine];

    sum->n++;
    sum->exec_ns += t - a->t_begin;
    e->counts.ended++;
    if (e->hooks.end) {
        struct stack_activity what = engine_describe_activity(e, a, t);

        e->hooks.end(e->hooks.ctx, a->op, &what);
    }
    if (mine && a->var[STACK_VAR_OPERATION] == STACK_OP_WRITE)
        engine_grow_file(e, a);
    a->open = 0;
    engine_lost_forget(e, a);
    if (e->node[node].running == me)
        e->node[node].running = parent;
    wr_pool_give(&e->activities, me);
    if (parent != WR_NIL) {
        struct activity *p = activity_at(e, parent);

        if (status)
            p->var[STACK_VAR_STATUS] = status;
        return --p->left ? WR_NIL : parent;
    }
    if (mine)
        e->setup.done(e->setup.done_ctx, node, status, t);
    return WR_NIL;
}

/* All children of a fork have ended. */
static bool engine_joined(struct stack_engine *e, struct activity *a, uint64_t *t)
{
    const struct stack_state *s = &e->fs->state.v[a->state];

    *t += a->exec_ns;
    a->code = s->has_code ? activity_eval(e, a, s->code, *t) : 0;
    return engine_leave(e, a, a->state, a->code, a->exec_ns, 0, STACK_COMPLETE, *t);
}

/* Steps from state to state, into children and back to parents, until an arrival is needed. Returns
 * when the node is free. */
static uint64_t engine_walk(struct stack_engine *e, uint32_t h, bool ended, uint64_t t)
{
    for (uint32_t states = 0;; states++) {
        struct activity *a = activity_at(e, h);
        uint32_t child = WR_NIL;
        enum walk_result result = ended ? WALK_ENDED : engine_enter(e, a, &t, &child);

        ended = false;
        if (states == MOST_STATES)
            e->stuck = a->state;
        if ((result == WALK_WAITS && child == WR_NIL) || e->stuck != STACK_NONE)
            return t;
        if (result == WALK_WAITS) {
            h = child;
            e->node[a->node].running = child;
        }
        if (result != WALK_ENDED)
            continue;
        h = engine_finish(e, a, t);
        if (h == WR_NIL)
            return t;
        ended = !engine_joined(e, activity_at(e, h), &t);
    }
}

static uint64_t engine_resume(struct stack_engine *e, const struct work *w, uint64_t t)
{
    struct activity *a = activity_at(e, w->activity);
    struct node *n = &e->node[a->node];

    if (!a->open || a->op != w->op) /* the activity has ended */
        return t;
    n->running = w->activity;
    if (w->phase == PHASE_BEGIN) {
        a->t_begin = t;
        if (a->requester != WR_NIL && a->parent == WR_NIL) {
            a->op = e->ops++;
            a->seq = n->seq;
            n->seq += 2; /* the request, and the one that is posted in its place */
            stack_report_begin(e, a);
        }
        return engine_walk(e, w->activity, false, t);
    }
    if (w->phase == PHASE_PADDED)
        return engine_walk(e, w->activity, true, t);
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
            engine_lost_add(e, a, w->i);
        }
    } else if (s->has_then) {
        code = activity_eval(e, a, s->then, t);
    }
    if (s->below != STACK_NONE && (s->does == STACK_WAIT || s->does == STACK_FLOW))
        stack_below(e, a, s->below, a->t_exit, t - a->t_exit);
    a->var[STACK_VAR_IN_PROCESS] = a->left;
    bool on = engine_leave(e, a, a->state, code, a->exec_ns, t - a->t_exit, STACK_DEFERRED, t);

    return engine_walk(e, w->activity, !on, t);
}

/* --- nodes -------------------------------------------------------------------------- */

static void engine_serve(struct stack_engine *e, uint32_t at, uint64_t t)
{
    struct node *n = &e->node[at];
    uint32_t h = n->first;
    struct work w = *(struct work *)wr_pool_at(&e->works, h);

    assert(n->queued > 0 && t >= n->busy_until);
    n->first = w.next;
    n->queued--;
    wr_pool_give(&e->works, h);
    n->busy_until = engine_resume(e, &w, t);
    if (n->queued && !n->waking) {
        n->waking = true;
        sim_at(&e->sim, n->busy_until, at, sim_subkey(KIND_NODE, 0), e->seq++, 0, 0);
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
        sim_at(&e->sim, n->busy_until, at, sim_subkey(KIND_NODE, 0), e->seq++, 0, 0);
        return;
    }
    engine_serve(e, at, ev->t);
}

void stack_on_node(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    uint32_t at = sim_dst(ev);

    e->node[at].waking = false;
    engine_serve(e, at, ev->t);
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
    assert(client < e->clients && call->file < e->setup.files && call->op < STACK_OPS);
    uint32_t h = stack_begin(e, client, e->fs->operation[e->setup.api][call->op], t_ns);
    struct activity *a = activity_at(e, h);

    a->file = call->file;
    a->stuffed = e->file[call->file].stuffed;
    a->creating = call->creating;
    a->var[STACK_VAR_OPERATION] = call->op;
    a->var[STACK_VAR_BYTES] = (int64_t)call->bytes;
    a->var[STACK_VAR_OFFSET] = (int64_t)call->offset;
    a->var[STACK_VAR_WRITES] = call->op == STACK_OP_WRITE;
    a->var[STACK_VAR_WHO] = client;
    stack_report_begin(e, a);
    stack_post(e, t_ns, h, 0, PHASE_BEGIN, 0, WR_NIL);
}
