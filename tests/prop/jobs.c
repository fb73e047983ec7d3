/* jobs.c -- whole jobs: every shipped application ends, its time adds up, and runs repeat. */
#include <unistd.h>

#include "prop/runs.h"
#include "rank_accounts.h"

struct play {
    struct world_config c;
    struct conf *conf;
    struct world *w;
    struct wr_err err;
};

static const char machine[] =
    "machine:\n"
    "  topology: {kind: dragonfly, groups: 5, routers: 4, nodes: 2, globals: 1}\n"
    "  links:\n"
    "    inject: {bandwidth: 25 GB/s, latency: 50 ns}\n"
    "    default: {bandwidth: 10 GB/s, latency: 100 ns}\n"
    "  routing: par\n"
    "io: {time: 10 us}\n";

/* false: it could not be opened; play->err says why */
static bool play_open(struct play *p, const char *more, const char *const *sets, size_t nsets)
{
    struct wr_str text = {0};

    *p = (struct play){0};
    wr_str_addf(&text, "%s%s", machine, more);
    bool ok = conf_load_text(&p->conf, &p->c, world_rows, "play.yaml", text.s, text.n, sets, nsets,
                             &p->err) &&
              world_open(&p->w, p->conf, &p->c, &p->err);

    wr_str_fini(&text);
    return ok;
}

static bool play_run(struct play *p)
{
    enum world_end end;

    return world_run(p->w, NULL, NULL, &end, &p->err);
}

static void play_close(struct play *p)
{
    world_close(p->w);
    conf_close(p->conf);
}

static void must(const struct play *p, bool ok)
{
    if (!ok)
        fail_msg("%s", p->err.text);
}

static void check_accounts(const struct ranks *rs)
{
    rank_check_accounts(rs);
    for (uint32_t i = 0; i < ranks_count(rs); i++) {
        struct rank_stat s;

        ranks_stat(rs, i, &s);
        assert_true(s.ended);
    }
}

/* Small enough for slow builds. */
static const struct app {
    const char *name, *options;
    uint32_t ranks;
} apps[] = {
    {"checkpoint", "--compute 10", 8},
    {"cosmoflow", "--iterations 1 --gradients 10000 --compute 10", 12},
    {"dlio", "--epochs 1 --files 12 --compute 5 --gradients 1K", 6},
    {"fft", "--iterations 1 --points 32", 16},
    {"llm-training", "--activation 4K --gradient 64K --compute 5", 16},
    {"milc", "--iterations 1 --n0 2 --n1 2 --n2 3 --n3 2 --halo 9999", 24},
    {"nekbone", "--iterations 2 --na 2 --nb 2 --nc 2 --elements 2", 8},
    {"ping-pong", "--reps 2 --largest 16K", 2},
    {"stencil-2d", "--iterations 2 --points 64", 20},
    {"stencil-3d", "--iterations 2 --points 16 --nx 2 --ny 3", 18},
    {"sweep", "", 12},
};

enum { NAPPS = sizeof apps / sizeof *apps };

static void run_app(const struct app *a, const char *mpi)
{
    struct play p;
    char job[512];

    snprintf(job, sizeof job,
             "mpi: %s\njobs:\n- {program: {kind: ncptl, file: examples/apps/%s.ncptl, options: "
             "\"%s\"}, ranks: %u, ranks_per_node: 2, placement: random-nodes}\n",
             mpi, a->name, a->options, a->ranks);
    print_message("%s, %s\n", a->name, mpi);
    must(&p, play_open(&p, job, NULL, 0));
    must(&p, play_run(&p));
    assert_int_equal(ranks_state(world_ranks(p.w)), RANKS_ENDED);
    check_accounts(world_ranks(p.w));
    struct net_counts n;

    net_counts(world_net(p.w), &n);
    assert_int_equal(n.in_flight, 0);
    assert_int_equal(n.queued_messages, 0);
    play_close(&p);
}

static void every_application_ends_and_its_time_adds_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAPPS; i++)
        run_app(&apps[i], "modern");
}

static void so_it_does_with_the_other_settings_of_mpi(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAPPS; i += 3)
        run_app(&apps[i], "{kind: modern, eager_limit: 100 B, progress: calls, sendrecv: serial}");
    for (size_t i = 1; i < NAPPS; i += 3)
        run_app(&apps[i], "ideal");
}

/* ---- jobs beside each other ---- */

