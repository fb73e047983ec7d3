/* opt.c -- parses the options of a verb into its struct, row by row (opt.h).
 *
 * cli_opt_parse() first stores the defaults of all rows, then the options in the order given. It
 * fails at the first option that no row has, or whose value does not fit its type. Lists and copied
 * texts live in the arena of the call.
 */
#include "cli/opt.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct cli_opt cli_opt_common[] = {
    {.name = "quiet", .letter = 'q', .type = CLI_FLAG, .help = "print nothing but errors"},
    {.name = "help", .letter = 'h', .type = CLI_FLAG, .help = "print a summary of the options"},
    CLI_OPT_END,
};

/* One call of cli_opt_parse(). */
struct parse {
    const struct cli_opt *rows;
    const char *who; /* "weir show", for messages */
    char *into;      /* the struct of the verb */
    struct wr_arena *arena;
    bool *seen; /* per row: given on the command line */
};

/* Is the name one of these words, which blanks separate? */
static bool opt_is_word(const char *words, const char *name, size_t n)
{
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");

        if (len == n && !memcmp(at, name, n))
            return true;
        at += len;
    }
    return false;
}

const struct cli_opt *cli_opt_find(const struct cli_opt *rows, const char *name, size_t n)
{
    for (const struct cli_opt *row = rows; row && row->name; row++)
        if (opt_is_word(row->name, name, n) || opt_is_word(row->former, name, n))
            return row;
    return NULL;
}

const struct cli_opt *cli_opt_find_letter(const struct cli_opt *rows, char letter)
{
    for (const struct cli_opt *row = rows; row && row->name; row++)
        if (row->letter == letter || row->former_letter == letter)
            return row;
    return NULL;
}

static bool opt_unknown(const struct parse *p, const char *word, size_t n, struct wr_err *err)
{
    char *name = wr_arena_strndup(p->arena, word, n);
    struct wr_nearest near = {.want = name + strspn(name, "-")};

    for (const struct cli_opt *row = cli_opt_common; row->name; row++)
        wr_nearest_try(&near, row->name);
    for (const struct cli_opt *row = p->rows; row && row->name; row++)
        wr_nearest_try(&near, row->name);
    if (near.best)
        return wr_fail(err, WR_UNKNOWN, "%s has no option %s; did you mean --%s?", p->who, name,
                       near.best);
    return wr_fail(err, WR_UNKNOWN, "%s has no option %s; `%s --help` lists what it has", p->who,
                   name, p->who);
}

static bool opt_bad_value(const struct cli_opt *row, const char *text, const char *want,
                          struct wr_err *err)
{
    return wr_fail(err, WR_INPUT, "--%s %s: not %s; write it as --%s %s", row->name, text, want,
                   row->name, row->def ? row->def : row->value);
}

/* Decimal digits only: strtoull would take "-1" and " 7". */
static bool opt_read_unsigned(uint64_t *ret, const char *text, uint64_t max)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || *end || v > max)
        return false;
    *ret = v;
    return true;
}

static bool opt_store_choice(const struct cli_opt *row, uint32_t *into, const char *text,
                             struct wr_err *err)
{
    struct wr_nearest near = {.want = text};
    struct wr_str all = {0};

    for (uint32_t i = 0; row->names[i]; i++) {
        if (!strcmp(row->names[i], text)) {
            *into = i;
            wr_str_fini(&all);
            return true;
        }
        wr_nearest_try(&near, row->names[i]);
        wr_str_addf(&all, "%s%s", i ? ", " : "", row->names[i]);
    }
    if (near.best)
        wr_fail(err, WR_UNKNOWN, "--%s has no \"%s\"; did you mean %s?", row->name, text,
                near.best);
    else
        wr_fail(err, WR_UNKNOWN, "--%s has no \"%s\"; choose one of %s", row->name, text,
                wr_str_get(&all));
    wr_str_fini(&all);
    return false;
}

static void opt_store_item(struct wr_arena *arena, struct cli_list *list, const char *text)
{
    const char **grown = wr_arena_alloc(arena, (list->n + 1) * sizeof *grown);

    if (list->n)
        memcpy(grown, list->v, list->n * sizeof *grown);
    grown[list->n++] = text;
    list->v = grown;
}

static bool opt_store(const struct parse *p, const struct cli_opt *row, const char *text,
                      struct wr_err *err)
{
    void *at = p->into + row->offset;
    uint64_t number;
    char *end;

