/* Experiments: the plan, the commands, what is run again and what is not, and the tables. */
#include "interference_help.h"

#include <dirent.h>

#include "interference/experiment/experiment.h"

static const int64_t epoch = 1794767908000000000;

static bool open_text(struct experiment *l, const struct place *p, const char *text,
                      struct wr_err *err)
{
    *err = (struct wr_err){0};
    return experiment_open_text(l, "t.yaml", text, strlen(text), p->path, err);
}

static void every_size_and_pair_is_planned_round_robin(void **state)
{
    struct wr_err err;
    struct experiment l;

    must(open_text(&l, *state, "command: x {run}\nsizes: [1, 4]\nmodes: [a, b]\nrepetitions: 2\n",
                   &err),
         err);
    /* Two alone and three pairs, in two modes, twice. */
    assert_int_equal(l.trials.n, 20);
    assert_string_equal(l.trials.v[0].id, "a.1.r1");
    assert_string_equal(l.trials.v[3].id, "a.1+4.r1");
    assert_string_equal(l.trials.v[5].id, "b.1.r1");
    assert_string_equal(l.trials.v[19].id, "b.4+4.r2");
    experiment_close(&l);
    must(open_text(&l, *state, "command: x\nsizes: [1, 2, 4]\ntogether: [1+2+4]\nrepetitions: 1\n",
                   &err),
         err);
    assert_int_equal(l.trials.n, 4);
    assert_int_equal(l.trials.v[3].n, 3);
    assert_false(experiment_writes_run(&l));
    experiment_close(&l);
}

/* A report takes the trials that there are: a file that plans millions makes it no longer, and the
 * first repetition may be missing. */
static void trials_are_found_by_the_names_of_runs(void **state)
{
    static const char *const names[] = {"a.4.r1.P",   "a.1+4.r3.Q", "a.1.r2.P",  "a.1+4.r3.P",
                                        "a.1+4.r1.P", "a.1+4.r2.Q", "a.1+4.r2.P"};
    const struct place *p = *state;
    char spec[160], path[7][160];
    const char *runs[7];
    struct wr_err err = {0};
    struct experiment l;

    snprintf(spec, sizeof spec, "%s/experiment.yaml", p->dir);
    FILE *f = fopen(spec, "w");
    assert_non_null(f);
    fputs("command: x {run}\nsizes: [1, 4]\nmodes: [a, b]\nrepetitions: 1000\noutliers: mad\n", f);
    fclose(f);
    for (size_t i = 0; i < 7; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s.weir", p->dir, names[i]);
        runs[i] = path[i];
    }
    must(experiment_open_runs(&l, spec, p->dir, runs, 7, &err), err);
    assert_int_equal(l.spec.outliers, STAT_OUTLIER_MAD);
    assert_int_equal(l.trials.n, 4); /* the second job of a.1+4.r1 is missing */
    assert_string_equal(l.trials.v[0].id, "a.1.r2");
    assert_string_equal(l.trials.v[1].id, "a.4.r1");
    assert_string_equal(l.trials.v[2].id, "a.1+4.r2");
    assert_string_equal(l.trials.v[3].id, "a.1+4.r3");
    assert_true(experiment_is_first(&l, 0) && experiment_is_first(&l, 2));
    assert_false(experiment_is_first(&l, 3));
    experiment_close(&l);
}

static void a_command_gets_its_values(void **state)
{
    struct experiment_values v = {"/s/P", "/t/path", "/o/it's.weir", 1794767908.25};
    struct wr_str got = {0};
    struct wr_err err;
    struct experiment l;

    must(open_text(&l, *state,
                   "command: 'c {size} {mode} {name} {repetition} {slice} {begin} {dir} {path} "
                   "{run} ${{X}}'\n"
                   "sizes: [3, 5]\nslice: 250 ms\npath: {rate: 1 MB/s}\n",
                   &err),
         err);
    experiment_command(&l, &l.trials.v[3], 1, &v, &got);
    assert_string_equal(wr_str_get(&got), "c 5 'private' Q 1 250000000ns 1794767908.250000 '/s/P' "
                                          "'/t/path' '/o/it'\\''s.weir' ${X}");
    wr_str_fini(&got);
    experiment_close(&l);
}

