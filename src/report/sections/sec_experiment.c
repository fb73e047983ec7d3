/* sec_experiment.c -- the sections of an interference experiment: which job slows which, observed
 * and predicted from the runs alone; then the bandwidth of the jobs over time.
 *
 * An experiment is a directory with experiment.yaml and the run files of its trials (run/trial.h).
 * The statistics are those of `weir interfere experiment --tables` (experiment_tables); nothing is
 * computed here but ratios to the run time alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "interference/experiment/experiment.h"
#include "sections_priv.h"

/* Combinations, and sizes alone, whose time lines are drawn. */
enum { MOST_TOGETHER = 6, MOST_ALONE = 8 };

bool sections_is_experiment(const struct report_inputs *in)
{
    struct run_trial t;

    if (!in->study || !in->runs.member.n)
        return false;
    for (size_t i = 0; i < in->runs.member.n; i++)
        if (in->runs.member.v[i].nchoices || !run_trial_parse(&t, in->runs.member.v[i].path))
            return false;
    return true;
}

/* False: the runs are no experiment, or its file cannot be read; the page goes on without it. */
static bool sec_experiment_open(struct experiment *ret, const struct report_inputs *in,
                                struct wr_arena *arena)
{
    struct stat st;
    struct wr_err refused;

    if (!sections_is_experiment(in))
        return false;
    const char *path = in->runs.member.v[0].path, *slash = strrchr(path, '/');
    const char *dir = slash ? wr_arena_strndup(arena, path, (size_t)(slash - path)) : ".";
    const char *spec = wr_arena_printf(arena, "%s/experiment.yaml", dir);

    /* Only runs that are inputs: a server must not read others (report_access). */
    const char **runs = wr_arena_alloc(arena, in->runs.member.n * sizeof *runs);

    for (size_t i = 0; i < in->runs.member.n; i++)
        runs[i] = in->runs.member.v[i].path;
    return !lstat(spec, &st) && S_ISREG(st.st_mode) &&
           experiment_open_runs(ret, spec, dir, runs, in->runs.member.n, &refused);
}

/* ---- which job slows which ---- */

/* A job of a combination, beside itself alone. */
struct slowed {
    const struct experiment_cell *cell;
    size_t job;
    double alone_s, observed_s, predicted_s; /* NaN: not known */
};

/* All that is drawn: jobs in the order of mode, size and what they ran with. */
struct slowing {
    WR_VEC(struct slowed) v;
    WR_VEC(const struct experiment_cell *) alone;
    enum interference_rule rule; /* predicts best; shares are by this */
    double off;                  /* its mean error, a fraction; NaN: nothing is predicted */
    bool modes;                  /* more than one: named everywhere */
};

static double sec_experiment_rule_error(const struct experiment_tables *t, enum interference_rule r)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < t->cells.n; i++)
        for (size_t j = 0; t->cells.v[i].n > 1 && j < t->cells.v[i].n; j++) {
            const struct experiment_job *job = &t->cells.v[i].job[j];

            if (isfinite(job->model_s[r])) {
                sum += fabs(job->model_s[r] / job->runtime_s.mean - 1);
                n++;
            }
        }
    return n ? sum / (double)n : NAN;
}

static const struct experiment_cell *sec_experiment_alone(const struct experiment_tables *t,
                                                          const char *mode, uint32_t size)
{
    for (size_t i = 0; i < t->cells.n; i++)
        if (t->cells.v[i].n == 1 && !strcmp(t->cells.v[i].mode, mode) &&
            t->cells.v[i].job[0].size == size)
            return &t->cells.v[i];
    return NULL;
}

