/* cmd_stack_trace.c -- `weir stack trace`: one operation through all layers. */
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "cli/cli_figure.h"
#include "cli/stack.h"
#include "stack/draw.h"

struct trace_opts {
    struct stack_opts s;
    uint32_t format, operation, nth;
    const char *output;
    bool json, csv, force;
};

static const char *const format_names[] = {"auto", "text", "svg", "perfetto", "messages", NULL};

enum { AS_AUTO, AS_TEXT, AS_SVG, AS_PERFETTO, AS_MESSAGES };

static const struct wr_format trace_text = {.name = "such a trace", .endings = ".txt"};
static const struct wr_format trace_perfetto = {.name = "a trace for Perfetto",
                                                .endings = ".json",
                                                .begins = "{\"displayTimeUnit\":\"ns\"",
                                                .holds = "\"name\":\"weir stack"};
/* With --json. */
static const struct wr_format trace_messages = {.name = "such a table", .endings = ".json"};
static const struct wr_format *const trace_formats[] = {&trace_text, &wr_format_svg,
                                                        &trace_perfetto, &wr_format_csv, NULL};

/* What is written, and what a file of it is: --format, or else the ending. A table of messages is
 * text, CSV or JSON. */
static bool stack_trace_format(const struct trace_opts *o, uint32_t *ret,
                               const struct wr_format **ret_is, struct wr_err *err)
{
    uint32_t as = o->json || o->csv ? AS_MESSAGES : AS_TEXT;
    const struct wr_format *f = trace_formats[0];

    if (o->output && cli_figure_is_rendered(o->output) && o->format == AS_AUTO && as == AS_TEXT) {
        *ret = AS_SVG;
        *ret_is = &wr_format_svg;
        return cli_figure_check(o->output, o->force ? WR_FORCE : 0, err);
    }
    if (o->output && !wr_output_format(&f, o->output, trace_formats, err))
        return false;
    if (o->format != AS_AUTO)
        as = o->format;
    else if (as != AS_MESSAGES)
        for (uint32_t i = 0; trace_formats[i]; i++)
            as = trace_formats[i] == f ? AS_TEXT + i : as;
    if ((o->json || o->csv) && as != AS_MESSAGES)
        return wr_fail(err, WR_INPUT, "--json and --csv are for tables; add --format messages");
    if (as != AS_MESSAGES)
        f = trace_formats[as - AS_TEXT];
    else if (o->json)
        f = &trace_messages;
    else if (o->csv)
        f = &wr_format_csv;
    else
        f = f == &wr_format_csv ? f : &trace_text;
    *ret = as;
    *ret_is = f;
    return !o->output || wr_output_check(o->output, f, o->force ? WR_FORCE : 0, err);
}

enum { MOST_VISITS = 5000000 };

static const struct cli_opt trace_rows[] = {
    STACK_OPTS(struct trace_opts),
    {.name = "operation",
     .type = CLI_CHOICE,
     .offset = offsetof(struct trace_opts, operation),
     .value = "WHAT",
     .def = "write",
     .names = stack_operation_names,
     .help = "which operation: probe, open, create, set_size, write, read, sync, get_size, close, "
             "delete or mount"},
    STACK_OPT("nth", CLI_U32, struct trace_opts, nth, "N", "1", "the Nth of them"),
    {.name = "format",
     .type = CLI_CHOICE,
     .offset = offsetof(struct trace_opts, format),
     .value = "FORMAT",
     .def = "auto",
     .names = format_names,
     .help = "auto: by the ending of the output file (.txt .svg .json .csv), else text; text, a "
             "sequence diagram as svg, perfetto for viewers of traces, or messages: a table "
             "of what was sent"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct trace_opts, output),
     .value = "FILE",
     .help = "write there instead of to standard output"},
    CLI_FORCE(struct trace_opts, force),
    CLI_CSV(struct trace_opts, csv),
    CLI_JSON(struct trace_opts, json),
    CLI_OPT_END,
};

/* Messages with sender and receiver, in the order of time. */
static void stack_trace_print_messages(const struct stack_trace *t, const bool *of,
                                       enum cli_format format, FILE *out)
{
    static const struct cli_column columns[] = {{"t_us", NULL},    {"from", NULL}, {"to", NULL},
                                                {"message", NULL}, {"kind", NULL}, {"bytes", NULL},
                                                {"times", NULL}};
    size_t n;
    uint32_t *at = stack_messages_of(t, of, &n);
    struct cli_table *table = cli_table_open(out, format, columns, 7);

    for (size_t i = 0; i < n; i++) {
        const struct stack_sent *s = &t->sent.v[at[i]];

        cli_table_real(table, (double)(s->t_ns - t->sent.v[at[0]].t_ns) * 1e-3);
        cli_table_text(table, stack_node_name(t, s->from).s);
        cli_table_text(table, stack_node_name(t, s->to).s);
        cli_table_text(table, t->fs->message.v[s->message].name);
        cli_table_text(table, s->data ? "data" : s->answer ? "answer" : "request");
        cli_table_int(table, (int64_t)s->bytes);
        cli_table_text(table, t->assumed ? "assumed" : t->beyond ? t->beyond : "measured");
    }
    cli_table_close(table);
    free(at);
}