static void a_spec_that_makes_no_sense_is_refused(void **state)
{
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"sizes: [1]\n", "command"},
        {"command: x\n", "sizes"},
        {"command: x\nsizes: []\n", "from 1 to 100"},
        {"command: x\nsizes: [1, 1]\n", "twice"},
        {"command: x\nsizes: [0]\n", "t.yaml:2"},
        {"command: x {sze}\nsizes: [1]\n", "stands for nothing"},
        {"command: x {size\nsizes: [1]\n", "alone"},
        {"command: x }\nsizes: [1]\n", "alone"},
        {"command: x {path}\nsizes: [1]\n", "there is no path"},
        {"command: x\nsizes: [1]\nmodes: [a/b]\n", "files' names"},
        {"command: x\nsizes: [1]\ntogether: [1+2]\n", "not among the sizes"},
        {"command: x\nsizes: [1]\ntogether: [1]\n", "not together"},
        {"command: x\nsizes: [1]\ntogether: [1+x]\n", "write 1+4"},
        {"command: x\nsizes: [1]\ntogether: [1+1+1+1+1+1+1+1+1]\n", "at most 8"},
        {"command: x\nsizes: [1]\nslice: 1 ms\n", "t.yaml:3"},
        {"command: x\nsize: [1]\n", "did you mean"},
    };
    struct wr_err err;
    struct experiment l;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (open_text(&l, *state, bad[i].text, &err))
            fail_msg("%s was taken", bad[i].text);
        if (!strstr(err.text, bad[i].word) || strncmp(err.text, "t.yaml", 6) != 0)
            fail_msg("\"%s\" does not speak of \"%s\"", err.text, bad[i].word);
    }
}

static int files_with(const char *dir, const char *word)
{
    DIR *d = opendir(dir);
    int n = 0;

    for (struct dirent *e; d && (e = readdir(d));)
        n += strstr(e->d_name, word) != NULL;
    if (d)
        closedir(d);
    return n;
}

static void run(const struct experiment *l, bool *interrupted, struct wr_err *err)
{
    *err = (struct wr_err){0};
    must(experiment_run(l, NULL, NULL, interrupted, err), *err);
}

/* A command that leaves a line for each time it is run, and copies a run file that was made. */
static char *copying(const struct place *p, const char *more)
{
    struct wr_str text = {0};

    wr_str_addf(&text,
                "command: echo {size} >> %s/count; touch {dir}/x; cp %s/{name}.weir {run}%s\n"
                "sizes: [1, 3]\nrepetitions: 2\ndirectory: %s\n",
                p->dir, p->dir, more, p->dir);
    return text.s;
}

