/* stack_flow.c -- data in transfer, and how flows share links.
 *
 * A flow begins when both ends are ready: the server's machine is in its flow state, and the client
 * has the answer that says so. Its speed is the smaller of the shares that its two links give it. A
 * link gives all its flows almost the same share; those of one call are weighted, so that they end
 * one after another. When a flow begins or ends, the flows on the same links change their speed. On
 * a link with hundreds of flows one more hardly matters: all speeds are set anew only when their
 * number has changed by 1 / FLOW_UPDATE, so n flows cost n log n and not n^2.
 *
 *   work   |=================================|=========| 0
 *                                       the sender     the receiver
 *                                       is done        is done
 *
 * The sender is done when the last bytes are in the buffers of the two sockets. A server that is
 * read from goes on then and may end, so the rest of its flow is handed to an activity without a
 * machine.
 *
 * Invariants: 0 <= work_ns <= all_ns; a flow is in the list of each of its links; the weight of a
 *             link is the sum of the weights of its flows.
 */
#include <assert.h>
#include <math.h>

#include "stack_engine_priv.h"

/* All speeds of a link are set anew when the number of its flows has changed by 1 / 32: until then
 * a share is off by 3 % at most. */
enum { FLOW_UPDATE = 32 };

/* A flow's part of a link. A shared medium may be faster for several flows than for one. */
static double flow_link_part(const struct stack_engine *e, const struct activity *a, uint32_t link)
{
    const struct node *n = &e->node[link];
    double part = a->weight / n->weight;

    return e->timings->parallel > 0 && link == e->medium
               ? part * pow(n->flows, e->timings->parallel)
               : part;
}

static double flow_share(const struct stack_engine *e, const struct activity *a)
{
    double mine = flow_link_part(e, a, a->res[0]);

    return a->res[1] == WR_NIL ? mine : fmin(mine, flow_link_part(e, a, a->res[1]));
}

static void flow_advance(struct activity *a, uint64_t t)
{
    assert(t >= a->t_speed);
    a->work_ns -= (double)(t - a->t_speed) * a->speed;
    if (a->work_ns < 0)
        a->work_ns = 0;
    a->t_speed = t;
}

/* Schedules the end of the flow, or the time when its sender is done. */
static void flow_schedule_end(struct stack_engine *e, struct activity *a, uint64_t t)
{
    assert(a->speed >= 0);
    double work = fmax(a->work_ns - a->ahead_ns, 0);

    sim_at(&e->sim, t + stack_ns(ceil(work / a->speed)), a->node, sim_subkey(KIND_FLOW, 0),
           e->seq++, activity_handle(e, a), ++a->gen);
}

/* The slowest of its links, its own buffers and its part of the server's storage. */
static double flow_speed(const struct stack_engine *e, const struct activity *a)
{
    double speed = fmin(flow_share(e, a) / e->share_ref, a->most_speed);

    if (a->device_ns > 0)
        speed = fmin(speed, a->all_ns / a->device_ns / e->node[a->node].flows);
    return speed;
}

static void flow_set_speed(struct stack_engine *e, struct activity *a, uint64_t t)
{
    double speed = flow_speed(e, a);

    if (speed == a->speed)
        return;
    flow_advance(a, t);
    a->speed = speed;
    flow_schedule_end(e, a, t);
}

/* The number of flows of a link has changed. */
static void flow_link_changed(struct stack_engine *e, uint32_t r, uint64_t t)
{
    struct node *n = &e->node[r];
    uint32_t by = n->flows > n->flows_seen ? n->flows - n->flows_seen : n->flows_seen - n->flows;

    if (by * FLOW_UPDATE <= n->flows_seen)
        return;
    n->flows_seen = n->flows;
    for (uint32_t h = n->flow; h != WR_NIL;) {
        struct activity *a = activity_at(e, h);
        int side = a->res[0] == r ? 0 : 1;

        flow_set_speed(e, a, t);
        h = a->next[side];
    }
}

static int flow_side(const struct activity *a, uint32_t r)
{
    return a->res[0] == r ? 0 : 1;
}

static void flow_join_link(struct stack_engine *e, struct activity *a, int side)
{
    struct node *n = &e->node[a->res[side]];
    uint32_t h = activity_handle(e, a);

    assert(a->weight > 0);
    a->prev[side] = WR_NIL;
    a->next[side] = n->flow;
    if (n->flow != WR_NIL) {
        struct activity *b = activity_at(e, n->flow);

        b->prev[flow_side(b, a->res[side])] = h;
    }
    n->flow = h;
    n->flows++;
    n->weight += a->weight;
}

