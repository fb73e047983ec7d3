/* A measured service in front of devices: clients that call in a closed loop get what mean-value
 * analysis says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim.h"
#include "stat/roofline.h"
#include "store/store.h"

enum { MOST_CLIENTS = 32, MOST_SERVERS = 4, EV_WIRE = 0, EV_STORE = 1, OPS = 4000, RECORD = 4096 };

struct letter {
    uint64_t user, post_ps;
};

struct bench {
    struct sim sim;
    struct store *store;
    struct conf *conf;
    struct {
        struct conf_plugin storage;
    } c;
    uint32_t clients, left[MOST_CLIENTS];
    struct letter *letter; /* as many as are sent */
    uint32_t letters;
    uint64_t done, cause_ps[CAUSES];
};

/* A network that takes a picosecond: what is left is the service. */
static void wire_send(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                      enum store_class cls, uint64_t user)
{
    struct bench *b = ctx;

    (void)bytes;
    (void)app;
    (void)cls;
    b->letter[b->letters] = (struct letter){user, b->sim.now};
    sim_at(&b->sim, b->sim.now + 1, dst, sim_subkey(EV_WIRE, src), b->letters, b->letters, 0);
    b->letters++;
}

static uint32_t wire_lp(void *ctx, uint32_t node)
{
    (void)ctx;
    return node;
}

static void on_wire(void *ctx, const struct sim_event *e)
{
    struct bench *b = ctx;
    struct letter l = b->letter[e->arg];
    struct cause_trip trip = {l.post_ps, l.post_ps, l.post_ps, 1};

    store_arrived(b->store, l.user, &trip);
}

static void call(struct bench *b, uint32_t client)
{
    struct store_op op = {.node = client,
                          .kind = STORE_READ,
                          .file = client,
                          .offset = (uint64_t)b->left[client] * RECORD,
                          .bytes = RECORD,
                          .user = client};

    if (b->left[client]) {
        b->left[client]--;
        store_begin(b->store, &op);
    }
}

static void on_done(void *ctx, uint64_t user, const uint64_t *ps)
{
    struct bench *b = ctx;

    for (int c = 0; c < CAUSES; c++)
        b->cause_ps[c] += ps[c];
    b->done++;
    call(b, (uint32_t)user);
}

