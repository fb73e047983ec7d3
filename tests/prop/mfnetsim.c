/* mfnetsim.c -- the published study's MILC and the MPI part of its Cosmoflow, scaled down: what
 * they send is the same in every iteration, so one iteration is a hundredth (a
 * fifth) of the study's counts to the byte. tests/data/README.md says where the
 * numbers come from, docs/models/mfnetsim.md has the whole runs.
 */
#include <unistd.h>

#include "prop/runs.h"
#include "rank/rank.h"
#include "store/store.h"

enum { ITERATIONS = 100 };

struct study {
    struct world_config c;
    struct conf *conf;
    struct world *w;
};

static void study_run(struct study *s, const char *const *sets, size_t nsets)
{
    struct wr_err err = {0};
    enum world_end end = WORLD_INTERRUPTED;

    *s = (struct study){0};
    if (!conf_load(&s->conf, &s->c, world_rows, WEIR_SOURCE_DIR "/examples/milc-1056.yaml", sets,
                   nsets, &err) ||
        !world_open(&s->w, s->conf, &s->c, &err) || !world_run(s->w, NULL, NULL, &end, &err))
        fail_msg("%s", err.text);
    assert_int_equal(end, WORLD_DONE);
    assert_int_equal(ranks_state(world_ranks(s->w)), RANKS_ENDED);
}

static void study_close(struct study *s)
{
    world_close(s->w);
    conf_close(s->conf);
}

/* ---- what every rank sent and got ---- */

static void check_ranks(const struct study *s, const char *app, uint64_t times, uint64_t scale)
{
    struct runs_csv csv;
    struct rank_stat r;

    runs_csv_open(&csv, "tests/data/mfnetsim_per_rank.csv");
    for (uint32_t i = 0; i < 300; i++) {
        struct runs_want want[] = {{"app", app, 0}, {"rank", NULL, i}};
        uint64_t sum = 0;

        ranks_stat(world_ranks(s->w), i, &r);
        assert_int_equal(r.msgs_sent * times, (uint64_t)runs_lookup(&csv, want, 2, "sends"));
        assert_int_equal(r.msgs_recvd * times, (uint64_t)runs_lookup(&csv, want, 2, "recvs"));
        assert_int_equal(r.bytes_sent * times * scale,
                         (uint64_t)runs_lookup(&csv, want, 2, "bytes_sent"));
        assert_int_equal(r.bytes_recvd * times * scale,
                         (uint64_t)runs_lookup(&csv, want, 2, "bytes_recvd"));
        for (int k = 0; k < RANK_ACCOUNTS; k++)
            sum += r.account_ps[k];
        for (int k = 0; k < LOAD_COLLS; k++)
            sum += r.coll_ps[k];
        assert_int_equal(sum, r.elapsed_ps);
    }
    runs_csv_close(&csv);
}

/* ---- what every link carried ---- */

/* Bytes from a router to a node or a router, over all ports that lead there. */
static uint64_t carried(const struct study *s, const struct topo *t, uint32_t src, bool to_node,
                        uint32_t dst)
{
    uint64_t sum = 0;

    for (uint32_t p = 0; p < t->nports; p++) {
        const struct topo_port *tp = topo_port(t, src, p);
        struct net_link_stat link;

        if (tp->kind != (to_node ? TOPO_TERMINAL : TOPO_ROUTER) || tp->peer != dst)
            continue;
        net_link_stat(world_net(s->w), src, p, &link);
        sum += link.bytes;
    }
    return sum;
}

