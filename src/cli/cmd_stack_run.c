/* cmd_stack_run.c -- `weir stack run`: an IOR command line through all layers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/note.h"
#include "base/signals.h"
#include "cli/stack.h"
#include "run/run.h"
#include "stack/stack_trace.h"

struct run_opts {
    struct stack_opts s;
    uint32_t by;
    bool json, csv, ior, messages, calls, force;
    const char *states, *output;
};

static const char *const by_names[] = {"layer",    "class",     "agent", "state",
                                       "function", "operation", NULL};

static const struct cli_opt run_rows[] = {
    STACK_OPTS(struct run_opts),
    {.name = "by",
     .type = CLI_CHOICE,
     .offset = offsetof(struct run_opts, by),
     .value = "WHAT",
     .def = "layer",
     .names = by_names,
     .help = "what the time is grouped by: layer, class, agent, state, function of the published "
             "model, or whole operation, with its band"},
    {.name = "messages",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, messages),
     .help = "print the messages that were sent, too"},
    {.name = "ior",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, ior),
     .help = "print what IOR itself would print: its options and its table"},
    {.name = "state-times",
     .former = "states",
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, states),
     .value = "FILE",
     .help = "write every state of every operation there, as CSV"},
    {.name = "calls",
     .type = CLI_FLAG,
     .offset = offsetof(struct run_opts, calls),
     .help = "with --state-times: those of the libraries above the file system, too"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct run_opts, output),
     .value = "RUN",
     .help = "write a run file"},
    CLI_FORCE(struct run_opts, force),
    CLI_CSV(struct run_opts, csv),
    CLI_JSON(struct run_opts, json),
    CLI_OPT_END,
};

static const struct wr_format states_format = {
    .name = "a table of states in CSV", .endings = ".csv", .begins = "run,side,node,op_seq,"};

static bool stack_run_write_states(struct stack_trace *t, const struct run_opts *o,
                                   struct wr_err *err)
{
    struct wr_output out;

    if (!wr_output_open(&out, o->states, &states_format, o->force ? WR_FORCE : 0, err))
        return false;
    stack_trace_csv(t, "weir", o->calls, out.f);
    return wr_output_commit(&out, err);
}

struct to_keep {
    const struct stack_sim *s;
    const struct stack_firsts *sample;
};

static bool stack_run_add_row(struct run *run, void *ctx, struct wr_err *err)
{
    const struct to_keep *k = ctx;

    return stack_record(run, &k->s->setup, k->s->drive, k->sample, err);
}

static void stack_run_time_by(const struct stack_sim *s, enum stack_by by, FILE *out,
                              enum cli_format f)
{
    if (by == STACK_BY_FUNCTION)
        cli_stack_functions(s, out, f);
    else if (by == STACK_BY_OPERATION)
        cli_stack_operations(s, out, f);
    else
        cli_stack_by(s, by, out, f);
}

static void stack_run_print(const struct cli_call *call, const struct stack_sim *s)
{
    const struct run_opts *o = call->opts;
    enum cli_format f = o->json ? CLI_AS_JSON : o->csv ? CLI_AS_CSV : CLI_AS_TEXT;
    struct wr_str text = {0};

    if (o->ior) {
        cli_stack_ior_lines(s, call->out);
        return;
    }
    if (f != CLI_AS_TEXT) {
        if (o->messages)
            cli_stack_messages(s, call->out, f);
        else if (o->by != STACK_BY_LAYER)
            stack_run_time_by(s, o->by, call->out, f);
        else
            cli_stack_ior(s, call->out, f);
        return;
    }
    fprintf(call->out, "%s; times: %s%s\n\n", s->fs->title, s->timings->title,
            stack_timings_measured(s->timings) ? "" : " (assumed)");
    cli_stack_ior(s, call->out, f);
    fputc('\n', call->out);
    stack_run_time_by(s, o->by, call->out, f);
    if (o->messages) {
        fputc('\n', call->out);
        cli_stack_messages(s, call->out, f);
    }
    cli_stack_collected(s, &text);
    cli_stack_bottleneck(s, &text);
    fprintf(call->out, "\n%s\n", wr_str_get(&text));
    wr_str_fini(&text);
}

static bool stack_run_simulate(const struct cli_call *call, struct stack_sim *s,
                               struct stack_trace *trace, const struct stack_firsts *sample,
                               struct wr_err *err)
{
    const struct run_opts *o = call->opts;
    struct wr_str warn = {0};
    struct run *run = NULL;
    bool stopped = false;

    if (o->states && !wr_output_check(o->states, &states_format, o->force ? WR_FORCE : 0, err))
        return false;
    if (o->output && !cli_stack_run_create(&run, o->output, o->force, call, o->s.seed, err))
        return false;
    cli_stack_warn(s, &warn);
    for (const char *p = wr_str_get(&warn), *end; (end = strchr(p, '\n')); p = end + 1)
        wr_note("%.*s", (int)(end - p), p);
    wr_str_fini(&warn);
    wr_interrupt_catch();
    stack_drive_begin(s->drive);
    bool ran = stack_drive_run(s->drive, &stopped, err);

    if (run && !cli_stack_run_close(run, ran, stopped, stack_run_add_row,
                                    &(struct to_keep){s, sample}, err))
        return false;
    if (!ran || (o->states && !stack_run_write_states(trace, o, err)))
        return false;
    stack_run_print(call, s);
    return !stopped ||
           wr_fail(err, WR_INTERRUPTED, "interrupted; the tables are of what was done until then");
}

static int stack_run_main(const struct cli_call *call, struct wr_err *err)
{
    const struct run_opts *o = call->opts;
    struct stack_trace trace = {0};
    struct stack_firsts *sample = o->output ? stack_firsts_open() : NULL;
    struct stack_both both = {0};
    struct stack_hooks hooks = stack_both_hooks(&both);
    struct stack_sim s;
    enum cli_format format;

    if (o->states)
        both.of[0] = stack_trace_hooks(&trace);
    if (sample)
        both.of[1] = stack_firsts_hooks(sample);
    bool ok = cli_format_of(o->json, o->csv, &format, err) &&
              cli_stack_open(&s, &o->s, call, sample || o->states ? &hooks : NULL, err);

    if (ok) {
        trace.fs = s.fs;
        trace.clients = s.setup.clients;
        if (sample)
            stack_firsts_of(sample, s.fs);
        if (o->ior && (!s.has_test || format != CLI_AS_TEXT)) {
            wr_fail(err, WR_INPUT, "--ior prints text, of IOR's command lines; leave it out");
            cli_stack_close(&s);
            return cli_error(err);
        }
        if (o->by == STACK_BY_FUNCTION && !s.timings->function.n)
            ok = wr_fail(
                err, WR_INPUT,
                "these timing models name no functions; use --timing published, or --by state");
        ok = ok && stack_run_simulate(call, &s, &trace, sample, err);
        cli_stack_close(&s);
    }
    stack_trace_fini(&trace);
    stack_firsts_close(sample);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_stack_run = {
    .name = "run",
    .summary = "run an IOR command line or a program through all layers",
    .args = "-- ior [OPTIONS] | PROGRAM.ncptl [OPTIONS]",
    .min_args = 1,
    .max_args = -1,
    .input = 1,
    .about =
        "Simulates the test on a file system and prints IOR's own table, where the time went, "
        "and the bottleneck. Work is what an agent does itself, wait what it waits for others; "
        "both are summed over all processes. Of a coNCePTuaL program its accesses to files, its "
        "computing and its barriers are played; its writes are one phase, its reads another.\n\n"
        "low and high are the band that eight of ten measured times of reads and writes (wr/rd), "
        "or "
        "of whole operations (--by operation), would lie in: timing models that `weir stack "
        "calibrate` made "
        "have one.\n\n"
        "The same command gives the same numbers, to the bit.",
    .examples = "weir stack run --servers 5 --tasks 5 -- ior -a MPIIO -b 205m -t 205m -F\n"
                "weir stack run --by state --messages -- ior -a MPIIO -b 8m -t 8m -F\n"
                "weir stack run --fs lustre --servers 4 --tasks 8 -- write.ncptl --bytes 1E9\n",
    .opts = run_rows,
    .opts_size = sizeof(struct run_opts),
    .main = stack_run_main,
};
