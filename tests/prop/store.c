/* store.c -- storage on a wire of constant speed: whatever is asked of it, whatever its
 * settings, every operation ends, its causes add up to its time, nothing is lost, no buffer
 * overflows, and the same seed gives the same times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sim/sim.h"
#include "store/store.h"

enum {
    NODES = 12,
    SERVERS = 2,
    IO = 2,
    CLIENTS = NODES - SERVERS - IO,
    APPS = 2,
    OPS = 40,
    EV_WIRE = 0,
    EV_NEXT = 1,
    EV_STORE = 2,
    WIRE_PS = 1000000,
    BYTE_PS = 100,
    FILES = 4,
    LONGEST = 6 << 20,
};

struct letter {
    uint64_t user, post_ps;
};

struct client {
    struct wr_rng rng;
    uint32_t left;
    uint64_t begun_ps;
};

struct bench {
    struct sim sim;
    struct store *store;
    struct conf *conf;
    struct {
        struct conf_plugin storage;
    } c;
    struct client client[NODES];
    struct letter *letter;
    uint32_t letters, capacity;
    uint64_t done, sum_ps, cause_ps[CAUSES];
    uint64_t asked_b; /* written by clients */
    int only;         /* an act, or -1: any */
    bool full_speed;
    uint64_t record_b; /* > 0: each client writes its own file, one such record after another */
};

static void wire_send(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                      enum store_class cls, uint64_t user)
{
    struct bench *b = ctx;

    (void)app;
    (void)cls;
    assert_int_not_equal(src, dst);
    if (b->letters == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 1024;
        b->letter = realloc(b->letter, b->capacity * sizeof *b->letter);
    }
    b->letter[b->letters] = (struct letter){user, b->sim.now};
    sim_at(&b->sim, b->sim.now + WIRE_PS + bytes * BYTE_PS, dst, sim_subkey(EV_WIRE, src),
           b->letters, b->letters, 0);
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
    struct cause_trip trip = {l.post_ps, l.post_ps, l.post_ps, WIRE_PS};

    store_arrived(b->store, l.user, &trip);
}

static void on_next(void *ctx, const struct sim_event *e)
{
    struct bench *b = ctx;
    struct client *c = &b->client[e->arg];
    struct store_op op = {
        .node = e->arg,
        .app = (uint16_t)(e->arg % APPS),
        .kind = b->only >= 0 ? (enum store_op_kind)b->only
                             : (enum store_op_kind)wr_rng_below(&c->rng, STORE_OP_KINDS),
        .file = wr_rng_below(&c->rng, FILES),
        .offset = (uint64_t)wr_rng_below(&c->rng, 1 << 24),
        .bytes = wr_rng_below(&c->rng, wr_rng_below(&c->rng, 2) ? LONGEST : 100000),
        .user = e->arg,
    };

    if (b->record_b) {
        op.kind = STORE_WRITE;
        op.file = e->arg;
        op.offset = (OPS - 1 - c->left) * b->record_b;
        op.bytes = b->record_b;
    }
    c->begun_ps = b->sim.now;
    if (op.kind == STORE_WRITE)
        b->asked_b += op.bytes;
    store_begin(b->store, &op);
}

static void next(struct bench *b, uint32_t node)
{
    struct client *c = &b->client[node];
    uint64_t pause = b->full_speed ? 0 : wr_rng_below(&c->rng, 50000000);

    if (c->left--)
        sim_at(&b->sim, b->sim.now + pause, node, sim_subkey(EV_NEXT, 0), c->left, node, 0);
}

static void on_done(void *ctx, uint64_t user, const uint64_t *ps)
{
    struct bench *b = ctx;
    uint64_t sum = 0;

    for (int c = 0; c < CAUSES; c++) {
        sum += ps[c];
        b->cause_ps[c] += ps[c];
    }
    assert_int_equal(sum, b->sim.now - b->client[user].begun_ps);
    b->done++;
    b->sum_ps += sum * (user + 1);
    next(b, (uint32_t)user);
}

