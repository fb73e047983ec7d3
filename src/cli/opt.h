/* opt.h -- a verb's options from a table of rows.
 *
 *     struct show_opts { bool json; const char *out; uint32_t limit; struct cli_list sets; };
 *
 *     static const struct cli_opt show_rows[] = {
 *         CLI_JSON(struct show_opts, json),
 *         {"output", 'o', CLI_TEXT, offsetof(struct show_opts, out), "FILE", NULL,
 *          "write there instead of standard output"},
 *         {"limit", 0, CLI_U32, offsetof(struct show_opts, limit), "N", "20",
 *          "print at most N rows"},
 *         CLI_OPT_END,
 *     };
 *
 * One row gives the parser, the default, the line of --help, the man page's entry and
 * the shell's completion. Options may stand anywhere; `--` ends them. A value follows
 * as `--name=value` or as the next word.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/offer.h"

enum cli_opt_type {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char *, NULL when absent and without default */
    CLI_LIST,   /* struct cli_list, one item each time the option is given */
    CLI_U32,    /* uint32_t */
    CLI_U64,    /* uint64_t */
    CLI_REAL,   /* double */
    CLI_CHOICE, /* uint32_t, index into `names` */
};

struct cli_list {
    const char *const *v;
    size_t n;
};

struct cli_opt {
    const char *name; /* without the dashes; NULL ends the table */
    char letter;      /* a short form, or 0 */
    enum cli_opt_type type;
    size_t offset;            /* of the value in the verb's struct of options */
    const char *value;        /* what the value is called in --help; NULL for flags */
    const char *def;          /* as a user would write it; NULL: zero, false, NULL */
    const char *help;         /* one sentence, no full stop, lower case */
    const char *const *names; /* CHOICE, ends with NULL */
    const char *former;       /* older names, separated by blanks: accepted, not shown; or NULL */
    /* Offers values to the shell's completion, given the word so far; or NULL. */
    void (*offer)(const char *typed, FILE *out);
    char former_letter; /* an older short form: accepted, not shown; or 0 */
};

#define CLI_OPT_END  \
    {                \
        .name = NULL \
    }

/* The rows that many verbs share, so that they read the same everywhere. */
#define CLI_JSON(type_, field_)                                              \
    {                                                                        \
        .name = "json", .type = CLI_FLAG, .offset = offsetof(type_, field_), \
        .help = "print JSON instead of text"                                 \
    }
#define CLI_FORCE(type_, field_)                                                             \
    {                                                                                        \
        .name = "force", .letter = 'f', .type = CLI_FLAG, .offset = offsetof(type_, field_), \
        .help = "replace an existing file, whatever wrote it; inputs are never replaced"     \
    }
/* `like`: a key that the verb's own configuration has; `offer_`: its keys for completion. */
#define CLI_SET_ROW(type_, field_, like, offer_)                                                  \
    {                                                                                             \
        .name = "set", .type = CLI_LIST, .offset = offsetof(type_, field_), .value = "KEY=VALUE", \
        .help = "override one value of the configuration, as in --set " like                      \
                "; may be given several times",                                                   \
        .offer = offer_                                                                           \
    }
#define CLI_SET_LIKE(type_, field_, like) CLI_SET_ROW(type_, field_, like, NULL)
#define CLI_SET(type_, field_) \
    CLI_SET_ROW(type_, field_, "machine.router.delay=50ns", cli_offer_settings)
#define CLI_PROGRESS(type_, field_)                                              \
    {                                                                            \
        .name = "progress", .type = CLI_FLAG, .offset = offsetof(type_, field_), \
        .help = "show progress even when standard error is not a terminal"       \
    }
/* What the command line said. Memory is the arena's. */
struct cli_parsed {
    char **args; /* what is not an option, in order; ends with NULL */
    int nargs;
    bool help;  /* --help or -h was given: the rest was not looked at */
    bool quiet; /* --quiet or -q was given */
};

/* The options that every verb has besides its rows; ends with CLI_OPT_END. */
extern const struct cli_opt cli_opt_common[];

/* Reads argv[1..] into the struct at `into`, which gets the defaults first.
 * `who` names the verb in messages ("weir show"). On failure `ret` is untouched. */
bool cli_opt_parse(struct cli_parsed *ret, void *into, const struct cli_opt *rows, const char *who,
                   int argc, char **argv, struct wr_arena *arena, struct wr_err *err);

/* NULL when no row has that name (n bytes of it). */
const struct cli_opt *cli_opt_find(const struct cli_opt *rows, const char *name, size_t n);
const struct cli_opt *cli_opt_find_letter(const struct cli_opt *rows, char letter);

#endif
