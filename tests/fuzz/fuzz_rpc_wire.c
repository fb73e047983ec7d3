/* Any bytes as messages to a server: dropped and counted, refused, or served; never harm.
 *
 * The first byte of a message says how long it is and whether it gets the head that a real one
 * has, so that the fuzzer also comes behind the token.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct wr_token token = {{5, 6}};
enum { BULK = 4096, PEER_B = 8192 };

static uint64_t sent;
static uint8_t peer_memory[PEER_B];

static bool fake_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err);

static void fake_close(struct rpc_ep *ep)
{
    free(ep->bulk);
    free(ep);
}

static bool fake_meet(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len)
{
    (void)ep;
    (void)peer;
    return len && *(const uint8_t *)bytes != 0xff;
}

static bool fake_send(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                      const void *payload)
{
    uint8_t sum = 0;

    (void)ep;
    (void)peer;
    if (head->len > RPC_INLINE_MOST || head->kind != RPC_RESPONSE ||
        !wr_token_same(&head->token, &token))
        abort();
    for (uint32_t i = 0; i < head->len; i++) /* every byte must be readable */
        sum = (uint8_t)(sum + ((const uint8_t *)payload)[i]);
    sent += 1 + (sum & 0);
    return true;
}

static enum rpc_moved fake_bulk(struct rpc_ep *ep, const struct rpc_bulk *b)
{
    if (b->ref.len > BULK || b->at + b->ref.len > ep->o.bulk_b)
        abort();
    if (b->ref.at > PEER_B || b->ref.len > PEER_B - b->ref.at)
        return RPC_MOVES_NOT;
    if (b->way == RPC_TO_PEER)
        memcpy(peer_memory + b->ref.at, ep->bulk + b->at, b->ref.len);
    else
        memcpy(ep->bulk + b->at, peer_memory + b->ref.at, b->ref.len);
    ep->on_bulk(ep->ctx, b->cookie, true);
    return RPC_MOVES;
}

static bool fake_blocks(struct rpc_ep *ep)
{
    (void)ep;
    return false;
}

static bool fake_alive(struct rpc_ep *ep, uint32_t peer)
{
    (void)ep;
    (void)peer;
    return true;
}

static void fake_forget(struct rpc_ep *ep, uint32_t peer)
{
    (void)ep;
    (void)peer;
}

static const struct rpc_transport fake = {.name = "fake",
                                          .open = fake_open,
                                          .close = fake_close,
                                          .meet = fake_meet,
                                          .forget = fake_forget,
                                          .send = fake_send,
                                          .bulk = fake_bulk,
                                          .blocks = fake_blocks,
                                          .alive = fake_alive};

static bool fake_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    struct rpc_ep *ep = calloc(1, sizeof *ep);

    (void)err;
    ep->t = &fake;
    ep->inlined = 200;
    ep->o = *o;
    ep->bulk = calloc(1, o->bulk_b);
    *ret = ep;
    return true;
}

/* Feeds one message of `n` bytes, in memory that ends where it ends. */
static void feed(struct rpc_ep *ep, const uint8_t *at, size_t n, bool dressed, uint32_t peer)
{
    uint8_t *own = malloc(n ? n : 1);

    memcpy(own, at, n);
    if (dressed && n >= sizeof(struct rpc_head)) {
        struct rpc_head h;

        memcpy(&h, own, sizeof h);
        h.magic = RPC_MAGIC;
        h.version = RPC_VERSION;
        h.token = token;
        memcpy(own, &h, sizeof h);
    }
    ep->on_msg(ep->ctx, peer, own, n);
    free(own);
}

/* A service's own operation: every byte must be readable, and what it answers may be anything. */
static int handle(void *ctx, unsigned op, const void *bytes, size_t len, void *reply,
                  size_t reply_size)
{
    size_t n = len < reply_size ? len : reply_size;

    (void)ctx;
    memcpy(reply, bytes, n);
    return op & 1 ? -(int)op : (int)(op & 2 ? 2 * reply_size : n);
}

/* The same bytes to a benchmark's server and to a service with memory of its own. */
static void serve(const uint8_t *data, size_t len, uint64_t share_b)
{
    struct rpc_opts o = {.transport = &fake,
                         .token = token,
                         .wait = RPC_POLL,
                         .bulk_b = BULK,
                         .peers = 2,
                         .share_b = share_b,
                         .handle = share_b ? handle : NULL};
    struct rpc_server *s;
    struct wr_err err;
    uint64_t fed = 0;

    sent = 0;
    if (!rpc_server_open(&s, &o, &err))
        abort();
    while (len) {
        uint8_t how = *data++;
        size_t n = 2u * (how & 63);

        len--;
        n = n < len ? n : len;
        feed(rpc_server_ep(s), data, n, how & 64, how >> 7);
        fed++;
        data += n;
        len -= n;
    }
    const struct rpc_server_stats *st = rpc_server_stats(s);
    uint64_t accounted = sent + st->left;

    for (int i = 0; i < RPC_DROPS; i++)
        accounted += st->dropped[i];
    if (accounted != fed) /* each was answered, a goodbye, or dropped, once */
        abort();
    rpc_server_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    serve(data, len, 0);
    serve(data, len, BULK);
    return 0;
}
