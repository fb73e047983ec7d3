/* str.h -- text that grows, and the nearest name to a typo. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stddef.h>

/* Zero-initialise; `s` is always terminated once anything was added. */
struct wr_str {
    char *s;
    size_t n, cap;
};

void wr_str_add(struct wr_str *str, const char *s);
void wr_str_addn(struct wr_str *str, const char *s, size_t n);
/* A word as a shell takes it: between quotes, unless it is made of letters, digits, _-+=.,:/@% and
 * the characters of `also`. */
void wr_str_add_word(struct wr_str *str, const char *word, const char *also);
void wr_str_addf(struct wr_str *str, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void wr_str_fini(struct wr_str *str);
const char *wr_str_get(const struct wr_str *str); /* never NULL */

/* Feed candidates one at a time; `best` ends as the closest that is close
 * enough to be meant, or NULL.
 *
 *     struct wr_nearest near = {.want = "dragonly"};
 *     for (...) wr_nearest_try(&near, name);
 *     if (near.best) ... "did you mean %s?"
 */
struct wr_nearest {
    const char *want;
    const char *best;
    unsigned distance;
};

void wr_nearest_try(struct wr_nearest *near, const char *candidate);

#endif
