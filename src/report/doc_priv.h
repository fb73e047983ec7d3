/* doc_priv.h -- what the files that write documents out share. */
#ifndef REPORT_DOC_PRIV_H
#define REPORT_DOC_PRIV_H

#include "report/doc.h"

/* What there is to say against the numbers, a sentence each. */
typedef void doc_warn(void *ctx, const char *sentence);
void doc_warnings(const struct report_doc *d, doc_warn *fn, void *ctx);

/* ink_doc.c: gives the figures their colours, once all sections are there. */
void doc_choose_inks(struct report_doc *d);

#endif
