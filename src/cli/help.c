/* help.c -- the text of --help and `weir help`, from the same option rows that the parser reads. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_result.h"
#include "cli/text.h"

static struct cli_pair help_text_option_pair(const struct cli_opt *row, struct wr_arena *arena)
{
    struct wr_str head = {0}, text = {0};

    if (row->letter)
        wr_str_addf(&head, "-%c, --%s", row->letter, row->name);
    else
        wr_str_addf(&head, "    --%s", row->name);
    if (row->value)
        wr_str_addf(&head, " %s", row->value);
    wr_str_add(&text, row->help);
    for (size_t i = 0; row->type == CLI_CHOICE && row->names[i]; i++)
        wr_str_addf(&text, "%s%s", i ? ", " : " (", row->names[i]);
    if (row->def)
        wr_str_addf(&text, "%sdefault: %s", row->type == CLI_CHOICE ? "; " : " (", row->def);
    if (row->def || row->type == CLI_CHOICE)
        wr_str_add(&text, ")");
    struct cli_pair pair = {wr_arena_strdup(arena, head.s), wr_arena_strdup(arena, text.s)};
    wr_str_fini(&head);
    wr_str_fini(&text);
    return pair;
}

static void help_text_add_options(const struct cli_verb *verb, struct wr_str *out)
{
    struct wr_arena arena = {0};
    const struct cli_opt *rows = cli_result_rows(verb, &arena);
    WR_VEC(struct cli_pair) pairs = {0};

    for (const struct cli_opt *row = rows; row && row->name; row++)
        wr_vec_push(&pairs, help_text_option_pair(row, &arena));
    for (const struct cli_opt *row = cli_opt_common; row->name; row++)
        wr_vec_push(&pairs, help_text_option_pair(row, &arena));
    wr_str_add(out, "\nOptions:\n");
    cli_text_pairs(out, pairs.v, pairs.n);
    wr_vec_fini(&pairs);
    wr_arena_fini(&arena);
}

static void help_text_add_verbs(const struct cli_verb *const *verbs, struct wr_str *out)
{
    WR_VEC(struct cli_pair) pairs = {0};

    wr_vec_push(&pairs, (struct cli_pair){"Verbs:", NULL});
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            wr_vec_push(&pairs, (struct cli_pair){verbs[i]->name, verbs[i]->summary});
    cli_text_pairs(out, pairs.v, pairs.n);
    wr_vec_fini(&pairs);
}

static void help_text_add_groups(struct wr_str *out)
{
    static const char *const titles[CLI_GROUPS] = {
        [CLI_SIMULATE] = "Simulate:", [CLI_MEASURE] = "Measure:", [CLI_MODEL] = "Model:",
        [CLI_COMPARE] = "Compare:",   [CLI_SEE] = "See:",         [CLI_ASK] = "Ask:",
    };
    WR_VEC(struct cli_pair) pairs = {0};

    for (size_t group = 0; group < CLI_GROUPS; group++) {
        wr_vec_push(&pairs, (struct cli_pair){titles[group], NULL});
        for (size_t i = 0; cli_verbs[i]; i++)
            if (cli_verb_groups[i] == group && !cli_verbs[i]->hidden)
                wr_vec_push(&pairs, (struct cli_pair){cli_verbs[i]->name, cli_verbs[i]->summary});
    }
    cli_text_pairs(out, pairs.v, pairs.n);
    wr_vec_fini(&pairs);
}

static void help_text_add_examples(const char *text, struct wr_str *out)
{
    wr_str_add(out, "\nExamples:\n");
    while (*text) {
        size_t n = strcspn(text, "\n");

        wr_str_addf(out, "  %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void cli_help_verb(const struct cli_verb *verb, const char *who, struct wr_str *out)
{
    struct wr_str head = {0};

    wr_str_addf(&head, "%s -- %s", who, verb->summary);
    cli_text_wrap(out, head.s);
    wr_str_fini(&head);
    wr_str_addf(out, "\nUsage: %s", who);
    if (verb->subs && !verb->main)
        wr_str_add(out, " VERB ...");
    if (verb->opts)
        wr_str_add(out, " [OPTIONS]");
    if (verb->args)
        wr_str_addf(out, " %s", verb->args);
    if (verb->subs && verb->main)
        wr_str_addf(out, "\n       %s VERB ...", who);
    wr_str_add(out, "\n");
    if (verb->about) {
        wr_str_add(out, "\n");
        cli_text_wrap(out, verb->about);
    }
    if (verb->subs) {
        help_text_add_verbs(verb->subs, out);
        wr_str_addf(out, "\n`%s VERB --help` explains one of them.\n", who);
    }
    if (!verb->subs || verb->main)
        help_text_add_options(verb, out);
    if (verb->examples)
        help_text_add_examples(verb->examples, out);
}

void cli_help_all(struct wr_str *out)
{
    wr_str_add(out, "weir measures, models and simulates how jobs share network and storage.\n"
                    "\nUsage: weir VERB ...\n");
    help_text_add_groups(out);
    wr_str_add(out, "\n`weir help VERB` explains one of them.\n");
}
