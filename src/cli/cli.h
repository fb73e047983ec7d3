/* cli.h -- `weir VERB ...`: one row per verb, one file cmd_<verb>.c each.
 *
 * Adding a verb: write cmd_foo.c, which defines `const struct cli_verb cli_cmd_foo`, and
 * add X(foo, GROUP) to CLI_VERBS. Help, man page, completion and typo hints follow.
 *
 *     static int show_main(const struct cli_call *call, struct wr_err *err)
 *     {
 *         const struct show_opts *o = call->opts;
 *         struct run *run;
 *
 *         if (!run_open(&run, call->args[0], err))
 *             return cli_error(err);
 *         fprintf(call->out, ...);
 *         return 0;
 *     }
 *
 *     const struct cli_verb cli_cmd_show = {
 *         .name = "show",
 *         .summary = "print the tables of a run file",
 *         .args = "RUN [VIEW]", .min_args = 1, .max_args = 2,
 *         .about = "Prints ...",
 *         .opts = show_rows, .opts_size = sizeof(struct show_opts),
 *         .main = show_main,
 *     };
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include "base/err.h"
#include "base/output.h"
#include "base/str.h"
#include "cli/opt.h"

/* Every verb and its group, in the order of `weir help`, one per line. */
/* clang-format off */
#define CLI_VERBS(X) \
    X(run, SIMULATE) \
    X(sweep, SIMULATE) \
    X(study, SIMULATE) \
    X(stack, SIMULATE) \
    X(lang, SIMULATE) \
    X(profile, MEASURE) \
    X(top, MEASURE) \
    X(io_load, MEASURE) \
    X(io_limit, MEASURE) \
    X(import, MEASURE) \
    X(state, MODEL) \
    X(roofline, MODEL) \
    X(interfere, MODEL) \
    X(dev, MODEL) \
    X(compare, COMPARE) \
    X(same, COMPARE) \
    X(validate, COMPARE) \
    X(paper, COMPARE) \
    X(show, SEE) \
    X(export, SEE) \
    X(report, SEE) \
    X(serve, SEE) \
    X(topo, SEE) \
    X(place, SEE) \
    X(query, ASK) \
    X(config, ASK) \
    X(list, ASK) \
    X(help, ASK) \
    X(version, ASK) \
    X(internal, ASK)
/* clang-format on */

/* What a verb is for; `weir help` lists the verbs of a group together. */
enum cli_group {
    CLI_SIMULATE, /* run models of machines and file systems */
    CLI_MEASURE,  /* real programs, real storage */
    CLI_MODEL,    /* fit to measurements, and predict */
    CLI_COMPARE,  /* runs with each other */
    CLI_SEE,      /* tables, pictures and pages of what is there */
    CLI_ASK,      /* what a file, a name or weir itself holds */
    CLI_GROUPS,
};

struct cli_call {
    const struct cli_verb *verb;
    const void *opts;       /* the verb's struct, filled from its rows */
    char **args;            /* what is not an option, in order; ends with NULL */
    int nargs;              /* within min_args..max_args */
    FILE *out;              /* where results go; errors and progress go to stderr */
    struct wr_arena *arena; /* lives as long as the call */
    const char *who;        /* "weir run" */
    int argc;               /* the verb and all words after it, as typed */
    char **argv;
};

struct cli_verb {
    const char *name;
    const char *summary;        /* one line for `weir help`, lower case, no full stop */
    const char *args;           /* "FILE [VIEW]"; NULL: none */
    const char *about;          /* paragraphs for --help and the man page, each one a single line of
                                   any length, separated by an empty line; may be NULL */
    const char *examples;       /* one command per line, each ends with a newline; may be NULL */
    int min_args, max_args;     /* max_args < 0: any number */
    int input;                  /* which argument, from 1, is a file to read: where it is not there,
                                   one that came with the program is meant; 0: none */
    const struct cli_opt *opts; /* NULL: none but --help */
    size_t opts_size;           /* sizeof the struct the rows fill */
    bool hidden;                /* not in `weir help` */
    bool goes_on;               /* a server, a dialogue or a display: its result has no end, and so
                                   no file (cli_result.h) */
    /* Verbs below this one, as in `weir config show FILE`; ends with NULL. A verb with subs that
     * also has a main does its own work when the next word names none of them, as in
     * `weir profile -- CMD` beside `weir profile show`. */
    const struct cli_verb *const *subs;
    /* Returns the exit status; on an error fills `err` and returns cli_error(err). */
    int (*main)(const struct cli_call *call, struct wr_err *err);
    /* Offers the words that may stand as the argument number `at` (completion); may be NULL. */
    void (*complete)(char **args, int at, FILE *out);
};

#define X(name, group) extern const struct cli_verb cli_cmd_##name;
CLI_VERBS(X)
#undef X

extern const struct cli_verb *const cli_verbs[]; /* ends with NULL */
extern const enum cli_group cli_verb_groups[];   /* of cli_verbs[i] */

/* The whole program: dispatches, prints an error once, returns the exit status. */
int cli_main(int argc, char **argv, FILE *out, FILE *errors);

static inline int cli_error(const struct wr_err *err)
{
    return wr_exit_status(err->code);
}

/* NULL, with an error that offers the nearest name, when `name` is not in the table.
 * `who` is what stands before it: "weir" or "weir config". */
const struct cli_verb *cli_find(const struct cli_verb *const *verbs, const char *who,
                                const char *name, struct wr_err *err);

/* The text of `weir VERB --help` and of `weir help`. `who`: "weir show". */
void cli_help_verb(const struct cli_verb *verb, const char *who, struct wr_str *out);
void cli_help_all(struct wr_str *out);

#endif
