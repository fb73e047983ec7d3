/* client.c -- the client's side of calls: a pool of calls in flight over one connection.
 *
 * Used by driver.c (benchmarks) and lib/weir-rpc.c (applications), one thread at a time. A call's
 * identifier is its slot and the slot's turn, so a late answer to an earlier call is not taken for
 * the answer to the present one. Invariant: under_way slots of call[] are taken, the others are on
 * the stack free_call[].
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rpc/rpc.h"

/* One slot for a call. */
struct call {
    uint64_t cookie; /* the caller's */
    uint16_t turn;   /* calls that had this slot before; part of the identifier */
    bool taken;      /* in flight */
};

struct rpc_client {
    /* set up by rpc_client_open() */
    struct rpc_opts o;
    struct rpc_ep *ep;
    rpc_done *done;
    void *ctx;
    bool met; /* the handshake is done */
    /* per call */
    struct rpc_waiter waiter;
    struct call *call;   /* o.depth slots */
    uint32_t *free_call; /* a stack of free slots */
    uint32_t under_way;  /* slots that are taken */
    uint32_t answers;    /* in the present step */
    /* while an answer is missing */
    uint64_t looked_ns;          /* last check; 0: none since the last message */
    uint64_t silent_ns;          /* how long, not counting times when this process was stopped */
    bool pinged;                 /* a ping was sent */
    uint64_t dropped[RPC_DROPS]; /* messages, by reason */
};

enum {
    PING_NS = 100000000,            /* silence after which the server is pinged */
    DEAD_NS = UINT64_C(3100000000), /* silence after which it counts as gone */
    HEARD_NS = 300000000,           /* the longest time between two checks that counts */
    SEND_TRIES = 4096               /* failed sends between checks that the server lives */
};

static void client_on_msg(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    struct rpc_client *c = ctx;
    struct rpc_head h = {.id = 0};
    enum rpc_drop drop = rpc_wire_take(&h, bytes, len, &c->o.token);

    (void)peer;
    uint32_t at = h.id & 0xffff;

    c->looked_ns = 0;
    if (drop == RPC_TAKEN && h.kind == RPC_RESPONSE && h.id == RPC_PING_ID)
        return;

    if (drop == RPC_TAKEN && (h.kind != RPC_RESPONSE || at >= c->o.depth || !c->call[at].taken ||
                              c->call[at].turn != h.id >> 16))
        drop = RPC_DROP_UNEXPECTED;
    if (drop != RPC_TAKEN) {
        c->dropped[drop]++;
        return;
    }
    struct call *call = &c->call[at];

    call->taken = false;
    call->turn++;
    c->free_call[c->o.depth - c->under_way--] = at;
    c->answers++;
    c->done(c->ctx, call->cookie, h.status, (const uint8_t *)bytes + sizeof h, h.len);
}

static void client_on_bulk(void *ctx, uint64_t cookie, bool ok)
{
    (void)ctx;
    (void)cookie;
    (void)ok;
}

/* Takes a slot and sends the call; the caller has checked that one is free. */
static void client_send_call(struct rpc_client *c, enum rpc_kind kind, enum rpc_op op,
                             uint64_t cookie, const void *payload, uint32_t len)
{
    assert(c->under_way < c->o.depth);
    uint32_t at = c->free_call[c->o.depth - 1 - c->under_way++];
    struct call *call = &c->call[at];
    struct rpc_head h =
        rpc_head_of(kind, op, &c->o.token, (uint32_t)call->turn << 16 | at, len, c->under_way);

    call->taken = true;
    call->cookie = cookie;
    rpc_waiter_happened(&c->waiter); /* an answer is to be expected soon */
    c->looked_ns = 0;
    /* To a server that has exited nothing can ever be sent: the call then stays unanswered. */
    for (uint32_t tries = 1; !c->ep->t->send(c->ep, 0, &h, payload); tries++) {
        c->ep->t->progress(c->ep);
        if (tries % SEND_TRIES == 0 && !rpc_client_server_alive(c))
            return;
    }
}

