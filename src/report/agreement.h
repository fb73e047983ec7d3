/* agreement.h -- a chart of simulated against measured values, and the line on which both are
 * equal.
 *
 * Used by `weir validate`, `weir stack validate` and the sections of reports that show them. Memory
 * is that of the section's arena.
 */
#ifndef REPORT_AGREEMENT_H
#define REPORT_AGREEMENT_H

#include "report/doc.h"

/* Points by kind while they are added; `low` and `high` are the extremes of all values. */
struct report_agreement {
    struct report_section *s;
    struct report_curves curves;
    double low, high;
};

void report_agreement_init(struct report_agreement *a, struct report_section *s);
/* Values that are not above 0 are left out: the axes are logarithmic. */
void report_agreement_add(struct report_agreement *a, const char *kind, double measured,
                          double simulated);
/* Sets the series of the chart and its axes (labels and units stay); false: there are no points.
 * Nothing may be added after it. */
bool report_agreement_chart(struct report_agreement *a, struct report_chart *chart);

#endif