static const char pair[] =
    "jobs:\n"
    "- {name: a, program: {kind: ncptl, file: examples/apps/stencil-2d.ncptl, options: "
    "\"--iterations 2 --points 64\"}, ranks: 16, placement: random-nodes}\n"
    "- {name: b, program: {kind: ncptl, file: examples/apps/fft.ncptl, options: \"--iterations 1 "
    "--points 32\"}, ranks: 16, start: 30 us, placement: random-nodes}\n";

static uint64_t fingerprint(const struct play *p)
{
    const struct ranks *rs = world_ranks(p->w);
    uint64_t h = 1;

    for (uint32_t i = 0; i < ranks_count(rs); i++) {
        struct rank_stat s;

        ranks_stat(rs, i, &s);
        h = (h ^ s.elapsed_ps) * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ s.account_ps[RANK_WAIT] ^ s.node) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return h;
}

static uint64_t play_pair(const char *set)
{
    const char *sets[] = {set};
    struct play p;
    uint64_t h;

    must(&p, play_open(&p, pair, sets, set ? 1 : 0));
    must(&p, play_run(&p));
    check_accounts(world_ranks(p.w));
    assert_true(ranks_job_end_ps(world_ranks(p.w), 1) > 30 * UINT64_C(1000000));
    h = fingerprint(&p);
    play_close(&p);
    return h;
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    assert_int_equal(play_pair(NULL), play_pair(NULL));
    assert_int_not_equal(play_pair(NULL), play_pair("seed=2"));
    assert_int_not_equal(play_pair(NULL), play_pair("traffic.beside_jobs=true"));
    assert_int_equal(play_pair("traffic.beside_jobs=true"), play_pair("traffic.beside_jobs=true"));
}

static void a_job_alone_does_not_feel_when_it_begins(void **state)
{
    static const char one[] = "jobs:\n- {program: {kind: ncptl, file: "
                              "examples/apps/stencil-2d.ncptl, options: \"--iterations 2 --points "
                              "64\"}, ranks: 16, ranks_per_node: 2}\n";
    const char *late[] = {"jobs.0.start=7us", "machine.routing=minimal"};
    struct play a, b;

    (void)state;
    must(&a, play_open(&a, one, late + 1, 1));
    must(&b, play_open(&b, one, late, 2));
    must(&a, play_run(&a));
    must(&b, play_run(&b));
    assert_int_equal(fingerprint(&a), fingerprint(&b));
    assert_int_equal(ranks_job_end_ps(world_ranks(b.w), 0) - ranks_job_end_ps(world_ranks(a.w), 0),
                     7 * UINT64_C(1000000));
    play_close(&a);
    play_close(&b);
}

/* ---- the language on ranks ---- */

/* Runs the text on `ranks` and leaves it open. */
/* What is measured of a job alone is then comparable with the job among others. */
static void a_job_that_does_not_run_keeps_its_nodes(void **state)
{
    static const char jobs[] =
        "jobs:\n"
        "- {name: a, program: {kind: ncptl, file: examples/apps/checkpoint.ncptl, options: "
        "--compute 1}, ranks: 5, placement: random-nodes}\n"
        "- {name: b, program: {kind: ncptl, file: examples/apps/checkpoint.ncptl, options: "
        "--compute 1}, ranks: 7, placement: random-nodes}\n";
    const char *alone[] = {"active=[b]"}, *wrong[] = {"active=[c]"};
    struct play both, b, none;
    struct rank_stat x, y;

    (void)state;
    must(&both, play_open(&both, jobs, NULL, 0));
    must(&b, play_open(&b, jobs, alone, 1));
    must(&b, play_run(&b));
    assert_int_equal(world_jobs(b.w), 1);
    assert_string_equal(world_job_name(b.w, 0), "b");
    assert_int_equal(ranks_count(world_ranks(b.w)), 7);
    for (uint32_t i = 0; i < 7; i++) {
        ranks_stat(world_ranks(both.w), 5 + i, &x);
        ranks_stat(world_ranks(b.w), i, &y);
        assert_int_equal(x.node, y.node);
    }
    play_close(&both);
    play_close(&b);
    assert_false(play_open(&none, jobs, wrong, 1));
    assert_non_null(strstr(none.err.text, "no job has the name \"c\""));
    play_close(&none);
}

static void play_text(struct play *p, const char *text, uint32_t ranks, const char *more)
{
    char path[128], job[512];

    snprintf(path, sizeof path, "weir-jobs-test-%d.ncptl", (int)getpid());
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    snprintf(job, sizeof job, "%sjobs:\n- {program: {kind: ncptl, file: %s}, ranks: %u}\n", more,
             path, ranks);
    must(p, play_open(p, job, NULL, 0));
    unlink(path);
    must(p, play_run(p));
    check_accounts(world_ranks(p->w));
}

