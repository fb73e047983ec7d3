/* Every verb in the table, present and future, keeps what its row promises. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/man.h"

/* Calls `check` for every verb and every verb below one. */
static void each(const struct cli_verb *const *verbs, const char *who,
                 void (*check)(const struct cli_verb *verb, const char *who))
{
    for (size_t i = 0; verbs[i]; i++) {
        struct wr_str name = {0};

        wr_str_addf(&name, "%s %s", who, verbs[i]->name);
        check(verbs[i], name.s);
        if (verbs[i]->subs)
            each(verbs[i]->subs, name.s, check);
        wr_str_fini(&name);
    }
}

#define HOLDS(cond, who)                    \
    do {                                    \
        if (!(cond))                        \
            fail_msg("%s: %s", who, #cond); \
    } while (0)

static bool is_a_line(const char *s)
{
    return s && *s && !strchr(s, '\n') && s[strlen(s) - 1] != '.';
}

static void check_row(const struct cli_verb *v, const char *who)
{
    HOLDS(is_a_line(v->summary), who);
    HOLDS(islower((unsigned char)v->summary[0]), who);
    HOLDS(v->subs || v->main, who);
    HOLDS(!v->opts == !v->opts_size, who);
    HOLDS(v->max_args < 0 || v->min_args <= v->max_args, who);
    HOLDS(!v->max_args || v->args, who);
    HOLDS(!v->examples || v->examples[strlen(v->examples) - 1] == '\n', who);
}

static void every_row_is_filled_in(void **state)
{
    (void)state;
    each(cli_verbs, "weir", check_row);
}

static void check_options(const struct cli_verb *v, const char *who)
{
    for (const struct cli_opt *a = v->opts; a && a->name; a++) {
        HOLDS(is_a_line(a->help), who);
        HOLDS(!a->value == (a->type == CLI_FLAG), who);
        HOLDS(!a->names == (a->type != CLI_CHOICE), who);
        HOLDS(a->offset < v->opts_size, who);
        for (const struct cli_opt *b = cli_opt_common; b->name; b++)
            HOLDS(strcmp(a->name, b->name) && a->letter != b->letter, who);
        for (const struct cli_opt *b = v->opts; b != a; b++) {
            HOLDS(strcmp(a->name, b->name), who);
            HOLDS(!a->letter || a->letter != b->letter, who);
            HOLDS(a->offset != b->offset, who);
        }
    }
}

static void options_have_one_meaning_and_a_sentence(void **state)
{
    (void)state;
    each(cli_verbs, "weir", check_options);
}

static void check_defaults(const struct cli_verb *v, const char *who)
{
    struct wr_arena arena = {0};
    struct wr_err err = {0};
    struct cli_parsed got;
    char *argv[] = {(char *)v->name, NULL};
    void *opts = wr_arena_alloc(&arena, v->opts_size);

    if (!cli_opt_parse(&got, opts, v->opts, who, 1, argv, &arena, &err))
        fail_msg("%s", err.text);
    wr_arena_fini(&arena);
}

static void defaults_are_values_the_option_accepts(void **state)
{
    (void)state;
    each(cli_verbs, "weir", check_defaults);
}

static void check_help(const struct cli_verb *v, const char *who)
{
    struct wr_str help = {0};
    size_t column = 0;

    cli_help_verb(v, who, &help);
    for (const char *s = help.s; *s; s++) {
        column = *s == '\n' ? 0 : column + (((unsigned char)*s & 0xc0) != 0x80);
        if (column > 80)
            fail_msg("%s --help has a line of more than 80 columns: %.*s", who, 100, s - 80);
        HOLDS(*s != '\t', who);
    }
    for (const struct cli_opt *row = v->opts; row && row->name; row++)
        HOLDS(strstr(help.s, row->name), who);
    wr_str_fini(&help);
}

static void help_fits_a_terminal_and_names_every_option(void **state)
{
    (void)state;
    each(cli_verbs, "weir", check_help);
}

/* Each visible verb has one line of its own, under one of the headings. */
static void help_lists_every_verb_once_in_a_group(void **state)
{
    struct wr_str help = {0}, line = {0};

    (void)state;
    cli_help_all(&help);
    for (size_t i = 0; cli_verbs[i]; i++) {
        line.n = 0;
        wr_str_addf(&line, "\n  %-9s  %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
        const char *at = strstr(help.s, line.s);

        HOLDS(cli_verb_groups[i] < CLI_GROUPS, cli_verbs[i]->name);
        HOLDS(!at == cli_verbs[i]->hidden, cli_verbs[i]->name);
        HOLDS(!at || !strstr(at + 1, line.s), cli_verbs[i]->name);
    }
    wr_str_fini(&line);
    wr_str_fini(&help);
}

static void check_summary(const struct cli_verb *v, const char *who)
{
    static const char *const words[] = {"tell", "say", "told", "who"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);

        for (const char *at = v->summary; (at = strstr(at, words[i])); at += n)
            HOLDS(isalpha((unsigned char)at[n]) ||
                      (at > v->summary && isalpha((unsigned char)at[-1])),
                  who);
    }
}

static void summaries_use_plain_words(void **state)
{
    (void)state;
    each(cli_verbs, "weir", check_summary);
}

static void manual_pages_name_every_option(void **state)
{
    (void)state;
    for (size_t i = 0; cli_verbs[i]; i++) {
        struct wr_str page = {0};

        cli_man_verb(cli_verbs[i], &page);
        for (const struct cli_opt *row = cli_verbs[i]->opts; row && row->name; row++)
            HOLDS(strstr(page.s, row->name), cli_verbs[i]->name);
        wr_str_fini(&page);
    }
}

/* What a user meets who asks for help or mistypes: the same for every verb. */
static int run(char **said, const char *const *words)
{
    char *argv[16] = {(char *)"weir"};
    size_t len;
    int argc = 1;
    FILE *to = open_memstream(said, &len);

    while (*words)
        argv[argc++] = (char *)*words++;
    int status = cli_main(argc, argv, to, to);
    fclose(to);
    return status;
}

static void every_verb_answers_help_and_refuses_an_unknown_option(void **state)
{
    (void)state;
    for (size_t i = 0; cli_verbs[i]; i++) {
        const char *name = cli_verbs[i]->name;
        char *a, *b;

        assert_int_equal(run(&a, (const char *const[]){name, "--help", NULL}), 0);
        assert_int_equal(run(&b, (const char *const[]){"help", name, NULL}), 0);
        assert_string_equal(a, b);
        free(a);
        free(b);
        assert_int_equal(run(&a, (const char *const[]){name, "--no-such-option", NULL}), 2);
        assert_non_null(strstr(a, "--help"));
        free(a);
    }
}

/* One command for each way in which a verb is given a file to read. */
static const char *const with_missing_input[] = {
    "run no-such.yaml",
    "sweep no-such.yaml",
    "study run no-such.yaml",
    "study list no-such.yaml",
    "study show no-such",
    "stack run no-such.ncptl",
    "stack run --timing no-such.yaml -- ior",
    "stack run --fs no-such.yaml -- ior",
    "stack run --net no-such.yaml -- ior",
    "stack trace --net no-such.yaml -- ior",
    "stack step --net no-such.yaml -- ior",
    "stack calibrate --logs no-such",
    "stack validate --logs no-such",
    "stack check no-such.yaml",
    "stack show no-such.yaml",
    "lang check no-such.ncptl",
    "lang events no-such.ncptl",
    "lang stats no-such.ncptl",
    "lang fmt no-such.ncptl",
    "lang compile no-such.ncptl",
    "lang bench no-such.ncptl -- true",
    "lang bench -T 2 --machine no-such.yaml any.ncptl -- true",
    "lang goal no-such.goal",
    "profile show no-such.weir",
    "top no-such",
    "io-load --total 1MiB no-such",
    "io-load --total 1MiB --through no-such.sock",
    "state probe no-such",
    "state watch no-such",
    "state import no-such.csv",
    "state describe no-such.csv",
    "state fit no-such.csv",
    "state loglik -m no-such.json any.csv",
    "state simulate no-such.json",
    "state policy no-such.json",
    "state validate no-such.csv",
    "state forecast no-such.csv",
    "roofline collect no-such.yaml",
    "roofline model no-such.csv",
    "roofline polling no-such.yaml",
    "roofline polling --from-run no-such.weir",
    "roofline serve no-such.yaml",
    "interfere no-such.weir",
    "interfere import no-such.csv",
    "import darshan no-such.darshan",
    "interfere predict no-such.weir",
    "interfere predict --cases no-such.json",
    "interfere predict --from-run no-such.weir",
    "interfere alone no-such.weir",
    "interfere experiment no-such.yaml",
    "paper list no-such.yaml",
    "paper run no-such.yaml",
    "interfere tables no-such.csv",
    "dev no-such.yaml",
    "dev fit ssd no-such.csv",
    "compare no-such.weir any.weir",
    "same no-such.weir any.weir",
    "validate no-such.weir any.weir",
    "show no-such.weir",
    "export no-such.weir",
    "report no-such.weir",
    "report no-such.csv",
    "serve no-such",
    "serve --token-file no-such .",
    "topo no-such.yaml",
    "place no-such.yaml",
    "query no-such.weir sql",
    "config show no-such.yaml",
};

/* These read no file that is named on the command line; `roofline nics` only with hwloc. */
static const char *const without_input[] = {
    "roofline nics",  "stack list", "lang ior", "io-limit",
    "config explain", "list",       "help",     "version",
};

static bool is_in(const char *const *commands, size_t n, const char *verb)
{
    size_t len = strlen(verb);

    for (size_t i = 0; i < n; i++)
        if (!strncmp(commands[i], verb, len) && (!commands[i][len] || commands[i][len] == ' '))
            return true;
    return false;
}

#define IS_IN(table, verb) is_in(table, sizeof table / sizeof table[0], verb)

static void check_has_missing_input(const struct cli_verb *v, const char *who)
{
    const char *verb = who + strlen("weir ");

    if (v->main && strncmp(verb, "internal ", 9))
        HOLDS(IS_IN(with_missing_input, verb) != IS_IN(without_input, verb), who);
}

static void a_missing_input_is_status_2_for_every_verb(void **state)
{
    (void)state;
    each(cli_verbs, "weir", check_has_missing_input);
    for (size_t i = 0; i < sizeof with_missing_input / sizeof with_missing_input[0]; i++) {
        char *command = strdup(with_missing_input[i]), *rest = command, *said;
        const char *words[12] = {0};

        for (size_t n = 0; (words[n] = strsep(&rest, " ")); n++)
            assert_true(n + 1 < sizeof words / sizeof words[0]);
        int status = run(&said, words);

        if (status != 2 || !strstr(said, "no-such"))
            fail_msg("weir %s: status %d, %s", with_missing_input[i], status, said);
        free(said);
        free(command);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_filled_in),
        cmocka_unit_test(options_have_one_meaning_and_a_sentence),
        cmocka_unit_test(defaults_are_values_the_option_accepts),
        cmocka_unit_test(help_fits_a_terminal_and_names_every_option),
        cmocka_unit_test(help_lists_every_verb_once_in_a_group),
        cmocka_unit_test(summaries_use_plain_words),
        cmocka_unit_test(manual_pages_name_every_option),
        cmocka_unit_test(every_verb_answers_help_and_refuses_an_unknown_option),
        cmocka_unit_test(a_missing_input_is_status_2_for_every_verb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
