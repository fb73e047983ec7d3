/* server.c -- takes requests, answers what can be answered at once, and looks after its clients.
 *
 * What takes more than one step is a call (server_calls.c).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "rpc/usage.h"
#include "server_priv.h"

enum { PAGE = 4096, LOOK_AFTER_NS = 200000000, LOOK_STEPS = 1024, ASK_TRIES = 5 };
#define ASK_FIRST_NS UINT64_C(1000000000)
#define ASK_MOST_NS (64 * ASK_FIRST_NS)

static void server_fill_pattern(uint8_t *at, size_t len)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint64_t v = rpc_pattern(i);

        memcpy(at + i, &v, 8);
    }
}

/* ---- requests ---- */

static enum rpc_status server_check_bulk(const struct rpc_server *s, enum rpc_op op,
                                         const struct rpc_ref *r)
{
    bool storage = op == RPC_OP_SREAD || op == RPC_OP_SWRITE;

    wr_check(op < RPC_OPS);
    if (s->o.share_b && !storage)
        return r->len && r->len <= RPC_BULK_MOST && r->place <= s->o.share_b &&
                       r->len <= s->o.share_b - r->place
                   ? RPC_OK
                   : RPC_BAD_RANGE;
    if (!r->len || r->len > s->o.bulk_b)
        return RPC_BAD_RANGE;
    if (!storage)
        return RPC_OK;
    if (!s->store || (op == RPC_OP_SWRITE && !rpc_store_writable(s->store)))
        return RPC_BAD_OP;
    if (r->len % PAGE || r->place % PAGE || r->place > s->o.storage_b ||
        r->len > s->o.storage_b - r->place)
        return RPC_BAD_RANGE;
    return RPC_OK;
}

/* The bytes are copied first: a client that shares memory with us may still change them. */
static void server_on_own(struct rpc_server *s, uint32_t peer, const struct rpc_head *h,
                          const uint8_t *payload)
{
    uint8_t asked[RPC_INLINE_MOST], reply[RPC_INLINE_MOST];
    int most = (int)s->ep->inlined;

    wr_check(h->op >= RPC_OP_OWN && h->len <= sizeof asked);
    memcpy(asked, payload, h->len);
    int n = s->o.handle(s->o.handle_ctx, h->op - RPC_OP_OWN, asked, h->len, reply, s->ep->inlined);

    s->stats.handled++;
    if (n < 0)
        server_respond(s, peer, h->id, RPC_OWN_STATUS | -(uint32_t)n, NULL, 0);
    else
        server_respond(s, peer, h->id, RPC_OK, reply, (uint32_t)(n < most ? n : most));
}

struct rpc_used rpc_server_used(const struct rpc_server *s)
{
    struct rpc_usage u = rpc_usage_now();
    struct rpc_used used = {.user_ns = u.user_ns,
                            .sys_ns = u.sys_ns,
                            .switches = u.switches,
                            .forced_switches = u.forced_switches,
                            .refused = s->stats.refused,
                            .waits = s->waiter.policy};

    for (int i = RPC_TAKEN + 1; i < RPC_DROPS; i++)
        used.dropped += s->stats.dropped[i];
    return used;
}

static void server_on_request(struct rpc_server *s, uint32_t peer, const struct rpc_head *h,
                              const uint8_t *payload)
{
    if (h->op == RPC_OP_NOOP) {
        s->stats.calls[RPC_OP_NOOP]++;
        server_respond(s, peer, h->id, RPC_OK, payload, h->len);
        return;
    }
    if (h->op == RPC_OP_USAGE) {
        struct rpc_used used = rpc_server_used(s);

        server_respond(s, peer, h->id, RPC_OK, &used, sizeof used);
        return;
    }
    if (h->op >= RPC_OP_OWN && s->o.handle) {
        server_on_own(s, peer, h, payload);
        return;
    }
    struct rpc_ref ref;

    if (h->op >= RPC_OPS || h->len != sizeof ref) {
        server_respond(s, peer, h->id, RPC_BAD_OP, NULL, 0);
        return;
    }
    memcpy(&ref, payload, sizeof ref);
    enum rpc_status status = server_check_bulk(s, h->op, &ref);

    if (status != RPC_OK)
        server_respond(s, peer, h->id, status, NULL, 0);
    else
        server_call(s, peer, h->id, h->op, &ref);
}

