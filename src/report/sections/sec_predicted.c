/* sec_predicted.c -- how long jobs that share a server take by the model of sharing, beside how
 * long they took.
 *
 * Where there are runs of jobs alone, they teach what such a job reaches (interference/training.h),
 * as `weir interfere predict RUN...` does. Where there are none, what each job got while no other
 * was at work, and what the server carried at most, take their place.
 */
#include <math.h>
#include <stdlib.h>

#include "interference/training.h"
#include "sections_priv.h"

struct prediction {
    const char *run, *job;
    size_t processes;
    double observed_s, predicted_s, low_s, high_s;
};

struct predictions {
    WR_VEC(struct prediction) v;
    const char *from; /* what the model was given, in words */
};

static void sec_predicted_group(struct predictions *p, const struct interference_training *l,
                                const struct interference_group *g,
                                struct interference_weighting how, struct wr_arena *arena)
{
    struct interference_prediction *predicted = wr_zalloc(g->set.njobs, sizeof *predicted);
    struct wr_err unknown;
    /* A mode that no job alone was seen in is not predicted. */
    bool ok = interference_predict_group(predicted, l, g, how, &unknown);

    for (size_t i = 0; ok && i < g->set.njobs; i++)
        wr_vec_push(&p->v, (struct prediction){.run = wr_arena_strdup(arena, g->name),
                                               .job = wr_arena_strdup(arena, g->set.job[i].name),
                                               .processes = interference_processes(&g->set.job[i]),
                                               .observed_s = g->set.job[i].runtime_s,
                                               .predicted_s = predicted[i].runtime_s,
                                               .low_s = predicted[i].low_s,
                                               .high_s = predicted[i].high_s});
    free(predicted);
}

static void sec_predicted_from_jobs_alone(struct predictions *p, const char *const *paths, size_t n,
                                          struct wr_arena *arena)
{
    struct interference_training l = {.most = SECTIONS_MOST_SLICES};
    struct wr_err refused;
    size_t alone = 0;

    if (interference_training_add(&l, paths, n, INTERFERENCE_BOTH_ROLES, INTERFERENCE_BOTH,
                                  &refused) &&
        interference_training_fit(&l, false, &refused)) {
        struct interference_weighting how = {.rule = l.rule, .fitted = true};

        interference_calibrate(&l, how);
        for (size_t i = 0; i < l.configs.n; i++)
            alone += l.configs.v[i].rates.n;
        for (size_t i = 0; alone && i < l.groups.n; i++)
            if (l.groups.v[i].set.njobs > 1)
                sec_predicted_group(p, &l, &l.groups.v[i], how, arena);
        p->from =
            wr_arena_printf(arena, "from %zu run%s of jobs alone, the server being shared by %s",
                            alone, alone == 1 ? "" : "s", interference_rule_names[l.rule]);
    }
    interference_training_fini(&l);
}

static void sec_predicted_from_themselves(struct predictions *p, const struct interference_set *set,
                                          const struct interference_analysis *a,
                                          struct wr_arena *arena)
{
    double carried = isfinite(a->capacity_bps) ? a->capacity_bps : a->total_bps;
    struct stat_share_capacity capacity = {&carried, 1};
    struct stat_share_job *job = wr_zalloc(set->njobs, sizeof *job);
    struct wr_err refused;
    struct stat_share predicted;
    bool ok = set->njobs <= STAT_SHARE_JOBS && stat_share_check_capacity(&capacity, &refused);

    for (size_t i = 0; ok && i < set->njobs; i++) {
        double single = a->job[i].single_bps;

        job[i] = (struct stat_share_job){.volume = set->job[i].volume_b,
                                         .start = set->job[i].start_s,
                                         .weight = interference_rule_share(set, a->nearest, i),
                                         .cap = single > 0 ? fmax(single, a->job[i].overlap_bps.mid)
                                                           : INFINITY};
        ok = stat_share_check_job(&job[i], &refused);
    }
    if (ok) {
        stat_share_solve(&predicted, job, set->njobs, &capacity);
        for (size_t i = 0; i < set->njobs; i++)
            wr_vec_push(&p->v,
                        (struct prediction){.run = "",
                                            .job = wr_arena_strdup(arena, set->job[i].name),
                                            .processes = interference_processes(&set->job[i]),
                                            .observed_s = set->job[i].runtime_s,
                                            .predicted_s = predicted.runtime[i]});
        stat_share_fini(&predicted);
        p->from = wr_arena_printf(arena,
                                  "from what each got while no other was at work and from the "
                                  "most that the server carried, %.1f MB/s, shared by %s",
                                  carried / 1e6, interference_rule_names[a->nearest]);
    }
    free(job);
}