/* Clients 0..CLIENTS-1, then servers, then I/O nodes. */
static void bench_open(struct bench *b, const char *text, uint64_t seed)
{
    static const struct conf_row rows[] = {
        {.key = "storage", .type = CONF_PLUGIN, .kinds = store_kinds, .help = "of the test"},
        CONF_END,
    };
    uint32_t server[SERVERS], io[IO], home[NODES];
    bool compute[NODES];
    struct wr_err err = {0};

    *b = (struct bench){.only = -1};
    sim_init(&b->sim);
    sim_handle(&b->sim, EV_WIRE, on_wire, b);
    sim_handle(&b->sim, EV_NEXT, on_next, b);
    if (!conf_load_text(&b->conf, &b->c, rows, "test", text, strlen(text), NULL, 0, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < NODES; i++) {
        home[i] = i % SERVERS;
        compute[i] = i < CLIENTS;
        wr_rng_init(&b->client[i].rng, seed, i, 1);
        b->client[i].left = OPS;
    }
    for (uint32_t i = 0; i < SERVERS; i++)
        server[i] = CLIENTS + i;
    for (uint32_t i = 0; i < IO; i++)
        io[i] = CLIENTS + SERVERS + i;
    struct store_setup setup = {
        .sim = &b->sim,
        .first_kind = EV_STORE,
        .wire = {.ctx = b, .send = wire_send, .lp = wire_lp},
        .done = on_done,
        .done_ctx = b,
        .plug = &b->c.storage,
        .seed = seed,
        .napps = APPS,
        .nodes = NODES,
        .server = server,
        .nservers = SERVERS,
        .io = io,
        .nio = strstr(text, "io_nodes") ? IO : 0,
        .home = home,
        .compute = compute,
    };

    if (!store_open(&b->store, &setup, &err))
        fail_msg("%s", err.text);
}

static void bench_run(struct bench *b)
{
    struct wr_err err = {0};

    for (uint32_t i = 0; i < CLIENTS; i++)
        next(b, i);
    sim_run(&b->sim, UINT64_MAX, UINT64_MAX);
    if (store_pending(b->store) && !store_report_stall(b->store, &err))
        fail_msg("%s", err.text);
    assert_int_equal(b->done, CLIENTS * OPS);
    if (!store_check(b->store, &err))
        fail_msg("%s", err.text);
}

static void bench_close(struct bench *b)
{
    store_close(b->store);
    conf_close(b->conf);
    sim_fini(&b->sim);
    free(b->letter);
}

static uint64_t total(const struct bench *b, size_t field)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < store_sites(b->store); i++) {
        struct store_site_stat s;

        store_site_stat(b->store, i, &s);
        sum += *(const uint64_t *)((const char *)&s + field);
    }
    return sum;
}

#define TOTAL(b, field) total(b, offsetof(struct store_site_stat, field))

/* ---- whatever the settings ---- */

static const char *const settings[] = {
    "storage: reference",
    "storage: {kind: compute-bb, device: table, buffer: {drain: never}}",
    "storage: {kind: compute-bb, io_nodes: x, external: table, buffer: {capacity: 8 MiB}}",
    "storage: {kind: compute-bb, io_nodes: x, device: ssd, policy: hashed,"
    " buffer: {capacity: 3 MiB, reserve: block, streams: 1}}",
    "storage: {kind: compute-bb, io_nodes: x, stripe: {count: 0, size: 1 MiB},"
    " buffer: {capacity: 5 MiB, drain: schedule, period: 20 ms}}",
    "storage: {kind: compute-bb, io_nodes: x, external: 'null', device: 'null', jitter: 1 us,"
    " buffer: {capacity: 0 B, drain: at-once}}",
    "storage: {kind: local-bb, external: table, buffer: {capacity: 4 MiB}}",
    "storage: {kind: local-bb, buffer: {capacity: 2 MiB, write_through: true}}",
    "storage: {kind: local-bb, external: nvme, metadata: false, stripe: {count: 2},"
    " buffer: {capacity: 1 MiB, flush_on_close: true, keep_reads: false}}",
    "storage: {kind: local-bb, device: ssd, pulls: 1,"
    " buffer: {capacity: 64 MiB, drain: schedule, period: 10 ms}}",
    "storage: {kind: storage-bb, threshold: 1 MiB, buffer: {capacity: 2 MiB}}",
    "storage: {kind: storage-bb, devices: 2, buffer: {capacity: 0 B, drain: at-once}}",
    "storage: {kind: storage-bb, threshold: 0 B, external: {kind: hdd, read_queue: 8}, devices: 1,"
    " externals: 1}",
    "storage: {kind: storage-bb, threshold: 0 B, externals: 1, san: {latency: 0, bandwidth: 0 "
    "B/s}}",
    "storage: {kind: reference, service: {server_cpu: 20 us, latency: 5 us, bandwidth: 1 GB/s}}",
    "storage: {kind: compute-bb, io_nodes: x, external: table, buffer: {capacity: 3 MiB},"
    " service: {server_cpu: 5 us, client_bandwidth: 2 GB/s, concurrency: 3, times: constant}}",
    "storage: {kind: storage-bb, threshold: 1 MiB, buffer: {capacity: 2 MiB},"
    " service: {bandwidth: 500 MB/s}}",
    "storage: {kind: local-bb, external: table, buffer: {capacity: 4 MiB},"
    " service: {server_cpu: 50 us, bandwidth: 500 MB/s}}",
};

