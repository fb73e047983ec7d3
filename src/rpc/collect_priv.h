/* collect_priv.h -- a collection under way: its members, and where each client is. */
#ifndef RPC_COLLECT_PRIV_H
#define RPC_COLLECT_PRIV_H

#include "rpc/collect.h"
#include "rpc/crew.h"
#include "rpc/ticket.h"

#define SECOND UINT64_C(1000000000)

struct server_use {
    double cpu_s;
    uint64_t switches;
};

struct collecting {
    const struct rpc_spec *s;
    const struct rpc_collect_opts *o;
    struct rpc_collected *c;
    struct rpc_member *member; /* servers, then clients; of servers attached to only the answer */
    size_t n;
    struct rpc_ticket *ticket; /* of servers attached to, or NULL */
    uint32_t *at;              /* of each client the server it calls */
    struct server_use *used;   /* of each server, when last asked */
    struct wr_token token;
    uint64_t lead_ns; /* from when clients are told of a window until it begins */
    uint32_t in_vain; /* windows in a row that stayed disturbed however often they were repeated */
    struct rpc_sizes sizes;
};

static inline struct rpc_member *client_of(const struct collecting *g, size_t client)
{
    return &g->member[g->s->servers + client];
}

static inline uint32_t home_of(const struct collecting *g, size_t client)
{
    return (uint32_t)(client % g->s->servers);
}

/* NULL: here. Of a server that runs already nobody says where, but its address tells it apart. */
static inline const char *host_of(const struct collecting *g, size_t member)
{
    const char *const *hosts = g->s->hosts.items;

    if (g->ticket && member < g->s->servers)
        return g->ticket[member].address;
    if (g->ticket)
        member -= g->s->servers;
    return g->s->hosts.n ? hosts[member % g->s->hosts.n] : NULL;
}

void collect_tell(const struct collecting *g, const char *what);
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
