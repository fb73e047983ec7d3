/* report_svg_priv.h -- what all pictures in SVG share: colours, head, axes, legends.
 *
 * Every shape says its colours and widths for light ground as attributes, which every
 * viewer understands. Where style sheets know variables, these take their place: one
 * set for light ground and one for dark.
 */
#ifndef REPORT_REPORT_SVG_PRIV_H
#define REPORT_REPORT_SVG_PRIV_H

#include <stdint.h>

#include "report/ink.h"
#include "scale_priv.h"

/* Those of names are in base/palette.h. */
enum svg_colour { SVG_BG, SVG_FG, SVG_DIM, SVG_GRID, SVG_COLOURS };

enum {
    SVG_WIDTH = 720,
    SVG_LEFT = 64,
    SVG_RIGHT = 24,
    SVG_LINE = 20,
};

const char *svg_light(enum svg_colour c); /* as an attribute says it */

/* The plot area and the scales that map values into it. */
struct svg_frame {
    double x, y, w, h; /* of the plot, in the picture's units; y at its top */
    const char *id;
    struct scale sx, sy;
};

double svg_x(const struct svg_frame *f, double at); /* at: 0 left, 1 right */
double svg_y(const struct svg_frame *f, double at); /* at: 0 below, 1 above */

/* Where the picture begins, below the title that only a file of its own has. */
double svg_top(const struct report_chart *c, bool whole);
void svg_begin(const struct report_chart *c, const char *id, bool whole, double height,
               struct wr_str *out);
void svg_end(struct wr_str *out);

/* Opens the group that gives its shapes a colour. */
void svg_group(uint32_t ink, struct wr_str *out);
void svg_group_named(const char *class, enum svg_colour colour, struct wr_str *out);

/* The height below a plot of that width for what svg_axis_x puts there. */
double svg_axis_height(const struct report_axis *a, double width);
/* Places the frame from `left`, or further right where labels of its y axis need that, to the right
 * end of the picture. */
void svg_frame_from(struct svg_frame *f, double left);
void svg_axis_x(const struct report_axis *a, const struct svg_frame *f, struct wr_str *out);
void svg_axis_y(const struct report_axis *a, const struct svg_frame *f, struct wr_str *out);
void svg_axis_line(const struct svg_frame *f, struct wr_str *out);
void svg_text(double x, double y, const char *attributes, const char *text, struct wr_str *out);

/* The place of the next entry of a legend; rows begin at the left. */
struct svg_entry {
    double x, y;
};
double svg_text_width(const char *text);
void svg_entry_next(struct svg_entry *e, double width);

/* Names below places of equal width, slanted where they are wider than these; the height used. With
 * no `out`, only measures. Slanted, the first needs space on the left of the plot. */
double svg_band_left(const char *const *names, size_t n);
double svg_band_names(const char *const *names, size_t n, const struct svg_frame *f,
                      struct wr_str *out);

/* Hatches that distinguish areas of a picture without colour: first defined, for n names, then over
 * the area of the k-th name. `id` is the picture's. */
void svg_hatches(const char *id, size_t n, struct wr_str *out);
/* A filled rectangle. */
struct svg_area {
    const char *id; /* of the picture, before the names of its patterns */
    size_t k;       /* which pattern */
    uint32_t ink;
    double x, y, w, h;
};
void svg_area(const struct svg_area *a, const char *title, struct wr_str *out);

/* Areas as the picture has them, with names, from `top`; the height used. With no `out`, only
 * measures. */
double svg_swatches(const char *id, const char *const *names, const uint32_t *ink, size_t n,
                    double top, struct wr_str *out);

#endif