enum { NSETTINGS = sizeof settings / sizeof *settings };

static void everything_ends_adds_up_and_is_the_same_again(void **state)
{
    const char *seed = getenv("WEIR_TEST_SEED");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;

    (void)state;
    for (size_t i = 0; i < NSETTINGS; i++)
        for (uint64_t k = first; k < first + 2; k++) {
            uint64_t sum = 0;

            for (int again = 0; again < 2; again++) {
                struct bench b;

                bench_open(&b, settings[i], k);
                b.full_speed = k % 2;
                bench_run(&b);
                assert_true(!again || sum == b.sum_ps);
                sum = b.sum_ps;
                bench_close(&b);
            }
        }
}

/* ---- one thing each ---- */

static void full_buffers_make_writers_wait_and_lose_nothing(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b,
               "storage: {kind: compute-bb, io_nodes: x, external: {kind: table, bandwidth: "
               "100 MB/s}, externals: 1, buffer: {capacity: 7 MiB}}",
               7);
    b.only = STORE_WRITE;
    b.full_speed = true;
    bench_run(&b);
    assert_true(TOTAL(&b, waits) > 100);
    assert_true(b.cause_ps[CAUSE_RESERVE] > b.cause_ps[CAUSE_DEVICE]);
    assert_true(TOTAL(&b, used_most_b) > SERVERS * (6u << 20));
    assert_int_equal(TOTAL(&b, in_b), b.asked_b);
    assert_true(TOTAL(&b, out_b) + SERVERS * (7u << 20) >= b.asked_b - TOTAL(&b, absorbed_b));
    bench_close(&b);
}

static void a_scheduled_drain_leaves_nothing_behind(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, settings[4], 3);
    bench_run(&b);
    assert_true(TOTAL(&b, in_b) > 0);
    assert_int_equal(TOTAL(&b, dirty_b), 0);
    bench_close(&b);
}

static void watermarks_stop_the_drain_between_low_and_high(void **state)
{
    struct bench b;
    struct store_site_stat s;

    (void)state;
    bench_open(&b,
               "storage: {kind: compute-bb, io_nodes: x, stripe: {count: 0, size: 1 MiB}, buffer: "
               "{capacity: 20 MiB, high: 60 %, low: 20 %, reserve: block}}",
               5);
    b.only = STORE_WRITE;
    bench_run(&b);
    for (uint32_t i = 0; i < SERVERS; i++) {
        store_site_stat(b.store, i, &s);
        assert_true(s.out_b > 0);
        assert_in_range(s.dirty_b, 0, 12u << 20);
    }
    bench_close(&b);
}

static void written_through_is_at_the_servers(void **state)
{
    struct bench b;
    struct store_disk_stat d;
    uint64_t slow = 0;

    (void)state;
    bench_open(&b, settings[7], 9);
    bench_run(&b);
    for (uint32_t i = 0; i < store_disks(b.store); i++) {
        store_disk_stat(b.store, i, &d);
        slow += !strcmp(d.device, "slow") ? d.bytes_written : 0;
    }
    assert_int_equal(slow, b.asked_b);
    assert_int_equal(TOTAL(&b, dirty_b), 0);
    bench_close(&b);
}

