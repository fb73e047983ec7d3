/* cmd_stack_validate.c -- `weir stack validate`: prints simulated against measured times.
 *
 * stack/stack_validate.h makes the comparison; here it becomes a table, a chart, a verdict in
 * words, and rows of a run file.
 */
#include <math.h>
#include <stdlib.h>

#include "base/note.h"
#include "base/signals.h"
#include "cli/cli_figure.h"
#include "cli/stack_logs.h"
#include "report/agreement.h"
#include "stack/stack_validate.h"

struct valid_opts {
    struct stack_log_opts l;
    const char *timings, *svg, *output;
    bool left_out, json, csv, force;
    uint32_t by;
};

/* In the order of enum stack_check_by. */
static const char *const by_names[] = {"function", "class", "state", "all", NULL};

static const struct cli_opt valid_rows[] = {
    STACK_LOG_OPTS(struct valid_opts),
    STACK_TIMING(struct valid_opts, timings, "default",
                 "the timing models that are put to the test"),
    STACK_OPT("left-out", CLI_FLAG, struct valid_opts, left_out, NULL, NULL,
              "predict the tests of each size of a call by models calibrated with the other sizes; "
              "--timing has the states that are not in the logs"),
    {.name = "by",
     .type = CLI_CHOICE,
     .offset = offsetof(struct valid_opts, by),
     .value = "WHAT",
     .def = "function",
     .names = by_names,
     .help = "what is compared beside reads and writes: functions, times by class and node, the "
             "work of states, or all of it"},
    STACK_OPT("svg", CLI_TEXT, struct valid_opts, svg, "FILE", NULL,
              "write a picture there: simulated against measured"),
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct valid_opts, output),
     .value = "RUN",
     .help = "write the comparison to a run file, for `weir report`"},
    CLI_FORCE(struct valid_opts, force),
    CLI_CSV(struct valid_opts, csv),
    CLI_JSON(struct valid_opts, json),
    CLI_OPT_END,
};

static const struct cli_column valid_columns[] = {
    {"servers", NULL},          {"processes", NULL}, {"bytes", NULL},
    {"call_bytes", NULL},       {"pattern", NULL},   {"kind", NULL},
    {"function", NULL},         {"n", NULL},         {"p10_s", NULL},
    {"median_s", "measured s"}, {"p90_s", NULL},     {"simulated_s", NULL},
    {"error", "error %"},       {"inside", NULL},    {"low_s", NULL},
    {"high_s", NULL},           {"in_band", NULL},   {"runs", "runs %"},
    {"extrapolated", NULL},
};

static void validate_table(const struct stack_checks *c, FILE *out, enum cli_format format)
{
    struct cli_table *t =
        cli_table_open(out, format, valid_columns, sizeof valid_columns / sizeof valid_columns[0]);

    for (size_t i = 0; i < c->row.n; i++) {
        const struct stack_check *r = &c->row.v[i];

        cli_table_int(t, r->test->servers);
        cli_table_int(t, r->test->clients);
        cli_table_int(t, (int64_t)r->test->bytes);
        cli_table_int(t, (int64_t)r->test->transfer);
        cli_table_text(t, stack_pattern_text(r->test).s);
        cli_table_text(t, stack_check_kinds[r->kind]);
        cli_table_text(t, r->name);
        cli_table_int(t, (int64_t)r->n);
        cli_table_real(t, r->p10);
        cli_table_real(t, r->median);
        cli_table_real(t, r->p90);
        cli_table_real(t, r->simulated);
        cli_table_real(t, 100 * stack_check_error(r));
        cli_table_bool(t, stack_check_inside(r));
        cli_table_real(t, r->low);
        cli_table_real(t, r->high);
        isnan(r->low) ? cli_table_null(t) : cli_table_bool(t, stack_check_in_band(r));
        cli_table_real(t, 100 * r->runs);
        cli_table_text(t, r->beyond ? r->beyond : "no");
    }
    cli_table_close(t);
}

static void validate_chart(const struct stack_checks *c, struct wr_arena *arena, struct wr_str *svg,
                           struct wr_str *text)
{
    static const char *const names[STACK_CHECK_KINDS] = {"reads and writes", "functions",
                                                         "their states",     "states with waiting",
                                                         "classes",          "states"};
    struct report_section s = {.arena = arena};
    struct report_agreement a;
    struct report_chart chart = {.title = "simulated against measured times",
                                 .desc = "each mark is a function at one size; on the line the "
                                         "simulation equals the measurement",
                                 .x = {.label = "measured (s)"},
                                 .y = {.label = "simulated (s)"}};
    struct report_text_style style = {.ascii = true};

    report_agreement_init(&a, &s);
    for (int k = 0; k < STACK_CHECK_KINDS; k++)
        for (size_t i = 0; i < c->row.n; i++)
            if ((int)c->row.v[i].kind == k)
                report_agreement_add(&a, names[k], c->row.v[i].median, c->row.v[i].simulated);
    if (!report_agreement_chart(&a, &chart))
        return;
    if (svg)
        report_chart_svg(&chart, svg);
    if (text)
        report_chart_text(&chart, &style, text);
}

