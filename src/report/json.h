/* json.h -- JSON written as it is made: documents are long, and a tree of them is longer.
 *
 * What is written may stand in a script of a page: '<' is written as an escape. Bytes that are not
 * UTF-8 (run files may come from any source) become U+FFFD.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include "base/str.h"

void report_json_text(struct wr_str *out, const char *text); /* NULL: null */
void report_json_real(struct wr_str *out, double v);         /* NaN and infinity: null */
/* ,"key": -- the comma only after what is not an opening bracket. */
void report_json_key(struct wr_str *out, const char *key);
/* A comma, unless the last thing written opened a bracket. */
void report_json_comma(struct wr_str *out);
void report_json_member(struct wr_str *out, const char *key, const char *text);
void report_json_number(struct wr_str *out, const char *key, double v);

#endif