static void flow_leave_link(struct stack_engine *e, struct activity *a, int side)
{
    uint32_t r = a->res[side];
    struct node *n = &e->node[r];

    assert(n->flows > 0);
    if (a->prev[side] == WR_NIL) {
        n->flow = a->next[side];
    } else {
        struct activity *b = activity_at(e, a->prev[side]);

        b->next[flow_side(b, r)] = a->next[side];
    }
    if (a->next[side] != WR_NIL) {
        struct activity *b = activity_at(e, a->next[side]);

        b->prev[flow_side(b, r)] = a->prev[side];
    }
    n->weight = --n->flows ? n->weight - a->weight : 0;
}

static const struct stack_timing *flow_timing(const struct stack_engine *e,
                                              const struct activity *a)
{
    return &e->timings->wait[a->var[STACK_VAR_WRITES] != 0][a->state];
}

/* A flow's part of what the bytes of the whole call take, and its own constant. */
static double flow_alone_work(const struct stack_timing *timing, const struct activity *a,
                              uint64_t flow_b)
{
    double call_b = fmax((double)a->var[STACK_VAR_BYTES], (double)a->flow_b);
    double bytes_ns = (double)stack_timing_ns(timing, call_b, 0) - timing->constant_ns;

    return timing->constant_ns + fmax(bytes_ns, 0) * (double)flow_b / fmax(call_b, 1);
}

/* The work of so many bytes of the flow, in ns at the share with which its timing model was
 * measured. */
static double flow_work_ns(const struct stack_engine *e, const struct activity *a, uint64_t flow_b)
{
    const struct stack_timing *timing = flow_timing(e, a);

    if (timing->given && e->timings->alone)
        return flow_alone_work(timing, a, flow_b);
    if (timing->given && timing->per_byte_ns > 0) {
        struct stack_timing bytes = *timing;

        bytes.constant_ns = 0; /* it has passed already, outside of the shared links */
        return (double)stack_timing_ns(&bytes, (double)flow_b * e->timings->servers, 0);
    }
    return (double)flow_b * e->timings->ns_per_b * e->share_ref;
}

/* The work that is left when the sender is done. A connection's window grows as data arrive, so a
 * short flow is never all in its buffers. Memory that was offered needs no sockets. */
static double flow_ahead_ns(const struct stack_engine *e, const struct activity *a)
{
    uint64_t buffer = e->timings->buffer_b[a->var[STACK_VAR_WRITES] != 0];
    double ahead = fmin((double)buffer, e->timings->buffer_part * (double)a->flow_b);

    if (!(ahead > 0) || e->fs->state.v[a->state].pulls)
        return 0;
    return fmax(a->work_ns - flow_work_ns(e, a, a->flow_b - (uint64_t)ahead), 0);
}

/* Time of the server's storage for a flow. The page cache takes what fits, the disk the rest; data
 * written last are read from the cache. The cache fills in the order in which flows begin. */
static double flow_device_ns(struct stack_engine *e, const struct activity *a)
{
    const struct stack_timings *l = e->timings;
    struct node *n = &e->node[a->node];
    bool writes = a->var[STACK_VAR_WRITES] != 0;
    double b = (double)a->flow_b, cache = (double)l->cache_b, slow;

    if (!l->device)
        return 0;
    if (writes) {
        n->stored_b += a->flow_b;
        slow = fmin(fmax((double)n->stored_b - cache, 0), b);
    } else {
        slow = b * fmax(1 - cache / fmax((double)n->stored_b, 1), 0);
    }
    return slow * l->disk_ns[writes] + (b - slow) * l->cache_ns;
}

/* One receive is outstanding: between two buffers nothing of a flow moves. */
static double flow_most_speed(const struct stack_engine *e, const struct activity *a)
{
    double n = ceil((double)a->flow_b / (double)e->fs->buffer_b);

    return a->all_ns > 0 ? a->all_ns / (a->all_ns + n * e->timings->buffer_wait_ns) / e->share_ref
                         : 1 / e->share_ref;
}

/* Over a fabric, storage and network work at the same time, a buffer behind each other: what is
 * read has to be there before it leaves, what is written arrives before it is kept. */
