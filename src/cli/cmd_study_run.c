/* cmd_study_run.c -- `weir study run|list FILE`: runs the combinations of a study, or lists them.
 *
 * study/ decides what is to be run; runs go to processes here or to Slurm.
 */
#include <string.h>

#include "base/self.h"
#include "base/signals.h"
#include "cli/cli_json.h"
#include "cli/cli_simulate.h"
#include "cli/cli_table.h"
#include "cli/cmd_study.h"
#include "study/study.h"

struct study_opts {
    const char *out, *only;
    struct cli_list sets, sbatch;
    uint32_t jobs;
    bool slurm, script, force, progress, json, csv;
};

#define DIR_ROW                                                                                 \
    {                                                                                           \
        .name = "output", .letter = 'o', .type = CLI_TEXT,                                      \
        .offset = offsetof(struct study_opts, out), .value = "DIR",                             \
        .help = "the directory of the run files; by default the study file's name without its " \
                "ending"                                                                        \
    }

static const struct cli_opt run_rows[] = {
    DIR_ROW,
    {.name = "jobs",
     .letter = 'j',
     .type = CLI_U32,
     .offset = offsetof(struct study_opts, jobs),
     .value = "N",
     .def = "0",
     .help = "runs at once; 0: one per core, and no more than fit in memory"},
    {.name = "only",
     .type = CLI_TEXT,
     .offset = offsetof(struct study_opts, only),
     .value = "NAME",
     .help = "only this run, by its number or name in `weir study list`"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct study_opts, force),
     .help = "also make again what is done"},
    {.name = "slurm",
     .type = CLI_FLAG,
     .offset = offsetof(struct study_opts, slurm),
     .help = "submit the runs to Slurm as a job array, instead of running them here"},
    {.name = "sbatch",
     .type = CLI_LIST,
     .offset = offsetof(struct study_opts, sbatch),
     .value = "OPTION",
     .help = "an option for sbatch, as in --sbatch=--partition=short; may be given several times"},
    {.name = "script",
     .type = CLI_FLAG,
     .offset = offsetof(struct study_opts, script),
     .help = "with --slurm: write the script and submit nothing"},
    CLI_JSON(struct study_opts, json),
    CLI_SET(struct study_opts, sets),
    CLI_PROGRESS(struct study_opts, progress),
    CLI_OPT_END,
};

static const struct cli_opt list_rows[] = {
    DIR_ROW,
    CLI_SET(struct study_opts, sets),
    CLI_CSV(struct study_opts, csv),
    CLI_JSON(struct study_opts, json),
    CLI_OPT_END,
};

/* "dir/name.yaml" -> "name", in the current directory. */
static const char *study_run_dir_of(const struct cli_call *call)
{
    const struct study_opts *o = call->opts;
    const char *path = call->args[0], *slash = strrchr(path, '/');
    const char *leaf = slash ? slash + 1 : path, *dot = strrchr(leaf, '.');

    if (o->out)
        return o->out;
    return dot && dot > leaf ? wr_arena_strndup(call->arena, leaf, (size_t)(dot - leaf))
                             : wr_arena_printf(call->arena, "%s.study", leaf);
}

static bool study_run_open_study(struct study **ret, const struct cli_call *call,
                                 struct wr_err *err)
{
    const struct study_opts *o = call->opts;

    return study_open(ret, call->args[0], o->sets.v, o->sets.n, err);
}

/* ---- list ---- */

