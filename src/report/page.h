/* page.h -- the head and the foot of weir's pages, which need no other file and no network. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>

#include "base/str.h"

struct report_bundled; /* doc.h: code and style of the viewer */

/* From <!DOCTYPE> to <body>. `kind` is what the page is, by which weir knows its own files again;
 * `code` may be NULL. */
void report_page_begin(const char *kind, const char *title, const struct report_bundled *code,
                       struct wr_str *out);
void report_page_end(struct wr_str *out);

/* A picture within the page, whose names and styles do not meet those of others. */
void report_page_picture(const char *svg, size_t len, const char *alt, struct wr_str *out);

#endif
