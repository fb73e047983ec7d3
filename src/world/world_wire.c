/* world_wire.c -- a simulated network with a clock of its own, as the wire of stack/: messages of
 * the file system's processes are packets here. stack/ advances it by one event at a time. */
#include "world/world_wire.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pool.h"
#include "world/machine.h"

enum { EV_SEND = NET_EV_KINDS, MOST_WAITING = 1 << 27 };

/* A message that leaves when the network's clock is there. */
struct waiting {
    uint32_t from, to, tag;
    uint64_t bytes;
};

struct fabric {
    struct stack_wire wire;
    struct conf *conf;
    struct world_machine machine;
    struct world_network network;
    struct sim sim;
    struct net *net;
    struct wr_pool waiting;
    uint32_t seq;
    bool network_open;
};

static void wire_on_send(void *ctx, const struct sim_event *ev)
{
    struct fabric *f = ctx;
    struct waiting w = *(struct waiting *)wr_pool_at(&f->waiting, ev->arg);

    wr_pool_give(&f->waiting, ev->arg);
    net_send(f->net, w.from, w.to, w.bytes, 0, 0, w.tag);
}

static void wire_on_arrived(void *ctx, uint32_t msg)
{
    struct fabric *f = ctx;

    f->wire.arrived(f->wire.to, (uint32_t)net_msg_at(f->net, msg)->user, (f->sim.now + 999) / 1000);
}

static void wire_send(void *ctx, uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag,
                      uint64_t t_ns)
{
    struct fabric *f = ctx;
    uint32_t h = wr_pool_take(&f->waiting);

    *(struct waiting *)wr_pool_at(&f->waiting, h) = (struct waiting){from, to, tag, bytes};
    sim_at(&f->sim, t_ns * 1000, net_node_lp(f->net, from), sim_subkey(EV_SEND, 0), f->seq++, h, 0);
}

static uint64_t wire_next_ps(void *ctx)
{
    struct fabric *f = ctx;

    return sim_next(&f->sim);
}

static void world_wire_step(void *ctx)
{
    struct fabric *f = ctx;

    sim_run(&f->sim, UINT64_MAX, 1);
}

static void wire_close_fabric(void *ctx)
{
    struct fabric *f = ctx;

    if (f->net)
        net_close(f->net);
    if (f->network_open) {
        sim_fini(&f->sim);
        wr_pool_fini(&f->waiting);
        world_network_close(&f->network);
    }
    if (f->conf)
        conf_close(f->conf);
    free(f);
}

bool world_wire_open(struct stack_wire **ret, const char *machine, uint64_t seed,
                     struct wr_err *err)
{
    struct fabric *f = wr_zalloc_aligned(1, sizeof *f);
    const struct net_client client = {.ctx = f, .arrived = wire_on_arrived};

    f->wire = (struct stack_wire){.ctx = f,
                                  .send = wire_send,
                                  .next_ps = wire_next_ps,
                                  .step = world_wire_step,
                                  .close = wire_close_fabric};
    bool ok = conf_load(&f->conf, &f->machine, world_machine_rows, machine, NULL, 0, err) &&
              world_network_open(&f->network, f->conf, &f->machine, err);

    if (ok) {
        f->network_open = true;
        sim_init(&f->sim);
        wr_pool_init(&f->waiting, "messages of agents", sizeof(struct waiting), MOST_WAITING);
        ok = net_open(&f->net, &f->network.topo, &f->network.route, &f->network.net, &f->sim, seed,
                      &client, err);
    }
    if (!ok) {
        wire_close_fabric(f);
        return false;
    }
    sim_handle(&f->sim, EV_SEND, wire_on_send, f);
    f->wire.nodes = net_nodes(f->net);
    *ret = &f->wire;
    return true;
}

const struct net *world_wire_net(const struct stack_wire *w)
{
    return ((const struct fabric *)w->ctx)->net;
}
