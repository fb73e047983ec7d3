/* collect_start.c -- starts the servers and clients of a collection, or attaches to running ones.
 *
 * Called by collect.c before the first window, and before each window to send clients to the
 * servers that they measure.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/version.h"
#include "collect_priv.h"
#include "rpc/nic/nic.h"
#include "rpc/worker_commands.h"

/* ---- servers that run already ---- */

static bool collect_check_ticket(const struct collecting *g, const struct rpc_ticket *t,
                                 const char *path, struct wr_err *err)
{
    const struct rpc_spec *s = g->s;
    bool storage = s->storage.path && s->storage.size_b > t->storage_b;

    if (strcmp(t->version, wr_version_number()) != 0)
        return wr_fail(err, WR_INPUT,
                       "%s: the server is weir %s and this is %s; install the same on both sides",
                       path, t->version, wr_version_number());
    if (strcmp(t->transport, s->transport) != 0 ||
        (*t->provider && s->provider && *s->provider && strcmp(t->provider, s->provider) != 0))
        return wr_fail(err, WR_INPUT,
                       "%s: the server speaks %s%s%s, and the specification says %s%s%s; give both "
                       "sides the same",
                       path, t->transport, *t->provider ? " " : "", t->provider, s->transport,
                       s->provider && *s->provider ? " " : "", s->provider ? s->provider : "");
    if (t->bulk_b < g->sizes.server_bulk_b || storage)
        return wr_fail(
            err, WR_INPUT,
            "%s: the server's memory or storage is too small for the cases; start it with the "
            "same specification",
            path);
    return true;
}

bool collect_tickets(struct collecting *g, struct wr_err *err)
{
    const char *const *paths = g->s->attach.items;

    assert(!g->ticket);
    if (!g->s->attach.n)
        return true;
    g->ticket = wr_zalloc(g->s->attach.n, sizeof *g->ticket);
    for (size_t i = 0; i < g->s->attach.n; i++)
        if (!rpc_ticket_read(&g->ticket[i], paths[i], err) ||
            !collect_check_ticket(g, &g->ticket[i], paths[i], err))
            return false;
    return true;
}

/* ---- start ---- */

/* Besides its own clients a server has visitors, one at a time, and some that just left. */
enum { VISITORS = 8 };

static struct rpc_opts collect_opts(const struct collecting *g, bool server)
{
    const struct rpc_spec *s = g->s;
    uint32_t peers = (s->clients + s->servers - 1) / s->servers + VISITORS;
    bool here = !s->launch || !*s->launch;
    struct wr_err none;

    return (struct rpc_opts){
        .transport = rpc_transport_find(s->transport, &none),
        .provider = s->provider,
        .bind = s->bind,
        .nic = {.name = s->nic.name,
                .only = s->nic.only,
                .bucket = s->nic.bucket,
                .policy = s->nic.policy,
                .pick = s->nic.bucket != NIC_PASSTHROUGH},
        .token = g->token,
        .wait = (enum rpc_wait)s->wait,
        .spin_us = (uint32_t)(s->spindown_ps / 1e6),
        .oversubscribed = here && s->servers + s->clients > (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
        .depth = g->sizes.depth,
        .bulk_b = server ? g->sizes.server_bulk_b : g->sizes.client_bulk_b,
        .peers = peers > RPC_PEERS && peers <= RPC_PEERS + VISITORS ? RPC_PEERS : peers,
        .storage = server ? s->storage.path : NULL,
        .storage_b = s->storage.size_b,
        .direct = s->storage.direct,
    };
}

static void collect_check_version(struct rpc_member *m)
{
    const char *v = json_string_value(json_object_get(m->answer, "version"));

    if (!m->alive || (v && !strcmp(v, wr_version_number())))
        return;
    m->alive = false;
    snprintf(m->why, sizeof m->why, "%s %u is weir %.30s and this is %.30s; install the same",
             m->role, m->rank, v ? v : "of another time", wr_version_number());
}

static bool collect_await_ready(struct collecting *g, size_t from, size_t n, struct wr_err *err)
{
    struct rpc_member **all = wr_zalloc(n, sizeof *all);

    for (size_t i = 0; i < n; i++)
        all[i] = &g->member[from + i];
    bool ok = rpc_pool_await(all, n, 60 * SECOND, g->o->stop);

    for (size_t i = 0; ok && i < n; i++)
        collect_check_version(all[i]);
    free(all);
    collect_note_trouble(g);
    if (!ok)
        return wr_fail(err, WR_INTERRUPTED, "stopped before anything was measured");
    if (!collect_alive(g, from, n))
        return wr_fail(err, WR_SYSTEM, "%s; look at transport, launch and storage",
                       g->c->trouble.n ? g->c->trouble.v[0] : "no process is ready");
    return true;
}

/* The NIC of each process, where one was chosen. */
static void collect_note_nics(struct collecting *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const char *nic = json_string_value(json_object_get(g->member[i].answer, "nic"));
        char line[96];

        if (!nic || !*nic)
            continue;
        snprintf(line, sizeof line, "%s.%u %.40s", g->member[i].role, g->member[i].rank, nic);
        wr_vec_push(&g->c->nic, wr_strdup(line));
    }
}

