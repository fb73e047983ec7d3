/* What runs teach, and how well jobs put together are predicted from jobs alone. */
#include "interference_help.h"

#include "base/rng.h"
#include "interference/import.h"
#include "interference/training.h"

static const int64_t epoch = 1794767908000000000;

struct files {
    char path[6][160];
};

static struct files name_files(const struct place *p)
{
    struct files f;

    for (int i = 0; i < 6; i++)
        snprintf(f.path[i], sizeof f.path[i], "%s/%d.weir", p->dir, i);
    return f;
}

static void make_mode(const char *path, int64_t at_s, const char *mode, struct made_job job)
{
    make_run(path, &(struct made_run){.epoch_ns = epoch + at_s * 1000000000,
                                      .slice_s = 0.25,
                                      .job = &job,
                                      .njobs = 1,
                                      .mode = mode});
}

static void add(struct interference_training *l, const struct files *f, size_t from, size_t n,
                enum interference_role part)
{
    const char *list[6];
    struct wr_err err = {0};

    for (size_t i = 0; i < n; i++)
        list[i] = f->path[from + i];
    must(interference_training_add(l, list, n, part, INTERFERENCE_WRITE, &err), err);
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fabs(want)))
        fail_msg("%.12g where %.12g is right", got, want);
}

/* Two jobs that live at the same time and write one after the other: each was alone, and reached
 * what it reached while it wrote. */
static void predictions_take_the_io_phase(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};
    struct interference_query ask[] = {{"private", 1, 1, 40e6, 0}, {"private", 1, 1, 40e6, 0}};
    struct interference_prediction predicted[2];

    make_mode(f.path[0], 0, "private",
              (struct made_job){"A", 1, 1, 100, 110, .rate_bps = 4e6, .idle_s = 50});
    make_mode(f.path[1], 0, "private",
              (struct made_job){"A", 1, 1, 120, 130, .rate_bps = 4e6, .idle_s = 50});
    add(&l, &f, 0, 2, INTERFERENCE_TRAINS);
    assert_int_equal(l.groups.n, 2);
    must(interference_training_fit(&l, false, &err), err);
    assert_near(interference_find_capacity(&l, "private")->by_active[0], 4e6);
    must(interference_predict(predicted, &l, ask, 2,
                              (struct interference_weighting){INTERFERENCE_RULE_NODES, false},
                              &err),
         err);
    assert_near(predicted[0].alone_s, 10);
    assert_near(predicted[0].runtime_s, 20);
    interference_training_fini(&l);
}

/* Alone: 4 MB/s with one process, 10 with four; shared files: 3 with one. */
static void capacity_and_caps_are_learnt_by_kind_and_mode(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};

    make_mode(f.path[0], 0, "private", (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 4e6});
    make_mode(f.path[1], 20, "private", (struct made_job){"A", 4, 4, 0, 10, .rate_bps = 2.5e6});
    make_mode(f.path[2], 40, "private", (struct made_job){"A", 4, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[3], 60, "private", (struct made_job){"A", 4, 4, 0, 10, .rate_bps = 3e6});
    make_mode(f.path[4], 80, "shared", (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 3e6});
    add(&l, &f, 0, 5, INTERFERENCE_TRAINS);
    must(interference_training_fit(&l, false, &err), err);
    assert_int_equal(l.groups.n, 5);
    assert_int_equal(l.configs.n, 3);
    const struct interference_config *four = interference_find_config(&l, "private", 4, 1);

    assert_non_null(four);
    assert_int_equal(four->rates.n, 3);
    assert_near(four->mid_bps, 10e6);
    assert_near(four->low_bps, 8e6);
    assert_near(four->high_bps, 12e6);
    assert_near(interference_find_capacity(&l, "private")->by_active[0], 10e6);
    assert_near(interference_find_capacity(&l, "shared")->by_active[0], 3e6);
    assert_null(interference_find_config(&l, "shared", 4, 1));

    /* 30 MB each: the small job is capped at 4 and leaves 6 to the other. */
    struct interference_query ask[] = {{"private", 1, 1, 30e6, 0}, {"private", 4, 1, 30e6, 0}};
    struct interference_prediction predicted[2];

    must(interference_predict(predicted, &l, ask, 2,
                              (struct interference_weighting){.rule = INTERFERENCE_RULE_JOBS},
                              &err),
         err);
    assert_near(predicted[0].alone_s, 7.5);
    assert_near(predicted[0].runtime_s, 7.5);
    assert_near(predicted[1].runtime_s, 5);
    assert_true(predicted[1].low_s < 5 && predicted[1].high_s > 5);
    assert_false(predicted[0].guessed);
    must(interference_predict(predicted, &l, ask, 2,
                              (struct interference_weighting){.rule = INTERFERENCE_RULE_PROCESSES},
                              &err),
         err);
    assert_near(predicted[1].runtime_s, 30 / 8.); /* 4 : 1 */
    ask[0].processes = 7;
    must(interference_predict(predicted, &l, ask, 2,
                              (struct interference_weighting){.rule = INTERFERENCE_RULE_JOBS},
                              &err),
         err);
    assert_true(predicted[0].guessed);
    ask[0].mode = "";
    assert_false(interference_predict(
        predicted, &l, ask, 2, (struct interference_weighting){.rule = INTERFERENCE_RULE_JOBS},
        &err));
    assert_non_null(strstr(err.text, "mode"));
    interference_training_fini(&l);
}

