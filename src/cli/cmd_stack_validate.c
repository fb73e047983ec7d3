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
    const char *laws, *svg, *output;
    bool left_out, json, csv, force;
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
    {"bytes", NULL},   {"kind", NULL},        {"function", NULL},
    {"n", NULL},       {"p10_s", NULL},       {"median_s", "measured s"},
    {"p90_s", NULL},   {"simulated_s", NULL}, {"error", "error %"},
    {"inside", NULL},  {"low_s", NULL},       {"high_s", NULL},
    {"in_band", NULL}, {"runs", "runs %"},
};

enum kind { KIND_IO, KIND_FUNCTION, KIND_WORK, KIND_TOTAL, KIND_CLASS, KIND_STATE, KINDS };

static const char *const kind_names[] = {"io", "function", "work", "total", "class", "state"};

struct value {
    double s;
    uint16_t run;
};

struct values {
    struct value *v;
    size_t n;
};

/* What was measured at one size, and what the laws tell. */
struct row {
    enum kind kind;
    uint64_t bytes;
    char name[160];
    size_t n;
    double p10, median, p90;
    double told, low, high; /* and between what eight of ten should lie; NaN: nobody knows */
    size_t held;            /* of the n, how many do */
    double runs; /* how far a run's median is from that of the others of its size; NaN: one run */
};

struct comparison {
    const struct stack_log *log; /* measured */
    struct stack_log run;        /* simulated, at one size */
    const struct stack_laws *laws;
    uint64_t bytes;
    struct values is; /* room for the measured values */
    WR_VEC(struct row) row;
};

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static int by_value(const void *a, const void *b)
{
    return by_double(&((const struct value *)a)->s, &((const struct value *)b)->s);
}

static void put_value(struct values *v, double s, uint16_t run)
{
    v->v[v->n++] = (struct value){s, run};
}

static double error_of(const struct row *r)
{
    return r->median > 0 ? r->told / r->median - 1 : NAN;
}

static bool inside(const struct row *r)
{
    return r->told >= r->p10 && r->told <= r->p90;
}

static bool in_band(const struct row *r)
{
    return r->median >= r->low && r->median <= r->high;
}

/* The median of one run, or of all others; NaN: there are none. The values are in order. */
static double run_median(const struct values *v, uint16_t run, bool others)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < v->n; i++)
        n += (v->v[i].run == run) != others;
    for (size_t i = 0; i < v->n; i++)
        if ((v->v[i].run == run) != others && k++ == (n - 1) / 2)
            return v->v[i].s;
    return NAN;
}

/* Each run is told by the others of its size: the middle error. Where that is large, no law can be
 * expected to be near, whoever makes it. */
static double between_runs(const struct values *v)
{
    uint16_t last = 0;
    double error[64];
    size_t n = 0;

    for (size_t i = 0; i < v->n; i++)
        last = v->v[i].run > last ? v->v[i].run : last;
    for (uint32_t run = 1; run <= last && n < sizeof error / sizeof *error; run++) {
        double is = run_median(v, (uint16_t)run, false), told = run_median(v, (uint16_t)run, true);

        if (is > 0 && told > 0)
            error[n++] = fabs(told / is - 1);
    }
    if (!n)
        return NAN;
    qsort(error, n, sizeof *error, by_double);
    return (error[(n - 1) / 2] + error[n / 2]) / 2;
}

static void put_row(struct comparison *c, enum kind kind, const char *name, double told,
                    struct stack_band band)
{
    struct value *v = c->is.v;
    size_t n = c->is.n;

    qsort(v, n, sizeof *v, by_value);
    struct row r = {.kind = kind,
                    .bytes = c->bytes,
                    .n = n,
                    .p10 = v[n / 10].s,
                    .median = v[(n - 1) / 2].s,
                    .p90 = v[n - 1 - n / 10].s,
                    .told = told,
                    .low = band.high > band.low ? told * band.low : NAN,
                    .high = band.high > band.low ? told * band.high : NAN,
                    .runs = between_runs(&c->is)};

    snprintf(r.name, sizeof r.name, "%s", name);
    for (size_t i = 0; i < n; i++)
        r.held += v[i].s >= r.low && v[i].s <= r.high;
    wr_vec_push(&c->row, r);
}

