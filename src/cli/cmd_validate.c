/* cmd_validate.c -- `weir validate SIMULATED MEASURED`: the error of each simulated quantity.
 *
 * report/validation.h pairs the quantities; the verb opens the runs, prints the pairs as text, CSV
 * or JSON, or writes a picture or a page, and compares the errors with the tolerance.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_figure.h"
#include "cli/cli_table.h"
#include "report/report.h"
#include "report/sections/sections.h"
#include "report/validation.h"
#include "report/web/bundle.h"

struct validate_opts {
    const char *html, *svg, *tolerance;
    struct cli_list simulated, measured, jobs, only;
    uint32_t by;
    bool csv, json, force;
};

static const char *const by_names[] = {"job", "rank", NULL};

static const struct cli_opt validate_rows[] = {
    {.name = "tolerance",
     .type = CLI_TEXT,
     .offset = offsetof(struct validate_opts, tolerance),
     .value = "PERCENT",
     .help = "exit with status 1 if a quantity differs by more, as in --tolerance 10%"},
    {.name = "simulated",
     .type = CLI_LIST,
     .offset = offsetof(struct validate_opts, simulated),
     .value = "RUN",
     .help = "one more simulated run, of another seed; may be given several times",
     .offer = cli_offer_runs},
    {.name = "measured",
     .type = CLI_LIST,
     .offset = offsetof(struct validate_opts, measured),
     .value = "RUN",
     .help = "one more measurement of the same; may be given several times",
     .offer = cli_offer_runs},
    {.name = "job-names",
     .former = "job",
     .type = CLI_LIST,
     .offset = offsetof(struct validate_opts, jobs),
     .value = "SIMULATED=MEASURED",
     .help = "two names of the same job; may be given several times"},
    {.name = "quantity",
     .type = CLI_LIST,
     .offset = offsetof(struct validate_opts, only),
     .value = "NAME",
     .help = "compare only quantities of this name, in which * stands for anything; may be given "
             "several times"},
    {.name = "by",
     .type = CLI_CHOICE,
     .offset = offsetof(struct validate_opts, by),
     .value = "WHAT",
     .def = "job",
     .names = by_names,
     .help = "compare jobs, or also the times of each rank"},
    {.name = "html",
     .type = CLI_TEXT,
     .offset = offsetof(struct validate_opts, html),
     .value = "FILE",
     .help = "also write a page"},
    {.name = "svg",
     .type = CLI_TEXT,
     .offset = offsetof(struct validate_opts, svg),
     .value = "FILE",
     .help = "also write a picture"},
    CLI_FORCE(struct validate_opts, force),
    CLI_CSV(struct validate_opts, csv),
    CLI_JSON(struct validate_opts, json),
    CLI_OPT_END,
};

/* ---- what is printed ---- */

static void cmd_validate_side(struct cli_table *t, const struct report_estimate *e, double scale)
{
    cli_table_real(t, scale > 0 ? cli_round_digits(e->mean / scale, 6) : e->mean);
}

/* CSV and JSON: every quantity, also those of one side only, in the units of the run files. */
static void cmd_validate_print_flat(const struct report_validation *v, enum cli_format format,
                                    double tolerance, FILE *out)
{
    static const struct cli_column columns[] = {
        {"job", NULL},           {"quantity", NULL},
        {"unit", NULL},          {"simulated", NULL},
        {"measured", NULL},      {"error", NULL},
        {"low", NULL},           {"high", NULL},
        {"over", NULL},          {"simulated_runs", NULL},
        {"measured_runs", NULL}, {"simulated_n", NULL},
        {"measured_n", NULL},    {"beyond", NULL},
    };
    struct cli_table *t = cli_table_open(out, format, columns, 14);

    for (size_t i = 0; i < v->v.n; i++) {
        const struct report_quantity *q = &v->v.v[i];

        cli_table_text(t, q->job);
        cli_table_text(t, q->name);
        cli_table_text(t, q->unit);
        cmd_validate_side(t, &q->simulated, 0);
        cmd_validate_side(t, &q->measured, 0);
        cli_table_real(t, q->error.mid);
        cli_table_real(t, q->error.low);
        cli_table_real(t, q->error.high);
        cli_table_text(t, report_quantity_paired(q) ? report_quantity_over(q) : "");
        cli_table_int(t, (int64_t)q->simulated.runs);
        cli_table_int(t, (int64_t)q->measured.runs);
        cli_table_int(t, (int64_t)q->simulated.n);
        cli_table_int(t, (int64_t)q->measured.n);
        if (isnan(tolerance) || !report_quantity_paired(q))
            cli_table_null(t);
        else
            cli_table_bool(t, report_quantity_beyond(q, tolerance));
    }
    cli_table_close(t);
}

