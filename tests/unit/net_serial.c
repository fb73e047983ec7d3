/* net_serial.c -- what the client packs with a message arrives with it, in whatever partition and
 * by whatever way. */
#include "prop/lab.h"

#include "base/rng.h"
#include "net/topo/split.h"
#include "sim/engine.h"

enum { MESSAGES = 3000, PARTS = 3, WORDS = NET_MOST_USER / 8 };

struct part {
    struct trial *t;
    struct net *net;
    struct sim *sim;
    uint32_t me;
    uint64_t unpacked[MESSAGES]; /* a word of its own for each message that came as a serialised
                                    packet */
    uint32_t packs, unpacks;
};

struct trial {
    struct world_machine m;
    struct conf *conf;
    struct world_network network;
    struct topo_split split;
    struct sim_engine *engine;
    struct part *part[PARTS];
    bool sends; /* the client has `sent` */
    struct {
        uint32_t src, dst;
        uint64_t bytes;
        uint32_t arrived, sent;
    } msg[MESSAGES];
};

static uint32_t part_of(const struct trial *t, uint32_t node)
{
    return t->split.partition_of[t->network.topo.term[node].router];
}

/* What is said of message i: so many words, and which; of some, nothing but the number. */
static uint32_t say(uint32_t i, uint64_t word[WORDS])
{
    uint32_t n = i % 5 ? 1 + i % WORDS : 0;

    for (uint32_t k = 0; k < n; k++)
        word[k] = (uint64_t)i << 32 | k;
    return 8 * n;
}

static uint32_t pack(void *ctx, const struct net_msg *m, void *buf)
{
    struct part *p = ctx;

    assert_int_equal(part_of(p->t, m->src), p->me);
    assert_int_not_equal(part_of(p->t, m->dst), p->me);
    p->packs++;
    return say((uint32_t)m->user, buf);
}

static uint64_t unpack(void *ctx, const struct net_msg *m, const void *buf, uint32_t bytes)
{
    struct part *p = ctx;
    uint64_t want[WORDS];
    uint32_t i = (uint32_t)(*(const uint64_t *)buf >> 32);

    assert_int_equal(part_of(p->t, m->dst), p->me);
    assert_int_equal(bytes, say(i, want));
    assert_memory_equal(buf, want, bytes);
    p->unpacked[p->unpacks++] = i;
    return (uint64_t)1 << 40 | (p->unpacks - 1);
}

static void arrived(void *ctx, uint32_t h)
{
    struct part *p = ctx;
    const struct net_msg *m = net_msg_at(p->net, h);
    uint64_t user = m->user >> 40 ? p->unpacked[(uint32_t)m->user] : m->user;

    assert_true(user < MESSAGES);
    assert_int_equal(m->user >> 40 != 0, part_of(p->t, m->src) != p->me && user % 5);
    assert_int_equal(m->src, p->t->msg[user].src);
    assert_int_equal(m->dst, p->t->msg[user].dst);
    assert_int_equal(m->bytes, p->t->msg[user].bytes);
    assert_int_equal(part_of(p->t, m->dst), p->me);
    p->t->msg[user].arrived++;
}

static void sent(void *ctx, uint32_t h)
{
    struct part *p = ctx;
    const struct net_msg *m = net_msg_at(p->net, h);

    assert_int_equal(part_of(p->t, m->src), p->me);
    p->t->msg[m->user].sent++;
}

static void on_post(void *ctx, const struct sim_event *e)
{
    struct part *p = ctx;

    net_send(p->net, p->t->msg[e->arg].src, p->t->msg[e->arg].dst, p->t->msg[e->arg].bytes, 0, 0,
             e->arg);
}

