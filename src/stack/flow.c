/* flow.c -- data on their way, and how flows share links.
 *
 * A flow begins when both ends are ready: the server's machine is in its flow, and the client has
 * the answer that says so. Its speed is the smaller of the shares its two links give it; a link
 * gives all its flows the same. When a flow comes or goes, those on the same links change their
 * speed. On a link with hundreds of flows one more hardly matters: there all speeds are set anew
 * only when their number has changed by a thirty-second part, so n flows cost n log n and not n^2.
 *
 *   work   |=================================|=========| 0
 *                                       who sends      who receives
 *                                       is done        is done
 *
 * Who sends is done when the last bytes are in the buffers of the two sockets. A server that reads
 * goes on then and may end, so the rest of its flow is handed to an activity that is nothing else.
 */
#include <math.h>

#include "engine_priv.h"

static double share(const struct stack_engine *e, const struct act *a)
{
    uint32_t n = e->node[a->res[0]].flows;

    if (a->res[1] != WR_NIL && e->node[a->res[1]].flows > n)
        n = e->node[a->res[1]].flows;
    return 1.0 / n;
}

static void settle(struct act *a, uint64_t t)
{
    a->work_ns -= (double)(t - a->t_speed) * a->speed;
    if (a->work_ns < 0)
        a->work_ns = 0;
    a->t_speed = t;
}

/* When it is over at its speed, or who sends is done. */
static void expect(struct stack_engine *e, struct act *a, uint64_t t)
{
    double work = fmax(a->work_ns - a->ahead_ns, 0);

    sim_at(&e->sim, t + stack_ns(ceil(work / a->speed)), a->node, sim_lane(KIND_FLOW, 0), e->seq++,
           act_handle(e, a), ++a->gen);
}

static void set_speed(struct stack_engine *e, struct act *a, uint64_t t)
{
    double speed = share(e, a) / e->share_ref;

    if (speed == a->speed)
        return;
    settle(a, t);
    a->speed = speed;
    expect(e, a, t);
}

/* The number of flows of a link has changed. */
static void changed(struct stack_engine *e, uint32_t r, uint64_t t)
{
    struct node *n = &e->node[r];
    uint32_t by = n->flows > n->flows_seen ? n->flows - n->flows_seen : n->flows_seen - n->flows;

    if (by * 32 <= n->flows_seen)
        return;
    n->flows_seen = n->flows;
    for (uint32_t h = n->flow; h != WR_NIL;) {
        struct act *a = act_at(e, h);
        int side = a->res[0] == r ? 0 : 1;

        set_speed(e, a, t);
        h = a->next[side];
    }
}

static int side_of(const struct act *a, uint32_t r)
{
    return a->res[0] == r ? 0 : 1;
}

static void join(struct stack_engine *e, struct act *a, int side)
{
    struct node *n = &e->node[a->res[side]];
    uint32_t h = act_handle(e, a);

    a->prev[side] = WR_NIL;
    a->next[side] = n->flow;
    if (n->flow != WR_NIL) {
        struct act *b = act_at(e, n->flow);

        b->prev[side_of(b, a->res[side])] = h;
    }
    n->flow = h;
    n->flows++;
}

static void leave(struct stack_engine *e, struct act *a, int side)
{
    uint32_t r = a->res[side];
    struct node *n = &e->node[r];

    if (a->prev[side] == WR_NIL) {
        n->flow = a->next[side];
    } else {
        struct act *b = act_at(e, a->prev[side]);

        b->next[side_of(b, r)] = a->next[side];
    }
    if (a->next[side] != WR_NIL) {
        struct act *b = act_at(e, a->next[side]);

        b->prev[side_of(b, r)] = a->prev[side];
    }
    n->flows--;
}

static const struct stack_law *law_of(const struct stack_engine *e, const struct act *a)
{
    return &e->laws->wait[a->var[STACK_VAR_WRITES] != 0][a->state];
}

/* What so many bytes of the flow are, in nanoseconds at the share its law was measured with. */
static double work_of(const struct stack_engine *e, const struct act *a, uint64_t flow_b)
{
    const struct stack_law *law = law_of(e, a);

    if (law->given && law->per_byte_ns > 0) {
        struct stack_law bytes = *law;

        bytes.constant_ns = 0; /* it has passed already, and nobody shares it */
        return (double)stack_law_ns(&bytes, (double)flow_b * e->laws->servers, 0);
    }
    return (double)flow_b * e->laws->ns_per_b * e->share_ref;
}