static void io_rows(struct comparison *c)
{
    for (int writes = 1; writes >= 0; writes--) {
        double told = NAN;

        c->is.n = 0;
        for (size_t i = 0; i < c->log->io.n; i++)
            if (c->log->io.v[i].bytes == c->bytes && c->log->io.v[i].writes == writes)
                put_value(&c->is, c->log->io.v[i].seconds, c->log->io.v[i].run);
        if (c->is.n && stack_io_median(&c->run, writes, c->bytes, &told))
            put_row(c, KIND_IO, writes ? "write" : "read", told, c->laws->io);
    }
}

static const char *const tails[] = {"_read", "_write", "", "_meta", "_data"};

static double state_median(const struct stack_log *log, uint16_t state, uint8_t io, uint64_t bytes,
                           bool total, struct values *v)
{
    v->n = 0;
    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (s->state == state && s->io == io && s->bytes == bytes && (!total || s->took_us > 0))
            put_value(v, (total ? s->took_us : s->exec_us) * 1e-6, s->run);
    }
    if (!v->n)
        return NAN;
    qsort(v->v, v->n, sizeof *v->v, by_value);
    return v->v[(v->n - 1) / 2].s;
}

/* The work of a state, or its work and waiting, of reads and of writes. */
static void state_row(struct comparison *c, enum kind kind, const char *name, uint16_t state)
{
    struct values told = {.v = wr_zalloc(c->run.state.n + 1, sizeof *told.v)};
    bool total = kind == KIND_TOTAL;

    for (uint8_t io = 0; io < 3; io++) {
        char full[200];
        double y = state_median(&c->run, state, io, c->bytes, total, &told);

        if (!told.n || isnan(state_median(c->log, state, io, c->bytes, total, &c->is)))
            continue;
        bool data = io < 2 && c->log->fs->state.v[state].has_data_code;

        snprintf(full, sizeof full, "%s%s", name, tails[data ? io + 3 : io]);
        put_row(c, kind, full, y, (struct stack_band){0});
    }
    free(told.v);
}

static bool waits(const struct stack_state *s)
{
    return s->does == STACK_SEND || s->does == STACK_RECEIVE || s->does == STACK_FLOW;
}

/* States that are functions of the published model. */
static void named_rows(struct comparison *c)
{
    const struct stack_fs *fs = c->log->fs;

    for (uint16_t s = 0; s < fs->state.n; s++)
        if (fs->state.v[s].function)
            state_row(c, KIND_WORK, fs->state.v[s].function, s);
    for (uint16_t s = 0; s < fs->state.n; s++)
        if (fs->state.v[s].function && waits(&fs->state.v[s]))
            state_row(c, KIND_TOTAL, fs->state.v[s].function, s);
}

