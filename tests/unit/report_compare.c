/* Comparing groups of runs: slowdowns, their intervals, and causes that add up. */
#include "unit/run_help.h"

#include <math.h>

#include "report/compare.h"

enum { RANKS = 8 };

/* What a run of a test is: one or two jobs, each with an I/O time of its own. */
struct made {
    const char *name; /* of the file */
    uint64_t seed;
    const char *workload, *placement; /* NULL: of no study */
    double io_ms, other_ms;           /* of `app` on average; other_ms > 0: a second job's */
    double device_others_ms;          /* part of io_ms */
    bool silent;                      /* no causes */
    double unexplained_ms;            /* of io_ms */
};

static const int64_t ms = 1000 * 1000 * 1000; /* ps */

static void put_job(struct run *run, uint32_t app, const char *name, double io_ms,
                    const struct made *m, struct wr_err *err)
{
    must(run_put_app(run, &(struct run_app){.app = app, .name = name, .ranks = RANKS}, err), *err);
    for (uint64_t r = 0; r < RANKS; r++) {
        struct run_rank rank = run_rank_unknown(app, r);
        /* Ranks differ by a tenth and keep their mean. */
        double mine = io_ms * (1 + 0.1 * ((double)r - (RANKS - 1) / 2.0) / (RANKS - 1));
        double others = app ? 0 : m->device_others_ms * mine / io_ms;
        double lost = app ? 0 : m->unexplained_ms * mine / io_ms;

        rank.io_ps = (int64_t)(mine * (double)ms);
        rank.compute_ps = 5 * ms;
        rank.comm_ps = rank.idle_ps = 0;
        rank.elapsed_ps = rank.io_ps + rank.compute_ps;
        must(run_put_rank(run, &rank, err), *err);
        if (m->silent)
            continue;
        uint64_t own = (uint64_t)((mine - others - lost) * (double)ms);

        must(run_put_cause(run, app, r, "io", "device", own, err), *err);
        if (others > 0)
            must(run_put_cause(run, app, r, "io", "device_others", (uint64_t)(others * (double)ms),
                               err),
                 *err);
    }
}