static void bench_open(struct bench *b, const char *service, uint32_t clients, uint32_t servers)
{
    static const struct conf_row rows[] = {
        {.key = "storage", .type = CONF_PLUGIN, .kinds = store_kinds, .help = "of the test"},
        CONF_END,
    };
    uint32_t server[MOST_SERVERS], home[MOST_CLIENTS + MOST_SERVERS];
    bool compute[MOST_CLIENTS + MOST_SERVERS] = {0};
    struct wr_err err = {0};
    char text[400];
    int n = snprintf(text, sizeof text,
                     "storage: {kind: reference, device: 'null', jitter: 0, control: 0 B, block: 4 "
                     "KiB, service: %s}",
                     service);

    *b = (struct bench){.clients = clients, .letter = calloc(4 * OPS * clients, sizeof *b->letter)};
    sim_init(&b->sim);
    sim_handle(&b->sim, EV_WIRE, on_wire, b);
    if (!conf_load_text(&b->conf, &b->c, rows, "test", text, (size_t)n, NULL, 0, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < clients; i++) {
        home[i] = i % servers;
        b->left[i] = OPS;
    }
    for (uint32_t i = 0; i < servers; i++)
        home[clients + i] = 0, server[i] = clients + i;
    if (!store_open(&b->store,
                    &(struct store_setup){.sim = &b->sim,
                                          .first_kind = EV_STORE,
                                          .wire = {b, wire_send, wire_lp},
                                          .done = on_done,
                                          .done_ctx = b,
                                          .plug = &b->c.storage,
                                          .seed = 9,
                                          .napps = 1,
                                          .nodes = clients + servers,
                                          .server = server,
                                          .nservers = servers,
                                          .home = home,
                                          .compute = compute},
                    &err))
        fail_msg("%s", err.text);
}

/* Calls per second of all clients together. */
static double bench_rate(struct bench *b)
{
    struct wr_err err = {0};

    for (uint32_t i = 0; i < b->clients; i++)
        call(b, i);
    sim_run(&b->sim, UINT64_MAX, UINT64_MAX);
    assert_int_equal(b->done, (uint64_t)OPS * b->clients);
    if (!store_check(b->store, &err))
        fail_msg("%s", err.text);
    return (double)b->done / ((double)b->sim.now * 1e-12);
}

static void bench_close(struct bench *b)
{
    store_close(b->store);
    conf_close(b->conf);
    sim_fini(&b->sim);
    free(b->letter);
}

static double rate(const char *service, uint32_t clients, uint32_t servers)
{
    struct bench b;

    bench_open(&b, service, clients, servers);
    double r = bench_rate(&b);

    bench_close(&b);
    return r;
}

static void near(double got, double want, double within, const char *what, uint32_t clients)
{
    if (!(fabs(got / want - 1) <= within))
        fail_msg("%s, %u clients: %g calls/s, wanted %g", what, clients, got, want);
}

static void a_closed_loop_gives_the_rate_of_mean_value_analysis(void **state)
{
    const double s = 5e-6, z = 15e-6;

    (void)state;
    for (uint32_t n = 1; n <= MOST_CLIENTS; n *= 2)
        near(rate("{server_cpu: 5 us, client_cpu: 3 us, latency: 12 us}", n, 1),
             stat_mva(&s, 1, z, n, STAT_SERVICE_EXP), 0.02, "one server", n);
}

static void clients_are_shared_out_to_servers_as_the_roofline_does(void **state)
{
    const struct stat_roof roof = {.client = {50000, 50000},
                                   .server = {200000, 200000},
                                   .node = {INFINITY, INFINITY},
                                   .per_node = 1};

    (void)state;
    for (uint32_t servers = 1; servers <= MOST_SERVERS; servers *= 2)
        for (uint32_t n = servers; n <= MOST_CLIENTS; n *= 2)
            near(rate("{server_cpu: 5 us, latency: 15 us}", n, servers),
                 n * stat_roof_mva(&roof, 0.5, servers, n, STAT_SERVICE_EXP), 0.02, "servers", n);
}

/* Processors and NIC are two queues in a row. */
static void the_nic_is_a_second_queue_and_bytes_cost_the_client(void **state)
{
    (void)state;
    /* 4 KiB at 512 MB/s are 8 us: the slower of the two queues decides. */
    near(rate("{server_cpu: 5 us, bandwidth: 512 MB/s, times: constant}", 32, 1), 512e6 / 4096,
         0.01, "NIC", 32);
    near(rate("{server_cpu: 5 us, bandwidth: 512 MB/s, times: constant}", 1, 1), 1 / 13e-6, 0.001,
         "alone", 1);
    near(rate("{server_cpu: 5 us, client_bandwidth: 512 MB/s, times: constant}", 1, 1), 1 / 13e-6,
         0.001, "client", 1);
    near(rate("{server_cpu: 8 us, concurrency: 4, times: constant}", 32, 1), 4 / 8e-6, 0.01,
         "four processors", 32);
    near(rate("{server_cpu: 8 us, concurrency: 4, times: constant}", 2, 1), 2 / 8e-6, 0.01,
         "two of four", 2);
}

static void waiting_is_attributed_and_too_many_clients_are_counted(void **state)
{
    struct wr_str why = {0};
    struct bench b;

    (void)state;
    bench_open(&b, "{server_cpu: 5 us, bandwidth: 512 MB/s, measured: {requests: 8}}", 8, 1);
    bench_rate(&b);
    assert_int_equal(store_assumed(b.store, &why), 0);
    assert_true(b.cause_ps[CAUSE_SOFTWARE] > 0 && b.cause_ps[CAUSE_NIC] > 0);
    bench_close(&b);
    bench_open(&b, "{server_cpu: 5 us, measured: {requests: 8}}", 16, 1);
    bench_rate(&b);
    assert_true(store_assumed(b.store, &why) > 0);
    assert_non_null(strstr(why.s, "than the 8 they"));
    wr_str_fini(&why);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_loop_gives_the_rate_of_mean_value_analysis),
        cmocka_unit_test(clients_are_shared_out_to_servers_as_the_roofline_does),
        cmocka_unit_test(the_nic_is_a_second_queue_and_bytes_cost_the_client),
        cmocka_unit_test(waiting_is_attributed_and_too_many_clients_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