static void function_rows(struct comparison *c)
{
    const struct stack_fs *fs = c->log->fs;

    for (uint16_t m = 0; m < fs->machine.n; m++)
        for (uint8_t io = 0; io < 3; io++) {
            char name[160];
            double told;

            c->is.n = 0;
            for (size_t i = 0; i < c->log->op.n; i++) {
                const struct stack_op_sample *s = &c->log->op.v[i];

                if (s->function == m && s->io == io && s->bytes == c->bytes)
                    put_value(&c->is, s->seconds, s->run);
            }
            if (!c->is.n || !stack_op_median(&c->run, m, io, c->bytes, &told))
                continue;
            snprintf(name, sizeof name, "%s%s", fs->machine.v[m].function, tails[io]);
            put_row(c, KIND_FUNCTION, name, told, c->laws->band[io][m]);
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

        if (s->bytes == bytes && s->server == server && us > 0 && !s->alone &&
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
        c->is.n = 0;
        put_value(&c->is, is, 0);
        snprintf(name, sizeof name, "%s %s %s", server ? "server" : "client",
                 stack_class_names[cls], wait ? "wait" : "work");
        put_row(c, KIND_CLASS, name, class_s(&c->run, c->bytes, server, cls, wait),
                (struct stack_band){0});
    }
}

static void state_rows(struct comparison *c)
{
    for (uint16_t s = 0; s < c->log->fs->state.n; s++)
        state_row(c, KIND_STATE, stack_state_text(c->log->fs, s).s, s);
}

static bool one_size(struct comparison *c, const struct valid_opts *o, struct stack_laws *laws,
                     struct wr_err *err)
{
    if (!stack_replay_log(&c->run, c->log, laws, c->bytes, err))
        return false;
    c->laws = laws;
    io_rows(c);
    if (o->by == BY_FUNCTION || o->by == BY_ALL) {
        function_rows(c);
        named_rows(c);
    }
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
    enum stack_see see;

    if (!o->left_out)
        return one_size(c, o, laws, err);
    stack_log_without(&rest, c->log, c->bytes);
    bool ok = cli_stack_see(&o->l, &see, err) &&
              stack_calibrate(&text, &rest, laws, "left out", see, err) &&
              stack_laws_open_text(&others, c->log->fs, "the laws", text.s, text.n, err) &&
              one_size(c, o, others, err);

    stack_laws_close(others);
    wr_str_fini(&text);
    stack_log_fini(&rest);
    return ok || wr_wrap(err, "%s left out", wr_text_bytes(c->bytes).s);
}

/* --- what is shown ------------------------------------------------------------------ */

static void table(const struct comparison *c, FILE *out, enum cli_format format)
{
    struct cli_table *t = cli_table_open(out, format, valid_columns, 14);

    for (size_t i = 0; i < c->row.n; i++) {
        const struct row *r = &c->row.v[i];

        cli_table_int(t, (int64_t)r->bytes);
        cli_table_text(t, kind_names[r->kind]);
        cli_table_text(t, r->name);
        cli_table_int(t, (int64_t)r->n);
        cli_table_real(t, r->p10);
        cli_table_real(t, r->median);
        cli_table_real(t, r->p90);
        cli_table_real(t, r->told);
        cli_table_real(t, 100 * error_of(r));
        cli_table_bool(t, inside(r));
        cli_table_real(t, r->low);
        cli_table_real(t, r->high);
        isnan(r->low) ? cli_table_null(t) : cli_table_bool(t, in_band(r));
        cli_table_real(t, 100 * r->runs);
    }
    cli_table_close(t);
}

static void picture(const struct comparison *c, struct wr_str *svg, struct wr_str *text)
{
    static const char *const names[] = {"reads and writes",    "functions", "their states",
                                        "states with waiting", "classes",   "states"};
    struct report_series series[KINDS + 1];
    struct report_point *point[KINDS];
    double low = INFINITY, high = 0;
    size_t n = 0;

    for (int k = 0; k < KINDS; k++) {
        size_t points = 0;

        point[k] = wr_zalloc(c->row.n + 1, sizeof *point[k]);
        for (size_t i = 0; i < c->row.n; i++) {
            const struct row *r = &c->row.v[i];

            if ((int)r->kind != k || !(r->median > 0) || !(r->told > 0))
                continue;
            low = fmin(low, fmin(r->median, r->told));
            high = fmax(high, fmax(r->median, r->told));
            point[k][points++] = (struct report_point){
                .x = r->median, .y = r->told, .low = r->told, .high = r->told};
        }
        series[n] = (struct report_series){
            .name = names[k], .point = point[k], .n = points, .marks_only = true};
        n += points > 0;
    }
    struct report_point same[2] = {{low, low, low, low, false}, {high, high, high, high, false}};

    series[n] = (struct report_series){
        .name = "as measured", .point = same, .n = 2, .line_only = true, .guide = true};
    struct report_chart chart = {.title = "simulated against measured times",
                                 .desc = "each mark is a function at one size; on the line the "
                                         "simulation tells what was measured",
                                 .x = {.label = "measured (s)", .log = true},
                                 .y = {.label = "simulated (s)", .log = true},
                                 .series = series,
                                 .nseries = n + 1};
    struct report_text_style style = {.ascii = true};

    if (n && svg)
        report_chart_svg(&chart, svg);
    if (n && text)
        report_chart_text(&chart, &style, text);
    for (int k = 0; k < KINDS; k++)
        free(point[k]);
}

/* In words: how far reads and writes are off, how many functions are near, and whether the bands
 * hold what they promise. */
static void verdict(const struct comparison *c, FILE *out)
{
    double worst = 0;
    size_t near = 0, all = 0, same_near = 0, same = 0, known = 0, medians = 0, held = 0,
           samples = 0, bands = 0;

    for (size_t i = 0; i < c->row.n; i++) {
        const struct row *r = &c->row.v[i];
        bool close = fabs(error_of(r)) <= 0.3;

        if (r->kind == KIND_IO)
            worst = fmax(worst, fabs(error_of(r)));
        if (r->kind == KIND_FUNCTION || r->kind == KIND_WORK) {
            all++;
            near += close;
            known += !isnan(r->runs);
            same += r->runs <= 0.3;
            same_near += r->runs <= 0.3 && close;
        }
        if (isnan(r->low))
            continue;
        bands++;
        medians += in_band(r);
        held += r->held;
        samples += r->n;
    }
    fprintf(out, "reads and writes are told within %.1f %%", 100 * worst);
    if (all)
        fprintf(out, ", %zu of %zu functions within 30 %%", near, all);
    if (known)
        fprintf(
            out,
            "\n%zu functions differ by more than 30 %% from run to run of the same size, where a "
            "law needs luck; of the other %zu, %zu are told within 30 %%",
            known - same, same, same_near);
    if (bands)
        fprintf(out,
                "\n%zu of %zu measured medians lie in the band that the laws give for eight of ten "
                "times, and %.0f %% of all times",
                medians, bands, 100.0 * (double)held / (double)samples);
    fputc('\n', out);
}

static bool put_rows(struct run *run, void *ctx, struct wr_err *err)
{
    const struct comparison *c = ctx;
    bool ok = true;

    for (size_t i = 0; ok && i < c->row.n; i++) {
        const struct row *r = &c->row.v[i];

        ok = run_put_stack_check(run,
                                 &(struct run_stack_check){.kind = kind_names[r->kind],
                                                           .name = r->name,
                                                           .bytes = r->bytes,
                                                           .n = r->n,
                                                           .p10_s = r->p10,
                                                           .measured_s = r->median,
                                                           .p90_s = r->p90,
                                                           .simulated_s = r->told,
                                                           .low_s = r->low,
                                                           .high_s = r->high},
                                 err);
    }
    return ok;
}

static bool show(struct comparison *c, const struct cli_call *call, enum cli_format format,
                 struct wr_err *err)
{
    const struct valid_opts *o = call->opts;
    struct wr_str svg = {0}, text = {0};
    bool ok = true;

    table(c, call->out, format);
    picture(c, o->svg ? &svg : NULL, format == CLI_AS_TEXT ? &text : NULL);
    if (format == CLI_AS_TEXT) {
        fprintf(call->out, "\n%s\n", wr_str_get(&text));
        verdict(c, call->out);
    }
    if (o->svg)
        ok = wr_output_text(o->svg, &wr_format_svg, o->force ? WR_FORCE : 0, &svg, err);
    struct run *run;

    if (ok && o->output)
        ok = cli_stack_run_create(&run, o->output, o->force, call, 0, err) &&
             cli_stack_run_close(run, true, false, put_rows, c, err);
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
    bool ok = cli_format_of(o->json, o->csv, &format, err) &&
              (!o->svg || wr_output_check(o->svg, &wr_format_svg, o->force ? WR_FORCE : 0, err)) &&
              (!o->output || run_check_path(o->output, o->force, err)) &&
              cli_stack_logs(&log, &o->l, fs, err);
    size_t n = 0;
    uint64_t *size = ok ? stack_log_sizes(&log, &n) : NULL;

    if (ok && !n)
        ok = wr_fail(err, WR_INPUT,
                     "no reads and writes in these logs; add adio.N, ior.out or functions.csv");
    wr_interrupt_catch();
    c.is.v = wr_zalloc(log.io.n + log.op.n + log.state.n + 1, sizeof *c.is.v);
    for (size_t i = 0; ok && i < n; i++) {
        c.bytes = size[i];
        ok = told_by(&c, o, laws, err);
    }
    ok = ok && show(&c, call, format, err);
    wr_vec_fini(&c.row);
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
        "same as a picture. With --left-out the laws never saw the size they are asked about. "
        "`runs` is how far a run is from the others of its size, in the middle: no law can be "
        "expected to be nearer.",
    .examples = "weir stack validate --laws laws.yaml --logs run3\n"
                "weir stack validate --left-out --logs run1 --logs run2 --logs run3 --svg a.svg\n"
                "weir stack validate --logs run3 -o check.weir && weir report check.weir\n",
    .opts = valid_rows,
    .opts_size = sizeof(struct valid_opts),
    .main = validate_main,
};