static int count_lines(const struct place *p)
{
    char path[200];
    int n = 0, c;

    snprintf(path, sizeof path, "%s/count", p->dir);
    FILE *f = fopen(path, "r");

    while (f && (c = fgetc(f)) != EOF)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

static void make_sources(const struct place *p)
{
    char path[200];

    snprintf(path, sizeof path, "%s/P.weir", p->dir);
    make_one(path, epoch, 0.25, (struct made_job){"P", 1, 1, 0, 10, .rate_bps = 1e6});
    snprintf(path, sizeof path, "%s/Q.weir", p->dir);
    make_one(path, epoch, 0.25, (struct made_job){"Q", 3, 1, 0, 20, .rate_bps = 1e6});
}

static void what_is_done_is_not_run_again(void **state)
{
    struct place *p = *state;
    char *text = copying(p, "");
    bool interrupted = true;
    struct wr_err err;
    struct experiment l;

    make_sources(p);
    must(open_text(&l, p, text, &err), err);
    run(&l, &interrupted, &err);
    assert_false(interrupted);
    /* Twice: two alone, three pairs of two jobs. */
    assert_int_equal(count_lines(p), 16);
    assert_int_equal(files_with(p->path, ".weir"), 16);
    assert_int_equal(files_with(p->path, ".log"), 0);
    assert_int_equal(files_with(p->dir, ".weir-experiment"), 0);
    run(&l, &interrupted, &err);
    assert_int_equal(count_lines(p), 16);
    /* One run file is gone: its trial is run again, and no other. */
    unlink(experiment_run_path(&l, &l.trials.v[3], 1, &l.arena));
    assert_false(experiment_done(&l, &l.trials.v[3]));
    run(&l, &interrupted, &err);
    assert_int_equal(count_lines(p), 18);
    assert_true(experiment_done(&l, &l.trials.v[3]));
    experiment_close(&l);
    free(text);
}

static void another_experiment_does_not_mix_in(void **state)
{
    struct place *p = *state;
    char *text = copying(p, ""), *other = copying(p, "; true");
    bool interrupted;
    struct wr_err err;
    struct experiment l;

    make_sources(p);
    must(open_text(&l, p, text, &err), err);
    run(&l, &interrupted, &err);
    experiment_close(&l);
    must(open_text(&l, p, other, &err), err);
    assert_false(experiment_run(&l, NULL, NULL, &interrupted, &err));
    assert_non_null(strstr(err.text, "another command"));
    experiment_close(&l);
    free(text);
    free(other);
}

static void a_job_that_fails_ends_the_experiment_and_leaves_its_words(void **state)
{
    struct place *p = *state;
    char *text = copying(p, "; test {size} = 1 || {{ echo broken; exit 7; }}");
    bool interrupted;
    struct wr_err err;
    struct experiment l;

    make_sources(p);
    must(open_text(&l, p, text, &err), err);
    assert_false(experiment_run(&l, NULL, NULL, &interrupted, &err));
    assert_non_null(strstr(err.text, "private.3.r1: job P ended with status 7"));
    /* What was done stays, what failed does not, and its output can be read. */
    assert_true(experiment_done(&l, &l.trials.v[0]));
    assert_false(experiment_done(&l, &l.trials.v[1]));
    assert_int_equal(files_with(p->path, "private.3.r1.P.weir"), 0);
    assert_int_equal(files_with(p->path, "private.3.r1.log"), 1);
    assert_int_equal(files_with(p->dir, ".weir-experiment"), 0);
    experiment_close(&l);
    free(text);
}

static void a_command_that_writes_no_run_file_is_said(void **state)
{
    struct place *p = *state;
    struct wr_err err;
    bool interrupted;
    struct experiment l;

    must(open_text(&l, p, "command: true {run}\nsizes: [1]\ndirectory: /tmp\n", &err), err);
    assert_false(experiment_run(&l, NULL, NULL, &interrupted, &err));
    assert_non_null(strstr(err.text, "no complete run file"));
    experiment_close(&l);
}

static int polls;

static bool soon(void)
{
    return ++polls > 5;
}

static void a_stopped_experiment_ends_its_jobs_and_cleans_up(void **state)
{
    struct place *p = *state;
    bool interrupted = false;
    struct wr_err err;
    struct experiment l;
    struct wr_str text = {0};

    wr_str_addf(&text, "command: sleep 300; echo {run}\nsizes: [1]\ndirectory: %s\n", p->dir);
    must(open_text(&l, p, text.s, &err), err);
    polls = 0;
    must(experiment_run(&l, NULL, soon, &interrupted, &err), err);
    assert_true(interrupted);
    assert_int_equal(files_with(p->path, ".weir"), 0);
    assert_int_equal(files_with(p->dir, ".weir-experiment"), 0);
    experiment_close(&l);
    /* The same when it takes too long. */
    text.n = 0;
    wr_str_addf(&text,
                "command: sleep 300; echo {run}\nsizes: [1]\ndirectory: %s\ntimeout: 200 ms\n",
                p->dir);
    must(open_text(&l, p, text.s, &err), err);
    assert_false(experiment_run(&l, NULL, NULL, &interrupted, &err));
    assert_non_null(strstr(err.text, "longer"));
    experiment_close(&l);
    wr_str_fini(&text);
}

/* Alone: 10 MB in 10 s with one process, 60 MB in 20 s with three; both were made. */
static void the_tables_are_means_of_what_was_run(void **state)
{
    struct place *p = *state;
    char path[260];
    struct experiment_tables t;
    struct wr_err err;
    struct experiment l;

    must(open_text(&l, p, "command: x {run}\nsizes: [1, 3]\nrepetitions: 5\n", &err), err);
    assert_false(experiment_tables(&t, &l, &err));
    assert_non_null(strstr(err.text, "no run"));
    mkdir(p->path, 0777);
    for (uint32_t r = 1; r <= 5; r++) {
        /* The last repetition is disturbed: three times as slow. */
        double slow = r == 5 ? 3 : 1;

        snprintf(path, sizeof path, "%s/private.1.r%u.P.weir", p->path, r);
        make_one(path, epoch, 0.25,
                 (struct made_job){"a", 1, 1, 0, 10 * slow, .rate_bps = 3e6 / slow});
        snprintf(path, sizeof path, "%s/private.3.r%u.P.weir", p->path, r);
        make_one(path, epoch, 0.25,
                 (struct made_job){"b", 3, 3, 0, 10 * slow, .rate_bps = 1e6 / slow});
        /* Together by process: 0.75 and 3 * 0.75 MB/s for 13.33 s, then one alone. */
        snprintf(path, sizeof path, "%s/private.1+3.r%u.P.weir", p->path, r);
        make_one(path, epoch, 0.25, (struct made_job){"a", 1, 1, 0, 20, .rate_bps = 1.5e6});
        snprintf(path, sizeof path, "%s/private.1+3.r%u.Q.weir", p->path, r);
        make_one(path, epoch, 0.25, (struct made_job){"b", 3, 3, 0, 40 / 3., .rate_bps = 0.75e6});
    }
    must(experiment_tables(&t, &l, &err), err);
    assert_int_equal(t.cells.n, 3);
    const struct experiment_cell *one = &t.cells.v[0], *pair = &t.cells.v[2];

    assert_int_equal(one->runs, 5);
    assert_int_equal(one->kept, 4); /* the slow one lies 1.8 deviations off */
    assert_true(fabs(one->job[0].overall_bps.mean - 3e6) < 1);
    assert_int_equal(pair->n, 2);
    assert_int_equal(pair->job[1].processes, 3);
    assert_true(fabs(pair->job[0].overlap_bps.mean - 1.5e6) < 1);
    assert_true(fabs(pair->job[1].overlap_bps.mean - 2.25e6) < 1);
    assert_true(fabs(pair->overlap_s - 13.25) < 0.3);
    /* 30 MB each at 3 MB/s: by processes 1 : 3. */
    assert_true(fabs(pair->job[1].model_s[INTERFERENCE_RULE_PROCESSES] - 40 / 3.) < 0.01);
    assert_true(fabs(pair->job[1].equations_s - 40 / 3.) < 0.01);
    assert_true(fabs(pair->job[0].equations_s - 20) < 0.01);
    assert_true(fabs(pair->job[0].model_s[INTERFERENCE_RULE_JOBS] - 20) < 0.01);
    experiment_tables_fini(&t);
    experiment_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(every_size_and_pair_is_planned_round_robin),
        IN_PLACE(trials_are_found_by_the_names_of_runs),
        IN_PLACE(a_command_gets_its_values),
        IN_PLACE(a_spec_that_makes_no_sense_is_refused),
        IN_PLACE(what_is_done_is_not_run_again),
        IN_PLACE(another_experiment_does_not_mix_in),
        IN_PLACE(a_job_that_fails_ends_the_experiment_and_leaves_its_words),
        IN_PLACE(a_command_that_writes_no_run_file_is_said),
        IN_PLACE(a_stopped_experiment_ends_its_jobs_and_cleans_up),
        IN_PLACE(the_tables_are_means_of_what_was_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
