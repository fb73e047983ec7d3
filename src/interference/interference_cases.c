/* interference_cases.c -- reads the jobs of `weir interfere predict` from JSON or from options.
 *
 * Both sources fill struct interference_case; cases_finish_case() sets the weights and checks the
 * numbers of both. A case from options also gets the JSON object that a file would have had, so
 * that `--json` prints the same for both. Invariant: every app of a finished case has a volume, a
 * weight above 0 and a cap above 0.
 */
#include "interference/interference_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/units.h"

const char *const interference_weights_names[] = {"nodes", "processes", "equal", "auto", NULL};

static const double mib = 1 << 20;

static bool cases_read_volume(double *ret, const char *text, struct wr_err *err)
{
    uint64_t bytes;

    if (!wr_parse_bytes(&bytes, text, err))
        return false;
    *ret = (double)bytes / mib;
    return true;
}

static bool cases_read_rate(double *ret, const char *text, struct wr_err *err)
{
    double bps;

    if (!wr_parse_rate(&bps, text, err))
        return false;
    *ret = bps / mib;
    return true;
}

static bool cases_read_time(double *ret, const char *text, struct wr_err *err)
{
    double ps;

    if (!wr_parse_time(&ps, text, err))
        return false;
    *ret = ps / 1e12;
    return true;
}

/* The numbers of a job, in files and on the command line. */
static const struct field {
    const char *key;
    size_t offset;
    bool (*read)(double *ret, const char *text, struct wr_err *err);
} fields[] = {
    {"volume", offsetof(struct interference_app, volume), cases_read_volume},
    {"start", offsetof(struct interference_app, start), cases_read_time},
    {"weight", offsetof(struct interference_app, weight), wr_parse_real},
    {"cap", offsetof(struct interference_app, cap), cases_read_rate},
    {"nodes", offsetof(struct interference_app, nodes), wr_parse_real},
    {"processes", offsetof(struct interference_app, processes), wr_parse_real},
};
enum { NFIELDS = sizeof fields / sizeof fields[0] };

static const struct interference_app blank = {
    .volume = NAN, .weight = NAN, .cap = INFINITY, .nodes = NAN, .processes = NAN};

static const struct field *cases_find_field(const char *key, struct wr_err *err)
{
    struct wr_nearest near = {.want = key};

    wr_nearest_try(&near, "name");
    for (size_t i = 0; i < NFIELDS; i++) {
        if (!strcmp(fields[i].key, key))
            return &fields[i];
        wr_nearest_try(&near, fields[i].key);
    }
    if (near.best)
        wr_fail(err, WR_UNKNOWN, "a job has no \"%s\"; did you mean %s?", wr_text_clip(key).s,
                near.best);
    else
        wr_fail(err, WR_UNKNOWN,
                "a job has no \"%s\"; it has name, volume, start, weight, cap, nodes, processes",
                wr_text_clip(key).s);
    return NULL;
}

static double *cases_value_of(struct interference_app *app, const struct field *f)
{
    void *at = (char *)app + f->offset;

    return at;
}

/* ---- weights and checks, the same for both sources ---- */

static bool cases_set_weights(struct interference_app *app, enum interference_weights by,
                              bool counted, struct wr_err *err)
{
    double count = by == INTERFERENCE_WEIGHT_NODES ? app->nodes : app->processes;
    const char *what = interference_weights_names[by];

    if (!isnan(app->weight)) {
        app->weight_from = "given";
        return true;
    }
    if (isnan(count) && counted)
        return wr_fail(err, WR_INPUT,
                       "the number of %s is missing, by which jobs are weighed; add \"%s\", "
                       "or a weight",
                       what, what);
    if (!isnan(count) && by != INTERFERENCE_WEIGHT_EQUAL && !(count >= 1 && count <= 1e9))
        return wr_fail(err, WR_INPUT, "the number of %s is %s; give a number from 1 to 1e9", what,
                       wr_text_real(count).s);
    app->weight = counted ? count : 1;
    app->weight_from = counted || by == INTERFERENCE_WEIGHT_EQUAL ? what : "default";
    return true;
}

