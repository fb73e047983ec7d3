/* flow.c -- data on their way, and how flows share links.
 *
 * A flow begins when both ends are ready: the server's machine is in its flow, and the client has
 * the answer that says so. Its speed is the smaller of the shares its two links give it; a link
 * gives all its flows the same. When a flow comes or goes, those on the same links change their
 * speed. On a link with hundreds of flows one more hardly matters: there all speeds are set anew
 * only when their number has changed by a thirty-second part, so n flows cost n log n and not n^2.
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

static void set_speed(struct stack_engine *e, struct act *a, uint64_t t)
{
    double speed = share(e, a) / e->share_ref;

    if (speed == a->speed)
        return;
    settle(a, t);
    a->speed = speed;
    sim_at(&e->sim, t + stack_ns(ceil(a->work_ns / speed)), a->node, sim_lane(KIND_FLOW, 0),
           e->seq++, act_handle(e, a), ++a->gen);
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

/* What the flow has to do, in nanoseconds at the share its law was measured with. */
static double work_of(const struct stack_engine *e, const struct act *a)
{
    const struct stack_law *law = law_of(e, a);

    if (law->given && law->per_byte_ns > 0) {
        struct stack_law bytes = *law;

        bytes.constant_ns = 0; /* it has passed already, and nobody shares it */
        return (double)stack_law_ns(&bytes, (double)a->flow_b * e->laws->servers, 0);
    }
    return (double)a->flow_b * e->laws->ns_per_b * e->share_ref;
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
    a->work_ns = work_of(e, a);
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

/* Both ends are ready. */
static void start(struct stack_engine *e, struct act *a, uint64_t t)
{
    const struct stack_law *law = law_of(e, a);
    uint32_t h = act_handle(e, a);

    a->ready = 0;
    a->flow_b = stack_world_moves(e, a);
    a->res[0] = a->res[1] = WR_NIL;
    e->counts.flows++;
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

void stack_flow_event(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    struct act *a = act_at(e, ev->arg);
    uint64_t t = ev->t;

    if (a->gen != ev->arg2 || !a->open)
        return;
    a->gen++;
    count(e, a, t);
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL) {
            leave(e, a, i);
            changed(e, a->res[i], t);
        }
    uint64_t reaches = a->var[STACK_VAR_WRITES] ? t : t + stack_ns(e->laws->latency_ns);

    if (!e->fs->state.v[a->state].pulls && stack_asker(e, a)) {
        below_client(e, act_at(e, a->asker), a->t_exit, reaches);
        stack_post(e, reaches, a->asker, a->asker_i, PHASE_MOVED, 0, WR_NIL);
    }
    stack_post(e, t, ev->arg, 0, PHASE_STORED, 0, WR_NIL);
}
