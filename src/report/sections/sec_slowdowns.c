/* sec_slowdowns.c -- the section "slowdowns": each job with others against its baseline
 * (compare.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "sections_priv.h"

static const enum report_measure shown[] = {REPORT_ELAPSED, REPORT_COMM, REPORT_IO, REPORT_MESSAGE};
enum { NSHOWN = sizeof shown / sizeof *shown };

/* Are all comparisons of jobs with themselves alone? Else the groups are alternatives. */
static bool sec_slowdowns_alone(const struct report_comparisons *list)
{
    for (size_t g = 0; g < list->v.n; g++)
        if (!list->v.v[g].c.alone)
            return false;
    return true;
}

static void sec_slowdowns_tabulate(struct report_section *s, const struct report_comparisons *list)
{
    static const char *const head[2][10] = {
        {"runs", "job", "what", "over", "alone ms", "with others ms", "times", "from", "to",
         "seeds"},
        {"runs", "job", "what", "over", "base ms", "other ms", "times", "from", "to", "seeds"}};
    struct report_table *t = report_add_sheet(
        s, "table",
        "Means over ranks, and intervals of 95 %: over seeds, or over ranks where there is one "
        "seed, which then say nothing about other seeds.",
        10, 4);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[!sec_slowdowns_alone(list)][i]);
    for (size_t g = 0; g < list->v.n; g++)
        for (size_t k = 0; k < list->v.v[g].c.job.n * NSHOWN; k++) {
            const struct report_compared *c = &list->v.v[g].c.job.v[k / NSHOWN];
            const struct report_change *m = &c->change[shown[k % NSHOWN]];

            if (isnan(m->ratio.mid))
                continue;
            report_table_add(t, "%s", list->v.v[g].group);
            report_table_add(t, "%s", c->job);
            report_table_add(t, "%s", report_measure_names[shown[k % NSHOWN]]);
            report_table_add(t, "%s", report_over_names[m->over]);
            report_table_number(t, m->base_ns / 1e6, 4);
            report_table_number(t, m->with_ns / 1e6, 4);
            report_table_number(t, m->ratio.mid, 4);
            report_table_number(t, m->ratio.low, 4);
            report_table_number(t, m->ratio.high, 4);
            report_table_add(t, "%zu", c->pairs);
        }
    report_table_drop_empty(t);
}

static void sec_slowdowns_add_words(struct report_section *s, const struct report_comparisons *list)
{
    struct report_table *t = report_add_sheet(s, "words", "The same in words.", 2, 2);

    report_table_add(t, "runs");
    report_table_add(t, "what happened, and why");
    for (size_t g = 0; g < list->v.n; g++)
        for (size_t j = 0; j < list->v.v[g].c.job.n; j++) {
            struct wr_str words = {0};

            report_compare_words(&list->v.v[g].c.job.v[j], &words);
            char *rest = words.s;
            for (char *line; (line = strsep(&rest, "\n"));) {
                if (!*line)
                    continue;
                report_table_add(t, "%s", list->v.v[g].group);
                report_table_add(t, "%s", line);
            }
            wr_str_fini(&words);
        }
    report_table_drop_empty(t);
}

/* Where communication or I/O grew by more than the job: that. */
static const char *sec_slowdowns_part_words(struct report_section *s,
                                            const struct report_compared *c)
{
    double comm = c->change[REPORT_COMM].ratio.mid, io = c->change[REPORT_IO].ratio.mid;
    bool is_io = !(comm >= io) && isfinite(io);
    double part = is_io ? io : comm;

    return isfinite(part) && part > 1.05 * fmax(c->change[REPORT_ELAPSED].ratio.mid, 1)
               ? wr_arena_printf(s->arena, ", its %s %.3g times", is_io ? "I/O" : "communication",
                                 part)
               : "";
}

/* The job that lost most, or of alternatives the one that changed most, in one sentence. */
static const char *sec_slowdowns_worst_words(struct report_section *s,
                                             const struct report_comparisons *list)
{
    const struct report_compared *worst = NULL;
    bool alone = sec_slowdowns_alone(list);
    const char *group = "";
    double most = -INFINITY;
    size_t n = 0;

    for (size_t g = 0; g < list->v.n; g++)
        for (size_t j = 0; j < list->v.v[g].c.job.n; j++) {
            const struct report_compared *c = &list->v.v[g].c.job.v[j];
            double change = log(c->change[REPORT_ELAPSED].ratio.mid);

            change = alone ? change : fabs(change);
            n++;
            if (isfinite(change) && change > most) {
                most = change;
                worst = c;
                group = list->v.v[g].group;
            }
        }
    if (!worst)
        return "The jobs that share the machine are in no run alone, so nothing is compared.";
    const struct report_change *e = &worst->change[REPORT_ELAPSED];

    const char *how = n == 1 ? ""
                             : wr_arena_printf(s->arena, " %s of %zu: it",
                                               alone ? "is slowed most" : "changes most", n);

    return wr_arena_printf(s->arena,
                           "%s%s%s%s%s takes %.4g times as long as %s (%.4g to %.4g with 95 %%)%s.",
                           worst->job, *group ? " (" : "", group, *group ? ")" : "", how,
                           e->ratio.mid, alone ? "alone" : "in the base", e->ratio.low,
                           e->ratio.high, sec_slowdowns_part_words(s, worst));
}

