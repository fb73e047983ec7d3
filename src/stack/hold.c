/* hold.c -- the cells and resources of nodes: numbers kept for the machines, and limited amounts.
 *
 * stack_world.c calls it for the builtins cell(), keep(), give() and waiting(), the engine for
 * states that take a resource. Waiters of a resource are served in the order of their requests.
 *
 * Invariant: a resource has waiters only while its first waiter's amount exceeds what is left.
 */
#include <assert.h>
#include <stdlib.h>

#include "stack_engine_priv.h"

enum { MOST_HELD = 1u << 27 };

void stack_hold_init(struct stack_hold *h, uint64_t nodes)
{
    uint32_t n = 1024;

    assert(nodes > 0);
    while (n < 4 * nodes && n < 1u << 22)
        n *= 2;
    h->mask = n - 1;
    h->bucket = wr_zalloc(n, sizeof *h->bucket);
    for (uint32_t i = 0; i < n; i++)
        h->bucket[i] = WR_NIL;
    wr_pool_init(&h->entry, "cells and resources", sizeof(struct entry), MOST_HELD);
    wr_pool_init(&h->waiter, "waiters", sizeof(struct waiter), MOST_HELD);
    wr_pool_init(&h->lock, "locks", sizeof(struct lock), MOST_HELD);
}

void stack_hold_fini(struct stack_hold *h)
{
    wr_pool_fini(&h->entry);
    wr_pool_fini(&h->waiter);
    wr_pool_fini(&h->lock);
    free(h->bucket);
}

static uint32_t hold_bucket(const struct stack_hold *h, uint32_t kind, uint32_t node, uint32_t file,
                            int64_t number)
{
    uint64_t x = ((uint64_t)node << 32 | file) * 0x9e3779b97f4a7c15u;

    x ^= ((uint64_t)number + kind * 0x632be59bd9b4e019u) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return (uint32_t)(x * 0x9e3779b97f4a7c15u >> 40) & h->mask;
}

struct entry *stack_hold_find(struct stack_hold *h, uint32_t kind, uint32_t node, uint32_t file,
                              int64_t number, bool make)
{
    uint32_t *at = &h->bucket[hold_bucket(h, kind, node, file, number)];

    for (uint32_t i = *at; i != WR_NIL;) {
        struct entry *x = wr_pool_at(&h->entry, i);

        if (x->kind == kind && x->node == node && x->file == file && x->number == number)
            return x;
        i = x->next;
    }
    if (!make)
        return NULL;
    uint32_t fresh = wr_pool_take(&h->entry);
    struct entry *x = wr_pool_at(&h->entry, fresh);

    *x = (struct entry){.next = *at,
                        .kind = kind,
                        .node = node,
                        .file = file,
                        .number = number,
                        .first = WR_NIL,
                        .last = WR_NIL};
    *at = fresh;
    return x;
}

/* --- cells ---------------------------------------------------------------------------- */

static uint32_t hold_kind(enum stack_held kind, int64_t number)
{
    return (uint32_t)kind + 4 * (uint32_t)(number & 0xffff);
}

int64_t stack_cell(struct stack_engine *e, const struct activity *a, const int64_t *v)
{
    struct entry *x =
        stack_hold_find(&e->hold, hold_kind(HELD_CELL, v[0]), a->node, a->file, v[1], false);

    return x ? x->value : 0;
}

int64_t stack_keep(struct stack_engine *e, const struct activity *a, const int64_t *v)
{
    struct entry *x =
        stack_hold_find(&e->hold, hold_kind(HELD_CELL, v[0]), a->node, a->file, v[1], v[2] != 0);

    if (x)
        x->value = v[2];
    return v[2];
}

/* --- resources ------------------------------------------------------------------------ */

static struct entry *hold_resource(struct stack_engine *e, const struct activity *a, int64_t which,
                                   int64_t key)
{
    uint32_t kind = hold_kind(HELD_RESOURCE, which);
    struct entry *x = stack_hold_find(&e->hold, kind, a->node, 0, key, false);

    if (x || which < 0 || which >= (int64_t)e->fs->resource.n)
        return x;
    int64_t var[STACK_VARS] = {0};
    int64_t limit =
        stack_eval(&e->fs->codes, e->fs->resource.v[which].limit, var, stack_world_ask, e);

    x = stack_hold_find(&e->hold, kind, a->node, 0, key, true);
    x->value = limit;
    x->n = limit > 0; /* one that begins with nothing is a signal: it has no limit */
    return x;
}

/* An amount is limited by the resource's limit: a request for more takes all of it. */
static int64_t hold_at_most(struct stack_engine *e, const struct entry *x, int64_t which,
                            int64_t amount)
{
    int64_t var[STACK_VARS] = {0};

    if (amount < 0)
        return 0;
    if (!x->n)
        return amount;
    int64_t limit =
        stack_eval(&e->fs->codes, e->fs->resource.v[which].limit, var, stack_world_ask, e);

    return amount < limit ? amount : limit;
}

bool stack_take(struct stack_engine *e, struct activity *a, const struct stack_state *s, uint64_t t)
{
    assert(s->resource < e->fs->resource.n);
    struct entry *x = hold_resource(e, a, s->resource, activity_eval(e, a, s->key, t));
    int64_t amount = hold_at_most(e, x, s->resource, activity_eval(e, a, s->amount, t));

    if (x->first == WR_NIL && x->value >= amount) {
        x->value -= amount;
        return true;
    }
    uint32_t h = wr_pool_take(&e->hold.waiter);

    *(struct waiter *)wr_pool_at(&e->hold.waiter, h) =
        (struct waiter){WR_NIL, activity_handle(e, a), amount};
    if (x->first == WR_NIL)
        x->first = h;
    else
        ((struct waiter *)wr_pool_at(&e->hold.waiter, x->last))->next = h;
    x->last = h;
    return false;
}

int64_t stack_give(struct stack_engine *e, const struct activity *a, const int64_t *v)
{
    struct entry *x = hold_resource(e, a, v[0], v[1]);

    if (!x)
        return 0;
    x->value += hold_at_most(e, x, v[0], v[2]);
    while (x->first != WR_NIL) {
        uint32_t h = x->first;
        struct waiter w = *(struct waiter *)wr_pool_at(&e->hold.waiter, h);

        if (w.amount > x->value)
            break;
        x->value -= w.amount;
        x->first = w.next;
        wr_pool_give(&e->hold.waiter, h);
        stack_post(e, e->now, w.activity, 0, PHASE_STORED, 0, WR_NIL);
    }
    return 0;
}

int64_t stack_waiting(struct stack_engine *e, const struct activity *a, const int64_t *v)
{
    const struct entry *x =
        stack_hold_find(&e->hold, hold_kind(HELD_RESOURCE, v[0]), a->node, 0, v[1], false);
    int64_t n = 0;

    for (uint32_t h = x ? x->first : WR_NIL; h != WR_NIL; n++)
        h = ((const struct waiter *)wr_pool_at(&e->hold.waiter, h))->next;
    return n;
}