static void cmd_validate_print_pairs(const struct report_validation *v, double tolerance, FILE *out)
{
    static const struct cli_column columns[] = {
        {"job", NULL},      {"quantity", NULL},   {"unit", NULL},       {"simulated", NULL},
        {"measured", NULL}, {"error", "error %"}, {"low", "95 % from"}, {"high", "to"},
        {"over", NULL},     {"beyond", NULL},
    };
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, isnan(tolerance) ? 9 : 10);

    for (size_t i = 0; i < v->v.n; i++) {
        const struct report_quantity *q = &v->v.v[i];
        double scale;
        const char *unit = report_quantity_unit(q, &scale);

        if (!report_quantity_paired(q))
            continue;
        cli_table_text(t, q->job);
        cli_table_text(t, q->name);
        cli_table_text(t, unit);
        cmd_validate_side(t, &q->simulated, scale);
        cmd_validate_side(t, &q->measured, scale);
        cli_table_real(t, cli_round(100 * q->error.mid, 100));
        cli_table_real(t, cli_round(100 * q->error.low, 100));
        cli_table_real(t, cli_round(100 * q->error.high, 100));
        cli_table_text(t, report_quantity_over(q));
        if (!isnan(tolerance))
            cli_table_text(t, report_quantity_beyond(q, tolerance) ? "yes" : "");
    }
    cli_table_close(t);
}

static void cmd_validate_print_single(const struct report_validation *v, bool measured, FILE *out)
{
    struct wr_str names = {0}, lines = {0};
    size_t n = 0;

    for (size_t i = 0; i < v->v.n; i++) {
        const struct report_quantity *q = &v->v.v[i];

        if (report_quantity_paired(q) || (q->measured.runs > 0) != measured)
            continue;
        wr_str_addf(&names, "%s%s%s%s",
                    n++        ? "; "
                    : measured ? "only measured: "
                               : "only simulated: ",
                    q->job, *q->job ? ": " : "", q->name);
    }
    if (n) {
        report_wrap(&lines, names.s, 100);
        fputs(lines.s, out);
    }
    wr_str_fini(&names);
    wr_str_fini(&lines);
}

static void cmd_validate_print_verdict(const struct report_validation *v, double tolerance,
                                       size_t beyond, FILE *out)
{
    struct report_agreed a = report_validation_agreed(v);

    if (v->renamed[0])
        fprintf(out, "job %s of the simulation is compared with job %s, the only ones\n",
                v->renamed[0], v->renamed[1]);
    fprintf(out, "%zu quantit%s: %.3g %% off on average, %.3g %% at most (%s%s%s)\n", v->pairs,
            v->pairs == 1 ? "y" : "ies", 100 * a.mean, 100 * a.worst, a.furthest->job,
            *a.furthest->job ? ": " : "", a.furthest->name);
    if (!isnan(tolerance))
        fprintf(out, "%zu of them beyond the tolerance of %.3g %%\n", beyond, 100 * tolerance);
}

static void cmd_validate_print_text(const struct report_validation *v, double tolerance,
                                    size_t beyond, FILE *out)
{
    cmd_validate_print_pairs(v, tolerance, out);
    fputc('\n', out);
    cmd_validate_print_single(v, false, out);
    cmd_validate_print_single(v, true, out);
    cmd_validate_print_verdict(v, tolerance, beyond, out);
}

/* ---- what is written ---- */

static const char **cmd_validate_operands(const struct cli_call *call, int which, size_t *ret)
{
    const struct validate_opts *o = call->opts;
    const struct cli_list *more = which ? &o->measured : &o->simulated;
    const char **v = wr_arena_alloc(call->arena, (more->n + 2) * sizeof *v);

    v[0] = call->args[which];
    for (size_t i = 0; i < more->n; i++)
        v[i + 1] = more->v[i];
    *ret = more->n + 1;
    return v;
}

static bool cmd_validate_write(const struct cli_call *call, const struct report_validation *v,
                               double tolerance, struct wr_err *err)
{
    static const struct report_maker *const makers[] = {&report_validated, NULL};
    const struct validate_opts *o = call->opts;
    struct report_inputs in;
    struct report_doc doc;
    struct wr_str page = {0}, svg = {0};
    unsigned flags = o->force ? WR_FORCE : 0;

    if (!report_inputs_open(&in, (const char *const *)call->args, 2, err))
        return false;
    in.validated = v;
    in.tolerance = isnan(tolerance) ? 0 : tolerance;
    bool ok = report_doc_open(&doc, &in, makers, NULL, err);

    if (ok) {
        doc.title = "Simulated against measured";
        report_figure_svg(&doc.section.v[0].figure.v[0], &svg);
        report_doc_page(&doc, web_bundle(), &page);
        report_doc_close(&doc);
        ok = (!o->svg || cli_figure_write(o->svg, &svg, flags, err)) &&
             (!o->html || wr_output_text(o->html, &report_page_format, flags, &page, err));
    }
    report_inputs_close(&in);
    wr_str_fini(&page);
    wr_str_fini(&svg);
    return ok;
}