bool rpc_client_start(struct rpc_client *c, const struct rpc_call *call)
{
    if (c->under_way == c->o.depth)
        return false;
    if (call->op == RPC_OP_NOOP || call->op >= RPC_OP_USAGE) {
        client_send_call(c, RPC_REQUEST, call->op, call->cookie, call->payload, call->len);
        return true;
    }
    struct rpc_ref ref = c->ep->t->refer(c->ep, call->at, call->bulk_len);

    ref.place = call->place;
    client_send_call(c, RPC_REQUEST, call->op, call->cookie, &ref, sizeof ref);
    return true;
}

void rpc_client_flush(struct rpc_client *c)
{
    c->ep->t->flush(c->ep);
}

uint32_t rpc_client_step(struct rpc_client *c, uint64_t timeout_ns)
{
    assert(c->under_way <= c->o.depth);
    c->answers = 0;
    c->ep->eager = c->under_way == 1 ? rpc_waiter_looks(&c->waiter) : 0;
    if (!rpc_waiter_blocks_first(&c->waiter, c->ep))
        c->ep->t->progress(c->ep);
    uint32_t found = c->answers;

    if (!c->answers)
        rpc_waiter_idle(&c->waiter, c->ep, timeout_ns, false);
    if (c->answers)
        rpc_waiter_happened(&c->waiter);
    rpc_waiter_looked(&c->waiter, c->ep->eager, found);
    return c->answers;
}

struct greeting {
    bool answered;
    enum rpc_status status;
};

static void client_on_greeting(void *ctx, uint64_t cookie, enum rpc_status status,
                               const void *payload, uint32_t len)
{
    struct greeting *g = ctx;

    (void)cookie;
    (void)payload;
    (void)len;
    *g = (struct greeting){true, status};
}

/* Says hello and waits for the answer until nothing is left of the time, or the connection. */
static void client_say_hello(struct rpc_client *c, const struct greeting *g, uint64_t *left_ns)
{
    uint8_t about[RPC_ADDRESS];
    size_t n = c->ep->t->introduce(c->ep, about, sizeof about);
    uint64_t last = wr_clock_ns();

    client_send_call(c, RPC_HELLO, 0, 0, about, (uint32_t)n);
    c->ep->t->flush(c->ep);
    while (!g->answered && *left_ns && c->ep->t->alive(c->ep, 0)) {
        rpc_client_step(c, 100000000);
        uint64_t now = wr_clock_ns(), since = now - last < HEARD_NS ? now - last : HEARD_NS;

        last = now;
        /* If we were stopped for long, little of it counts. */
        *left_ns -= since < *left_ns ? since : *left_ns;
    }
}

/* The call that the hello was is taken back. */
static bool client_connect_again(struct rpc_client *c, const char *address, uint64_t pause_ns,
                                 struct wr_err *err)
{
    nanosleep(&(struct timespec){0, (long)pause_ns}, NULL);
    for (uint32_t i = 0; i < c->o.depth; i++)
        c->call[i].taken = false;
    c->under_way = 0;
    c->ep->t->forget(c->ep, 0);
    return c->ep->t->connect(c->ep, address, err);
}

static bool client_handshake(struct rpc_client *c, const char *address, struct wr_err *err)
{
    enum { FIRST_NS = 1000000, TRIES = 10 }; /* the last one after 0.5 s */
    uint64_t left = 1000000ull * (c->o.hello_ms ? c->o.hello_ms : 10000);
    struct greeting g = {false, RPC_OK};

    c->done = client_on_greeting;
    c->ctx = &g; /* cppcheck-suppress autoVariables; until the greeting has come */
    client_say_hello(c, &g, &left);
    for (int i = 0; c->ep->t->may_close_early && i < TRIES && !g.answered && left; i++) {
        if (!client_connect_again(c, address, (uint64_t)FIRST_NS << i, err))
            return false;
        client_say_hello(c, &g, &left);
    }
    if (!g.answered)
        return wr_fail(err, WR_SYSTEM,
                       "the server at %.60s does not answer; check that it runs and that its "
                       "token is ours",
                       address);
    if (g.status != RPC_OK)
        return wr_fail(err, WR_INPUT,
                       "the server at %.60s speaks another version; use the same weir for servers "
                       "and clients",
                       address);
    return true;
}

static bool client_check_opts(const struct rpc_opts *o, struct wr_err *err)
{
    if (!o->depth || o->depth > 4096)
        return wr_fail(err, WR_INPUT,
                       "a client has from 1 to 4096 calls under way; give another "
                       "depth");
    return true;
}

