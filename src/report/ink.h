/* ink.h -- one colour for one name: in all figures of a document, and in all documents.
 *
 *   name ──> a cause?  its own colour, a shade of its kind's (compute, communication, I/O, ...)
 *        └─> else      of eight colours that no cause has, the one that its letters choose; where a
 *                      name beside it in a figure has that, the next one
 *
 * So a name has the same colour everywhere, and only names that meet in a figure move aside. Colour
 * is never all that tells two names of a figure apart: ink_mark, ink_dash, ink_hatch and ink_glyph
 * follow from the place that a name has in its figure.
 */
#ifndef REPORT_INK_H
#define REPORT_INK_H

#include <stdint.h>

#include "report/chart.h"

enum { INK_COLOURS = 19 };

/* As an attribute of SVG has it, and on dark ground. */
struct ink_colour {
    const char *light, *dark;
    const char *terminal; /* of 16 colours, so that whoever reads chose how they look */
};
extern const struct ink_colour ink_colours[INK_COLOURS];

/* The colour of a name by itself: from a table for causes, else by its letters. */
uint32_t ink_of(const char *name);

/* Colours for the names of several figures, those that stand in one figure different where there
 * are enough of them. `of` lists for every figure where its names begin in `id`, and where the last
 * ends; `id` are numbers of names. */
struct ink_figures {
    const char *const *name;
    size_t nnames;
    const size_t *id, *of;
    size_t nfigures;
};
void ink_choose(const struct ink_figures *f, uint32_t *ret_colour);

/* Of a figure that belongs to no document: of different names, or of series; guides have none. */
void ink_of_names(const char *const *name, size_t n, uint32_t *ret_colour);
void ink_of_series(const struct report_chart *c, uint32_t *ret_colour);

/* What tells the k-th name of a figure apart without colour. */
const char *ink_mark(size_t k);                         /* a path around 0,0 */
const char *ink_dash(size_t k);                         /* "" : solid */
const char *ink_glyph(size_t k, bool ascii, bool open); /* a character, of a point */
const char *ink_fill(size_t k, bool ascii);             /* a character, of an area */
enum { INK_MARKS = 12, INK_HATCHES = 12 };

/* Into a terminal's line, in a colour, if there are colours. */
void ink_put(struct wr_str *out, const struct report_text_style *style, uint32_t colour,
             const char *text);
/* Columns of a terminal that a text takes. */
unsigned ink_columns(const char *text);

#endif
