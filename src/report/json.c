#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/json.h"

/* How many bytes from `s` on are one character of UTF-8; 0: none. */
static size_t utf8_len(const unsigned char *s)
{
    static const struct {
        unsigned char mask, lead, low, high; /* of the second byte */
    } forms[] = {
        {0xff, 0xe0, 0xa0, 0xbf}, {0xff, 0xed, 0x80, 0x9f}, {0xff, 0xf0, 0x90, 0xbf},
        {0xff, 0xf4, 0x80, 0x8f}, {0xe0, 0xc0, 0x80, 0xbf}, {0xf0, 0xe0, 0x80, 0xbf},
        {0xf8, 0xf0, 0x80, 0xbf},
    };

    if (*s < 0x80)
        return 1;
    if (*s < 0xc2 || *s > 0xf4)
        return 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if ((*s & forms[i].mask) == forms[i].lead) {
            size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

            if (s[1] < forms[i].low || s[1] > forms[i].high)
                return 0;
            for (size_t k = 2; k < n; k++)
                if ((s[k] & 0xc0) != 0x80)
                    return 0;
            return n;
        }
    return 0;
}

void report_json_text(struct wr_str *out, const char *text)
{
    if (!text) {
        wr_str_add(out, "null");
        return;
    }
    wr_str_add(out, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8_len(s);

        if (!n)
            wr_str_add(out, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            wr_str_addf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == '<' || *s == 0x7f)
            wr_str_addf(out, "\\u%04x", *s);
        else
            wr_str_addn(out, (const char *)s, n);
        s += n ? n : 1;
    }
    wr_str_add(out, "\"");
}

void report_json_real(struct wr_str *out, double v)
{
    if (isfinite(v))
        wr_str_addf(out, "%.10g", v);
    else
        wr_str_add(out, "null");
}

void report_json_comma(struct wr_str *out)
{
    char last = out->n ? out->s[out->n - 1] : '{';

    if (last != '{' && last != '[')
        wr_str_add(out, ",");
}

void report_json_key(struct wr_str *out, const char *key)
{
    report_json_comma(out);
    report_json_text(out, key);
    wr_str_add(out, ":");
}

void report_json_member(struct wr_str *out, const char *key, const char *text)
{
    report_json_key(out, key);
    report_json_text(out, text);
}

void report_json_number(struct wr_str *out, const char *key, double v)
{
    report_json_key(out, key);
    report_json_real(out, v);
}
