/* worker.h -- a server or a client that takes commands through a pipe.
 *
 *   {"do": "open", "role": "server", "transport": "shm", "token": ..., ...}
 *                                       <- {"ready": ADDRESS, "version": ..., "waits": ...}
 *   {"do": "load", "op": "get", ...}    <- {"seen": {...}}            (clients)
 *   {"do": "usage"}                     <- {"usage": {...}}           (servers; clients ask theirs)
 *
 * One line of JSON each. {"failed": WORDS} instead of an answer: what went wrong. When the
 * pipe closes the worker ends, so no worker outlives the process that started it, on this host or
 * another.
 */
#ifndef RPC_WORKER_H
#define RPC_WORKER_H

#include <jansson.h>

#include "rpc/driver.h"

/* Never returns before its input ends. */
int rpc_worker_main(int in, int out);

json_t *rpc_seen_json(const struct rpc_seen *s);
bool rpc_seen_parse(struct rpc_seen *ret, const json_t *j);

#endif
