/* cmd_stack.c -- `weir stack`: a parallel file system's software, layer by layer. */
#include <string.h>

#include "cli/stack.h"

static const struct cli_verb *const subs[] = {
    &cli_stack_run,       &cli_stack_trace,    &cli_stack_step,
    &cli_stack_calibrate, &cli_stack_validate, &cli_stack_check,
    &cli_stack_list,      &cli_stack_show,     NULL};

const struct cli_verb cli_cmd_stack = {
    .name = "stack",
    .summary = "simulate a parallel file system's software, layer by layer",
    .about = "Every layer of the file system is made of agents, every agent is a state machine "
             "that stands in a text file, and every state has a timing model that says how long it "
             "takes. "
             "The verbs below run IOR command lines through them, show where the time goes, and "
             "take the timing models from real logs.",
    .subs = subs,
};

struct check_opts {
    bool json;
    const char *timings;
};

static const struct cli_opt check_rows[] = {
    {.name = "timing",
     .former = "laws",
     .type = CLI_TEXT,
     .offset = offsetof(struct check_opts, timings),
     .value = "FILE",
     .help = "find states without a timing model in this file, too"},
    CLI_JSON(struct check_opts, json),
    CLI_OPT_END,
};

static void stack_cmd_print_fault(void *ctx, const char *text)
{
    fprintf(ctx, "%s\n", text);
}

static const struct cli_column fault_columns[] = {{"fault", NULL}};

static void stack_cmd_table_fault(void *ctx, const char *text)
{
    cli_table_text(ctx, text);
}

/* States that would take no time. */
static size_t stack_cmd_check_timings(const struct stack_fs *fs,
                                      const struct stack_timings *timings, const char *name,
                                      stack_report_fn *report, void *ctx)
{
    struct wr_str text = {0};

    for (size_t i = 0; timings && i < timings->missing.n; i++) {
        wr_str_addf(&text, "%s: %s has no timing model and would take no time; add it", name,
                    stack_state_text(fs, timings->missing.v[i]).s);
        report(ctx, text.s);
        text.n = 0;
    }
    wr_str_fini(&text);
    return timings ? timings->missing.n : 0;
}

static int stack_cmd_check_main(const struct cli_call *call, struct wr_err *err)
{
    const struct check_opts *o = call->opts;
    struct stack_timings *timings = NULL;
    struct stack_fs *fs;
    size_t n;

    if (!stack_fs_read(&fs, call->args[0], NULL, 0, err))
        return cli_error(err);
    if (o->timings && !stack_timings_open(&timings, fs, o->timings, err)) {
        stack_fs_close(fs);
        return cli_error(err);
    }
    struct cli_table *t = o->json ? cli_table_open(call->out, CLI_AS_JSON, fault_columns, 1) : NULL;
    stack_report_fn *report = t ? stack_cmd_table_fault : stack_cmd_print_fault;
    void *to = t ? (void *)t : (void *)call->out;

    n = stack_fs_check(fs, report, to) +
        stack_cmd_check_timings(fs, timings, o->timings, report, to);
    if (t)
        cli_table_close(t);
    else if (!n)
        fprintf(call->out, "%zu machines, %zu states, %zu messages: nothing is wrong\n",
                fs->machine.n, fs->state.n, fs->message.n);
    stack_timings_close(timings);
    stack_fs_close(fs);
    if (!n)
        return 0;
    wr_fail(err, WR_INPUT, "%zu faults in %s; see above", n, call->args[0]);
    return cli_error(err);
}

const struct cli_verb cli_stack_check = {
    .name = "check",
    .summary = "find what is wrong with a machine file",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Says everything at once, with line and column: states that are unknown, that nothing "
        "leads to or that lead nowhere, messages that no machine sends, serves or answers, "
        "machines that no state uses or that jump in circles; with --timing also states that have "
        "no timing model.",
    .examples = "weir stack check myfs.yaml\n"
                "weir stack check --timing mytiming.yaml myfs.yaml\n",
    .opts = check_rows,
    .opts_size = sizeof(struct check_opts),
    .main = stack_cmd_check_main,
};

static const struct cli_opt list_rows[] = {CLI_JSON(struct check_opts, json), CLI_OPT_END};

static bool stack_cmd_list_one(struct cli_table *t, const struct stack_shipped *f,
                               struct wr_err *err)
{
    size_t n = strlen(f->name);
    struct stack_fs *fs;

    if (!stack_fs_open(&fs, f->name, err))
        return false;
    for (const struct stack_shipped *l = stack_shipped_timings(); l->name; l++) {
        struct stack_timings *timings;

        if (strncmp(l->name, f->name, n) || l->name[n] != '-')
            continue;
        if (!stack_timings_open(&timings, fs, l->name + n + 1, err)) {
            stack_fs_close(fs);
            return false;
        }
        cli_table_text(t, f->name);
        cli_table_int(t, (int64_t)fs->machine.n);
        cli_table_int(t, (int64_t)fs->state.n);
        cli_table_text(t, l->name + n + 1);
        cli_table_text(t, timings->title);
        cli_table_text(t, stack_timings_measured(timings) ? "measured" : "assumed");
        stack_timings_close(timings);
    }
    stack_fs_close(fs);
    return true;
}

static int stack_cmd_list_main(const struct cli_call *call, struct wr_err *err)
{
    static const struct cli_column columns[] = {{"fs", NULL},          {"machines", NULL},
                                                {"states", NULL},      {"timing", NULL},
                                                {"title", "times of"}, {"times", NULL}};
    const struct check_opts *o = call->opts;
    struct cli_table *t =
        cli_table_open(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 6);
    bool ok = true;

    for (const struct stack_shipped *f = stack_shipped_fs(); ok && f->name; f++)
        ok = stack_cmd_list_one(t, f, err);
    cli_table_close(t);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_stack_list = {
    .name = "list",
    .summary = "list the file systems that are shipped, and their timing models",
    .opts = list_rows,
    .opts_size = sizeof(struct check_opts),
    .main = stack_cmd_list_main,
};
