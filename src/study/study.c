/* study.c -- reads a study file and lists the runs of the product of its axes.
 *
 * Owns struct study from study_open() to study_close(). Run i has the choices of i written as a
 * mixed-radix number, the first axis being the most significant digit. study_load() resolves the
 * configuration of one run: the base, then the overrides of each choice, then the list of jobs.
 */
#include "study/study.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/units.h"
#include "run/run.h"
#include "study_priv.h"

#define IN(type, field) offsetof(struct type, field)

static const struct conf_row option_rows[] = {
    {.key = "set",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(study_option, set),
     .def = "",
     .help = "overrides of the base, each a key and its value: \"machine.routing=par\""},
    {.key = "jobs",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(study_option, jobs),
     .def = "",
     .help = "names of the base's jobs that run, as in its `active`; by default all"},
    CONF_END,
};

static const struct conf_row axis_rows[] = {
    {.key = "key",
     .type = CONF_STRING,
     .offset = IN(study_axis, sets),
     .def = "",
     .help = "the key of the base that `values` are for; by default the name of the axis"},
    {.key = "values",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .offset = IN(study_axis, values),
     .def = "",
     .help = "one run each; 1..5 stands for all whole numbers from 1 to 5"},
    {.key = "options",
     .type = CONF_TABLE,
     .offset = IN(study_axis, options),
     .def = "",
     .rows = option_rows,
     .size = sizeof(struct study_option),
     .help = "instead of values: names, and what each of them sets"},
    CONF_END,
};

#define NAME_ROW                                                                         \
    {                                                                                    \
        .key = "name", .type = CONF_STRING, .offset = IN(study_config, name), .def = "", \
        .help = "what to call the study; by default the name of its file"                \
    }
#define CROSS_ROW                                                                                 \
    {                                                                                             \
        .key = "cross", .type = CONF_TABLE, .offset = IN(study_config, cross), .rows = axis_rows, \
        .size = sizeof(struct study_axis), .min = 1, .max = STUDY_MOST_AXES,                      \
        .help = "the axes: every choice of each is run with every choice of the others"           \
    }

/* With `stack:` instead of `run:`. */
static const struct conf_row study_stack_rows[] = {
    NAME_ROW,
    {.key = "stack",
     .type = CONF_SECTION,
     .offset = IN(study_config, stack),
     .rows = stack_config_rows,
     .help = "the base: a test on a file system, as `weir stack run` takes it"},
    CROSS_ROW,
    CONF_END,
};

const struct conf_row study_rows[] = {
    NAME_ROW,
    {.key = "run",
     .type = CONF_SECTION,
     .offset = IN(study_config, run),
     .rows = world_rows,
     .include = true,
     .help = "the base: a run's configuration, or the name of its file, or `file:` and what "
             "differs from it"},
    CROSS_ROW,
    CONF_END,
};

const size_t study_rows_size = sizeof(struct study_config);

const char *const study_state_names[] = {
    [STUDY_ABSENT] = "to do",    [STUDY_TORN] = "torn",    [STUDY_FAILED] = "failed",
    [STUDY_OLD] = "out of date", [STUDY_BUSY] = "running", [STUDY_DONE] = "done",
};

enum { MOST_CHOICES = 10000, LONGEST_NAME = 200, MOST_TEXT = 1 << 24 };

/* ---- axes ---- */

