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
             "that stands in a text file, and every state has a law that says how long it takes. "
             "The verbs below run IOR command lines through them, show where the time goes, and "
             "take the laws from real logs.",
    .subs = subs,
};

struct check_opts {
    bool json;
    const char *laws;
};

static const struct cli_opt check_rows[] = {
    {.name = "laws",
     .type = CLI_TEXT,
     .offset = offsetof(struct check_opts, laws),
     .value = "FILE",
     .help = "find states without a law in this file, too"},
    CLI_JSON(struct check_opts, json),
    CLI_OPT_END,
};

static void print_fault(void *ctx, const char *text)
{
    fprintf(ctx, "%s\n", text);
}

static const struct cli_column fault_columns[] = {{"fault", NULL}};

static void table_fault(void *ctx, const char *text)
{
    cli_table_text(ctx, text);
}

/* States that would take no time. */
static size_t check_laws(const struct stack_fs *fs, const struct stack_laws *laws, const char *name,
                         stack_tell *tell, void *ctx)
{
    struct wr_str text = {0};

    for (size_t i = 0; laws && i < laws->missing.n; i++) {
        wr_str_addf(&text, "%s: %s has no law and would take no time; add it", name,
                    stack_state_text(fs, laws->missing.v[i]).s);
        tell(ctx, text.s);
        text.n = 0;
    }
    wr_str_fini(&text);
    return laws ? laws->missing.n : 0;
}

static int check_main(const struct cli_call *call, struct wr_err *err)
{
    const struct check_opts *o = call->opts;
    struct stack_laws *laws = NULL;
    struct stack_fs *fs;
    size_t n;

    if (!stack_fs_read(&fs, call->args[0], NULL, 0, err))
        return cli_error(err);
    if (o->laws && !stack_laws_open(&laws, fs, o->laws, err)) {
        stack_fs_close(fs);
        return cli_error(err);
    }
    struct cli_table *t = o->json ? cli_table_open(call->out, CLI_AS_JSON, fault_columns, 1) : NULL;
    stack_tell *tell = t ? table_fault : print_fault;
    void *to = t ? (void *)t : (void *)call->out;

    n = stack_fs_check(fs, tell, to) + check_laws(fs, laws, o->laws, tell, to);
    if (t)
        cli_table_close(t);
    else if (!n)
        fprintf(call->out, "%zu machines, %zu states, %zu messages: nothing is wrong\n",
                fs->machine.n, fs->state.n, fs->message.n);
    stack_laws_close(laws);
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
    .about = "Says everything at once, with line and column: states that are unknown, that nothing "
             "leads to or that lead nowhere, messages that nobody sends, serves or answers, "
             "machines that nobody uses or that jump in circles; with --laws also states that no "
             "law tells the time of.",
    .examples = "weir stack check myfs.yaml\n"
                "weir stack check --laws mylaws.yaml myfs.yaml\n",
    .opts = check_rows,
    .opts_size = sizeof(struct check_opts),
    .main = check_main,
};

static const struct cli_opt list_rows[] = {CLI_JSON(struct check_opts, json), CLI_OPT_END};

static bool list_one(struct cli_table *t, const struct stack_shipped *f, struct wr_err *err)
{
    size_t n = strlen(f->name);
    struct stack_fs *fs;

    if (!stack_fs_open(&fs, f->name, err))
        return false;
    for (const struct stack_shipped *l = stack_shipped_laws(); l->name; l++) {
        struct stack_laws *laws;

        if (strncmp(l->name, f->name, n) || l->name[n] != '-')
            continue;
        if (!stack_laws_open(&laws, fs, l->name + n + 1, err)) {
            stack_fs_close(fs);
            return false;
        }
        cli_table_text(t, f->name);
        cli_table_int(t, (int64_t)fs->machine.n);
        cli_table_int(t, (int64_t)fs->state.n);
        cli_table_text(t, l->name + n + 1);
        cli_table_text(t, laws->title);
        cli_table_text(t, stack_laws_measured(laws) ? "measured" : "not measured");
        stack_laws_close(laws);
    }
    stack_fs_close(fs);
    return true;
}

static int list_main(const struct cli_call *call, struct wr_err *err)
{
    static const struct cli_column columns[] = {{"fs", NULL},          {"machines", NULL},
                                                {"states", NULL},      {"laws", NULL},
                                                {"title", "times of"}, {"times", NULL}};
    const struct check_opts *o = call->opts;
    struct cli_table *t =
        cli_table_open(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 6);
    bool ok = true;

    for (const struct stack_shipped *f = stack_shipped_fs(); ok && f->name; f++)
        ok = list_one(t, f, err);
    cli_table_close(t);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_stack_list = {
    .name = "list",
    .summary = "the file systems that are shipped, and the laws of each",
    .opts = list_rows,
    .opts_size = sizeof(struct check_opts),
    .main = list_main,
};
