/* utf8.c -- decodes UTF-8 and replaces what may not reach a terminal.
 *
 * Pure functions. Overlong forms, surrogates and values beyond U+10FFFF are no characters.
 */
#include "base/utf8.h"

#include <assert.h>

size_t wr_utf8_next(const char *s, size_t n, uint32_t *ret)
{
    assert(s || !n);
    static const struct {
        unsigned char mask, lead, more;
        uint32_t least;
    } forms[] = {
        {0x80, 0, 0, 0}, {0xe0, 0xc0, 1, 0x80}, {0xf0, 0xe0, 2, 0x800}, {0xf8, 0xf0, 3, 0x10000}};

    for (size_t f = 0; n && f < 4; f++) {
        unsigned char c = (unsigned char)s[0];
        uint32_t code = (uint32_t)(c & ~forms[f].mask);

        if ((c & forms[f].mask) != forms[f].lead)
            continue;
        if (forms[f].more >= n)
            return 0;
        for (size_t i = 1; i <= forms[f].more; i++) {
            if (((unsigned char)s[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | ((unsigned char)s[i] & 0x3f);
        }
        if (code < forms[f].least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return 0;
        *ret = code;
        return forms[f].more + 1u;
    }
    return 0;
}

bool wr_utf8_is_harmless(uint32_t c)
{
    if (c < 0xa0)
        return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
    return c < 0x200e || !(c <= 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff);
}

bool wr_text_is_harmless(const char *s, size_t n)
{
    uint32_t c;

    for (size_t i = 0, len; i < n; i += len)
        if (!(len = wr_utf8_next(s + i, n - i, &c)) || !wr_utf8_is_harmless(c))
            return false;
    return true;
}

void wr_str_add_harmless(struct wr_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        size_t len = wr_utf8_next(s + i, n - i, &c);

        if (len && wr_utf8_is_harmless(c))
            wr_str_addn(out, s + i, len);
        else if (len > 1)
            wr_str_addf(out, "\\u%04x", c);
        else
            wr_str_addf(out, "\\x%02x", (unsigned char)s[i]);
        i += len ? len : 1;
    }
}
