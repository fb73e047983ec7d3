/* weir.c -- the table of verbs; finds the verb, parses its options and calls it.
 *
 * cli_main() prints an error once and turns it into the exit status. Inputs that are not there are
 * looked up among the shipped examples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/note.h"
#include "base/self.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/cli_result.h"

const struct cli_verb *const cli_verbs[] = {
#define X(name, group) &cli_cmd_##name,
    CLI_VERBS(X)
#undef X
        NULL,
};

const enum cli_group cli_verb_groups[] = {
#define X(name, group) CLI_##group,
    CLI_VERBS(X)
#undef X
};

/* Dashed forms that people type at every program. */
static const struct {
    const char *typed, *verb;
} aliases[] = {{"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};

const struct cli_verb *cli_find(const struct cli_verb *const *verbs, const char *who,
                                const char *name, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    for (size_t i = 0; verbs[i]; i++) {
        if (!strcmp(verbs[i]->name, name))
            return verbs[i];
        if (!verbs[i]->hidden)
            wr_nearest_try(&near, verbs[i]->name);
    }
    if (near.best)
        wr_fail(err, WR_UNKNOWN, "\"%s\" is not a verb of %s; did you mean `%s %s`?", name, who,
                who, near.best);
    else
        wr_fail(err, WR_UNKNOWN, "\"%s\" is not a verb of %s; `%s --help` lists them", name, who,
                who);
    return NULL;
}

/* A file that is not there may be one that came with the program, as in `weir run ring.yaml`. */
static char *weir_find_input(char *name, struct wr_arena *arena)
{
    struct wr_str path = {0};

    if (access(name, F_OK) && wr_self_find_file(&path, name))
        name = wr_arena_strdup(arena, path.s);
    wr_str_fini(&path);
    return name;
}

/* How many arguments a verb has before the `--` of its usage; -1: it has no `--`. */
static int weir_args_before_dashes(const struct cli_verb *verb)
{
    const char *dashes = verb->args ? strstr(verb->args, "--") : NULL;
    int n = 0;

    for (const char *s = verb->args; dashes && s < dashes; s++)
        n += *s == ' ';
    return dashes ? n : -1;
}

/* An option that the verb does not have, after the first word of a command that should follow
 * `--`, is the command's: `weir stack run ior -b 1m`. Replaces the error `err` by one that says so.
 */
static void weir_explain_dashes(const struct cli_verb *verb, const struct cli_opt *rows,
                                const char *who, void *opts, int argc, char **argv,
                                struct wr_arena *arena, struct wr_err *err)
{
    int before = weir_args_before_dashes(verb), known = argc;
    struct cli_parsed got = {0};
    struct wr_str right = {0};
    struct wr_err ignored;

    while (before >= 0 && --known > 0) /* the words before the option */
        if (cli_opt_parse(&got, opts, rows, who, known, argv, arena, &ignored))
            break;
    if (before < 0 || got.nargs <= before)
        return;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--"))
            wr_str_addf(&right, "%s %s", argv[i] == got.args[before] ? " --" : "", argv[i]);
    wr_fail(err, WR_UNKNOWN, "%s has no option %s; -- is missing before %s: `%s%s`", who,
            argv[known], got.args[before], who, wr_str_get(&right));
    wr_str_fini(&right);
}

/* An output that is there already: which option replaces it, when the verb has one. */
static void weir_name_force(const struct cli_opt *rows, struct wr_err *err)
{
    size_t n = strlen(err->text);

    if (err->code == WR_EXISTS && cli_opt_find(rows, "force", 5))
        snprintf(err->text + n, sizeof err->text - n, " with --force");
}

static int weir_call_verb(const struct cli_verb *verb, const char *who, int argc, char **argv,
                          FILE *out, struct wr_arena *arena, struct wr_err *err)
{
    void *opts = wr_arena_alloc(arena, cli_result_size(verb));
    const struct cli_opt *rows = cli_result_rows(verb, arena);
    struct cli_result result;
    struct cli_parsed got;

    if (!cli_opt_parse(&got, opts, rows, who, argc, argv, arena, err)) {
        if (err->code == WR_UNKNOWN)
            weir_explain_dashes(verb, rows, who, opts, argc, argv, arena, err);
        return cli_error(err);
    }
    if (got.help) {
        struct wr_str text = {0};

        cli_help_verb(verb, who, &text);
        fputs(wr_str_get(&text), out);
        wr_str_fini(&text);
        return 0;
    }
    if (got.nargs < verb->min_args)
        wr_fail(err, WR_INPUT, "%s needs %s; see `%s --help`", who, verb->args, who);
    else if (verb->max_args >= 0 && got.nargs > verb->max_args)
        wr_fail(err, WR_INPUT, "%s does not know what to do with \"%s\"; see `%s --help`", who,
                got.args[verb->max_args], who);
    if (err->code)
        return cli_error(err);
    if (verb->input && verb->input <= got.nargs)
        got.args[verb->input - 1] = weir_find_input(got.args[verb->input - 1], arena);

    if (!cli_result_begin(&result, verb, opts, out, err)) {
        weir_name_force(rows, err);
        return cli_error(err);
    }
    FILE *nowhere = got.quiet && !result.path ? fopen("/dev/null", "we") : NULL;

    wr_note_set_quiet(got.quiet || wr_note_is_quiet());
    struct cli_call call = {.verb = verb,
                            .opts = opts,
                            .args = got.args,
                            .nargs = got.nargs,
                            .out = nowhere ? nowhere : result.out,
                            .arena = arena,
                            .who = who,
                            .argc = argc,
                            .argv = argv};
    int status = verb->main(&call, err);

    if (nowhere)
        fclose(nowhere);
    if (!cli_result_end(&result, err->code != WR_NONE, err))
        status = cli_error(err);
    weir_name_force(rows, err);
    return status;
}

static bool weir_has_sub(const struct cli_verb *verb, const char *name)
{
    for (size_t i = 0; verb->subs[i]; i++)
        if (!strcmp(verb->subs[i]->name, name))
            return true;
    return false;
}

/* Walks down the verbs: argv[0] is the name of `verb`. */
static int weir_dispatch(const struct cli_verb *verb, const char *who, int argc, char **argv,
                         FILE *out, struct wr_arena *arena, struct wr_err *err)
{
    who = wr_arena_printf(arena, "%s %s", who, verb->name);
    if (!verb->subs || (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) ||
        (verb->main && (argc < 2 || !weir_has_sub(verb, argv[1]))))
        return weir_call_verb(verb, who, argc, argv, out, arena, err);
    if (argc < 2) {
        wr_fail(err, WR_INPUT, "%s needs a verb; `%s --help` lists them", who, who);
        return cli_error(err);
    }
    const struct cli_verb *sub = cli_find(verb->subs, who, argv[1], err);
    if (!sub)
        return cli_error(err);
    return weir_dispatch(sub, who, argc - 1, argv + 1, out, arena, err);
}

static int weir_run_verb(int argc, char **argv, FILE *out, struct wr_arena *arena,
                         struct wr_err *err)
{
    const char *name = argc > 1 ? argv[1] : "help";

    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (!strcmp(aliases[i].typed, name))
            name = aliases[i].verb;
    const struct cli_verb *verb = cli_find(cli_verbs, "weir", name, err);
    if (!verb)
        return cli_error(err);
    return weir_dispatch(verb, "weir", argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv, out,
                         arena, err);
}

static void weir_print_line(FILE *to, const char *text)
{
    struct wr_str shown = {0};

    wr_str_add_harmless(&shown, text, strlen(text));
    fprintf(to, "weir: %s\n", wr_str_get(&shown));
    wr_str_fini(&shown);
}

static bool weir_ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), len = strlen(ending);

    return n > len && !strcmp(name + n - len, ending);
}