static double flow_storage_ns(struct stack_engine *e, struct activity *a, uint64_t bytes,
                              uint64_t t)
{
    uint16_t below = e->fs->state.v[a->state].below;

    return below == STACK_NONE ? 0 : (double)bytes * stack_below_per_byte(e, a, below, t);
}

static double flow_buffer_ns(struct stack_engine *e, struct activity *a, uint64_t t)
{
    return flow_storage_ns(e, a, a->flow_b < e->fs->buffer_b ? a->flow_b : e->fs->buffer_b, t);
}

static void flow_move_by_wire(struct stack_engine *e, struct activity *a, uint64_t t)
{
    bool writes = a->var[STACK_VAR_WRITES];

    a->gen++;
    a->t_speed = t;
    a->work_ns = flow_storage_ns(e, a, a->flow_b, t);
    stack_wire_flow(e, activity_handle(e, a), writes ? a->requester_node : a->node,
                    writes ? a->node : a->requester_node,
                    t + (writes ? 0 : stack_ns(flow_buffer_ns(e, a, t))));
}

uint64_t stack_flow_landed(struct stack_engine *e, struct activity *a, uint64_t t)
{
    uint64_t kept = a->t_speed + stack_ns(a->work_ns);

    if (a->var[STACK_VAR_WRITES])
        t += stack_ns(flow_buffer_ns(e, a, t));
    return kept > t ? kept : t;
}

/* The weight of a flow on its links. The flows of one call end one after another; a different one
 * is first for each client, so that servers have the same load. */
static double flow_weight(const struct stack_engine *e, const struct activity *a)
{
    int64_t n = a->var[STACK_VAR_COUNT], i = a->var[STACK_VAR_I];

    double apart = e->timings->apart[a->var[STACK_VAR_WRITES] != 0];

    if (n < 2 || i < 0 || !(apart > 0))
        return 1;
    double at = (double)((i + a->requester_node) % n) / (double)(n - 1);

    return 1 + apart * (1 - 2 * at);
}

/* The data begin to move. */
void stack_flow_move(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    struct activity *a = activity_at(e, ev->arg);
    uint64_t t = ev->t;

    if (e->setup.wire && a->flow_b && a->requester_node != a->node) {
        flow_move_by_wire(e, a, t);
        return;
    }
    if (e->timings->medium == STACK_SHARED) {
        a->res[0] = e->medium;
        a->res[1] = WR_NIL;
    } else {
        a->res[0] = a->requester_node;
        a->res[1] = a->node;
    }
    a->work_ns = a->all_ns = flow_work_ns(e, a, a->flow_b);
    a->ahead_ns = flow_ahead_ns(e, a);
    a->most_speed = flow_most_speed(e, a);
    a->weight = flow_weight(e, a);
    a->device_ns = flow_device_ns(e, a);
    a->t_speed = t;
    a->speed = 0;
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL)
            flow_join_link(e, a, i);
    flow_set_speed(e, a, t);
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL)
            flow_link_changed(e, a->res[i], t);
}

/* Counts the flow on its links, from when both ends are ready until the receiver is done. */
static void flow_count_on_links(struct stack_engine *e, const struct activity *a, int more)
{
    bool writes = a->var[STACK_VAR_WRITES] != 0, shared = e->timings->medium == STACK_SHARED;
    uint32_t at[2] = {shared ? e->medium : a->requester_node, a->node};

    for (int i = 0; i < (shared ? 1 : 2); i++) {
        e->node[at[i]].data[writes] += (uint32_t)more;
        e->node[at[i]].data_b[writes] += (uint64_t)more * a->flow_b;
    }
}

/* Both ends are ready. */
static void flow_start(struct stack_engine *e, struct activity *a, uint64_t t)
{
    const struct stack_timing *timing = flow_timing(e, a);
    bool apart =
        timing->given && (!e->timings->alone || e->setup.wire); /* else it is part of the work */
    uint32_t h = activity_handle(e, a);

    a->ready = 0;
    a->ahead_ns = 0;
    a->sent = false;
    a->flow_b = stack_world_moves(e, a);
    a->res[0] = a->res[1] = WR_NIL;
    e->counts.flows++;
    flow_count_on_links(e, a, 1);
    if (timing->poly) /* a time, whatever else moves */
        sim_at(&e->sim, t + stack_timing_ns(timing, 0, (double)e->setup.all_b), a->node,
               sim_subkey(KIND_FLOW, 0), e->seq++, h, ++a->gen);
    else
        sim_at(&e->sim, t + stack_ns(apart ? timing->constant_ns : 0), a->node,
               sim_subkey(KIND_MOVE, 0), e->seq++, h, 0);
}

