/* sec_validate.c -- the section "validation": simulated quantities against measured ones
 * (validation.h).
 *
 * Of `weir validate`, which passes what it compared; in other reports of simulated and of measured
 * runs that have quantities in common.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/agreement.h"
#include "report/validation.h"
#include "sections_priv.h"

enum { MOST_RATIOS = 24 };

static const char *sec_validate_name(struct report_section *s, const struct report_quantity *q)
{
    return wr_arena_printf(s->arena, "%s%s%s", q->job, *q->job ? ": " : "", q->name);
}

static void sec_validate_add_row(struct report_table *t, const struct report_quantity *q)
{
    double scale;
    const char *unit = report_quantity_unit(q, &scale);

    report_table_add(t, "%s", q->job);
    report_table_add(t, "%s", q->name);
    report_table_add(t, "%s", unit);
    report_table_add(t, "%s",
                     report_quantity_paired(q) ? report_quantity_over(q)
                     : q->simulated.runs       ? "only simulated"
                                               : "only measured");
    report_table_number(t, q->simulated.mean / scale, 6);
    report_table_number(t, q->measured.mean / scale, 6);
    report_table_number(t, 100 * q->error.mid, 2);
    report_table_number(t, 100 * q->error.low, 2);
    report_table_number(t, 100 * q->error.high, 2);
}

static void sec_validate_tabulate(struct report_section *s, const struct report_validation *v)
{
    static const char *const head[] = {"job",           "quantity",  "unit",
                                       "interval over", "simulated", "measured",
                                       "error %",       "from %",    "to %"};
    struct report_table *t = report_add_sheet(
        s, "table",
        "Errors are simulated / measured - 1, with intervals of 95 %: over runs, or over ranks, "
        "messages or repetitions of one run, which then say nothing about other runs.",
        9, 4);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[i]);
    for (size_t i = 0; i < v->v.n; i++)
        if (report_quantity_paired(&v->v.v[i]))
            sec_validate_add_row(t, &v->v.v[i]);
    for (size_t i = 0; i < v->v.n; i++)
        if (!report_quantity_paired(&v->v.v[i]))
            sec_validate_add_row(t, &v->v.v[i]);
    report_table_drop_empty(t);
}

static int sec_validate_by_error(const void *a, const void *b)
{
    const struct report_quantity *x = *(const struct report_quantity *const *)a,
                                 *y = *(const struct report_quantity *const *)b;
    double off[2] = {fabs(x->error.mid), fabs(y->error.mid)};

    return off[0] > off[1] ? -1 : off[0] < off[1] ? 1 : x < y ? -1 : x > y;
}

/* The pairs with the largest errors first, at most as many as a picture can name. */
static size_t sec_validate_furthest(const struct report_validation *v,
                                    const struct report_quantity **ret)
{
    size_t n = 0;

    for (size_t i = 0; i < v->v.n; i++)
        if (report_quantity_paired(&v->v.v[i]) && isfinite(v->v.v[i].error.mid))
            ret[n++] = &v->v.v[i];
    qsort(ret, n, sizeof *ret, sec_validate_by_error);
    return n < MOST_RATIOS ? n : MOST_RATIOS;
}

