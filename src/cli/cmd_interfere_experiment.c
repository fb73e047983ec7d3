/* cmd_interfere_experiment.c -- `weir interfere experiment`: runs pairs of jobs and reports them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "cli/cli_table.h"
#include "cli/interfere.h"
#include "interference/experiment/experiment.h"

static const double mib = 1 << 20;

struct experiment_opts {
    const char *out;
    struct cli_list sets;
    bool tables, list, json, progress, force;
};

static const struct cli_opt experiment_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct experiment_opts, out),
     .value = "DIRECTORY",
     .def = "experiment",
     .help = "where the run files are; runs that are there already are not run again"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct experiment_opts, force),
     .help = "write into a directory that holds other files"},
    CLI_SET_LIKE(struct experiment_opts, sets, "slice=250ms"),
    {.name = "tables",
     .type = CLI_FLAG,
     .offset = offsetof(struct experiment_opts, tables),
     .help = "run nothing; print the tables of the runs so far"},
    {.name = "list",
     .type = CLI_FLAG,
     .offset = offsetof(struct experiment_opts, list),
     .help = "run nothing; list the runs and whether they are done"},
    CLI_JSON(struct experiment_opts, json),
    CLI_PROGRESS(struct experiment_opts, progress),
    CLI_OPT_END,
};

static void experiment_cell_sizes(struct cli_table *t, const struct experiment_cell *c)
{
    struct wr_str text = {0};

    for (size_t i = 0; i < c->n; i++)
        wr_str_addf(&text, "%s%u", i ? "+" : "", c->job[i].size);
    cli_table_text(t, wr_str_get(&text));
    wr_str_fini(&text);
}

static void experiment_cell_name(struct cli_table *t, size_t i)
{
    char name[2] = {run_trial_letter(i)};

    cli_table_text(t, name);
}

/* ---- jobs alone ---- */

static const struct cli_column alone_columns[] = {
    {"mode", NULL},
    {"size", NULL},
    {"processes", NULL},
    {"nodes", NULL},
    {"runs", NULL},
    {"kept", NULL},
    {"runtime_s", "run time, s"},
    {"overall_mib_s", "MiB/s"},
    {"overall_sd_mib_s", "sd"},
    {"process_spread_percent", "spread of processes, %"},
};

static void experiment_print_alone(FILE *out, enum cli_format format,
                                   const struct experiment_tables *tables)
{
    struct cli_table *t =
        cli_table_open(out, format, alone_columns, sizeof alone_columns / sizeof alone_columns[0]);

    for (size_t i = 0; i < tables->cells.n; i++) {
        const struct experiment_cell *c = &tables->cells.v[i];
        const struct experiment_job *j = &c->job[0];

        if (c->n != 1)
            continue;
        cli_table_text(t, c->mode);
        cli_table_int(t, j->size);
        cli_table_int(t, (int64_t)j->processes);
        cli_table_int(t, (int64_t)j->nodes);
        cli_table_int(t, (int64_t)c->runs);
        cli_table_int(t, (int64_t)c->kept);
        cli_table_real(t, cli_round(j->runtime_s.mean, 1e3));
        cli_table_real(t, cli_round(j->overall_bps.mean / mib, 1e2));
        cli_table_real(t, cli_round(j->overall_bps.sd / mib, 1e2));
        cli_table_real(t, cli_round(100 * j->spread.mean, 10));
    }
    cli_table_close(t);
}

/* ---- jobs together ---- */

static const struct cli_column together_columns[] = {
    {"mode", NULL},
    {"sizes", NULL},
    {"job", NULL},
    {"runs", NULL},
    {"kept", NULL},
    {"overall_mib_s", "overall, MiB/s"},
    {"overall_sd_mib_s", "sd"},
    {"overlap_mib_s", "overlap, MiB/s"},
    {"overlap_s", "overlap, s"},
    {"overall_ratio", "overall, ratio"},
    {"overlap_ratio", "overlap, ratio"},
    {"processes_ratio", "processes, ratio"},
    {"process_spread_percent", "spread of processes, %"},
};