static void open_trial(struct trial *t, const char *yaml)
{
    struct wr_err err = {0};
    struct net_client client[PARTS];
    struct net *net[PARTS];

    assert_true(conf_load_text(&t->conf, &t->m, world_machine_rows, "bench", yaml, strlen(yaml),
                               NULL, 0, &err));
    assert_true(world_network_open(&t->network, t->conf, &t->m, &err));
    topo_split(&t->network.topo, PARTS, NULL, &t->split);
    assert_int_equal(t->split.n, PARTS);
    uint64_t ps = net_lookahead(&t->network.topo, &t->network.net, &t->split);

    assert_true(sim_engine_open(&t->engine, PARTS, ps, NULL, &err));
    for (uint32_t i = 0; i < PARTS; i++) {
        t->part[i] = wr_zalloc(1, sizeof *t->part[i]);
        *t->part[i] =
            (struct part){.t = t, .sim = sim_engine_partition(t->engine, i)->sim, .me = i};
        client[i] = (struct net_client){.ctx = t->part[i],
                                        .sent = t->sends ? sent : NULL,
                                        .arrived = arrived,
                                        .pack = pack,
                                        .unpack = unpack};
    }
    assert_true(net_open_partitions(net, &t->network.topo, &t->network.route, &t->network.net,
                                    t->engine, t->split.partition_of, 1, client, &err));
    for (uint32_t i = 0; i < PARTS; i++) {
        t->part[i]->net = net[i];
        sim_handle(t->part[i]->sim, LAB_POST, on_post, t->part[i]);
    }
}

static void post_all(struct trial *t)
{
    uint32_t nodes = net_nodes(t->part[0]->net);
    struct wr_rng g;

    wr_rng_init(&g, 3, 0, 9);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        t->msg[i].src = wr_rng_below(&g, nodes);
        t->msg[i].dst = wr_rng_below(&g, nodes);
        t->msg[i].bytes = i % 3 ? wr_rng_below(&g, 257) : wr_rng_below(&g, 5000);
        sim_at(t->part[part_of(t, t->msg[i].src)]->sim, 1000 * wr_rng_below(&g, 4000),
               net_node_lp(t->part[0]->net, t->msg[i].src), sim_subkey(LAB_POST, 0), i, i, 0);
    }
}

static void close_trial(struct trial *t)
{
    net_close(t->part[0]->net);
    sim_engine_close(t->engine);
    topo_split_free(&t->split);
    world_network_close(&t->network);
    conf_close(t->conf);
    for (uint32_t i = 0; i < PARTS; i++)
        free(t->part[i]);
    free(t);
}

static void try(const char *topology, const char *routing, const char *rest, bool sends)
{
    struct trial *t = wr_zalloc(1, sizeof *t);
    char yaml[1024];
    struct wr_err err = {0};
    uint64_t until;
    uint32_t packs = 0, unpacks = 0;

    t->sends = sends;
    snprintf(yaml, sizeof yaml,
             "topology: %s\n"
             "links:\n"
             "  default: {bandwidth: 4 GB/s, latency: 20 ns, buffer: 2 KiB}\n"
             "nic: {packet: 256 B}\n"
             "router: {%s}\n"
             "routing: %s\n",
             topology, rest, routing);
    open_trial(t, yaml);
    post_all(t);
    for (uint64_t at = 1000000; sim_engine_run(t->engine, at, NULL, NULL, &until); at += 1000000)
        if (!net_check(t->part[0]->net, &err))
            fail_msg("%s", err.text);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        assert_int_equal(t->msg[i].arrived, 1);
        assert_int_equal(t->msg[i].sent, sends);
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        packs += t->part[i]->packs;
        unpacks += t->part[i]->unpacks;
    }
    assert_true(unpacks > MESSAGES / 4 && unpacks < packs);
    close_trial(t);
}

static void words_arrive_with_their_messages_over_minimal_ways(void **state)
{
    (void)state;
    try("{kind: dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2}", "minimal", "delay: 5 ns",
        true);
}

static void words_arrive_with_their_messages_over_detours(void **state)
{
    (void)state;
    try("{kind: torus, sizes: [6, 3], nodes: 2}", "valiant", "delay: 5 ns", false);
}

static void words_may_leave_before_their_message_has_been_sent(void **state)
{
    (void)state;
    try("{kind: dragonfly, groups: 9, routers: 4, nodes: 2, globals: 2}", "ugal-l",
        "delay: 0 ns, switching: cut-through, accounting: bytes", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_arrive_with_their_messages_over_minimal_ways),
        cmocka_unit_test(words_arrive_with_their_messages_over_detours),
        cmocka_unit_test(words_may_leave_before_their_message_has_been_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