static bool cmd_validate_check(const struct cli_call *call, enum cli_format *format,
                               double *tolerance, struct wr_err *err)
{
    const struct validate_opts *o = call->opts;
    unsigned flags = o->force ? WR_FORCE : 0;

    *tolerance = NAN;
    if (!cli_format_of(o->json, o->csv, format, err))
        return false;
    if (o->tolerance && !wr_parse_fraction(tolerance, o->tolerance, err))
        return wr_wrap(err, "--tolerance %s", o->tolerance);
    for (size_t i = 0; i < o->jobs.n; i++)
        if (!strchr(o->jobs.v[i], '='))
            return wr_fail(
                err, WR_INPUT,
                "--job-names %s: no \"=\" in it; write the simulated name, =, the measured one",
                o->jobs.v[i]);
    return (!o->svg || cli_figure_check(o->svg, flags, err)) &&
           (!o->html || wr_output_check(o->html, &report_page_format, flags, err));
}

static bool cmd_validate_compare(const struct cli_call *call, struct report_validation *ret,
                                 struct wr_err *err)
{
    const struct validate_opts *o = call->opts;
    struct report_validate_how how = {.by_rank = o->by == 1,
                                      .jobs = o->jobs.v,
                                      .njobs = o->jobs.n,
                                      .only = o->only.v,
                                      .nonly = o->only.n};
    struct report_runs side[2];
    size_t n;
    const char **v = cmd_validate_operands(call, 0, &n);

    if (!report_runs_open(&side[0], v, n, err))
        return false;
    v = cmd_validate_operands(call, 1, &n);
    bool ok = report_runs_open(&side[1], v, n, err);

    if (ok) {
        ok = report_validate(ret, &side[0], &side[1], &how, err);
        report_runs_close(&side[1]);
    }
    report_runs_close(&side[0]);
    return ok;
}

static int cmd_validate_main(const struct cli_call *call, struct wr_err *err)
{
    const struct validate_opts *o = call->opts;
    struct report_validation v;
    enum cli_format format;
    double tolerance;
    size_t beyond = 0;

    if (!cmd_validate_check(call, &format, &tolerance, err) || !cmd_validate_compare(call, &v, err))
        return cli_error(err);
    for (size_t i = 0; !isnan(tolerance) && i < v.v.n; i++)
        beyond += report_quantity_beyond(&v.v.v[i], tolerance);
    bool ok = (!o->html && !o->svg) || cmd_validate_write(call, &v, tolerance, err);

    if (ok && format == CLI_AS_TEXT)
        cmd_validate_print_text(&v, tolerance, beyond, call->out);
    else if (ok)
        cmd_validate_print_flat(&v, format, tolerance, call->out);
    report_validation_close(&v);
    return !ok ? cli_error(err) : beyond > 0;
}

static void cmd_validate_complete(char **args, int at, FILE *out)
{
    (void)args;
    if (at < 2)
        cli_offer_runs("", out);
}

const struct cli_verb cli_cmd_validate = {
    .name = "validate",
    .summary = "show the error of simulated quantities against measured ones",
    .args = "SIMULATED MEASURED",
    .min_args = 2,
    .max_args = 2,
    .about =
        "Pairs the quantities of two run files by job and name: run times, times of ranks in "
        "computation, communication and I/O, throughput, bytes, messages, latencies, and the "
        "numbers of the summary. For each it prints simulated / measured - 1 with an interval of "
        "95 %: over runs, where one side has several (a study's directory, DIR:axis=choice,..., "
        "--simulated, --measured); else over the ranks, messages or repetitions of the one run, "
        "which then says nothing about other runs; else there is one value on each side, and "
        "`over` says one run. Quantities of one side only are named after the table.\n\n"
        "Either file may come from a simulation (`weir run`, `weir stack run`), a profile, `weir "
        "io-load`, an import or an experiment. Jobs are the same if they have the same name, if "
        "--job-names says so, or if each side has only one.\n\n"
        "With --tolerance, the exit status is 1 if a quantity is further off; --quantity limits "
        "what counts. `weir report SIMULATED MEASURED` has the same as a section.",
    .examples = "weir validate simulated.weir profile.weir\n"
                "weir validate simulated.weir profile.weir --quantity elapsed --tolerance 10%\n"
                "weir validate study:workload=both profile1.weir --measured profile2.weir\n"
                "weir validate simulated.weir profile.weir -o errors.svg\n",
    .opts = validate_rows,
    .opts_size = sizeof(struct validate_opts),
    .main = cmd_validate_main,
    .complete = cmd_validate_complete,
};
