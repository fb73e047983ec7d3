/* palette.h -- one colour for one name: in all figures of a document, and in all documents.
 *
 *   name ──> a cause?  its own colour, a shade of its kind's (compute, communication, I/O, ...)
 *        └─> else      of seven colours that no cause has, the one that its letters choose; where a
 *                      name beside it in a figure has that, the next one
 *
 * So a name has the same colour everywhere, and only names that meet in a figure move aside. Colour
 * is never all that distinguishes two names of a figure: palette_mark, palette_dash, palette_glyph,
 * palette_fill and hatches follow from the place that a name has in its figure.
 */
#ifndef BASE_PALETTE_H
#define BASE_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PALETTE_COLOURS = 18 };

struct palette_colour {
    const char *light, *dark; /* on light and on dark ground, as SVG has it */
    const char
        *terminal; /* of 16 colours, so that the terminal of the reader decides how they look */
};
extern const struct palette_colour palette_colours[PALETTE_COLOURS];

/* The colour of a name by itself: from a table for causes, else by its letters. */
uint32_t palette_of(const char *name);

/* Colours for the names of several figures, those that stand in one figure different where there
 * are enough of them. `of` lists for every figure where its names begin in `id`, and where the last
 * ends; `id` are numbers of names. */
struct palette_figures {
    const char *const *name;
    size_t nnames;
    const size_t *id, *of;
    size_t nfigures;
};
void palette_choose(const struct palette_figures *f, uint32_t *ret_colour);
/* Of one figure, whose names are all different. */
void palette_of_names(const char *const *name, size_t n, uint32_t *ret_colour);

/* What distinguishes the k-th name of a figure without colour. */
enum { PALETTE_MARKS = 12, PALETTE_HATCHES = 12 };
const char *palette_mark(size_t k);                         /* a path of SVG around 0,0 */
const char *palette_dash(size_t k);                         /* "": solid */
const char *palette_glyph(size_t k, bool ascii, bool open); /* a character, of a point */
const char *palette_fill(size_t k, bool ascii);             /* a character, of an area */

#endif
