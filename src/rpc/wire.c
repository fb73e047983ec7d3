#include "rpc/wire.h"

#include <string.h>

const char *const rpc_op_names[] = {"noop", "get", "put", "sread", "swrite", NULL};
const char *const rpc_drop_names[] = {"taken", "short", "magic",  "version",
                                      "token", "kind",  "length", "stranger"};

enum rpc_drop rpc_wire_take(struct rpc_head *ret, const void *bytes, size_t len, uint64_t token)
{
    struct rpc_head h;

    if (len < sizeof h)
        return RPC_DROP_SHORT;
    memcpy(&h, bytes, sizeof h);
    if (h.magic != RPC_MAGIC)
        return RPC_DROP_MAGIC;
    if (h.token != token)
        return RPC_DROP_TOKEN;
    if (!h.kind || h.kind >= RPC_KINDS)
        return RPC_DROP_KIND;
    if (h.len > RPC_INLINE_MOST || h.len > len - sizeof h)
        return RPC_DROP_LENGTH;
    *ret = h; /* a hello of another version is answered, so it is handed on */
    return h.version == RPC_VERSION || h.kind == RPC_HELLO ? RPC_TAKEN : RPC_DROP_VERSION;
}