static void only_small_requests_go_to_the_fast_device_of_a_server(void **state)
{
    struct bench b;
    uint64_t fast = 0, slow = 0;

    (void)state;
    bench_open(&b, "storage: {kind: storage-bb, threshold: 64 KiB}", 2);
    b.only = STORE_WRITE;
    bench_run(&b);
    for (uint32_t i = 0; i < store_disks(b.store); i++) {
        struct store_disk_stat d;

        store_disk_stat(b.store, i, &d);
        *(strcmp(d.device, "fast") ? &slow : &fast) += d.bytes_written;
    }
    assert_true(fast > 0 && fast < CLIENTS * OPS * 65536ull);
    assert_int_equal(fast + slow, b.asked_b);
    bench_close(&b);
}

/* One operation of client 0, from its begin to its end and that of what it set off; its time. */
static uint64_t alone(struct bench *b, enum store_op_kind act, int64_t file, uint64_t offset,
                      uint64_t bytes)
{
    struct store_op op = {.kind = act, .file = file, .offset = offset, .bytes = bytes};
    uint64_t before = b->sum_ps;

    b->client[0].left = 0;
    b->client[0].begun_ps = b->sim.now;
    store_begin(b->store, &op);
    sim_run(&b->sim, UINT64_MAX, UINT64_MAX);
    return b->sum_ps - before;
}

/* Bytes read from the fast or from the slow devices. */
static uint64_t read_from(const struct bench *b, const char *device)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < store_disks(b->store); i++) {
        struct store_disk_stat d;

        store_disk_stat(b->store, i, &d);
        sum += !strcmp(d.device, device) ? d.bytes_read : 0;
    }
    return sum;
}

/* A server reads what the run has written where it is; what was there before, by size. */
static void small_reads_come_from_the_fast_device_unless_the_data_are_elsewhere(void **state)
{
    enum { SMALL = 4096, LARGE = 1 << 20 };
    struct bench b;

    (void)state;
    bench_open(&b, "storage: {kind: storage-bb, policy: nearest, buffer: {drain: never}}", 1);
    alone(&b, STORE_READ, 1, 0, SMALL);
    assert_int_equal(read_from(&b, "fast"), SMALL);
    alone(&b, STORE_READ, 1, 0, LARGE);
    assert_int_equal(read_from(&b, "slow"), LARGE);
    alone(&b, STORE_WRITE, 1, 0, LARGE);
    alone(&b, STORE_READ, 1, 8192, SMALL); /* written large: it is there */
    assert_int_equal(read_from(&b, "slow"), LARGE + SMALL);
    alone(&b, STORE_WRITE, 2, 0, SMALL);
    alone(&b, STORE_READ, 2, 0, SMALL);
    alone(&b, STORE_READ, 2, 8192, SMALL);
    assert_int_equal(read_from(&b, "fast"), 3 * SMALL);
    assert_int_equal(TOTAL(&b, hit_b), 3 * SMALL);
    assert_int_equal(TOTAL(&b, miss_b), LARGE + SMALL);
    bench_close(&b);
}

/* Bytes written to the fast or to the slow devices. */
static uint64_t written_to(const struct bench *b, const char *device)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < store_disks(b->store); i++) {
        struct store_disk_stat d;

        store_disk_stat(b->store, i, &d);
        sum += !strcmp(d.device, device) ? d.bytes_written : 0;
    }
    return sum;
}

/* Whatever of a block fits goes to the buffer and the rest of it to the disks: each byte was
 * written once, so each is on a disk or still to be drained. */
static void records_that_do_not_fit_take_nothing_of_their_block_along(void **state)
{
    static const char *const text[] = {
        "storage: {kind: storage-bb, buffer: {capacity: 1 MiB}}",
        "storage: {kind: storage-bb, buffer: {capacity: 1 MiB, drain: at-once, streams: 1}}",
        "storage: {kind: compute-bb, io_nodes: x, buffer: {capacity: 1 MiB, reserve: block}}",
        "storage: {kind: local-bb, buffer: {capacity: 1 MiB}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct bench b;

        bench_open(&b, text[i], 1);
        b.record_b = 40000;
        b.full_speed = true;
        bench_run(&b);
        assert_int_equal(TOTAL(&b, absorbed_b), 0);
        assert_int_equal(written_to(&b, "slow") + TOTAL(&b, dirty_b), b.asked_b);
        assert_true(TOTAL(&b, out_b) > 0);
        bench_close(&b);
    }
}

