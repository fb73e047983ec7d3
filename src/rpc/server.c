/* server.c -- takes requests, moves data, answers.
 *
 *   noop    request ─────────────────────────────────────> response
 *   get     request ─> RMA to the client ────────────────> response
 *   put     request ─> RMA from the client ──────────────> response
 *   sread   request ─> read storage ─> RMA to the client ─> response
 *   swrite  request ─> RMA from the client ─> write storage ─> response
 *
 * An operation that takes more than one step has a place in a pool with its own memory; while
 * all are taken, requests wait in a line that is as long as all clients can make it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rpc/rpc.h"
#include "rpc/store.h"
#include "rpc/usage.h"

enum { OPERATIONS = 16, PAGE = 4096, LINE = 4096, LOOK_AFTER_NS = 200000000 };
enum { SAMPLES = 16, SEND_TRIES = 1000000, ASK_TRIES = 5 };
#define ASK_FIRST_NS UINT64_C(1000000000)
#define ASK_MOST_NS (64 * ASK_FIRST_NS)

struct request {
    uint32_t peer, id;
    enum rpc_op op;
    struct rpc_ref ref;
};

struct operation {
    struct request r;
    bool taken, second; /* second: the first of two steps is done */
    size_t at;          /* its memory */
};

/* Of a client that says nothing. */
struct silence {
    bool broken;     /* it said something since we looked */
    uint32_t unsent; /* how often in a row it could not even be asked */
    uint64_t asked_ns, pause_ns;
};

struct rpc_server {
    struct rpc_opts o;
    struct rpc_ep *ep;
    struct rpc_waiter waiter;
    struct rpc_store *store;
    struct rpc_server_stats stats;
    bool met[RPC_PEERS];
    struct silence silence[RPC_PEERS];
    struct operation operation[OPERATIONS];
    uint32_t taken;
    uint32_t turn;             /* of the pieces that what is got comes from */
    struct request line[LINE]; /* requests that wait for a place: a ring */
    uint32_t line_from, line_to;
    uint64_t looked_ns; /* for clients that died */
    uint32_t messages, last_peer;
    bool single;  /* whoever called last has no other call under way */
    bool several; /* of the last messages not all came from one client */
};

/* Memory: a piece for each operation, then the pieces from which GET is served; or of a service
 * what it shares. */
static size_t next_source(struct rpc_server *s)
{
    return (OPERATIONS + (size_t)(s->turn++ % RPC_SOURCES)) * s->o.bulk_b;
}

uint64_t rpc_pattern(uint64_t place)
{
    uint64_t h = place / 8 * UINT64_C(0x9e3779b97f4a7c15);

    return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void fill_pattern(uint8_t *at, size_t len)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint64_t v = rpc_pattern(i);

        memcpy(at + i, &v, 8);
    }
}

/* Some words of what a PUT brings, spoilt before and looked at afterwards. */
static void spoil(uint8_t *at, uint64_t len)
{
    for (uint64_t k = 0; k < SAMPLES && len >= 8; k++)
        memset(at + (len - 8) / SAMPLES * k / 8 * 8, 0, 8);
}

static bool is_pattern(const uint8_t *at, uint64_t len)
{
    for (uint64_t k = 0; k < SAMPLES && len >= 8; k++) {
        uint64_t place = (len - 8) / SAMPLES * k / 8 * 8, v;

        memcpy(&v, at + place, 8);
        if (v != rpc_pattern(place))
            return false;
    }
    return true;
}

/* ---- answers ---- */

static void respond(struct rpc_server *s, uint32_t peer, uint32_t id, enum rpc_status status,
                    const void *payload, uint32_t len)
{
    struct rpc_head h = rpc_head_of(RPC_RESPONSE, 0, s->o.token, id, len, status);

    if (status != RPC_OK)
        s->stats.refused++;
    /* Who does not take its answers does not get them. */
    for (uint32_t tries = 0; tries < SEND_TRIES; tries++)
        if (s->ep->t->send(s->ep, peer, &h, payload) || !s->ep->t->alive(s->ep, peer))
            return;
}

