#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "inter/lab/lab.h"

#define IN(type, field) offsetof(struct type, field)

static const char *const outlier_names[] = {"none", "deviation", "mad", NULL};

static const struct conf_row path_rows[] = {
    {.key = "rate",
     .type = CONF_RATE,
     .offset = IN(lab_path, rate_bps),
     .def = "0",
     .max = 1e15,
     .help = "what it carries; 0: there is none"},
    CONF_END,
};

const struct conf_row lab_rows[] = {
    {.key = "command",
     .type = CONF_STRING,
     .offset = IN(lab_spec, command),
     .help =
         "what a job runs, for a shell; {size}, {mode}, {name}, {repetition}, {slice}, {begin}, "
         "{dir}, {path} and {run} stand for values of the run, {{ and }} for braces. With {run} "
         "the command writes its run file itself, without it `weir profile` does"},
    {.key = "sizes",
     .type = CONF_LIST,
     .item = CONF_U32,
     .offset = IN(lab_spec, sizes),
     .min = 1,
     .max = 1000000,
     .help = "sizes of jobs: what {size} stands for, most often the number of processes"},
    {.key = "modes",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(lab_spec, modes),
     .def = "[private]",
     .help = "what {mode} stands for; every run is done in each"},
    {.key = "together",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(lab_spec, together),
     .def = "",
     .help = "which sizes run together, as in 1+4 or 2+2+8; by default all pairs of sizes"},
    {.key = "repetitions",
     .type = CONF_U32,
     .offset = IN(lab_spec, repetitions),
     .def = "5",
     .min = 1,
     .max = 1000,
     .help = "how often everything is run, round robin"},
    {.key = "outliers",
     .type = CONF_CHOICE,
     .offset = IN(lab_spec, outliers),
     .def = "deviation",
     .names = outlier_names,
     .help = "which repetitions are left out of the tables: none, those too many standard "
             "deviations from the mean, or by the median of deviations"},
    {.key = "limit",
     .type = CONF_REAL,
     .offset = IN(lab_spec, limit),
     .def = "1.5",
     .min = 0.1,
     .max = 100,
     .help = "how many deviations are too many"},
    {.key = "slice",
     .type = CONF_TIME,
     .offset = IN(lab_spec, slice_ps),
     .def = "250 ms",
     .min = 10e9,
     .max = 3600e12,
     .help = "length of the slices of the profiles"},
    {.key = "pause",
     .type = CONF_TIME,
     .offset = IN(lab_spec, pause_ps),
     .def = "0 s",
     .max = 3600e12,
     .help = "wait so long between runs"},
    {.key = "timeout",
     .type = CONF_TIME,
     .offset = IN(lab_spec, timeout_ps),
     .def = "3600 s",
     .min = 1e11,
     .max = 1e18,
     .help = "a run that takes longer ends the experiment"},
    {.key = "directory",
     .type = CONF_PATH,
     .offset = IN(lab_spec, directory),
     .def = ".",
     .help = "where each job of a run has an empty directory of its own, {dir}, that is removed "
             "afterwards"},
    {.key = "path",
     .type = CONF_SECTION,
     .offset = IN(lab_spec, path),
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

static enum key find_key(const char *at, size_t n)
{
    int k = 0;

    while (k < KEYS && (strncmp(key_names[k], at, n) != 0 || key_names[k][n]))
        k++;
    return (enum key)k;
}

static bool uses(const struct lab *l, enum key key)
{
    struct wr_str word = {0};

    wr_str_addf(&word, "{%s}", key_names[key]);
    bool found = strstr(l->spec.command, word.s);

    wr_str_fini(&word);
    return found;
}

bool lab_writes_run(const struct lab *l)
{
    return uses(l, K_RUN);
}

static bool check_command(const struct lab *l, struct wr_err *err)
{
    for (const char *s = l->spec.command; *s; s++) {
        size_t n = strcspn(s + 1, "}");

        if ((*s == '{' || *s == '}') && s[1] == *s) {
            s++;
            continue;
        }
        if (*s == '}' || (*s == '{' && !s[1 + n]))
            return conf_fail(l->conf, &l->spec.command, err,
                             "a brace stands alone; write {{ or }} for a brace itself");
        if (*s == '{' && find_key(s + 1, n) == KEYS)
            return conf_fail(l->conf, &l->spec.command, err,
                             "\"{%.*s}\" stands for nothing; use {size}, {mode}, {name}, "
                             "{repetition}, {slice}, {begin}, {dir}, {path} or {run}, and {{ for a "
                             "brace itself",
                             n > 40 ? 40 : (int)n, s + 1);
        s += *s == '{' ? n + 1 : 0;
    }
    if (uses(l, K_PATH) && !(l->spec.path.rate_bps > 0))
        return conf_fail(l->conf, &l->spec.command, err,
                         "{path} is used and there is no path; give path: {rate: 50 MB/s}");
    return true;
}

/* One word for the shell, whatever it holds. */
static void add_quoted(struct wr_str *out, const char *s)
{
    wr_str_add(out, "'");
    for (; *s; s++)
        if (*s == '\'')
            wr_str_add(out, "'\\''");
        else
            wr_str_addn(out, s, 1);
    wr_str_add(out, "'");
}

static void add_value(struct wr_str *out, const struct lab *l, const struct lab_trial *t, size_t i,
                      const struct lab_values *v, enum key key)
{
    char letter[2] = {run_trial_letter(i)};

    switch (key) {
    case K_SIZE:
        wr_str_addf(out, "%u", t->size[i]);
        break;
    case K_MODE:
        add_quoted(out, t->mode);
        break;
    case K_NAME:
        wr_str_add(out, letter);
        break;
    case K_REPETITION:
        wr_str_addf(out, "%u", t->repetition);
        break;
    case K_SLICE:
        wr_str_addf(out, "%.0fns", l->spec.slice_ps / 1e3);
        break;
    case K_BEGIN:
        wr_str_addf(out, "%.6f", v->begin_s);
        break;
    case K_DIR:
        add_quoted(out, v->scratch);
        break;
    case K_PATH:
        add_quoted(out, v->socket);
        break;
    case K_RUN:
        add_quoted(out, v->run);
        break;
    case KEYS:
        break;
    }
}

void lab_command(const struct lab *l, const struct lab_trial *t, size_t i,
                 const struct lab_values *v, struct wr_str *out)
{
    for (const char *s = l->spec.command; *s; s++) {
        size_t n = strcspn(s + 1, "}");

        if ((*s == '{' || *s == '}') && s[1] == *s) {
            wr_str_addn(out, s++, 1);
        } else if (*s == '{') {
            add_value(out, l, t, i, v, find_key(s + 1, n));
            s += n + 1;
        } else {
            wr_str_addn(out, s, 1);
        }
    }
}

/* ---- the plan ---- */

const char *lab_run_path(const struct lab *l, const struct lab_trial *t, size_t i,
                         struct wr_arena *arena)
{
    return wr_arena_printf(arena, "%s/%s.%c.weir", l->out, t->id, run_trial_letter(i));
}

static void add_trial(struct lab *l, const char *mode, const uint32_t *size, size_t n,
                      uint32_t repetition)
{
    struct lab_trial t = {.mode = mode, .n = n, .repetition = repetition};
    struct run_trial named = {
        .mode = mode, .mode_len = strlen(mode), .n = n, .repetition = repetition};
    struct wr_str id = {0};

    memcpy(t.size, size, n * sizeof *size);
    memcpy(named.size, size, n * sizeof *size);
    run_trial_id(&id, &named);
    t.id = wr_arena_strdup(&l->arena, id.s);
    wr_str_fini(&id);
    wr_vec_push(&l->trials, t);
}

static bool has_size(const struct lab_spec *s, uint64_t size)
{
    const uint32_t *sizes = s->sizes.items;

    for (size_t i = 0; i < s->sizes.n; i++)
        if (sizes[i] == size)
            return true;
    return false;
}

/* "1+4": sizes that also run alone, because they are compared with that. */
static bool parse_together(const struct lab *l, const char *const *text, uint32_t *ret,
                           size_t *ret_n, struct wr_err *err)
{
    const char *s = *text;
    size_t n = 0;

    for (;;) {
        char *end;
        unsigned long v = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;

        if (!v || (*end && *end != '+') || n == LAB_JOBS)
            return conf_fail(l->conf, text, err, "\"%s\" is no list of at most %d sizes; write 1+4",
                             wr_text_clip(*text).s, LAB_JOBS);
        if (!has_size(&l->spec, v))
            return conf_fail(l->conf, text, err, "%lu is not among the sizes; add it there", v);
        ret[n++] = (uint32_t)v;
        if (!*end)
            break;
        s = end + 1;
    }
    if (n < 2)
        return conf_fail(l->conf, text, err, "one size is not together with another; write 1+4");
    *ret_n = n;
    return true;
}

static bool plan_mode(struct lab *l, const char *mode, uint32_t repetition, struct wr_err *err)
{
    const uint32_t *sizes = l->spec.sizes.items;
    const char *const *together = l->spec.together.items;

    for (size_t i = 0; i < l->spec.sizes.n; i++)
        add_trial(l, mode, &sizes[i], 1, repetition);
    for (size_t i = 0; i < l->spec.together.n; i++) {
        uint32_t size[LAB_JOBS];
        size_t n = 0;

        if (!parse_together(l, &together[i], size, &n, err))
            return false;
        add_trial(l, mode, size, n, repetition);
    }
    for (size_t i = 0; !l->spec.together.n && i < l->spec.sizes.n; i++)
        for (size_t k = i; k < l->spec.sizes.n; k++)
            add_trial(l, mode, (uint32_t[]){sizes[i], sizes[k]}, 2, repetition);
    return true;
}

static bool is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    return n && !s[n] && n < 64;
}

static bool plan(struct lab *l, struct wr_err *err)
{
    const char *const *modes = l->spec.modes.items;
    const uint32_t *sizes = l->spec.sizes.items;

    if (!l->spec.sizes.n || l->spec.sizes.n > 100 || l->spec.modes.n > 100 || !l->spec.modes.n)
        return conf_fail(l->conf, &l->spec.sizes, err,
                         "there are %zu sizes and %zu modes; give from 1 to 100 of each",
                         l->spec.sizes.n, l->spec.modes.n);
    for (size_t i = 0; i < l->spec.sizes.n; i++)
        for (size_t k = 0; k < i; k++)
            if (sizes[i] == sizes[k])
                return conf_fail(l->conf, &sizes[i], err, "the size %u comes twice; leave one out",
                                 sizes[i]);
    for (size_t i = 0; i < l->spec.modes.n; i++)
        if (!is_name(modes[i]))
            return conf_fail(l->conf, &modes[i], err,
                             "a mode is part of files' names; use letters, digits, _ and -");
    for (uint32_t r = 1; r <= l->spec.repetitions; r++)
        for (size_t m = 0; m < l->spec.modes.n; m++)
            if (!plan_mode(l, modes[m], r, err))
                return false;
    return true;
}

static bool finish_open(struct lab *l, struct wr_err *err)
{
    if (check_command(l, err) && plan(l, err))
        return true;
    lab_close(l);
    return false;
}

bool lab_open(struct lab *ret, const char *spec, const char *const *sets, size_t nsets,
              const char *out, struct wr_err *err)
{
    *ret = (struct lab){.out = out};
    return conf_load(&ret->conf, &ret->spec, lab_rows, spec, sets, nsets, err) &&
           finish_open(ret, err);
}

bool lab_open_text(struct lab *ret, const char *name, const char *text, size_t len, const char *out,
                   struct wr_err *err)
{
    *ret = (struct lab){.out = out};
    return conf_load_text(&ret->conf, &ret->spec, lab_rows, name, text, len, NULL, 0, err) &&
           finish_open(ret, err);
}

void lab_close(struct lab *l)
{
    conf_close(l->conf);
    wr_vec_fini(&l->trials);
    wr_arena_fini(&l->arena);
    *l = (struct lab){0};
}
