/* sweep_curves.h -- load sweeps as read: curves of points, one per load. */
#ifndef REPORT_SWEEP_CURVES_H
#define REPORT_SWEEP_CURVES_H

#include "base/mem.h"
#include "report/doc.h"
#include "report/report.h"
#include "stat/sample.h"

/* The columns of the view `sweep` that are numbers, as fractions and nanoseconds. */
enum sweep_col {
    SWEEP_LOAD,
    SWEEP_OFFERED,
    SWEEP_ACCEPTED,
    SWEEP_MEAN,
    SWEEP_P50,
    SWEEP_P99,
    SWEEP_MAX,
    SWEEP_HOPS,
    SWEEP_NONMINIMAL,
    SWEEP_SATURATED,
    SWEEP_COLS,
};

struct sweep_point {
    double col[SWEEP_COLS];                 /* means over seeds; NaN: unknown */
    struct stat_interval accepted, mean_ns; /* of those means; ends NaN with one seed */
    size_t seeds;
};

struct sweep_curve {
    const char *name;
    size_t run;                       /* which of the files */
    bool reference;                   /* a table of points: drawn as marks only */
    WR_VEC(struct sweep_point) point; /* by ascending load */
};

struct sweep {
    WR_VEC(struct sweep_curve) curve;
    struct wr_arena *text; /* the caller's */
};

/* The names of the table's columns: that of the curve, then those of enum sweep_col. */
extern const char *const sweep_names[SWEEP_COLS + 1];

bool sweep_read(struct sweep *ret, struct wr_arena *text, const char *const *runs, size_t n,
                struct wr_err *err);
/* By its name: a table of points, not a run file. */
bool sweep_is_table(const char *path);
void sweep_fini(struct sweep *s);

/* A picture with its sentence. */
struct report_chart sweep_chart(struct sweep *s, enum report_picture which);

/* Latencies are given in the unit in which the smallest is at least 1. */
struct report_unit sweep_unit(const struct sweep *s);

#endif
