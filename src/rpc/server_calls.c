/* server_calls.c -- calls that take more than one step, and what each peer may hold meanwhile.
 *
 *   get     request ─> RMA to the client ────────────────> response
 *   put     request ─> RMA from the client ──────────────> response
 *   sread   request ─> read storage ─> RMA to the client ─> response
 *   swrite  request ─> RMA from the client ─> write storage ─> response
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "server_priv.h"

enum { SAMPLES = 16 };
/* How long a transfer may have a piece that others want: half a second, and 100 ns a byte. */
#define HOLD_NS UINT64_C(500000000)
enum { HOLD_NS_PER_B = 100 };

static bool server_is_storage(uint32_t op)
{
    return op == RPC_OP_SREAD || op == RPC_OP_SWRITE;
}

/* ---- data that can be verified ---- */

/* Some words of what a PUT brings, spoilt before and looked at afterwards. */
static void server_spoil(uint8_t *at, uint64_t len)
{
    for (uint64_t k = 0; k < SAMPLES && len >= 8; k++)
        memset(at + (len - 8) / SAMPLES * k / 8 * 8, 0, 8);
}

static bool server_is_pattern(const uint8_t *at, uint64_t len)
{
    for (uint64_t k = 0; k < SAMPLES && len >= 8; k++) {
        uint64_t place = (len - 8) / SAMPLES * k / 8 * 8, v;

        memcpy(&v, at + place, 8);
        if (v != rpc_pattern(place))
            return false;
    }
    return true;
}

/* ---- lists, and the ring of peers ---- */

static void server_list_push(struct rpc_server *s, struct server_list *l, uint32_t k)
{
    s->call[k].next = RPC_NONE;
    if (l->first == RPC_NONE)
        l->first = k;
    else
        s->call[l->last].next = k;
    l->last = k;
}

static uint32_t server_list_pop(struct rpc_server *s, struct server_list *l)
{
    uint32_t k = l->first;

    wr_check(l->first != RPC_NONE);
    l->first = s->call[k].next;
    return k;
}

static void server_list_put_back(struct rpc_server *s, struct server_list *l, uint32_t k)
{
    s->call[k].next = l->first;
    if (l->first == RPC_NONE)
        l->last = k;
    l->first = k;
}

static void server_want(struct rpc_server *s, uint32_t peer)
{
    if (s->peer[peer].wants)
        return;
    s->peer[peer].wants = true;
    s->ring[(s->ring_from + s->nring++) % RPC_PEERS] = peer;
}

/* ---- calls ---- */