static void finish(struct rpc_server *s, struct operation *op, enum rpc_status status)
{
    if (status == RPC_OK) {
        s->stats.calls[op->r.op]++;
        s->stats.bytes += op->r.ref.len;
    }
    op->taken = false;
    s->taken--;
    respond(s, op->r.peer, op->r.id, status, NULL, 0);
}

/* ---- steps of an operation ---- */

static bool move(struct rpc_server *s, struct operation *op, enum rpc_way way)
{
    size_t at = s->o.share_b ? op->r.ref.place : op->r.op == RPC_OP_GET ? next_source(s) : op->at;
    struct rpc_bulk b = {.peer = op->r.peer,
                         .way = way,
                         .at = at,
                         .ref = op->r.ref,
                         .cookie = (uint64_t)(op - s->operation)};

    return s->ep->t->bulk(s->ep, &b);
}

static bool store(struct rpc_server *s, struct operation *op, bool write)
{
    return rpc_store_start(s->store, write, s->ep->bulk + op->at, op->r.ref.len, op->r.ref.place,
                           (uint64_t)(op - s->operation));
}

/* Which step is first and which second. */
static bool step(struct rpc_server *s, struct operation *op)
{
    switch (op->r.op) {
    case RPC_OP_GET:
        return move(s, op, RPC_TO_PEER);
    case RPC_OP_PUT:
        if (!s->o.share_b)
            spoil(s->ep->bulk + op->at, op->r.ref.len);
        return move(s, op, RPC_FROM_PEER);
    case RPC_OP_SREAD:
        return op->second ? move(s, op, RPC_TO_PEER) : store(s, op, false);
    case RPC_OP_SWRITE:
        return op->second ? store(s, op, true) : move(s, op, RPC_FROM_PEER);
    default:
        return false;
    }
}

/* A step is done: of bulk data or of storage. */
static void on_step(void *ctx, uint64_t cookie, bool ok)
{
    struct rpc_server *s = ctx;
    struct operation *op = &s->operation[cookie % OPERATIONS];
    bool two = op->r.op == RPC_OP_SREAD || op->r.op == RPC_OP_SWRITE;

    if (!op->taken)
        return;
    if (!ok)
        finish(s, op, RPC_IO_FAILED);
    else if (op->r.op == RPC_OP_PUT && !s->o.share_b &&
             !is_pattern(s->ep->bulk + op->at, op->r.ref.len))
        finish(s, op, RPC_BAD_DATA);
    else if (!two || op->second)
        finish(s, op, RPC_OK);
    else {
        op->second = true;
        if (!step(s, op))
            finish(s, op, RPC_BAD_RANGE);
    }
}

static void begin(struct rpc_server *s, const struct request *r)
{
    struct operation *op = s->operation;

    while (op->taken)
        op++;
    op->r = *r;
    op->taken = true;
    op->second = false;
    s->taken++;
    if (!step(s, op))
        finish(s, op, RPC_BAD_RANGE);
}

static void next_in_line(struct rpc_server *s)
{
    while (s->taken < OPERATIONS && s->line_from != s->line_to)
        begin(s, &s->line[s->line_from++ % LINE]);
}

/* ---- requests ---- */

