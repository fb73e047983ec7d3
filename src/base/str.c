/* str.c -- text that grows, and the nearest name to a typo.
 *
 * See str.h. Invariant: `s` is NULL or ends with a zero byte at `n` < `cap`.
 */
#include "base/str.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void wr_str_addn(struct wr_str *str, const char *s, size_t n)
{
    assert(str->n < str->cap || !str->s);
    wr_vec_grow((void **)&str->s, &str->cap, str->n + n + 1, 1);
    memcpy(str->s + str->n, s, n);
    str->n += n;
    str->s[str->n] = '\0';
}

void wr_str_add(struct wr_str *str, const char *s)
{
    wr_str_addn(str, s, strlen(s));
}

static bool str_is_plain(const char *word, const char *also)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=.,:/@%";

    if (!*word)
        return false;
    for (; *word; word++)
        if (!strchr(plain, *word) && !strchr(also, *word))
            return false;
    return true;
}

void wr_str_add_word(struct wr_str *str, const char *word, const char *also)
{
    assert(word && also);
    if (str_is_plain(word, also)) {
        wr_str_add(str, word);
        return;
    }
    wr_str_add(str, "'");
    for (; *word; word++)
        wr_str_addn(str, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    wr_str_add(str, "'");
}

void wr_str_addf(struct wr_str *str, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);

    wr_vec_grow((void **)&str->s, &str->cap, str->n + (size_t)n + 1, 1);
    va_start(ap, fmt);
    vsnprintf(str->s + str->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    str->n += (size_t)n;
}

void wr_str_fini(struct wr_str *str)
{
    free(str->s);
    *str = (struct wr_str){0};
}

const char *wr_str_get(const struct wr_str *str)
{
    return str->s ? str->s : "";
}

enum { LONGEST_NAME = 64 };

/* Optimal string alignment: insert, delete, replace, swap neighbours. */
static unsigned str_edit_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    unsigned d[3][LONGEST_NAME + 1];

    if (na > LONGEST_NAME || nb > LONGEST_NAME)
        return LONGEST_NAME;
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            row[j] = best;
        }
    }
    return d[na % 3][nb];
}

void wr_nearest_try(struct wr_nearest *near, const char *candidate)
{
    assert(near->want && candidate);
    unsigned d = str_edit_distance(near->want, candidate);
    size_t n = strlen(near->want), limit = n < 3 ? 1 : n < 6 ? 2 : n / 3 + 1;

    /* "par" for "progressive": a typed prefix is meant too. */
    if (n >= 3 && !strncmp(near->want, candidate, n))
        d = 1;
    if (d > limit || d >= strlen(candidate) || (near->best && d >= near->distance))
        return;
    near->best = candidate;
    near->distance = d;
}
