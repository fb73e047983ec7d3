/* help.c -- the help texts, from the same rows that the parser reads. */
#include <string.h>

#include "cli/cli.h"

enum { WIDTH = 80 };

static const struct cli_opt help_row = {
    .name = "help", .letter = 'h', .type = CLI_FLAG, .help = "print this text"};

/* Adds `text` broken between words; the cursor stands at column `at`, further
 * lines are indented by `indent`. Ends without a newline. */
static void add_wrapped(struct wr_str *out, const char *text, size_t at, size_t indent)
{
    while (*text) {
        size_t n = strcspn(text, " ");

        if (at > indent && at + 1 + n > WIDTH) {
            wr_str_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            wr_str_add(out, " ");
            at++;
        }
        wr_str_addn(out, text, n);
        at += n;
        text += n;
        text += strspn(text, " ");
    }
}

static void add_paragraphs(struct wr_str *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        struct wr_str line = {0};

        wr_str_addn(&line, text, n);
        add_wrapped(out, line.s, 0, 0);
        wr_str_add(out, "\n");
        wr_str_fini(&line);
        text += n + (text[n] == '\n');
    }
}

static void opt_head(const struct cli_opt *row, struct wr_str *out)
{
    if (row->letter)
        wr_str_addf(out, "-%c, ", row->letter);
    else
        wr_str_add(out, "    ");
    wr_str_addf(out, "--%s", row->name);
    if (row->value)
        wr_str_addf(out, " %s", row->value);
}

static void opt_line(const struct cli_opt *row, size_t column, struct wr_str *out)
{
    struct wr_str text = {0};
    size_t start = out->n;

    wr_str_add(out, "  ");
    opt_head(row, out);
    wr_str_add(&text, row->help);
    if (row->type == CLI_CHOICE) {
        wr_str_add(&text, ":");
        for (size_t i = 0; row->names[i]; i++)
            wr_str_addf(&text, "%s %s", i ? "," : "", row->names[i]);
    }
    if (row->def)
        wr_str_addf(&text, " (default: %s)", row->def);
    if (out->n - start + 2 > column) {
        wr_str_add(out, "\n");
        start = out->n;
    }
    wr_str_addf(out, "%*s", (int)(column - (out->n - start)), "");
    add_wrapped(out, text.s, column, column);
    wr_str_add(out, "\n");
    wr_str_fini(&text);
}

static void add_options(const struct cli_opt *rows, struct wr_str *out)
{
    enum { NARROW = 14, WIDE = 28 };
    size_t column = NARROW;

    for (const struct cli_opt *row = rows; row && row->name; row++) {
        struct wr_str head = {0};

        opt_head(row, &head);
        if (head.n + 4 > column && head.n + 4 <= WIDE)
            column = head.n + 4;
        wr_str_fini(&head);
    }
    wr_str_add(out, "\nOptions:\n");
    for (const struct cli_opt *row = rows; row && row->name; row++)
        opt_line(row, column, out);
    opt_line(&help_row, column, out);
}

static void add_verbs(const struct cli_verb *const *verbs, struct wr_str *out)
{
    size_t widest = 0;

    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden && strlen(verbs[i]->name) > widest)
            widest = strlen(verbs[i]->name);
    wr_str_add(out, "\nVerbs:\n");
    for (size_t i = 0; verbs[i]; i++) {
        if (verbs[i]->hidden)
            continue;
        wr_str_addf(out, "  %-*s  ", (int)widest, verbs[i]->name);
        add_wrapped(out, verbs[i]->summary, widest + 4, widest + 4);
        wr_str_add(out, "\n");
    }
}

static void add_examples(const char *text, struct wr_str *out)
{
    wr_str_add(out, "\nExamples:\n");
    while (*text) {
        size_t n = strcspn(text, "\n");

        wr_str_add(out, "  ");
        wr_str_addn(out, text, n);
        wr_str_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

void cli_help_verb(const struct cli_verb *verb, const char *who, struct wr_str *out)
{
    wr_str_addf(out, "%s -- %s\n\nUsage: %s", who, verb->summary, who);
    if (verb->subs)
        wr_str_add(out, " VERB ...");
    if (verb->opts)
        wr_str_add(out, " [OPTIONS]");
    if (verb->args)
        wr_str_addf(out, " %s", verb->args);
    wr_str_add(out, "\n");
    if (verb->about) {
        wr_str_add(out, "\n");
        add_paragraphs(out, verb->about);
    }
    if (verb->subs) {
        add_verbs(verb->subs, out);
        wr_str_addf(out, "\n`%s VERB --help` tells more about one of them.\n", who);
    } else {
        add_options(verb->opts, out);
    }
    if (verb->examples)
        add_examples(verb->examples, out);
}

void cli_help_all(struct wr_str *out)
{
    wr_str_add(out, "weir measures, models and simulates how jobs share network and storage.\n"
                    "\nUsage: weir VERB ...\n");
    add_verbs(cli_verbs, out);
    wr_str_add(out, "\n`weir help VERB` tells more about one of them.\n");
}