static int sec_experiment_by_size(const void *a, const void *b)
{
    const struct slowed *x = a, *y = b;
    int mode = strcmp(x->cell->mode, y->cell->mode);

    if (mode)
        return mode;
    if (x->cell->job[x->job].size != y->cell->job[y->job].size)
        return x->cell->job[x->job].size < y->cell->job[y->job].size ? -1 : 1;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

static void sec_experiment_read(struct slowing *ret, const struct experiment_tables *t)
{
    ret->off = NAN;
    for (int r = 0; r < INTERFERENCE_RULES; r++) {
        double off = sec_experiment_rule_error(t, (enum interference_rule)r);

        if (off < ret->off || (isfinite(off) && !isfinite(ret->off))) {
            ret->off = off;
            ret->rule = (enum interference_rule)r;
        }
    }
    for (size_t i = 0; i < t->cells.n; i++) {
        const struct experiment_cell *c = &t->cells.v[i];

        ret->modes |= strcmp(c->mode, t->cells.v[0].mode) != 0;
        if (c->n == 1)
            wr_vec_push(&ret->alone, c);
        for (size_t j = 0; c->n > 1 && j < c->n; j++) {
            const struct experiment_cell *a = sec_experiment_alone(t, c->mode, c->job[j].size);

            wr_vec_push(&ret->v,
                        (struct slowed){c, j,
                                        a ? c->job[j].volume_b / a->job[0].overall_bps.mean : NAN,
                                        c->job[j].runtime_s.mean, c->job[j].model_s[ret->rule]});
        }
    }
    if (ret->v.n)
        qsort(ret->v.v, ret->v.n, sizeof *ret->v.v, sec_experiment_by_size);
}

/* "P, size 1 with 3"; alone: "size 1 alone". */
static const char *sec_experiment_name(const struct slowing *l, const struct experiment_cell *c,
                                       size_t job, struct wr_arena *arena)
{
    struct wr_str s = {0};
    size_t others = 0;

    if (l->modes)
        wr_str_addf(&s, "%s, ", c->mode);
    wr_str_addf(&s, "size %u ", c->job[job].size);
    for (size_t i = 0; i < c->n; i++)
        if (i != job)
            wr_str_addf(&s, "%s%u", others++ ? "+" : "with ", c->job[i].size);
    if (!others)
        wr_str_add(&s, "alone");
    else
        wr_str_addf(&s, " (%c)", run_trial_letter(job));
    const char *kept = wr_arena_strdup(arena, wr_str_get(&s));

    wr_str_fini(&s);
    return kept;
}

static const char *sec_experiment_words(const struct slowing *l, struct wr_arena *arena)
{
    const struct slowed *most = NULL, *least = NULL;

    for (size_t i = 0; i < l->v.n; i++) {
        const struct slowed *v = &l->v.v[i];
        double x = v->observed_s / v->alone_s;

        if (!isfinite(x))
            continue;
        most = !most || x > most->observed_s / most->alone_s ? v : most;
        least = !least || x < least->observed_s / least->alone_s ? v : least;
    }
    if (!most)
        return "The jobs that ran together were not run alone, so nothing is compared.";
    const char *head = wr_arena_printf(
        arena,
        "The job of %s is slowed most: it takes %.3g times as long as alone (%.3g s instead of "
        "%.3g s). The job of %s is slowed least: %.3g times.",
        sec_experiment_name(l, most->cell, most->job, arena), most->observed_s / most->alone_s,
        most->observed_s, most->alone_s, sec_experiment_name(l, least->cell, least->job, arena),
        least->observed_s / least->alone_s);

    return isfinite(l->off)
               ? wr_arena_printf(arena,
                                 "%s Predicted from the runs alone, with bandwidth "
                                 "shared by %s (the nearest of %d rules), run times are "
                                 "off by %.3g %% on average.",
                                 head, interference_rule_names[l->rule], INTERFERENCE_RULES,
                                 100 * l->off)
               : head;
}

static void sec_experiment_draw_slowdowns(struct report_section *s, const struct slowing *l)
{
    const char **name = wr_arena_alloc(s->arena, (l->v.n + 1) * sizeof *name);
    struct report_mark *one = wr_arena_alloc(s->arena, sizeof *one);
    struct report_curves curves = {0};

    for (size_t i = 0; i < l->v.n; i++) {
        const struct slowed *v = &l->v.v[i];
        double sd = v->cell->job[v->job].runtime_s.sd / v->alone_s, x = v->observed_s / v->alone_s;

        name[i] = sec_experiment_name(l, v->cell, v->job, s->arena);
        sd = isfinite(sd) ? sd : 0;
        if (isfinite(x))
            wr_vec_push(&report_curve(s, &curves, "observed")->point,
                        (struct report_point){(double)i - 0.1, x, x - sd, x + sd, false});
        if (isfinite(v->predicted_s / v->alone_s))
            wr_vec_push(
                &report_curve(s, &curves, "predicted")->point,
                (struct report_point){.x = (double)i + 0.1, .y = v->predicted_s / v->alone_s});
    }
    size_t n = curves.v.n;
    const struct report_series *series =
        report_series(s, &curves, (struct report_series){.marks_only = true});

    *one = (struct report_mark){.at = 1, .across = true, .label = "as alone"};
    if (n)
        report_add_figure(s, "slowdown", REPORT_LINES)->chart = (struct report_chart){
            .title = "Slowdown of each job by the jobs it ran with",
            .desc = wr_arena_printf(
                s->arena,
                "Run time together over run time alone; intervals are one standard deviation over "
                "repetitions. Predicted from the runs alone, with bandwidth shared by %s, "
                "the nearest of %d rules.",
                interference_rule_names[l->rule], INTERFERENCE_RULES),
            .x = {.label = "job", .category = name, .ncategories = l->v.n},
            .y = {.label = "slowdown", .zero = true},
            .series = series,
            .nseries = n,
            .mark = one,
            .nmarks = 1};
}

/* Where the jobs of one size and mode end: each stands behind itself alone. */
static void sec_experiment_draw_runtimes(struct report_section *s, const struct slowing *l)
{
    const char **name = wr_arena_alloc(s->arena, (l->v.n + l->alone.n + 1) * sizeof *name);
    struct report_curves curves = {0};
    size_t at = 0;

    for (size_t a = 0; a < l->alone.n; a++) {
        const struct experiment_job *j = &l->alone.v[a]->job[0];
        double sd = isfinite(j->runtime_s.sd) ? j->runtime_s.sd : 0;

        name[at] = sec_experiment_name(l, l->alone.v[a], 0, s->arena);
        wr_vec_push(&report_curve(s, &curves, "alone")->point,
                    (struct report_point){(double)at++, j->runtime_s.mean, j->runtime_s.mean - sd,
                                          j->runtime_s.mean + sd, false});
        for (size_t i = 0; i < l->v.n; i++) {
            const struct slowed *v = &l->v.v[i];
            const struct experiment_job *k = &v->cell->job[v->job];

            if (strcmp(v->cell->mode, l->alone.v[a]->mode) != 0 || k->size != j->size)
                continue;
            sd = isfinite(k->runtime_s.sd) ? k->runtime_s.sd : 0;
            name[at] = sec_experiment_name(l, v->cell, v->job, s->arena);
            wr_vec_push(&report_curve(s, &curves, "together")->point,
                        (struct report_point){(double)at++, v->observed_s, v->observed_s - sd,
                                              v->observed_s + sd, false});
        }
    }
    size_t n = curves.v.n;
    const struct report_series *series =
        report_series(s, &curves, (struct report_series){.marks_only = true});

    if (n)
        report_add_figure(s, "runtimes", REPORT_LINES)->chart = (struct report_chart){
            .title = "Run time of each job, alone and together",
            .desc = "Means over repetitions, with one standard deviation. Jobs of a size stand "
                    "beside each other, that alone first.",
            .x = {.label = "job", .category = name, .ncategories = at},
            .y = {.label = "run time", .unit = "s", .zero = true},
            .series = series,
            .nseries = n};
}

static void sec_experiment_tabulate(struct report_section *s, const struct slowing *l)
{
    static const char *const head[] = {"job",         "processes",  "runs",     "kept",
                                       "alone s",     "observed s", "slowdown", "predicted s",
                                       "predicted x", "off %"};
    struct report_table *t = report_add_sheet(
        s, "table",
        "Means over the repetitions that are kept: run time alone and together, their ratio, and "
        "what was predicted.",
        10, 1);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[i]);
    for (size_t i = 0; i < l->v.n; i++) {
        const struct slowed *v = &l->v.v[i];

        report_table_add(t, "%s", sec_experiment_name(l, v->cell, v->job, s->arena));
        report_table_add(t, "%zu", v->cell->job[v->job].processes);
        report_table_add(t, "%zu", v->cell->runs);
        report_table_add(t, "%zu", v->cell->kept);
        report_table_number(t, v->alone_s, 3);
        report_table_number(t, v->observed_s, 3);
        report_table_number(t, v->observed_s / v->alone_s, 3);
        report_table_number(t, v->predicted_s, 3);
        report_table_number(t, v->predicted_s / v->alone_s, 3);
        report_table_number(t, 100 * (v->predicted_s / v->observed_s - 1), 1);
    }
    report_table_drop_empty(t);
}

