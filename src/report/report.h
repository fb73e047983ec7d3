/* report.h -- run files -> text, CSV, JSON, SVG and one self-contained HTML page.
 *
 * Reads run files only; whatever made them, a simulation or a measurement, is
 * reported the same way. doc.h has what a report is made of.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/output.h"
#include "base/str.h"
#include "report/chart.h"

/* Which picture of a load sweep. */
enum report_picture { REPORT_LATENCY, REPORT_ACCEPTED, REPORT_PICTURES };
extern const char *const report_picture_names[]; /* ends with NULL */

/* The points of load sweeps, of one run file or several. Points of the
 * same curve and load that differ in their seed become one, with the 95 %
 * interval of their mean. A file without a sweep is refused. A file that ends in .csv is a table
 * of points to compare with, drawn as marks; its columns are those of report_sweep_csv, of which
 * series and load must be there. */
bool report_sweep_csv(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err);
bool report_sweep_json(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err);

/* Does the file hold a load sweep? */
bool report_has_sweep(const char *run, bool *ret, struct wr_err *err);

/* What reports are written as, besides wr_format_svg and wr_format_csv. */
extern const struct wr_format report_text_format, report_page_format, report_json_format;

#endif
