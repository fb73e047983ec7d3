/* world_run.c -- a run is decided by its configuration and seed, and its accounts agree
 * with each other. */
#include "run_help.h"

#include <math.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "rank/rank.h"
#include "store/store.h"
#include "world/world.h"

#define MACHINE(topology, routing)                                              \
    "seed: 3\n"                                                                 \
    "machine:\n"                                                                \
    "  topology: " topology "\n"                                                \
    "  links: {default: {bandwidth: 10 GB/s, latency: 50 ns, buffer: 8 KiB}}\n" \
    "  routing: " routing "\n"

/* Links that take long let threads work long before they wait for each other. */
#define SLOW_LINKS(topology, routing)                                           \
    "seed: 3\n"                                                                 \
    "machine:\n"                                                                \
    "  topology: " topology "\n"                                                \
    "  links: {default: {bandwidth: 10 GB/s, latency: 2 us, buffer: 64 KiB}}\n" \
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
    /* Full links between partitions. */
    "machine:\n"
    "  topology: {kind: dragonfly, groups: 9, routers: 4, nodes: 4, globals: 2}\n"
    "  links:\n"
    "    inject: {bandwidth: 16 GB/s, latency: 200 ns, buffer: 32 KiB}\n"
    "    default: {bandwidth: 5 GB/s, latency: 700 ns, buffer: 16 KiB}\n"
    "  router: {credit_delay: 1 ns, accounting: slots, arbitration: lowest-vc, ejection: routed,\n"
    "           switching: store-and-forward}\n"
    "  nic: {packet: 4 KiB}\n"
    "  routing: {kind: minimal, channels: study}\n"
    "traffic: {load: 30 %, size: {kind: constant, bytes: 4 KiB}, warmup: 5 us, measure: 60 us}\n",
};

/* A world of which no partition was run, and which has been given what those of `w` counted, as
 * between processes. */
static struct world *hand_over(const struct world *w, const struct conf *conf,
                               const struct world_config *c)
{
    struct wr_err err = {0};
    struct world *other;

    must(world_open_threads(&other, conf, c, world_threads(w), &err), err);
    for (uint32_t all = 0; all < 2; all++)
        for (uint32_t i = 0; i < world_threads(w); i++) {
            struct wr_bytes out = {0};

            world_pack_partition(w, i, all, &out);
            if (!all)
                assert_false(world_take_partition(other, i, all, out.v, out.n - 1, &err));
            must(world_take_partition(other, i, all, out.v, out.n, &err), err);
            wr_bytes_fini(&out);
        }
    world_gather(other);
    return other;
}

static void same_network(const struct world *w, const struct world *other)
{
    struct world_result *a = wr_alloc(sizeof *a), *b = wr_alloc(sizeof *b);
    const struct topo *t = world_topo(w);

    world_result(w, a);
    world_result(other, b);
    assert_memory_equal(&a->count, &b->count, sizeof a->count);
    assert_memory_equal(&a->latency, &b->latency, sizeof a->latency);
    assert_true(a->packet_mean_ps == b->packet_mean_ps && a->events == b->events);
    assert_true(a->measured == b->measured && a->unfinished == b->unfinished);
    for (uint32_t i = 0; i < t->nrouters * t->nports + t->nterms; i++) {
        uint32_t term = i - t->nrouters * t->nports;
        bool router = i < t->nrouters * t->nports;
        struct net_link_stat x, y;

        net_link_stat(world_net(w), router ? i / t->nports : t->nrouters + term,
                      router ? i % t->nports : 0, &x);
        net_link_stat(world_net(other), router ? i / t->nports : t->nrouters + term,
                      router ? i % t->nports : 0, &y);
        assert_memory_equal(&x, &y, sizeof x);
    }
    free(a);
    free(b);
}

static void same_ranks(const struct ranks *a, const struct ranks *b, uint32_t njobs)
{
    assert_int_equal(ranks_state(a), ranks_state(b));
    assert_int_equal(ranks_marks(a), ranks_marks(b));
    for (uint32_t i = 0; i < ranks_marks(a); i++)
        assert_memory_equal(ranks_mark(a, i), ranks_mark(b, i), sizeof(struct rank_mark));
    for (uint32_t i = 0; i < ranks_count(a); i++) {
        struct rank_stat x, y;

        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        ranks_stat(a, i, &x);
        ranks_stat(b, i, &y);
        assert_memory_equal(&x, &y, sizeof x);
    }
    for (uint32_t i = 0; i < njobs; i++) {
        assert_int_equal(ranks_job_end_ps(a, i), ranks_job_end_ps(b, i));
        for (int c = 0; c < RANK_CLASSES; c++)
            assert_memory_equal(ranks_latency(a, i, c), ranks_latency(b, i, c),
                                sizeof(struct wr_hist));
        assert_memory_equal(ranks_iterations(a, i), ranks_iterations(b, i), sizeof(struct wr_hist));
    }
}