void stack_flow_ready(struct stack_engine *e, struct activity *server, uint64_t t)
{
    if (++server->ready == 2)
        flow_start(e, server, t);
}

/* The requester offered its memory with the request. */
void stack_flow_pull(struct stack_engine *e, struct activity *server, uint64_t t)
{
    flow_start(e, server, t);
}

static void flow_count(struct stack_engine *e, const struct activity *a, uint64_t t)
{
    struct stack_counts *k = &e->counts;
    bool writes = a->var[STACK_VAR_WRITES];
    uint64_t n = (a->flow_b + e->fs->buffer_b - 1) / e->fs->buffer_b;

    k->data_messages += n;
    k->data_b += a->flow_b;
    *(writes ? &k->client_out_b : &k->client_in_b) += a->flow_b;
    *(writes ? &k->server_in_b : &k->server_out_b) += a->flow_b;
    if (e->hooks.message) {
        uint32_t client = a->requester_node;

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
static void flow_below_client(struct stack_engine *e, struct activity *client, uint64_t from,
                              uint64_t to)
{
    const struct stack_state *s = &e->fs->state.v[client->state];

    if (s->below != STACK_NONE && s->does == STACK_RECEIVE && to > from)
        stack_below(e, client, s->below, from, to - from);
}

/* The client has received, or sent, all. */
static void flow_client_done(struct stack_engine *e, struct activity *a, uint64_t t)
{
    if (!stack_requester_is_open(e, a))
        return;
    flow_below_client(e, activity_at(e, a->requester), a->t_exit, t);
    stack_post(e, t, a->requester, a->requester_i, PHASE_MOVED, 0, WR_NIL);
}

static void flow_server_done(struct stack_engine *e, struct activity *a, uint64_t t)
{
    stack_post(e, t, activity_handle(e, a), 0, PHASE_STORED, 0, WR_NIL);
}

/* Moves the rest of a flow to an activity without a machine, so that the server may end. */
static struct activity *flow_split_rest(struct stack_engine *e, struct activity *a)
{
    struct activity *rest = activity_at(e, wr_pool_take(&e->activities));
    uint32_t gen = rest->gen;

    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL)
            flow_leave_link(e, a, i);
    *rest = *a;
    rest->lost = WR_NIL;
    rest->gen = gen;
    for (int i = 0; i < 2; i++)
        if (rest->res[i] != WR_NIL)
            flow_join_link(e, rest, i);
    a->gen++;
    return rest;
}

static void flow_sender_done(struct stack_engine *e, struct activity *a, uint64_t t)
{
    flow_advance(a, t);
    a->ahead_ns = 0;
    if (a->var[STACK_VAR_WRITES]) {
        flow_client_done(e, a, t);
    } else {
        flow_server_done(e, a, t);
        a = flow_split_rest(e, a);
    }
    a->sent = true;
    flow_schedule_end(e, a, t);
}

static void flow_receiver_done(struct stack_engine *e, struct activity *a, uint64_t t)
{
    bool writes = a->var[STACK_VAR_WRITES];

    flow_count_on_links(e, a, -1);
    if (!(writes && a->sent) && !e->fs->state.v[a->state].pulls)
        flow_client_done(e, a, writes ? t : t + stack_ns(e->timings->latency_ns));
    if (!writes && a->sent) {
        a->open = 0;
        wr_pool_give(&e->activities, activity_handle(e, a));
    } else {
        flow_server_done(e, a, t);
    }
}

void stack_flow_event(void *ctx, const struct sim_event *ev)
{
    struct stack_engine *e = ctx;
    struct activity *a = activity_at(e, ev->arg);
    uint64_t t = ev->t;

    if (a->gen != ev->arg2 || !a->open)
        return;
    if (a->ahead_ns > 0) {
        flow_sender_done(e, a, t);
        return;
    }
    a->gen++;
    flow_count(e, a, t);
    for (int i = 0; i < 2; i++)
        if (a->res[i] != WR_NIL) {
            flow_leave_link(e, a, i);
            flow_link_changed(e, a->res[i], t);
        }
    flow_receiver_done(e, a, t);
}