/* A profile of one process shows no mode: it is a job of whatever mode the others have. */
static void a_job_of_one_process_goes_with_any_mode(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};

    make_mode(f.path[0], 0, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 9e6});
    make_mode(f.path[1], 20, "private", (struct made_job){"A", 4, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[2], 40, "shared", (struct made_job){"A", 4, 4, 0, 10, .rate_bps = 2.5e6});
    add(&l, &f, 0, 3, INTERFERENCE_TRAINS);
    must(interference_training_fit(&l, false, &err), err);
    assert_near(interference_find_capacity(&l, "private")->by_active[0], 9e6);
    assert_near(interference_find_capacity(&l, "shared")->by_active[0], 10e6);
    assert_near(interference_find_config(&l, "shared", 1, 1)->mid_bps, 9e6);
    assert_null(interference_find_config(&l, "", 4, 1));

    struct interference_query ask[] = {{"", 1, 1, 30e6, 0}, {"shared", 4, 1, 30e6, 0}};
    struct interference_prediction predicted[2];

    /* 10 MB/s for two. */
    must(interference_predict(predicted, &l, ask, 2,
                              (struct interference_weighting){.rule = INTERFERENCE_RULE_JOBS},
                              &err),
         err);
    assert_near(predicted[0].runtime_s, 6);
    assert_near(predicted[1].runtime_s, 6);
    assert_false(predicted[0].guessed || predicted[1].guessed);
    interference_training_fini(&l);
}

static void runs_that_share_time_went_on_together(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};

    make_mode(f.path[0], 0, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 4e6});
    make_mode(f.path[1], 100, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[2], 105, NULL, (struct made_job){"B", 1, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[3], 112, NULL, (struct made_job){"C", 1, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[4], 200, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 5e6});
    add(&l, &f, 0, 5, INTERFERENCE_BOTH_ROLES);
    assert_int_equal(l.groups.n, 3);
    assert_int_equal(l.groups.v[0].set.njobs, 1);
    assert_int_equal(l.groups.v[1].set.njobs, 3); /* a chain: A with B, B with C */
    must(interference_training_fit(&l, false, &err), err);
    assert_near(interference_find_capacity(&l, "")->by_active[0], 4.5e6);
    interference_training_fini(&l);
}

static void runs_together_teach_what_is_carried_with_so_many(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};

    make_mode(f.path[0], 0, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 10e6});
    make_mode(f.path[1], 100, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[2], 100, NULL, (struct made_job){"B", 3, 4, 0, 10, .rate_bps = 2e6});
    add(&l, &f, 0, 3, INTERFERENCE_BOTH_ROLES);
    must(interference_training_fit(&l, true, &err), err);
    const struct interference_capacity *c = interference_find_capacity(&l, "");

    assert_int_equal(c->n, 2);
    assert_near(c->by_active[0], 10e6);
    assert_near(c->by_active[1], 8e6);
    /* The three processes got three times as much as the one. */
    assert_near(l.slope[INTERFERENCE_SLOPE_PROCESSES], 1);
    assert_int_equal(l.pairs[INTERFERENCE_SLOPE_NODES], 0);
    assert_true(l.rule_off[INTERFERENCE_RULE_PROCESSES] < 1e-9);
    assert_near(l.rule_off[INTERFERENCE_RULE_JOBS], 0.25);
    interference_training_fini(&l);
}

