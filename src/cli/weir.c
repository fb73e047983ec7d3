/* weir.c -- the table of verbs and the way into it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/self.h"
#include "base/utf8.h"
#include "cli/cli.h"

const struct cli_verb *const cli_verbs[] = {
#define X(name) &cli_cmd_##name,
    CLI_VERBS(X)
#undef X
        NULL,
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
static char *find_input(char *name, struct wr_arena *arena)
{
    struct wr_str path = {0};

    if (access(name, F_OK) && wr_self_find_data(&path, name))
        name = wr_arena_strdup(arena, path.s);
    wr_str_fini(&path);
    return name;
}

static int call_verb(const struct cli_verb *verb, const char *who, int argc, char **argv, FILE *out,
                     struct wr_arena *arena, struct wr_err *err)
{
    void *opts = wr_arena_alloc(arena, verb->opts_size);
    struct cli_parsed got;

    if (!cli_opt_parse(&got, opts, verb->opts, who, argc, argv, arena, err))
        return cli_error(err);
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
        got.args[verb->input - 1] = find_input(got.args[verb->input - 1], arena);

    struct cli_call call = {.verb = verb,
                            .opts = opts,
                            .args = got.args,
                            .nargs = got.nargs,
                            .out = out,
                            .arena = arena,
                            .who = who,
                            .argc = argc,
                            .argv = argv};
    return verb->main(&call, err);
}

static bool has_sub(const struct cli_verb *verb, const char *name)
{
    for (size_t i = 0; verb->subs[i]; i++)
        if (!strcmp(verb->subs[i]->name, name))
            return true;
    return false;
}

/* Walks down the verbs: argv[0] is the name of `verb`. */
static int dispatch(const struct cli_verb *verb, const char *who, int argc, char **argv, FILE *out,
                    struct wr_arena *arena, struct wr_err *err)
{
    who = wr_arena_printf(arena, "%s %s", who, verb->name);
    if (!verb->subs || (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) ||
        (verb->main && (argc < 2 || !has_sub(verb, argv[1]))))
        return call_verb(verb, who, argc, argv, out, arena, err);
    if (argc < 2) {
        wr_fail(err, WR_INPUT, "%s needs a verb; `%s --help` lists them", who, who);
        return cli_error(err);
    }
    const struct cli_verb *sub = cli_find(verb->subs, who, argv[1], err);
    if (!sub)
        return cli_error(err);
    return dispatch(sub, who, argc - 1, argv + 1, out, arena, err);
}

static int run(int argc, char **argv, FILE *out, struct wr_arena *arena, struct wr_err *err)
{
    const char *name = argc > 1 ? argv[1] : "help";

    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (!strcmp(aliases[i].typed, name))
            name = aliases[i].verb;
    const struct cli_verb *verb = cli_find(cli_verbs, "weir", name, err);
    if (!verb)
        return cli_error(err);
    return dispatch(verb, "weir", argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv, out,
                    arena, err);
}

static void print_error(FILE *to, const char *text)
{
    struct wr_str shown = {0};

    wr_str_add_harmless(&shown, text, strlen(text));
    fprintf(to, "weir: %s\n", wr_str_get(&shown));
    wr_str_fini(&shown);
}

int cli_main(int argc, char **argv, FILE *out, FILE *errors)
{
    struct wr_arena arena = {0};
    struct wr_err err = {0};

    wr_input_begin();
    int status = run(argc, argv, out, &arena, &err);

    /* A result that did not reach the disk is not a result. */
    if ((fflush(out) || ferror(out)) && !err.code) {
        wr_fail(&err, WR_SYSTEM, "cannot write the output: %s; make room or send it elsewhere",
                strerror(errno));
        status = cli_error(&err);
    }
    if (err.code) /* it may name what a file says */
        print_error(errors, err.text);
    if (err.code == WR_BUG)
        fputs("weir: this is our mistake; please report it with the command, its input and "
              "the output of `weir version`\n",
              errors);
    wr_arena_fini(&arena);
    return status;
}