/* What is left of it when who sends is done. A connection opens as data arrive, so a short flow is
 * never all in its buffers. Memory that was offered needs no sockets. */
static double ahead_of(const struct stack_engine *e, const struct act *a)
{
    uint64_t buffer = e->laws->buffer_b[a->var[STACK_VAR_WRITES] != 0];
    double ahead = fmin((double)buffer, e->laws->buffer_part * (double)a->flow_b);

    if (!(ahead > 0) || e->fs->state.v[a->state].pulls)
        return 0;
    return fmax(a->work_ns - work_of(e, a, a->flow_b - (uint64_t)ahead), 0);
}

/* Over a fabric, storage and network work at the same time, a buffer behind each other: what is
 * read has to be there before it leaves, what is written arrives before it is kept. */
static double storage_ns(struct stack_engine *e, struct act *a, uint64_t bytes, uint64_t t)
{
    uint16_t below = e->fs->state.v[a->state].below;

    return below == STACK_NONE ? 0 : (double)bytes * stack_below_per_byte(e, a, below, t);
}

static double buffer_ns(struct stack_engine *e, struct act *a, uint64_t t)
{
    return storage_ns(e, a, a->flow_b < e->fs->buffer_b ? a->flow_b : e->fs->buffer_b, t);
}

static void move_by_wire(struct stack_engine *e, struct act *a, uint64_t t)
{
    bool writes = a->var[STACK_VAR_WRITES];

    a->gen++;
    a->t_speed = t;
    a->work_ns = storage_ns(e, a, a->flow_b, t);
    stack_wire_flow(e, act_handle(e, a), writes ? a->asker_node : a->node,
                    writes ? a->node : a->asker_node,
                    t + (writes ? 0 : stack_ns(buffer_ns(e, a, t))));
}

uint64_t stack_flow_landed(struct stack_engine *e, struct act *a, uint64_t t)
{
    uint64_t kept = a->t_speed + stack_ns(a->work_ns);

    if (a->var[STACK_VAR_WRITES])
        t += stack_ns(buffer_ns(e, a, t));
    return kept > t ? kept : t;
}

/* The data begin to move. */
void stack_flow_move(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    struct act *a = act_at(e, ev->arg);
    uint64_t t = ev->t;

    if (e->setup.wire && a->flow_b && a->asker_node != a->node) {
        move_by_wire(e, a, t);
        return;
    }
    if (e->laws->medium == STACK_SHARED) {
        a->res[0] = e->medium;
        a->res[1] = WR_NIL;
    } else {
        a->res[0] = a->asker_node;
        a->res[1] = a->node;
    }
    a->work_ns = work_of(e, a, a->flow_b);
    a->ahead_ns = ahead_of(e, a);
    a->t_speed = t;
    a->speed = 0;
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL)
            join(e, a, i);
    set_speed(e, a, t);
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL)
            changed(e, a->res[i], t);
}

/* Its links carry data from when both ends are ready until the last has them. */
static void carry(struct stack_engine *e, const struct act *a, int more)
{
    bool writes = a->var[STACK_VAR_WRITES] != 0;

    if (e->laws->medium == STACK_SHARED) {
        e->node[e->medium].data[writes] += (uint32_t)more;
    } else {
        e->node[a->asker_node].data[writes] += (uint32_t)more;
        e->node[a->node].data[writes] += (uint32_t)more;
    }
}

/* Both ends are ready. */
static void start(struct stack_engine *e, struct act *a, uint64_t t)
{
    const struct stack_law *law = law_of(e, a);
    uint32_t h = act_handle(e, a);

    a->ready = 0;
    a->ahead_ns = 0;
    a->sent = false;
    a->flow_b = stack_world_moves(e, a);
    a->res[0] = a->res[1] = WR_NIL;
    e->counts.flows++;
    carry(e, a, 1);
    if (law->poly) /* a time, whatever else moves */
        sim_at(&e->sim, t + stack_law_ns(law, 0, (double)e->setup.all_b), a->node,
               sim_lane(KIND_FLOW, 0), e->seq++, h, ++a->gen);
    else
        sim_at(&e->sim, t + stack_ns(law->given ? law->constant_ns : 0), a->node,
               sim_lane(KIND_MOVE, 0), e->seq++, h, 0);
}

