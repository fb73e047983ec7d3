/* lab.h -- a machine on the bench: from YAML to a network that a test drives by
 * hand, message by message, with a trace of every packet's way.
 */
#ifndef TESTS_PROP_LAB_H
#define TESTS_PROP_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "world/world.h"

enum { LAB_POST = NET_EV_KINDS }; /* the bench's own event: post a message */

/* A message as a test plans it. */
struct lab_msg {
    uint64_t t_ps, bytes;
    uint32_t src, dst;
    /* what became of it */
    uint64_t t_first_ps, t_arrived_ps;
    uint32_t arrived, sent; /* how often it was said to be */
};

/* A packet came to the end of a link. */
struct lab_step {
    uint64_t t_ps;
    uint32_t lp, door; /* where: a router and the port it came in by, or a terminal */
    uint32_t pkt, vc, seq;
};

struct lab {
    struct world_machine m;
    struct conf *conf;
    struct world_network network;
    struct sim sim;
    struct net *net;
    struct net_client client;
    WR_VEC(struct lab_msg) msgs;
    sim_handler *arrive; /* the network's own, when traced */
    void *arrive_ctx;
    WR_VEC(struct lab_step) trace;
};

static inline void lab_arrived(void *ctx, uint32_t h)
{
    struct lab *l = ctx;
    const struct net_msg *m = net_msg_at(l->net, h);
    struct lab_msg *p = &l->msgs.v[m->user];

    p->arrived++;
    p->t_arrived_ps = l->sim.now;
    p->t_first_ps = m->t_first_ps;
    assert_int_equal(m->bytes, p->bytes);
    assert_int_equal(m->src, p->src);
    assert_int_equal(m->dst, p->dst);
}

static inline void lab_sent(void *ctx, uint32_t h)
{
    struct lab *l = ctx;

    l->msgs.v[net_msg_at(l->net, h)->user].sent++;
}

static inline void lab_on_post(void *ctx, const struct sim_event *e)
{
    struct lab *l = ctx;
    const struct lab_msg *m = &l->msgs.v[e->arg];

    net_send(l->net, m->src, m->dst, m->bytes, 0, 0, e->arg);
}

static inline void lab_on_arrive(void *ctx, const struct sim_event *e)
{
    struct lab *l = ctx;

    wr_vec_push(&l->trace,
                (struct lab_step){e->t, sim_dst(e), sim_in_port(e), e->arg, e->arg2, e->seq});
    l->arrive(l->arrive_ctx, e);
}

/* Reads a machine; false with a reason when it is refused. */
static inline bool lab_try(struct lab *l, const char *yaml, uint64_t seed,
                           const struct net_client *client, struct wr_err *err)
{
    *l = (struct lab){.client = *client};
    if (!conf_load_text(&l->conf, &l->m, world_machine_rows, "bench", yaml, strlen(yaml), NULL, 0,
                        err))
        return false;
    if (!world_network_open(&l->network, l->conf, &l->m, err)) {
        conf_close(l->conf);
        return false;
    }
    sim_init(&l->sim);
    if (!net_open(&l->net, &l->network.topo, &l->network.route, &l->network.net, &l->sim, seed,
                  &l->client, err)) {
        sim_fini(&l->sim);
        world_network_close(&l->network);
        conf_close(l->conf);
        return false;
    }
    sim_handle(&l->sim, LAB_POST, lab_on_post, l);
    return true;
}

static inline void lab_open(struct lab *l, const char *yaml)
{
    struct wr_err err = {0};

    if (!lab_try(l, yaml, 1, &(struct net_client){.ctx = l, .arrived = lab_arrived}, &err))
        fail_msg("%s\n%s", err.text, yaml);
}

/* From now on every step of every packet is written down. */
static inline void lab_trace(struct lab *l)
{
    l->arrive = l->sim.on[NET_EV_ARRIVE].fn;
    l->arrive_ctx = l->sim.on[NET_EV_ARRIVE].ctx;
    l->sim.on[NET_EV_ARRIVE].fn = lab_on_arrive;
    l->sim.on[NET_EV_ARRIVE].ctx = l;
}

static inline void lab_close(struct lab *l)
{
    net_close(l->net);
    sim_fini(&l->sim);
    world_network_close(&l->network);
    conf_close(l->conf);
    wr_vec_fini(&l->msgs);
    wr_vec_fini(&l->trace);
}

/* Plan a message; its number. */
static inline uint32_t lab_post(struct lab *l, uint64_t t_ps, uint32_t src, uint32_t dst,
                                uint64_t bytes)
{
    uint32_t i = (uint32_t)l->msgs.n;

    wr_vec_push(&l->msgs, (struct lab_msg){.t_ps = t_ps, .bytes = bytes, .src = src, .dst = dst});
    sim_at(&l->sim, t_ps, net_node_lp(l->net, src), sim_subkey(LAB_POST, 0), i, i, 0);
    return i;
}

/* Until nothing happens any more. */
static inline void lab_drain(struct lab *l)
{
    while (sim_run(&l->sim, SIM_NEVER, 1 << 20))
        ;
}

/* The time of one message through the empty network. */
static inline uint64_t lab_once(struct lab *l, uint32_t src, uint32_t dst, uint64_t bytes)
{
    uint32_t i = lab_post(l, l->sim.now + 1000000, src, dst, bytes);

    lab_drain(l);
    assert_int_equal(l->msgs.v[i].arrived, 1);
    return l->msgs.v[i].t_arrived_ps - l->msgs.v[i].t_ps;
}

/* A whole file of this repository, for tests that use what is shipped. */
static inline char *lab_file(const char *path)
{
    char full[1024];

    snprintf(full, sizeof full, "%s/%s", WEIR_SOURCE_DIR, path);
    FILE *f = fopen(full, "rb");

    if (!f)
        fail_msg("cannot open %s", full);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);

    fclose(f);
    text[n] = 0;
    return text;
}

#endif
