/* place_set.c -- sets of nodes in words.
 *
 *   set   = item {"," item}
 *   item  = N | N "-" M [":" STEP]
 *         | ("group" | "router") N
 *         | ("first" | "last") K "of" ["every" | "each" | "the"] ("group" | "router" | "machine")
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "place_priv.h"

struct set_scan {
    const struct place *p;
    const char *text, *at;
    place_node_fn *fn;
    void *ctx;
};

/* What a set may speak of: an array that says for each node which of `n` it is in. */
struct set_division {
    const char *name;
    const uint32_t *of; /* NULL: all nodes are in division 0 */
    uint32_t n;
};

#define set_fail(s, err, fmt, ...)                                        \
    wr_fail(err, WR_INPUT, "\"%.60s\" at character %zu: " fmt, (s)->text, \
            (size_t)((s)->at - (s)->text) + 1, ##__VA_ARGS__)

static void set_skip_blanks(struct set_scan *s)
{
    while (*s->at == ' ' || *s->at == '\t')
        s->at++;
}

/* Takes `word` if it comes next and is not the beginning of a longer one. */
static bool set_take_word(struct set_scan *s, const char *word)
{
    size_t n = strlen(word);

    set_skip_blanks(s);
    if (strncmp(s->at, word, n) != 0 || (s->at[n] >= 'a' && s->at[n] <= 'z'))
        return false;
    s->at += n;
    return true;
}

static bool set_take_char(struct set_scan *s, char c)
{
    set_skip_blanks(s);
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

/* A number below `end`; the scan stays on one that is refused. */
static bool set_take_number(struct set_scan *s, const char *what, uint64_t end, uint32_t *ret,
                            struct wr_err *err)
{
    const char *p;
    uint64_t v = 0;

    set_skip_blanks(s);
    for (p = s->at; *p >= '0' && *p <= '9'; p++)
        if (v <= UINT32_MAX) /* larger is too large already */
            v = v * 10 + (uint64_t)(*p - '0');
    if (p == s->at)
        return set_fail(s, err,
                        "expected the number of a %s; write 31, 0-3, group 4 or last 2 of every "
                        "group",
                        what);
    if (v >= end)
        return set_fail(s, err, "there is no %s %.*s; they are numbered 0 to %llu", what,
                        p - s->at > 20 ? 20 : (int)(p - s->at), s->at, (unsigned long long)end - 1);
    s->at = p;
    *ret = (uint32_t)v;
    return true;
}

static bool set_give_range(struct set_scan *s, struct wr_err *err)
{
    uint32_t from, to, step = 1;
    const char *begin = s->at;

    if (!set_take_number(s, "node", s->p->nnodes, &from, err))
        return false;
    to = from;
    if (set_take_char(s, '-')) {
        if (!set_take_number(s, "node", s->p->nnodes, &to, err))
            return false;
        if (to < from) {
            s->at = begin;
            return set_fail(s, err, "the range %u-%u runs backwards; write %u-%u", from, to, to,
                            from);
        }
        if (set_take_char(s, ':')) {
            const char *at = s->at;

            if (!set_take_number(s, "step", 1ull << 32, &step, err))
                return false;
            s->at = step ? s->at : at;
            if (!step)
                return set_fail(s, err, "a step of 0 gets nowhere; write 1 or more");
        }
    }
    for (uint64_t i = from; i <= to; i += step)
        if (!s->fn(s->ctx, (uint32_t)i, err))
            return false;
    return true;
}

static bool set_give_division(struct set_scan *s, const struct set_division *division,
                              struct wr_err *err)
{
    uint32_t which;

    if (!set_take_number(s, division->name, division->n, &which, err))
        return false;
    for (uint32_t i = 0; i < s->p->nnodes; i++)
        if (division->of[i] == which && !s->fn(s->ctx, i, err))
            return false;
    return true;
}

/* The first or last k nodes of every division, in the nodes' order. */
static bool set_give_ends(struct set_scan *s, const struct set_division *division, uint32_t k,
                          bool last, struct wr_err *err)
{
    uint32_t *size = wr_zalloc(division->n, sizeof *size),
             *seen = wr_zalloc(division->n, sizeof *seen);
    bool ok = true;

    for (uint32_t i = 0; i < s->p->nnodes; i++)
        size[division->of ? division->of[i] : 0]++;
    for (uint32_t i = 0; ok && i < s->p->nnodes; i++) {
        uint32_t in = division->of ? division->of[i] : 0, nth = seen[in]++;

        if (last ? nth + (uint64_t)k >= size[in] : nth < k)
            ok = s->fn(s->ctx, i, err);
    }
    free(size);
    free(seen);
    return ok;
}

static bool set_item(struct set_scan *s, struct wr_err *err)
{
    const struct set_division divisions[] = {{"group", s->p->group, s->p->ngroups},
                                             {"router", s->p->router, s->p->nrouters},
                                             {"machine", NULL, 1}};
    bool first = set_take_word(s, "first"), last = !first && set_take_word(s, "last");
    uint32_t k;

    for (int i = 0; !first && !last && i < 2; i++)
        if (set_take_word(s, divisions[i].name))
            return set_give_division(s, &divisions[i], err);
    if (!first && !last)
        return set_give_range(s, err);
    if (!set_take_number(s, "node", 1ull << 32, &k, err))
        return false;
    if (!set_take_word(s, "of"))
        return set_fail(s, err, "expected \"of\"; write %s %u of every group",
                        first ? "first" : "last", k);
    if (!set_take_word(s, "every") && !set_take_word(s, "each"))
        (void)set_take_word(s, "the");
    for (int i = 0; i < 3; i++)
        if (set_take_word(s, divisions[i].name))
            return set_give_ends(s, &divisions[i], k, last, err);
    return set_fail(s, err, "expected group, router or machine; write %s %u of every group",
                    first ? "first" : "last", k);
}

bool place_set_each(const struct place *p, const char *set, place_node_fn *fn, void *ctx,
                    struct wr_err *err)
{
    struct set_scan s = {.p = p, .text = set, .at = set, .fn = fn, .ctx = ctx};

    do {
        if (!set_item(&s, err))
            return false;
    } while (set_take_char(&s, ','));
    set_skip_blanks(&s);
    if (*s.at)
        return set_fail(&s, err, "expected a comma or the end; write a list such as 31, 63, 95");
    return true;
}
