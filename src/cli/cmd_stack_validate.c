/* cmd_stack_validate.c -- `weir stack validate`: what laws tell about real logs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "cli/stack_logs.h"
#include "report/chart.h"
#include "stack/replay.h"

enum valid_by { BY_FUNCTION, BY_CLASS, BY_STATE, BY_ALL };

struct valid_opts {
    struct stack_log_opts l;
    const char *laws, *svg;
    bool left_out, json, csv;
    uint32_t by;
};

static const char *const by_names[] = {"function", "class", "state", "all", NULL};

static const struct cli_opt valid_rows[] = {
    STACK_LOG_OPTS(struct valid_opts),
    STACK_OPT("laws", CLI_TEXT, struct valid_opts, laws, "NAME|FILE", "default",
              "the laws that are put to the test"),
    STACK_OPT("left-out", CLI_FLAG, struct valid_opts, left_out, NULL, NULL,
              "tell each size by laws calibrated with the other sizes; --laws has the states that "
              "are not in the logs"),
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
    CLI_CSV(struct valid_opts, csv),
    CLI_JSON(struct valid_opts, json),
    CLI_OPT_END,
};

static const struct cli_column valid_columns[] = {
    {"bytes", NULL},  {"kind", NULL},        {"function", NULL},
    {"n", NULL},      {"p10_s", NULL},       {"median_s", "measured s"},
    {"p90_s", NULL},  {"simulated_s", NULL}, {"error", "error %"},
    {"inside", NULL},
};

enum kind { KIND_IO, KIND_FUNCTION, KIND_CLASS, KIND_STATE, KINDS };

static const char *const kind_names[] = {"io", "function", "class", "state"};

struct values {
    double *v;
    size_t n;
};

struct comparison {
    struct cli_table *table;
    const struct stack_log *log; /* measured */
    struct stack_log run;        /* simulated, at one size */
    uint64_t bytes;
    struct values is; /* room for the measured values */
    WR_VEC(struct report_point) point[KINDS];
    double worst_io;
    size_t near, far;               /* functions within and beyond 30 % */
    size_t steady_near, steady_far; /* of those whose measured times do not change with the size */
};

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void put_row(struct comparison *c, enum kind kind, const char *name, double simulated)
{
    struct cli_table *t = c->table;
    double *v = c->is.v;
    size_t n = c->is.n;

    qsort(v, n, sizeof *v, by_double);
    double median = v[(n - 1) / 2], low = v[n / 10], high = v[n - 1 - n / 10];
    double error = median > 0 ? simulated / median - 1 : NAN;

    cli_table_int(t, (int64_t)c->bytes);
    cli_table_text(t, kind_names[kind]);
    cli_table_text(t, name);
    cli_table_int(t, (int64_t)n);
    cli_table_real(t, low);
    cli_table_real(t, median);
    cli_table_real(t, high);
    cli_table_real(t, simulated);
    cli_table_real(t, 100 * error);
    cli_table_bool(t, simulated >= low && simulated <= high);
    if (median > 0 && simulated > 0)
        wr_vec_push(&c->point[kind],
                    (struct report_point){
                        .x = median, .y = simulated, .low = simulated, .high = simulated});
    if (kind == KIND_IO && fabs(error) > c->worst_io)
        c->worst_io = fabs(error);
    if (kind == KIND_FUNCTION)
        fabs(error) <= 0.3 ? c->near++ : c->far++;
}

static void io_rows(struct comparison *c)
{
    for (int writes = 1; writes >= 0; writes--) {
        double told = NAN;

        c->is.n = 0;
        for (size_t i = 0; i < c->log->io.n; i++)
            if (c->log->io.v[i].bytes == c->bytes && c->log->io.v[i].writes == writes)
                c->is.v[c->is.n++] = c->log->io.v[i].seconds;
        size_t n = 0;
        double sum = 0;

        for (size_t i = 0; i < c->run.io.n; i++)
            if (c->run.io.v[i].writes == writes) {
                sum += c->run.io.v[i].seconds;
                n++;
            }
        told = n ? sum / (double)n : NAN;
        if (c->is.n && n)
            put_row(c, KIND_IO, writes ? "write" : "read", told);
    }
}

/* Does the function take at this size what it takes at the others, give or take 30 %? If it does
 * not, no constant could tell it. */
static bool steady(const struct comparison *c, uint16_t function, uint8_t io)
{
    double others[64], here;
    size_t sizes, n = 0;
    uint64_t *size = stack_log_sizes(c->log, &sizes);

    for (size_t i = 0; i < sizes && n < sizeof others / sizeof *others; i++)
        if (size[i] != c->bytes && stack_op_median(c->log, function, io, size[i], &others[n]))
            n++;
    free(size);
    if (!n || !stack_op_median(c->log, function, io, c->bytes, &here) || !(here > 0))
        return false;
    qsort(others, n, sizeof *others, by_double);
    return fabs(others[(n - 1) / 2] / here - 1) <= 0.3;
}