/* Whether any job has the number by which jobs are weighed. */
static bool cases_any_counted(const struct interference_case *c, enum interference_weights by)
{
    for (size_t i = 0; i < c->napps; i++)
        if (!isnan(by == INTERFERENCE_WEIGHT_NODES ? c->app[i].nodes : c->app[i].processes))
            return by != INTERFERENCE_WEIGHT_EQUAL;
    return by == INTERFERENCE_WEIGHT_PROCESSES; /* chosen by the user: then they must be there */
}

static bool cases_finish_app(struct interference_case *c, size_t i, struct wr_err *err)
{
    const struct interference_app *app = &c->app[i];

    for (size_t k = 0; k < i; k++)
        if (!strcmp(c->app[k].name, app->name))
            return wr_fail(err, WR_INPUT, "another job has that name; give each its own");
    if (isnan(app->volume))
        return wr_fail(err, WR_INPUT, "the volume is missing; add \"volume\"");
    c->job[i] = (struct stat_share_job){app->volume, app->start, app->weight, app->cap};
    return stat_share_check_job(&c->job[i], err);
}

static bool cases_finish_case(struct interference_case *c, struct wr_arena *arena,
                              enum interference_weights by, struct wr_err *err)
{
    bool counted = cases_any_counted(c, by);

    if (!stat_share_check_capacity(&c->capacity, err))
        return false;
    c->job = wr_arena_alloc(arena, c->napps * sizeof *c->job);
    for (size_t i = 0; i < c->napps; i++)
        if (!cases_set_weights(&c->app[i], by, counted, err) || !cases_finish_app(c, i, err))
            return wr_wrap(err, "job \"%s\"", wr_text_clip(c->app[i].name).s);
    return true;
}

static bool cases_check_njobs(size_t n, struct wr_err *err)
{
    if (n >= 1 && n <= STAT_SHARE_JOBS)
        return true;
    return wr_fail(err, WR_INPUT, "there are %zu jobs; give from 1 to %d", n, STAT_SHARE_JOBS);
}

/* ---- a file ---- */

static bool cases_read_number(double *ret, const json_t *from, const char *key, struct wr_err *err)
{
    if (!json_is_number(from))
        return wr_fail(err, WR_INPUT, "\"%s\" is not a number; write one such as 100", key);
    *ret = json_number_value(from);
    return true;
}

static bool cases_read_app(struct interference_app *ret, json_t *from, struct wr_err *err)
{
    struct interference_app app = blank;
    const char *key;
    json_t *value;

    app.name = json_string_value(json_object_get(from, "name"));
    if (!app.name || !*app.name)
        return wr_fail(err, WR_INPUT, "the name is missing; add \"name\": \"A\"");
    json_object_foreach(from, key, value)
    {
        const struct field *f = strcmp(key, "name") ? cases_find_field(key, err) : NULL;

        if (!f && strcmp(key, "name") != 0)
            return false;
        if (f && !json_is_null(value) &&
            !cases_read_number(cases_value_of(&app, f), value, key, err))
            return false;
    }
    *ret = app;
    return true;
}

static bool cases_read_apps(struct interference_case *c, struct wr_arena *arena, struct wr_err *err)
{
    const json_t *apps = json_object_get(c->from, "apps");

    if (!json_is_array(apps))
        return wr_fail(err, WR_INPUT,
                       "\"apps\" is no list of jobs; add one such as "
                       "[{\"name\": \"A\", \"volume\": 16000}]");
    c->napps = json_array_size(apps);
    if (!cases_check_njobs(c->napps, err))
        return wr_wrap(err, "apps");
    c->app = wr_arena_alloc(arena, c->napps * sizeof *c->app);
    for (size_t i = 0; i < c->napps; i++)
        if (!cases_read_app(&c->app[i], json_array_get(apps, i), err))
            return wr_wrap(err, "apps[%zu]", i);
    return true;
}

static bool cases_read_capacity(struct interference_case *c, struct wr_arena *arena,
                                struct wr_err *err)
{
    json_t *from = json_object_get(c->from, "capacity_mib_s");
    bool list = json_is_array(from);
    size_t n = list ? json_array_size(from) : 1;
    double *v = wr_arena_alloc(arena, (n + 1) * sizeof *v);

