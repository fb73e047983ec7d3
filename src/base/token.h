/* token.h -- the secret that a server and its clients share: 128 random bits.
 *
 * Written as 32 hexadecimal digits, and found in a file that only its owner may read or in the
 * environment: every user of a machine can read the command lines of all processes.
 */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { WR_TOKEN_DIGITS = 32, WR_TOKEN_TEXT = WR_TOKEN_DIGITS + 1 };

struct wr_token {
    uint64_t word[2];
};

bool wr_token_make(struct wr_token *ret, struct wr_err *err);
void wr_token_text(const struct wr_token *t, char into[WR_TOKEN_TEXT]);
/* false: `text` (NULL is fine) is no token. Takes as long for any 32 digits. */
bool wr_token_parse(struct wr_token *ret, const char *text);
/* From the file, unless it is NULL; else from the environment's variable, unless it is not set;
 * else *ret_given is false. Errors never show what was found. */
bool wr_token_find(struct wr_token *ret, bool *ret_given, const char *file, const char *variable,
                   struct wr_err *err);

/* Takes as long for a wrong token as for the right one. */
static inline bool wr_token_same(const struct wr_token *a, const struct wr_token *b)
{
    return !((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]));
}

#endif
