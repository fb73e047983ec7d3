/* weir-rpc.c -- the public face of src/rpc: plain types, and results instead of messages. */
#include "weir-rpc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rpc/rpc.h"

#define API __attribute__((visibility("default")))

enum { SPIN_US = 50, DEPTH = 16, CLIENTS = 64, LOOK_NS = 50000000 };
#define TIMEOUT_US UINT64_C(10000000)

API int weir_rpc_abi(void)
{
    return WEIR_RPC_ABI;
}

API const char *weir_rpc_version(void)
{
    return "1.0.0";
}

static const char *const words[] = {
    "done",
    "out of bounds; ask for less",
    "the server knows no such operation; use the same version on both sides",
    "as many calls as may be are under way; step first",
    "data could not be moved; look at the server",
    "the server does not live any more; start it again",
    "no answer in time; look at the server",
};

API const char *weir_rpc_words(int result)
{
    if (result >= 0)
        return words[0];
    return -(long)result < (long)(sizeof words / sizeof *words) ? words[-result]
                                                                : "refused by the server";
}

/* A number of 64 bits is enough among processes of one machine. A server that other machines can
 * reach needs a whole token. */
static bool lib_read_token(struct wr_token *ret, const struct weir_rpc_config *c, bool server,
                           struct wr_err *err)
{
    bool given, reached = server && c->bind && strncmp(c->bind, "127.", 4) != 0;

    if (!wr_token_find(ret, &given, c->token_file, "WEIR_RPC_TOKEN", err))
        return false;
    if (!given && reached)
        return wr_fail(
            err, WR_INPUT,
            "a server at %.60s needs a token of %d hexadecimal digits; name its file with "
            "token_file, or set WEIR_RPC_TOKEN",
            c->bind, WR_TOKEN_DIGITS);
    if (!given)
        *ret = (struct wr_token){{c->token, 0}};
    return true;
}

static bool lib_set_why(char *why, size_t size, const struct wr_err *err)
{
    if (why && size)
        snprintf(why, size, "%s", err->text);
    return false;
}

/* Fields that the caller's version does not have are zero. */
static bool lib_read_config(struct rpc_opts *ret, const struct weir_rpc_config *config, bool server,
                            struct wr_err *err)
{
    static const enum rpc_wait waits[] = {RPC_ADAPTIVE, RPC_BLOCK, RPC_POLL};
    struct weir_rpc_config c = {.size = 0};

    if (!config || config->size < offsetof(struct weir_rpc_config, provider))
        return wr_fail(err, WR_INPUT, "set the configuration's size to its sizeof");
    memcpy(&c, config, config->size < sizeof c ? config->size : sizeof c);
    if (c.wait < 0 || c.wait > WEIR_RPC_POLL)
        return wr_fail(err, WR_INPUT, "no way to wait has number %d; take WEIR_RPC_ADAPTIVE",
                       c.wait);
    const struct rpc_transport *t = rpc_transport_find(c.transport ? c.transport : "shm", err);
    struct wr_token token;

    if (!t || !lib_read_token(&token, &c, server, err))
        return false;
    *ret =
        (struct rpc_opts){.transport = t,
                          .provider = c.provider,
                          .bind = c.bind,
                          .token = token,
                          .wait = waits[c.wait],
                          .spin_us = c.spin_us ? c.spin_us : SPIN_US,
                          .oversubscribed = !t->kernel_wakes, /* an application has other threads */
                          .depth = c.depth ? c.depth : DEPTH,
                          .peers = c.clients ? c.clients : CLIENTS,
                          .bulk_b = server ? 0 : c.memory_b,
                          .share_b = server ? c.memory_b : 0};
    return true;
}

/* ---- server ---- */

struct weir_rpc_server {
    struct rpc_server *s;
    weir_rpc_handler *handle;
    void *ctx;
    char address[RPC_ADDRESS];
};

static int lib_handle(void *ctx, unsigned op, const void *bytes, size_t len, void *reply,
                      size_t reply_size)
{
    struct weir_rpc_server *s = ctx;

    return s->handle ? s->handle(s->ctx, op, bytes, len, reply, reply_size) : WEIR_RPC_BAD_OP;
}

API struct weir_rpc_server *weir_rpc_server_open(const struct weir_rpc_config *config,
                                                 weir_rpc_handler *handler, void *ctx, char *why,
                                                 size_t why_size)
{
    struct weir_rpc_server *s = wr_zalloc(1, sizeof *s);
    struct wr_err err = {.code = WR_NONE};
    struct rpc_opts o;

    s->handle = handler;
    s->ctx = ctx;
    bool ok = lib_read_config(&o, config, true, &err);

    if (ok) {
        o.handle = lib_handle;
        o.handle_ctx = s;
        ok = rpc_server_open(&s->s, &o, &err);
    }
    if (!ok) {
        lib_set_why(why, why_size, &err);
        free(s);
        return NULL;
    }
    rpc_server_address(s->s, s->address);
    return s;
}