static void check_links(const struct study *s, const char *placement)
{
    struct world_network network;
    struct wr_err err = {0};
    struct runs_csv csv;
    char cell[RUNS_CELL];
    uint64_t links = 0, bytes = 0, all = 0;

    assert_true(world_network_open(&network, s->conf, &s->c.machine, &err));
    runs_csv_open(&csv, "tests/data/mfnetsim_milc_links.csv");
    for (const char *line = strchr(csv.text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        runs_cell(line, 0, cell);
        if (strcmp(cell, placement) != 0)
            continue;
        runs_cell(line, 1, cell);
        uint32_t src = (uint32_t)strtoul(cell, NULL, 10);
        runs_cell(line, 2, cell);
        bool to_node = !strcmp(cell, "node");
        runs_cell(line, 3, cell);
        uint32_t dst = (uint32_t)strtoul(cell, NULL, 10);
        runs_cell(line, 4, cell);
        uint64_t want = strtoull(cell, NULL, 10),
                 got = ITERATIONS * carried(s, &network.topo, src, to_node, dst);

        if (got != want)
            fail_msg("router %u to %s %u: %llu B, the study has %llu B", src,
                     to_node ? "node" : "router", dst, (unsigned long long)got,
                     (unsigned long long)want);
        links++;
        bytes += want;
    }
    runs_csv_close(&csv);
    /* and no other link carried anything */
    for (uint32_t r = 0; r < network.topo.nrouters; r++)
        for (uint32_t p = 0; p < network.topo.nports; p++) {
            struct net_link_stat link;

            net_link_stat(world_net(s->w), r, p, &link);
            all += link.bytes;
        }
    assert_true(links > 500);
    assert_int_equal(ITERATIONS * all, bytes);
    world_network_close(&network);
}

/* ---- MILC ---- */

static void check_counts(const struct study *s, const char *placement, const char *routing)
{
    struct runs_want want[] = {{"placement", placement, 0}, {"routing", routing, 0}};
    struct runs_csv csv;
    struct net_counts n;

    net_counts(world_net(s->w), &n);
    const struct {
        const char *column;
        uint64_t got;
    } counts[] = {
        {"messages", n.messages},
        {"packets", n.packets},
        {"packets_same_router", n.near[NET_NEAR_ROUTER]},
        {"packets_same_group", n.near[NET_NEAR_GROUP]},
        {"packets_remote", n.near[NET_NEAR_NOT]},
        {"bytes", n.bytes},
    };

    runs_csv_open(&csv, "tests/data/mfnetsim_milc.csv");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_int_equal(ITERATIONS * counts[i].got,
                         (uint64_t)runs_lookup(&csv, want, 2, counts[i].column));
    runs_csv_close(&csv);
}

/* The mean over ranks of when the first iteration ended. */
static void check_time(const struct study *s, const char *placement, const char *routing,
                       double within)
{
    struct runs_want want[] = {{"placement", placement, 0}, {"routing", routing, 0}};
    const struct ranks *rs = world_ranks(s->w);
    struct runs_csv csv;
    double sum = 0;

    assert_int_equal(ranks_marks(rs), 300);
    for (uint32_t i = 0; i < 300; i++)
        sum += (double)ranks_mark(rs, i)->t_ps / 1e9;
    runs_csv_open(&csv, "tests/data/mfnetsim_milc.csv");
    runs_assert_near("first iteration, ms", sum / 300,
                     runs_lookup(&csv, want, 2, "first_iteration_ms"), within);
    runs_csv_close(&csv);
}

static void milc_contiguous_minimal(void **state)
{
    struct study s;

    (void)state;
    study_run(&s, NULL, 0);
    check_counts(&s, "cont", "minimal");
    check_ranks(&s, "milc", ITERATIONS, 1);
    check_links(&s, "cont");
    check_time(&s, "cont", "minimal", 0.03);
    study_close(&s);
}

static void milc_random_minimal(void **state)
{
    const char *sets[] = {"jobs.0.placement.where=[placement=rand_node0, slot=0]"};
    struct study s;

    (void)state;
    study_run(&s, sets, 1);
    check_counts(&s, "rand_node0", "minimal");
    check_ranks(&s, "milc", ITERATIONS, 1);
    check_links(&s, "rand_node0");
    check_time(&s, "rand_node0", "minimal", 0.03);
    study_close(&s);
}

static void milc_contiguous_adaptive(void **state)
{
    const char *sets[] = {"machine.routing=par"};
    struct net_counts n;
    struct study s;

    (void)state;
    study_run(&s, sets, 1);
    check_counts(&s, "cont", "par");
    check_ranks(&s, "milc", ITERATIONS, 1);
    check_time(&s, "cont", "par", 0.06);
    net_counts(world_net(s.w), &n);
    assert_in_range(1000 * n.nonminimal / n.packets, 275, 335); /* the study: 30.5 % */
    study_close(&s);
}

/* ---- Cosmoflow ---- */

/* One step of five, with a hundredth of the gradients, and files that cost nothing. */
static void cosmoflow_sends_what_the_study_sent(void **state)
{
    const char *sets[] = {
        "jobs.0.program.file=examples/apps/cosmoflow.ncptl",
        "jobs.0.program.options=--iterations 1 --gradients 73792 --compute 1",
        "jobs.0.placement.where=[placement=cont, slot=2]",
        "io.time=0",
    };
    struct study s;

    (void)state;
    study_run(&s, sets, sizeof sets / sizeof *sets);
    check_ranks(&s, "cosmoflow", 5, 100);
    study_close(&s);
}

/* ---- storage ---- */

#define CHECKPOINT                                            \
    "storage=reference", "jobs.0.name=checkpoint",            \
        "jobs.0.program.file=examples/apps/checkpoint.ncptl", \
        "jobs.0.placement.where=[placement=cont, slot=1, group=10]", "jobs.0.ranks=30"

static double longest_io_ms(const struct study *s)
{
    struct rank_stat r;
    uint64_t most = 0;

    for (uint32_t i = 0; i < ranks_count(world_ranks(s->w)); i++) {
        ranks_stat(world_ranks(s->w), i, &r);
        most = r.account_ps[RANK_IO] > most ? r.account_ps[RANK_IO] : most;
    }
    return (double)most / 1e9;
}

/* A tenth of Checkpoint is one group with its two servers, whole: what the other groups do is
 * the same. */
static void checkpoint_of_one_group_takes_the_studys_time(void **state)
{
    const char *sets[] = {CHECKPOINT, "jobs.0.program.options=--bytes 5000000000"};
    struct store_disk_stat d;
    struct net_counts n;
    struct wr_err err = {0};
    struct study s;

    (void)state;
    study_run(&s, sets, sizeof sets / sizeof *sets);
    net_counts(world_net(s.w), &n);
    assert_int_equal(n.messages, 100800 / 10);
    assert_int_equal(n.packets, 12300600 / 10);
    assert_int_equal(n.near[NET_NEAR_ROUTER], 820040 / 10);
    store_disk_stat(world_store(s.w), 20, &d);
    assert_int_equal(d.node, 351);
    assert_int_equal(d.seeks, 2297);
    assert_int_equal(d.writes, 2505);
    assert_int_equal((d.busy_ps + 500000) / 1000000, 6210878); /* us */
    runs_assert_near("longest I/O, ms", longest_io_ms(&s), 6211.6197, 1e-5);
    /* The neighbour's order of blocks has a tie; the study took both ways. */
    store_disk_stat(world_store(s.w), 21, &d);
    assert_true(d.seeks == 2295 || d.seeks == 2213);
    if (!store_check(world_store(s.w), &err))
        fail_msg("%s", err.text);
    study_close(&s);
}

/* Contiguous jobs with minimal routing share neither links nor servers. */
static void contiguous_jobs_do_not_feel_each_other(void **state)
{
    const char *milc[] = {"storage=reference"};
    const char *checkpoint[] = {CHECKPOINT,
                                "jobs.0.program.options=--bytes 100000000 --compute 10"};
    const char *both[] = {
        "storage=reference",
        "jobs=[{name: milc, program: {kind: ncptl, file: examples/apps/milc.ncptl, options: "
        "--iterations 1}, ranks: 300, placement: {kind: list, file: "
        "examples/placements/reference-1056.csv, where: [placement=cont, slot=0]}}, {name: "
        "checkpoint, program: {kind: ncptl, file: examples/apps/checkpoint.ncptl, options: --bytes "
        "100000000 --compute 10}, ranks: 30, placement: {kind: list, file: "
        "examples/placements/reference-1056.csv, where: [placement=cont, slot=1, group=10]}}]"};
    struct study one, two, all;
    struct rank_stat a, b;

    (void)state;
    study_run(&one, milc, 1);
    study_run(&two, checkpoint, sizeof checkpoint / sizeof *checkpoint);
    study_run(&all, both, 2);
    for (uint32_t i = 0; i < 330; i++) {
        ranks_stat(world_ranks(i < 300 ? one.w : two.w), i < 300 ? i : i - 300, &a);
        ranks_stat(world_ranks(all.w), i, &b);
        assert_int_equal(a.elapsed_ps, b.elapsed_ps);
        for (int k = 0; k < RANK_ACCOUNTS; k++)
            assert_int_equal(a.account_ps[k], b.account_ps[k]);
    }
    study_close(&one);
    study_close(&two);
    study_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milc_contiguous_minimal),
        cmocka_unit_test(milc_random_minimal),
        cmocka_unit_test(milc_contiguous_adaptive),
        cmocka_unit_test(cosmoflow_sends_what_the_study_sent),
        cmocka_unit_test(checkpoint_of_one_group_takes_the_studys_time),
        cmocka_unit_test(contiguous_jobs_do_not_feel_each_other),
    };

    /* --set names files as a user does, from where weir is called. */
    if (chdir(WEIR_SOURCE_DIR))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
