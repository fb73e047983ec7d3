/* collect_priv.h -- the state of a collection: its processes, and the server of each client.
 *
 * Owned by rpc_collect(); collect_start.c changes members and at[], collect.c the rest.
 */
#ifndef RPC_COLLECT_PRIV_H
#define RPC_COLLECT_PRIV_H

#include "rpc/collect.h"
#include "rpc/ticket.h"
#include "rpc/worker_pool.h"

#define SECOND UINT64_C(1000000000)

struct server_use {
    double cpu_s;
    uint64_t switches;
};

struct collecting {
    /* set up before the first window */
    const struct rpc_spec *s;
    const struct rpc_collect_opts *o;
    struct rpc_collected *c;   /* results, appended to window by window */
    struct rpc_member *member; /* servers, then clients; attached servers have no process here */
    size_t n;                  /* members */
    struct rpc_ticket *ticket; /* of servers attached to, or NULL */
    uint32_t *at;              /* of each client the server it calls */
    struct server_use *used;   /* of each server, when last asked */
    struct wr_token token;
    uint64_t lead_ns;            /* from the announcement of a window until it begins */
    uint32_t disturbed_in_a_row; /* windows in a row that stayed disturbed however often they were
                                    repeated */
    struct rpc_sizes sizes;
};

static inline struct rpc_member *collect_client(const struct collecting *g, size_t client)
{
    return &g->member[g->s->servers + client];
}

static inline uint32_t collect_home(const struct collecting *g, size_t client)
{
    return (uint32_t)(client % g->s->servers);
}

/* NULL: this host. For an attached server, whose host is not known, its address. */
static inline const char *collect_host(const struct collecting *g, size_t member)
{
    const char *const *hosts = g->s->hosts.items;

    if (g->ticket && member < g->s->servers)
        return g->ticket[member].address;
    if (g->ticket)
        member -= g->s->servers;
    return g->s->hosts.n ? hosts[member % g->s->hosts.n] : NULL;
}

/* What went wrong with members since the last time, once each. */
void collect_note_trouble(struct collecting *g);
/* How servers wait: one that finds out that it cannot sleep says so. */
void collect_note_waits(struct collecting *g, const char *waits);
size_t collect_alive(const struct collecting *g, size_t from, size_t n);

/* Reads the tickets of servers that run already. */
bool collect_tickets(struct collecting *g, struct wr_err *err);
/* Servers, then clients; each says when it is ready. */
bool collect_start(struct collecting *g, struct wr_err *err);
/* Sends the clients `from` .. `from + n` to `server`, or with UINT32_MAX each to its own. */
bool collect_send_to(struct collecting *g, size_t from, size_t n, uint32_t server);

#endif