/* "3..17", whole numbers. */
static bool study_is_range(const char *text, uint64_t *from, uint64_t *to)
{
    const char *dots = strstr(text, "..");
    struct wr_err ignored;
    char first[24];

    if (!dots || dots == text || (size_t)(dots - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(dots - text));
    first[dots - text] = '\0';
    return isdigit((unsigned char)first[0]) && isdigit((unsigned char)dots[2]) &&
           wr_parse_u64(from, first, &ignored) && wr_parse_u64(to, dots + 2, &ignored);
}

static bool study_add_values(struct study *s, struct study_dim *d, const struct study_axis *a,
                             struct wr_err *err)
{
    const char *const *text = a->values.items;
    WR_VEC(struct study_choice) all = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < a->values.n; i++) {
        uint64_t from, to;

        if (!study_is_range(text[i], &from, &to)) {
            wr_vec_push(&all, (struct study_choice){text[i], text[i], &text[i], NULL});
            continue;
        }
        if (to < from || to - from >= MOST_CHOICES) {
            ok = conf_fail(s->conf, &text[i], err, "%s must count up, by at most %d; turn it round",
                           wr_text_clip(text[i]).s, MOST_CHOICES);
            break;
        }
        for (uint64_t v = from; v <= to; v++) {
            const char *spelled = wr_arena_printf(&s->arena, "%llu", (unsigned long long)v);

            wr_vec_push(&all, (struct study_choice){spelled, spelled, &text[i], NULL});
        }
    }
    if (ok && all.n > MOST_CHOICES)
        ok = conf_fail(s->conf, &a->values, err, "more than %d values; make several studies of it",
                       MOST_CHOICES);
    d->n = (uint32_t)all.n;
    d->choice = wr_arena_alloc(&s->arena, all.n * sizeof *d->choice);
    if (all.n)
        memcpy(d->choice, all.v, all.n * sizeof *d->choice);
    wr_vec_fini(&all);
    return ok;
}

static void study_add_options(struct study *s, struct study_dim *d, const struct study_axis *a)
{
    const struct study_option *o = a->options.items;

    d->n = (uint32_t)a->options.n;
    d->choice = wr_arena_alloc(&s->arena, d->n * sizeof *d->choice);
    for (uint32_t i = 0; i < d->n; i++)
        d->choice[i] = (struct study_choice){o[i].key.name, NULL, &o[i], &o[i]};
}

static bool study_open_axis(struct study *s, const struct study_axis *a, struct wr_err *err)
{
    struct study_dim *d = &s->dim[s->ndims++];

    *d =
        (struct study_dim){.name = a->key.name, .key = a->sets && *a->sets ? a->sets : a->key.name};
    if (a->values.n && a->options.n)
        return conf_fail(s->conf, &a->options, err,
                         "an axis has values or options, not both; remove one of them");
    if (!a->values.n && !a->options.n)
        return conf_fail(s->conf, a, err,
                         "nothing to choose from; give it `values:` or `options:`");
    if (a->options.n) {
        study_add_options(s, d, a);
        return true;
    }
    d->is_seed = !strcmp(d->key, "seed");
    return study_add_values(s, d, a, err);
}

/* ---- runs ---- */

static bool study_is_plain(char c)
{
    return isalnum((unsigned char)c) || strchr("._+=", c);
}

/* Only characters that need no quotes in a shell and are safe in file names. */
static void study_add_label(struct wr_str *out, const struct study_dim *d, const char *label)
{
    size_t n = strlen(label);

    while (n && !isalnum((unsigned char)*label)) {
        label++;
        n--;
    }
    while (n && !isalnum((unsigned char)label[n - 1]))
        n--;
    wr_str_add(out, out->n ? "-" : "");
    for (const char *c = d->name; *c && (!n || isdigit((unsigned char)*label)); c++)
        wr_str_addn(out, study_is_plain(*c) ? c : "_", 1);
    for (size_t i = 0; i < n; i++)
        wr_str_addn(out, study_is_plain(label[i]) ? label + i : "_", 1);
}

