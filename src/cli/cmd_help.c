/* cmd_help.c -- `weir help [VERB ...]`, the same text as `weir VERB --help`. */
#include "cli/cli.h"

static int help_main(const struct cli_call *call, struct wr_err *err)
{
    const struct cli_verb *const *verbs = cli_verbs;
    const struct cli_verb *verb = NULL;
    const char *who = "weir";
    struct wr_str text = {0};

    for (int i = 0; i < call->nargs; i++) {
        if (!verbs) {
            wr_fail(err, WR_INPUT, "%s has no verbs of its own; see `%s --help`", who, who);
            return cli_error(err);
        }
        verb = cli_find(verbs, who, call->args[i], err);
        if (!verb)
            return cli_error(err);
        who = wr_arena_printf(call->arena, "%s %s", who, verb->name);
        verbs = verb->subs;
    }
    if (verb)
        cli_help_verb(verb, who, &text);
    else
        cli_help_all(&text);
    fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    return 0;
}

static void help_complete(char **args, int at, FILE *out)
{
    const struct cli_verb *const *verbs = cli_verbs;
    struct wr_err err = {0};

    for (int i = 0; i < at && verbs; i++) {
        const struct cli_verb *verb = cli_find(verbs, "weir", args[i], &err);

        verbs = verb ? verb->subs : NULL;
    }
    for (size_t i = 0; verbs && verbs[i]; i++)
        if (!verbs[i]->hidden)
            fprintf(out, "%s\n", verbs[i]->name);
}

const struct cli_verb cli_cmd_help = {
    .name = "help",
    .summary = "list the verbs, or explain one",
    .args = "[VERB ...]",
    .max_args = -1,
    .about = "Without a verb, lists the verbs. With one, prints the same text as `weir VERB "
             "--help`.",
    .examples = "weir help\nweir help list\n",
    .main = help_main,
    .complete = help_complete,
};
