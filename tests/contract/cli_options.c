/* The options of all verbs together, as their --help shows them: a letter stands for one long name,
 * and a long name has one letter and one kind of argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

/* What the words for arguments stand for. A new word is added to the kind that it is of. */
static const struct {
    const char *kind, *words;
} kinds[] = {
    {"number", "N SECONDS X PERCENT"},
    {"time", "TIME"},
    {"size", "SIZE BYTES"},
    {"rate", "RATE RATES"},
    {"path", "FILE RUN DIR FILE.c FILE.svg OUT OUT.svg PROBES.csv MODEL.json PATH DIRECTORY DEVICE "
             "PAGE NAME|FILE TABLE SOCKET"},
    {"name", "NAME KEY METRIC PREFIX PATTERN PATTERNS WHICH BACKEND ROUTING FORMAT MODE BY WHEN"},
    {"setting", "KEY=VALUE NAME=VALUE"},
    {"named path", "NAME=RUN"},
};

static const char *kind_of(const char *value, size_t n)
{
    if (!n)
        return "flag";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (const char *at = kinds[i].words; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");

            if (len == n && !memcmp(at, value, n))
                return kinds[i].kind;
            at += len;
        }
    return NULL;
}

/* One option as a line of --help shows it; all strings are owned. */
struct option {
    char letter;
    char *name, *value, *verb;
};

static struct {
    struct option *v;
    size_t n;
} all;

/* "  -o, --output FILE  what it is" or "      --json  what it is". */
static void add_line(const char *line, const char *verb)
{
    char letter = 0;
    const char *dashes = line + 6;

    if (strncmp(line, "  ", 2) || strcspn(line, "\n") < 9 || strncmp(dashes, "--", 2))
        return;
    if (line[2] == '-')
        letter = line[3];
    size_t n = strcspn(dashes + 2, " \n");
    const char *value = dashes + 2 + n;
    size_t len = value[0] == ' ' && value[1] != ' ' ? strcspn(value + 1, " \n") : 0;

    all.v = realloc(all.v, (all.n + 1) * sizeof *all.v);
    all.v[all.n++] = (struct option){.letter = letter,
                                     .name = strndup(dashes + 2, n),
                                     .value = strndup(value + (len > 0), len),
                                     .verb = strdup(verb)};
}

static void add_verbs(const struct cli_verb *const *verbs, const char *who)
{
    for (size_t i = 0; verbs[i]; i++) {
        struct wr_str name = {0}, help = {0};

        wr_str_addf(&name, "%s %s", who, verbs[i]->name);
        cli_help_verb(verbs[i], name.s, &help);
        for (const char *line = help.s; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
            add_line(line, name.s);
        if (verbs[i]->subs)
            add_verbs(verbs[i]->subs, name.s);
        wr_str_fini(&help);
        wr_str_fini(&name);
    }
}

static int set_up(void **state)
{
    (void)state;
    add_verbs(cli_verbs, "weir");
    return all.n < 100; /* the lines are read */
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.n; i++) {
        free(all.v[i].name);
        free(all.v[i].value);
        free(all.v[i].verb);
    }
    free(all.v);
    return 0;
}

static void a_letter_stands_for_one_long_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct option *a = &all.v[i], *b = &all.v[k];

            if (a->letter && a->letter == b->letter && strcmp(a->name, b->name))
                fail_msg("-%c is --%s of %s and --%s of %s", a->letter, a->name, a->verb, b->name,
                         b->verb);
        }
}

static void a_long_name_has_one_letter_or_none_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct option *a = &all.v[i], *b = &all.v[k];

            if (a->letter != b->letter && !strcmp(a->name, b->name))
                fail_msg("--%s is -%c of %s and -%c of %s", a->name, a->letter ? a->letter : '?',
                         a->verb, b->letter ? b->letter : '?', b->verb);
        }
}

static void a_long_name_has_one_kind_of_argument(void **state)
{
    (void)state;
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct option *a = &all.v[i], *b = &all.v[k];

            if (strcmp(a->name, b->name) || !strcmp(a->value, b->value))
                continue;
            const char *ka = kind_of(a->value, strlen(a->value));
            const char *kb = kind_of(b->value, strlen(b->value));

            if (!ka || !kb)
                fail_msg("the argument %s of --%s is of no kind; add it to the table of kinds",
                         ka ? b->value : a->value, a->name);
            if (strcmp(ka, kb))
                fail_msg("--%s takes a %s with %s and a %s with %s", a->name, ka, a->verb, kb,
                         b->verb);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_stands_for_one_long_name),
        cmocka_unit_test(a_long_name_has_one_letter_or_none_everywhere),
        cmocka_unit_test(a_long_name_has_one_kind_of_argument),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
