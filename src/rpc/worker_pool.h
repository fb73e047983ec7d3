/* worker_pool.h -- a pool of worker processes: servers and clients, on this host or others.
 *
 *   rpc_member_start ─> rpc_member_say ─> rpc_pool_await ─> ... ─> rpc_pool_end
 *
 * A worker that exits, hangs or reports a failure is killed and marked not alive. `why` holds the
 * reason; the others go on.
 */
#ifndef RPC_WORKER_POOL_H
#define RPC_WORKER_POOL_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct rpc_member {
    const char *role;   /* "server", "client" */
    uint32_t rank;      /* in its role */
    pid_t pid;          /* 0: this process did not start it */
    int to, from;       /* pipes to its input and from its output */
    struct wr_str text; /* read and not yet a whole line */
    bool alive;         /* started, and nothing went wrong so far */
    bool reaped;        /* waited for */
    char why[256];      /* what went wrong */
    json_t *answer;     /* to the last thing said; NULL: none */
    json_t *hello;      /* to the first, where that is kept; NULL: it is not */
};

/* `launch`: a template of a command with {cmd}, {host}, {rank}, {role}; NULL: here. */
bool rpc_member_start(struct rpc_member *m, const char *program, const char *launch,
                      const char *host, struct wr_err *err);
/* Takes over `what`. */
void rpc_member_say(struct rpc_member *m, json_t *what);
/* Waits until each living member that was sent a command has answered or failed. False if `stop`
 * returned true first. */
bool rpc_pool_await(struct rpc_member **m, size_t n, uint64_t timeout_ns, bool (*stop)(void));
/* Marks members whose process has exited. */
void rpc_pool_check(struct rpc_member *m, size_t n);
/* Removes what libfabric's shm provider leaves of a process that was killed. */
void rpc_pool_remove_shm(pid_t pid);
/* Closes the pipes, waits up to three seconds, kills the processes that are left. */
void rpc_pool_end(struct rpc_member *m, size_t n);

#endif