/* Alone, and then A with one process and B with `ranks` of them on `nodes` nodes, which get as much
 * as the model reports. */
static void make_pair(const struct files *f, unsigned ranks, unsigned per_node, double a_bps,
                      double b_bps)
{
    double full = a_bps + b_bps;

    make_mode(f->path[0], 0, "private", (struct made_job){"A", 1, 1, 0, 10, .rate_bps = full});
    make_mode(f->path[1], 100, "private",
              (struct made_job){"B", ranks, per_node, 0, 10, .rate_bps = full / ranks});
    make_mode(f->path[2], 200, "private", (struct made_job){"A", 1, 1, 0, 10, .rate_bps = a_bps});
    make_mode(f->path[3], 200, "private",
              (struct made_job){"B", ranks, per_node, 0, 10, .rate_bps = b_bps / ranks});
}

static void the_rule_is_the_one_that_overlaps_show(void **state)
{
    static const struct {
        unsigned ranks, per_node;
        double b_bps;
        enum interference_rule rule;
        bool known;
    } want[] = {
        {4, 4, 4e6, INTERFERENCE_RULE_PROCESSES, true}, /* one node: 4 of 5 parts are by process */
        {4, 4, 1e6, INTERFERENCE_RULE_NODES, true},     /* a half, by nodes or by jobs */
        {4, 2, 2e6, INTERFERENCE_RULE_NODES, true},     /* two nodes */
        {4, 2, 1e6, INTERFERENCE_RULE_JOBS, true},      /* two nodes and no more than one */
        {1, 1, 1e6, INTERFERENCE_RULE_NODES, false},    /* the same by any rule */
        {1, 1, 4e6, INTERFERENCE_RULE_NODES, false},    /* by none */
        {4, 4, 1.86e6, INTERFERENCE_RULE_NODES, false}, /* between two */
    };

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct files f = name_files(*state);
        struct interference_training l = {0};
        struct wr_err err = {0};

        make_pair(&f, want[i].ranks, want[i].per_node, 1e6, want[i].b_bps);
        add(&l, &f, 0, 4, INTERFERENCE_BOTH_ROLES);
        must(interference_training_fit(&l, false, &err), err);
        assert_int_equal(l.overlaps, 1);
        if (l.rule != want[i].rule || l.rule_known != want[i].known)
            fail_msg("case %zu: by %s, known %d; off %g %g %g", i, interference_rule_names[l.rule],
                     l.rule_known, l.rule_off[0], l.rule_off[1], l.rule_off[2]);
        interference_training_fini(&l);
    }
}

/* What `weir interfere` says of the same files. */
static void shares_are_judged_as_in_the_analysis(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};
    struct interference_analysis a;
    size_t together = 0;

    /* B begins late and its processes one after the other. */
    make_pair(&f, 4, 4, 1e6, 4e6);
    make_mode(f.path[3], 200, "private",
              (struct made_job){"B", 4, 4, 3, 9, .stagger_s = 0.5, .rate_bps = 1e6});
    add(&l, &f, 0, 4, INTERFERENCE_BOTH_ROLES);
    must(interference_training_fit(&l, false, &err), err);
    for (size_t i = 0; i < l.groups.n; i++) {
        const struct interference_group *g = &l.groups.v[i];

        if (g->set.njobs < 2)
            continue;
        interference_analyse(&a, &g->set, NULL, INTERFERENCE_ALL_PROCESSES);
        assert_true(a.overlaps && g->overlaps);
        for (int r = 0; r < INTERFERENCE_RULES; r++)
            assert_true(g->off[r] == a.off[r] && l.rule_off[r] == a.off[r]);
        assert_true(g->off[INTERFERENCE_RULE_PROCESSES] < 1e-9);
        interference_analysis_fini(&a);
        together++;
    }
    assert_int_equal(together, 1);
    interference_training_fini(&l);
}

