/* dump_text_priv.h -- one operation as a line of text, without the line's end.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#ifndef LOAD_NCPTL_DUMP_TEXT_PRIV_H
#define LOAD_NCPTL_DUMP_TEXT_PRIV_H

#include "base/str.h"
#include "ncptl_event.h"

/* All but LOG. `text`: what OUTPUT and BACKEND say; NULL for the others. */
void nc_text_event(struct wr_str *out, uint32_t proc, const struct ncptl_event *ev,
                   const char *text);

/* A column of LOG. */
void nc_text_log(struct wr_str *out, uint32_t proc, const char *title, bool timed, double value);

#endif
