/* text.h -- text laid out for 80 columns. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>

#include "base/str.h"

/* Each line of `text` is a paragraph and is broken between words; ends with a newline. */
void cli_text_wrap(struct wr_str *out, const char *text);

/* A name and what is to be said about it, side by side:
 *
 *   --limit N   print at most N rows
 *   --output FILE_WITH_A_LONG_NAME
 *               write there
 *
 * One without a text is a heading, after an empty line.
 */
struct cli_pair {
    const char *head, *text;
};

void cli_text_pairs(struct wr_str *out, const struct cli_pair *pairs, size_t n);

#endif