static const char *make(const struct place *p, const struct made *m)
{
    static char path[4][256];
    static int turn;
    char *at = path[turn++ % 4];
    struct run *run;
    struct wr_err err = {0};

    snprintf(at, sizeof path[0], "%s/%s.weir", p->dir, m->name);
    must(run_create(&run, at, &(struct run_meta){.kind = "sim", .seed = m->seed}, &err), err);
    if (m->workload) {
        char seed[24];

        snprintf(seed, sizeof seed, "%d", (int)m->seed);
        must(run_put_meta(run, "study", "test", &err) &&
                 run_put_meta(run, "axis.00.workload", m->workload, &err) &&
                 run_put_meta(run, "axis.01.placement", m->placement, &err) &&
                 run_put_meta(run, "axis.02.seed", seed, &err),
             err);
    }
    put_job(run, 0, "app", m->io_ms, m, &err);
    if (m->other_ms > 0)
        put_job(run, 1, "other", m->other_ms, m, &err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    return at;
}

static void open_runs(struct report_runs *runs, const char *const *v, size_t n)
{
    struct wr_err err = {0};

    must(report_runs_open(runs, v, n, &err), err);
}

static struct report_compare compare(const struct report_runs *base, const struct report_runs *with)
{
    struct report_compare c;
    struct wr_err err = {0};

    must(report_compare_open(&c, base, with, 1, &err), err);
    return c;
}

static void check_sum(const struct report_compared *c)
{
    const struct report_change *e = &c->change[REPORT_ELAPSED];
    double change = e->with_ns - e->base_ns, sum = 0, base = 0;

    assert_true(c->cause.n > 0);
    for (size_t i = 0; i < c->cause.n; i++) {
        sum += c->cause.v[i].with_ns - c->cause.v[i].base_ns;
        base += c->cause.v[i].base_ns;
    }
    assert_true(fabs(sum - change) <= 1e-9 * e->with_ns);
    assert_true(fabs(base - e->base_ns) <= 1e-9 * e->base_ns);
}

static void one_pair_is_judged_over_its_ranks(void **state)
{
    const struct place *p = *state;
    struct report_runs base, with;
    const char *a = make(p, &(struct made){.name = "a", .seed = 1, .io_ms = 10});
    const char *b = make(
        p,
        &(struct made){.name = "b", .seed = 9, .io_ms = 24, .other_ms = 7, .device_others_ms = 13});

    open_runs(&base, &a, 1);
    open_runs(&with, &b, 1);
    struct report_compare c = compare(&base, &with);

    assert_int_equal(c.job.n, 1); /* the other job has no base */
    const struct report_compared *app = &c.job.v[0];
    const struct report_change *io = &app->change[REPORT_IO];

    assert_string_equal(app->job, "app");
    assert_true(fabs(io->ratio.mid - 2.4) < 1e-9);
    assert_int_equal(io->over, REPORT_OVER_RANKS);
    /* Each rank is 2.4 times as slow, so every resample of them is. */
    assert_true(fabs(io->ratio.low - 2.4) < 1e-6 && fabs(io->ratio.high - 2.4) < 1e-6);
    assert_true(isnan(app->change[REPORT_COMM].ratio.mid));
    assert_true(isnan(app->change[REPORT_MESSAGE].base_ns));
    check_sum(app);

    struct wr_str words = {0};

    report_compare_words(app, &words);
    assert_string_equal(
        words.s,
        "app: I/O is slower, takes 2.4 times as long (95 % over ranks: 2.4 to 2.4); 93 % of "
        "the increase is device sharing with other jobs, 7 % the storage device's "
        "own service\n");
    wr_str_fini(&words);
    report_compare_close(&c);
    report_runs_close(&base);
    report_runs_close(&with);
}

static void seeds_are_paired_and_the_rest_is_counted(void **state)
{
    const struct place *p = *state;
    static const double alone[] = {10, 20, 40}, shared[] = {20, 50, 60};
    const char *b[4], *w[3];
    struct report_runs base, with;
    char paths[7][256];
    size_t n = 0;

    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "b%d", i);
        b[i] = strcpy(paths[n++], make(p, &(struct made){.name = name,
                                                         .seed = (uint64_t)i,
                                                         .io_ms = i < 3 ? alone[i] : 1000}));
    }
    for (int i = 2; i >= 0; i--) {
        char name[16];

        snprintf(name, sizeof name, "w%d", i);
        w[i] = strcpy(paths[n++], make(p, &(struct made){.name = name,
                                                         .seed = (uint64_t)i,
                                                         .io_ms = shared[i],
                                                         .device_others_ms = 1}));
    }
    open_runs(&base, b, 4);
    open_runs(&with, w, 3);
    struct report_compare c = compare(&base, &with);
    const struct report_change *io = &c.job.v[0].change[REPORT_IO];

    assert_int_equal(c.job.v[0].pairs, 3);
    assert_int_equal(c.unpaired, 1);
    assert_int_equal(io->over, REPORT_OVER_SEEDS);
    /* The ratio of means; resamples lie between the least and the largest ratio of a pair. */
    assert_true(fabs(io->ratio.mid - 130.0 / 70) < 1e-9);
    assert_true(io->ratio.low >= 1.5 - 1e-9 && io->ratio.low < io->ratio.mid);
    assert_true(io->ratio.high <= 2.5 + 1e-9 && io->ratio.high > io->ratio.mid);
    check_sum(&c.job.v[0]);
    report_compare_close(&c);
    report_runs_close(&base);
    report_runs_close(&with);
}