/* Slowdowns side by side, with their intervals: a group of marks per measure. */
static void sec_slowdowns_draw_ratios(struct report_section *s,
                                      const struct report_comparisons *list)
{
    static const enum report_measure drawn[] = {REPORT_ELAPSED, REPORT_COMM, REPORT_IO};
    static const char *const words[] = {"elapsed time", "communication", "I/O"};
    struct report_curves curves = {0};
    size_t at = 0, all = 0;

    for (size_t g = 0; g < list->v.n; g++)
        all += list->v.v[g].c.job.n;
    const char **name = wr_arena_alloc(s->arena, (all + 1) * sizeof *name);
    for (size_t g = 0; g < list->v.n; g++)
        for (size_t j = 0; j < list->v.v[g].c.job.n; j++, at++) {
            const struct report_compared *c = &list->v.v[g].c.job.v[j];

            name[at] = wr_arena_printf(s->arena, "%s%s%s", c->job, *list->v.v[g].group ? ", " : "",
                                       list->v.v[g].group);
            for (size_t k = 0; k < 3; k++) {
                const struct stat_interval *r = &c->change[drawn[k]].ratio;

                if (isfinite(r->mid))
                    wr_vec_push(&report_curve(s, &curves, words[k])->point,
                                (struct report_point){(double)at + 0.15 * ((double)k - 1), r->mid,
                                                      r->low, r->high, false});
            }
        }
    size_t n = curves.v.n;
    const struct report_series *series =
        report_series(s, &curves, (struct report_series){.marks_only = true});
    struct report_mark *one = wr_arena_alloc(s->arena, sizeof *one);

    bool alone = sec_slowdowns_alone(list);

    *one =
        (struct report_mark){.at = 1, .across = true, .label = alone ? "as alone" : "as the base"};
    if (n)
        report_add_figure(s, "times", REPORT_LINES)->chart = (struct report_chart){
            .title = alone ? "Slowdown relative to the job alone" : "Time relative to the base",
            .desc = alone ? "Each job that shared the machine, compared with itself alone, with "
                            "the interval of 95 %. Above 1: slower."
                          : "Each job compared with itself in the base, with the interval of 95 %. "
                            "Above 1: slower, below 1: faster.",
            .x = {.label = "job", .category = name, .ncategories = all},
            .y = {.label = alone ? "slowdown" : "time / time in the base", .zero = true},
            .series = series,
            .nseries = n,
            .mark = one,
            .nmarks = 1};
}

/* Slowdown of I/O against the number of others on a rank's server. */
static void sec_slowdowns_draw_crowds(struct report_section *s,
                                      const struct report_comparisons *list)
{
    struct report_curves curves = {0};

    for (size_t g = 0; g < list->v.n; g++)
        for (size_t j = 0; j < list->v.v[g].c.job.n; j++) {
            const struct report_compared *c = &list->v.v[g].c.job.v[j];
            const char *group = list->v.v[g].group;

            for (size_t i = 0; i < c->crowd.n; i++)
                wr_vec_push(
                    &report_curve(
                         s, &curves,
                         wr_arena_printf(s->arena, *group ? "%s, %s" : "%s", c->job, group))
                         ->point,
                    (struct report_point){.x = c->crowd.v[i].others,
                                          .y = c->crowd.v[i].base_ns > 0
                                                   ? c->crowd.v[i].with_ns / c->crowd.v[i].base_ns
                                                   : NAN});
        }
    size_t n = curves.v.n;
    const struct report_series *series = report_series(s, &curves, (struct report_series){0});

    if (n)
        report_add_figure(s, "crowds", REPORT_LINES)->chart = (struct report_chart){
            .title = "I/O slowdown by ranks of other jobs on the server",
            .desc = "How many times as long the I/O of a job's ranks takes, by how many ranks of "
                    "other jobs have their data on the same server.",
            .x = {.label = "ranks of other jobs on the server", .zero = true},
            .y = {.label = "I/O time, relative to alone", .zero = true},
            .series = series,
            .nseries = n};
}

static bool sec_slowdowns_make(const struct report_inputs *in, size_t which,
                               struct report_section *s, struct wr_err *err)
{
    struct report_comparisons own = {0};
    const struct report_comparisons *list = in->compared;

    (void)which;
    if (!list) {
        if (!in->study || !report_compare_study(&own, &in->runs, &in->runs, 1, err))
            return !in->study;
        list = &own;
    }
    if (list->v.n) {
        if (!sec_slowdowns_alone(list))
            s->title = "Time of each job relative to the base";
        s->says = sec_slowdowns_worst_words(s, list);
        sec_slowdowns_draw_ratios(s, list);
        sec_slowdowns_draw_crowds(s, list);
        sec_slowdowns_tabulate(s, list);
        sec_slowdowns_add_words(s, list);
    }
    report_comparisons_close(&own);
    return true;
}

const struct report_maker report_slowdowns = {.id = "slowdowns",
                                              .group = "study",
                                              .title = "Slowdown of each job",
                                              .make = sec_slowdowns_make};
