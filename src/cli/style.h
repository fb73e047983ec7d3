/* style.h -- how pictures are drawn where the output goes. */
#ifndef CLI_STYLE_H
#define CLI_STYLE_H

#include <stdio.h>

#include "report/chart.h"

/* A terminal's width and colours; ASCII where its characters are not UTF-8.
 * `out` is NULL when the output is not for a terminal. */
struct report_text_style cli_style(FILE *out, bool ascii);

#endif