static void same_storage(const struct store *a, const struct store *b, uint32_t njobs)
{
    struct wr_err err = {0};

    must(store_check(b, &err), err);
    assert_int_equal(store_pending(a), store_pending(b));
    for (uint32_t i = 0; i < store_disks(a); i++) {
        struct store_disk_stat x, y;

        store_disk_stat(a, i, &x);
        store_disk_stat(b, i, &y);
        assert_true(x.reads == y.reads && x.writes == y.writes && x.seeks == y.seeks);
        assert_true(x.bytes_read == y.bytes_read && x.bytes_written == y.bytes_written);
        assert_true(x.busy_ps == y.busy_ps && x.queue_ps == y.queue_ps);
        assert_true(x.queue == y.queue && x.queue_most == y.queue_most);
    }
    for (uint32_t i = 0; i < store_sites(a); i++) {
        struct store_site_stat x, y;

        store_site_stat(a, i, &x);
        store_site_stat(b, i, &y);
        y.role = x.role;
        assert_memory_equal(&x.requests, &y.requests,
                            offsetof(struct store_site_stat, waiting) -
                                offsetof(struct store_site_stat, requests));
    }
    for (uint32_t i = 0; i < njobs; i++) {
        struct store_app_stat x, y;

        store_app_stat(a, i, &x);
        store_app_stat(b, i, &y);
        assert_memory_equal(x.calls, y.calls, sizeof x.calls);
        assert_memory_equal(x.time_ps, y.time_ps, sizeof x.time_ps);
        assert_true(x.bytes_read == y.bytes_read && x.bytes_written == y.bytes_written);
        for (int c = 0; c < STORE_CLASSES; c++)
            assert_memory_equal(store_latency(a, i, c), store_latency(b, i, c),
                                sizeof(struct wr_hist));
    }
}

static void must_be_handed_over(const struct world *w, const struct conf *conf,
                                const struct world_config *c)
{
    struct world *other = hand_over(w, conf, c);

    same_network(w, other);
    if (world_ranks(w))
        same_ranks(world_ranks(w), world_ranks(other), world_jobs(w));
    if (world_store(w))
        same_storage(world_store(w), world_store(other), world_jobs(w));
    world_close(other);
}

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
    if (threads > 1)
        must_be_handed_over(w, conf, &c);
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
                                       "machine.router.credit_delay=100 ns", "seed=2"};
    const struct place *p = *state;
    char other[160];

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
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

/* Everything that ranks in different partitions may have to do with each other: messages that
 * overtake, rendezvous, casts, collectives of some, verdicts of timed loops, tasks that move, lines
 * that are printed at one time. */
static const char program[] =
    "ALL TASKS t ASYNCHRONOUSLY SEND A 9K BYTE MESSAGE TO TASK (t+5) MOD num_tasks THEN\n"
    "FOR 3 REPETITIONS {\n"
    "  ALL TASKS t ASYNCHRONOUSLY SEND A 5K BYTE MESSAGE TO TASK (t*7+3) MOD num_tasks THEN\n"
    "  ALL TASKS t ASYNCHRONOUSLY SEND 2 100 BYTE MESSAGES TO TASK (t*7+3) MOD num_tasks\n"
    "} THEN\n"
    "ALL TASKS AWAIT COMPLETION THEN\n"
    "TASK 2 ASYNCHRONOUSLY MULTICASTS A 300 BYTE MESSAGE TO ALL OTHER TASKS THEN\n"
    "ALL TASKS AWAIT COMPLETION THEN\n"
    "TASKS t SUCH THAT t IS ODD REDUCE 4 INTEGERS TO TASKS u SUCH THAT u < 3 THEN\n"
    "ALL TASKS REDUCE 64 DOUBLEWORDS TO ALL TASKS THEN\n"
    "FOR 80 MICROSECONDS {\n"
    "  ALL TASKS t COMPUTE FOR t+1 MICROSECONDS THEN\n"
    "  ALL TASKS OUTPUT \"round \" AND elapsed_usecs\n"
    "} THEN\n"
    "LET r BE A RANDOM TASK OTHER THAN 0 WHILE TASK 0 SENDS A 1K BYTE MESSAGE TO TASK r THEN\n"
    "TASK 1 IS ASSIGNED TO A RANDOM PROCESSOR THEN\n"
    "ALL TASKS t ASYNCHRONOUSLY SEND A 64 BYTE MESSAGE TO TASK (t+1) MOD num_tasks THEN\n"
    "ALL TASKS AWAIT COMPLETION THEN\n"
    "ALL TASKS OUTPUT \"end\" THEN\n"
    "ALL TASKS LOG elapsed_usecs AS \"t\".\n";