static void stat_of(const struct play *p, uint32_t rank, struct rank_stat *s)
{
    ranks_stat(world_ranks(p->w), rank, s);
}

static void a_timed_loop_ends_for_all_at_once(void **state)
{
    struct play p;
    struct rank_stat s, first;

    (void)state;
    play_text(&p,
              "FOR 1 MILLISECOND ALL TASKS t COMPUTE FOR 10*(t+1) MICROSECONDS THEN "
              "ALL TASKS LOG elapsed_usecs AS \"t\".",
              5, "mpi: ideal\n");
    for (uint32_t i = 0; i < 5; i++) {
        stat_of(&p, i, &s);
        stat_of(&p, 0, &first);
        /* All have gone round as often. The first task is the first to come to the end of an
         * iteration of 50 us and decides: before 1 ms is over it has begun the 21st, if collectives
         * take no time. */
        assert_int_equal(s.colls[LOAD_ALLREDUCE], first.colls[LOAD_ALLREDUCE]);
        assert_in_range(s.colls[LOAD_ALLREDUCE], 20, 21);
        assert_in_range(s.elapsed_ps, UINT64_C(1000000000), UINT64_C(1110000000));
        assert_int_equal(s.account_ps[RANK_COMPUTE],
                         s.colls[LOAD_ALLREDUCE] * (i + 1) * UINT64_C(10000000));
    }
    play_close(&p);
}

static void a_timed_loop_that_takes_no_time_ends_too(void **state)
{
    struct play p;

    (void)state;
    for (uint32_t n = 1; n <= 2; n++) {
        play_text(&p, "FOR 10 MICROSECONDS TASK 0 COMPUTES FOR 0 MICROSECONDS.", n, "mpi: ideal\n");
        play_close(&p);
    }
}

static void collectives_on_subsets_concern_only_their_members(void **state)
{
    struct play p;
    struct rank_stat s;

    (void)state;
    play_text(&p,
              "TASKS t SUCH THAT t MOD 3 = 0 SYNCHRONIZE THEN "
              "TASKS t SUCH THAT t < 4 REDUCE 8 DOUBLEWORDS TO TASK 5 THEN "
              "TASKS t SUCH THAT t IS ODD REDUCE 4 INTEGERS TO TASKS u SUCH THAT u < 3 THEN "
              "TASK 6 MULTICASTS A 1K BYTE MESSAGE TO TASKS t SUCH THAT t < 3 THEN "
              "ALL TASKS AWAIT COMPLETION.",
              9, "");
    for (uint32_t i = 0; i < 9; i++) {
        stat_of(&p, i, &s);
        assert_int_equal(s.colls[LOAD_BARRIER], i % 3 == 0);
        assert_int_equal(s.colls[LOAD_ALLREDUCE], 0);
        /* to task 5; by the odd ones, to the first of 0, 1, 2 */
        assert_int_equal(s.colls[LOAD_REDUCE], (i < 4 || i == 5) + (i % 2 == 1 || i == 0));
        assert_int_equal(s.colls[LOAD_BCAST], (i < 3 || i == 6) + (i < 3));
    }
    play_close(&p);
}

static void an_asynchronous_multicast_is_a_message_to_each(void **state)
{
    struct play p;
    struct rank_stat s;

    (void)state;
    play_text(&p,
              "TASK 2 ASYNCHRONOUSLY MULTICASTS A 100 BYTE MESSAGE TO ALL OTHER TASKS THEN "
              "ALL TASKS AWAIT COMPLETION.",
              6, "");
    stat_of(&p, 2, &s);
    assert_int_equal(s.msgs_sent, 5);
    assert_int_equal(s.bytes_sent, 500);
    for (uint32_t i = 0; i < 6; i++) {
        stat_of(&p, i, &s);
        assert_int_equal(s.msgs_recvd, i != 2);
    }
    play_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_application_ends_and_its_time_adds_up),
        cmocka_unit_test(so_it_does_with_the_other_settings_of_mpi),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(a_job_alone_does_not_feel_when_it_begins),
        cmocka_unit_test(a_job_that_does_not_run_keeps_its_nodes),
        cmocka_unit_test(a_timed_loop_ends_for_all_at_once),
        cmocka_unit_test(a_timed_loop_that_takes_no_time_ends_too),
        cmocka_unit_test(collectives_on_subsets_concern_only_their_members),
        cmocka_unit_test(an_asynchronous_multicast_is_a_message_to_each),
    };

    /* Files in a configuration without a place of its own are found from here. */
    if (chdir(WEIR_SOURCE_DIR))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
