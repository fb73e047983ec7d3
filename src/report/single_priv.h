/* single_priv.h -- one run: its pictures and tables, read once, drawn as text or page. */
#ifndef REPORT_SINGLE_PRIV_H
#define REPORT_SINGLE_PRIV_H

#include "base/mem.h"
#include "page_priv.h"
#include "report/chart.h"
#include "run/reader.h"

struct single {
    struct run_reader *run;
    struct wr_arena text;
    WR_VEC(struct report_chart) chart;
    struct table summary, latency, links;
};

/* A time is told in the unit in which `ns` is at least 1. */
struct single_unit {
    double ns;
    const char *name;
};
struct single_unit single_unit(double ns);

/* Each adds its charts and tables; a view without rows adds nothing. */
bool single_latency(struct single *s, struct wr_err *err);
bool single_links(struct single *s, struct wr_err *err);
bool single_slices(struct single *s, struct wr_err *err);

/* A growing list of points, and its series once it is complete. */
struct single_curve {
    const char *name;
    WR_VEC(struct report_point) point;
};
struct single_curves {
    WR_VEC(struct single_curve) v;
};

struct single_curve *single_curve(struct single *s, struct single_curves *c, const char *name);
/* Moves the points to the arena; `shape` gives what all series share. */
const struct report_series *single_series(struct single *s, struct single_curves *c,
                                          struct report_series shape);

#endif