#define IOR(name, command)                                                                \
    "- {name: " name ", program: {kind: ior, command: " command "}, ranks: 9, placement:" \
    " random-nodes}\n"

static const char *const job_configs[] = {
    /* Some partitions have no rank, and must know when traffic beside them ends. */
    SLOW_LINKS(DRAGONFLY, "par") "traffic: {beside_jobs: true, load: 1 %}\n"
                                 "jobs:\n"
                                 "- {program: {kind: goal, file: GOAL}, placement: contiguous}\n",
    SLOW_LINKS(
        DRAGONFLY,
        "par") "mpi: {kind: modern, eager_limit: 2 KiB}\n"
               "traffic: {beside_jobs: true, load: 5 %}\n"
               "slice: 10 us\n"
               "jobs:\n"
               "- {name: a, program: {kind: ncptl, file: PROGRAM}, ranks: 13, ranks_per_node: "
               "2, placement: random-nodes}\n"
               "- {name: b, program: {kind: ncptl, file: PROGRAM}, ranks: 7, start: 5 us, "
               "placement: contiguous}\n",
    SLOW_LINKS("{kind: torus, sizes: [5, 4], nodes: 1}",
               "minimal") "mpi: {kind: modern, eager_limit: 300 B, progress: calls}\n"
                          "io: {time: 3 us}\n"
                          "jobs:\n"
                          "- {program: {kind: ncptl, file: PROGRAM}, ranks: 8, placement: "
                          "random-nodes}\n"
                          "- {program: {kind: goal, file: GOAL}}\n" IOR(
                              "ior", "ior -b 64k -t 32k -F -w -r"),
    SLOW_LINKS(
        DRAGONFLY,
        "minimal") "storage: {kind: local-bb, servers: last 1 of every group, block: 16 KiB,\n"
                   "  stripe: {count: 3, size: 32 KiB}, external: {kind: nvme}, jitter: 1 us,\n"
                   "  buffer: {capacity: 64 KiB, high: 50 %, low: 25 %, keep_reads: true}}\n"
                   "slice: 100 us\n"
                   "jobs:\n" IOR("a", "ior -b 96k -t 48k -w -r -C -e"),
    SLOW_LINKS(
        DRAGONFLY,
        "par") "storage: {kind: compute-bb, servers: last 1 of every group, io_nodes: \"0, 8\",\n"
               "  block: 16 KiB, stripe: {count: 2, size: 32 KiB}, external: {kind: nvme},\n"
               "  server_overhead: 2 us, buffer: {capacity: 64 KiB, high: 60 %, low: 20 %}}\n"
               "slice: 100 us\n"
               "jobs:\n" IOR("a", "ior -b 96k -t 48k -w -r -C") IOR("b", "ior -b 64k -t 8k -F -w"),
    SLOW_LINKS(
        DRAGONFLY,
        "par") "storage: {kind: storage-bb, servers: last 1 of every group, threshold: 16 KiB,\n"
               "  block: 16 KiB, device: ssd, external: hdd, buffer: {capacity: 64 KiB}}\n"
               "slice: 10 ms\n"
               "jobs:\n" IOR("a", "ior -b 96k -t 48k -w -r -C")
                   IOR("b", "ior -b 24k -t 8k -F -w -r"),
};

/* The text with a file's name in place of a word; free() it. */
static char *with_file(char *text, const char *word, const char *name)
{
    struct wr_str out = {0};

    for (char *at = text, *next; at; at = next) {
        next = strstr(at, word);
        wr_str_addn(&out, at, next ? (size_t)(next - at) : strlen(at));
        if (next) {
            wr_str_add(&out, name);
            next += strlen(word);
        }
    }
    free(text);
    return out.s;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void ranks_and_storage_may_be_in_any_number_of_partitions(void **state)
{
    const struct place *p = *state;
    char other[160], file[160];

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
    snprintf(file, sizeof file, "%s/a.ncptl", p->dir);
    write_file(file, program);
    for (size_t i = 0; i < sizeof job_configs / sizeof *job_configs; i++) {
        char *text = with_file(wr_strdup(job_configs[i]), "PROGRAM", file);

        text = with_file(text, "GOAL", WEIR_SOURCE_DIR "/examples/goal/pipeline.goal");
        free(run_to(p->path, text, NULL));
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct wr_err err = {0};

            free(run_by(other, text, NULL, threads));
            must(run_same(p->path, other, &err), err);
            unlink(other);
        }
        unlink(p->path);
        free(text);
    }
    unlink(file);
}

