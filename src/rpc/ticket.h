/* ticket.h -- what a client must know of a running server to attach to it.
 *
 * A file of one JSON object that only its owner may read, because it holds the server's token:
 *
 *   {"weir": VERSION, "transport": "shm", "provider": "", "address": "shm:4711:5",
 *    "token": "32 hexadecimal digits", "bulk": BYTES, "storage": BYTES,
 *    "process": "NODE.PID"}
 *
 * The process shows whether the server of a ticket was killed: then the next server replaces it.
 */
#ifndef RPC_TICKET_H
#define RPC_TICKET_H

#include "rpc/peer_process.h"
#include "rpc/rpc.h"

enum { RPC_TICKET_WORD = 64, RPC_TICKET_MOST = 1 << 16 };

struct rpc_ticket {
    char version[RPC_TICKET_WORD], transport[RPC_TICKET_WORD], provider[RPC_TICKET_WORD];
    char address[RPC_ADDRESS];
    struct wr_token token;
    uint64_t bulk_b, storage_b; /* of one transfer at most; of its storage, 0: none */
    struct rpc_process process; /* of the server; pid 0: unknown */
};

/* Errors name the file as `name`, with line and column. */
bool rpc_ticket_parse(struct rpc_ticket *ret, const char *name, const char *text, size_t len,
                      struct wr_err *err);
bool rpc_ticket_read(struct rpc_ticket *ret, const char *path, struct wr_err *err);
/* `force`: instead of one that is there already, also if its server lives or it is no ticket. */
bool rpc_ticket_write(const struct rpc_ticket *t, const char *path, bool force, struct wr_err *err);
/* Unless another server has written its own there meanwhile. */
void rpc_ticket_remove(const struct rpc_ticket *t, const char *path);

#endif