static void what_no_cause_explains_is_unknown_and_the_parts_still_add_up(void **state)
{
    const struct place *p = *state;
    struct report_runs base, with;
    const char *a = make(p, &(struct made){.name = "a", .seed = 1, .io_ms = 10});
    const char *b =
        make(p, &(struct made){.name = "b", .seed = 1, .io_ms = 30, .unexplained_ms = 6});

    open_runs(&base, &a, 1);
    open_runs(&with, &b, 1);
    struct report_compare c = compare(&base, &with);
    double unknown = 0;

    check_sum(&c.job.v[0]);
    for (size_t i = 0; i < c.job.v[0].cause.n; i++)
        if (!strcmp(c.job.v[0].cause.v[i].cause, "unknown"))
            unknown = c.job.v[0].cause.v[i].with_ns - c.job.v[0].cause.v[i].base_ns;
    assert_true(fabs(unknown - 6e6) < 10);
    report_compare_close(&c);
    report_runs_close(&base);
    report_runs_close(&with);
}

/* Two servers; the ranks of `app` on the second share it with all four of `other`. */
static const char *make_crowd(const struct place *p, const char *name, bool shared)
{
    static char path[2][256];
    char *at = path[shared];
    struct run *run;
    struct wr_err err = {0};

    snprintf(at, sizeof path[0], "%s/%s.weir", p->dir, name);
    must(run_create(&run, at, &(struct run_meta){.kind = "sim", .seed = 1}, &err), err);
    for (uint32_t app = 0; app <= shared; app++) {
        must(run_put_app(run,
                         &(struct run_app){.app = app, .name = app ? "other" : "app", .ranks = 4},
                         &err),
             err);
        for (uint64_t r = 0; r < 4; r++) {
            struct run_rank rank = run_rank_unknown(app, r);

            rank.node = (int64_t)(app * 4 + r);
            rank.io_ps = rank.elapsed_ps = (shared && !app && r >= 2 ? 30 + (int64_t)r : 10) * ms;
            must(run_put_rank(run, &rank, &err), err);
            if (shared && !app && r >= 2)
                must(run_put_cause(run, app, r, "io", "device_others", 20 * (uint64_t)ms, &err),
                     err);
            must(run_put_client(run, (uint32_t)rank.node, app || r >= 2 ? 1 : 0, &err), err);
        }
    }
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    return at;
}

static void what_others_on_the_server_cost_is_reported_by_their_number(void **state)
{
    const struct place *p = *state;
    struct report_runs base, with;
    const char *a = make_crowd(p, "a", false), *b = make_crowd(p, "b", true);
    struct wr_str words = {0};

    open_runs(&base, &a, 1);
    open_runs(&with, &b, 1);
    struct report_compare c = compare(&base, &with);
    const struct report_compared *app = &c.job.v[0];

    assert_int_equal(app->crowd.n, 2);
    assert_true(app->crowd.v[0].others == 0 && app->crowd.v[0].ranks == 2);
    assert_true(app->crowd.v[1].others == 4 && app->crowd.v[1].ranks == 2);
    assert_true(fabs(app->crowd.v[0].with_ns - 10e6) < 1 &&
                fabs(app->crowd.v[1].with_ns - 32.5e6) < 1 &&
                fabs(app->crowd.v[1].waited_ns - 20e6) < 1);
    /* (32.5 - 10) ms for four others; ranks 2 and 3 differ by a ms besides. */
    assert_true(fabs(app->per_other.slope - 22.5e6 / 4) < 1);
    assert_true(app->per_other.r2 > 0.99 && app->per_other.r2 < 1);
    report_compare_words(app, &words);
    assert_non_null(strstr(words.s, "each further client of other jobs on a rank's server adds "
                                    "5.62 ms to its I/O, from 0 to 4 of them"));
    wr_str_fini(&words);
    report_compare_close(&c);
    report_runs_close(&base);
    report_runs_close(&with);
}

