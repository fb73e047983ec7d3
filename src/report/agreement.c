/* agreement.c -- simulated against measured values as marks on two logarithmic axes (agreement.h).
 */
#include "report/agreement.h"

#include <math.h>
#include <string.h>

void report_agreement_init(struct report_agreement *a, struct report_section *s)
{
    *a = (struct report_agreement){.s = s, .low = INFINITY};
}

void report_agreement_add(struct report_agreement *a, const char *kind, double measured,
                          double simulated)
{
    if (!(measured > 0) || !(simulated > 0))
        return;
    struct report_curve *curve = report_curve(a->s, &a->curves, kind);

    wr_vec_push(
        &curve->point,
        (struct report_point){.x = measured, .y = simulated, .low = simulated, .high = simulated});
    a->low = fmin(a->low, fmin(measured, simulated));
    a->high = fmax(a->high, fmax(measured, simulated));
}

bool report_agreement_chart(struct report_agreement *a, struct report_chart *chart)
{
    size_t n = a->curves.v.n;
    const struct report_series *marks =
        report_series(a->s, &a->curves, (struct report_series){.marks_only = true});

    if (!n)
        return false;
    struct report_series *series = wr_arena_alloc(a->s->arena, (n + 1) * sizeof *series);
    struct report_point *same = wr_arena_alloc(a->s->arena, 2 * sizeof *same);

    memcpy(series, marks, n * sizeof *series);
    same[0] = (struct report_point){a->low, a->low, a->low, a->low, false};
    same[1] = (struct report_point){a->high, a->high, a->high, a->high, false};
    series[n] = (struct report_series){
        .name = "as measured", .point = same, .n = 2, .line_only = true, .guide = true};
    chart->x.log = chart->y.log = true;
    chart->series = series;
    chart->nseries = n + 1;
    return true;
}
