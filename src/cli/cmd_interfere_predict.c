/* cmd_interfere_predict.c -- `weir interfere predict`: run times of jobs put together. */
#include <math.h>
#include <string.h>

#include "cli/cli_table.h"
#include "cli/interfere.h"
#include "cli/interfere_predict.h"
#include "interference/interference_cases.h"

static const struct cli_opt predict_rows[] = {
    {.name = "cases",
     .type = CLI_TEXT,
     .offset = offsetof(struct interfere_predict_opts, cases),
     .value = "FILE",
     .help = "read capacities and jobs from a JSON file of cases"},
    {.name = "capacity",
     .type = CLI_TEXT,
     .offset = offsetof(struct interfere_predict_opts, capacity),
     .value = "RATE",
     .help = "what the server carries, as in \"110 MiB/s\"; several with commas: while one, two, "
             "... jobs are active, the last for more"},
    {.name = "job",
     .type = CLI_LIST,
     .offset = offsetof(struct interfere_predict_opts, jobs),
     .value = "KEY=VALUE,...",
     .help = "one job: volume=16GB, and where it has them name=A, nodes=3, processes=36, "
             "weight=2.5, start=5s, cap=50MiB/s; may be given several times"},
    {.name = "weights",
     .type = CLI_CHOICE,
     .offset = offsetof(struct interfere_predict_opts, weights),
     .value = "BY",
     .def = "auto",
     .help = "what a job weighs that has no weight: the number of its nodes, of its processes, all "
             "equal, or what the overlaps of the run files show: auto, which is nodes without any",
     .names = interference_weights_names},
    {.name = "from-run",
     .former = "from",
     .type = CLI_LIST,
     .offset = offsetof(struct interfere_predict_opts, from),
     .value = "RUN",
     .help = "learn the capacity and what jobs reach alone from a run file, or from all in a "
             "directory; may be given several times"},
    {.name = "together",
     .type = CLI_FLAG,
     .offset = offsetof(struct interfere_predict_opts, together),
     .help = "learn also from runs of several jobs what the server carries with so many active"},
    {.name = "mode",
     .type = CLI_TEXT,
     .offset = offsetof(struct interfere_predict_opts, mode),
     .value = "MODE",
     .help = "with --from-run and --job: the jobs' mode of file, private or shared"},
    {.name = "op",
     .type = CLI_CHOICE,
     .offset = offsetof(struct interfere_predict_opts, op),
     .value = "OP",
     .def = "write",
     .help = "which bytes of run files count",
     .names = interference_op_names},
    {.name = "schedule",
     .type = CLI_FLAG,
     .offset = offsetof(struct interfere_predict_opts, schedule),
     .help = "print how much each job gets from when to when"},
    {.name = "check",
     .type = CLI_FLAG,
     .offset = offsetof(struct interfere_predict_opts, check),
     .help = "compare with what the cases expect; status 1 when one differs"},
    CLI_JSON(struct interfere_predict_opts, json),
    CLI_OPT_END,
};

static bool predict_open_cases(struct interference_cases *ret,
                               const struct interfere_predict_opts *o, struct wr_err *err)
{
    enum interference_weights by = o->weights == INTERFERENCE_WEIGHT_AUTO
                                       ? INTERFERENCE_WEIGHT_NODES
                                       : (enum interference_weights)o->weights;

    if (o->cases && (o->capacity || o->jobs.n))
        return wr_fail(err, WR_INPUT,
                       "--cases brings its own jobs; leave out --capacity and --job");
    if (o->cases && o->from.n)
        return wr_fail(err, WR_INPUT, "--cases brings its own capacity; leave out --from-run");
    if (o->cases)
        return interference_cases_read(ret, o->cases, by, err);
    if (!o->jobs.n)
        return wr_fail(err, WR_INPUT, "there are no jobs; give --job volume=16GB, or --cases FILE");
    if (o->from.n)
        return interfere_predict_asked(ret, o, err);
    if (!o->capacity)
        return wr_fail(err, WR_INPUT,
                       "the capacity is missing; give it as in --capacity \"110 MiB/s\"");
    return interference_cases_words(ret, o->capacity, o->jobs.v, o->jobs.n, by, err);
}

/* Columns that one case alone does not need come first. */
static const struct cli_column time_columns[] = {
    {"case", NULL},
    {"job", NULL},
    {"weight", NULL},
    {"weight_from", "from"},
    {"start_s", "start, s"},
    {"alone_s", "alone, s"},
    {"runtime_s", "together, s"},
    {"slowdown", NULL},
    {"finish_s", "done at, s"},
    {"throughput_mib_s", "MiB/s"},
};

static void predict_cell_times(struct cli_table *t, const struct interference_case *c,
                               const struct stat_share *s, bool one)
{
    for (size_t i = 0; i < c->napps; i++) {
        double alone = c->job[i].volume / fmin(c->job[i].cap, c->capacity.by_active[0]);

        if (!one)
            cli_table_text(t, c->id);
        cli_table_text(t, c->app[i].name);
        cli_table_real(t, c->job[i].weight);
        cli_table_text(t, c->app[i].weight_from);
        cli_table_real(t, c->job[i].start);
        cli_table_real(t, alone);
        cli_table_real(t, s->runtime[i]);
        cli_table_real(t, s->runtime[i] / alone);
        cli_table_real(t, s->finish[i]);
        cli_table_real(t, c->job[i].volume / s->runtime[i]);
    }
}

