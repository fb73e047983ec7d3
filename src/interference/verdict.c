/* verdict.c -- the result of an analysis in sentences, and its chart.
 *
 * Only formats what analyse.c computed. Called by `weir interfere` and the report. */
#include <math.h>
#include <stdlib.h>

#include "interference/analyse.h"
#include "report/chart.h"

static const double mib = 1 << 20;

static double verdict_percent(double part)
{
    return 100 * part;
}

static void verdict_add_overlap(const struct interference_set *s,
                                const struct interference_analysis *a, struct wr_str *out)
{
    static const char *const active[] = {"All processes of", "Some process of each of",
                                         "All client nodes of"};

    if (!a->overlaps) {
        wr_str_add(out, "There is no slice in which every process moves something.");
        return;
    }
    if (s->njobs < 2) {
        wr_str_addf(out, "%s %s are active at once for %.4g s.", active[a->active], s->job[0].name,
                    a->overlap_s);
        return;
    }
    wr_str_addf(out, "%s the %zu jobs are active at once for %.4g s", active[a->active], s->njobs,
                a->overlap_s);
    for (size_t i = 0; i < s->njobs; i++)
        wr_str_addf(out, "%s %.0f %% of %s's run", i ? "," : ":",
                    verdict_percent(a->job[i].overlap_part), s->job[i].name);
    wr_str_add(out, ".");
}

/* Jobs without an overlap: they ran one after the other, or a clock is wrong. */
static void verdict_add_gap(const struct interference_set *s, struct wr_str *out)
{
    for (size_t i = 0; i < s->njobs; i++)
        for (size_t k = 0; k < s->njobs; k++) {
            const struct interference_job *x = &s->job[i], *y = &s->job[k];

            if (x->after > y->first)
                continue;
            wr_str_addf(out, " %s has ended before %s begins, %.4g s later", x->name, y->name,
                        (double)(y->first - x->after) * s->slice_s);
            wr_str_add(out, s->clocked ? "; if they did run together, their clocks disagree: "
                                         "set align to start."
                                       : ".");
            return;
        }
    wr_str_add(out,
               " With active set to any it is enough that some process of each job is active.");
}

static void verdict_add_shares(const struct interference_set *s,
                               const struct interference_analysis *a, struct wr_str *out)
{
    static const char *const by[] = {"by node", "by process", "by job"};

    double all = a->total_bps / mib;

    wr_str_addf(
        out, all < 1e4 ? " Together they move %.4g MiB/s" : " Together they move %.0f MiB/s", all);
    for (size_t i = 0; i < s->njobs; i++)
        wr_str_addf(out, "%s %s %.0f %%", i ? "," : ":", s->job[i].name,
                    verdict_percent(a->job[i].share));
    wr_str_addf(out, ". That is nearest to shares %s", by[a->nearest]);
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        if (r != (int)a->nearest && a->tie &&
            a->off[r] < a->off[a->nearest] + INTERFERENCE_TIE_MARGIN)
            wr_str_addf(out, " or %s", by[r]);
    wr_str_addf(out, ", off by %.1f points.", verdict_percent(a->off[a->nearest]));
}

static void verdict_add_saturation(const struct interference_set *s,
                                   const struct interference_analysis *a, struct wr_str *out)
{
    size_t n = 0;

    if (!a->known) {
        wr_str_add(out, " Whether they slow each other down is not known: give a run of each job "
                        "alone.");
        return;
    }
    if (!a->saturated) {
        wr_str_add(out, " Each gets about what it takes alone: the server is not saturated.");
        return;
    }
    for (size_t i = 0; i < s->njobs; i++)
        n += a->job[i].saturates;
    wr_str_add(out, " The server is saturated");
    for (size_t i = 0, k = 0; i < s->njobs; i++)
        if (a->job[i].saturates) {
            wr_str_addf(out, "%s%s",
                        k == 0       ? "; alone it is filled by "
                        : k + 1 == n ? " and by "
                                     : ", by ",
                        s->job[i].name);
            k++;
        }
    wr_str_add(out, n ? "." : ", though no job fills it alone.");
}

static void verdict_add_slowdowns(const struct interference_set *s,
                                  const struct interference_analysis *a, struct wr_str *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s->njobs; i++) {
        if (isnan(a->job[i].slowdown))
            continue;
        wr_str_addf(out, "%s %s takes %.3g times as long as alone", n ? "," : "", s->job[i].name,
                    a->job[i].slowdown);
        n++;
    }
    if (n)
        wr_str_add(out, ".");
}

void interference_verdict(const struct interference_set *s, const struct interference_analysis *a,
                          struct wr_str *out)
{
    verdict_add_overlap(s, a, out);
    if (s->njobs > 1 && a->overlaps) {
        verdict_add_shares(s, a, out);
        verdict_add_saturation(s, a, out);
    } else if (s->njobs > 1) {
        verdict_add_gap(s, out);
    }
    verdict_add_slowdowns(s, a, out);
    wr_str_add(out, "\n");
}

/* ---- the picture ---- */

static void verdict_curve(struct report_series *ret, const struct interference_set *s,
                          const struct interference_job *j, struct wr_arena *arena)
{
    size_t n = 0;
    struct report_point *p = wr_arena_alloc(arena, (s->nslices + 3) * sizeof *p);

    for (size_t k = j->first; k <= j->after; k++)
        p[n++] = (struct report_point){
            .x = (double)k * s->slice_s,
            .y = k < j->after ? interference_job_bytes(s, j, k) / s->slice_s / mib : 0};
    *ret = (struct report_series){
        .name = j->name, .point = p, .n = n, .line_only = true, .steps = true};
}

static void verdict_mark_overlap(struct report_series *ret, const struct interference_set *s,
                                 const struct interference_analysis *a, double top,
                                 struct wr_arena *arena)
{
    struct report_point *p = wr_arena_alloc(arena, 4 * sizeof *p);
    double x[] = {(double)a->from * s->slice_s, (double)a->to * s->slice_s};

    p[0] = (struct report_point){.x = x[0], .y = 0};
    p[1] = (struct report_point){.x = x[0], .y = top};
    p[2] = (struct report_point){.x = x[1], .y = top};
    p[3] = (struct report_point){.x = x[1], .y = 0};
    *ret = (struct report_series){
        .name = "all active", .point = p, .n = 4, .line_only = true, .guide = true};
}

void interference_chart(struct report_chart *ret, const struct interference_set *s,
                        const struct interference_analysis *a, struct wr_arena *arena)
{
    struct report_series *series = wr_arena_alloc(arena, (s->njobs + 1) * sizeof *series);
    struct wr_str desc = {0};
    size_t n = 0;
    double top = 0;

    for (; n < s->njobs; n++) {
        verdict_curve(&series[n], s, &s->job[n], arena);
        for (size_t k = 0; k < series[n].n; k++)
            top = fmax(top, series[n].point[k].y);
    }
    if (a->overlaps)
        verdict_mark_overlap(&series[n++], s, a, 1.05 * top, arena);
    interference_verdict(s, a, &desc);
    *ret = (struct report_chart){.title = "Bandwidth of each job over time",
                                 .desc = wr_arena_strdup(arena, wr_str_get(&desc)),
                                 .x = {.label = "time, s"},
                                 .y = {.label = "MiB/s", .zero = true},
                                 .series = series,
                                 .nseries = n};
    wr_str_fini(&desc);
}