    if (!from)
        return wr_fail(err, WR_INPUT, "the capacity is missing; add \"capacity_mib_s\": 100");
    for (size_t i = 0; i < n; i++)
        if (!cases_read_number(&v[i], list ? json_array_get(from, i) : from, "capacity_mib_s", err))
            return false;
    c->capacity = (struct stat_share_capacity){v, n};
    return true;
}

/* Keys beside ours are the file's own affair, unless they look like ours. */
static bool cases_check_keys(json_t *object, const char *const *known, struct wr_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        struct wr_nearest near = {.want = key};
        size_t i = 0;

        for (; known[i] && strcmp(known[i], key) != 0; i++)
            wr_nearest_try(&near, known[i]);
        if (!known[i] && near.best)
            return wr_fail(err, WR_UNKNOWN, "\"%s\" is unknown; did you mean %s?",
                           wr_text_clip(key).s, near.best);
    }
    return true;
}

static bool cases_read_case(struct interference_case *c, struct wr_arena *arena,
                            enum interference_weights by, struct wr_err *err)
{
    static const char *const known[] = {"id",       "description",   "capacity_mib_s",
                                        "apps",     "expected",      "expected_all_active",
                                        "schedule", "tolerance_rel", "note",
                                        "weights",  "predicted",     "predicted_all_active",
                                        NULL};

    if (!json_is_object(c->from))
        return wr_fail(err, WR_INPUT, "a case is an object; write {\"capacity_mib_s\": ...}");
    c->id = json_string_value(json_object_get(c->from, "id"));
    return cases_check_keys(c->from, known, err) && cases_read_capacity(c, arena, err) &&
           cases_read_apps(c, arena, err) && cases_finish_case(c, arena, by, err);
}

static bool cases_read_all(struct interference_cases *cs, enum interference_weights by,
                           struct wr_err *err)
{
    static const char *const known[] = {"kind", "model", "units", "cases", NULL};
    json_t *list = json_object_get(cs->all, "cases");

    if (!json_is_object(cs->all) || !cases_check_keys(cs->all, known, err))
        return json_is_object(cs->all)
                   ? false
                   : wr_fail(err, WR_INPUT, "no object; write {\"cases\": [...]}");
    if (!json_array_size(list))
        return wr_fail(err, WR_INPUT, "there are no cases; write {\"cases\": [...]}");
    cs->n = json_array_size(list);
    cs->v = wr_arena_alloc(&cs->arena, cs->n * sizeof *cs->v);
    for (size_t i = 0; i < cs->n; i++) {
        cs->v[i].from = json_array_get(list, i);
        if (!cases_read_case(&cs->v[i], &cs->arena, by, err))
            return wr_wrap(err, "cases[%zu]", i);
        if (!cs->v[i].id)
            cs->v[i].id = wr_arena_printf(&cs->arena, "%zu", i);
    }
    return true;
}

bool interference_cases_parse(struct interference_cases *ret, const char *name, const char *text,
                              size_t len, enum interference_weights by, struct wr_err *err)
{
    json_error_t at;
    struct interference_cases cs = {.all = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at)};

    if (!cs.all)
        return wr_fail(err, WR_INPUT, "%s:%d:%d: %s; give cases as JSON", name, at.line, at.column,
                       at.text);
    if (!cases_read_all(&cs, by, err)) {
        interference_cases_fini(&cs);
        return wr_wrap(err, "%s", name);
    }
    *ret = cs;
    return true;
}

bool interference_cases_read(struct interference_cases *ret, const char *path,
                             enum interference_weights by, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, 64 << 20, err))
        return false;
    bool ok = interference_cases_parse(ret, path, text, len, by, err);

    free(text);
    return ok;
}

void interference_cases_fini(struct interference_cases *c)
{
    json_decref(c->all);
    wr_arena_fini(&c->arena);
    *c = (struct interference_cases){0};
}

/* ---- the command line ---- */

