/* figure.h -- a picture as data, whatever its kind.
 *
 *   struct report_figure ──> SVG for a page or a paper
 *     kind, title, words     text for a terminal
 *     axes, data             JSON for other programs (docs/formats/report.md)
 *                            CSV
 *
 * Curves are one kind of six; each kind is one row of the table in figure.c. Figures are plain data
 * and know no run file; the maker keeps its memory.
 */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include <stdint.h>

#include "report/chart.h"

enum report_kind {
    REPORT_LINES,
    REPORT_BOXES,
    REPORT_BARS,
    REPORT_MACHINE,
    REPORT_MATRIX,
    REPORT_SEQUENCE,
    REPORT_KINDS,
};

extern const char *const report_kind_names[]; /* "lines", ... */

/* What a box plot draws of a sample. Boxes of one group stand side by side, those of one name
 * have one colour. */
struct report_box {
    const char *name, *group;
    double min, q1, median, q3, max, mean;
    double n;
};

struct report_part {
    const char *name;
    double value;
};

/* A lying bar, stacked of its parts. */
struct report_bar {
    const char *name, *group;
    const struct report_part *part;
    size_t nparts;
};

/* A group of routers, within the unit circle (y downwards), and the ranks of jobs in it. */
struct report_spot {
    const char *label;
    double x, y;
    const struct report_part *job;
    size_t njobs;
};

/* Links of one class from the spot `a` to `b`, taken together: per slice, the fraction of the time
 * for which they were sending, and in which packets waited without a credit. */
struct report_bundle {
    uint32_t a, b;
    const char *cls;
    double n;
    const double *load, *sat;
};

/* Groups of routers on a ring and the links between them, over nslices of dt_ns each. */
struct report_machine {
    const struct report_spot *spot;
    size_t nspots;
    const struct report_bundle *bundle;
    size_t nbundles;
    size_t nslices;
    double dt_ns;
};

struct report_matrix {
    const char *const *row, *const *col;
    size_t nrows, ncols;
    const double *value; /* row after row */
    const char *unit;
};

/* What a lane does from t0 to t1, or a message from it to another. */
struct report_step {
    double t0, t1;
    int lane, to; /* to < 0: no message */
    const char *label, *cls;
};

/* Activities and messages of components (lanes) in the order of time. */
struct report_sequence {
    const char *const *lane;
    size_t nlanes;
    const struct report_step *step;
    size_t nsteps;
};

/* The colour of a name, from 0: the same one in all figures of a document, and of others
 * (base/palette.h). */
struct report_ink {
    const char *name;
    uint32_t k;
};

/* A figure of any kind; of box .. sequence only the members of its kind are set. */
struct report_figure {
    const char *id;    /* unique in a document: letters, digits, '-' */
    const char *table; /* id of the table that holds its data, or NULL */
    enum report_kind kind;
    struct report_chart chart; /* title, words and axes of every kind; the curves of REPORT_LINES */
    const struct report_box *box;
    size_t nboxes;
    const struct report_bar *bar;
    size_t nbars;
    struct report_machine machine;
    struct report_matrix matrix;
    struct report_sequence sequence;
    const struct report_ink *ink; /* of its names; none: chosen for it alone */
    size_t ninks;
};

/* Calls `fn` for each name that has a colour in the figure, in the order they come, some of them
 * more than once. */
void report_figure_names(const struct report_figure *f, void (*fn)(void *ctx, const char *name),
                         void *ctx);

void report_figure_svg(const struct report_figure *f, struct wr_str *out);        /* a file */
void report_figure_svg_inline(const struct report_figure *f, struct wr_str *out); /* in a page */
void report_figure_text(const struct report_figure *f, const struct report_text_style *style,
                        struct wr_str *out);
void report_figure_json(const struct report_figure *f, struct wr_str *out);
void report_figure_csv(const struct report_figure *f, struct wr_str *out);

#endif
