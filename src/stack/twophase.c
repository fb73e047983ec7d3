/* twophase.c -- plans collective buffering as ROMIO does it (twophase.h).
 *
 * stack_drive.c calls it for each collective call. Pure functions of the tasks' parts; no state, no
 * time.
 *
 * Invariant: after stack_cb_plan() the parts are sorted by offset and do not overlap.
 */
#include "stack/twophase.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const stack_cb_mode_names[] = {"automatic", "enable", "disable", NULL};

static int cb_compare_tasks(const void *a, const void *b)
{
    const struct stack_part *x = a, *y = b;

    return x->task < y->task ? -1 : x->task > y->task;
}

static int cb_compare_offsets(const void *a, const void *b)
{
    const struct stack_part *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->bytes != y->bytes) /* empty ones first, so that ends are in order, too */
        return x->bytes < y->bytes ? -1 : 1;
    return cb_compare_tasks(a, b);
}

static uint64_t cb_part_end(const struct stack_part *p)
{
    return p->from + p->bytes;
}

/* As ROMIO asks: does a task's part begin before the end of that of the task before it? */
static bool cb_interleaved(const struct stack_part *part, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (part[i].bytes && part[i - 1].bytes && part[i].from < cb_part_end(&part[i - 1]))
            return true;
    return false;
}

static uint64_t cb_domain_extent(const struct stack_cb_plan *p, uint32_t aggregator,
                                 uint64_t *ret_end);

void stack_cb_plan(struct stack_cb_plan *ret, struct stack_part *part, uint32_t n,
                   const struct stack_cb *cb)
{
    struct stack_cb_plan p = {.part = part, .n = n};

    assert(part || !n);
    qsort(part, n, sizeof *part, cb_compare_tasks);
    bool mixed = cb_interleaved(part, n);

    p.two_phase = cb->mode == STACK_CB_ENABLE || (cb->mode == STACK_CB_AUTOMATIC && mixed);
    p.aggregators = cb->nodes && cb->nodes < n ? cb->nodes : n;
    p.buffer_b = cb->buffer_b ? cb->buffer_b : 16u << 20;
    qsort(part, n, sizeof *part, cb_compare_offsets);
    uint64_t end = 0;

    p.from = n ? part[0].from : 0;
    for (uint32_t i = 0; i < n; i++)
        end = cb_part_end(&part[i]) > end ? cb_part_end(&part[i]) : end;
    uint64_t whole = end > p.from ? end - p.from : 0;

    p.domain_b = p.aggregators ? whole / p.aggregators + (whole % p.aggregators != 0) : 0;
    for (uint32_t a = 0; p.two_phase && a < p.aggregators; a++) {
        uint64_t stop, start = cb_domain_extent(&p, a, &stop);
        uint64_t rounds =
            stop > start ? (stop - start) / p.buffer_b + ((stop - start) % p.buffer_b != 0) : 0;

        p.rounds = rounds > p.rounds ? rounds : p.rounds;
    }
    *ret = p;
}

/* The first part that ends beyond `from`. Parts do not overlap, so they end in their order, too. */
static uint32_t cb_first_part(const struct stack_cb_plan *p, uint64_t from)
{
    uint32_t low = 0, high = p->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (cb_part_end(&p->part[mid]) > from)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Where the bytes that tasks have in an aggregator's domain begin, and end. */
static uint64_t cb_domain_extent(const struct stack_cb_plan *p, uint32_t aggregator,
                                 uint64_t *ret_end)
{
    uint64_t from = p->from + aggregator * p->domain_b, to = from + p->domain_b;
    uint64_t start = 0, end = 0;

    for (uint32_t i = cb_first_part(p, from); i < p->n && p->part[i].from < to; i++) {
        uint64_t a = p->part[i].from > from ? p->part[i].from : from;
        uint64_t b = cb_part_end(&p->part[i]) < to ? cb_part_end(&p->part[i]) : to;

        if (b <= a)
            continue;
        start = end ? start : a;
        end = b;
    }
    *ret_end = end;
    return start;
}

static bool cb_window_at(const struct stack_cb_plan *p, uint32_t aggregator, uint64_t round,
                         uint64_t *ret_from, uint64_t *ret_to)
{
    uint64_t end, start = cb_domain_extent(p, aggregator, &end);
    uint64_t from = start + round * p->buffer_b;

    if (from >= end)
        return false;
    *ret_from = from;
    *ret_to = end - from > p->buffer_b ? from + p->buffer_b : end;
    return true;
}

struct stack_window stack_cb_window(const struct stack_cb_plan *p, uint32_t aggregator,
                                    uint64_t round)
{
    struct stack_window w = {0};
    uint64_t from, to;

    assert(aggregator < p->aggregators && p->buffer_b > 0);
    if (!cb_window_at(p, aggregator, round, &from, &to))
        return w;
    w.from = from;
    w.bytes = to - from;
    for (uint32_t i = cb_first_part(p, from); i < p->n && p->part[i].from < to; i++) {
        uint64_t a = p->part[i].from > from ? p->part[i].from : from;
        uint64_t b = cb_part_end(&p->part[i]) < to ? cb_part_end(&p->part[i]) : to;

        if (b <= a)
            continue;
        w.covered += b - a;
        if (p->part[i].task == aggregator)
            continue;
        w.remote_b += b - a;
        w.messages++;
    }
    return w;
}

void stack_cb_each(const struct stack_cb_plan *p, uint64_t round, stack_cb_message *fn, void *ctx)
{
    for (uint32_t k = 0; k < p->aggregators; k++) {
        uint64_t from, to;

        if (!cb_window_at(p, k, round, &from, &to))
            continue;
        for (uint32_t i = cb_first_part(p, from); i < p->n && p->part[i].from < to; i++) {
            uint64_t a = p->part[i].from > from ? p->part[i].from : from;
            uint64_t b = cb_part_end(&p->part[i]) < to ? cb_part_end(&p->part[i]) : to;

            if (b > a && p->part[i].task != k)
                fn(ctx, p->part[i].task, k, b - a);
        }
    }
}

struct tally {
    struct stack_exchange all;
    uint64_t *moved;
};

static void cb_add_message(void *ctx, uint32_t task, uint32_t aggregator, uint64_t bytes)
{
    struct tally *t = ctx;

    t->moved[task] += bytes;
    t->moved[aggregator] += bytes;
    t->all.all_b += bytes;
    t->all.messages++;
}

struct stack_exchange stack_cb_exchange(const struct stack_cb_plan *p, uint64_t round,
                                        uint64_t *moved)
{
    struct tally t = {.moved = moved};

    assert(moved);
    memset(moved, 0, p->n * sizeof *moved);
    stack_cb_each(p, round, cb_add_message, &t);
    for (uint32_t i = 0; i < p->n; i++)
        t.all.most_b = moved[i] > t.all.most_b ? moved[i] : t.all.most_b;
    return t.all;
}
