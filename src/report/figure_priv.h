/* figure_priv.h -- one row per kind of figure: how it is drawn, and written as text, JSON and CSV.
 */
#ifndef REPORT_FIGURE_PRIV_H
#define REPORT_FIGURE_PRIV_H

#include "base/mem.h"
#include "report/figure.h"
#include "report/ink.h"
#include "report/json.h"
#include "report/report_table.h"

/* Calls `fn` for each name of a figure. */
typedef void figure_each_name(const struct report_figure *f,
                              void (*fn)(void *ctx, const char *name), void *ctx);

struct figure_ops {
    void (*svg)(const struct report_figure *f, bool whole, struct wr_str *out);
    void (*text)(const struct report_figure *f, const struct report_text_style *style,
                 struct wr_str *out);
    void (*json)(const struct report_figure *f, struct wr_str *out); /* members of its own */
    void (*csv)(const struct report_figure *f, struct report_table *t);
    figure_each_name *names; /* those that have colours; NULL: none */
};

extern const struct figure_ops figure_lines, figure_boxes, figure_bars, figure_machine,
    figure_matrix, figure_sequence;

/* Names in the order in which they first come, and their colours. The place of a name gives what
 * distinguishes it without colour (base/palette.h). */
struct figure_names {
    WR_VEC(const char *) v;
    WR_VEC(uint32_t) ink;
};
size_t figure_name(struct figure_names *names, const char *name); /* its number */
void figure_names_open(struct figure_names *ret, const struct report_figure *f);
void figure_names_fini(struct figure_names *names);

void figure_head(struct report_table *t, const char *const *columns, size_t n, size_t nleft);
/* A number as CSV has it: all that is known of it, or nothing. */
void figure_number(struct report_table *t, double v);
/* The legend of areas in a terminal, a line of it. */
void figure_legend(struct wr_str *out, const struct report_text_style *style,
                   const struct figure_names *names);
unsigned figure_width(const struct report_text_style *style);

#endif
