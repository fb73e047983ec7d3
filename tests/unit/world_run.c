/* world_run.c -- a run is decided by its configuration and seed, and its accounts agree
 * with each other. */
#include "run_help.h"

#include <math.h>

#include "base/mem.h"
#include "world/world.h"

#define MACHINE(topology, routing)                                              \
    "seed: 3\n"                                                                 \
    "machine:\n"                                                                \
    "  topology: " topology "\n"                                                \
    "  links: {default: {bandwidth: 10 GB/s, latency: 50 ns, buffer: 8 KiB}}\n" \
    "  routing: " routing "\n"

#define DRAGONFLY "{kind: dragonfly, routers: 4, nodes: 2, globals: 2}"

/* Every kind of randomness: routing, pattern, process, sizes. */
static const char *const configs[] = {
    MACHINE(DRAGONFLY, "par") "slice: 1 us\n"
                              "traffic: {load: 40 %, warmup: 2 us, measure: 8 us, drain: 40 us}\n",
    MACHINE(
        DRAGONFLY,
        "{kind: valiant, via: node}") "traffic: {pattern: group, injection: on-off, load: 20 %, "
                                      "warmup: 2 us, measure: 8 us,\n"
                                      "          size: {kind: uniform, min: 1 B, max: 20 KiB}}\n",
    MACHINE("{kind: torus, sizes: [4, 3], nodes: 1}",
            "minimal") "traffic: {pattern: {kind: hot-spot, nodes: [0, 5]}, injection: bernoulli, "
                       "load: 30 %, messages: 40}\n",
    MACHINE("{kind: fat-tree, radix: 4, levels: 3}",
            "updown") "traffic: {pattern: permutation, load: 60 %, warmup: 1 us, measure: 5 us}\n",
};

/* Runs `text` with an override by some threads into the file at `path`, if given; free() the
 * result. */
static struct world_result *run_by(const char *path, const char *text, const char *set,
                                   uint32_t threads)
{
    struct world_result *r = wr_alloc(sizeof *r);
    struct world_config c = {0};
    struct wr_err err = {0};
    struct conf *conf;
    struct world *w;
    struct run *run = NULL;
    enum world_end end;

    must(conf_load_text(&conf, &c, world_rows, "test", text, strlen(text), &set, set ? 1 : 0, &err),
         err);
    must(world_open_threads(&w, conf, &c, threads, &err), err);
    assert_int_equal(world_threads(w), threads);
    if (path)
        run = create(path);
    must(world_run(w, run, NULL, &end, &err), err);
    if (run) {
        must(world_write(w, run, &err), err);
        complete(run);
    }
    world_result(w, r);
    must(net_check(world_net(w), &err), err);
    world_close(w);
    conf_close(conf);
    return r;
}

static struct world_result *run_to(const char *path, const char *text, const char *set)
{
    return run_by(path, text, set, 1);
}

static void any_number_of_threads_gives_the_same_run_file(void **state)
{
    static const char *const sets[] = {"seed=3", "machine.router.queueing=input",
                                       "machine.router.switching=cut-through",
                                       "machine.router.credit_delay=100 ns"};
    const struct place *p = *state;
    char other[160];

    snprintf(other, sizeof other, "%s/b.run", p->dir);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        free(run_to(p->path, configs[i], sets[i]));
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct wr_err err = {0};

            free(run_by(other, configs[i], sets[i], threads));
            must(run_same(p->path, other, &err), err);
            unlink(other);
        }
        unlink(p->path);
    }
}

static void what_cannot_be_divided_is_run_by_one_thread(void **state)
{
    static const char *const texts[] = {
        MACHINE("{kind: crossbar, nodes: 4}", "minimal") "traffic: {messages: 1}\n",
        MACHINE(DRAGONFLY, "ugal-g") "traffic: {messages: 1}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct world_config c = {0};
        struct wr_err err = {0};
        struct conf *conf;
        struct world *w;

        must(conf_load_text(&conf, &c, world_rows, "test", texts[i], strlen(texts[i]), NULL, 0,
                            &err),
             err);
        must(world_open_threads(&w, conf, &c, 4, &err), err);
        assert_int_equal(world_threads(w), 1);
        assert_non_null(world_why_one(w));
        world_close(w);
        conf_close(conf);
    }
}

static void the_same_seed_gives_the_same_run_file(void **state)
{
    const struct place *p = *state;
    char other[160];

    snprintf(other, sizeof other, "%s/b.run", p->dir);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct wr_err err = {0};

        free(run_to(p->path, configs[i], NULL));
        free(run_to(other, configs[i], NULL));
        must(run_same(p->path, other, &err), err);
        unlink(p->path);
        unlink(other);
    }
}

static void another_seed_gives_another_run(void **state)
{
    const struct place *p = *state;
    char other[160];

    snprintf(other, sizeof other, "%s/b.run", p->dir);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct wr_err err = {0};

        free(run_to(p->path, configs[i], NULL));
        free(run_to(other, configs[i], "seed=4"));
        assert_false(run_same(p->path, other, &err));
        assert_int_equal(err.code, WR_CHECK);
        unlink(p->path);
        unlink(other);
    }
}

