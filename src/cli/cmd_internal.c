/* cmd_internal.c -- what the build and the shell ask, not people. */
#include <string.h>

#include "cli/cli.h"
#include "cli/man.h"
#include "rpc/worker.h"
#include "world/config.h"

static int verbs_main(const struct cli_call *call, struct wr_err *err)
{
    (void)err;
    for (size_t i = 0; cli_verbs[i]; i++)
        if (!cli_verbs[i]->hidden)
            fprintf(call->out, "%s\t%s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    return 0;
}

static const struct cli_verb internal_verbs = {
    .name = "verbs",
    .summary = "the verbs and their summaries, separated by a tab",
    .main = verbs_main,
};

static int man_main(const struct cli_call *call, struct wr_err *err)
{
    const struct cli_verb *verb = cli_find(cli_verbs, "weir", call->args[0], err);
    struct wr_str page = {0};

    if (!verb)
        return cli_error(err);
    cli_man_verb(verb, &page);
    fputs(page.s, call->out);
    wr_str_fini(&page);
    return 0;
}

static const struct cli_verb internal_man = {
    .name = "man",
    .summary = "the manual page of a verb, in scdoc",
    .args = "VERB",
    .min_args = 1,
    .max_args = 1,
    .main = man_main,
};

static int keys_main(const struct cli_call *call, struct wr_err *err)
{
    struct wr_str text = {0};

    (void)err;
    conf_rows_scdoc(world_rows, &text);
    fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    return 0;
}

static int worker_main(const struct cli_call *call, struct wr_err *err)
{
    (void)call;
    (void)err;
    return rpc_worker_main(0, 1);
}

static const struct cli_verb internal_rpc_worker = {
    .name = "rpc-worker",
    .summary = "a server or client of `weir roofline collect`, told what to do on its input",
    .main = worker_main,
};

static const struct cli_verb internal_keys = {
    .name = "keys",
    .summary = "the keys of a configuration, in scdoc",
    .main = keys_main,
};

/* The words typed so far, without the one being typed, lead to a verb; `at` becomes
 * how many arguments it has already, `value_of` the option whose value is next. */
struct place {
    const struct cli_verb *verb;
    char **args;
    int at;
    const struct cli_opt *value_of;
    bool lost; /* a word on the way was no verb */
};

static const struct cli_verb *find_quietly(const struct cli_verb *const *verbs, const char *name)
{
    struct wr_err ignored = {0};

    return verbs ? cli_find(verbs, "weir", name, &ignored) : NULL;
}

static struct place find_place(const struct cli_call *call)
{
    struct place p = {.args = wr_arena_alloc(call->arena, (size_t)call->nargs * sizeof(char *))};
    const struct cli_verb *const *verbs = cli_verbs;

    for (int i = 0; i + 1 < call->nargs; i++) {
        char *word = call->args[i];

        if (p.value_of) {
            p.value_of = NULL;
        } else if (!strncmp(word, "--", 2)) {
            const struct cli_opt *row =
                p.verb ? cli_opt_find(p.verb->opts, word + 2, strlen(word + 2)) : NULL;

            p.value_of = row && row->type != CLI_FLAG ? row : NULL;
        } else if (verbs && (find_quietly(verbs, word) || !p.verb || !p.verb->main)) {
            p.verb = find_quietly(verbs, word);
            verbs = p.verb ? p.verb->subs : NULL;
            p.lost = !p.verb;
        } else {
            verbs = NULL;
            p.args[p.at++] = word;
        }
    }
    return p;
}

static void offer_options(const struct cli_verb *verb, FILE *out)
{
    for (const struct cli_opt *row = verb->opts; row && row->name; row++)
        fprintf(out, "--%s\n", row->name);
    fputs("--help\n", out);
}

static int complete_main(const struct cli_call *call, struct wr_err *err)
{
    struct place p = find_place(call);
    const char *typed = call->args[call->nargs - 1];
    const struct cli_verb *const *verbs = p.verb ? p.verb->subs : cli_verbs;

    (void)err;
    if (p.lost)
        return 0;
    if (p.value_of) {
        for (size_t i = 0; p.value_of->names && p.value_of->names[i]; i++)
            fprintf(call->out, "%s\n", p.value_of->names[i]);
    } else if (p.verb && typed[0] == '-') {
        offer_options(p.verb, call->out);
    } else if (verbs && !p.at) {
        for (size_t i = 0; verbs[i]; i++)
            if (!verbs[i]->hidden)
                fprintf(call->out, "%s\n", verbs[i]->name);
    } else if (p.verb && p.verb->complete) {
        p.verb->complete(p.args, p.at, call->out);
    }
    return 0;
}

static const struct cli_verb internal_complete = {
    .name = "complete",
    .summary = "what may stand at the last word",
    .args = "-- [WORD ...] LAST",
    .min_args = 1,
    .max_args = -1,
    .main = complete_main,
};

static const struct cli_verb *const internals[] = {
    &internal_verbs, &internal_man, &internal_keys, &internal_rpc_worker, &internal_complete, NULL};

const struct cli_verb cli_cmd_internal = {
    .name = "internal",
    .summary = "what the build and the shell ask",
    .hidden = true,
    .subs = internals,
};