void stack_flow_ready(struct stack_engine *e, struct act *server, uint64_t t)
{
    if (++server->ready == 2)
        start(e, server, t);
}

/* The asker offered its memory with the request. */
void stack_flow_pull(struct stack_engine *e, struct act *server, uint64_t t)
{
    start(e, server, t);
}

static void count(struct stack_engine *e, const struct act *a, uint64_t t)
{
    struct stack_counts *k = &e->counts;
    bool writes = a->var[STACK_VAR_WRITES];
    uint64_t n = (a->flow_b + e->fs->buffer_b - 1) / e->fs->buffer_b;

    k->data_messages += n;
    k->data_b += a->flow_b;
    *(writes ? &k->client_out_b : &k->client_in_b) += a->flow_b;
    *(writes ? &k->server_in_b : &k->server_out_b) += a->flow_b;
    if (e->hooks.message) {
        uint32_t client = a->asker_node;

        e->hooks.message(e->hooks.ctx, &(struct stack_sent){.from = writes ? client : a->node,
                                                            .to = writes ? a->node : client,
                                                            .op = a->op,
                                                            .message = a->serving,
                                                            .data = true,
                                                            .bytes = a->flow_b,
                                                            .t_ns = t});
    }
}

/* The client's end of the flow lasts as long. */
static void below_client(struct stack_engine *e, struct act *client, uint64_t from, uint64_t to)
{
    const struct stack_state *s = &e->fs->state.v[client->state];

    if (s->below != STACK_NONE && s->does == STACK_RECEIVE && to > from)
        stack_below(e, client, s->below, from, to - from);
}

/* The client has received, or sent, all. */
static void client_done(struct stack_engine *e, struct act *a, uint64_t t)
{
    if (!stack_asker(e, a))
        return;
    below_client(e, act_at(e, a->asker), a->t_exit, t);
    stack_post(e, t, a->asker, a->asker_i, PHASE_MOVED, 0, WR_NIL);
}

static void server_done(struct stack_engine *e, struct act *a, uint64_t t)
{
    stack_post(e, t, act_handle(e, a), 0, PHASE_STORED, 0, WR_NIL);
}

/* What is left of a flow, without its server. */
static struct act *rest_of(struct stack_engine *e, struct act *a)
{
    struct act *rest = act_at(e, wr_pool_take(&e->acts));
    uint32_t gen = rest->gen;

    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL)
            leave(e, a, i);
    *rest = *a;
    rest->gen = gen;
    for (int i = 0; i < 2; i++)
        if (rest->res[i] != WR_NIL)
            join(e, rest, i);
    a->gen++;
    return rest;
}

static void sender_done(struct stack_engine *e, struct act *a, uint64_t t)
{
    settle(a, t);
    a->ahead_ns = 0;
    if (a->var[STACK_VAR_WRITES]) {
        client_done(e, a, t);
    } else {
        server_done(e, a, t);
        a = rest_of(e, a);
    }
    a->sent = true;
    expect(e, a, t);
}

static void receiver_done(struct stack_engine *e, struct act *a, uint64_t t)
{
    bool writes = a->var[STACK_VAR_WRITES];

    carry(e, a, -1);
    if (!(writes && a->sent) && !e->fs->state.v[a->state].pulls)
        client_done(e, a, writes ? t : t + stack_ns(e->laws->latency_ns));
    if (!writes && a->sent) {
        a->open = 0;
        wr_pool_give(&e->acts, act_handle(e, a));
    } else {
        server_done(e, a, t);
    }
}

void stack_flow_event(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    struct act *a = act_at(e, ev->arg);
    uint64_t t = ev->t;

    if (a->gen != ev->arg2 || !a->open)
        return;
    if (a->ahead_ns > 0) {
        sender_done(e, a, t);
        return;
    }
    a->gen++;
    count(e, a, t);
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL) {
            leave(e, a, i);
            changed(e, a->res[i], t);
        }
    receiver_done(e, a, t);
}