/* Ratios are to the first job of the row's run. */
static void experiment_print_together(FILE *out, enum cli_format format,
                                      const struct experiment_tables *tables)
{
    struct cli_table *t = cli_table_open(out, format, together_columns,
                                         sizeof together_columns / sizeof together_columns[0]);

    for (size_t k = 0; k < tables->cells.n; k++) {
        const struct experiment_cell *c = &tables->cells.v[k];

        for (size_t i = 0; c->n > 1 && i < c->n; i++) {
            const struct experiment_job *j = &c->job[i], *p = &c->job[0];

            cli_table_text(t, c->mode);
            experiment_cell_sizes(t, c);
            experiment_cell_name(t, i);
            cli_table_int(t, (int64_t)c->runs);
            cli_table_int(t, (int64_t)c->kept);
            cli_table_real(t, cli_round(j->overall_bps.mean / mib, 1e2));
            cli_table_real(t, cli_round(j->overall_bps.sd / mib, 1e2));
            cli_table_real(t, cli_round(j->overlap_bps.mean / mib, 1e2));
            cli_table_real(t, cli_round(c->overlap_s, 1e2));
            cli_table_real(t, cli_round(j->overall_bps.mean / p->overall_bps.mean, 1e2));
            cli_table_real(t, cli_round(j->overlap_bps.mean / p->overlap_bps.mean, 1e2));
            cli_table_real(t, cli_round((double)j->processes / (double)p->processes, 1e2));
            cli_table_real(t, cli_round(100 * j->spread.mean, 10));
        }
    }
    cli_table_close(t);
}

/* ---- predictions ---- */

static const struct cli_column predicted_columns[] = {
    {"mode", NULL},
    {"sizes", NULL},
    {"job", NULL},
    {"seen_s", "seen, s"},
    {"equations_s", "equations, s"},
    {"equations_error_percent", "off, %"},
    {"nodes_s", "by nodes, s"},
    {"nodes_error_percent", "off, %"},
    {"processes_s", "by processes, s"},
    {"processes_error_percent", "off, %"},
    {"jobs_s", "by jobs, s"},
    {"jobs_error_percent", "off, %"},
};

static void experiment_cell_predicted(struct cli_table *t, double predicted, double seen)
{
    cli_table_real(t, cli_round(predicted, 1e3));
    cli_table_real(t, cli_round(100 * (predicted / seen - 1), 10));
}

static void experiment_print_predicted(FILE *out, enum cli_format format,
                                       const struct experiment_tables *tables)
{
    struct cli_table *t = cli_table_open(out, format, predicted_columns,
                                         sizeof predicted_columns / sizeof predicted_columns[0]);

    for (size_t k = 0; k < tables->cells.n; k++) {
        const struct experiment_cell *c = &tables->cells.v[k];

        for (size_t i = 0; c->n > 1 && i < c->n; i++) {
            const struct experiment_job *j = &c->job[i];

            cli_table_text(t, c->mode);
            experiment_cell_sizes(t, c);
            experiment_cell_name(t, i);
            cli_table_real(t, cli_round(j->runtime_s.mean, 1e3));
            experiment_cell_predicted(t, j->equations_s, j->runtime_s.mean);
            for (int r = 0; r < INTERFERENCE_RULES; r++)
                experiment_cell_predicted(t, j->model_s[r], j->runtime_s.mean);
        }
    }
    cli_table_close(t);
}

/* Mean of the absolute errors; NaN when nothing was predicted. `rule` < 0: the equations. */
static double experiment_mean_error(const struct experiment_tables *tables, int rule)
{
    double sum = 0;
    size_t n = 0;

    for (size_t k = 0; k < tables->cells.n; k++) {
        const struct experiment_cell *c = &tables->cells.v[k];

        for (size_t i = 0; c->n > 1 && i < c->n; i++) {
            double p = rule < 0 ? c->job[i].equations_s : c->job[i].model_s[rule];

            if (isnan(p))
                continue;
            sum += fabs(p / c->job[i].runtime_s.mean - 1);
            n++;
        }
    }
    return sum / (double)n;
}