static void server_on_hello(struct rpc_server *s, uint32_t peer, const struct rpc_head *h,
                            const uint8_t *payload)
{
    struct server_peer *p = &s->peer[peer];

    assert(peer < s->o.peers);
    if (p->met || !s->ep->t->meet(s->ep, peer, payload, h->len)) {
        s->stats.dropped[RPC_DROP_UNEXPECTED]++;
        return;
    }
    s->stats.peers++;
    p->silence = (struct server_silence){.broken = true};
    p->met = h->version == RPC_VERSION;
    server_respond(s, peer, h->id, p->met ? RPC_OK : RPC_BAD_VERSION, NULL, 0);
}

/* The slot of the peer is free from now on. A peer that leaves while a call of its is in progress
 * keeps its slot, or the next peer would get its answers. */
static void server_on_bye(struct rpc_server *s, uint32_t peer)
{
    assert(peer < s->o.peers);
    if (!s->peer[peer].met || s->peer[peer].calls) {
        s->stats.dropped[RPC_DROP_UNEXPECTED]++;
        return;
    }
    s->stats.left++;
    s->peer[peer].met = false;
    s->ep->t->forget(s->ep, peer);
}

/* Only clients that call count for oversubscription. */
static void server_count_callers(struct rpc_server *s, uint32_t peer)
{
    enum { LAST = 64 };

    s->several |= peer != s->last_peer;
    s->last_peer = peer;
    if (++s->messages % LAST)
        return;
    s->waiter.oversubscribed = s->o.oversubscribed && s->several;
    s->several = false;
}

static void server_on_msg(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    struct rpc_server *s = ctx;
    struct rpc_head h;
    enum rpc_drop drop = rpc_wire_take(&h, bytes, len, &s->o.token);
    const uint8_t *payload = (const uint8_t *)bytes + sizeof h;

    wr_check(peer < s->o.peers);
    /* The answer first: a client waits for it. */
    if (drop == RPC_TAKEN && h.kind == RPC_REQUEST && s->peer[peer].met)
        server_on_request(s, peer, &h, payload);
    else if (drop == RPC_TAKEN && h.kind == RPC_HELLO)
        server_on_hello(s, peer, &h, payload);
    else if (drop == RPC_TAKEN && h.kind == RPC_BYE)
        server_on_bye(s, peer);
    else
        s->stats.dropped[drop == RPC_TAKEN ? RPC_DROP_UNEXPECTED : drop]++;
    s->single = drop == RPC_TAKEN && h.status == 1;
    s->peer[peer].silence.broken = true;
    server_count_callers(s, peer);
}

/* ---- life ---- */

/* The exit of a peer on another node shows only in what happens to a message to it: the transport
 * reports the peer gone, or never reports that the message left. Clients ignore these pings; the
 * pause between them doubles, so that a client that does not read for long finds few. False: the
 * peer has exited. */
static bool server_ping_silent(struct rpc_server *s, uint32_t peer, uint64_t now)
{
    struct server_silence *k = &s->peer[peer].silence;
    struct rpc_head h = rpc_head_of(RPC_RESPONSE, 0, &s->o.token, RPC_PING_ID, 0, RPC_OK);

    assert(peer < s->o.peers && !s->ep->t->detects_exit);
    if (k->broken)
        *k = (struct server_silence){.asked_ns = now, .pause_ns = ASK_FIRST_NS};
    if (!s->peer[peer].met || now - k->asked_ns < k->pause_ns)
        return true;
    if (!s->ep->t->send(s->ep, peer, &h, NULL))
        return ++k->unsent < ASK_TRIES;
    k->unsent = 0;
    k->asked_ns = now;
    k->pause_ns = k->pause_ns < ASK_MOST_NS / 2 ? 2 * k->pause_ns : ASK_MOST_NS;
    return true;
}

/* Also those that never said a proper hello: they have a place all the same. One for which we are
 * at work keeps its place until that is done. */
static void server_forget_exited(struct rpc_server *s)
{
    uint64_t now = wr_clock_ns();

    if (now - s->looked_ns < LOOK_AFTER_NS && s->deaths == s->ep->deaths)
        return;
    s->looked_ns = now;
    s->deaths = s->ep->deaths;
    for (uint32_t i = 0; i < s->o.peers; i++) {
        if (s->ep->t->alive(s->ep, i) && (s->ep->t->detects_exit || server_ping_silent(s, i, now)))
            continue;
        s->peer[i].met = false;
        server_calls_purge(s, i);
        if (!s->peer[i].calls)
            s->ep->t->forget(s->ep, i);
    }
    s->ep->t->flush(s->ep);
}

