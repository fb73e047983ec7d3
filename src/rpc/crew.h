/* crew.h -- servers and clients as processes, here or elsewhere, and what they answer.
 *
 * A member that dies, hangs or complains is out: it is killed, what is known of it is kept in
 * `why`, and the others go on.
 */
#ifndef RPC_CREW_H
#define RPC_CREW_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct rpc_member {
    const char *role; /* "server", "client" */
    uint32_t rank;    /* in its role */
    pid_t pid;        /* 0: it is not ours, somebody else started it */
    int to, from;
    struct wr_str text; /* read and not yet a whole line */
    bool alive, reaped;
    char why[256];
    json_t *answer; /* to the last thing said; NULL: none */
    json_t *hello;  /* to the first, where that is kept; NULL: it is not */
};

/* `launch`: a template of a command with {cmd}, {host}, {rank}, {role}; NULL: here. */
bool rpc_member_start(struct rpc_member *m, const char *program, const char *launch,
                      const char *host, struct wr_err *err);
/* Takes over `what`. */
void rpc_member_say(struct rpc_member *m, json_t *what);
/* Waits until each of the members that are alive and were spoken to has answered, or is out. False
 * if `stop` said so first. */
bool rpc_crew_await(struct rpc_member **m, size_t n, uint64_t timeout_ns, bool (*stop)(void));
/* Looks whether somebody ended meanwhile. */
void rpc_crew_look(struct rpc_member *m, size_t n);
/* Removes what libfabric's shm provider leaves of a process that was killed. */
void rpc_crew_sweep(pid_t pid);
/* Closes the pipes, waits a moment, kills whoever is left. */
void rpc_crew_end(struct rpc_member *m, size_t n);

#endif