static void must_fail(const char *text, uint32_t threads, struct wr_err *ret)
{
    struct world_config c = {0};
    struct wr_err err = {0};
    struct conf *conf;
    struct world *w;
    enum world_end end;

    must(conf_load_text(&conf, &c, world_rows, "test", text, strlen(text), NULL, 0, &err), err);
    must(world_open_threads(&w, conf, &c, threads, &err), err);
    assert_int_equal(world_threads(w), threads);
    *ret = (struct wr_err){0};
    assert_false(world_run(w, NULL, NULL, &end, ret));
    if (threads > 1) { /* another process reports the same */
        struct world *other = hand_over(w, conf, &c);
        const struct ranks *ranks = world_ranks(other);

        assert_false(
            (ranks_state(ranks) == RANKS_STUCK ? ranks_report_deadlock : ranks_fault)(ranks, &err));
        assert_string_equal(err.text, ret->text);
        world_close(other);
    }
    world_close(w);
    conf_close(conf);
}

static void threads_report_what_goes_wrong_as_one_does(void **state)
{
    static const char *const programs[] = {
        "ALL TASKS t SEND A 9K BYTE MESSAGE TO TASK (t+5) MOD num_tasks.\n",
        "ALL TASKS SYNCHRONIZE THEN ALL TASKS t COMPUTE FOR 10/(t MOD 5-3) MICROSECONDS.\n",
    };
    static const char *const reported[] = {"deadlock", "zero"};
    const struct place *p = *state;
    char file[160];

    snprintf(file, sizeof file, "%s/a.ncptl", p->dir);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *text =
            wr_strdup(SLOW_LINKS(DRAGONFLY, "par") "jobs:\n- {program: {kind: ncptl, file: "
                                                   "PROGRAM}, ranks: 20, placement: "
                                                   "random-nodes}\n");
        struct wr_err one, three;

        write_file(file, programs[i]);
        text = with_file(text, "PROGRAM", file);
        must_fail(text, 1, &one);
        must_fail(text, 3, &three);
        assert_non_null(strstr(one.text, reported[i]));
        assert_string_equal(one.text, three.text);
        free(text);
    }
    unlink(file);
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

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
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

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
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

/* So does what each job sent; the last slice, which the end cut short, is not written. */
static void slices_of_jobs_add_up(void **state)
{
    const struct place *p = *state;
    char file[160];

    snprintf(file, sizeof file, "%s/a.ncptl", p->dir);
    write_file(file, program);
    char *text = with_file(wr_strdup(job_configs[1]), "PROGRAM", file);

    free(run_to(p->path, text, "slice=500 ns"));
    struct run_reader *f = reopen(p->path);

    for (int app = 0; app < 3; app++) { /* two jobs, and the traffic beside them */
        char sql[160];

        snprintf(sql, sizeof sql,
                 "SELECT sum(value) FROM slice WHERE entity = 'app:%d' AND metric = 'sent_bytes'",
                 app);
        double slices = number(f, sql);

        snprintf(sql, sizeof sql, "SELECT sum(bytes) FROM flow_stat WHERE app = %d", app);
        double sent = number(f, sql);

        assert_true(slices <= sent && slices > 0.9 * sent);
    }
    run_close(f);
    free(text);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_same_seed_gives_the_same_run_file),
        IN_PLACE(another_seed_gives_another_run),
        cmocka_unit_test_setup_teardown(any_number_of_threads_gives_the_same_run_file, place_open,
                                        place_close),
        IN_PLACE(ranks_and_storage_may_be_in_any_number_of_partitions),
        IN_PLACE(threads_report_what_goes_wrong_as_one_does),
        cmocka_unit_test(what_cannot_be_divided_is_run_by_one_thread),
        cmocka_unit_test(watching_a_run_does_not_change_it),
        IN_PLACE(the_views_of_a_run_agree_with_each_other),
        IN_PLACE(slices_add_up),
        IN_PLACE(slices_of_jobs_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