    switch (row->type) {
    case CLI_FLAG:
        *(bool *)at = true;
        return true;
    case CLI_TEXT:
        *(const char **)at = text;
        return true;
    case CLI_LIST:
        opt_store_item(p->arena, at, text);
        return true;
    case CLI_U32:
        if (!opt_read_unsigned(&number, text, UINT32_MAX))
            return opt_bad_value(row, text, "a whole number from 0 to 4294967295", err);
        *(uint32_t *)at = (uint32_t)number;
        return true;
    case CLI_U64:
        if (!opt_read_unsigned(&number, text, UINT64_MAX))
            return opt_bad_value(row, text, "a whole number from 0 to 18446744073709551615", err);
        *(uint64_t *)at = number;
        return true;
    case CLI_REAL:
        errno = 0;
        double real = strtod(text, &end);
        if (errno || end == text || *end || !__builtin_isfinite(real))
            return opt_bad_value(row, text, "a number", err);
        *(double *)at = real;
        return true;
    case CLI_CHOICE:
        return opt_store_choice(row, at, text, err);
    }
    return wr_fail(err, WR_BUG, "option --%s has no type; please report this", row->name);
}

static bool opt_store_defaults(const struct parse *p, struct wr_err *err)
{
    for (const struct cli_opt *row = p->rows; row && row->name; row++)
        if (row->def && !opt_store(p, row, row->def, err)) {
            err->code = WR_BUG;
            return wr_wrap(err, "the default of %s --%s; please report this", p->who, row->name);
        }
    return true;
}

static bool opt_is_number(const struct cli_opt *row)
{
    return row->type == CLI_U32 || row->type == CLI_U64 || row->type == CLI_REAL;
}

/* The option at argv[*i]; moves *i to the last word it used. */
static bool opt_read_option(struct parse *p, int argc, char **argv, int *i, struct wr_err *err)
{
    const char *word = argv[*i], *value = NULL;
    const struct cli_opt *row;

    if (word[1] == '-') {
        size_t n = strcspn(word, "=");

        row = cli_opt_find(p->rows, word + 2, n - 2);
        if (!row)
            return opt_unknown(p, word, n, err);
        value = word[n] ? word + n + 1 : NULL;
    } else {
        /* -j2 is -j 2; only numbers may follow so closely, or a long name with one
         * dash too few would be a value. */
        row = cli_opt_find_letter(p->rows, word[1]);
        if (!row || (word[2] && !opt_is_number(row)))
            return opt_unknown(p, word, strlen(word), err);
        value = word[2] ? word + 2 : NULL;
    }

    if (row->type == CLI_FLAG && value)
        return wr_fail(err, WR_INPUT, "--%s takes no value; leave out =%s", row->name, value);
    if (row->type != CLI_FLAG && !value) {
        if (*i + 1 >= argc || !strncmp(argv[*i + 1], "--", 2))
            return wr_fail(err, WR_INPUT, "--%s needs a value; write it as --%s=%s", row->name,
                           row->name, row->value);
        value = argv[++*i];
    }
    bool *seen = &p->seen[row - p->rows];
    if (*seen && row->type != CLI_LIST && row->type != CLI_FLAG)
        return wr_fail(err, WR_INPUT, "--%s is given twice; keep one of them", row->name);
    *seen = true;
    return opt_store(p, row, value, err);
}

bool cli_opt_parse(struct cli_parsed *ret, void *into, const struct cli_opt *rows, const char *who,
                   int argc, char **argv, struct wr_arena *arena, struct wr_err *err)
{
    size_t nrows = 0;
    bool only_args = false;
    struct cli_parsed got = {.args = wr_arena_alloc(arena, ((size_t)argc + 1) * sizeof(char *))};

    assert(into || !rows);
    for (const struct cli_opt *row = rows; row && row->name; row++)
        nrows++;
    struct parse p = {.rows = rows,
                      .who = who,
                      .into = into,
                      .arena = arena,
                      .seen = wr_arena_alloc(arena, nrows + 1)};

    if (!opt_store_defaults(&p, err))
        return false;
    for (int i = 1; i < argc; i++) {
        if (only_args || argv[i][0] != '-' || !argv[i][1]) {
            got.args[got.nargs++] = argv[i];
        } else if (!strcmp(argv[i], "--")) {
            only_args = true;
        } else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            got.help = true;
            break;
        } else if (!strcmp(argv[i], "--quiet") || !strcmp(argv[i], "-q")) {
            got.quiet = true;
        } else if (!opt_read_option(&p, argc, argv, &i, err)) {
            return false;
        }
    }
    *ret = got;
    return true;
}
