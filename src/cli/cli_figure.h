/* cli_figure.h -- writes a figure: as SVG, or as PDF or PNG by a renderer of the system. */
#ifndef CLI_CLI_FIGURE_H
#define CLI_CLI_FIGURE_H

#include "base/output.h"

extern const struct wr_format cli_format_pdf, cli_format_png;

/* Does the name end in .pdf or .png? */
bool cli_figure_is_rendered(const char *path);

/* Would cli_figure_write() do it? Also asks whether the renderer is there. */
bool cli_figure_check(const char *path, unsigned flags, struct wr_err *err);

/* By the ending of `path`: .svg .pdf .png, none: SVG. `flags`: as of wr_output_open(). */
bool cli_figure_write(const char *path, const struct wr_str *svg, unsigned flags,
                      struct wr_err *err);

#endif