/* Says which file was written, and what to do with it. */
static void weir_print_output(void *to, const char *name)
{
    struct wr_str line = {0};

    wr_str_addf(&line, "wrote %s", name);
    if (weir_ends_in(name, ".weir"))
        wr_str_addf(&line, "; look at it with `weir show %s`", name);
    else if (weir_ends_in(name, ".html") || weir_ends_in(name, ".svg"))
        wr_str_add(&line, "; open it in a browser");
    weir_print_line(to, line.s);
    wr_str_fini(&line);
}

/* A verb may call this again for another (`weir lang bench`), which is as quiet as itself. */
int cli_main(int argc, char **argv, FILE *out, FILE *errors)
{
    struct wr_arena arena = {0};
    struct wr_err err = {0};
    bool was_quiet = wr_note_is_quiet();

    wr_input_begin();
    wr_outputs_begin();
    int status = weir_run_verb(argc, argv, out, &arena, &err);

    /* A result that did not reach the disk is not a result. */
    if ((fflush(out) || ferror(out)) && !err.code) {
        wr_fail(&err, WR_SYSTEM,
                "cannot write the output: %s; free some space or send it elsewhere",
                strerror(errno));
        status = cli_error(&err);
    }
    if (!wr_note_is_quiet())
        wr_outputs_each(weir_print_output, errors);
    wr_outputs_begin();
    wr_note_set_quiet(was_quiet);
    if (err.code) /* it may name what a file says */
        weir_print_line(errors, err.text);
    if (err.code == WR_BUG)
        fputs("weir: this is our mistake; please report it with the command, its input and "
              "the output of `weir version`\n",
              errors);
    wr_arena_fini(&arena);
    return status;
}
