/* cmd_study_show.c -- `weir study show DIR`: times of each job in each combination, means over
 * seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_table.h"
#include "cli/cmd_study.h"
#include "report/runs.h"
#include "run/reader.h"

struct show_opts {
    bool each, csv, json;
    struct cli_list metrics;
};

static const struct cli_opt show_rows[] = {
    {.name = "each",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, each),
     .help = "one line for each seed, instead of means over the seeds"},
    {.name = "metric",
     .type = CLI_LIST,
     .offset = offsetof(struct show_opts, metrics),
     .value = "KEY",
     .help = "a column more: this number of the runs' summaries; may be given several times; runs "
             "of `stack` show bandwidth and calls per second without being asked"},
    CLI_CSV(struct show_opts, csv),
    CLI_JSON(struct show_opts, json),
    CLI_OPT_END,
};

/* The measures that have a column, and one for their slowdown. */
static const struct {
    enum report_measure what;
    const char *name, *title, *slow_name, *slow_title;
    double unit_ns;
} columns[] = {
    {REPORT_ELAPSED, "elapsed_ns", "elapsed ms", "elapsed_slowdown", "x", 1e6},
    {REPORT_COMM, "comm_ns", "comm ms", "comm_slowdown", "x", 1e6},
    {REPORT_IO, "io_ns", "I/O ms", "io_slowdown", "x", 1e6},
    {REPORT_MESSAGE, "latency_ns", "latency us", "latency_slowdown", "x", 1e3},
};

enum { NCOLUMNS = sizeof columns / sizeof *columns };

/* What is printed; filled before the first row. */
struct shown {
    const struct report_runs *runs;
    bool loads[REPORT_MOST_AXES]; /* axes on which the jobs differ */
    bool each;                    /* a row per run instead of the mean over seeds */
    enum cli_format format;
    const char *const *metric;
    size_t nmetrics;
    double *value; /* [runs][metrics] */
};

static const char *const of_stack[] = {"write_bytes_per_s", "read_bytes_per_s", "write_iops",
                                       "read_iops"};

static double study_show_read_metric(const char *path, const char *key)
{
    struct wr_err ignored;
    struct run_reader *r;
    struct run_rows *rows = NULL;
    double value = NAN;
    bool more = false;

    if (!run_open(&r, path, &ignored))
        return NAN;
    if (run_query(&rows, r, "SELECT value FROM summary WHERE key = ?1", &key, 1, &ignored) &&
        run_rows_next(rows, &more, &ignored) && more)
        value = run_rows_real(rows, 0);
    run_rows_close(rows);
    run_close(r);
    return value;
}

static void study_show_read_metrics(struct shown *s)
{
    const struct report_runs *runs = s->runs;

    if (!s->nmetrics && runs->member.n &&
        !isnan(study_show_read_metric(runs->member.v[0].path, of_stack[0]))) {
        s->metric = of_stack;
        s->nmetrics = sizeof of_stack / sizeof *of_stack;
    }
    s->value = wr_zalloc(runs->member.n * s->nmetrics + 1, sizeof *s->value);
    for (size_t i = 0; i < runs->member.n; i++)
        for (size_t k = 0; k < s->nmetrics; k++)
            s->value[i * s->nmetrics + k] =
                study_show_read_metric(runs->member.v[i].path, s->metric[k]);
}

/* The mean over the seeds, as of the other columns. */
static double study_show_mean_metric(const struct shown *s, const struct report_member *m,
                                     size_t metric)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->runs->member.n; i++) {
        const struct report_member *o = &s->runs->member.v[i];
        double value = s->value[i * s->nmetrics + metric];

        if ((o != m && (s->each || !m->nchoices || !report_alike(m, o, NULL))) || isnan(value))
            continue;
        sum += value;
        n++;
    }
    return n ? sum / (double)n : NAN;
}

/* Is it the first of the runs that are one line? */
static bool study_show_is_first(const struct shown *s, size_t i)
{
    for (size_t k = 0; k < i && !s->each; k++)
        if (report_alike(&s->runs->member.v[k], &s->runs->member.v[i], NULL) &&
            s->runs->member.v[i].nchoices)
            return false;
    return true;
}

/* The mean over the seeds of what the job took in runs like `m`; `alone`: in its baseline. */
static double study_show_mean_of(const struct shown *s, const struct report_member *m,
                                 const char *job, enum report_measure what, bool alone,
                                 size_t *ret_n)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->runs->member.n; i++) {
        const struct report_member *o = &s->runs->member.v[i];
        const struct report_job *j = report_job_named(o, job);
        bool same = o == m || (m->nchoices && !s->each && report_alike(m, o, NULL));

        if (alone)
            same = m->nchoices && o->njobs == 1 && report_alike(m, o, s->loads) &&
                   (!s->each || o->seed == m->seed);
        if (!j || !same || isnan(j->ns[what]))
            continue;
        sum += j->ns[what];
        n++;
    }
    *ret_n = n;
    return n ? sum / (double)n : NAN;
}

