/* cmd_stack_trace.c -- `weir stack trace`: one operation through all layers. */
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "cli/stack.h"
#include "stack/draw.h"

struct trace_opts {
    struct stack_opts s;
    uint32_t format, operation, nth;
    const char *output;
};

static const char *const format_names[] = {"text", "svg", "perfetto", NULL};

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
     .def = "text",
     .names = format_names,
     .help = "text, a sequence diagram as svg, or perfetto for viewers of traces"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct trace_opts, output),
     .value = "FILE",
     .help = "write there instead of to standard output"},
    CLI_OPT_END,
};

static void draw(const struct stack_trace *t, const bool *of, uint32_t format, const char *title,
                 FILE *out)
{
    if (format == 0)
        stack_draw_text(t, of, out);
    else if (format == 1)
        stack_draw_svg(t, of, title, out);
    else
        stack_draw_perfetto(t, of, out);
}

static bool show(const struct cli_call *call, const struct stack_sim *s,
                 const struct stack_trace *t, struct wr_err *err)
{
    const struct trace_opts *o = call->opts;
    uint16_t machine = s->fs->operation[o->operation];
    uint32_t root =
        machine == STACK_NONE || !o->nth ? UINT32_MAX : stack_find_call(t, machine, o->nth - 1);
    char title[200];

    if (root == UINT32_MAX)
        return wr_fail(err, WR_INPUT,
                       "the test has no %s number %u; give another --operation or --nth",
                       stack_operation_names[o->operation], o->nth);
    FILE *out = o->output ? fopen(o->output, "w") : call->out;

    if (!out)
        return wr_fail_errno(err, "%s cannot be written; give another file", o->output);
    bool *of = stack_family(t, root);

    snprintf(title, sizeof title, "%s on %s, client %u", stack_operation_names[o->operation],
             s->fs->name, t->act.v[root].node);
    draw(t, of, o->format, title, out);
    free(of);
    if (o->output && (ferror(out) | fclose(out)))
        return wr_fail_errno(err, "%s cannot be written; make room for it", o->output);
    return true;
}

static int trace_main(const struct cli_call *call, struct wr_err *err)
{
    const struct trace_opts *o = call->opts;
    struct stack_trace trace = {.most = MOST_VISITS};
    struct stack_hooks hooks = stack_trace_hooks(&trace);
    struct stack_sim s;
    bool stopped = false;

    if (!cli_stack_open(&s, &o->s, call, &hooks, err))
        return cli_error(err);
    trace.fs = s.fs;
    trace.clients = s.setup.clients;
    wr_interrupt_catch();
    stack_drive_begin(s.drive);
    bool ok = stack_drive_run(s.drive, &stopped, err) && show(call, &s, &trace, err);

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
                "weir stack trace --operation create --format svg -o a.svg -- ior -a MPIIO\n"
                "weir stack trace --format perfetto -o a.json -- ior -a MPIIO\n",
    .opts = trace_rows,
    .opts_size = sizeof(struct trace_opts),
    .main = trace_main,
};
