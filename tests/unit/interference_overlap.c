/* Jobs that are known exactly: when they overlap, what each gets, and what cannot be said. */
#include "interference_help.h"

enum { NFILES = 4 };

struct files {
    char path[NFILES][160];
};

static struct files name_files(const struct place *p)
{
    struct files f;

    for (int i = 0; i < NFILES; i++)
        snprintf(f.path[i], sizeof f.path[i], "%s/%d.weir", p->dir, i);
    return f;
}

static struct interference_set load(const struct files *f, size_t n, struct interference_load how)
{
    struct wr_err err = {0};
    struct interference_set s;
    const char *list[NFILES];

    for (size_t i = 0; i < n; i++)
        list[i] = f->path[i];
    must(interference_load(&s, list, n, &how, &err), err);
    return s;
}

/* The error of a load that must fail has this word in it. */
static void refused(const struct files *f, size_t n, struct interference_load how, const char *word)
{
    struct wr_err err = {0};
    struct interference_set s;
    const char *list[NFILES];

    for (size_t i = 0; i < n; i++)
        list[i] = f->path[i];
    assert_false(interference_load(&s, list, n, &how, &err));
    assert_int_equal(err.code, WR_INPUT);
    if (!strstr(err.text, word))
        fail_msg("\"%s\" does not speak of \"%s\"", err.text, word);
}

static bool noted(const struct interference_set *s, const char *word)
{
    for (size_t i = 0; i < s->notes.n; i++)
        if (strstr(s->notes.v[i], word))
            return true;
    return false;
}

static const int64_t epoch = 1794767908000000000;

/* Whatever the slices, the whole stretch is found within one of them at each end. */
static void an_overlap_is_found_within_one_slice(void **state)
{
    struct files f = name_files(*state);
    static const double slices[] = {0.01, 0.25, 1, 4};

    for (size_t i = 0; i < 4; i++)
        for (int shift = 0; shift < 5; shift++) {
            double dt = slices[i], from = dt * (13.37 + shift * 0.21), to = dt * 61.8;

            make_one(f.path[0], epoch, dt,
                     (struct made_job){"A", 3, 1, 0, to, dt / 7, .rate_bps = 1e6});
            make_one(f.path[1], epoch, dt,
                     (struct made_job){"B", 2, 1, from, dt * 90, dt / 3, .rate_bps = 5e5});
            struct interference_set s = load(&f, 2, (struct interference_load){0});
            struct interference_analysis a;
            double begin = from + dt / 3, end = to; /* the last to begin, the first to end */

            interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
            assert_true(a.overlaps);
            assert_true(fabs((double)a.whole_from * dt - begin) <= dt);
            assert_true(fabs((double)a.whole_to * dt - end) <= dt);
            /* Without its partial ends it lies inside, and is at most one slice shorter at each. */
            assert_true((double)a.from * dt >= begin - 1e-9 && (double)a.to * dt <= end + 1e-9);
            assert_true((double)a.from * dt <= begin + dt && (double)a.to * dt >= end - dt);
            interference_analysis_fini(&a);
            interference_set_fini(&s);
        }
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.12g where %.12g is right", got, want);
}

static void throughputs_shares_and_ratios_are_exact(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch, 0.5, (struct made_job){"A", 4, 2, 0, 20.2, 0, .rate_bps = 1e6});
    make_one(f.path[1], epoch, 0.5, (struct made_job){"B", 2, 2, 3.3, 30.1, 0, .rate_bps = 3e6});
    struct interference_set s = load(&f, 2, (struct interference_load){0});
    struct interference_alone alone[] = {{80.8e6, 10.1}, {160.8e6, 26.8}};
    struct interference_analysis a;

    interference_analyse(&a, &s, alone, INTERFERENCE_ALL_PROCESSES);
    assert_near(a.job[0].overall_bps, 4e6);
    assert_near(a.job[1].overall_bps, 6e6);
    assert_near(a.job[0].overlap_bps.mid, 4e6);
    assert_near(a.job[1].overlap_bps.mid, 6e6);
    assert_near(a.total_bps, 10e6);
    assert_near(a.job[0].share, 0.4);
    assert_true(a.job[0].spread < 1e-9);
    assert_near(a.job[0].slowdown, 2);
    assert_near(a.job[1].slowdown, 1);
    /* 4 : 6 against nodes 2 : 1, processes 4 : 2, jobs 1 : 1. */
    assert_near(a.off[INTERFERENCE_RULE_NODES], 2 / 3. - 0.4);
    assert_near(a.off[INTERFERENCE_RULE_PROCESSES], 2 / 3. - 0.4);
    assert_near(a.off[INTERFERENCE_RULE_JOBS], 0.1);
    assert_int_equal(a.nearest, INTERFERENCE_RULE_JOBS);
    /* A alone has 8 MB/s and B 6: together they would want 14 and get 10. */
    assert_true(a.known && a.saturated);
    assert_false(a.job[0].saturates); /* 8 of 10 */
    assert_int_equal(s.job[0].nnodes, 2);
    assert_near(a.job[1].single_bps, 6e6);
    assert_true(isnan(a.job[0].single_bps) || a.job[0].single_bps == 4e6);
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

