/* store_none.c -- without liburing a server has no storage. */
#include <stddef.h>

#include "rpc/rpc_store.h"

bool rpc_store_open(struct rpc_store **ret, const char *path, uint64_t size, uint32_t depth,
                    bool direct, struct wr_err *err)
{
    (void)ret;
    (void)path;
    (void)size;
    (void)depth;
    (void)direct;
    return wr_fail(err, WR_INPUT,
                   "this weir was built without liburing and serves no storage; "
                   "install liburing-dev and build it again");
}

void rpc_store_close(struct rpc_store *s)
{
    (void)s;
}

bool rpc_store_writable(const struct rpc_store *s)
{
    (void)s;
    return false;
}

bool rpc_store_start(struct rpc_store *s, bool write, void *at, size_t len, uint64_t place,
                     uint64_t cookie)
{
    (void)s;
    (void)write;
    (void)at;
    (void)len;
    (void)place;
    (void)cookie;
    return false;
}

uint32_t rpc_store_poll(struct rpc_store *s, void (*done)(void *ctx, uint64_t cookie, bool ok),
                        void *ctx)
{
    (void)s;
    (void)done;
    (void)ctx;
    return 0;
}

uint32_t rpc_store_under_way(const struct rpc_store *s)
{
    (void)s;
    return 0;
}
