/* experiment_spec.c -- the keys of an experiment file, the placeholders of its command, and the
 * list of trials that follows from them.
 *
 * Owns the meaning of {size}, {mode}, ... in `command`. Mistakes are reported with the line of the
 * file. Called by experiment_open.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "interference/experiment/experiment.h"

#define IN(type, field) offsetof(struct type, field)

static const char *const outlier_names[] = {"none", "deviation", "mad", NULL};

static const struct conf_row path_rows[] = {
    {.key = "rate",
     .type = CONF_RATE,
     .offset = IN(experiment_path, rate_bps),
     .def = "0",
     .max = 1e15,
     .help = "what it carries; 0: there is none"},
    CONF_END,
};

const struct conf_row experiment_spec_rows[] = {
    {.key = "command",
     .type = CONF_STRING,
     .offset = IN(experiment_spec, command),
     .help =
         "what a job runs, for a shell; {size}, {mode}, {name}, {repetition}, {slice}, {begin}, "
         "{dir}, {path} and {run} stand for values of the run, {{ and }} for braces. With {run} "
         "the command writes its run file itself, without it `weir profile` does"},
    {.key = "sizes",
     .type = CONF_LIST,
     .item = CONF_U32,
     .offset = IN(experiment_spec, sizes),
     .min = 1,
     .max = 1000000,
     .help = "sizes of jobs: what {size} stands for, most often the number of processes"},
    {.key = "modes",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(experiment_spec, modes),
     .def = "[private]",
     .help = "what {mode} stands for; every run is done in each"},
    {.key = "together",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(experiment_spec, together),
     .def = "",
     .help = "which sizes run together, as in 1+4 or 2+2+8; by default all pairs of sizes"},
    {.key = "repetitions",
     .type = CONF_U32,
     .offset = IN(experiment_spec, repetitions),
     .def = "5",
     .min = 1,
     .max = 1000,
     .help = "how often everything is run, round robin"},
    {.key = "outliers",
     .type = CONF_CHOICE,
     .offset = IN(experiment_spec, outliers),
     .def = "deviation",
     .names = outlier_names,
     .help = "which repetitions are left out of the tables: none, those too many standard "
             "deviations from the mean, or by the median of deviations"},
    {.key = "limit",
     .type = CONF_REAL,
     .offset = IN(experiment_spec, limit),
     .def = "1.5",
     .min = 0.1,
     .max = 100,
     .help = "how many deviations are too many"},
    {.key = "slice",
     .type = CONF_TIME,
     .offset = IN(experiment_spec, slice_ps),
     .def = "250 ms",
     .min = 10e9,
     .max = 3600e12,
     .help = "length of the slices of the profiles"},
    {.key = "pause",
     .type = CONF_TIME,
     .offset = IN(experiment_spec, pause_ps),
     .def = "0 s",
     .max = 3600e12,
     .help = "wait so long between runs"},
    {.key = "timeout",
     .type = CONF_TIME,
     .offset = IN(experiment_spec, timeout_ps),
     .def = "3600 s",
     .min = 1e11,
     .max = 1e18,
     .help = "a run that takes longer ends the experiment"},
    {.key = "directory",
     .type = CONF_PATH,
     .offset = IN(experiment_spec, directory),
     .def = ".",
     .help = "where each job of a run has an empty directory of its own, {dir}, that is removed "
             "afterwards"},
    {.key = "path",
     .type = CONF_SECTION,
     .offset = IN(experiment_spec, path),
     .rows = path_rows,
     .def = "",
     .help = "a path of limited bandwidth on this machine, as `weir io-limit` offers; {path} is "
             "its socket"},
    CONF_END,
};

/* ---- the command ---- */

enum key { K_SIZE, K_MODE, K_NAME, K_REPETITION, K_SLICE, K_BEGIN, K_DIR, K_PATH, K_RUN, KEYS };
static const char *const key_names[KEYS] = {"size",  "mode", "name", "repetition", "slice",
                                            "begin", "dir",  "path", "run"};