static void runs_that_say_no_causes_are_compared_without(void **state)
{
    const struct place *p = *state;
    struct report_runs base, with;
    const char *a = make(p, &(struct made){.name = "a", .seed = 1, .io_ms = 10, .silent = true});
    const char *b = make(p, &(struct made){.name = "b", .seed = 1, .io_ms = 30});

    open_runs(&base, &a, 1);
    open_runs(&with, &b, 1);
    struct report_compare c = compare(&base, &with);

    assert_int_equal(c.job.v[0].cause.n, 0);
    assert_true(fabs(c.job.v[0].change[REPORT_IO].ratio.mid - 3) < 1e-9);
    report_compare_close(&c);
    report_runs_close(&base);
    report_runs_close(&with);
}

static void a_study_is_picked_by_its_choices(void **state)
{
    const struct place *p = *state;
    struct report_runs runs, base;
    struct wr_err err = {0};
    bool loads[REPORT_MOST_AXES];
    char operand[256];
    const char *v = operand;

    for (int seed = 1; seed <= 2; seed++)
        for (int k = 0; k < 4; k++) {
            char name[32];

            snprintf(name, sizeof name, "run%d-%d", k, seed);
            make(p, &(struct made){.name = name,
                                   .seed = (uint64_t)seed,
                                   .workload = k % 2 ? "both" : "alone",
                                   .placement = k / 2 ? "random" : "contiguous",
                                   .io_ms = 10 + k,
                                   .other_ms = k % 2});
        }
    snprintf(operand, sizeof operand, "%s", p->dir);
    open_runs(&runs, &v, 1);
    assert_int_equal(runs.member.n, 8);
    report_workload_axes(&runs, loads);
    assert_true(loads[0]);
    assert_false(loads[1] || loads[2]);

    snprintf(operand, sizeof operand, "%s:workload=alone,placement=random", p->dir);
    open_runs(&base, &v, 1);
    assert_int_equal(base.member.n, 2);
    assert_string_equal(report_label(&base.member.v[0], "placement"), "random");

    /* All at once are no group: placements are mixed. */
    struct report_compare c;

    assert_false(report_compare_open(&c, &base, &runs, 1, &err));
    assert_non_null(strstr(err.text, "differ in more than the seed; choose one kind"));
    report_runs_close(&base);
    report_runs_close(&runs);

    snprintf(operand, sizeof operand, "%s:workload=non", p->dir);
    assert_false(report_runs_open(&runs, &v, 1, &err));
    assert_non_null(strstr(err.text, "no complete run of"));
}

static void a_run_that_is_not_complete_is_refused_by_name_and_left_out_of_directories(void **state)
{
    const struct place *p = *state;
    struct report_runs runs;
    struct wr_err err = {0};
    struct run *run;
    char path[128];
    const char *v = path;

    make(p, &(struct made){.name = "a", .seed = 1, .io_ms = 10});
    snprintf(path, sizeof path, "%s/half.weir", p->dir);
    must(run_create(&run, path, &(struct run_meta){.kind = "sim"}, &err), err);
    must(run_finish(run, RUN_INCOMPLETE, "interrupted", &err), err);
    assert_false(report_runs_open(&runs, &v, 1, &err));
    assert_non_null(strstr(err.text, "half.weir is incomplete; give runs that are complete"));
    v = p->dir;
    open_runs(&runs, &v, 1);
    assert_int_equal(runs.member.n, 1);
    assert_int_equal(runs.left_out, 1);
    report_runs_close(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(one_pair_is_judged_over_its_ranks),
        IN_PLACE(seeds_are_paired_and_the_rest_is_counted),
        IN_PLACE(what_no_cause_explains_is_unknown_and_the_parts_still_add_up),
        IN_PLACE(what_others_on_the_server_cost_is_reported_by_their_number),
        IN_PLACE(runs_that_say_no_causes_are_compared_without),
        IN_PLACE(a_study_is_picked_by_its_choices),
        IN_PLACE(a_run_that_is_not_complete_is_refused_by_name_and_left_out_of_directories),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