/* Two records with a hole between them, and one of them again. */
static void only_what_is_written_again_is_absorbed(void **state)
{
    enum { RECORD = 4096 };
    struct bench b;

    (void)state;
    bench_open(&b, "storage: {kind: local-bb, buffer: {capacity: 4 MiB}}", 1);
    alone(&b, STORE_WRITE, 1, 0, RECORD);
    alone(&b, STORE_WRITE, 1, 8 * RECORD, RECORD);
    assert_int_equal(TOTAL(&b, used_b), 2 * RECORD);
    alone(&b, STORE_READ, 1, 0, 9 * RECORD); /* what lies between them is elsewhere */
    assert_int_equal(TOTAL(&b, miss_b), 9 * RECORD);
    assert_int_equal(TOTAL(&b, used_b), 9 * RECORD);
    alone(&b, STORE_READ, 1, 0, 9 * RECORD);
    assert_int_equal(TOTAL(&b, hit_b), 9 * RECORD);
    alone(&b, STORE_WRITE, 1, 4 * RECORD, RECORD); /* in the hole */
    assert_int_equal(TOTAL(&b, absorbed_b), 0);
    alone(&b, STORE_WRITE, 1, 8 * RECORD + RECORD / 2, RECORD);
    assert_int_equal(TOTAL(&b, absorbed_b), RECORD / 2);
    assert_int_equal(TOTAL(&b, dirty_b), 3 * RECORD + RECORD / 2);
    alone(&b, STORE_FLUSH, 1, 0, 0);
    assert_int_equal(TOTAL(&b, out_b), 3 * RECORD + RECORD / 2);
    assert_int_equal(written_to(&b, "slow"), 3 * RECORD + RECORD / 2);
    bench_close(&b);
}

static void a_local_read_of_what_was_written_stays_at_home(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, "storage: {kind: local-bb, metadata: false, buffer: {drain: watermarks}}", 4);
    b.only = STORE_WRITE;
    bench_run(&b);
    assert_int_equal(b.letters, 0); /* nothing was drained, no message was sent */
    for (uint32_t i = 0; i < CLIENTS; i++) {
        wr_rng_init(&b.client[i].rng, 4, i, 1); /* the same places again */
        b.client[i].left = OPS;
    }
    b.done = 0;
    b.only = STORE_READ;
    bench_run(&b);
    assert_true(TOTAL(&b, hit_b) > 0);
    assert_true(TOTAL(&b, miss_b) == 0 || TOTAL(&b, hit_b) > TOTAL(&b, miss_b));
    bench_close(&b);
}

enum { MIB = 1 << 20 };

static void closing_waits_for_the_servers_when_it_is_to_flush(void **state)
{
    static const char *const text[] = {
        "storage: {kind: local-bb, externals: 1, buffer: {flush_on_close: false}}",
        "storage: {kind: local-bb, externals: 1, buffer: {flush_on_close: true}}"};
    uint64_t took[2];

    (void)state;
    for (int flush = 0; flush < 2; flush++) {
        struct bench b;

        bench_open(&b, text[flush], 1);
        alone(&b, STORE_WRITE, 1, 0, 8 * MIB);
        alone(&b, STORE_WRITE, 2, 0, 8 * MIB);
        took[flush] = alone(&b, STORE_CLOSE, 1, 0, 0);
        assert_int_equal(TOTAL(&b, in_b), 16 * MIB);
        /* this file's blocks at least; a drain that has begun is not stopped */
        assert_true(flush ? TOTAL(&b, out_b) >= 8 * MIB : TOTAL(&b, out_b) == 0);
        alone(&b, STORE_FLUSH, 2, 0, 0); /* flushing is asked for by name, whatever closing does */
        assert_true(TOTAL(&b, out_b) >= (flush ? 16 : 8) * MIB);
        bench_close(&b);
    }
    /* a request and its answer; at least all bytes over the wire */
    assert_true(took[0] < 20 * (uint64_t)WIRE_PS);
    assert_true(took[1] > 8 * MIB * (uint64_t)BYTE_PS);
}