static void function_rows(struct comparison *c)
{
    static const char *const tails[] = {"_read", "_write", ""};
    const struct stack_fs *fs = c->log->fs;

    for (uint16_t m = 0; m < fs->machine.n; m++)
        for (uint8_t io = 0; io < 3; io++) {
            char name[160];
            double told;

            c->is.n = 0;
            for (size_t i = 0; i < c->log->op.n; i++) {
                const struct stack_op_sample *s = &c->log->op.v[i];

                if (s->function == m && s->io == io && s->bytes == c->bytes)
                    c->is.v[c->is.n++] = s->seconds;
            }
            if (!c->is.n || !stack_op_median(&c->run, m, io, c->bytes, &told))
                continue;
            snprintf(name, sizeof name, "%s%s", fs->machine.v[m].function, tails[io]);
            size_t near = c->near;

            put_row(c, KIND_FUNCTION, name, told);
            if (steady(c, m, io))
                c->near > near ? c->steady_near++ : c->steady_far++;
        }
}

/* Seconds of a class on one side, work or waiting, per node and run. */
static double class_s(const struct stack_log *log, uint64_t bytes, bool server, int cls, bool wait)
{
    double sum = 0;
    size_t runs = 0;

    for (size_t i = 0; i < log->run.n; i++)
        runs += log->run.v[i] == bytes;
    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        float us = wait ? s->wait_us : s->exec_us;
        uint16_t m = log->fs->state.v[s->state].machine;

        if (s->bytes == bytes && s->server == server && us > 0 &&
            log->fs->machine.v[m].kind == STACK_MACHINE && log->fs->state.v[s->state].cls == cls)
            sum += us * 1e-6;
    }
    return runs ? sum / (double)runs / (server ? log->servers : log->clients) : 0;
}

static void class_rows(struct comparison *c)
{
    for (int i = 0; i < 2 * STACK_CLASSES * 2; i++) {
        bool server = i / (2 * STACK_CLASSES), wait = i % 2;
        int cls = i / 2 % STACK_CLASSES;
        double is = class_s(c->log, c->bytes, server, cls, wait);
        char name[64];

        if (is <= 0)
            continue;
        c->is.v[0] = is;
        c->is.n = 1;
        snprintf(name, sizeof name, "%s %s %s", server ? "server" : "client",
                 stack_class_names[cls], wait ? "wait" : "work");
        put_row(c, KIND_CLASS, name, class_s(&c->run, c->bytes, server, cls, wait));
    }
}

static double state_median(const struct stack_log *log, uint16_t state, uint64_t bytes,
                           struct values *v)
{
    v->n = 0;
    for (size_t i = 0; i < log->state.n; i++)
        if (log->state.v[i].state == state && log->state.v[i].bytes == bytes)
            v->v[v->n++] = log->state.v[i].exec_us * 1e-6;
    if (!v->n)
        return NAN;
    qsort(v->v, v->n, sizeof *v->v, by_double);
    return v->v[(v->n - 1) / 2];
}

static void state_rows(struct comparison *c)
{
    struct values told = {.v = wr_zalloc(c->run.state.n + 1, sizeof *told.v)};

    for (uint16_t s = 0; s < c->log->fs->state.n; s++) {
        double y = state_median(&c->run, s, c->bytes, &told);

        if (told.n && !isnan(state_median(c->log, s, c->bytes, &c->is)))
            put_row(c, KIND_STATE, stack_state_text(c->log->fs, s).s, y);
    }
    free(told.v);
}

static bool one_size(struct comparison *c, const struct valid_opts *o, struct stack_laws *laws,
                     struct wr_err *err)
{
    if (!stack_replay(&c->run, c->log->fs, laws, c->log->servers, c->log->clients, c->bytes, err))
        return false;
    io_rows(c);
    if (o->by == BY_FUNCTION || o->by == BY_ALL)
        function_rows(c);
    if (o->by == BY_CLASS || o->by == BY_ALL)
        class_rows(c);
    if (o->by == BY_STATE || o->by == BY_ALL)
        state_rows(c);
    stack_log_fini(&c->run);
    return true;
}

/* The laws that a size is told by: those given, or new ones from the other sizes. */
static bool told_by(struct comparison *c, const struct valid_opts *o, struct stack_laws *laws,
                    struct wr_err *err)
{
    struct stack_laws *others = NULL;
    struct stack_log rest;
    struct wr_str text = {0};

    if (!o->left_out)
        return one_size(c, o, laws, err);
    stack_log_without(&rest, c->log, c->bytes);
    bool ok = stack_calibrate(&text, &rest, laws, "left out", o->l.shared, err) &&
              stack_laws_open_text(&others, c->log->fs, "the laws", text.s, text.n, err) &&
              one_size(c, o, others, err);

    stack_laws_close(others);
    wr_str_fini(&text);
    stack_log_fini(&rest);
    return ok || wr_wrap(err, "%s left out", wr_text_bytes(c->bytes).s);
}

/* --- the picture -------------------------------------------------------------------- */

