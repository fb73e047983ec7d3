/* Simulated quantities against measured ones: pairs, errors, intervals. */
#include "unit/run_help.h"

#include <math.h>

#include "report/validation.h"

static const int64_t ms = 1000 * 1000 * 1000; /* ps */

/* A run of a test: jobs whose ranks take these times of I/O, in ms. */
struct made {
    const char *name, *kind;
    uint64_t seed;
    const char *job;
    double io_ms[3];
    const char *second; /* one more job, with a rank of 7 ms; NULL: none */
};

static void put_job(struct run *run, uint32_t app, const char *name, const double *io_ms,
                    uint64_t ranks, struct wr_err *err)
{
    must(run_put_app(run, &(struct run_app){.app = app, .name = name, .ranks = ranks}, err), *err);
    for (uint64_t r = 0; r < ranks; r++) {
        struct run_rank rank = run_rank_unknown(app, r);

        rank.io_ps = (int64_t)(io_ms[r] * (double)ms);
        rank.elapsed_ps = rank.io_ps;
        rank.bytes_written = 1000000;
        rank.bytes_read = 0;
        must(run_put_rank(run, &rank, err), *err);
    }
}

static const char *make(const struct place *p, const struct made *m)
{
    static char path[8][256];
    static int turn;
    char *at = path[turn++ % 8];
    struct run *run;
    struct wr_err err = {0};

    snprintf(at, sizeof path[0], "%s/%s.weir", p->dir, m->name);
    must(run_create(&run, at, &(struct run_meta){.kind = m->kind, .seed = m->seed}, &err), err);
    put_job(run, 0, m->job, m->io_ms, 3, &err);
    if (m->second)
        put_job(run, 1, m->second, (double[]){7}, 1, &err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    return at;
}

static bool compare(struct report_validation *v, const char *const *s, size_t ns,
                    const char *const *m, size_t nm, const struct report_validate_how *how,
                    struct wr_err *err)
{
    struct report_runs side[2];

    must(report_runs_open(&side[0], s, ns, err) && report_runs_open(&side[1], m, nm, err), *err);
    bool ok = report_validate(v, &side[0], &side[1], how, err);

    report_runs_close(&side[0]);
    report_runs_close(&side[1]);
    return ok;
}

static const struct report_quantity *find(const struct report_validation *v, const char *job,
                                          const char *name)
{
    for (size_t i = 0; i < v->v.n; i++)
        if (!strcmp(v->v.v[i].job, job) && !strcmp(v->v.v[i].name, name))
            return &v->v.v[i];
    fail_msg("no quantity %s of %s", name, job);
    return NULL;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fabs(want) + 1e-12))
        fail_msg("%.9g, wanted %.9g", got, want);
}

static void one_run_on_each_side_is_compared_over_ranks(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct report_validation v;
    const char *s = make(p, &(struct made){"s", "sim", 1, "app", {11, 12, 13}, NULL});
    const char *m = make(p, &(struct made){"m", "prof", 0, "app", {9, 10, 11}, NULL});

    must(compare(&v, &s, 1, &m, 1, &(struct report_validate_how){0}, &err), err);
    const struct report_quantity *q = find(&v, "app", "I/O");

    near(q->error.mid, 0.2);
    assert_string_equal(report_quantity_over(q), "ranks");
    /* Standard errors 1 / sqrt(3) of 12 and of 10; ln 1.2 +- t 0.975 of Welch's 3.87 degrees. */
    near(q->error.low, -0.0286255628);
    near(q->error.high, 0.4824355521);
    q = find(&v, "app", "elapsed");
    near(q->error.mid, 13.0 / 11 - 1);
    assert_true(isnan(q->error.low));
    assert_string_equal(report_quantity_over(q), "one run");
    assert_true(report_quantity_beyond(q, 0.18));
    assert_false(report_quantity_beyond(q, 0.19));
    near(find(&v, "app", "bytes written")->error.mid, 0);
    report_validation_close(&v);
}