static enum rpc_status check_bulk(const struct rpc_server *s, enum rpc_op op,
                                  const struct rpc_ref *r)
{
    bool storage = op == RPC_OP_SREAD || op == RPC_OP_SWRITE;

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
static void on_own(struct rpc_server *s, uint32_t peer, const struct rpc_head *h,
                   const uint8_t *payload)
{
    uint8_t asked[RPC_INLINE_MOST], reply[RPC_INLINE_MOST];
    int room = (int)s->ep->inlined;

    memcpy(asked, payload, h->len);
    int n = s->o.handle(s->o.handle_ctx, h->op - RPC_OP_OWN, asked, h->len, reply, s->ep->inlined);

    s->stats.handled++;
    if (n < 0)
        respond(s, peer, h->id, (enum rpc_status)(RPC_OWN_STATUS | -(uint32_t)n), NULL, 0);
    else
        respond(s, peer, h->id, RPC_OK, reply, (uint32_t)(n < room ? n : room));
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

static void on_request(struct rpc_server *s, uint32_t peer, const struct rpc_head *h,
                       const uint8_t *payload)
{
    if (h->op == RPC_OP_NOOP) {
        s->stats.calls[RPC_OP_NOOP]++;
        respond(s, peer, h->id, RPC_OK, payload, h->len);
        return;
    }
    if (h->op == RPC_OP_USAGE) {
        struct rpc_used used = rpc_server_used(s);

        respond(s, peer, h->id, RPC_OK, &used, sizeof used);
        return;
    }
    if (h->op >= RPC_OP_OWN && s->o.handle) {
        on_own(s, peer, h, payload);
        return;
    }
    struct request r = {.peer = peer, .id = h->id, .op = h->op};

    if (h->op >= RPC_OPS || h->len != sizeof r.ref) {
        respond(s, peer, h->id, RPC_BAD_OP, NULL, 0);
        return;
    }
    memcpy(&r.ref, payload, sizeof r.ref);
    enum rpc_status status = check_bulk(s, r.op, &r.ref);

    if (status == RPC_OK && s->line_to - s->line_from == LINE)
        status = RPC_BUSY;
    if (status != RPC_OK)
        respond(s, peer, h->id, status, NULL, 0);
    else if (s->taken < OPERATIONS && s->line_from == s->line_to)
        begin(s, &r);
    else
        s->line[s->line_to++ % LINE] = r;
}

static void on_hello(struct rpc_server *s, uint32_t peer, const struct rpc_head *h,
                     const uint8_t *payload)
{
    if (s->met[peer] || !s->ep->t->meet(s->ep, peer, payload, h->len)) {
        s->stats.dropped[RPC_DROP_STRANGER]++;
        return;
    }
    s->stats.peers++;
    s->silence[peer] = (struct silence){.broken = true};
    s->met[peer] = h->version == RPC_VERSION;
    respond(s, peer, h->id, s->met[peer] ? RPC_OK : RPC_BAD_VERSION, NULL, 0);
}

static bool owes(const struct rpc_server *s, uint32_t peer)
{
    for (uint32_t i = 0; i < OPERATIONS; i++)
        if (s->operation[i].taken && s->operation[i].r.peer == peer)
            return true;
    for (uint32_t i = s->line_from; i != s->line_to; i++)
        if (s->line[i % LINE].peer == peer)
            return true;
    return false;
}

/* Its place is somebody else's from now on. One that leaves while we work for it keeps its place,
 * or the next would get its answers. */
static void on_bye(struct rpc_server *s, uint32_t peer)
{
    if (!s->met[peer] || owes(s, peer)) {
        s->stats.dropped[RPC_DROP_STRANGER]++;
        return;
    }
    s->stats.left++;
    s->met[peer] = false;
    s->ep->t->forget(s->ep, peer);
}

/* Processes that are there but do not call are no crowd. */
static void meet_crowd(struct rpc_server *s, uint32_t peer)
{
    enum { LAST = 64 };

    s->several |= peer != s->last_peer;
    s->last_peer = peer;
    if (++s->messages % LAST)
        return;
    s->waiter.crowded = s->o.crowded && s->several;
    s->several = false;
}

static void on_msg(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    struct rpc_server *s = ctx;
    struct rpc_head h;
    enum rpc_drop drop = rpc_wire_take(&h, bytes, len, s->o.token);
    const uint8_t *payload = (const uint8_t *)bytes + sizeof h;

    /* First of all the answer, then what nobody waits for. */
    if (drop == RPC_TAKEN && h.kind == RPC_REQUEST && s->met[peer])
        on_request(s, peer, &h, payload);
    else if (drop == RPC_TAKEN && h.kind == RPC_HELLO)
        on_hello(s, peer, &h, payload);
    else if (drop == RPC_TAKEN && h.kind == RPC_BYE)
        on_bye(s, peer);
    else
        s->stats.dropped[drop == RPC_TAKEN ? RPC_DROP_STRANGER : drop]++;
    s->single = drop == RPC_TAKEN && h.status == 1;
    s->silence[peer].broken = true;
    meet_crowd(s, peer);
}

/* ---- life ---- */

/* One that died far away is known only by what comes of a message to it: the transport says that
 * it is gone, or never again that the message left. A client takes it for nothing; one that does
 * not look for long shall not find many. False: it is dead. */
static bool ask_the_silent(struct rpc_server *s, uint32_t peer, uint64_t now)
{
    struct silence *k = &s->silence[peer];
    struct rpc_head h = rpc_head_of(RPC_RESPONSE, 0, s->o.token, RPC_PING_ID, 0, RPC_OK);

    if (k->broken)
        *k = (struct silence){.asked_ns = now, .pause_ns = ASK_FIRST_NS};
    if (!s->met[peer] || now - k->asked_ns < k->pause_ns)
        return true;
    if (!s->ep->t->send(s->ep, peer, &h, NULL))
        return ++k->unsent < ASK_TRIES;
    k->unsent = 0;
    k->asked_ns = now;
    k->pause_ns = k->pause_ns < ASK_MOST_NS / 2 ? 2 * k->pause_ns : ASK_MOST_NS;
    return true;
}

static void forget_the_dead(struct rpc_server *s)
{
    uint64_t now = wr_clock_ns();

    if (now - s->looked_ns < LOOK_AFTER_NS || s->taken || s->line_from != s->line_to)
        return;
    s->looked_ns = now;
    /* Also those that never said a proper hello: they have a place all the same. */
    for (uint32_t i = 0; i < s->o.peers; i++)
        if (!s->ep->t->alive(s->ep, i) || (!s->ep->t->sees_death && !ask_the_silent(s, i, now))) {
            s->met[i] = false;
            s->ep->t->forget(s->ep, i);
        }
    s->ep->t->flush(s->ep);
}

void rpc_server_step(struct rpc_server *s, uint64_t timeout_ns)
{
    uint64_t sleeps = s->waiter.sleeps;
    uint32_t n = 0;

    s->ep->eager = s->single ? rpc_waiter_looks(&s->waiter) : 0;
    if (s->store || !rpc_waiter_dozes(&s->waiter, s->ep))
        n = s->ep->t->progress(s->ep);
    uint32_t found = n;

    if (s->store)
        n += rpc_store_poll(s->store, on_step, s);
    next_in_line(s);
    if (!n) {
        bool busy = s->store && rpc_store_under_way(s->store);

        n = rpc_waiter_idle(&s->waiter, s->ep, timeout_ns, busy);
        if (s->waiter.sleeps != sleeps || s->waiter.rounds % 65536 == 0)
            forget_the_dead(s);
        next_in_line(s);
    }
    if (n) {
        s->ep->t->flush(s->ep);
        rpc_waiter_happened(&s->waiter);
    }
    rpc_waiter_looked(&s->waiter, s->ep->eager, found);
}

static void place_operations(struct rpc_server *s)
{
    for (uint32_t i = 0; i < OPERATIONS; i++)
        s->operation[i].at = i * s->o.bulk_b;
    /* Written, so that no page is the kernel's page of zeros. */
    for (size_t i = 0; i < OPERATIONS + RPC_SOURCES && s->o.bulk_b && !s->o.share_b; i++)
        fill_pattern(s->ep->bulk + i * s->o.bulk_b, s->o.bulk_b);
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
    eo.bulk_b = o->share_b ? o->share_b : s->o.bulk_b * (OPERATIONS + RPC_SOURCES);
    bool ok = true;

    if (o->peers < 1 || o->peers > RPC_PEERS)
        ok = wr_fail(err, WR_INPUT, "a server has from 1 to %d clients; give another number",
                     RPC_PEERS);
    if (ok && o->share_b && o->storage)
        ok = wr_fail(err, WR_BUG, "memory and storage at once; report this");
    ok = ok && o->transport->open(&s->ep, &eo, err);
    if (ok && o->storage)
        ok = rpc_store_open(&s->store, o->storage, o->storage_b, OPERATIONS, o->direct, err);
    if (!ok) {
        rpc_server_close(s);
        return false;
    }
    s->ep->ctx = s;
    s->ep->on_msg = on_msg;
    s->ep->on_bulk = on_step;
    rpc_waiter_init(&s->waiter, &s->o);
    rpc_waiter_test(&s->waiter, s->ep);
    place_operations(s);
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
    free(s);
}

void rpc_server_address(struct rpc_server *s, char into[RPC_ADDRESS])
{
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
