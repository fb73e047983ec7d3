/* cmd_stack_show.c -- `weir stack show`: what a file system is made of, with the source of each
 * number. */
#include <math.h>
#include <string.h>

#include "cli/stack.h"

struct show_opts {
    const char *timings;
    struct cli_list sets;
    bool states, json, csv;
};

static const struct cli_opt show_rows[] = {
    {.name = "timing",
     .former = "laws",
     .type = CLI_TEXT,
     .offset = offsetof(struct show_opts, timings),
     .value = "NAME|FILE",
     .help = "how long states take: shipped timing models of the file system, or a file"},
    {.name = "list-states",
     .former = "states",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, states),
     .help = "the states and their times instead of the parameters"},
    STACK_SET(struct show_opts, sets),
    CLI_CSV(struct show_opts, csv),
    CLI_JSON(struct show_opts, json),
    CLI_OPT_END,
};

static void stack_show_params(const struct stack_fs *fs, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"parameter", NULL}, {"value", NULL}, {"source", NULL}, {"help", NULL}};
    struct cli_table *t = cli_table_open(out, format, columns, 4);

    for (size_t i = 0; i < fs->param.n; i++) {
        cli_table_text(t, fs->param.v[i].name);
        cli_table_text(t, fs->param.v[i].text);
        cli_table_text(t, fs->param.v[i].source);
        cli_table_text(t, fs->param.v[i].help);
    }
    cli_table_close(t);
}

static void stack_show_states(const struct stack_fs *fs, const struct stack_timings *l, FILE *out,
                              enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"layer", NULL},   {"state", NULL},         {"class", NULL}, {"work_us", NULL},
        {"wait_us", NULL}, {"wait_ps_per_b", NULL}, {"times", NULL}};
    struct cli_table *t = cli_table_open(out, format, columns, 7);

    for (size_t i = 0; i < fs->state.n; i++) {
        const struct stack_timing *exec = &l->exec[1][i], *wait = &l->wait[1][i];

        cli_table_text(t, fs->machine.v[fs->state.v[i].machine].layer);
        cli_table_text(t, stack_state_text(fs, (uint16_t)i).s);
        cli_table_text(t, stack_class_names[fs->state.v[i].cls]);
        cli_table_real(t, exec->given && !exec->poly ? exec->constant_ns * 1e-3 : NAN);
        cli_table_real(t, wait->given && !wait->poly ? wait->constant_ns * 1e-3 : NAN);
        cli_table_real(t, wait->given && !wait->poly ? wait->per_byte_ns * 1e3 : NAN);
        cli_table_text(t, stack_state_measured(l, (uint16_t)i) ? "measured" : "assumed");
    }
    cli_table_close(t);
}

static int stack_show_main(const struct cli_call *call, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    enum cli_format format;
    struct stack_fs *fs;
    struct stack_timings *timings;

    if (!cli_format_of(o->json, o->csv, &format, err) ||
        !stack_fs_open_with(&fs, call->args[0], o->sets.v, o->sets.n, err))
        return cli_error(err);
    if (!stack_timings_for(&timings, fs, o->timings, err)) {
        stack_fs_close(fs);
        return cli_error(err);
    }
    if (format == CLI_AS_TEXT)
        fprintf(call->out, "%s; times: %s (%s)\n\n", fs->title, timings->title, timings->source);
    if (o->states)
        stack_show_states(fs, timings, call->out, format);
    else
        stack_show_params(fs, call->out, format);
    stack_timings_close(timings);
    stack_fs_close(fs);
    return 0;
}

const struct cli_verb cli_stack_show = {
    .name = "show",
    .summary = "print parameters and states of a file system, and where values come from",
    .args = "FS",
    .min_args = 1,
    .max_args = 1,
    .about = "FS is a shipped file system (`weir stack list`) or a machine file.",
    .examples = "weir stack show lustre\n"
                "weir stack show --list-states --csv beegfs\n",
    .opts = show_rows,
    .opts_size = sizeof(struct show_opts),
    .main = stack_show_main,
};
