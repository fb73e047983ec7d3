/* cmd_stack_run.c -- `weir stack run`: an IOR command line through all layers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "cli/stack.h"
#include "run/run.h"
#include "stack/trace.h"

struct run_opts {
    struct stack_opts s;
    uint32_t by;
    bool json, csv, messages, calls;
    const char *states, *output;
};

static const char *const by_names[] = {"layer", "class", "agent", "state", "function", NULL};

static const struct cli_opt run_rows[] = {
    STACK_OPTS(struct run_opts),
    {.name = "by",
     .type = CLI_CHOICE,
     .offset = offsetof(struct run_opts, by),
     .value = "WHAT",
     .def = "layer",
     .names = by_names,
     .help = "what the time is told by: layer, class, agent, state, or function of the published "
             "model"},
    {.name = "messages",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, messages),
     .help = "print the messages that were sent, too"},
    {.name = "states",
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, states),
     .value = "FILE",
     .help = "write every state of every operation there, as CSV"},
    {.name = "calls",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, calls),
     .help = "with --states: those of the libraries above the file system, too"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, output),
     .value = "RUN",
     .help = "write a run file"},
    CLI_CSV(struct run_opts, csv),
    CLI_JSON(struct run_opts, json),
    CLI_OPT_END,
};

static bool write_states(struct stack_trace *t, const struct run_opts *o, struct wr_err *err)
{
    FILE *f = fopen(o->states, "w");

    if (!f)
        return wr_fail_errno(err, "%s cannot be written; give another file", o->states);
    stack_trace_csv(t, "weir", o->calls, f);
    bool bad = ferror(f);

    if (fclose(f) || bad)
        return wr_fail_errno(err, "%s cannot be written; make room for it", o->states);
    return true;
}

static bool put_phases(struct run *run, const struct stack_sim *s, struct wr_err *err)
{
    const struct stack_phase *p;
    size_t n = stack_drive_phases(s->drive, &p);
    char key[64];

    for (size_t i = 0; i < n; i++) {
        if (!p[i].opened)
            continue;
        double total = stack_s(p[i].close_last - p[i].open_first);

        snprintf(key, sizeof key, "%s_%zu_bw_MiBps", p[i].writes ? "write" : "read", i);
        if (!run_put_real(run, key, total > 0 ? (double)p[i].bytes / 1048576 / total : 0, "MiB/s",
                          err))
            return false;
        snprintf(key, sizeof key, "%s_%zu_s", p[i].writes ? "write" : "read", i);
        if (!run_put_real(run, key, total, "s", err))
            return false;
    }
    return true;
}

static bool put_states(struct run *run, const struct stack_sim *s, struct wr_err *err)
{
    const struct stack_counts *k = stack_engine_counts(stack_drive_engine(s->drive));
    char key[200];

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < s->fs->state.n; i++) {
            const struct stack_sum *sum = &k->state[side][i];
            struct stack_text name = stack_state_text(s->fs, (uint16_t)i);

            if (!sum->n)
                continue;
            snprintf(key, sizeof key, "state.%s.%s.visits", side ? "server" : "client", name.s);
            if (!run_put_count(run, key, sum->n, "", err))
                return false;
            snprintf(key, sizeof key, "state.%s.%s.work_s", side ? "server" : "client", name.s);
            if (!run_put_real(run, key, stack_s(sum->exec_ns), "s", err))
                return false;
            snprintf(key, sizeof key, "state.%s.%s.wait_s", side ? "server" : "client", name.s);
            if (!run_put_real(run, key, stack_s(sum->wait_ns), "s", err))
                return false;
        }
    return true;
}

static bool put_run(struct run *run, const struct cli_call *call, const struct stack_sim *s,
                    struct wr_err *err)
{
    const struct stack_counts *k = stack_engine_counts(stack_drive_engine(s->drive));

    (void)call;
    return run_put_text(run, "file_system", s->fs->title, err) &&
           run_put_text(run, "laws", s->laws->title, err) &&
           run_put_text(run, "laws_source", s->laws->source, err) &&
           run_put_count(run, "servers", s->setup.servers, "", err) &&
           run_put_count(run, "clients", s->setup.clients, "", err) &&
           run_put_count(run, "data_messages", k->data_messages, "", err) &&
           run_put_count(run, "bytes_written", k->client_out_b, "B", err) &&
           run_put_count(run, "bytes_read", k->client_in_b, "B", err) &&
           run_put_count(run, "exchange_messages", stack_drive_collected(s->drive).messages, "",
                         err) &&
           run_put_count(run, "exchange_bytes", stack_drive_collected(s->drive).bytes, "B", err) &&
           run_put_count(run, "events", stack_engine_events(stack_drive_engine(s->drive)), "",
                         err) &&
           run_put_real(run, "sim_end_ns", (double)stack_engine_now(stack_drive_engine(s->drive)),
                        "ns", err) &&
           put_phases(run, s, err) && put_states(run, s, err);
}

static bool write_run(const struct cli_call *call, const struct stack_sim *s, bool stopped,
                      struct wr_err *err)
{
    const struct run_opts *o = call->opts;
    struct wr_str command = {0};
    struct run *run;

    run_command_line(&command, call->argc, call->argv);
    struct run_meta meta = {.kind = "stack", .command = wr_str_get(&command), .seed = o->s.seed};
    bool ok = run_create(&run, o->output, &meta, err);

    if (ok) {
        bool put = put_run(run, call, s, err);
        struct wr_err end = {0};

        ok = run_finish(run,
                        !put      ? RUN_FAILED
                        : stopped ? RUN_INCOMPLETE
                                  : RUN_COMPLETE,
                        !put      ? err->text
                        : stopped ? "interrupted"
                                  : NULL,
                        put ? err : &end) &&
             put;
    }
    wr_str_fini(&command);
    return ok;
}

static void print(const struct cli_call *call, const struct stack_sim *s)
{
    const struct run_opts *o = call->opts;
    enum cli_format f = o->json ? CLI_AS_JSON : o->csv ? CLI_AS_CSV : CLI_AS_TEXT;
    struct wr_str text = {0};

    if (f != CLI_AS_TEXT) {
        if (o->messages)
            cli_stack_messages(s, call->out, f);
        else if (o->by != STACK_BY_LAYER)
            o->by == STACK_BY_FUNCTION ? cli_stack_functions(s, call->out, f)
                                       : cli_stack_by(s, o->by, call->out, f);
        else
            cli_stack_ior(s, call->out, f);
        return;
    }
    fprintf(call->out, "%s; times: %s\n\n", s->fs->title, s->laws->title);
    cli_stack_ior(s, call->out, f);
    fputc('\n', call->out);
    if (o->by == STACK_BY_FUNCTION)
        cli_stack_functions(s, call->out, f);
    else
        cli_stack_by(s, o->by, call->out, f);
    if (o->messages) {
        fputc('\n', call->out);
        cli_stack_messages(s, call->out, f);
    }
    cli_stack_collected(s, &text);
    cli_stack_bottleneck(s, &text);
    fprintf(call->out, "\n%s\n", wr_str_get(&text));
    wr_str_fini(&text);
}

static bool simulate(const struct cli_call *call, struct stack_sim *s, struct stack_trace *trace,
                     struct wr_err *err)
{
    const struct run_opts *o = call->opts;
    struct wr_str warn = {0};
    bool stopped = false;

    cli_stack_warn(s, &warn);
    if (warn.n)
        fprintf(stderr, "weir: %s", warn.s);
    wr_str_fini(&warn);
    wr_interrupt_catch();
    stack_drive_begin(s->drive);
    if (!stack_drive_run(s->drive, &stopped, err))
        return false;
    if (o->states && !write_states(trace, o, err))
        return false;
    if (o->output && !write_run(call, s, stopped, err))
        return false;
    print(call, s);
    return !stopped ||
           wr_fail(err, WR_INTERRUPTED, "interrupted; the tables are of what was done until then");
}

static int run_main(const struct cli_call *call, struct wr_err *err)
{
    const struct run_opts *o = call->opts;
    struct stack_trace trace = {0};
    struct stack_hooks hooks = stack_trace_hooks(&trace);
    struct stack_sim s;
    enum cli_format format;

    if (!cli_format_of(o->json, o->csv, &format, err) ||
        !cli_stack_open(&s, &o->s, call, o->states ? &hooks : NULL, err))
        return cli_error(err);
    if (o->by == STACK_BY_FUNCTION && !s.laws->function.n) {
        wr_fail(err, WR_INPUT, "these laws name no functions; use --laws published, or --by state");
        cli_stack_close(&s);
        return cli_error(err);
    }
    trace.fs = s.fs;
    trace.clients = s.setup.clients;
    bool ok = simulate(call, &s, &trace, err);

    stack_trace_fini(&trace);
    cli_stack_close(&s);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_stack_run = {
    .name = "run",
    .summary = "run an IOR command line through all layers",
    .args = "-- ior [OPTIONS]",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Simulates the test on a file system and prints IOR's own table, where the time went, "
        "and the bottleneck. Work is what an agent does itself, wait what it waits for others; "
        "both are summed over all processes.\n\n"
        "The same command gives the same numbers, to the bit.",
    .examples = "weir stack run --servers 5 --tasks 5 -- ior -a MPIIO -b 205m -t 205m -F\n"
                "weir stack run --by state --messages -- ior -a MPIIO -b 8m -t 8m -F\n",
    .opts = run_rows,
    .opts_size = sizeof(struct run_opts),
    .main = run_main,
};