static void experiment_print_text(FILE *out, const struct experiment_tables *t)
{
    fputs("alone\n", out);
    experiment_print_alone(out, CLI_AS_TEXT, t);
    if (isnan(experiment_mean_error(t, INTERFERENCE_RULE_JOBS)))
        return;
    fputs("\ntogether\n", out);
    experiment_print_together(out, CLI_AS_TEXT, t);
    fputs("\npredicted from those alone\n", out);
    experiment_print_predicted(out, CLI_AS_TEXT, t);
    fputs("\nmean error:", out);
    if (!isnan(experiment_mean_error(t, -1)))
        fprintf(out, " published equations %.1f %%,", 100 * experiment_mean_error(t, -1));
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        fprintf(out, " by %s %.1f %%%s", interference_rule_names[r],
                100 * experiment_mean_error(t, r), r + 1 < INTERFERENCE_RULES ? "," : "\n");
}

static void experiment_print_json(FILE *out, const struct experiment_tables *t)
{
    fputs("{\"alone\":\n", out);
    experiment_print_alone(out, CLI_AS_JSON, t);
    fputs(", \"together\":\n", out);
    experiment_print_together(out, CLI_AS_JSON, t);
    fputs(", \"predicted\":\n", out);
    experiment_print_predicted(out, CLI_AS_JSON, t);
    fputs("}\n", out);
}

static void experiment_list_trials(FILE *out, const struct experiment *l, bool json)
{
    static const struct cli_column columns[] = {{"run", NULL}, {"jobs", NULL}, {"done", NULL}};
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 3);

    for (size_t i = 0; i < l->trials.n; i++) {
        cli_table_text(t, l->trials.v[i].id);
        cli_table_int(t, (int64_t)l->trials.v[i].n);
        cli_table_bool(t, experiment_done(l, &l->trials.v[i]));
    }
    cli_table_close(t);
}

/* ---- the verb ---- */

static bool experiment_run_all(const struct cli_call *call, const struct experiment *l,
                               bool *ret_interrupted, struct wr_err *err)
{
    const struct experiment_opts *o = call->opts;
    struct wr_progress progress;

    wr_progress_init(&progress, o->progress ? WR_PROGRESS_ALWAYS : WR_PROGRESS_AUTO, "experiment",
                     "runs", (double)l->trials.n);
    wr_interrupt_catch();
    bool ok = experiment_run(l, &progress, wr_interrupted, ret_interrupted, err);

    wr_interrupt_release();
    wr_progress_fini(&progress);
    return ok;
}

static bool experiment_run_and_print(const struct cli_call *call, const struct experiment *l,
                                     struct wr_err *err)
{
    const struct experiment_opts *o = call->opts;
    struct experiment_tables t;
    bool interrupted = false;

    if (o->list) {
        experiment_list_trials(call->out, l, o->json);
        return true;
    }
    if (!o->tables && !experiment_run_all(call, l, &interrupted, err))
        return false;
    if (interrupted)
        return wr_fail(err, WR_INTERRUPTED,
                       "interrupted; the runs that were done are in %s: go on with the same "
                       "command, or look at them with --tables",
                       l->out);
    if (!experiment_tables(&t, l, err))
        return false;
    if (o->json)
        experiment_print_json(call->out, &t);
    else
        experiment_print_text(call->out, &t);
    experiment_tables_fini(&t);
    return true;
}

static int experiment_main(const struct cli_call *call, struct wr_err *err)
{
    const struct experiment_opts *o = call->opts;
    struct experiment l;

    if (!experiment_open(&l, call->args[0], o->sets.v, o->sets.n, o->out, err))
        return cli_error(err);
    l.force = o->force;
    bool ok = experiment_run_and_print(call, &l, err);

    experiment_close(&l);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_interfere_experiment = {
    .name = "experiment",
    .summary = "run commands alone and together, and report how much each slows the others",
    .args = "SPEC.yaml",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Runs a command with each of several sizes alone and with all pairs of them together, or "
        "the groups that are asked for, round robin over repetitions, and profiles every job. "
        "Repetitions that are outliers are left out. The tables are those of a published study: "
        "throughput of each size alone, of each job of a pair overall and in the active overlap, "
        "their ratios, and the run times of pairs predicted from those alone.\n"
        "\n"
        "Ctrl-C stops after cleaning up; the same command goes on where it was. "
        "docs/formats/experiment.md describes every key of SPEC.yaml.",
    .examples = "weir interfere experiment study.yaml -o study\n"
                "weir interfere experiment study.yaml -o study --tables --json\n",
    .opts = experiment_rows,
    .opts_size = sizeof(struct experiment_opts),
    .main = experiment_main,
};
