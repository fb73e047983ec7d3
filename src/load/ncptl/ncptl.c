/* ncptl.c -- reads programs, evaluates their parameters and starts them.
 *
 * Owns struct ncptl_unit (a checked program) and struct ncptl_prog (that program for a number of
 * tasks). The options parsed here are the program's own, declared in its header.
 */
#include "ncptl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "scan_priv.h"
#include "share_priv.h"

enum { LARGEST_TEXT = 64 << 20 };

/* A parameter that the header of a program declares. */
struct ncptl_param {
    const char *name, *help;
    const char *longopt; /* with its dashes */
    char letter;
    int64_t def;
};

bool ncptl_parse(struct ncptl_unit **ret, const char *name, const char *text, size_t len,
                 struct wr_err *err)
{
    struct ncptl_unit *u;

    if (len > LARGEST_TEXT)
        return wr_fail(err, WR_INPUT, "%s is larger than %d MiB; is it a program?", name,
                       LARGEST_TEXT >> 20);
    u = wr_zalloc(1, sizeof *u);
    u->src.name = wr_arena_strdup(&u->arena, name);
    u->src.text = wr_arena_strndup(&u->arena, text, len);
    u->src.len = len;
    if (!nc_parse(u, err) || !nc_check(u, err)) {
        ncptl_unit_close(u);
        return false;
    }
    *ret = u;
    return true;
}

bool ncptl_read(struct ncptl_unit **ret, const char *path, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, LARGEST_TEXT, err))
        return wr_wrap(err, "the program");
    bool ok = ncptl_parse(ret, path, text, len, err);

    free(text);
    return ok;
}

void ncptl_unit_close(struct ncptl_unit *u)
{
    if (!u)
        return;
    nc_lexed_fini(&u->lexed);
    wr_str_fini(&u->warnings);
    wr_arena_fini(&u->arena);
    free(u);
}

const char *ncptl_warnings(const struct ncptl_unit *u)
{
    return wr_str_get(&u->warnings);
}

static size_t ncptl_count_params(const struct ncptl_unit *u)
{
    size_t n = 0;

    for (const struct nc_param *d = u->params; d; d = d->next)
        n++;
    return n;
}

static struct ncptl_param ncptl_get_param(const struct ncptl_unit *u, size_t i)
{
    const struct nc_param *d = u->params;
    struct wr_err ignored;
    int64_t def = 0;

    assert(i < ncptl_count_params(u));
    while (i--)
        d = d->next;
    nc_constant(u, d->def, &def, &ignored);
    return (struct ncptl_param){
        .name = d->name, .help = d->help, .longopt = d->longopt, .letter = d->letter, .def = def};
}

void ncptl_usage(const struct ncptl_unit *u, struct wr_str *out)
{
    size_t n = ncptl_count_params(u);

    for (size_t i = 0; i < n; i++) {
        struct ncptl_param d = ncptl_get_param(u, i);

        wr_str_addf(out, "  -%c, %s=<number>  %s [%lld]\n", d.letter, d.longopt, d.help,
                    (long long)d.def);
    }
    wr_str_add(out, "  -T, --tasks=<number>  how many tasks\n"
                    "  -S, --seed=<number>   of random tasks and numbers [1]\n"
                    "  -L, --logfile=<file>  where log tables go; %p is the processor\n"
                    "  -?, --help            this text\n");
}

/* ---- the program's own command line ---- */

struct settings {
    const struct ncptl_unit *u;
    int64_t *value; /* of each parameter */
    int64_t tasks, seed;
    const char *logfile;
    bool help;
    struct wr_err *err;
};

static const struct {
    const char *longopt;
    char letter;
} builtin[] = {{"--tasks", 'T'}, {"--seed", 'S'}, {"--logfile", 'L'}, {"--help", '?'}};

enum { OPT_TASKS, OPT_SEED, OPT_LOGFILE, OPT_HELP, NBUILTIN };

/* 0..n-1: a parameter; n + k: a built-in one; -1: unknown. */
static int ncptl_find_option(const struct ncptl_unit *u, const char *arg, size_t len)
{
    bool shortened = arg[1] != '-';
    int i = 0;

    for (const struct nc_param *d = u->params; d; d = d->next, i++)
        if (shortened ? arg[1] == d->letter
                      : strlen(d->longopt) == len && !memcmp(d->longopt, arg, len))
            return i;
    for (int k = 0; k < NBUILTIN; k++)
        if (shortened ? arg[1] == builtin[k].letter
                      : strlen(builtin[k].longopt) == len && !memcmp(builtin[k].longopt, arg, len))
            return i + k;
    return -1;
}