static void sec_predicted_draw(struct report_section *s, const struct predictions *p)
{
    struct report_point *point = wr_arena_alloc(s->arena, p->v.n * sizeof *point);
    struct report_point *line = wr_arena_alloc(s->arena, 2 * sizeof *line);
    struct report_series *series = wr_arena_alloc(s->arena, 2 * sizeof *series);
    double top = 0, sum = 0, most = 0;

    for (size_t i = 0; i < p->v.n; i++) {
        const struct prediction *v = &p->v.v[i];
        double off = fabs(v->predicted_s / v->observed_s - 1);

        point[i] = (struct report_point){
            .x = v->observed_s, .y = v->predicted_s, .low = v->low_s, .high = v->high_s};
        top = fmax(top, fmax(v->observed_s, fmax(v->predicted_s, v->high_s)));
        sum += off;
        most = fmax(most, off);
    }
    line[1] = (struct report_point){.x = top, .y = top};
    series[0] =
        (struct report_series){.name = "a job", .point = point, .n = p->v.n, .marks_only = true};
    series[1] = (struct report_series){
        .name = "predicted = observed", .point = line, .n = 2, .line_only = true, .guide = true};
    report_add_figure(s, "predicted", REPORT_LINES)->chart = (struct report_chart){
        .title = "Run times: predicted against observed",
        .desc = wr_arena_printf(s->arena,
                                "Predicted %s. Of %zu run times, predictions are off by %.3g %% "
                                "on average and by %.3g %% at most.",
                                p->from, p->v.n, 100 * sum / (double)p->v.n, 100 * most),
        .x = {.label = "observed", .unit = "s", .zero = true},
        .y = {.label = "predicted", .unit = "s", .zero = true},
        .series = series,
        .nseries = 2};
}

static void sec_predicted_tabulate(struct report_section *s, const struct predictions *p)
{
    static const char *const head[] = {"run",         "job",  "processes", "observed s",
                                       "predicted s", "from", "to",        "off %"};
    bool ranges = false;

    for (size_t i = 0; i < p->v.n; i++)
        ranges |= p->v.v[i].low_s < p->v.v[i].high_s;
    struct report_table *t = report_add_sheet(
        s, "predictions",
        ranges
            ? "Run time of each job, observed and predicted; from, to is the prediction interval "
              "of 80 %."
            : "Run time of each job, observed and predicted.",
        8, 2);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[i]);
    for (size_t i = 0; i < p->v.n; i++) {
        const struct prediction *v = &p->v.v[i];
        bool range = v->low_s < v->high_s;

        report_table_add(t, "%s", v->run);
        report_table_add(t, "%s", v->job);
        report_table_add(t, "%zu", v->processes);
        report_table_number(t, v->observed_s, 3);
        report_table_number(t, v->predicted_s, 3);
        report_table_number(t, range ? v->low_s : NAN, 3);
        report_table_number(t, range ? v->high_s : NAN, 3);
        report_table_number(t, 100 * (v->predicted_s / v->observed_s - 1), 3);
    }
    report_table_drop_empty(t);
}

void sections_predict(struct report_section *s, const char *const *paths, size_t n,
                      const struct interference_set *set, const struct interference_analysis *a)
{
    struct predictions p = {0};

    if (n > 1)
        sec_predicted_from_jobs_alone(&p, paths, n, s->arena);
    if (!p.v.n && set && a->overlaps && set->njobs > 1)
        sec_predicted_from_themselves(&p, set, a, s->arena);
    if (p.v.n) {
        sec_predicted_draw(s, &p);
        sec_predicted_tabulate(s, &p);
    }
    wr_vec_fini(&p.v);
}