static void stack_trace_draw(const struct stack_trace *t, const bool *of,
                             const struct trace_opts *o, uint32_t as, const struct wr_format *f,
                             const char *title, FILE *out)
{
    switch (as) {
    case AS_TEXT:
        stack_draw_text(t, of, out);
        break;
    case AS_SVG:
        stack_draw_svg(t, of, title, out);
        break;
    case AS_PERFETTO:
        stack_draw_perfetto(t, of, out);
        break;
    default:
        stack_trace_print_messages(t, of,
                                   o->json                         ? CLI_AS_JSON
                                   : o->csv || f == &wr_format_csv ? CLI_AS_CSV
                                                                   : CLI_AS_TEXT,
                                   out);
        break;
    }
}

static bool stack_trace_print(const struct cli_call *call, const struct stack_sim *s,
                              const struct stack_trace *t, struct wr_err *err)
{
    const struct trace_opts *o = call->opts;
    uint16_t machine = s->fs->operation[s->setup.api][o->operation];
    uint32_t root =
        machine == STACK_NONE || !o->nth ? UINT32_MAX : stack_find_call(t, machine, o->nth - 1);
    char title[200];

    if (root == UINT32_MAX)
        return wr_fail(err, WR_INPUT,
                       "the test has no %s number %u; give another --operation or --nth",
                       stack_operation_names[o->operation], o->nth);
    uint32_t as;
    const struct wr_format *f;
    struct wr_str text = {0};
    unsigned flags = o->force ? WR_FORCE : 0;

    if (!stack_trace_format(o, &as, &f, err))
        return false;
    FILE *out = o->output ? open_memstream(&text.s, &text.n) : call->out;

    if (!out)
        return wr_fail_errno(err, "no memory for the trace; free some");
    bool *of = stack_family(t, root);

    snprintf(title, sizeof title, "%s on %s, client %u%s", stack_operation_names[o->operation],
             s->fs->name, t->activity.v[root].node,
             !stack_timings_measured(s->timings) ? ", times assumed"
             : s->setup.beyond                   ? ", times extrapolated"
                                                 : "");
    stack_trace_draw(t, of, o, as, f, title, out);
    free(of);
    if (!o->output)
        return true;
    bool ok = !fclose(out) || wr_fail_errno(err, "no memory for the trace; free some");

    ok = ok && (as == AS_SVG ? cli_figure_write(o->output, &text, flags, err)
                             : wr_output_text(o->output, f, flags, &text, err));
    free(text.s);
    return ok;
}

static int stack_trace_main(const struct cli_call *call, struct wr_err *err)
{
    const struct trace_opts *o = call->opts;
    struct stack_trace trace = {.most = MOST_VISITS};
    struct stack_hooks hooks = stack_trace_hooks(&trace);
    struct stack_sim s;
    bool stopped = false;
    enum cli_format format;
    const struct wr_format *is;
    uint32_t as;

    if (!cli_format_of(o->json, o->csv, &format, err) || !stack_trace_format(o, &as, &is, err))
        return cli_error(err);
    if (!cli_stack_open(&s, &o->s, call, &hooks, err))
        return cli_error(err);
    trace.fs = s.fs;
    trace.assumed = !stack_timings_measured(s.timings);
    trace.beyond = s.setup.beyond ? s.label.s : NULL;
    trace.timings = s.timings;
    trace.clients = s.setup.clients;
    wr_interrupt_catch();
    stack_drive_begin(s.drive);
    bool ran = stack_drive_run(s.drive, &stopped, err);
    struct wr_err other = {0};
    /* how it failed is what one wants to see */
    bool ok =
        (ran || trace.visit.n) && stack_trace_print(call, &s, &trace, ran ? err : &other) && ran;

    stack_trace_fini(&trace);
    cli_stack_close(&s);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_stack_trace = {
    .name = "trace",
    .summary = "show one operation through all layers",
    .args = "-- ior [OPTIONS]",
    .min_args = 1,
    .max_args = -1,
    .about = "Runs the test and prints every state and every message of one of its operations, on "
             "the client and on the servers that work for it: as text in the order of time, as a "
             "sequence diagram (svg), or in the format that Perfetto and Chrome show.",
    .examples = "weir stack trace --servers 5 -- ior -a MPIIO -b 8m -t 8m -F\n"
                "weir stack trace --operation create -o a.svg -- ior -a MPIIO\n"
                "weir stack trace -o a.json -- ior -a MPIIO\n",
    .opts = trace_rows,
    .opts_size = sizeof(struct trace_opts),
    .main = stack_trace_main,
};