/* Two of three runs alone were slowed by something else. */
static void a_kind_that_once_filled_the_server_has_no_cap_of_its_own(void **state)
{
    static const double fast[] = {9.5e6, 8e6};

    for (int i = 0; i < 2; i++) {
        struct files f = name_files(*state);
        struct interference_training l = {0};
        struct wr_err err = {0};

        make_mode(f.path[0], 0, "private", (struct made_job){"A", 2, 2, 0, 10, .rate_bps = 5e6});
        make_mode(f.path[1], 20, "private", (struct made_job){"A", 1, 1, 0, 10, .rate_bps = 5e6});
        make_mode(f.path[2], 40, "private", (struct made_job){"A", 1, 1, 0, 10, .rate_bps = 4e6});
        make_mode(f.path[3], 60, "private",
                  (struct made_job){"A", 1, 1, 0, 10, .rate_bps = fast[i]});
        add(&l, &f, 0, 4, INTERFERENCE_TRAINS);
        must(interference_training_fit(&l, false, &err), err);
        const struct interference_config *one = interference_find_config(&l, "private", 1, 1);

        assert_near(one->mid_bps, 5e6);
        assert_near(one->cap_bps, i ? 5e6 : 10e6);
        interference_training_fini(&l);
    }
}

static void without_a_run_alone_nothing_is_predicted(void **state)
{
    struct files f = name_files(*state);
    struct interference_training l = {0};
    struct wr_err err = {0};

    make_mode(f.path[0], 0, NULL, (struct made_job){"A", 1, 4, 0, 10, .rate_bps = 2e6});
    make_mode(f.path[1], 0, NULL, (struct made_job){"B", 1, 4, 0, 10, .rate_bps = 2e6});
    add(&l, &f, 0, 2, INTERFERENCE_BOTH_ROLES);
    assert_false(interference_training_fit(&l, false, &err));
    assert_non_null(strstr(err.text, "add such runs"));
    interference_training_fini(&l);
}

/* The measured runs on NFS, each from those of one job alone and the pairs beside it. */
static void learn_measured(struct interference_training *l, const struct place *p)
{
    struct interference_import im;
    struct wr_err err = {0};
    const char *dir = p->path;
    size_t n = 0;

    must(interference_import_read(
             &im, WEIR_SOURCE_DIR "/tests/data/interfere/nfs_slices_250ms.csv.zst", 0, &err),
         err);
    must(interference_import_jobs(&im, WEIR_SOURCE_DIR "/tests/data/interfere/nfs_summary.csv",
                                  &err),
         err);
    must(interference_import_write(&im, &(struct interference_import_to){.path = dir}, &n, &err),
         err);
    interference_import_fini(&im);
    must(interference_training_add(l, &dir, 1, INTERFERENCE_BOTH_ROLES, INTERFERENCE_WRITE, &err),
         err);
    must(interference_training_fit(l, false, &err), err);
    assert_int_equal(l->groups.n, 48);
}

struct off {
    double mean, most;
    size_t n, held;
};

static struct off predict_all(struct interference_training *l, struct interference_weighting how)
{
    struct off o = {0};

    interference_calibrate(l, how);
    for (size_t g = 0; g < l->groups.n; g++) {
        const struct interference_set *s = &l->groups.v[g].set;
        struct interference_prediction predicted[2];
        struct wr_err err = {0};

        if (s->njobs != 2)
            continue;
        must(interference_predict_group(predicted, l, &l->groups.v[g], how, &err), err);
        for (int i = 0; i < 2; i++) {
            double e = fabs(predicted[i].runtime_s / s->job[i].runtime_s - 1);

            o.mean += e;
            o.most = fmax(o.most, e);
            o.held += s->job[i].runtime_s >= predicted[i].low_s &&
                      s->job[i].runtime_s <= predicted[i].high_s;
            o.n++;
        }
    }
    o.mean /= (double)o.n;
    return o;
}