static bool sec_experiment_make(const struct report_inputs *in, size_t which,
                                struct report_section *s, struct wr_err *err)
{
    struct experiment_tables tables;
    struct slowing l = {.modes = false};
    struct wr_err refused;
    struct experiment e;

    (void)which, (void)err;
    if (!sec_experiment_open(&e, in, s->arena))
        return true;
    if (experiment_tables(&tables, &e, &refused)) {
        sec_experiment_read(&l, &tables);
        if (l.v.n) {
            s->says = sec_experiment_words(&l, s->arena);
            sec_experiment_draw_slowdowns(s, &l);
            sec_experiment_draw_runtimes(s, &l);
            sec_experiment_tabulate(s, &l);
        }
        wr_vec_fini(&l.v);
        wr_vec_fini(&l.alone);
        experiment_tables_fini(&tables);
    }
    experiment_close(&e);
    return true;
}

/* ---- over time ---- */

/* Bandwidth of the jobs of these files on one axis of time, in the names given. */
static void sec_experiment_draw_lines(struct report_section *s, const char *id, const char *title,
                                      const char *const *path, const char *const *name, size_t n,
                                      enum interference_align align)
{
    struct interference_load how = {
        .op = INTERFERENCE_BOTH, .align = align, .most = SECTIONS_MOST_SLICES};
    struct interference_analysis a;
    struct interference_set set;
    struct wr_err refused;

