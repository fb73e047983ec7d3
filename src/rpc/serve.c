/* serve.c -- `weir roofline serve`: a server that clients attach to by its ticket.
 *
 * See serve.h. Invariant: the ticket exists exactly while the server runs.
 */
#include "rpc/serve.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/version.h"
#include "rpc/nic/nic.h"
#include "rpc/take_nic.h"
#include "rpc/worker_pool.h"

enum { STEP_NS = 50000000, LOOK_STEPS = 256 };

/* A descriptor for each client, and each pending connection: what a shell allows is often less than
 * what the system does. */
static void serve_raise_files(void)
{
    enum { FILES = 2 * RPC_PEERS };
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= FILES)
        return;
    files.rlim_cur = files.rlim_max < FILES ? files.rlim_max : FILES;
    setrlimit(RLIMIT_NOFILE, &files);
}

static struct rpc_opts serve_opts(const struct rpc_spec *s, struct wr_token token)
{
    struct rpc_sizes sizes = rpc_spec_sizes(s);
    struct wr_err none;

    return (struct rpc_opts){
        .transport = rpc_transport_find(s->transport, &none),
        .provider = s->provider,
        .bind = s->bind && *s->bind ? s->bind : NULL,
        .nic = {.name = s->nic.name && *s->nic.name ? s->nic.name : NULL,
                .only = s->nic.only,
                .bucket = s->nic.bucket,
                .policy = s->nic.policy,
                .pick = s->nic.bucket != NIC_PASSTHROUGH},
        .token = token,
        .wait = (enum rpc_wait)s->wait,
        .spin_us = (uint32_t)(s->spindown_ps / 1e6),
        .oversubscribed = s->clients + 1 > (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
        .depth = sizes.depth,
        .bulk_b = sizes.server_bulk_b,
        .peers = RPC_PEERS,
        .storage = s->storage.path,
        .storage_b = s->storage.size_b,
        .direct = s->storage.direct,
    };
}

static void serve_make_ticket(struct rpc_ticket *t, struct rpc_server *server,
                              const struct rpc_opts *o)
{
    memset(t, 0, sizeof *t);
    snprintf(t->version, sizeof t->version, "%s", wr_version_number());
    snprintf(t->transport, sizeof t->transport, "%s", o->transport->name);
    snprintf(t->provider, sizeof t->provider, "%s", o->provider ? o->provider : "");
    rpc_server_address(server, t->address);
    t->token = o->token;
    t->process = rpc_process_own();
    t->bulk_b = o->bulk_b;
    t->storage_b = o->storage ? o->storage_b : 0;
}

static uint64_t serve_count_calls(const struct rpc_server_stats *st)
{
    uint64_t n = st->peers + st->left;

    for (int i = 0; i < RPC_OPS; i++)
        n += st->calls[i];
    return n;
}

/* Serves until `stop` returns true, or no call came for idle_ns. True: the latter. */
static bool serve_loop(struct rpc_server *s, const struct rpc_serve_opts *o)
{
    uint64_t calls = 0, heard = wr_clock_ns(), sleeps = 0;

    for (uint32_t steps = 1; !(o->stop && o->stop()); steps++) {
        rpc_server_step(s, STEP_NS);
        if (steps % LOOK_STEPS && rpc_server_sleeps(s) == sleeps)
            continue;
        uint64_t now = wr_clock_ns(), n = serve_count_calls(rpc_server_stats(s));

        sleeps = rpc_server_sleeps(s);
        if (n != calls)
            heard = now;
        else if (o->idle_ns && now - heard > o->idle_ns)
            return true;
        calls = n;
    }
    return false;
}

bool rpc_serve(struct rpc_served *ret, const struct rpc_spec *s, const struct rpc_serve_opts *o,
               struct wr_err *err)
{
    struct rpc_taken_nic nic;
    struct rpc_server *server;
    struct rpc_ticket ticket;
    struct wr_token token;

    assert(o->ticket && s->cases.n);
    if (!wr_token_make(&token, err))
        return false;
    struct rpc_opts how = serve_opts(s, token);

    serve_raise_files();
    if (!rpc_take_nic(&nic, &how, err))
        return false;
    if (!rpc_server_open(&server, &how, err)) {
        rpc_leave_nic(&nic);
        return false;
    }
    serve_make_ticket(&ticket, server, &how);
    bool ok = rpc_ticket_write(&ticket, o->ticket, o->force, err);

    if (ok) {
        if (o->ready)
            o->ready(o->ctx, &ticket);
        ret->idle = serve_loop(server, o);
        ret->stats = *rpc_server_stats(server);
        rpc_ticket_remove(&ticket, o->ticket);
    }
    rpc_server_close(server);
    rpc_leave_nic(&nic);
    return ok;
}