bool rpc_client_open(struct rpc_client **ret, const struct rpc_opts *o, const char *address,
                     rpc_done *done, void *ctx, struct wr_err *err)
{
    struct rpc_ep_opts eo = {.provider = o->provider,
                             .bind = o->bind,
                             .domain = o->domain,
                             .depth = o->depth,
                             .peers = 1,
                             .bulk_b = o->bulk_b,
                             .ticks = o->ticks,
                             .may_block = o->wait == RPC_BLOCK || o->wait == RPC_ADAPTIVE};

    if (!client_check_opts(o, err))
        return false;
    assert(o->transport);
    struct rpc_client *c = wr_zalloc(1, sizeof *c);

    c->o = *o;
    c->call = wr_zalloc(o->depth, sizeof *c->call);
    c->free_call = wr_zalloc(o->depth, sizeof *c->free_call);
    for (uint32_t i = 0; i < o->depth; i++)
        c->free_call[i] = o->depth - 1 - i;
    rpc_waiter_init(&c->waiter, o);
    if (!o->transport->open(&c->ep, &eo, err)) {
        rpc_client_close(c);
        return false;
    }
    c->ep->ctx = c;
    c->ep->on_msg = client_on_msg;
    c->ep->on_bulk = client_on_bulk;
    if (!o->transport->connect(c->ep, address, err) || !client_handshake(c, address, err)) {
        rpc_client_close(c);
        return false;
    }
    c->met = true;
    rpc_waiter_test(&c->waiter, c->ep);
    c->done = done;
    c->ctx = ctx;
    if (c->ep->bulk)
        memset(c->ep->bulk, 0x5a, o->bulk_b);
    *ret = c;
    return true;
}

/* The server can then give the slot to another client. If the message is lost, the server notices
 * the closed connection or the silence. */
static void client_send_bye(struct rpc_client *c)
{
    struct rpc_head h = rpc_head_of(RPC_BYE, 0, &c->o.token, 0, 0, 0);

    if (!c->under_way && c->ep->t->send(c->ep, 0, &h, NULL))
        c->ep->t->flush(c->ep);
}

void rpc_client_close(struct rpc_client *c)
{
    if (!c)
        return;
    if (c->met)
        client_send_bye(c);
    if (c->ep)
        c->ep->t->close(c->ep);
    free(c->call);
    free(c->free_call);
    free(c);
}

uint8_t *rpc_client_bulk(struct rpc_client *c)
{
    return c->ep->bulk;
}

size_t rpc_client_inlined(const struct rpc_client *c)
{
    return c->ep->inlined;
}

void rpc_client_set_oversubscribed(struct rpc_client *c, bool oversubscribed)
{
    c->waiter.oversubscribed = oversubscribed;
}

uint32_t rpc_client_under_way(const struct rpc_client *c)
{
    return c->under_way;
}

static void client_ping(struct rpc_client *c)
{
    struct rpc_head h = rpc_head_of(RPC_REQUEST, RPC_OP_NOOP, &c->o.token, RPC_PING_ID, 0, 0);

    c->pinged = true;
    c->ep->t->send(c->ep, 0, &h, NULL);
    c->ep->t->flush(c->ep);
}

/* A server that works long on a call still answers a ping at once, so that three seconds of
 * silence are death. Asked for again and again while an answer is missing; if we ourselves were
 * stopped for long in between, little of that counts. */
bool rpc_client_server_alive(struct rpc_client *c)
{
    uint64_t now = wr_clock_ns(), since = now - c->looked_ns;

    if (!c->ep->t->alive(c->ep, 0))
        return false;
    if (c->ep->t->detects_exit)
        return true;
    if (!c->looked_ns) {
        c->silent_ns = 0;
        c->pinged = false;
    } else
        c->silent_ns += since < HEARD_NS ? since : HEARD_NS;
    c->looked_ns = now;
    if (!c->pinged && c->silent_ns > PING_NS)
        client_ping(c);
    return c->silent_ns < DEAD_NS;
}

uint64_t rpc_client_sleeps(const struct rpc_client *c)
{
    return c->waiter.sleeps;
}

enum rpc_wait rpc_client_waits(const struct rpc_client *c)
{
    return c->waiter.policy;
}
