/* json_priv.h -- JSON written as it is made: documents are long, and a tree of them is longer.
 *
 * What is written may stand in a script of a page: '<' is written as an escape. Bytes that are not
 * UTF-8 (run files may come from anybody) become U+FFFD.
 */
#ifndef REPORT_JSON_PRIV_H
#define REPORT_JSON_PRIV_H

#include "base/str.h"

void json_put_text(struct wr_str *out, const char *text); /* NULL: null */
void json_put_real(struct wr_str *out, double v);         /* NaN and infinity: null */
/* ,"key": -- the comma only after what is not an opening bracket. */
void json_put_key(struct wr_str *out, const char *key);
/* A comma, unless the last thing written opened a bracket. */
void json_put_comma(struct wr_str *out);
void json_put_member(struct wr_str *out, const char *key, const char *text);
void json_put_number(struct wr_str *out, const char *key, double v);

#endif
