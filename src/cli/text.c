/* text.c -- breaks paragraphs and pairs of name and explanation to 80 columns, for help texts. */
#include "cli/text.h"

#include <string.h>

enum { WIDTH = 80, INDENT = 2, GAP = 2, WIDEST_HEAD = 26 };

/* Bytes that begin a character: what a terminal counts, near enough. */
static size_t text_columns(const char *s, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xc0) != 0x80;
    return count;
}

/* Adds n bytes broken between words; the cursor stands at column `indent`, where
 * further lines begin too. */
static void text_wrap(struct wr_str *out, const char *text, size_t n, size_t indent)
{
    size_t at = indent;

    for (size_t i = 0; i < n;) {
        size_t word = strcspn(text + i, " \n");

        if (word > n - i)
            word = n - i;
        size_t wide = text_columns(text + i, word);
        if (at > indent && at + 1 + wide > WIDTH) {
            wr_str_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            wr_str_add(out, " ");
            at++;
        }
        wr_str_addn(out, text + i, word);
        at += wide;
        i += word;
        i += strspn(text + i, " ");
    }
    wr_str_add(out, "\n");
}

void cli_text_wrap(struct wr_str *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        text_wrap(out, text, n, 0);
        text += n + (text[n] == '\n');
    }
}

void cli_text_pairs(struct wr_str *out, const struct cli_pair *pairs, size_t n)
{
    size_t widest = 0;

    for (size_t i = 0; i < n; i++) {
        size_t wide = text_columns(pairs[i].head, strlen(pairs[i].head));

        if (pairs[i].text && wide > widest && wide <= WIDEST_HEAD)
            widest = wide;
    }
    for (size_t i = 0; i < n; i++) {
        size_t wide = text_columns(pairs[i].head, strlen(pairs[i].head));
        size_t column = INDENT + widest + GAP;

        if (!pairs[i].text) {
            wr_str_addf(out, "\n%s\n", pairs[i].head);
            continue;
        }
        wr_str_addf(out, "%*s%s", INDENT, "", pairs[i].head);
        if (wide > widest)
            wr_str_addf(out, "\n%*s", (int)column, "");
        else
            wr_str_addf(out, "%*s", (int)(widest - wide + GAP), "");
        text_wrap(out, pairs[i].text, strlen(pairs[i].text), column);
    }
}