/* In words: the error of reads and writes, how many functions are near, how much the bands hold. */
static void validate_print_verdict(const struct stack_checks *c, FILE *out)
{
    struct stack_verdict v = stack_checks_verdict(c);

    fprintf(out, "reads and writes are predicted within %.1f %%", 100 * v.worst_io);
    if (v.functions)
        fprintf(out, ", %zu of %zu functions within 30 %%", v.near, v.functions);
    if (v.repeated)
        fprintf(
            out,
            "\n%zu functions differ by more than 30 %% from run to run of the same size, and no "
            "model can predict these; of the other %zu, %zu are predicted within 30 %%",
            v.repeated - v.steady, v.steady, v.steady_near);
    if (v.bands)
        fprintf(
            out,
            "\n%zu of %zu measured medians lie in the band that the timing models give for eight "
            "of ten times, and %.0f %% of all times",
            v.medians_in_band, v.bands, 100.0 * (double)v.samples_in_band / (double)v.samples);
    fputc('\n', out);
}

static bool validate_put_rows(struct run *run, void *ctx, struct wr_err *err)
{
    return stack_checks_to_run(run, ctx, err);
}

static bool validate_print(struct stack_checks *c, const struct cli_call *call,
                           enum cli_format format, struct wr_err *err)
{
    const struct valid_opts *o = call->opts;
    struct wr_str svg = {0}, text = {0};
    bool ok = true;

    validate_table(c, call->out, format);
    validate_chart(c, call->arena, o->svg ? &svg : NULL, format == CLI_AS_TEXT ? &text : NULL);
    if (format == CLI_AS_TEXT) {
        fprintf(call->out, "\n%s\n", wr_str_get(&text));
        validate_print_verdict(c, call->out);
    }
    if (o->svg)
        ok = cli_figure_write(o->svg, &svg, o->force ? WR_FORCE : 0, err);
    struct run *run;

    if (ok && o->output)
        ok = cli_stack_run_create(&run, o->output, o->force, call, 0, err) &&
             cli_stack_run_close(run, true, false, validate_put_rows, c, err);
    wr_str_fini(&svg);
    wr_str_fini(&text);
    return ok;
}

/* Once, however many tests there are. */
static void validate_warn_beyond(const struct stack_checks *c)
{
    const char *first;
    size_t n = stack_checks_beyond(c, &first);

    if (n)
        wr_note("%zu test%s outside what the models were fitted on, the first: %s; see the "
                "column extrapolated",
                n, n > 1 ? "s lie" : " lies", first);
}

static bool validate_logs(const struct cli_call *call, struct stack_fs *fs,
                          struct stack_timings *models, struct wr_err *err)
{
    const struct valid_opts *o = call->opts;
    struct stack_validate_how how = {.by = (enum stack_check_by)o->by, .left_out = o->left_out};
    enum cli_format format;
    struct stack_log log = {0};
    struct stack_checks c = {0};
    bool ok = cli_format_of(o->json, o->csv, &format, err) &&
              (!o->svg || cli_figure_check(o->svg, o->force ? WR_FORCE : 0, err)) &&
              (!o->output || run_check_path(o->output, o->force, err)) &&
              cli_stack_logs(&log, &o->l, fs, err) &&
              (!o->left_out || cli_stack_see(&o->l, &how.see, err));

    wr_interrupt_catch();
    ok = ok && stack_validate(&c, &log, models, &how, err) && validate_print(&c, call, format, err);
    if (ok)
        validate_warn_beyond(&c);
    stack_checks_fini(&c);
    stack_log_fini(&log);
    return ok;
}

static int validate_main(const struct cli_call *call, struct wr_err *err)
{
    const struct valid_opts *o = call->opts;

    return cli_stack_with(call, &o->l, o->timings, validate_logs, err);
}

const struct cli_verb cli_stack_validate = {
    .name = "validate",
    .summary = "compare simulated times with those of real logs",
    .about =
        "Runs each test of the logs, with its own servers, processes and IOR command, and prints, "
        "for reads and writes and "
        "for functions, classes of time or states, what was measured (median, and between which "
        "values eight of ten lie), what was simulated, and whether that lies between; then the "
        "same as a picture. With --left-out the models never saw the size of a call they are asked "
        "about. "
        "`runs` is the median distance of a run from the others of its test: no model can be "
        "expected to be nearer. `extrapolated` says why a test lies outside what the models were "
        "fitted on.",
    .examples = "weir stack validate --timing timing.yaml --logs run3\n"
                "weir stack validate --left-out --logs run1 --logs run2 --logs run3 --svg a.svg\n"
                "weir stack validate --logs run3 -o check.weir && weir report check.weir\n",
    .opts = valid_rows,
    .opts_size = sizeof(struct valid_opts),
    .main = validate_main,
};