static void repetitions_give_the_interval_where_there_are_some(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct report_validation v;
    const char *s = make(p, &(struct made){"s", "sim", 1, "app", {10, 10, 10}, NULL});
    const char *m[] = {make(p, &(struct made){"m1", "prof", 0, "app", {9, 9, 9}, NULL}),
                       make(p, &(struct made){"m2", "prof", 0, "app", {10, 10, 10}, NULL}),
                       make(p, &(struct made){"m3", "prof", 0, "app", {11, 11, 11}, NULL})};

    must(compare(&v, &s, 1, m, 3, &(struct report_validate_how){0}, &err), err);
    const struct report_quantity *q = find(&v, "app", "elapsed");

    near(q->error.mid, 0);
    assert_string_equal(report_quantity_over(q), "runs");
    assert_int_equal(q->measured.runs, 3);
    /* exp(+- t(0.975, 2) / sqrt(3) / 10) - 1 */
    near(q->error.low, exp(-4.30265273 / sqrt(3) / 10) - 1);
    near(q->error.high, exp(4.30265273 / sqrt(3) / 10) - 1);
    report_validation_close(&v);
}

static void jobs_are_paired_by_name_by_order_or_as_the_only_ones(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct report_validation v;
    const char *s = make(p, &(struct made){"s", "sim", 1, "model", {10, 10, 10}, NULL});
    const char *m = make(p, &(struct made){"m", "prof", 0, "tar", {8, 8, 8}, NULL});
    const char *two = make(p, &(struct made){"two", "prof", 0, "tar", {8, 8, 8}, "fio"});
    const char *twins = make(p, &(struct made){"twins", "sim", 1, "tar", {8, 8, 8}, "tar"});
    const char *job = "model=tar";

    must(compare(&v, &s, 1, &m, 1, &(struct report_validate_how){0}, &err), err);
    near(find(&v, "model", "elapsed")->error.mid, 0.25);
    assert_string_equal(v.renamed[1], "tar");
    report_validation_close(&v);
    assert_false(compare(&v, &s, 1, &two, 1, &(struct report_validate_how){0}, &err));
    assert_string_equal(err.text,
                        "no quantity is both simulated and measured (jobs: model; tar, fio); name "
                        "a job that is called differently as SIMULATED=MEASURED, or give runs of "
                        "the same quantities");
    must(compare(&v, &s, 1, &two, 1, &(struct report_validate_how){.jobs = &job, .njobs = 1}, &err),
         err);
    near(find(&v, "model", "elapsed")->error.mid, 0.25);
    assert_false(report_quantity_paired(find(&v, "fio", "elapsed")));
    report_validation_close(&v);
    must(compare(&v, &twins, 1, &two, 1, &(struct report_validate_how){0}, &err), err);
    near(find(&v, "tar", "elapsed")->error.mid, 0);
    assert_int_equal(find(&v, "tar", "elapsed")->simulated.runs, 1);
    assert_false(report_quantity_paired(find(&v, "tar #2", "elapsed")));
    report_validation_close(&v);
}

static void quantities_can_be_chosen_and_ranks_compared(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct report_validation v;
    const char *s = make(p, &(struct made){"s", "sim", 1, "app", {10, 12, 10}, NULL});
    const char *m = make(p, &(struct made){"m", "prof", 0, "app", {10, 10, 10}, NULL});
    const char *only[] = {"I/O of rank *"};

    must(compare(&v, &s, 1, &m, 1,
                 &(struct report_validate_how){.by_rank = true, .only = only, .nonly = 1}, &err),
         err);
    assert_int_equal(v.v.n, 3);
    near(find(&v, "app", "I/O of rank 1")->error.mid, 0.2);
    near(report_validation_agreed(&v).mean, 0.2 / 3);
    near(report_validation_agreed(&v).worst, 0.2);
    report_validation_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(one_run_on_each_side_is_compared_over_ranks),
        IN_PLACE(repetitions_give_the_interval_where_there_are_some),
        IN_PLACE(jobs_are_paired_by_name_by_order_or_as_the_only_ones),
        IN_PLACE(quantities_can_be_chosen_and_ranks_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
