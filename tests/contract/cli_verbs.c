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
        HOLDS(strcmp(a->name, "help") && a->letter != 'h', who);
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
    char *argv[8] = {(char *)"weir"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_filled_in),
        cmocka_unit_test(options_have_one_meaning_and_a_sentence),
        cmocka_unit_test(defaults_are_values_the_option_accepts),
        cmocka_unit_test(help_fits_a_terminal_and_names_every_option),
        cmocka_unit_test(manual_pages_name_every_option),
        cmocka_unit_test(every_verb_answers_help_and_refuses_an_unknown_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