static bool cases_parse_pair(struct interference_app *app, char *word, struct wr_err *err)
{
    char *value = strchr(word, '=');

    if (!value || !value[1])
        return wr_fail(err, WR_INPUT, "\"%s\" has no value; write volume=16GB",
                       wr_text_clip(word).s);
    *value++ = 0;
    if (!strcmp(word, "name")) {
        json_t *try = json_string(value);

        app->name = value;
        json_decref(try);
        return try || wr_fail(err, WR_INPUT, "the name is not UTF-8; give another");
    }
    const struct field *f = cases_find_field(word, err);

    if (!f)
        return false;
    return f->read(cases_value_of(app, f), value, err) || wr_wrap(err, "%s", word);
}

static bool cases_parse_app(struct interference_app *ret, struct wr_arena *arena, const char *text,
                            size_t number, struct wr_err *err)
{
    struct interference_app app = blank;
    char *rest = wr_arena_strdup(arena, text);

    app.name = wr_arena_printf(arena, "job%zu", number + 1);
    for (char *word; (word = strsep(&rest, ","));)
        if (!cases_parse_pair(&app, word, err))
            return wr_wrap(err, "job %s", wr_text_clip(text).s);
    *ret = app;
    return true;
}

static bool cases_parse_capacity(struct interference_case *c, struct wr_arena *arena,
                                 const char *text, struct wr_err *err)
{
    char *rest = wr_arena_strdup(arena, text);
    double *v = wr_arena_alloc(arena, (strlen(text) + 1) * sizeof *v);
    size_t n = 0;

    for (char *word; (word = strsep(&rest, ","));)
        if (!cases_read_rate(&v[n++], word, err))
            return wr_wrap(err, "capacity");
    c->capacity = (struct stat_share_capacity){v, n};
    return true;
}

static json_t *cases_capacity_json(const struct stat_share_capacity *c)
{
    json_t *all;

    if (c->n == 1)
        return json_real(c->by_active[0]);
    all = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(all, json_real(c->by_active[i]));
    return all;
}

/* What a file with this case would hold. */
static json_t *cases_object(const struct interference_case *c)
{
    json_t *apps = json_array();

    for (size_t i = 0; i < c->napps; i++) {
        json_t *app = json_pack("{ss}", "name", c->app[i].name);

        for (size_t f = 0; f < NFIELDS; f++) {
            double v = *cases_value_of(&c->app[i], &fields[f]);

            /* A weight that was counted is not the job's own. */
            if (isfinite(v) && (fields[f].offset != offsetof(struct interference_app, weight) ||
                                !strcmp(c->app[i].weight_from, "given")))
                json_object_set_new(app, fields[f].key, json_real(v));
        }
        json_array_append_new(apps, app);
    }
    return json_pack("{ss, so, so}", "id", c->id, "capacity_mib_s",
                     cases_capacity_json(&c->capacity), "apps", apps);
}

static bool cases_parse_options(struct interference_case *c, struct wr_arena *arena,
                                const char *capacity, const char *const *jobs,
                                enum interference_weights by, struct wr_err *err)
{
    if (!cases_check_njobs(c->napps, err) || !cases_parse_capacity(c, arena, capacity, err))
        return false;
    c->app = wr_arena_alloc(arena, c->napps * sizeof *c->app);
    for (size_t i = 0; i < c->napps; i++)
        if (!cases_parse_app(&c->app[i], arena, jobs[i], i, err))
            return false;
    return cases_finish_case(c, arena, by, err);
}

bool interference_cases_words(struct interference_cases *ret, const char *capacity,
                              const char *const *jobs, size_t njobs, enum interference_weights by,
                              struct wr_err *err)
{
    struct interference_cases cs = {.n = 1};
    struct interference_case *c = cs.v = wr_arena_alloc(&cs.arena, sizeof *cs.v);

    *c = (struct interference_case){.id = "jobs", .napps = njobs};
    if (!cases_parse_options(c, &cs.arena, capacity, jobs, by, err)) {
        interference_cases_fini(&cs);
        return false;
    }
    c->from = cases_object(c);
    cs.all = json_pack("{s[o]}", "cases", c->from);
    *ret = cs;
    return true;
}