static enum key spec_find_key(const char *at, size_t n)
{
    int k = 0;

    while (k < KEYS && (strncmp(key_names[k], at, n) != 0 || key_names[k][n]))
        k++;
    return (enum key)k;
}

static bool spec_uses(const struct experiment *e, enum key key)
{
    struct wr_str word = {0};

    wr_str_addf(&word, "{%s}", key_names[key]);
    bool found = strstr(e->spec.command, word.s);

    wr_str_fini(&word);
    return found;
}

bool experiment_writes_run(const struct experiment *e)
{
    return spec_uses(e, K_RUN);
}

static bool spec_check_command(const struct experiment *e, struct wr_err *err)
{
    for (const char *s = e->spec.command; *s; s++) {
        size_t n = strcspn(s + 1, "}");

        if ((*s == '{' || *s == '}') && s[1] == *s) {
            s++;
            continue;
        }
        if (*s == '}' || (*s == '{' && !s[1 + n]))
            return conf_fail(e->conf, &e->spec.command, err,
                             "a brace stands alone; write {{ or }} for a brace itself");
        if (*s == '{' && spec_find_key(s + 1, n) == KEYS)
            return conf_fail(e->conf, &e->spec.command, err,
                             "\"{%.*s}\" stands for nothing; use {size}, {mode}, {name}, "
                             "{repetition}, {slice}, {begin}, {dir}, {path} or {run}, and {{ for a "
                             "brace itself",
                             n > 40 ? 40 : (int)n, s + 1);
        s += *s == '{' ? n + 1 : 0;
    }
    if (spec_uses(e, K_PATH) && !(e->spec.path.rate_bps > 0))
        return conf_fail(e->conf, &e->spec.command, err,
                         "{path} is used and there is no path; give path: {rate: 50 MB/s}");
    return true;
}

/* Appends s as one word of a shell command. */
static void spec_add_quoted(struct wr_str *out, const char *s)
{
    wr_str_add(out, "'");
    for (; *s; s++)
        if (*s == '\'')
            wr_str_add(out, "'\\''");
        else
            wr_str_addn(out, s, 1);
    wr_str_add(out, "'");
}

static void spec_add_value(struct wr_str *out, const struct experiment *e,
                           const struct experiment_trial *t, size_t i,
                           const struct experiment_values *v, enum key key)
{
    char letter[2] = {run_trial_letter(i)};

    switch (key) {
    case K_SIZE:
        wr_str_addf(out, "%u", t->size[i]);
        break;
    case K_MODE:
        spec_add_quoted(out, t->mode);
        break;
    case K_NAME:
        wr_str_add(out, letter);
        break;
    case K_REPETITION:
        wr_str_addf(out, "%u", t->repetition);
        break;
    case K_SLICE:
        wr_str_addf(out, "%.0fns", e->spec.slice_ps / 1e3);
        break;
    case K_BEGIN:
        wr_str_addf(out, "%.6f", v->begin_s);
        break;
    case K_DIR:
        spec_add_quoted(out, v->scratch);
        break;
    case K_PATH:
        spec_add_quoted(out, v->socket);
        break;
    case K_RUN:
        spec_add_quoted(out, v->run);
        break;
    case KEYS:
        break;
    }
}

void experiment_command(const struct experiment *e, const struct experiment_trial *t, size_t i,
                        const struct experiment_values *v, struct wr_str *out)
{
    for (const char *s = e->spec.command; *s; s++) {
        size_t n = strcspn(s + 1, "}");

        if ((*s == '{' || *s == '}') && s[1] == *s) {
            wr_str_addn(out, s++, 1);
        } else if (*s == '{') {
            spec_add_value(out, e, t, i, v, spec_find_key(s + 1, n));
            s += n + 1;
        } else {
            wr_str_addn(out, s, 1);
        }
    }
}