static void watching_a_run_does_not_change_it(void **state)
{
    (void)state;
    struct world_result *plain = run_to(NULL, configs[0], "slice=0");
    struct world_result *sliced = run_to(NULL, configs[0], "slice=100 ns");

    assert_memory_equal(&plain->count, &sliced->count, sizeof plain->count);
    assert_memory_equal(&plain->latency, &sliced->latency, sizeof plain->latency);
    assert_int_equal(plain->events, sliced->events);
    free(plain);
    free(sliced);
}

static void the_views_of_a_run_agree_with_each_other(void **state)
{
    const struct place *p = *state;
    struct world_result *r = run_to(p->path, configs[0], "traffic.messages=50");
    struct run_reader *f = reopen(p->path);
    uint64_t nodes = 9 * 4 * 2;

    assert_int_equal(r->count.messages, 50 * nodes);
    assert_true(number(f, "SELECT sum(msgs) FROM flow_stat") == 50.0 * (double)nodes);
    assert_true(number(f, "SELECT sum(bytes) FROM flow_stat") == (double)r->count.bytes);
    assert_true(number(f, "SELECT max(src_group) * 100 + max(dst_group) FROM flow_stat") == 808);
    assert_int_equal(r->unfinished, 0);
    assert_int_equal(r->latency.n, 50 * nodes);
    assert_true(number(f, "SELECT sum(msgs_sent) FROM rank_stat") == (double)(50 * nodes));
    assert_true(number(f, "SELECT sum(bytes_recvd) FROM rank_stat") == (double)r->count.bytes);
    assert_true(number(f, "SELECT sum(packets) FROM link_stat") == (double)r->count.hops);
    assert_true(number(f, "SELECT sum(bytes) FROM link_stat WHERE class = 'eject'") ==
                (double)r->count.bytes);
    assert_true(number(f, "SELECT sum(bytes) FROM link_stat WHERE class = 'inject'") ==
                (double)r->count.bytes);
    assert_true(number(f, "SELECT value FROM summary WHERE key = 'packets_same_router'") +
                    number(f, "SELECT value FROM summary WHERE key = 'packets_same_group'") +
                    number(f, "SELECT value FROM summary WHERE key = 'packets_remote'") ==
                (double)r->count.packets);
    assert_true(number(f, "SELECT n FROM latency WHERE class = 'packet'") ==
                (double)r->count.packets);
    /* A link is busy while it sends, and never longer than the run. */
    assert_true(number(f, "SELECT max(busy_ns) FROM link_stat") <=
                number(f, "SELECT value FROM summary WHERE key = 'sim_end_ns'"));
    assert_true(fabs(number(f, "SELECT sum(busy_ns) FROM link_stat WHERE class = 'inject'") -
                     (double)r->count.bytes / 10) < 1);
    run_close(f);
    free(r);
}

/* Slices of what flowed add up to what flowed. */
static void slices_add_up(void **state)
{
    const struct place *p = *state;
    struct world_result *r =
        run_to(p->path, configs[0], "traffic={load: 10 %, warmup: 0, measure: 20 us}");
    struct run_reader *f = reopen(p->path);

    assert_int_equal(r->unfinished, 0);
    double arrived = number(f, "SELECT sum(value) FROM slice WHERE metric = 'bytes_arrived'");
    double ejected =
        number(f, "SELECT sum(value) FROM slice WHERE entity = 'class:eject' AND metric = 'bytes'");

    /* The run ends some time after the last whole slice. */
    assert_true(arrived <= (double)r->count.bytes && arrived > 0.9 * (double)r->count.bytes);
    assert_true(ejected >= arrived && ejected < 1.05 * arrived);
    /* Links between groups and within them, pair by pair. */
    double busy = number(f, "SELECT sum(value) FROM slice WHERE metric = 'busy_time' AND entity "
                            "GLOB 'links:*'");
    double sent =
        number(f, "SELECT sum(busy_ns) FROM link_stat WHERE class IN ('local', 'global')");
    assert_true(busy <= sent && busy > 0.9 * sent);
    double pairs =
        number(f, "SELECT count(DISTINCT entity) FROM slice WHERE entity GLOB 'links:*'");
    assert_true(pairs > 9 && pairs <= 9 * 9);
    run_close(f);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_same_seed_gives_the_same_run_file),
        IN_PLACE(another_seed_gives_another_run),
        cmocka_unit_test_setup_teardown(any_number_of_threads_gives_the_same_run_file, place_open,
                                        place_close),
        cmocka_unit_test(what_cannot_be_divided_is_run_by_one_thread),
        cmocka_unit_test(watching_a_run_does_not_change_it),
        IN_PLACE(the_views_of_a_run_agree_with_each_other),
        IN_PLACE(slices_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
