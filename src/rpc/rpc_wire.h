/* rpc_wire.h -- a message as it travels: 40 bytes, then at most a few hundred of payload.
 *
 *   | magic | version | kind | op | token ........ | id | len | status | spare | payload ... |
 *
 * All numbers are little-endian. The token is the run's secret of 128 bits: what comes without it
 * is dropped. Received bytes are not trusted and may change while they are read: the head is copied
 * first, then checked.
 */
#ifndef RPC_RPC_WIRE_H
#define RPC_RPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/token.h"

enum { RPC_MAGIC = 0x31505257, RPC_VERSION = 2, RPC_INLINE_MOST = 4096 };
#define RPC_BULK_MOST (UINT64_C(1) << 30) /* bytes of one bulk transfer */

/* No call has it: what carries it asks whether the other lives, or says so. */
#define RPC_PING_ID UINT32_MAX

enum rpc_kind { RPC_HELLO = 1, RPC_REQUEST, RPC_RESPONSE, RPC_BYE, RPC_KINDS };

/* What a server is asked for. */
enum rpc_op {
    RPC_OP_NOOP,   /* the payload comes back */
    RPC_OP_GET,    /* the server writes to the client's memory */
    RPC_OP_PUT,    /* the server reads from the client's memory */
    RPC_OP_SREAD,  /* the same from storage ... */
    RPC_OP_SWRITE, /* ... and to it */
    RPC_OPS,
    RPC_OP_USAGE = 127, /* what the server used so far comes back: struct rpc_used */
    RPC_OP_OWN = 128    /* from here on a service's own: the server's handler answers */
};
extern const char *const rpc_op_names[]; /* ends with NULL */

enum rpc_status {
    RPC_OK,
    RPC_BAD_RANGE,
    RPC_BAD_OP,
    RPC_BUSY,
    RPC_IO_FAILED,
    RPC_BAD_VERSION,
    RPC_BAD_DATA
};
#define RPC_OWN_STATUS \
    UINT32_C(0x80000000) /* with it: what a handler refused with, without its sign */

/* What every message begins with. */
struct rpc_head {
    uint32_t magic;
    uint16_t version;
    uint8_t kind, op;      /* enum rpc_kind, rpc_op */
    struct wr_token token; /* shared by the processes of a collection: others are dropped */
    uint32_t id;           /* of the call, the caller's */
    uint32_t len;          /* bytes of payload behind */
    uint32_t status;       /* of an answer; of a request: calls under way with it, a hint */
    uint32_t spare;
};
_Static_assert(sizeof(struct rpc_head) == 40, "the head of a message is 40 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "messages travel as they are in memory");

/* Made of whole words, so that a processor can pass on in one piece what it has just written. */
static inline struct rpc_head rpc_head_of(enum rpc_kind kind, unsigned op,
                                          const struct wr_token *token, uint32_t id, uint32_t len,
                                          uint32_t status)
{
    uint64_t word[] = {RPC_MAGIC | (uint64_t)RPC_VERSION << 32 | (uint64_t)kind << 48 |
                           (uint64_t)op << 56,
                       token->word[0], token->word[1], id | (uint64_t)len << 32, status};
    struct rpc_head h;

    memcpy(&h, word, sizeof h);
    return h;
}

/* The payload of GET, PUT, SREAD and SWRITE: where the client's memory is. */
struct rpc_ref {
    uint64_t at;    /* an address or an offset, as the transport has it */
    uint64_t key;   /* of the registered memory */
    uint64_t len;   /* 1 .. RPC_BULK_MOST */
    uint64_t place; /* in the server's memory or storage */
};

/* The answer to USAGE, of the server's process since it began. */
struct rpc_used {
    uint64_t user_ns, sys_ns, switches, forced_switches;
    uint64_t dropped, refused; /* messages; calls */
    uint64_t waits;            /* enum rpc_wait, as found out by now */
};

/* Why messages were dropped. */
enum rpc_drop {
    RPC_TAKEN,
    RPC_DROP_SHORT,
    RPC_DROP_MAGIC,
    RPC_DROP_VERSION,
    RPC_DROP_TOKEN,
    RPC_DROP_KIND,
    RPC_DROP_LENGTH,
    RPC_DROP_UNEXPECTED, /* a request before a hello, or an answer to no call */
    RPC_DROPS
};
extern const char *const rpc_drop_names[];

/* Here and not in a .c file, because both sides do it for every call. */
static inline enum rpc_drop rpc_wire_take(struct rpc_head *ret, const void *bytes, size_t len,
                                          const struct wr_token *token)
{
    struct rpc_head h;

    if (len < sizeof h)
        return RPC_DROP_SHORT;
    memcpy(&h, bytes, sizeof h);
    __asm__ volatile("" ::: "memory"); /* nothing is read again */
    if (h.magic != RPC_MAGIC)
        return RPC_DROP_MAGIC;
    if (!wr_token_same(&h.token, token))
        return RPC_DROP_TOKEN;
    if (!h.kind || h.kind >= RPC_KINDS)
        return RPC_DROP_KIND;
    if (h.len > RPC_INLINE_MOST || h.len > len - sizeof h)
        return RPC_DROP_LENGTH;
    *ret = h; /* a hello of another version is answered, so it is handed on */
    return h.version == RPC_VERSION || h.kind == RPC_HELLO ? RPC_TAKEN : RPC_DROP_VERSION;
}

#endif
