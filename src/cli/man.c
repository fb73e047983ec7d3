/* man.c -- a verb's manual page in scdoc, from the same rows as its --help. */
#include <ctype.h>
#include <string.h>

#include "base/version.h"
#include "cli/cli_result.h"
#include "cli/man.h"

/* Text with scdoc's own marks escaped; `text` is one line. */
static void man_add_plain(struct wr_str *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strchr("\\*_", text[i]) || (!i && strchr("#-|[]<>`", text[i])))
            wr_str_add(out, "\\");
        wr_str_addn(out, &text[i], 1);
    }
}

static void man_add_line(struct wr_str *out, const char *text)
{
    man_add_plain(out, text, strlen(text));
}

static void man_add_paragraphs(struct wr_str *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        man_add_plain(out, text, n);
        wr_str_add(out, "\n");
        text += n + (text[n] == '\n');
    }
    wr_str_add(out, "\n");
}

/* FILE, [VIEW] and the like: names in capitals are underlined. */
static void man_add_synopsis(struct wr_str *out, const struct cli_verb *verb, const char *who)
{
    wr_str_addf(out, "*%s*", who);
    if (verb->opts)
        wr_str_add(out, " [_OPTIONS_]");
    for (const char *s = verb->args ? verb->args : ""; *s;) {
        size_t name = 0;

        while (isupper((unsigned char)s[name]) ||
               (name && (s[name] == '_' || isdigit((unsigned char)s[name]))))
            name++;
        if (s == verb->args)
            wr_str_add(out, " ");
        if (name > 1) {
            wr_str_addf(out, "_%.*s_", (int)name, s);
            s += name;
        } else {
            man_add_plain(out, s++, 1);
        }
    }
    wr_str_add(out, "\n\n");
}

static void man_add_option(struct wr_str *out, const struct cli_opt *row)
{
    if (row->letter)
        wr_str_addf(out, "*-%c*, ", row->letter);
    wr_str_addf(out, "*--%s*", row->name);
    if (row->value) {
        wr_str_add(out, " ");
        man_add_line(out, row->value);
    }
    wr_str_addf(out, "\n\t%c", toupper((unsigned char)row->help[0]));
    man_add_line(out, row->help + 1);
    wr_str_add(out, ".");
    for (size_t i = 0; row->type == CLI_CHOICE && row->names[i]; i++) {
        wr_str_add(out, i ? ", " : " One of ");
        man_add_line(out, row->names[i]);
    }
    if (row->type == CLI_CHOICE)
        wr_str_add(out, ".");
    if (row->def) {
        wr_str_add(out, " Default: ");
        man_add_line(out, row->def);
        wr_str_add(out, ".");
    }
    wr_str_add(out, "\n\n");
}

static void man_add_options(struct wr_str *out, const struct cli_verb *verb)
{
    struct wr_arena arena = {0};

    for (const struct cli_opt *row = cli_result_rows(verb, &arena); row && row->name; row++)
        man_add_option(out, row);
    wr_arena_fini(&arena);
    for (const struct cli_opt *row = cli_opt_common; row->name; row++)
        man_add_option(out, row);
}

static void man_add_examples(struct wr_str *out, const char *text)
{
    wr_str_addf(out, "```\n%s```\n\n", text);
}

static void man_add_sub(struct wr_str *out, const struct cli_verb *sub, const char *who)
{
    wr_str_addf(out, "## %s %s\n\n", who, sub->name);
    struct wr_str full = {0};

    wr_str_addf(&full, "%s %s", who, sub->name);
    man_add_synopsis(out, sub, full.s);
    wr_str_fini(&full);
    man_add_paragraphs(out, sub->about ? sub->about : sub->summary);
    man_add_options(out, sub);
    if (sub->examples)
        man_add_examples(out, sub->examples);
}

void cli_man_verb(const struct cli_verb *verb, struct wr_str *out)
{
    struct wr_str who = {0};

    wr_str_addf(&who, "weir %s", verb->name);
    wr_str_addf(out, "weir-%s(1) \"weir %s\" \"weir manual\"\n\n# NAME\n\nweir-%s - ", verb->name,
                wr_version_number(), verb->name);
    man_add_line(out, verb->summary);
    wr_str_add(out, "\n\n# SYNOPSIS\n\n");
    if (!verb->subs || verb->main)
        man_add_synopsis(out, verb, who.s);
    for (size_t i = 0; verb->subs && verb->subs[i]; i++) {
        struct wr_str full = {0};

        wr_str_addf(&full, "%s %s", who.s, verb->subs[i]->name);
        man_add_synopsis(out, verb->subs[i], full.s);
        wr_str_fini(&full);
    }
    wr_str_add(out, "# DESCRIPTION\n\n");
    man_add_paragraphs(out, verb->about ? verb->about : verb->summary);
    if (verb->subs) {
        wr_str_add(out, "# VERBS\n\n");
        for (size_t i = 0; verb->subs[i]; i++)
            man_add_sub(out, verb->subs[i], who.s);
    }
    if (!verb->subs || verb->main) {
        wr_str_add(out, "# OPTIONS\n\n");
        man_add_options(out, verb);
    }
    if (verb->examples) {
        wr_str_add(out, "# EXAMPLES\n\n");
        man_add_examples(out, verb->examples);
    }
    wr_str_add(out, "# EXIT STATUS\n\n0 on success; see *weir*(1) for the others.\n\n"
                    "# SEE ALSO\n\n*weir*(1)\n");
    wr_str_fini(&who);
}