static void study_run_print_list(const struct study *s, enum cli_format format,
                                 const struct cli_call *call)
{
    size_t naxes = study_axes(s), ncolumns = naxes + 3;
    struct cli_column *columns = wr_arena_alloc(call->arena, ncolumns * sizeof *columns);

    columns[0] = (struct cli_column){"number", "#"};
    columns[1] = (struct cli_column){"run", NULL};
    for (size_t d = 0; d < naxes; d++)
        columns[2 + d] = (struct cli_column){study_axis(s, d), NULL};
    columns[ncolumns - 1] = (struct cli_column){"state", NULL};
    struct cli_table *t = cli_table_open(call->out, format, columns, (int)ncolumns);

    for (size_t i = 0; i < study_runs(s); i++) {
        const struct study_run *r = study_run(s, i);

        cli_table_int(t, (int64_t)i);
        cli_table_text(t, r->name);
        for (size_t d = 0; d < naxes; d++)
            cli_table_text(t, study_label(s, r, d));
        cli_table_text(t, study_state_names[r->state]);
    }
    cli_table_close(t);
}

static int study_run_list_main(const struct cli_call *call, struct wr_err *err)
{
    const struct study_opts *o = call->opts;
    enum cli_format format;
    struct study *s;

    if (!cli_format_of(o->json, o->csv, &format, err) || !study_run_open_study(&s, call, err))
        return cli_error(err);
    bool ok = study_inspect(s, study_run_dir_of(call), SIZE_MAX, err);

    if (ok)
        study_run_print_list(s, format, call);
    study_close(s);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_study_list = {
    .name = "list",
    .summary = "list the runs of a study and which are done",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about = "Spells out the combinations of FILE, checks the configuration of each, and looks "
             "into the study's directory. Nothing is run.\n\n"
             "\"done\": the run file is complete, and of this configuration, these inputs and "
             "this version of weir. \"out of date\": complete, but not of these. \"torn\": begun "
             "and not finished.",
    .examples = "weir study list examples/studies/placements.yaml\n",
    .opts = list_rows,
    .opts_size = sizeof(struct study_opts),
    .main = study_run_list_main,
};

/* ---- run ---- */

static void study_run_print_outcome_text(const struct study_outcome *out, const struct study *s,
                                         FILE *to)
{
    if (out->failures.n)
        fputs(out->failures.s, to);
    fprintf(to, "%s: %zu made, %zu kept", study_name(s), out->ran, out->kept);
    if (out->busy)
        fprintf(to, ", %zu are being made by others (--force makes them anyway)", out->busy);
    fputs("\n", to);
}

static void study_run_print_outcome_json(const struct study_outcome *out, const struct study *s,
                                         const char *dir, FILE *to)
{
    json_t *failures = json_array();

    for (const char *at = wr_str_get(&out->failures), *end; (end = strchr(at, '\n')); at = end + 1)
        json_array_append_new(failures, json_stringn(at, (size_t)(end - at)));
    cli_json_print(to, json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:o}", "study",
                                 cli_json_string(study_name(s)), "directory", cli_json_string(dir),
                                 "made", (json_int_t)out->ran, "kept", (json_int_t)out->kept,
                                 "made_by_others", (json_int_t)out->busy, "failed",
                                 (json_int_t)out->failed, "interrupted", (int)out->interrupted,
                                 "failures", failures));
}

static bool study_run_print_outcome(const struct study_outcome *out, const struct study *s,
                                    const char *dir, const struct cli_call *call,
                                    struct wr_err *err)
{
    const struct study_opts *o = call->opts;

    if (o->json)
        study_run_print_outcome_json(out, s, dir, call->out);
    else
        study_run_print_outcome_text(out, s, call->out);
    if (out->interrupted)
        return wr_fail(err, WR_INTERRUPTED,
                       "interrupted; the same command goes on where this one stopped");
    if (out->failed)
        return wr_fail(err, WR_CHECK,
                       "%zu %s failed, as said above; mend it and give the same command again",
                       out->failed, out->failed == 1 ? "run" : "runs");
    if (!o->json)
        fprintf(call->out, "look at them with `weir study show %s`\n", dir);
    return true;
}