/* ---- the plan ---- */

const char *experiment_run_path(const struct experiment *e, const struct experiment_trial *t,
                                size_t i, struct wr_arena *arena)
{
    assert(i < t->n && t->n <= EXPERIMENT_JOBS);
    return wr_arena_printf(arena, "%s/%s.%c.weir", e->out, t->id, run_trial_letter(i));
}

static void spec_add_trial(struct experiment *e, const char *mode, const uint32_t *size, size_t n,
                           uint32_t repetition)
{
    assert(n > 0 && n <= EXPERIMENT_JOBS && repetition > 0);
    struct experiment_trial t = {.mode = mode, .n = n, .repetition = repetition};
    struct run_trial named = {
        .mode = mode, .mode_len = strlen(mode), .n = n, .repetition = repetition};
    struct wr_str id = {0};

    memcpy(t.size, size, n * sizeof *size);
    memcpy(named.size, size, n * sizeof *size);
    run_trial_id(&id, &named);
    t.id = wr_arena_strdup(&e->arena, id.s);
    wr_str_fini(&id);
    wr_vec_push(&e->trials, t);
}

static bool spec_has_size(const struct experiment_spec *s, uint64_t size)
{
    const uint32_t *sizes = s->sizes.items;

    for (size_t i = 0; i < s->sizes.n; i++)
        if (sizes[i] == size)
            return true;
    return false;
}

/* Parses "1+4". Each size must be in `sizes`, because results are compared with runs alone. */
static bool spec_parse_together(const struct experiment *e, const char *const *text, uint32_t *ret,
                                size_t *ret_n, struct wr_err *err)
{
    const char *s = *text;
    size_t n = 0;

    for (;;) {
        char *end;
        unsigned long v = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;

        if (!v || (*end && *end != '+') || n == EXPERIMENT_JOBS)
            return conf_fail(e->conf, text, err, "\"%s\" is no list of at most %d sizes; write 1+4",
                             wr_text_clip(*text).s, EXPERIMENT_JOBS);
        if (!spec_has_size(&e->spec, v))
            return conf_fail(e->conf, text, err, "%lu is not among the sizes; add it there", v);
        ret[n++] = (uint32_t)v;
        if (!*end)
            break;
        s = end + 1;
    }
    if (n < 2)
        return conf_fail(e->conf, text, err, "one size is not together with another; write 1+4");
    *ret_n = n;
    return true;
}

static bool spec_plan_mode(struct experiment *e, const char *mode, uint32_t repetition,
                           struct wr_err *err)
{
    const uint32_t *sizes = e->spec.sizes.items;
    const char *const *together = e->spec.together.items;

    for (size_t i = 0; i < e->spec.sizes.n; i++)
        spec_add_trial(e, mode, &sizes[i], 1, repetition);
    for (size_t i = 0; i < e->spec.together.n; i++) {
        uint32_t size[EXPERIMENT_JOBS];
        size_t n = 0;

        if (!spec_parse_together(e, &together[i], size, &n, err))
            return false;
        spec_add_trial(e, mode, size, n, repetition);
    }
    for (size_t i = 0; !e->spec.together.n && i < e->spec.sizes.n; i++)
        for (size_t k = i; k < e->spec.sizes.n; k++)
            spec_add_trial(e, mode, (uint32_t[]){sizes[i], sizes[k]}, 2, repetition);
    return true;
}

static bool spec_is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    return n && !s[n] && n < 64;
}