static void sec_validate_draw_ratios(struct report_section *s, const struct report_validation *v,
                                     double tolerance)
{
    const struct report_quantity **q = wr_arena_alloc(s->arena, (v->v.n + 1) * sizeof *q);
    size_t n = sec_validate_furthest(v, q);
    struct report_point *point = wr_arena_alloc(s->arena, (n + 1) * sizeof *point);
    struct report_series *series = wr_arena_alloc(s->arena, sizeof *series);
    struct report_mark *mark = wr_arena_alloc(s->arena, 3 * sizeof *mark);
    const char **name = wr_arena_alloc(s->arena, (n + 1) * sizeof *name);

    for (size_t i = 0; i < n; i++) {
        bool known = isfinite(q[i]->error.low);

        name[i] = sec_validate_name(s, q[i]);
        point[i] = (struct report_point){.x = (double)i,
                                         .y = 100 * q[i]->error.mid,
                                         .low = 100 * (known ? q[i]->error.low : q[i]->error.mid),
                                         .high = 100 * (known ? q[i]->error.high : q[i]->error.mid),
                                         .open = !known};
    }
    if (!n)
        return;
    *series = (struct report_series){
        .name = "simulated / measured - 1", .point = point, .n = n, .marks_only = true};
    mark[0] = (struct report_mark){.at = 0, .across = true, .label = "as measured"};
    mark[1] = (struct report_mark){.at = 100 * tolerance, .across = true, .label = "tolerance"};
    mark[2] = (struct report_mark){.at = -100 * tolerance, .across = true, .label = ""};
    report_add_figure(s, "errors", REPORT_LINES)->chart = (struct report_chart){
        .title = "Error of each quantity",
        .desc = wr_arena_printf(s->arena,
                                "Simulated / measured - 1 with the interval of 95 %%, the largest "
                                "first%s.",
                                n < v->pairs ? "; the others are in the table" : ""),
        .open_means = "one value on each side: no interval",
        .x = {.label = "quantity", .category = name, .ncategories = n},
        .y = {.label = "error", .unit = "%"},
        .series = series,
        .nseries = 1,
        .mark = mark,
        .nmarks = tolerance > 0 ? 3 : 1};
}

static void sec_validate_draw_times(struct report_section *s, const struct report_validation *v)
{
    struct report_agreement a;
    struct report_chart chart = {.title = "Times: simulated against measured",
                                 .desc = "Each mark is a time or a latency; on the line the "
                                         "simulation predicts what was measured.",
                                 .x = {.label = "measured", .unit = "ms"},
                                 .y = {.label = "simulated", .unit = "ms"}};

    report_agreement_init(&a, s);
    for (size_t i = 0; i < v->v.n; i++) {
        const struct report_quantity *q = &v->v.v[i];

        if (report_quantity_paired(q) && !strcmp(q->unit, "ns"))
            report_agreement_add(&a, *q->job ? q->job : "all jobs", q->measured.mean / 1e6,
                                 q->simulated.mean / 1e6);
    }
    if (report_agreement_chart(&a, &chart))
        report_add_figure(s, "times", REPORT_LINES)->chart = chart;
}

static void sec_validate_show(struct report_section *s, const struct report_validation *v,
                              double tolerance)
{
    struct report_agreed a = report_validation_agreed(v);

    sec_validate_draw_ratios(s, v, tolerance);
    sec_validate_draw_times(s, v);
    sec_validate_tabulate(s, v);
    s->says = wr_arena_printf(
        s->arena,
        "Of %zu quantities that are both simulated and measured, the error is %.3g %% on average "
        "and %.3g %% at most (%s).",
        v->pairs, 100 * a.mean, 100 * a.worst, sec_validate_name(s, a.furthest));
}

/* The members that come from a simulation, or those that do not. They are the inputs' own. */
static void sec_validate_choose(const struct report_inputs *in, bool simulated,
                                struct report_runs *ret)
{
    for (size_t i = 0; i < in->runs.member.n; i++) {
        const struct report_member *m = &in->runs.member.v[i];

        if (m->run && report_is_simulated(run_info(m->run)) == simulated)
            wr_vec_push(&ret->member, *m);
    }
}

static bool sec_validate_make(const struct report_inputs *in, size_t which,
                              struct report_section *s, struct wr_err *err)
{
    struct report_runs side[2] = {{.left_out = 0}, {.left_out = 0}};
    struct report_validation own;
    struct wr_err inner;

    (void)which;
    (void)err;
    if (in->validated) {
        sec_validate_show(s, in->validated, in->tolerance);
        return true;
    }
    sec_validate_choose(in, true, &side[0]);
    sec_validate_choose(in, false, &side[1]);
    /* Runs without a quantity in common have no such section. */
    if (side[0].member.n && side[1].member.n &&
        report_validate(&own, &side[0], &side[1], &(struct report_validate_how){0}, &inner)) {
        sec_validate_show(s, &own, 0);
        report_validation_close(&own);
    }
    wr_vec_fini(&side[0].member);
    wr_vec_fini(&side[1].member);
    return true;
}

const struct report_maker report_validated = {.id = "validation",
                                              .group = "validation",
                                              .title = "Simulated against measured",
                                              .make = sec_validate_make};