void rpc_server_step(struct rpc_server *s, uint64_t timeout_ns)
{
    uint64_t sleeps = s->waiter.sleeps;
    uint32_t n = 0;

    s->ep->eager = s->single ? rpc_waiter_looks(&s->waiter) : 0;
    if (s->store || !rpc_waiter_blocks_first(&s->waiter, s->ep))
        n = s->ep->t->progress(s->ep);
    uint32_t found = n;

    if (s->store)
        n += rpc_store_poll(s->store, server_on_store, s);
    if (s->nring)
        server_serve_ring(s);
    bool look = ++s->steps % LOOK_STEPS == 0;

    if (!n) {
        bool busy =
            (s->store && rpc_store_under_way(s->store)) || (s->nring && !s->ep->t->signals_space);

        n = rpc_waiter_idle(&s->waiter, s->ep, timeout_ns, busy);
        if (s->nring)
            server_serve_ring(s);
        look |= s->waiter.sleeps != sleeps || s->waiter.rounds % 65536 == 0;
    }
    if (look || s->deaths != s->ep->deaths)
        server_forget_exited(s);
    if (n) {
        s->ep->t->flush(s->ep);
        rpc_waiter_happened(&s->waiter);
    }
    rpc_waiter_looked(&s->waiter, s->ep->eager, found);
}

/* Written, so that no page is the kernel's page of zeros. */
static void server_fill_memory(struct rpc_server *s)
{
    if (s->o.share_b || !s->o.bulk_b)
        return;
    server_fill_pattern(s->ep->bulk, s->o.bulk_b);
    for (size_t i = 1; i < s->npieces + RPC_SOURCES; i++)
        memcpy(s->ep->bulk + i * s->o.bulk_b, s->ep->bulk, s->o.bulk_b);
}

/* Small ones cost little: then there are more of them. */
static uint32_t server_pieces(size_t each_b)
{
    size_t n = each_b ? RPC_PIECES_B / each_b : 0;

    return n < RPC_PIECES_LEAST  ? RPC_PIECES_LEAST
           : n < RPC_PIECES_MOST ? (uint32_t)n
                                 : RPC_PIECES_MOST;
}

bool rpc_server_open(struct rpc_server **ret, const struct rpc_opts *o, struct wr_err *err)
{
    struct rpc_server *s = wr_zalloc(1, sizeof *s);
    struct rpc_ep_opts eo = {.server = true,
                             .provider = o->provider,
                             .bind = o->bind,
                             .domain = o->domain,
                             .peers = o->peers,
                             .depth = o->depth,
                             .may_block = o->wait == RPC_BLOCK || o->wait == RPC_ADAPTIVE};

    s->o = *o;
    s->o.bulk_b = (o->bulk_b + PAGE - 1) / PAGE * PAGE;
    s->npieces = server_pieces(s->o.bulk_b);
    eo.bulk_b = o->share_b ? o->share_b : s->o.bulk_b * (s->npieces + RPC_SOURCES);
    bool ok = true;

    if (o->peers < 1 || o->peers > RPC_PEERS)
        ok = wr_fail(err, WR_INPUT, "a server has from 1 to %d clients; give another number",
                     RPC_PEERS);
    if (ok && o->share_b && o->storage)
        ok = wr_fail(err, WR_BUG, "memory and storage at once; report this");
    ok = ok && server_calls_init(s, err) && o->transport->open(&s->ep, &eo, err);
    if (ok && o->storage)
        ok = rpc_store_open(&s->store, o->storage, o->storage_b, s->npieces, o->direct, err);
    if (!ok) {
        rpc_server_close(s);
        return false;
    }
    s->ep->ctx = s;
    s->ep->on_msg = server_on_msg;
    s->ep->on_bulk = server_on_step;
    rpc_waiter_init(&s->waiter, &s->o);
    rpc_waiter_test(&s->waiter, s->ep);
    server_fill_memory(s);
    *ret = s;
    return true;
}

void rpc_server_close(struct rpc_server *s)
{
    if (!s)
        return;
    rpc_store_close(s->store);
    if (s->ep)
        s->ep->t->close(s->ep);
    server_calls_fini(s);
    free(s);
}

void rpc_server_address(struct rpc_server *s, char into[RPC_ADDRESS])
{
    assert(s->ep);
    s->ep->t->address(s->ep, into);
}

const struct rpc_server_stats *rpc_server_stats(const struct rpc_server *s)
{
    return &s->stats;
}

enum rpc_wait rpc_server_waits(const struct rpc_server *s)
{
    return s->waiter.policy;
}

struct rpc_ep *rpc_server_ep(struct rpc_server *s)
{
    return s->ep;
}

uint8_t *rpc_server_shared(struct rpc_server *s)
{
    return s->o.share_b ? s->ep->bulk : NULL;
}

uint64_t rpc_server_sleeps(const struct rpc_server *s)
{
    return s->waiter.sleeps;
}