/* A job computes, writes, flushes and computes: the server works for it in between. */
static void the_io_phase_is_the_run_time_where_it_is_recorded(void **state)
{
    struct files f = name_files(*state);
    struct made_job job = {
        "A", 2, 1, 10.1, 20.3, .rate_bps = 1e6, .idle_s = 6, .flush_s = 1.1, .silent = 1};

    make_one(f.path[0], epoch, 0.5, job);
    job.flush_s = 0;
    make_one(f.path[1], epoch, 0.5, job);
    struct interference_set s = load(&f, 2, (struct interference_load){0});

    /* The first byte is known to a slice, the end of the flush exactly. */
    assert_int_equal(s.job[0].timed, INTERFERENCE_IO_PHASE);
    assert_near(s.job[0].start_s, 10);
    assert_near(s.job[0].runtime_s, 11.4);
    assert_near(s.job[0].life_s, 22.2);
    assert_near(s.job[1].runtime_s, 10.3);
    interference_set_fini(&s);

    job.idle_s = 0;
    make_one(f.path[0], epoch, 0.5, job);
    s = load(&f, 1, (struct interference_load){0});
    assert_int_equal(s.job[0].timed, INTERFERENCE_LIFE);
    assert_near(s.job[0].start_s, 10.1);
    assert_near(s.job[0].runtime_s, 10.2);
    interference_set_fini(&s);
}

