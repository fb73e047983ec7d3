/* json.c -- appends JSON to a string as it is made, safe to embed in an HTML script (json.h).
 *
 * A comma is added by report_json_key() and report_json_comma() where the last byte is no opening
 * bracket, so callers never count elements.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/json.h"

void report_json_text(struct wr_str *out, const char *text)
{
    if (!text) {
        wr_str_add(out, "null");
        return;
    }
    wr_str_add(out, "\"");
    for (const char *s = text, *end = text + strlen(text); s < end;) {
        uint32_t c;
        size_t n = wr_utf8_next(s, (size_t)(end - s), &c);

        if (!n)
            wr_str_add(out, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            wr_str_addf(out, "\\%c", *s);
        else if (c == '<' || c < 0x20 || !wr_utf8_is_harmless(c))
            wr_str_addf(out, "\\u%04x", c);
        else
            wr_str_addn(out, s, n);
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
