/* cmd_internal.c -- `weir internal`: verbs for the build, the shell's completion and workers.
 *
 * Hidden from help; their output is read by programs.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_result.h"
#include "cli/man.h"
#include "rpc/worker.h"
#include "world/config.h"

static int internal_verbs_main(const struct cli_call *call, struct wr_err *err)
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
    .main = internal_verbs_main,
};

static int internal_man_main(const struct cli_call *call, struct wr_err *err)
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
    .main = internal_man_main,
};

static int internal_keys_main(const struct cli_call *call, struct wr_err *err)
{
    struct wr_str text = {0};

    (void)err;
    conf_rows_scdoc(world_rows, &text);
    fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    return 0;
}

static int internal_worker_main(const struct cli_call *call, struct wr_err *err)
{
    (void)call;
    (void)err;
    return rpc_worker_main(0, 1);
}

static const struct cli_verb internal_rpc_worker = {
    .name = "rpc-worker",
    .summary = "a server or client of `weir roofline collect`, controlled through its input",
    .main = internal_worker_main,
};

static const struct cli_verb internal_keys = {
    .name = "keys",
    .summary = "the keys of a configuration, in scdoc",
    .main = internal_keys_main,
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

static const struct cli_verb *internal_find_quietly(const struct cli_verb *const *verbs,
                                                    const char *name)
{
    struct wr_err ignored = {0};

    return verbs ? cli_find(verbs, "weir", name, &ignored) : NULL;
}

static const struct cli_opt *internal_find_option(const struct cli_verb *verb, const char *word,
                                                  struct wr_arena *arena)
{
    const struct cli_opt *rows = cli_result_rows(verb, arena);

    if (word[1] == '-')
        return cli_opt_find(rows, word + 2, strlen(word + 2));
    return word[2] ? NULL : cli_opt_find_letter(rows, word[1]);
}

static struct place internal_find_place(const struct cli_call *call)
{
    struct place p = {.args = wr_arena_alloc(call->arena, (size_t)call->nargs * sizeof(char *))};
    const struct cli_verb *const *verbs = cli_verbs;

    for (int i = 0; i + 1 < call->nargs; i++) {
        char *word = call->args[i];

        if (p.value_of) {
            p.value_of = NULL;
        } else if (word[0] == '-' && word[1]) {
            const struct cli_opt *row =
                p.verb ? internal_find_option(p.verb, word, call->arena) : NULL;

            p.value_of = row && row->type != CLI_FLAG ? row : NULL;
        } else if (verbs && (internal_find_quietly(verbs, word) || !p.verb || !p.verb->main)) {
            p.verb = internal_find_quietly(verbs, word);
            verbs = p.verb ? p.verb->subs : NULL;
            p.lost = !p.verb;
        } else {
            verbs = NULL;
            p.args[p.at++] = word;
        }
    }
    return p;
}

static void internal_offer_options(const struct cli_verb *verb, struct wr_arena *arena, FILE *out)
{
    for (const struct cli_opt *row = cli_result_rows(verb, arena); row && row->name; row++)
        fprintf(out, "--%s\n", row->name);
    for (const struct cli_opt *row = cli_opt_common; row->name; row++)
        fprintf(out, "--%s\n", row->name);
}

/* Is the argument number `at` a run file, by the usage "[BASE] RUN..."? The last one may repeat. */
static bool internal_wants_run(const struct cli_verb *verb, int at)
{
    const char *word = verb->args ? verb->args : "", *next;

    for (; at > 0 && (next = strchr(word, ' ')); at--)
        word = next + 1;
    size_t n = strcspn(word, " ");
    const char *run = strstr(word, "RUN");

    return run && run < word + n && (!at || !strncmp(word + n - 3, "...", 3) || verb->max_args < 0);
}

static void internal_offer_value(const struct cli_opt *row, const char *typed, FILE *out)
{
    for (size_t i = 0; row->names && row->names[i]; i++)
        fprintf(out, "%s\n", row->names[i]);
    if (row->offer)
        row->offer(typed, out);
    else if (!strcmp(row->value, "RUN"))
        cli_offer_runs(typed, out);
}

/* "--name=begun": the values, each behind what stands before it. False: it is no such word. */
static bool internal_offer_joined(const struct cli_verb *verb, const char *typed,
                                  struct wr_arena *arena, FILE *out)
{
    size_t head = strcspn(typed, "=");
    const struct cli_opt *row;
    char *text = NULL;
    size_t n = 0;

    if (strncmp(typed, "--", 2) != 0 || !typed[head])
        return false;
    row = cli_opt_find(cli_result_rows(verb, arena), typed + 2, head - 2);
    FILE *values = row && row->type != CLI_FLAG ? open_memstream(&text, &n) : NULL;

    if (values) {
        internal_offer_value(row, typed + head + 1, values);
        fclose(values);
        for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;)
            fprintf(out, "%.*s%s\n", (int)head + 1, typed, line);
        free(text);
    }
    return true;
}

static int internal_complete_main(const struct cli_call *call, struct wr_err *err)
{
    struct place p = internal_find_place(call);
    const char *typed = call->args[call->nargs - 1];
    const struct cli_verb *const *verbs = p.verb ? p.verb->subs : cli_verbs;

    (void)err;
    if (p.lost)
        return 0;
    if (p.value_of) {
        internal_offer_value(p.value_of, typed, call->out);
    } else if (p.verb && internal_offer_joined(p.verb, typed, call->arena, call->out)) {
        return 0;
    } else if (p.verb && typed[0] == '-') {
        internal_offer_options(p.verb, call->arena, call->out);
    } else if (verbs && !p.at) {
        for (size_t i = 0; verbs[i]; i++)
            if (!verbs[i]->hidden)
                fprintf(call->out, "%s\n", verbs[i]->name);
    } else if (p.verb && p.verb->complete) {
        p.verb->complete(p.args, p.at, call->out);
    }
    if (p.verb && !p.value_of && typed[0] != '-' && internal_wants_run(p.verb, p.at))
        cli_offer_runs(typed, call->out);
    return 0;
}

static const struct cli_verb internal_complete = {
    .name = "complete",
    .summary = "what may stand at the last word",
    .args = "-- [WORD ...] LAST",
    .min_args = 1,
    .max_args = -1,
    .main = internal_complete_main,
};

static const struct cli_verb *const internals[] = {
    &internal_verbs, &internal_man, &internal_keys, &internal_rpc_worker, &internal_complete, NULL};

const struct cli_verb cli_cmd_internal = {
    .name = "internal",
    .summary = "what the build and the shell ask",
    .hidden = true,
    .subs = internals,
};