static void study_show_print_job(struct cli_table *t, const struct shown *s,
                                 const struct report_member *m, const struct report_job *job)
{
    const struct report_member *first = &s->runs->member.v[0];
    size_t n, nbase;

    for (size_t a = 0; a < first->nchoices; a++) {
        const char *label = report_label(m, first->choice[a].axis);

        if (!strcmp(first->choice[a].axis, "seed") && !s->each)
            continue;
        if (label)
            cli_table_text(t, label);
        else
            cli_table_null(t);
    }
    if (!first->nchoices)
        cli_table_text(t, m->path);
    cli_table_text(t, job->name);
    study_show_mean_of(s, m, job->name, REPORT_ELAPSED, false, &n);
    cli_table_int(t, (int64_t)n);
    for (size_t i = 0; i < NCOLUMNS; i++) {
        double took = study_show_mean_of(s, m, job->name, columns[i].what, false, &n);
        double alone = study_show_mean_of(s, m, job->name, columns[i].what, true, &nbase);

        cli_table_real(t, s->format == CLI_AS_TEXT ? took / columns[i].unit_ns : took);
        cli_table_real(t, nbase && alone > 0 ? took / alone : NAN);
    }
    for (size_t i = 0; i < s->nmetrics; i++)
        cli_table_real(t, study_show_mean_metric(s, m, i));
}

static struct cli_table *study_show_open_table(const struct cli_call *call, const struct shown *s)
{
    const struct report_member *first = &s->runs->member.v[0];
    struct cli_column *c = wr_arena_alloc(
        call->arena, (REPORT_MOST_AXES + 3 + 2 * NCOLUMNS + s->nmetrics) * sizeof *c);
    int n = 0;

    for (size_t a = 0; a < first->nchoices; a++)
        if (s->each || strcmp(first->choice[a].axis, "seed") != 0)
            c[n++] = (struct cli_column){first->choice[a].axis, NULL};
    if (!first->nchoices)
        c[n++] = (struct cli_column){"run", NULL};
    c[n++] = (struct cli_column){"job", NULL};
    c[n++] = (struct cli_column){"seeds", NULL};
    for (size_t i = 0; i < NCOLUMNS; i++) {
        c[n++] = (struct cli_column){columns[i].name, columns[i].title};
        c[n++] = (struct cli_column){columns[i].slow_name, columns[i].slow_title};
    }
    for (size_t i = 0; i < s->nmetrics; i++)
        c[n++] = (struct cli_column){s->metric[i], NULL};
    return cli_table_open(call->out, s->format, c, n);
}

static void study_show_print(const struct cli_call *call, const struct shown *s)
{
    struct cli_table *t = study_show_open_table(call, s);
    const struct report_runs *runs = s->runs;

    for (size_t i = 0; i < runs->member.n; i++)
        for (size_t k = 0; study_show_is_first(s, i) && k < runs->member.v[i].njobs; k++)
            study_show_print_job(t, s, &runs->member.v[i], &runs->member.v[i].job[k]);
    cli_table_close(t);
    if (s->format != CLI_AS_TEXT)
        return;
    const struct report_member *first = &runs->member.v[0];

    if ((size_t)first->of > runs->member.n)
        fprintf(call->out, "\n%zu of %lld runs are complete; `weir study run` makes the others\n",
                runs->member.n, (long long)first->of);
    fputs(
        "\nx: how many times as long as in the run where the job is alone, all other choices being "
        "the same\n",
        call->out);
}

static int study_show_main(const struct cli_call *call, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    struct shown s = {.each = o->each, .metric = o->metrics.v, .nmetrics = o->metrics.n};
    struct report_runs runs;

    if (!cli_format_of(o->json, o->csv, &s.format, err) ||
        !report_runs_open(&runs, (const char *const *)call->args, (size_t)call->nargs, err))
        return cli_error(err);
    s.runs = &runs;
    report_workload_axes(&runs, s.loads);
    study_show_read_metrics(&s);
    study_show_print(call, &s);
    free(s.value);
    report_runs_close(&runs);
    return 0;
}

const struct cli_verb cli_study_show = {
    .name = "show",
    .summary = "compare the runs of a study in one table",
    .args = "DIR...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Prints for each combination and each of its jobs the mean over the ranks of the elapsed "
        "time, the communication and the I/O, and the mean latency of its messages; and how many "
        "times as long each takes as in the job's baseline: the run in which it is alone, all "
        "other "
        "choices being the same. Runs that differ in the axis `seed` alone are one line.\n\n"
        "DIR:axis=choice,... leaves out runs with other choices; keep the baselines in. Run "
        "files may be given, too. `weir compare` says how certain a slowdown is, and why it is.",
    .examples = "weir study show placements\n"
                "weir study show placements:routing=par --csv\n",
    .opts = show_rows,
    .opts_size = sizeof(struct show_opts),
    .main = study_show_main,
};