static void the_measured_pairs_are_predicted_within_eight_percent_on_average(void **state)
{
    struct interference_training l = {0};

    learn_measured(&l, *state);
    struct off fitted = predict_all(&l, (struct interference_weighting){l.rule, true});
    struct off nodes =
        predict_all(&l, (struct interference_weighting){.rule = INTERFERENCE_RULE_NODES});
    struct off processes =
        predict_all(&l, (struct interference_weighting){.rule = INTERFERENCE_RULE_PROCESSES});

    assert_int_equal(l.rule, INTERFERENCE_RULE_NODES);
    assert_true(l.rule_known);
    assert_int_equal(nodes.n, 54);
    if (!(nodes.mean < 0.08) || !(fitted.mean < 0.077))
        fail_msg("off by %g on average, exactly by nodes %g", fitted.mean, nodes.mean);
    assert_true(processes.mean > nodes.mean + 0.015);
    /* Sharing does not follow the number of processes: one connection per node. */
    assert_true(fabs(l.slope[INTERFERENCE_SLOPE_PROCESSES]) < 0.15);
    /* What was seen on the wire differs by 6.12 and 16.53 points (wire_allactive_mib_s). */
    assert_true(fabs(l.rule_off[INTERFERENCE_RULE_NODES] - 0.0612) < 0.01);
    assert_true(fabs(l.rule_off[INTERFERENCE_RULE_PROCESSES] - 0.1653) < 0.01);
    interference_training_fini(&l);
}

/* A range of 80 % holds 80 %: of 54 correlated times, 38 to 49 are within two standard errors. */
static void ranges_hold_what_they_promise(void **state)
{
    struct interference_training l = {0};

    learn_measured(&l, *state);
    for (int fitted = 0; fitted < 2; fitted++) {
        struct off o = predict_all(&l, (struct interference_weighting){l.rule, fitted});

        assert_int_equal(interference_range_cases(&l, NULL), 54);
        assert_int_equal(o.n, 54);
        if (o.held < 38 || o.held > 49)
            fail_msg("%zu of %zu are in their range", o.held, o.n);
    }
    interference_training_fini(&l);
}

/* Rates of a server that splits unevenly, drawn again for each pair: ranges learnt from some pairs
 * hold the times of others. */
static void ranges_hold_for_a_server_that_splits_unevenly(void **state)
{
    struct place *p = *state;
    struct interference_training l = {0};
    struct wr_err err = {0};
    struct wr_rng g;
    enum { PAIRS = 40 };
    char path[2 * PAIRS + 1][160];
    const char *list[2 * PAIRS + 1];
    size_t n = 0;

    wr_rng_init(&g, 7, 0, 0);
    for (size_t i = 0; i <= 2 * PAIRS; i++) {
        snprintf(path[i], sizeof path[i], "%s/%zu.weir", p->dir, i);
        list[i] = path[i];
    }
    make_mode(path[n++], 0, "private", (struct made_job){"A", 1, 1, 0, 8, .rate_bps = 8e6});
    for (int i = 0; i < PAIRS; i++) {
        double first = 1 / (1 + exp(-0.4 * wr_rng_normal(&g))); /* share of A, all the time */
        double swift = fmax(first, 1 - first), end = 4 / swift;

        for (int job = 0; job < 2; job++) {
            bool winner = (first > 0.5) == !job;
            double length = winner ? end : 8;

            make_mode(
                path[n++], 100 * (i + 1), "private",
                (struct made_job){job ? "B" : "A", 1, 1, 0, length, .rate_bps = 32e6 / length});
        }
    }
    must(interference_training_add(&l, list, n, INTERFERENCE_BOTH_ROLES, INTERFERENCE_WRITE, &err),
         err);
    must(interference_training_fit(&l, false, &err), err);
    struct off o = predict_all(&l, (struct interference_weighting){l.rule, true});

    assert_int_equal(o.n, 2 * PAIRS);
    if (o.held < 56 || o.held > 72) /* 80 % of 80, three standard errors */
        fail_msg("%zu of %zu are in their range", o.held, o.n);
    interference_training_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(capacity_and_caps_are_learnt_by_kind_and_mode),
        IN_PLACE(predictions_take_the_io_phase),
        IN_PLACE(a_job_of_one_process_goes_with_any_mode),
        IN_PLACE(runs_that_share_time_went_on_together),
        IN_PLACE(runs_together_teach_what_is_carried_with_so_many),
        IN_PLACE(the_rule_is_the_one_that_overlaps_show),
        IN_PLACE(shares_are_judged_as_in_the_analysis),
        IN_PLACE(a_kind_that_once_filled_the_server_has_no_cap_of_its_own),
        IN_PLACE(without_a_run_alone_nothing_is_predicted),
        IN_PLACE(the_measured_pairs_are_predicted_within_eight_percent_on_average),
        IN_PLACE(ranges_hold_what_they_promise),
        IN_PLACE(ranges_hold_for_a_server_that_splits_unevenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