static void what_was_drained_makes_way_oldest_first(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, "storage: {kind: local-bb, buffer: {capacity: 4 MiB, drain: at-once}}", 1);
    alone(&b, STORE_WRITE, 1, 0, 3 * MIB);
    assert_int_equal(TOTAL(&b, out_b), 3 * MIB);
    assert_int_equal(TOTAL(&b, evicted_b), 0);
    alone(&b, STORE_READ, 1, 0, MIB); /* the first block is used last now */
    alone(&b, STORE_WRITE, 2, 0, 2 * MIB);
    assert_int_equal(TOTAL(&b, evicted_b), MIB);
    assert_int_equal(TOTAL(&b, hit_b), MIB);
    alone(&b, STORE_READ, 1, 0, MIB);
    assert_int_equal(TOTAL(&b, miss_b), 0);
    alone(&b, STORE_READ, 1, MIB, MIB); /* this one went */
    assert_int_equal(TOTAL(&b, miss_b), MIB);
    assert_int_equal(TOTAL(&b, used_most_b), 4 * MIB);
    bench_close(&b);
}

static void a_local_buffer_drains_from_its_high_mark_to_its_low_one(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b,
               "storage: {kind: local-bb, buffer: {capacity: 16 MiB, high: 50 %, low: 25 %,"
               " streams: 1}}",
               1);
    alone(&b, STORE_WRITE, 1, 0, 8 * MIB); /* at the mark, not above it */
    assert_int_equal(TOTAL(&b, out_b), 0);
    alone(&b, STORE_WRITE, 1, 8 * MIB, MIB);
    assert_int_equal(TOTAL(&b, out_b), 5 * MIB);
    assert_int_equal(TOTAL(&b, dirty_b), 4 * MIB);
    bench_close(&b);
}

/* With `reserve: request` the second waits for all of its space, with `block` for the first. */
static void space_is_reserved_for_a_request_before_its_first_block(void **state)
{
    static const char *const text[] = {
        "storage: {kind: compute-bb, io_nodes: x, externals: 1, buffer: {capacity: 8 MiB,"
        " drain: at-once, streams: 1, reserve: request}}",
        "storage: {kind: compute-bb, io_nodes: x, externals: 1, buffer: {capacity: 8 MiB,"
        " drain: at-once, streams: 1, reserve: block}}"};
    uint64_t waited[2];

    (void)state;
    for (int block = 0; block < 2; block++) {
        struct bench b;
        struct store_op op = {.kind = STORE_WRITE, .bytes = 6 * MIB};

        bench_open(&b, text[block], 1);
        for (uint32_t i = 0; i < CLIENTS; i++)
            b.client[i].left = 0;
        store_begin(b.store, &op);
        op.node = 2; /* the same server */
        op.user = 2;
        op.file = 1;
        store_begin(b.store, &op);
        sim_run(&b.sim, UINT64_MAX, UINT64_MAX);
        assert_int_equal(b.done, 2);
        assert_int_equal(TOTAL(&b, waits) > 0, 1);
        waited[block] = TOTAL(&b, waits);
        bench_close(&b);
    }
    assert_int_equal(waited[0], 1);
    assert_true(waited[1] > 1);
}

/* All clients read a disk at once. A disk that chooses needs less for all of them, and each
 * operation's causes add up all the same (on_done). */
static void a_disk_that_chooses_among_reads_serves_all_of_them_sooner(void **state)
{
    static const char *const text[] = {
        "storage: {kind: storage-bb, threshold: 0 B, external: {kind: hdd, read_queue: 1},"
        " externals: 1}",
        "storage: {kind: storage-bb, threshold: 0 B, external: {kind: hdd, read_queue: 32},"
        " externals: 1}"};
    uint64_t end[2], queue[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench b;

        bench_open(&b, text[i], 1);
        b.only = STORE_READ;
        b.full_speed = true;
        bench_run(&b);
        end[i] = b.sim.now;
        queue[i] = b.cause_ps[CAUSE_DEVICE_QUEUE] + b.cause_ps[CAUSE_DEVICE_OTHERS];
        assert_true(b.cause_ps[CAUSE_DEVICE_QUEUE] > 0 && b.cause_ps[CAUSE_DEVICE_OTHERS] > 0);
        bench_close(&b);
    }
    assert_true((double)end[1] < 0.9 * (double)end[0]);
    assert_true(queue[1] < queue[0]);
}

