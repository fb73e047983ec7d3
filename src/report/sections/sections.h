/* sections.h -- all that a report can show, one row per section.
 *
 * A section whose analysis is another room's is made here, where that room can be seen; the others
 * are made in report/. To show something new, write a maker and add it to the table.
 */
#ifndef REPORT_SECTIONS_SECTIONS_H
#define REPORT_SECTIONS_SECTIONS_H

#include "report/doc.h"

/* In the order in which a reader meets them; ends with NULL. */
extern const struct report_maker *const report_sections[];

#endif
