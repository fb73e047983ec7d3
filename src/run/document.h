/* document.h -- SQL on a JSON document, such as the --json output of a verb.
 *
 *   view   rows                                              column
 *   json   one: the document                                 r
 *   item   one for each element of its outermost level       key, r
 *
 *     SELECT r ->> '$.nodes' FROM json
 *     SELECT r ->> 'iops' FROM item WHERE r ->> 'access' = 'random read'
 *
 * Numbers asked for in this way and those of run files (reader.h) are asked for in one language.
 */
#ifndef RUN_DOCUMENT_H
#define RUN_DOCUMENT_H

#include <stdbool.h>

#include "base/err.h"

/* The first column of the first row as a number: `found` false when there is no row or it is
 * NULL. The statement may read the document only. */
bool run_document_number(const char *path, const char *sql, double *ret, bool *ret_found,
                         struct wr_err *err);

#endif