/* One client, one device, no software: the times are a sum on paper. */
static void a_lonely_write_takes_what_its_steps_take(void **state)
{
    struct bench b;
    const uint64_t control = WIRE_PS + 128 * BYTE_PS, block = 1000000;
    uint64_t data = WIRE_PS + block * BYTE_PS;
    struct store_op op = {.node = 0, .kind = STORE_WRITE, .bytes = block};

    (void)state;
    bench_open(&b,
               "storage: {kind: reference, jitter: 0, device: {kind: table, bandwidth: 1 GB/s, "
               "overhead: 20 us}}",
               1);
    b.client[0].left = 0;
    store_begin(b.store, &op);
    sim_run(&b.sim, UINT64_MAX, UINT64_MAX);
    assert_int_equal(b.done, 1);
    assert_int_equal(b.sim.now, 3 * control + data + block * 1000 + 20000000);
    assert_int_equal(b.cause_ps[CAUSE_DEVICE], block * 1000 + 20000000);
    assert_int_equal(b.cause_ps[CAUSE_TRANSFER], 4 * (uint64_t)WIRE_PS);
    bench_close(&b);
}

/* Two jobs, one device: who came second waited for the other job. */
static void waiting_behind_another_job_is_distinguished_from_waiting_behind_ones_own(void **state)
{
    struct bench b;
    struct store_op op = {.node = 0, .app = 0, .kind = STORE_WRITE, .bytes = 1000000};

    (void)state;
    bench_open(
        &b,
        "storage: {kind: reference, jitter: 0, device: {kind: table, bandwidth: 1 GB/s, seek: 0}}",
        1);
    for (uint32_t i = 0; i < CLIENTS; i++)
        b.client[i].left = 0;
    store_begin(b.store, &op);
    op.node = 2; /* the same server */
    op.user = 2;
    op.app = 1;
    store_begin(b.store, &op);
    op.node = 4;
    op.user = 4;
    op.app = 0;
    store_begin(b.store, &op);
    sim_run(&b.sim, UINT64_MAX, UINT64_MAX);
    assert_int_equal(b.done, 3);
    /* the second waits for one block of the first's job, the third for one of each */
    assert_int_equal(b.cause_ps[CAUSE_DEVICE_OTHERS], 2 * b.cause_ps[CAUSE_DEVICE] / 3);
    assert_int_equal(b.cause_ps[CAUSE_DEVICE_QUEUE], b.cause_ps[CAUSE_DEVICE] / 3);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_ends_adds_up_and_is_the_same_again),
        cmocka_unit_test(full_buffers_make_writers_wait_and_lose_nothing),
        cmocka_unit_test(a_scheduled_drain_leaves_nothing_behind),
        cmocka_unit_test(watermarks_stop_the_drain_between_low_and_high),
        cmocka_unit_test(written_through_is_at_the_servers),
        cmocka_unit_test(only_small_requests_go_to_the_fast_device_of_a_server),
        cmocka_unit_test(small_reads_come_from_the_fast_device_unless_the_data_are_elsewhere),
        cmocka_unit_test(records_that_do_not_fit_take_nothing_of_their_block_along),
        cmocka_unit_test(only_what_is_written_again_is_absorbed),
        cmocka_unit_test(a_local_read_of_what_was_written_stays_at_home),
        cmocka_unit_test(closing_waits_for_the_servers_when_it_is_to_flush),
        cmocka_unit_test(what_was_drained_makes_way_oldest_first),
        cmocka_unit_test(a_local_buffer_drains_from_its_high_mark_to_its_low_one),
        cmocka_unit_test(space_is_reserved_for_a_request_before_its_first_block),
        cmocka_unit_test(a_disk_that_chooses_among_reads_serves_all_of_them_sooner),
        cmocka_unit_test(a_lonely_write_takes_what_its_steps_take),
        cmocka_unit_test(waiting_behind_another_job_is_distinguished_from_waiting_behind_ones_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
