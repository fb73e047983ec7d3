/* store_range.c -- ranges of bytes with tags: set, retagged, filled and counted (store_range.h).
 *
 * store_buf.c and store_audit.c call it.
 *
 * Invariant: the ranges of a list are ascending and not empty, do not overlap, and neighbours that
 *            touch have different tags.
 */
#include "store_range.h"

#include <assert.h>

static uint32_t range_new(struct wr_pool *p, uint64_t lo, uint64_t hi, uint32_t tag, uint32_t next)
{
    uint32_t h = wr_pool_take(p);

    *store_range(p, h) =
        (struct store_range){.next = next, .lo = (uint32_t)lo, .hi = (uint32_t)hi, .tag = tag};
    return h;
}

/* No range lies on both sides of `at` afterwards. Returns the link to the first at or behind it. */
static uint32_t *range_cut(struct wr_pool *p, uint32_t *list, uint64_t at)
{
    while (*list != WR_NIL && store_range(p, *list)->hi <= at)
        list = &store_range(p, *list)->next;
    if (*list == WR_NIL || store_range(p, *list)->lo >= at)
        return list;
    struct store_range *r = store_range(p, *list);

    r->next = range_new(p, at, r->hi, r->tag, r->next);
    r->hi = (uint32_t)at;
    return &r->next;
}

/* Neighbours that touch and have one tag become one. */
static void range_join(struct wr_pool *p, uint32_t list)
{
    while (list != WR_NIL) {
        struct store_range *r = store_range(p, list);
        uint32_t next = r->next;

        if (next != WR_NIL && store_range(p, next)->lo == r->hi &&
            store_range(p, next)->tag == r->tag) {
            r->hi = store_range(p, next)->hi;
            r->next = store_range(p, next)->next;
            wr_pool_give(p, next);
        } else {
            list = next;
        }
    }
}

void store_range_set(struct wr_pool *p, uint32_t *list, uint64_t lo, uint64_t hi, uint32_t tag)
{
    assert(lo < hi && hi <= UINT32_MAX);
    range_cut(p, list, hi);
    uint32_t *at = range_cut(p, list, lo);

    while (*at != WR_NIL && store_range(p, *at)->lo < hi) {
        uint32_t h = *at;

        *at = store_range(p, h)->next;
        wr_pool_give(p, h);
    }
    if (tag != STORE_RANGE_ANY)
        *at = range_new(p, lo, hi, tag, *at);
    range_join(p, *list);
}

void store_range_turn(struct wr_pool *p, uint32_t *list, uint64_t lo, uint64_t hi, uint32_t was,
                      uint32_t tag)
{
    assert(lo < hi && tag != STORE_RANGE_ANY);
    range_cut(p, list, hi);
    for (uint32_t h = *range_cut(p, list, lo); h != WR_NIL && store_range(p, h)->lo < hi;
         h = store_range(p, h)->next)
        if (store_range(p, h)->tag == was)
            store_range(p, h)->tag = tag;
    range_join(p, *list);
}

void store_range_fill(struct wr_pool *p, uint32_t *list, uint64_t lo, uint64_t hi, uint32_t tag)
{
    assert(lo < hi && hi <= UINT32_MAX && tag != STORE_RANGE_ANY);
    uint32_t *at = range_cut(p, list, lo);

    while (lo < hi) {
        uint64_t end = *at == WR_NIL || store_range(p, *at)->lo > hi ? hi : store_range(p, *at)->lo;

        if (lo < end) {
            *at = range_new(p, lo, end, tag, *at);
            at = &store_range(p, *at)->next;
        }
        if (*at == WR_NIL)
            break;
        lo = store_range(p, *at)->hi;
        at = &store_range(p, *at)->next;
    }
    range_join(p, *list);
}

uint64_t store_range_bytes(const struct wr_pool *p, uint32_t list, uint64_t lo, uint64_t hi,
                           uint32_t tag)
{
    uint64_t sum = 0;

    for (uint32_t h = list; h != WR_NIL && store_range(p, h)->lo < hi;
         h = store_range(p, h)->next) {
        const struct store_range *r = store_range(p, h);
        uint64_t from = r->lo > lo ? r->lo : lo, to = r->hi < hi ? r->hi : hi;

        if (from < to && (tag == STORE_RANGE_ANY || r->tag == tag))
            sum += to - from;
    }
    return sum;
}