static int study_by_name(const void *a, const void *b)
{
    const struct study_run *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static bool study_check_names(struct study *s, struct wr_err *err)
{
    const struct study_run **v = wr_alloc(s->nruns * sizeof *v);
    const char *twice = NULL;

    for (size_t i = 0; i < s->nruns; i++)
        v[i] = &s->run[i];
    qsort(v, s->nruns, sizeof *v, study_by_name);
    for (size_t i = 1; i < s->nruns && !twice; i++)
        if (!strcmp(v[i - 1]->name, v[i]->name))
            twice = v[i]->name;
    free(v);
    if (twice)
        return conf_fail(s->conf, &s->c.cross, err,
                         "two runs would be called \"%s\"; give their choices names that differ in "
                         "letters or digits",
                         wr_text_clip(twice).s);
    return true;
}

static bool study_spell_out(struct study *s, struct wr_err *err)
{
    size_t n = 1;

    for (size_t d = 0; d < s->ndims; d++) {
        n *= s->dim[d].n;
        if (n > STUDY_MOST_RUNS)
            return conf_fail(s->conf, &s->c.cross, err, "more than %d runs; cross fewer choices",
                             STUDY_MOST_RUNS);
    }
    s->nruns = n;
    s->run = wr_zalloc(n, sizeof *s->run);
    for (size_t i = 0; i < n; i++) {
        struct study_run *r = &s->run[i];
        struct wr_str name = {0};
        size_t rest = i;

        for (size_t d = s->ndims; d-- > 0; rest /= s->dim[d].n)
            r->choice[d] = (uint32_t)(rest % s->dim[d].n);
        for (size_t d = 0; d < s->ndims; d++)
            study_add_label(&name, &s->dim[d], s->dim[d].choice[r->choice[d]].label);
        r->name = wr_arena_strdup(&s->arena, wr_str_get(&name));
        wr_str_fini(&name);
        if (strlen(r->name) > LONGEST_NAME)
            return conf_fail(s->conf, &s->c.cross, err,
                             "the name of run %zu is longer than %d bytes; shorten the choices' "
                             "names",
                             i, LONGEST_NAME);
    }
    return study_check_names(s, err);
}

/* "dir/hybrid.yaml" -> "hybrid" */
static const char *study_file_stem(struct study *s, const char *path)
{
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
    const char *dot = strrchr(leaf, '.');

    return wr_arena_strndup(&s->arena, leaf,
                            dot && dot > leaf ? (size_t)(dot - leaf) : strlen(leaf));
}

/* The base's overrides from the command line. */
static const char *const *study_prefix_sets(struct study *s, const char *const *sets, size_t nsets)
{
    const char **v = wr_arena_alloc(&s->arena, (nsets + 1) * sizeof *v);

    for (size_t i = 0; i < nsets; i++)
        v[i] = wr_arena_printf(&s->arena, "%s.%s", s->section, sets[i]);
    return v;
}

/* A study of file systems has `stack:` where others have `run:`. */
static const char *study_base_key(const char *file)
{
    struct wr_err ignored;
    char *text;
    size_t len;
    const char *section = "run";

    if (!wr_file_read(&text, &len, file, MOST_TEXT, &ignored))
        return section;
    if (!strncmp(text, "stack:", 6) || strstr(text, "\nstack:"))
        section = "stack";
    free(text);
    return section;
}

static const struct conf_row *study_rows_of(const struct study *s)
{
    return !strcmp(s->section, "run") ? study_rows : study_stack_rows;
}

bool study_open(struct study **ret, const char *file, const char *const *sets, size_t nsets,
                struct wr_err *err)
{
    struct study *s = wr_zalloc(1, sizeof *s);

    s->file = wr_arena_strdup(&s->arena, file);
    s->section = study_base_key(file);
    s->sets = study_prefix_sets(s, sets, nsets);
    s->nsets = nsets;
    bool ok = conf_load(&s->conf, &s->c, study_rows_of(s), file, s->sets, nsets, err);
    const struct study_axis *axis = s->c.cross.items;

    for (size_t i = 0; ok && i < s->c.cross.n; i++)
        ok = study_open_axis(s, &axis[i], err);
    ok = ok && study_spell_out(s, err);
    if (!ok) {
        study_close(s);
        return false;
    }
    if (!s->c.name || !*s->c.name)
        s->c.name = study_file_stem(s, file);
    *ret = s;
    return true;
}

void study_close(struct study *s)
{
    if (!s)
        return;
    conf_close(s->conf);
    free(s->run);
    wr_arena_fini(&s->arena);
    free(s);
}

const char *study_name(const struct study *s)
{
    return s->c.name;
}

size_t study_axes(const struct study *s)
{
    return s->ndims;
}

const char *study_axis(const struct study *s, size_t axis)
{
    assert(axis < s->ndims);
    return s->dim[axis].name;
}

const char *study_label(const struct study *s, const struct study_run *r, size_t axis)
{
    assert(axis < s->ndims && r->choice[axis] < s->dim[axis].n);
    return s->dim[axis].choice[r->choice[axis]].label;
}

size_t study_runs(const struct study *s)
{
    return s->nruns;
}

const struct study_run *study_run(const struct study *s, size_t i)
{
    assert(i < s->nruns);
    return &s->run[i];
}

bool study_find(const struct study *s, const char *which, size_t *ret, struct wr_err *err)
{
    struct wr_nearest near = {.want = which};
    struct wr_err ignored;
    uint64_t number;

    for (size_t i = 0; i < s->nruns; i++) {
        if (!strcmp(s->run[i].name, which)) {
            *ret = i;
            return true;
        }
        wr_nearest_try(&near, s->run[i].name);
    }
    if (wr_parse_u64(&number, which, &ignored) && number < s->nruns) {
        *ret = (size_t)number;
        return true;
    }
    return wr_fail(err, WR_UNKNOWN, "no run \"%s\"; %s%s%s`weir study list %s` numbers them",
                   wr_text_clip(which).s, near.best ? "did you mean " : "",
                   near.best ? near.best : "", near.best ? "? " : "", s->file);
}

/* ---- one run's configuration ---- */

/* The choice's names as a list in YAML. */
static const char *study_active_jobs(struct wr_arena *arena, const struct conf_list *jobs)
{
    const char *const *name = jobs->items;
    struct wr_str text = {0};

    wr_str_add(&text, "run.active=[");
    for (size_t i = 0; i < jobs->n; i++) {
        wr_str_add(&text, i ? ", \"" : "\"");
        for (const char *c = name[i]; *c; c++) {
            wr_str_add(&text, *c == '"' || *c == '\\' ? "\\" : "");
            wr_str_addn(&text, c, 1);
        }
        wr_str_add(&text, "\"");
    }
    wr_str_add(&text, "]");
    const char *kept = wr_arena_strdup(arena, text.s);

    wr_str_fini(&text);
    return kept;
}

typedef WR_VEC(struct conf_override) override_list;

/* `active` comes last, because other overrides may name jobs that it leaves out. */
static void study_list_overrides(const struct study *s, const struct study_run *r,
                                 override_list *list, struct wr_arena *arena)
{
    for (size_t i = 0; i < s->nsets; i++)
        wr_vec_push(list, (struct conf_override){.text = s->sets[i]});
    for (size_t d = 0; d < s->ndims; d++) {
        const struct study_choice *c = &s->dim[d].choice[r->choice[d]];
        const char *const *set = c->option ? c->option->set.items : NULL;

        if (!c->option) {
            const char *text =
                wr_arena_printf(arena, "%s.%s=%s", s->section, s->dim[d].key, c->value);

            wr_vec_push(list, (struct conf_override){text, s->conf, c->at});
        }
        for (size_t i = 0; c->option && i < c->option->set.n; i++)
            wr_vec_push(list,
                        (struct conf_override){wr_arena_printf(arena, "%s.%s", s->section, set[i]),
                                               s->conf, &set[i]});
    }
    for (size_t d = 0; d < s->ndims; d++) {
        const struct study_choice *c = &s->dim[d].choice[r->choice[d]];

        if (c->option && c->option->jobs.n)
            wr_vec_push(list, (struct conf_override){study_active_jobs(arena, &c->option->jobs),
                                                     s->conf, &c->option->jobs});
    }
}

bool study_load(const struct study *s, const struct study_run *r, struct conf **ret,
                struct study_config *into, struct wr_err *err)
{
    struct wr_arena arena = {0};
    override_list list = {0};

    assert(r >= s->run && r < s->run + s->nruns);
    study_list_overrides(s, r, &list, &arena);
    bool ok = conf_load_over(ret, into, study_rows_of(s), s->file, list.v, list.n, err);

    wr_vec_fini(&list);
    wr_arena_fini(&arena);
    return ok;
}

const char *study_path(struct study *s, const struct study_run *r, const char *dir)
{
    return wr_arena_printf(&s->arena, "%s/%s.weir", dir, r->name);
}

bool study_make_dir(const char *dir, bool force, struct wr_err *err)
{
    const struct wr_format *const marks[] = {&run_format, &study_script_format, NULL};

    return wr_output_dir(dir, marks, force, NULL, err);
}

void study_command(const struct study *s, const struct study_run *r, const char *dir,
                   struct wr_str *out)
{
    const char *const words[] = {s->file, "-o", dir, "--only", r->name};

    wr_str_add(out, "weir study run");
    for (size_t i = 0; i < 5; i++) {
        wr_str_add(out, " ");
        run_command_word(out, words[i]);
    }
    for (size_t i = 0; i < s->nsets; i++) {
        wr_str_add(out, " --set ");
        run_command_word(out, strchr(s->sets[i], '.') + 1);
    }
}