/* Memory for RPC_CALLS calls, of which few pages are ever touched. */
bool server_calls_init(struct rpc_server *s, struct wr_err *err)
{
    assert(!s->call && s->o.peers <= RPC_PEERS && s->npieces <= RPC_PIECES_MOST);
    void *at = mmap(NULL, RPC_CALLS * sizeof *s->call, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return wr_fail_errno(err, "no memory for %d calls; free some", RPC_CALLS);
    s->call = at;
    s->free_call = RPC_NONE;
    s->peer = wr_zalloc(s->o.peers, sizeof *s->peer);
    for (uint32_t i = 0; i < s->o.peers; i++)
        s->peer[i].waiting.first = s->peer[i].unsent.first = RPC_NONE;
    for (s->nfree = 0; s->nfree < s->npieces; s->nfree++)
        s->free_piece[s->nfree] = s->npieces - 1 - s->nfree;
    return true;
}

void server_calls_fini(struct rpc_server *s)
{
    for (uint32_t i = 0; i < s->calls_used; i++)
        free(s->call[i].payload);
    if (s->call)
        munmap(s->call, RPC_CALLS * sizeof *s->call);
    free(s->peer);
}

/* RPC_NONE: the peer has as many as are free for others. */
static uint32_t server_call_take(struct rpc_server *s, uint32_t peer)
{
    uint32_t k = s->free_call;

    wr_check(s->ncalls <= RPC_CALLS);
    if (s->peer[peer].calls >= RPC_CALLS - s->ncalls)
        return RPC_NONE;
    if (k != RPC_NONE)
        s->free_call = s->call[k].next;
    else
        k = s->calls_used++;
    s->ncalls++;
    s->peer[peer].calls++;
    return k;
}

static void server_call_free(struct rpc_server *s, uint32_t k)
{
    struct server_call *c = &s->call[k];

    wr_check(s->ncalls && s->peer[c->peer].calls);
    s->peer[c->peer].calls--;
    s->ncalls--;
    if (c->payload) {
        s->peer[c->peer].kept--;
        free(c->payload);
        c->payload = NULL;
    }
    c->state = CALL_FREE;
    c->next = s->free_call;
    s->free_call = k;
}

static void server_piece_free(struct rpc_server *s, struct server_call *c)
{
    if (c->piece == RPC_NONE)
        return;
    s->free_piece[s->nfree++] = c->piece;
    s->peer[c->peer].pieces--;
    c->piece = RPC_NONE;
}

/* ---- answers ---- */

static void server_keep_unsent(struct rpc_server *s, uint32_t k, uint32_t status)
{
    struct server_call *c = &s->call[k];

    c->state = CALL_UNSENT;
    c->status = status;
    server_list_push(s, &s->peer[c->peer].unsent, k);
    server_want(s, c->peer);
}

void server_respond_later(struct rpc_server *s, uint32_t peer, uint32_t id, uint32_t status,
                          const void *payload, uint32_t len)
{
    if (!s->ep->t->alive(s->ep, peer))
        return;
    uint32_t k = server_call_take(s, peer);

    if (k == RPC_NONE)
        return;
    s->call[k] = (struct server_call){.peer = peer, .id = id, .piece = RPC_NONE};
    if (len && s->peer[peer].kept < RPC_PEER_KEEPS) {
        s->peer[peer].kept++;
        s->call[k].len = len;
        s->call[k].payload = memcpy(wr_alloc(len), payload, len);
    } else if (len)
        status = RPC_BUSY;
    server_keep_unsent(s, k, status);
}

static void server_finish(struct rpc_server *s, uint32_t k, enum rpc_status status)
{
    struct server_call *c = &s->call[k];

    wr_check(s->peer[c->peer].under_way && c->begun);
    if (c->cut_off)
        status = RPC_BUSY;
    if (status == RPC_OK) {
        s->stats.calls[c->op]++;
        s->stats.bytes += c->ref.len;
    } else
        s->stats.refused++;
    server_piece_free(s, c);
    s->peer[c->peer].under_way--;
    if (server_send(s, c->peer, c->id, status, NULL, 0) || !s->ep->t->alive(s->ep, c->peer))
        server_call_free(s, k);
    else
        server_keep_unsent(s, k, status);
}

/* ---- steps of a call ---- */

/* Memory: the pieces, then the sources from which GET is served; or of a service what it shares. */
static size_t server_memory(struct rpc_server *s, const struct server_call *c)
{
    if (s->o.share_b)
        return c->ref.place;
    if (c->piece != RPC_NONE)
        return c->piece * s->o.bulk_b;
    return (s->npieces + (size_t)(s->turn++ % RPC_SOURCES)) * s->o.bulk_b;
}

static enum rpc_moved server_move(struct rpc_server *s, uint32_t k, enum rpc_way way)
{
    struct server_call *c = &s->call[k];
    struct rpc_bulk b = {
        .peer = c->peer, .way = way, .at = server_memory(s, c), .ref = c->ref, .cookie = k};

    return s->ep->t->bulk(s->ep, &b);
}

static enum rpc_moved server_store(struct rpc_server *s, const struct server_call *c, bool write)
{
    wr_check(c->piece != RPC_NONE);
    return rpc_store_start(s->store, write, s->ep->bulk + c->piece * s->o.bulk_b, c->ref.len,
                           c->ref.place, c->piece)
               ? RPC_MOVES
               : RPC_MOVES_LATER;
}

/* Which step is first and which second. */
static enum rpc_moved server_step_of(struct rpc_server *s, uint32_t k)
{
    struct server_call *c = &s->call[k];

    switch (c->op) {
    case RPC_OP_GET:
        return server_move(s, k, RPC_TO_PEER);
    case RPC_OP_PUT:
        if (!s->o.share_b)
            server_spoil(s->ep->bulk + c->piece * s->o.bulk_b, c->ref.len);
        return server_move(s, k, RPC_FROM_PEER);
    case RPC_OP_SREAD:
        return c->second ? server_move(s, k, RPC_TO_PEER) : server_store(s, c, false);
    case RPC_OP_SWRITE:
        return c->second ? server_store(s, c, true) : server_move(s, k, RPC_FROM_PEER);
    default:
        return RPC_MOVES_NOT;
    }
}

/* What it holds it keeps while it waits for the transport. */
static bool server_take_step(struct rpc_server *s, uint32_t k)
{
    uint32_t peer = s->call[k].peer;

    if (s->call[k].cut_off) {
        server_finish(s, k, RPC_BUSY);
        return true;
    }
    s->call[k].state = CALL_UNDER_WAY;
    switch (server_step_of(s, k)) {
    case RPC_MOVES:
        return true;
    case RPC_MOVES_LATER:
        s->call[k].state = CALL_WAITING;
        server_list_put_back(s, &s->peer[peer].waiting, k);
        server_want(s, peer);
        return false;
    default:
        server_finish(s, k, RPC_BAD_RANGE);
        return true;
    }
}

static void server_step_done(struct rpc_server *s, uint32_t k, bool ok)
{
    struct server_call *c = &s->call[k];

    if (!ok)
        server_finish(s, k, RPC_IO_FAILED);
    else if (c->op == RPC_OP_PUT && !s->o.share_b && !c->cut_off &&
             !server_is_pattern(s->ep->bulk + c->piece * s->o.bulk_b, c->ref.len))
        server_finish(s, k, RPC_BAD_DATA);
    else if (!server_is_storage(c->op) || c->second || c->cut_off)
        server_finish(s, k, RPC_OK);
    else {
        c->second = true;
        server_take_step(s, k);
    }
}

void server_on_step(void *ctx, uint64_t cookie, bool ok)
{
    struct rpc_server *s = ctx;

    if (cookie < RPC_CALLS && s->call[cookie].state == CALL_UNDER_WAY)
        server_step_done(s, (uint32_t)cookie, ok);
}

void server_on_store(void *ctx, uint64_t cookie, bool ok)
{
    struct rpc_server *s = ctx;

    wr_check(cookie < s->npieces);
    server_step_done(s, s->owner[cookie], ok);
}

/* ---- what a peer may hold ---- */

static bool server_needs_piece(const struct rpc_server *s, uint32_t op)
{
    return server_is_storage(op) || (op == RPC_OP_PUT && !s->o.share_b);
}

static bool server_may_begin(const struct rpc_server *s, uint32_t peer, uint32_t op)
{
    const struct server_peer *p = &s->peer[peer];

    return p->under_way < RPC_PEER_TRANSFERS &&
           (!server_needs_piece(s, op) || p->pieces < s->nfree);
}

static bool server_begin(struct rpc_server *s, uint32_t k)
{
    struct server_call *c = &s->call[k];

    wr_check(!c->begun);
    c->begun = true;
    s->peer[c->peer].under_way++;
    if (server_needs_piece(s, c->op)) {
        c->piece = s->free_piece[--s->nfree];
        s->owner[c->piece] = k;
        s->peer[c->peer].pieces++;
    }
    return server_take_step(s, k);
}

void server_call(struct rpc_server *s, uint32_t peer, uint32_t id, enum rpc_op op,
                 const struct rpc_ref *ref)
{
    uint32_t k = server_call_take(s, peer);

    if (k == RPC_NONE) {
        server_respond(s, peer, id, RPC_BUSY, NULL, 0);
        return;
    }
    s->call[k] = (struct server_call){
        .peer = peer, .id = id, .piece = RPC_NONE, .op = (uint8_t)op, .ref = *ref};
    if (s->peer[peer].waiting.first == RPC_NONE && server_may_begin(s, peer, op)) {
        server_begin(s, k);
        return;
    }
    s->call[k].state = CALL_WAITING;
    server_list_push(s, &s->peer[peer].waiting, k);
    server_want(s, peer);
}

/* Its data still come or go, but from now on from nowhere and to nowhere. */
static void server_cut_off(struct rpc_server *s, uint32_t k)
{
    struct server_call *c = &s->call[k];

    assert(s->ep->t->cut_off && !c->cut_off);
    c->cut_off = true;
    if (c->state == CALL_UNDER_WAY)
        s->ep->t->cut_off(s->ep, c->peer, k);
    server_piece_free(s, c);
}

/* One piece of those whose transfers have taken longest, if it is too long. Storage takes as long
 * as it takes. */
static bool server_take_back_piece(struct rpc_server *s)
{
    uint64_t now = wr_clock_ns();
    uint32_t worst = RPC_NONE;

    for (uint32_t i = 0; i < s->npieces && s->ep->t->cut_off; i++) {
        uint32_t k = s->owner[i];
        struct server_call *c = &s->call[k];
        bool stores = c->op == (c->second ? RPC_OP_SWRITE : RPC_OP_SREAD);

        if (c->piece != i || c->state == CALL_FREE || (c->state == CALL_UNDER_WAY && stores))
            continue;
        c->held_ns = c->held_ns ? c->held_ns : now;
        if (now - c->held_ns > HOLD_NS + HOLD_NS_PER_B * c->ref.len &&
            (worst == RPC_NONE || c->held_ns < s->call[worst].held_ns))
            worst = k;
    }
    if (worst != RPC_NONE)
        server_cut_off(s, worst);
    return worst != RPC_NONE;
}

/* False: it wants nothing that it could have now. */
static bool server_serve_peer(struct rpc_server *s, uint32_t peer)
{
    struct server_peer *p = &s->peer[peer];
    bool some = false;

    while (p->unsent.first != RPC_NONE) {
        const struct server_call *c = &s->call[p->unsent.first];

        if (!server_send(s, peer, c->id, c->status, c->payload, c->len))
            break;
        server_call_free(s, server_list_pop(s, &p->unsent));
        some = true;
    }
    if (p->waiting.first == RPC_NONE)
        return some;
    const struct server_call *c = &s->call[p->waiting.first];
    bool begun = c->begun;

    if (!begun && !server_may_begin(s, peer, c->op))
        return (!p->pieces && !s->nfree && server_take_back_piece(s)) || some;
    uint32_t k = server_list_pop(s, &p->waiting);

    return (begun ? server_take_step(s, k) : server_begin(s, k)) || some;
}

/* Peers in turn, one call at a time, until no peer can proceed. */
void server_serve_ring(struct rpc_server *s)
{
    bool some = true;

    while (some && s->nring) {
        some = false;
        for (uint32_t n = s->nring; n; n--) {
            uint32_t peer = s->ring[s->ring_from];
            struct server_peer *p = &s->peer[peer];

            s->ring_from = (s->ring_from + 1) % RPC_PEERS;
            s->nring--;
            p->wants = false;
            some |= server_serve_peer(s, peer);
            if (p->waiting.first != RPC_NONE || p->unsent.first != RPC_NONE)
                server_want(s, peer);
        }
    }
}

/* ---- the end of a peer ---- */

void server_calls_purge(struct rpc_server *s, uint32_t peer)
{
    struct server_peer *p = &s->peer[peer];

    assert(peer < s->o.peers);
    while (p->unsent.first != RPC_NONE)
        server_call_free(s, server_list_pop(s, &p->unsent));
    while (p->waiting.first != RPC_NONE) {
        uint32_t k = server_list_pop(s, &p->waiting);

        server_piece_free(s, &s->call[k]);
        p->under_way -= s->call[k].begun;
        server_call_free(s, k);
    }
}