static void picture(struct comparison *c, struct wr_str *svg, struct wr_str *text)
{
    static const char *const names[] = {"reads and writes", "functions", "classes", "states"};
    struct report_series series[KINDS + 1];
    double low = INFINITY, high = 0;
    size_t n = 0;

    for (int k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < c->point[k].n; i++) {
            low = fmin(low, fmin(c->point[k].v[i].x, c->point[k].v[i].y));
            high = fmax(high, fmax(c->point[k].v[i].x, c->point[k].v[i].y));
        }
        if (!c->point[k].n)
            continue;
        series[n] = (struct report_series){
            .name = names[k], .point = c->point[k].v, .n = c->point[k].n, .marks_only = true};
        n++;
    }
    struct report_point same[2] = {{low, low, low, low, false}, {high, high, high, high, false}};

    if (!n)
        return;
    series[n] = (struct report_series){
        .name = "as measured", .point = same, .n = 2, .line_only = true, .guide = true};
    n++;
    struct report_chart chart = {.title = "simulated against measured times",
                                 .desc = "each mark is a function at one size; on the line the "
                                         "simulation tells what was measured",
                                 .x = {.label = "measured (s)", .log = true},
                                 .y = {.label = "simulated (s)", .log = true},
                                 .series = series,
                                 .nseries = n};
    struct report_text_style style = {.ascii = true};

    if (svg)
        report_chart_svg(&chart, svg);
    if (text)
        report_chart_text(&chart, &style, text);
}

static bool show(struct comparison *c, const struct cli_call *call, enum cli_format format,
                 struct wr_err *err)
{
    const struct valid_opts *o = call->opts;
    struct wr_str svg = {0}, text = {0};
    bool ok = true;

    picture(c, o->svg ? &svg : NULL, format == CLI_AS_TEXT ? &text : NULL);
    if (format == CLI_AS_TEXT) {
        fprintf(call->out, "\n%s\nreads and writes are told within %.1f %%", wr_str_get(&text),
                100 * c->worst_io);
        if (c->near + c->far)
            fprintf(
                call->out,
                ", %zu of %zu functions within 30 %%; of those that take the same at every size "
                "%zu of %zu",
                c->near, c->near + c->far, c->steady_near, c->steady_near + c->steady_far);
        fputc('\n', call->out);
    }
    if (o->svg)
        ok = cli_stack_write(o->svg, &svg, err);
    wr_str_fini(&svg);
    wr_str_fini(&text);
    return ok;
}

static bool validate(const struct cli_call *call, struct stack_fs *fs, struct stack_laws *laws,
                     struct wr_err *err)
{
    const struct valid_opts *o = call->opts;
    enum cli_format format;
    struct stack_log log = {0};
    struct comparison c = {.log = &log};
    bool ok = cli_format_of(o->json, o->csv, &format, err) && cli_stack_logs(&log, &o->l, fs, err);
    size_t n = 0;
    uint64_t *size = ok ? stack_log_sizes(&log, &n) : NULL;

    if (ok && !n)
        ok = wr_fail(err, WR_INPUT,
                     "no reads and writes in these logs; add adio.N, ior.out or functions.csv");
    if (ok && *log.odd)
        ok = wr_fail(err, WR_INPUT,
                     "the logs are of \"%s\"; compare runs of one transfer per process into a file "
                     "of its own (-F, -b and -t the same)",
                     wr_text_clip(log.odd).s);
    wr_interrupt_catch();
    c.is.v = wr_zalloc(log.io.n + log.op.n + log.state.n + 1, sizeof *c.is.v);
    c.table = ok ? cli_table_open(call->out, format, valid_columns, 10) : NULL;
    for (size_t i = 0; ok && i < n; i++) {
        c.bytes = size[i];
        ok = told_by(&c, o, laws, err);
    }
    if (c.table)
        cli_table_close(c.table);
    ok = ok && show(&c, call, format, err);
    for (int k = 0; k < KINDS; k++)
        wr_vec_fini(&c.point[k]);
    free(c.is.v);
    free(size);
    stack_log_fini(&log);
    return ok;
}

static int validate_main(const struct cli_call *call, struct wr_err *err)
{
    const struct valid_opts *o = call->opts;

    return cli_stack_with(call, &o->l, o->laws, validate, err);
}

const struct cli_verb cli_stack_validate = {
    .name = "validate",
    .summary = "compare simulated times with those of real logs",
    .about =
        "Runs the test of the logs at each of their sizes and prints, for reads and writes and "
        "for functions, classes of time or states, what was measured (median, and between which "
        "values eight of ten lie), what was simulated, and whether that lies between; then the "
        "same as a picture. With --left-out the laws never saw the size they are asked about.",
    .examples = "weir stack validate --laws laws.yaml --logs run3\n"
                "weir stack validate --left-out --logs run1 --logs run2 --logs run3 --svg a.svg\n",
    .opts = valid_rows,
    .opts_size = sizeof(struct valid_opts),
    .main = validate_main,
};