static const struct cli_column part_columns[] = {
    {"case", NULL}, {"t0", "from, s"}, {"t1", "to, s"}, {"job", NULL}, {"rate_mib_s", "MiB/s"}};

static void predict_cell_phases(struct cli_table *t, const struct interference_case *c,
                                const struct stat_share *s, bool one)
{
    for (size_t k = 0; k < s->nparts; k++)
        for (size_t i = 0; i < c->napps; i++) {
            if (isnan(s->part[k].rate[i]))
                continue;
            if (!one)
                cli_table_text(t, c->id);
            cli_table_real(t, s->part[k].from);
            cli_table_real(t, s->part[k].to);
            cli_table_text(t, c->app[i].name);
            cli_table_real(t, s->part[k].rate[i]);
        }
}

static const struct view {
    const struct cli_column *columns;
    int n;
    void (*put)(struct cli_table *t, const struct interference_case *c, const struct stat_share *s,
                bool one);
} views[] = {
    {time_columns, sizeof time_columns / sizeof time_columns[0], predict_cell_times},
    {part_columns, sizeof part_columns / sizeof part_columns[0], predict_cell_phases},
};

static void predict_print_overlap(FILE *out, const struct interference_case *c)
{
    struct stat_share s;

    stat_share_solve(&s, c->job, c->napps, &c->capacity);
    if (c->napps > 1 && s.all)
        fprintf(out, "\nall jobs are active for %.6g s\n", s.all->to - s.all->from);
    else if (c->napps > 1)
        fputs("\nthe jobs are never all active at once\n", out);
    stat_share_fini(&s);
}

static void predict_print_tables(FILE *out, const struct interference_cases *cs,
                                 const struct interfere_predict_opts *o)
{
    const struct view *v = &views[o->schedule];
    bool one = cs->n == 1;
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, v->columns + one, v->n - one);

    for (size_t i = 0; i < cs->n; i++) {
        struct stat_share s;

        stat_share_solve(&s, cs->v[i].job, cs->v[i].napps, &cs->v[i].capacity);
        v->put(t, &cs->v[i], &s, one);
        stat_share_fini(&s);
    }
    cli_table_close(t);
    if (one && !o->schedule)
        predict_print_overlap(out, &cs->v[0]);
    if (cs->note)
        fprintf(out, "%s\n", cs->note);
}

static bool predict_cases(const struct cli_call *call, const struct interference_cases *cs,
                          struct wr_err *err)
{
    const struct interfere_predict_opts *o = call->opts;
    size_t checked;

    if (o->check && !interference_cases_check(cs, &checked, err))
        return false;
    if (o->json) {
        json_t *all = interference_cases_json(cs);

        json_dumpf(all, call->out, JSON_INDENT(1));
        fputc('\n', call->out);
        json_decref(all);
        return true;
    }
    predict_print_tables(call->out, cs, o);
    if (o->check)
        fprintf(call->out, "\ncases as expected: %zu of %zu\n", checked, cs->n);
    return true;
}

static int predict_main(const struct cli_call *call, struct wr_err *err)
{
    const struct interfere_predict_opts *o = call->opts;
    struct interference_cases cs;

    if (call->nargs || (o->from.n && !o->jobs.n && !o->cases))
        return interfere_predict_seen(call, o, err) ? 0 : cli_error(err);
    if (!predict_open_cases(&cs, call->opts, err))
        return cli_error(err);
    bool ok = predict_cases(call, &cs, err);

    interference_cases_fini(&cs);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_interfere_predict = {
    .name = "predict",
    .summary = "predict run times of jobs that share a server, from the bytes of each",
    .args = "[RUN...]",
    .max_args = -1,
    .about =
        "The capacity is divided among the active jobs in proportion to their weights; no job gets "
        "more than its cap, and what a capped job leaves goes to the others. Rates change only "
        "when a job begins or ends, so the times are exact for the model. Jobs come from the "
        "command line or from a file of cases; docs/models/interference.md has the equations.\n"
        "\n"
        "Where no run files show how the server shares, a job weighs as much as it has nodes, "
        "unless --weights or a weight of its own says otherwise; the table says where each weight "
        "is from. With --json a file's cases come back with \"predicted\" in the place of "
        "\"expected\".\n"
        "\n"
        "With run files the capacity is learnt. Runs of one job alone show what such a job "
        "reaches, the most of them what the server carries, and overlaps whether it is shared by "
        "nodes, by processes or by jobs; the run times of jobs that went on together are "
        "predicted from that, each without its own run, and compared with what was seen. What is "
        "learnt comes from --from-run, or without it from the RUNs themselves. Runs that overlap "
        "on "
        "the clock went on together. A job's run time is its I/O phase, from the first byte to "
        "the last or to the end of the flush after it, where the run file has it, and its life "
        "where not: the tables say which. The range is to hold 80 % of the observed times. It is "
        "made "
        "of the errors of all other predictions, or, where fewer than nine are known, of those of "
        "a measured NFS server.",
    .examples = "weir interfere predict --capacity 95MB/s --job volume=16GB --job volume=8GB\n"
                "weir interfere predict --cases cases.json --json\n"
                "weir interfere predict runs/*.weir\n"
                "weir interfere predict --from-run runs --job volume=1GiB,processes=4,nodes=1\n",
    .opts = predict_rows,
    .opts_size = sizeof(struct interfere_predict_opts),
    .main = predict_main,
};
