/* ink.h -- the colours of series (base/palette.h), and text in colour. */
#ifndef REPORT_INK_H
#define REPORT_INK_H

#include "base/palette.h"
#include "report/chart.h"

/* Of the series of a chart that belongs to no document: series of one name have one colour; guides
 * have none. */
void ink_of_series(const struct report_chart *c, uint32_t *ret_colour);

/* Into a terminal's line, in a colour, if there are colours. */
void ink_put(struct wr_str *out, const struct report_text_style *style, uint32_t colour,
             const char *text);
/* Columns of a terminal that a text takes. */
unsigned ink_columns(const char *text);

#endif