static void uneven_processes_are_seen(void **state)
{
    struct files f = name_files(*state);

    /* 1, 1.5 and 2 MB/s: mean 1.5, standard deviation 0.5. */
    make_one(f.path[0], epoch, 0.25,
             (struct made_job){"A", 3, 1, 0, 10, .rate_bps = 1e6, .rank_skew = 0.5});
    struct interference_set s = load(&f, 1, (struct interference_load){0});
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_near(a.job[0].spread, 1 / 3.);
    assert_true(isnan(a.job[0].share));
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

static void processes_that_never_write_do_not_count(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch, 0.25,
             (struct made_job){"A", 5, 1, 0, 10, .rate_bps = 1e6, .silent = 2});
    struct interference_set s = load(&f, 1, (struct interference_load){0});
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_int_equal(s.job[0].nranks, 5);
    assert_int_equal(s.job[0].nactive, 3);
    assert_true(a.overlaps && a.overlap_s > 9);
    assert_true(noted(&s, "2 of 5 processes"));
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

static void jobs_that_never_meet_have_no_overlap(void **state)
{
    struct files f = name_files(*state);
    struct wr_str words = {0};

    make_one(f.path[0], epoch, 0.25, (struct made_job){"A", 2, 1, 0, 5, 0, .rate_bps = 1e6});
    make_one(f.path[1], epoch, 0.25, (struct made_job){"B", 2, 1, 8, 12, 0, .rate_bps = 1e6});
    struct interference_set s = load(&f, 2, (struct interference_load){0});
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_false(a.overlaps);
    interference_verdict(&s, &a, &words);
    assert_non_null(strstr(wr_str_get(&words), "A has ended before B begins, 3 s later"));
    assert_non_null(strstr(wr_str_get(&words), "clocks disagree"));
    wr_str_fini(&words);
    interference_analysis_fini(&a);
    interference_set_fini(&s);
    /* Laid together by their beginnings they do meet. */
    s = load(&f, 2, (struct interference_load){.align = INTERFERENCE_BY_START});
    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_true(a.overlaps && fabs(a.overlap_s - 4) <= 0.5);
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

/* Processes that take turns are never all active; some process of each job always is. */
static void turns_are_an_overlap_of_jobs_and_not_of_processes(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch, 0.25, (struct made_job){"A", 2, 1, 0, 5, 5, .rate_bps = 1e6});
    make_one(f.path[1], epoch, 0.25, (struct made_job){"B", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    struct interference_set s = load(&f, 2, (struct interference_load){0});
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_false(a.overlaps);
    interference_analysis_fini(&a);
    interference_analyse(&a, &s, NULL, INTERFERENCE_ANY_PROCESS);
    assert_true(a.overlaps && fabs(a.overlap_s - 9.5) < 1e-9);
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

static void two_jobs_in_one_simulated_run_are_compared(void **state)
{
    struct place *p = *state;
    struct files f = name_files(p);
    struct made_job jobs[] = {{"A", 2, 1, 0, 4e-3, 0, .rate_bps = 1e9},
                              {"B", 2, 1, 1e-3, 5e-3, 0, .rate_bps = 2e9}};

    make_run(f.path[0], &(struct made_run){.slice_s = 1e-4, .job = jobs, .njobs = 2});
    struct interference_set s = load(&f, 1, (struct interference_load){0});
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_false(s.clocked);
    assert_int_equal(s.njobs, 2);
    assert_true(fabs(a.overlap_s - 3e-3) <= 2.01e-4);
    assert_near(a.job[1].share, 2 / 3.);
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

static void a_job_without_series_of_its_processes_counts_as_a_whole(void **state)
{
    struct files f = name_files(*state);
    struct made_job job = {"A", 4, 1, 0, 10, 0, .rate_bps = 1e6};

    make_run(f.path[0],
             &(struct made_run){
                 .epoch_ns = epoch, .slice_s = 0.5, .job = &job, .njobs = 1, .whole_only = true});
    struct interference_set s = load(&f, 1, (struct interference_load){0});
    struct interference_analysis a;

    interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
    assert_near(s.job[0].volume_b, 40e6);
    assert_int_equal(s.job[0].nranks, 4);
    assert_true(isnan(a.job[0].spread));
    assert_true(noted(&s, "counts as a whole"));
    interference_analysis_fini(&a);
    interference_set_fini(&s);
}

static void slices_of_different_lengths_are_laid_together_when_they_fit(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch, 0.25, (struct made_job){"A", 2, 1, 1, 11, 0, .rate_bps = 1e6});
    make_one(f.path[1], epoch, 1, (struct made_job){"B", 2, 1, 1, 11, 0, .rate_bps = 1e6});
    struct interference_set s = load(&f, 2, (struct interference_load){0});

    assert_true(s.slice_s == 1);
    assert_near(s.job[0].volume_b, 20e6);
    assert_near(interference_job_bytes(&s, &s.job[0], 5), 2e6);
    assert_true(noted(&s, "the longer are used"));
    interference_set_fini(&s);
    make_one(f.path[1], epoch, 0.3, (struct made_job){"B", 2, 1, 1, 11, 0, .rate_bps = 1e6});
    refused(&f, 2, (struct interference_load){0}, "do not fit");
    refused(&f, 2, (struct interference_load){.slice_s = 0.1}, "shorter");
    s = load(&f, 2, (struct interference_load){.slice_s = 0.5});
    assert_near(s.job[1].volume_b, 20e6);
    assert_near(interference_job_bytes(&s, &s.job[1], 10), 1e6);
    assert_true(noted(&s, "spread evenly"));
    interference_set_fini(&s);
}

static void origins_that_lie_between_edges_are_said(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch, 0.5, (struct made_job){"A", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    make_one(f.path[1], epoch + 200000000, 0.5,
             (struct made_job){"B", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    struct interference_set s = load(&f, 2, (struct interference_load){0});

    assert_true(noted(&s, "do not begin on the edges"));
    assert_near(s.job[1].volume_b, 10e6);
    assert_near(s.job[1].start_s, 0.2);
    interference_set_fini(&s);
}

static void runs_of_other_times_are_placed_by_the_clock(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch + 3000000000, 0.25,
             (struct made_job){"A", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    make_one(f.path[1], epoch, 0.25, (struct made_job){"A", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    struct interference_set s = load(&f, 2, (struct interference_load){0});

    assert_true(s.clocked);
    assert_int_equal(s.epoch_ns, epoch);
    assert_near(s.job[0].start_s, 3);
    /* Jobs with one name are distinguished by their files. */
    assert_string_equal(s.job[0].name, "A@0.weir");
    assert_string_equal(s.job[1].name, "A@1.weir");
    interference_set_fini(&s);
}

static void a_slice_much_longer_than_the_run_holds_all_of_it(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], 0, 0.25, (struct made_job){"A", 2, 1, 0, 10, 0, .rate_bps = 1e6});
    struct interference_set s = load(&f, 1, (struct interference_load){.slice_s = 1e8});

    assert_int_equal(s.nslices, 1);
    assert_true(fabs(interference_job_bytes(&s, &s.job[0], 0) - 2e7) < 1);
    interference_set_fini(&s);
}

static void a_clock_that_jumped_is_said(void **state)
{
    struct files f = name_files(*state);
    struct made_job job = {"A", 1, 1, 0, 10, 0, .rate_bps = 1e6};

    make_run(f.path[0], &(struct made_run){.epoch_ns = epoch,
                                           .slice_s = 0.25,
                                           .job = &job,
                                           .njobs = 1,
                                           .clock_step_ns = -2000000000});
    struct interference_set s = load(&f, 1, (struct interference_load){0});

    assert_true(noted(&s, "jumped by 2 s"));
    interference_set_fini(&s);
}

static void measured_and_simulated_runs_are_not_mixed_silently(void **state)
{
    struct files f = name_files(*state);

    make_one(f.path[0], epoch, 0.25, (struct made_job){"A", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    make_one(f.path[1], 0, 0.25, (struct made_job){"B", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    refused(&f, 2, (struct interference_load){0}, "set align to start");
    struct interference_set s =
        load(&f, 2, (struct interference_load){.align = INTERFERENCE_BY_START});

    assert_int_equal(s.njobs, 2);
    interference_set_fini(&s);
}

static void empty_and_damaged_runs_are_refused(void **state)
{
    struct files f = name_files(*state);

    complete(create(f.path[0]));
    refused(&f, 1, (struct interference_load){0}, "no slices");
    make_one(f.path[0], epoch, 0.25, (struct made_job){"A", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    refused(&f, 1, (struct interference_load){.op = INTERFERENCE_READ}, "no slices");
    if (truncate(f.path[0], 5000))
        fail();
    struct wr_err err = {0};
    struct interference_set s;
    const char *path = f.path[0];

    assert_false(interference_load(&s, &path, 1, &(struct interference_load){0}, &err));
    assert_non_null(strstr(err.text, "0.weir"));
    /* Two centuries apart: no grid holds both. */
    make_one(f.path[0], epoch, 0.25, (struct made_job){"A", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    make_one(f.path[1], 7000000000000000000, 0.25,
             (struct made_job){"B", 1, 1, 0, 10, 0, .rate_bps = 1e6});
    refused(&f, 2, (struct interference_load){0}, "far apart");
}

static void a_job_that_moves_nothing_is_left_out_and_said(void **state)
{
    struct files f = name_files(*state);
    struct made_job jobs[] = {{"A", 2, 1, 0, 4, 0, .rate_bps = 1e6},
                              {"B", 2, 1, 0, 4, .rate_bps = 0}};

    make_run(f.path[0], &(struct made_run){.slice_s = 0.25, .job = jobs, .njobs = 2});
    struct interference_set s = load(&f, 1, (struct interference_load){0});

    assert_int_equal(s.njobs, 1);
    assert_true(noted(&s, "Job B"));
    interference_set_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(an_overlap_is_found_within_one_slice),
        IN_PLACE(throughputs_shares_and_ratios_are_exact),
        IN_PLACE(the_io_phase_is_the_run_time_where_it_is_recorded),
        IN_PLACE(uneven_processes_are_seen),
        IN_PLACE(processes_that_never_write_do_not_count),
        IN_PLACE(jobs_that_never_meet_have_no_overlap),
        IN_PLACE(turns_are_an_overlap_of_jobs_and_not_of_processes),
        IN_PLACE(two_jobs_in_one_simulated_run_are_compared),
        IN_PLACE(a_job_without_series_of_its_processes_counts_as_a_whole),
        IN_PLACE(slices_of_different_lengths_are_laid_together_when_they_fit),
        IN_PLACE(origins_that_lie_between_edges_are_said),
        IN_PLACE(a_slice_much_longer_than_the_run_holds_all_of_it),
        IN_PLACE(runs_of_other_times_are_placed_by_the_clock),
        IN_PLACE(a_clock_that_jumped_is_said),
        IN_PLACE(measured_and_simulated_runs_are_not_mixed_silently),
        IN_PLACE(empty_and_damaged_runs_are_refused),
        IN_PLACE(a_job_that_moves_nothing_is_left_out_and_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
