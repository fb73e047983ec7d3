/* utf8.h -- text from outside: is it UTF-8, and may a terminal see it?
 *
 * Run files, tables and peers say what they like, also sequences that move the cursor, rename the
 * window or turn the direction of writing. Text of theirs is made harmless where it is read (the
 * reader of run files, of tables) and where errors are printed; what prints it later need not care.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* How many of the n bytes at `s` are one character, and which; 0: none. */
size_t wr_utf8_next(const char *s, size_t n, uint32_t *ret);
/* Not a control character (new line and tab are none here), nor one that changes the direction. */
bool wr_utf8_is_harmless(uint32_t c);

bool wr_text_is_harmless(const char *s, size_t n);
/* The rest is added as \x1b (bytes) or \u202e (characters). */
void wr_str_add_harmless(struct wr_str *out, const char *s, size_t n);

#endif