static bool ncptl_fail_unknown_option(const struct settings *s, const char *arg)
{
    struct wr_nearest near = {.want = arg};

    for (const struct nc_param *d = s->u->params; d; d = d->next)
        wr_nearest_try(&near, d->longopt);
    for (int k = 0; k < NBUILTIN; k++)
        wr_nearest_try(&near, builtin[k].longopt);
    return wr_fail(s->err, WR_INPUT,
                   "%s has no option %s; %s%s%s, or see them all with `-- --help`", s->u->src.name,
                   arg, near.best ? "did you mean " : "check its spelling",
                   near.best ? near.best : "", near.best ? "?" : "");
}

static bool ncptl_set_option(struct settings *s, int opt, const char *arg, const char *value)
{
    int nparams = (int)ncptl_count_params(s->u);
    int64_t v;

    if (opt == nparams + OPT_LOGFILE) {
        s->logfile = value;
        return true;
    }
    if (!nc_scan_number(value, &v))
        return wr_fail(s->err, WR_INPUT, "%s needs a whole number such as 64K or 1E6, not \"%s\"",
                       arg, value);
    if (opt < nparams)
        s->value[opt] = v;
    else if (opt == nparams + OPT_TASKS)
        s->tasks = v;
    else
        s->seed = v;
    return true;
}

static bool ncptl_read_options(struct settings *s, const char *const *args, size_t nargs)
{
    int help = (int)ncptl_count_params(s->u) + OPT_HELP;

    for (size_t i = 0; i < nargs; i++) {
        const char *arg = args[i], *eq = strchr(arg, '='), *value;
        bool is_long = !strncmp(arg, "--", 2);

        if (arg[0] != '-' || !arg[1])
            return wr_fail(s->err, WR_INPUT,
                           "%s: \"%s\" is no option; the program's options begin with a dash",
                           s->u->src.name, arg);
        int opt = ncptl_find_option(s->u, arg, is_long && eq ? (size_t)(eq - arg) : strlen(arg));
        if (opt < 0)
            return ncptl_fail_unknown_option(s, arg);
        if (opt == help) {
            s->help = true;
            continue;
        }
        if (is_long && eq)
            value = eq + 1;
        else if (!is_long && arg[2])
            value = arg + 2 + (arg[2] == '=');
        else if (i + 1 < nargs)
            value = args[++i];
        else
            return wr_fail(s->err, WR_INPUT, "%s needs a number after it", arg);
        if (!ncptl_set_option(s, opt, arg, value))
            return false;
    }
    return true;
}

static bool ncptl_set_defaults(struct settings *s)
{
    size_t i = 0;

    for (const struct nc_param *d = s->u->params; d; d = d->next)
        if (!nc_constant(s->u, d->def, &s->value[i++], s->err))
            return false;
    return true;
}

/* ---- starting ---- */

static struct ncptl_prog *ncptl_new_prog(const struct settings *s)
{
    struct ncptl_prog *p = wr_zalloc(1, sizeof *p);

    assert(s->tasks >= 1);
    p->src = s->u->src;
    p->n = (uint32_t)s->tasks;
    p->seed = (int)s->seed;
    p->help = s->help;
    p->logfile = s->logfile ? wr_arena_strdup(&p->arena, s->logfile) : NULL;
    p->share = nc_share_new(p->n, p->seed);
    for (uint32_t i = 0; i < p->n; i++)
        p->all_key += nc_mix(i);
    return p;
}

bool ncptl_start(struct ncptl_prog **ret, const struct ncptl_unit *u, const struct ncptl_start *how,
                 struct wr_err *err)
{
    struct settings s = {
        .u = u, .err = err, .tasks = how->ntasks, .seed = how->seed ? how->seed : 1};
    struct ncptl_prog *p = NULL;
    bool ok;

    s.value = wr_zalloc(ncptl_count_params(u) + 1, sizeof *s.value);
    ok = ncptl_set_defaults(&s) && ncptl_read_options(&s, how->args, how->nargs);
    if (ok && (s.tasks < 1 || s.tasks > UINT32_MAX / 2))
        ok = wr_fail(err, WR_INPUT, "%lld tasks cannot run; give 1 or more", (long long)s.tasks);
    if (ok) {
        p = ncptl_new_prog(&s);
        ok = nc_compile(p, u, s.value, err);
    }
    free(s.value);
    if (!ok) {
        ncptl_close(p);
        return false;
    }
    *ret = p;
    return true;
}

void ncptl_close(struct ncptl_prog *p)
{
    if (!p)
        return;
    nc_share_free(p->share);
    wr_arena_fini(&p->arena);
    free(p);
}

uint32_t ncptl_ntasks(const struct ncptl_prog *p)
{
    return p->n;
}

const char *ncptl_logfile(const struct ncptl_prog *p)
{
    return p->logfile;
}

bool ncptl_help_wanted(const struct ncptl_prog *p)
{
    return p->help;
}