static bool spec_plan(struct experiment *e, struct wr_err *err)
{
    const char *const *modes = e->spec.modes.items;
    const uint32_t *sizes = e->spec.sizes.items;

    if (!e->spec.sizes.n || e->spec.sizes.n > 100 || e->spec.modes.n > 100 || !e->spec.modes.n)
        return conf_fail(e->conf, &e->spec.sizes, err,
                         "there are %zu sizes and %zu modes; give from 1 to 100 of each",
                         e->spec.sizes.n, e->spec.modes.n);
    for (size_t i = 0; i < e->spec.sizes.n; i++)
        for (size_t k = 0; k < i; k++)
            if (sizes[i] == sizes[k])
                return conf_fail(e->conf, &sizes[i], err, "the size %u comes twice; leave one out",
                                 sizes[i]);
    for (size_t i = 0; i < e->spec.modes.n; i++)
        if (!spec_is_name(modes[i]))
            return conf_fail(e->conf, &modes[i], err,
                             "a mode is part of files' names; use letters, digits, _ and -");
    for (uint32_t r = 1; r <= e->spec.repetitions; r++)
        for (size_t m = 0; m < e->spec.modes.n; m++)
            if (!spec_plan_mode(e, modes[m], r, err))
                return false;
    return true;
}

static bool spec_finish_open(struct experiment *e, struct wr_err *err)
{
    if (spec_check_command(e, err) && spec_plan(e, err))
        return true;
    experiment_close(e);
    return false;
}

bool experiment_open(struct experiment *ret, const char *spec, const char *const *sets,
                     size_t nsets, const char *out, struct wr_err *err)
{
    *ret = (struct experiment){.out = out};
    return conf_load(&ret->conf, &ret->spec, experiment_spec_rows, spec, sets, nsets, err) &&
           spec_finish_open(ret, err);
}

bool experiment_open_text(struct experiment *ret, const char *name, const char *text, size_t len,
                          const char *out, struct wr_err *err)
{
    *ret = (struct experiment){.out = out};
    return conf_load_text(&ret->conf, &ret->spec, experiment_spec_rows, name, text, len, NULL, 0,
                          err) &&
           spec_finish_open(ret, err);
}

static int spec_by_sizes(const void *a, const void *b)
{
    const struct experiment_trial *x = a, *y = b;
    int mode = strcmp(x->mode, y->mode);

    if (mode || x->n != y->n)
        return mode ? mode : x->n < y->n ? -1 : 1;
    for (size_t i = 0; i < x->n; i++)
        if (x->size[i] != y->size[i])
            return x->size[i] < y->size[i] ? -1 : 1;
    return x->repetition < y->repetition ? -1 : x->repetition > y->repetition;
}

static bool spec_has_runs(const struct experiment *e, const struct experiment_trial *t,
                          const char *const *runs, size_t n)
{
    struct wr_arena arena = {0};
    bool all = true;

    for (size_t i = 0; all && i < t->n; i++) {
        const char *path = experiment_run_path(e, t, i, &arena);
        size_t k = 0;

        while (k < n && strcmp(runs[k], path) != 0)
            k++;
        all = k < n;
    }
    wr_arena_fini(&arena);
    return all;
}

bool experiment_open_runs(struct experiment *ret, const char *spec, const char *out,
                          const char *const *runs, size_t n, struct wr_err *err)
{
    struct run_trial t;
    size_t kept = 0;

    *ret = (struct experiment){.out = out};
    if (!conf_load(&ret->conf, &ret->spec, experiment_spec_rows, spec, NULL, 0, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (run_trial_parse(&t, runs[i]) && t.job == 0)
            spec_add_trial(ret, wr_arena_strndup(&ret->arena, t.mode, t.mode_len), t.size, t.n,
                           t.repetition);
    for (size_t i = 0; i < ret->trials.n; i++)
        if (spec_has_runs(ret, &ret->trials.v[i], runs, n))
            ret->trials.v[kept++] = ret->trials.v[i];
    ret->trials.n = kept;
    if (kept)
        qsort(ret->trials.v, kept, sizeof *ret->trials.v, spec_by_sizes);
    return true;
}

void experiment_close(struct experiment *e)
{
    conf_close(e->conf);
    wr_vec_fini(&e->trials);
    wr_arena_fini(&e->arena);
    *e = (struct experiment){0};
}
