/* rpc_store.h -- a server's storage: reads and writes that are under way together (io_uring). */
#ifndef RPC_RPC_STORE_H
#define RPC_RPC_STORE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct rpc_store;

/* `path`: a file that is made and removed again, a directory in which that is done, or a block
 * device, which is only read. */
bool rpc_store_open(struct rpc_store **ret, const char *path, uint64_t size, uint32_t depth,
                    bool direct, struct wr_err *err);
void rpc_store_close(struct rpc_store *s); /* NULL is fine */
bool rpc_store_writable(const struct rpc_store *s);
/* `at` lies on a page, and so do length and place. false: the queue is full now. */
bool rpc_store_start(struct rpc_store *s, bool write, void *at, size_t len, uint64_t place,
                     uint64_t cookie);
uint32_t rpc_store_poll(struct rpc_store *s, void (*done)(void *ctx, uint64_t cookie, bool ok),
                        void *ctx);
uint32_t rpc_store_under_way(const struct rpc_store *s);

#endif