API void weir_rpc_server_close(struct weir_rpc_server *s)
{
    if (s)
        rpc_server_close(s->s);
    free(s);
}

API const char *weir_rpc_server_address(struct weir_rpc_server *s)
{
    return s->address;
}

API void *weir_rpc_server_memory(struct weir_rpc_server *s)
{
    return rpc_server_shared(s->s);
}

API void weir_rpc_server_step(struct weir_rpc_server *s, uint64_t timeout_us)
{
    rpc_server_step(s->s, 1000 * timeout_us);
}

API uint64_t weir_rpc_server_calls(const struct weir_rpc_server *s)
{
    const struct rpc_server_stats *stats = rpc_server_stats(s->s);
    uint64_t n = stats->handled;

    for (int i = 0; i < RPC_OPS; i++)
        n += stats->calls[i];
    return n;
}

API uint64_t weir_rpc_server_dropped(const struct weir_rpc_server *s)
{
    uint64_t n = 0;

    for (int i = RPC_TAKEN + 1; i < RPC_DROPS; i++)
        n += rpc_server_stats(s->s)->dropped[i];
    return n;
}

/* ---- client ---- */

/* A call in flight. */
struct place {
    weir_rpc_done *done; /* NULL: the caller gave up waiting */
    void *ctx;
    bool busy;
};

struct weir_rpc_client {
    struct rpc_client *c;
    struct place *place; /* [depth] */
    uint32_t depth;      /* calls in flight at most */
    size_t memory_b;     /* offered to the server */
    uint64_t timeout_us; /* of a call; may be changed at any time */
};

static int lib_result_of(enum rpc_status status, uint32_t len)
{
    static const int results[] = {[RPC_OK] = WEIR_RPC_OK,
                                  [RPC_BAD_RANGE] = WEIR_RPC_BAD_RANGE,
                                  [RPC_BAD_OP] = WEIR_RPC_BAD_OP,
                                  [RPC_BUSY] = WEIR_RPC_BUSY,
                                  [RPC_IO_FAILED] = WEIR_RPC_FAILED,
                                  [RPC_BAD_VERSION] = WEIR_RPC_BAD_OP,
                                  [RPC_BAD_DATA] = WEIR_RPC_FAILED};
    uint32_t n = status;

    if (n & RPC_OWN_STATUS)
        return -(int)(n & ~(uint32_t)RPC_OWN_STATUS);
    if (n >= sizeof results / sizeof *results)
        return WEIR_RPC_FAILED;
    return n == RPC_OK ? (int)len : results[n];
}

static void lib_on_done(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                        uint32_t len)
{
    struct weir_rpc_client *c = ctx;
    struct place *p = &c->place[cookie % c->depth];

    p->busy = false;
    if (p->done)
        p->done(p->ctx, lib_result_of(status, len), payload, len);
}

API struct weir_rpc_client *weir_rpc_client_open(const struct weir_rpc_config *config,
                                                 const char *address, char *why, size_t why_size)
{
    struct weir_rpc_client *c = wr_zalloc(1, sizeof *c);
    struct wr_err err = {.code = WR_NONE};
    struct rpc_opts o;
    bool ok = lib_read_config(&o, config, false, &err);

    if (ok) {
        c->depth = o.depth;
        c->memory_b = o.bulk_b;
        c->timeout_us = TIMEOUT_US;
        c->place = wr_zalloc(o.depth, sizeof *c->place);
        ok = rpc_client_open(&c->c, &o, address ? address : "", lib_on_done, c, &err);
    }
    if (!ok) {
        lib_set_why(why, why_size, &err);
        weir_rpc_client_close(c);
        return NULL;
    }
    return c;
}

API void weir_rpc_client_close(struct weir_rpc_client *c)
{
    if (!c)
        return;
    rpc_client_close(c->c);
    free(c->place);
    free(c);
}

API void *weir_rpc_client_memory(struct weir_rpc_client *c)
{
    return rpc_client_bulk(c->c);
}

API size_t weir_rpc_client_room(const struct weir_rpc_client *c)
{
    return rpc_client_inlined(c->c);
}

API void weir_rpc_client_patience(struct weir_rpc_client *c, uint64_t timeout_us)
{
    c->timeout_us = timeout_us ? timeout_us : TIMEOUT_US;
}