    if (!interference_load(&set, path, n, &how, &refused))
        return;
    if (set.njobs == n) {
        struct report_chart c;

        interference_analyse(&a, &set, NULL, INTERFERENCE_ALL_PROCESSES);
        interference_chart(&c, &set, &a, s->arena);
        for (size_t i = 0; i < n; i++)
            ((struct report_series *)c.series)[i].name = name[i];
        c.nseries = n; /* without the guide of the overlap, which is a band here */
        c.title = title;
        c.desc =
            wr_arena_printf(s->arena, "Bytes written and read in slices of %.3g s.", set.slice_s);
        c.x = (struct report_axis){.label = "time", .unit = "s"};
        c.y = (struct report_axis){.label = "bandwidth", .unit = "MiB/s", .zero = true};
        if (a.overlaps && align == INTERFERENCE_BY_CLOCK) {
            struct report_band *band = wr_arena_alloc(s->arena, sizeof *band);

            *band = (struct report_band){(double)a.from * set.slice_s, (double)a.to * set.slice_s,
                                         "all active"};
            c.band = band;
            c.nbands = 1;
        }
        report_add_figure(s, id, REPORT_LINES)->chart = c;
        interference_analysis_fini(&a);
    }
    interference_set_fini(&set);
}

static void sec_experiment_draw_trial(struct report_section *s, const struct experiment *e,
                                      const struct experiment_trial *t)
{
    const char *path[EXPERIMENT_JOBS], *name[EXPERIMENT_JOBS];
    struct wr_str title = {0};

    wr_str_addf(&title, "Bandwidth over time, together, %s:", t->mode);
    for (size_t i = 0; i < t->n; i++) {
        path[i] = experiment_run_path(e, t, i, s->arena);
        name[i] = wr_arena_printf(s->arena, "%c", run_trial_letter(i));
        wr_str_addf(&title, "%s %s of size %u", i ? " and" : "", name[i], t->size[i]);
    }
    sec_experiment_draw_lines(s, t->id, wr_arena_strdup(s->arena, wr_str_get(&title)), path, name,
                              t->n, INTERFERENCE_BY_CLOCK);
    wr_str_fini(&title);
}

/* The jobs alone of one mode, as if they had begun together. */
static void sec_experiment_draw_alone(struct report_section *s, const struct experiment *e,
                                      const char *mode)
{
    const char *path[MOST_ALONE], *name[MOST_ALONE];
    size_t n = 0;

    for (size_t i = 0; i < e->trials.n && n < MOST_ALONE; i++) {
        const struct experiment_trial *t = &e->trials.v[i];

        if (t->n > 1 || strcmp(t->mode, mode) != 0 || !experiment_is_first(e, i))
            continue;
        path[n] = experiment_run_path(e, t, 0, s->arena);
        name[n++] = wr_arena_printf(s->arena, "size %u alone", t->size[0]);
    }
    if (n)
        sec_experiment_draw_lines(
            s, wr_arena_printf(s->arena, "alone-%s", mode),
            wr_arena_printf(s->arena, "Bandwidth over time, each size alone, %s", mode), path, name,
            n, INTERFERENCE_BY_START);
}

static bool sec_experiment_make_times(const struct report_inputs *in, size_t which,
                                      struct report_section *s, struct wr_err *err)
{
    size_t together = 0, drawn = 0;
    struct experiment e;

    (void)which, (void)err;
    if (!sec_experiment_open(&e, in, s->arena))
        return true;
    for (size_t i = 0; i < e.trials.n; i++) {
        const struct experiment_trial *t = &e.trials.v[i];

        if (!experiment_is_first(&e, i))
            continue;
        if (!i || strcmp(t->mode, e.trials.v[i - 1].mode) != 0)
            sec_experiment_draw_alone(s, &e, t->mode);
        together += t->n > 1;
        if (t->n > 1 && drawn < MOST_TOGETHER) {
            sec_experiment_draw_trial(s, &e, t);
            drawn++;
        }
    }
    s->says = wr_arena_printf(s->arena,
                              "The first repetition of %s%zu of %zu combinations: jobs alone, then "
                              "together.",
                              drawn < together ? "the first " : "", drawn, together);
    experiment_close(&e);
    return true;
}

const struct report_maker report_experiment = {.id = "experiment",
                                               .group = "experiment",
                                               .title = "Which job slows which",
                                               .make = sec_experiment_make};
const struct report_maker report_experiment_time = {.id = "trials",
                                                    .group = "experiment",
                                                    .title = "Jobs alone and together, over time",
                                                    .make = sec_experiment_make_times};