static bool study_run_here(struct study *s, const char *dir, size_t only,
                           const struct cli_call *call, struct wr_err *err)
{
    const struct study_opts *o = call->opts;
    struct wr_progress progress;
    struct study_outcome out;

    wr_progress_init(&progress, simulate_progress(o->progress), "study", "runs", 0);
    wr_interrupt_catch();
    bool ok = study_execute(
        s,
        &(struct study_how){
            .dir = dir, .jobs = o->jobs, .only = only, .force = o->force, .progress = &progress},
        &out, err);

    wr_progress_fini(&progress);
    wr_interrupt_release();
    if (!ok)
        return false;
    if (out.ran)
        wr_output_note(dir); /* by the processes of the runs */
    ok = study_run_print_outcome(&out, s, dir, call, err);
    wr_str_fini(&out.failures);
    return ok;
}

static bool study_run_slurm(struct study *s, const char *dir, const struct cli_call *call,
                            struct wr_err *err)
{
    const struct study_opts *o = call->opts;
    char program[WR_SELF_PATH];
    struct wr_str said = {0};
    size_t tasks;

    if (!wr_self_path(program, err))
        return false;
    if (!study_slurm(s,
                     &(struct study_slurm){.dir = dir,
                                           .program = program,
                                           .options = o->sbatch.v,
                                           .noptions = o->sbatch.n,
                                           .sets = o->sets.v,
                                           .nsets = o->sets.n,
                                           .force = o->force,
                                           .submit = !o->script},
                     &tasks, &said, err))
        return false;
    if (o->json)
        cli_json_print(call->out,
                       json_pack("{s:o, s:o, s:I, s:b}", "study", cli_json_string(study_name(s)),
                                 "directory", cli_json_string(dir), "tasks", (json_int_t)tasks,
                                 "submitted", tasks && !o->script));
    else if (!tasks)
        fprintf(call->out, "%s: all runs are done; look at them with `weir study show %s`\n",
                study_name(s), dir);
    else if (o->script)
        fprintf(call->out, "%s: %zu tasks; submit them with `sbatch %s/study.sbatch`\n",
                study_name(s), tasks, dir);
    else
        fprintf(call->out, "%s%s: %zu tasks; follow them with `weir study list %s -o %s`\n",
                wr_str_get(&said), study_name(s), tasks, call->args[0], dir);
    wr_str_fini(&said);
    return true;
}

static int study_run_main(const struct cli_call *call, struct wr_err *err)
{
    const struct study_opts *o = call->opts;
    const char *dir = study_run_dir_of(call);
    size_t only = SIZE_MAX;
    struct study *s;

    if (!o->slurm && (o->script || o->sbatch.n)) {
        wr_fail(err, WR_INPUT, "--script and --sbatch go with --slurm; add it or leave them out");
        return cli_error(err);
    }
    if (o->slurm && o->only) {
        wr_fail(err, WR_INPUT, "--slurm submits all runs; leave out --only");
        return cli_error(err);
    }
    if (!study_run_open_study(&s, call, err))
        return cli_error(err);
    bool ok =
        (!o->only || study_find(s, o->only, &only, err)) && study_inspect(s, dir, only, err) &&
        (o->slurm ? study_run_slurm(s, dir, call, err) : study_run_here(s, dir, only, call, err));

    study_close(s);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_study_run = {
    .name = "run",
    .summary = "run what is not done of a study",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Runs every combination of FILE that its directory does not hold yet, several at once and "
        "the heaviest first, each into a run file of its own. All configurations are checked "
        "before anything runs.\n\n"
        "The same command again, after Ctrl-C or a crash, keeps the runs that are complete and of "
        "the same configuration, inputs and version of weir, and makes the others again. A run "
        "that fails does not stop the others; it is reported at the end.\n\n"
        "With --slurm the runs become the tasks of a job array; DIR/study.sbatch is what was "
        "submitted.",
    .examples = "weir study run examples/studies/placements.yaml -j 2\n"
                "weir study run examples/studies/placements.yaml --only 3\n"
                "weir study run examples/studies/placements.yaml --slurm --sbatch=--time=10\n",
    .opts = run_rows,
    .opts_size = sizeof(struct study_opts),
    .main = study_run_main,
};