static int lib_start(struct weir_rpc_client *c, struct rpc_call *call, weir_rpc_done *done,
                     void *ctx, uint32_t *ret_place)
{
    uint32_t k = 0;

    if (rpc_client_under_way(c->c) == c->depth)
        return WEIR_RPC_BUSY;
    while (c->place[k].busy)
        k++;
    assert(k < c->depth);
    c->place[k] = (struct place){done, ctx, true};
    call->cookie = k;
    rpc_client_start(c->c, call);
    rpc_client_flush(c->c);
    if (ret_place)
        *ret_place = k;
    return WEIR_RPC_OK;
}

/* A call of one of the service's own operations. */
static int lib_own_call(struct rpc_call *ret, const struct weir_rpc_client *c, unsigned op,
                        const void *bytes, size_t len)
{
    if (len > rpc_client_inlined(c->c))
        return WEIR_RPC_BAD_RANGE;
    if (op >= RPC_OP_OWN)
        return WEIR_RPC_BAD_OP;
    *ret = (struct rpc_call){
        .op = (enum rpc_op)(RPC_OP_OWN + op), .payload = bytes, .len = (uint32_t)len};
    return WEIR_RPC_OK;
}

API int weir_rpc_start(struct weir_rpc_client *c, unsigned op, const void *bytes, size_t len,
                       weir_rpc_done *done, void *ctx)
{
    struct rpc_call call;
    int bad = lib_own_call(&call, c, op, bytes, len);

    return bad ? bad : lib_start(c, &call, done, ctx, NULL);
}

API int weir_rpc_step(struct weir_rpc_client *c, uint64_t timeout_us)
{
    uint32_t n = rpc_client_step(c->c, 1000 * timeout_us);

    if (!n && rpc_client_under_way(c->c) && !rpc_client_server_alive(c->c))
        return WEIR_RPC_GONE;
    return (int)n;
}

/* ---- one call at a time ---- */

struct waiting {
    void *reply;
    size_t reply_size;
    int result;
    bool answered;
};

static void lib_take_reply(void *ctx, int result, const void *reply, size_t len)
{
    struct waiting *w = ctx;

    w->answered = true;
    w->result = result;
    len = len < w->reply_size ? len : w->reply_size;
    if (result >= 0 && len)
        memcpy(w->reply, reply, len);
}

static int lib_call(struct weir_rpc_client *c, struct rpc_call *call, void *reply,
                    size_t reply_size)
{
    struct waiting w = {.reply = reply, .reply_size = reply_size};
    uint64_t begun = wr_clock_ns(), looked = begun, sleeps = 0;
    uint32_t k;
    int busy = lib_start(c, call, lib_take_reply, &w, &k);

    if (busy)
        return busy;
    for (uint32_t steps = 1; !w.answered; steps++) {
        /* Asking for the time costs more than a look, but a sleep is long. */
        if (rpc_client_step(c->c, LOOK_NS) || (steps % 1024 && rpc_client_sleeps(c->c) == sleeps))
            continue;
        sleeps = rpc_client_sleeps(c->c);
        uint64_t now = wr_clock_ns();
        bool gone = now - looked > LOOK_NS && !rpc_client_server_alive(c->c);

        looked = now - looked > LOOK_NS ? now : looked;
        if (gone || now - begun > 1000 * c->timeout_us) {
            c->place[k].done = NULL;
            return gone ? WEIR_RPC_GONE : WEIR_RPC_TOO_LATE;
        }
    }
    return w.result;
}

API int weir_rpc_call(struct weir_rpc_client *c, unsigned op, const void *bytes, size_t len,
                      void *reply, size_t reply_size)
{
    struct rpc_call call;
    int bad = lib_own_call(&call, c, op, bytes, len);

    return bad ? bad : lib_call(c, &call, reply, reply_size);
}

static int lib_move(struct weir_rpc_client *c, enum rpc_op op, uint64_t place, size_t at,
                    size_t len)
{
    struct rpc_call call = {.op = op, .at = at, .bulk_len = len, .place = place};

    if (!len || at > c->memory_b || len > c->memory_b - at)
        return WEIR_RPC_BAD_RANGE;
    return lib_call(c, &call, NULL, 0);
}

API int weir_rpc_get(struct weir_rpc_client *c, uint64_t place, size_t at, size_t len)
{
    return lib_move(c, RPC_OP_GET, place, at, len);
}

API int weir_rpc_put(struct weir_rpc_client *c, uint64_t place, size_t at, size_t len)
{
    return lib_move(c, RPC_OP_PUT, place, at, len);
}
