/* web_parse.c -- splits the target of a request into path and decoded parameters.
 *
 * Input comes from the network: any byte may occur. Fails on a malformed escape, a NUL, or more
 * parameters than struct web_request holds. The results live in the arena of the request.
 */
#include <string.h>

#include "web_priv.h"

static int parse_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes n bytes in place of a new string; NULL: bad escapes, or control characters. */
static char *parse_decode(const char *s, size_t n, bool query, struct wr_arena *arena)
{
    char *out = wr_arena_alloc(arena, n + 1);
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        char c = s[i];

        if (c == '%') {
            int high = i + 2 < n ? parse_digit(s[i + 1]) : -1;
            int low = high >= 0 ? parse_digit(s[i + 2]) : -1;

            if (low < 0)
                return NULL;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && query) {
            c = ' ';
        }
        if ((unsigned char)c < 0x20 || c == 0x7f)
            return NULL;
        out[k++] = c;
    }
    return out;
}

static bool parse_add_param(struct web_request *q, const char *s, size_t n, struct wr_arena *arena)
{
    const char *equals = memchr(s, '=', n);
    size_t key = equals ? (size_t)(equals - s) : n;

    if (!n)
        return true;
    if (q->nparams == WEB_MOST_PARAMS)
        return false;
    struct web_param p = {parse_decode(s, key, true, arena),
                          equals ? parse_decode(equals + 1, n - key - 1, true, arena) : ""};
    if (!p.key || !p.value)
        return false;
    q->param[q->nparams++] = p;
    return true;
}

bool web_parse(struct web_request *ret, const char *target, struct wr_arena *arena)
{
    struct web_request q = {.method = "GET"};
    size_t n = strnlen(target, WEB_LONGEST_TARGET + 1), path = strcspn(target, "?#");

    if (target[0] != '/' || n > WEB_LONGEST_TARGET)
        return false;
    q.path = parse_decode(target, path, false, arena);
    if (!q.path)
        return false;
    const char *at = target + path;
    at += *at == '?';
    while (*at && *at != '#') {
        size_t part = strcspn(at, "&#");

        if (!parse_add_param(&q, at, part, arena))
            return false;
        at += part + (at[part] == '&');
    }
    *ret = q;
    return true;
}

const char *web_param(const struct web_request *q, const char *key)
{
    for (size_t i = 0; i < q->nparams; i++)
        if (!strcmp(q->param[i].key, key))
            return q->param[i].value;
    return NULL;
}
