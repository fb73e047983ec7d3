/* The option parser: what a row promises and how a wrong command line is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/opt.h"

struct opts {
    bool json;
    const char *out, *format;
    struct cli_list sets;
    uint32_t limit, order;
    uint64_t seed;
    double load;
};

static const char *const orders[] = {"time", "size", NULL};

static const struct cli_opt rows[] = {
    CLI_JSON(struct opts, json),
    CLI_SET(struct opts, sets),
    {"output", 'o', CLI_TEXT, offsetof(struct opts, out), "FILE", NULL, "write there", NULL, NULL,
     NULL, 0},
    {"format", 0, CLI_TEXT, offsetof(struct opts, format), "NAME", "text", "the format", NULL, NULL,
     NULL, 0},
    {"limit", 'n', CLI_U32, offsetof(struct opts, limit), "N", "20", "rows", NULL, "most upto",
     NULL, 'm'},
    {"seed", 0, CLI_U64, offsetof(struct opts, seed), "N", NULL, "the seed", NULL, NULL, NULL, 0},
    {"load", 0, CLI_REAL, offsetof(struct opts, load), "X", NULL, "the load", NULL, NULL, NULL, 0},
    {"order", 0, CLI_CHOICE, offsetof(struct opts, order), "BY", "size", "order", orders, NULL,
     NULL, 0},
    CLI_OPT_END,
};

struct world {
    struct wr_arena arena;
    struct cli_parsed got;
    struct opts o;
    struct wr_err err;
};

static bool parse(struct world *w, const char *const *words)
{
    char *argv[16];
    int argc = 0;

    *w = (struct world){0};
    argv[argc++] = (char *)"show";
    while (*words)
        argv[argc++] = (char *)*words++;
    return cli_opt_parse(&w->got, &w->o, rows, "weir show", argc, argv, &w->arena, &w->err);
}

#define GOOD(w, ...) assert_true(parse((w), (const char *const[]){__VA_ARGS__, NULL}))
#define BAD(w, hint, ...)                                                   \
    do {                                                                    \
        assert_false(parse((w), (const char *const[]){__VA_ARGS__, NULL})); \
        assert_non_null(strstr((w)->err.text, (hint)));                     \
        assert_int_equal(wr_exit_status((w)->err.code), 2);                 \
        wr_arena_fini(&(w)->arena);                                         \
    } while (0)

static void what_is_not_said_gets_the_default_of_its_row(void **state)
{
    struct world w;
    (void)state;

    GOOD(&w, "a.weir");
    assert_int_equal(w.o.limit, 20);
    assert_int_equal(w.o.order, 1);
    assert_string_equal(w.o.format, "text");
    assert_null(w.o.out);
    assert_false(w.o.json);
    assert_int_equal(w.got.nargs, 1);
    wr_arena_fini(&w.arena);
}

static void options_may_stand_anywhere_and_be_written_both_ways(void **state)
{
    struct world w;
    (void)state;

    GOOD(&w, "a.weir", "--limit=7", "--json", "-o", "x", "link_stat", "--seed",
         "18446744073709551615", "--load", "0.25", "--order=time");
    assert_int_equal(w.got.nargs, 2);
    assert_string_equal(w.got.args[0], "a.weir");
    assert_string_equal(w.got.args[1], "link_stat");
    assert_null(w.got.args[2]);
    assert_true(w.o.json);
    assert_string_equal(w.o.out, "x");
    assert_int_equal(w.o.limit, 7);
    assert_true(w.o.seed == UINT64_MAX);
    assert_true(w.o.load == 0.25);
    assert_int_equal(w.o.order, 0);
    wr_arena_fini(&w.arena);
}

static void an_option_is_known_by_its_former_name(void **state)
{
    struct world w;
    (void)state;

    GOOD(&w, "--most", "7");
    assert_int_equal(w.o.limit, 7);
    wr_arena_fini(&w.arena);
    BAD(&w, "given twice", "--most", "7", "--limit", "8");
    GOOD(&w, "--upto", "7");
    assert_int_equal(w.o.limit, 7);
    wr_arena_fini(&w.arena);
    GOOD(&w, "-m", "7");
    assert_int_equal(w.o.limit, 7);
    wr_arena_fini(&w.arena);
    BAD(&w, "no option --most upto", "--most upto", "7");
}

static void a_list_keeps_every_item_in_order(void **state)
{
    struct world w;
    (void)state;

    GOOD(&w, "--set", "a.b=1", "--set=c=2", "--set", "d=");
    assert_int_equal(w.o.sets.n, 3);
    assert_string_equal(w.o.sets.v[0], "a.b=1");
    assert_string_equal(w.o.sets.v[1], "c=2");
    assert_string_equal(w.o.sets.v[2], "d=");
    wr_arena_fini(&w.arena);
}

static void two_dashes_end_the_options_and_one_dash_is_an_argument(void **state)
{
    struct world w;
    (void)state;

    GOOD(&w, "-", "--", "--json", "-o");
    assert_int_equal(w.got.nargs, 3);
    assert_string_equal(w.got.args[0], "-");
    assert_string_equal(w.got.args[1], "--json");
    assert_false(w.o.json);
    wr_arena_fini(&w.arena);
}

static void help_wins_over_what_follows_it(void **state)
{
    struct world w;
    (void)state;

    GOOD(&w, "--help", "--nonsense");
    assert_true(w.got.help);
    wr_arena_fini(&w.arena);
}

static void a_typo_gets_the_nearest_option(void **state)
{
    struct world w;
    (void)state;

    BAD(&w, "did you mean --limit?", "--limt", "7");
    BAD(&w, "did you mean --json?", "--jsno=3");
    BAD(&w, "`weir show --help` lists", "--entirely-else");
    BAD(&w, "no option -z", "-z");
    BAD(&w, "did you mean time?", "--order", "tiem");
    BAD(&w, "choose one of time, size", "--order", "colour");
}

static void a_wrong_value_is_refused_with_the_way_to_write_it(void **state)
{
    struct world w;
    (void)state;

    BAD(&w, "write it as --limit 20", "--limit", "-1");
    BAD(&w, "not a whole number", "--limit", "4294967296");
    BAD(&w, "not a whole number", "--limit", "7x");
    BAD(&w, "not a whole number", "--limit=");
    BAD(&w, "not a whole number", "--seed", "18446744073709551616");
    BAD(&w, "not a number", "--load", "nan");
    BAD(&w, "not a number", "--load", "0.1.2");
    BAD(&w, "takes no value", "--json=yes");
    BAD(&w, "needs a value", "--limit");
    BAD(&w, "needs a value", "--output", "--json");
    BAD(&w, "given twice", "--limit", "1", "-n", "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_gets_the_default_of_its_row),
        cmocka_unit_test(options_may_stand_anywhere_and_be_written_both_ways),
        cmocka_unit_test(an_option_is_known_by_its_former_name),
        cmocka_unit_test(a_list_keeps_every_item_in_order),
        cmocka_unit_test(two_dashes_end_the_options_and_one_dash_is_an_argument),
        cmocka_unit_test(help_wins_over_what_follows_it),
        cmocka_unit_test(a_typo_gets_the_nearest_option),
        cmocka_unit_test(a_wrong_value_is_refused_with_the_way_to_write_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