/* The address of a server that failed is not known. */
static const char *collect_address_of(const struct collecting *g, uint32_t server)
{
    const char *at = json_string_value(json_object_get(g->member[server].hello, "ready"));

    return g->ticket ? g->ticket[server].address : at ? at : "nowhere";
}

static void collect_open_client(struct collecting *g, size_t client, uint32_t server)
{
    assert(client < g->s->clients && server < g->s->servers);
    struct rpc_opts o = collect_opts(g, false);

    if (g->ticket)
        o.token = g->ticket[server].token;
    rpc_member_say(collect_client(g, client), rpc_open_json(&o, collect_address_of(g, server)));
    g->at[client] = server;
}

bool collect_send_to(struct collecting *g, size_t from, size_t n, uint32_t server)
{
    struct rpc_member **moved = wr_zalloc(n, sizeof *moved);
    size_t moving = 0;

    for (size_t i = from; i < from + n; i++) {
        uint32_t to = server == UINT32_MAX ? collect_home(g, i) : server;

        if (g->at[i] == to || !collect_client(g, i)->alive)
            continue;
        collect_open_client(g, i, to);
        moved[moving++] = collect_client(g, i);
    }
    bool ok = rpc_pool_await(moved, moving, 60 * SECOND, g->o->stop);

    free(moved);
    collect_note_trouble(g);
    return ok;
}

static bool collect_start_servers(struct collecting *g, struct wr_err *err)
{
    const struct rpc_spec *s = g->s;
    struct rpc_opts o = collect_opts(g, true);

    for (size_t i = 0; i < s->servers && !g->ticket; i++)
        rpc_member_say(&g->member[i], rpc_open_json(&o, NULL));
    if (!g->ticket && !collect_await_ready(g, 0, s->servers, err))
        return false;
    for (size_t i = 0; i < s->servers; i++)
        g->member[i].hello = json_incref(g->member[i].answer);
    return true;
}

bool collect_start(struct collecting *g, struct wr_err *err)
{
    const struct rpc_spec *s = g->s;

    for (size_t i = 0; i < g->n; i++) {
        struct rpc_member *m = &g->member[i];

        m->role = i < s->servers ? "server" : "client";
        m->rank = (uint32_t)(i < s->servers ? i : i - s->servers);
        m->alive = true;
        if (i < s->servers && g->ticket)
            continue; /* of others' servers we have no process */
        if (!rpc_member_start(m, g->o->program, s->launch, collect_host(g, i), err))
            return false;
    }
    if (!collect_start_servers(g, err))
        return false;
    for (size_t i = 0; i < s->clients; i++)
        collect_open_client(g, i, collect_home(g, i));
    collect_note_waits(g, json_string_value(json_object_get(g->member[0].answer, "waits")));
    if (!collect_await_ready(g, s->servers, s->clients, err))
        return false;
    collect_note_nics(g);
    return true;
}
