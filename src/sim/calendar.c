#include "sim/calendar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    FIRST_SHIFT = 10, /* a nanosecond or so, until the traffic is known */
    FIRST_DAYS = 1 << 12,
    FEWEST_DAYS = 1 << 10,
    PER_DAY = 3,
    MOST_DAYS = 1 << 21,
    MOST_SHIFT = 40,
    POOL_CAP = 1 << 28,
    LOOK_EVERY = 4096, /* days turned between two looks at the width */
};

static void set_days(struct sim_calendar *c, uint32_t ndays)
{
    free(c->first);
    free(c->busy);
    c->ndays = ndays;
    c->first = wr_alloc(ndays * sizeof *c->first);
    memset(c->first, 0xff, ndays * sizeof *c->first);
    c->busy = wr_zalloc(ndays / 64, sizeof *c->busy);
}

void sim_calendar_init(struct sim_calendar *c)
{
    *c = (struct sim_calendar){.shift = FIRST_SHIFT, .far_day = UINT64_MAX};
    wr_pool_init(&c->pool, "events", sizeof(struct sim_event), POOL_CAP);
    set_days(c, FIRST_DAYS);
}

void sim_calendar_fini(struct sim_calendar *c)
{
    free(c->first);
    free(c->busy);
    free(c->today);
    sim_heap_fini(&c->far);
    wr_pool_fini(&c->pool);
    *c = (struct sim_calendar){0};
}

/* Into today, which stays sorted: most such events are late in it. */
static void push_today(struct sim_calendar *c, const struct sim_event *e)
{
    if (c->at == c->n)
        c->at = c->n = 0;
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->today = wr_realloc(c->today, c->cap, sizeof *c->today);
    }
    uint32_t i = c->n++;

    for (; i > c->at && sim_before(e, &c->today[i - 1]); i--)
        c->today[i] = c->today[i - 1];
    c->today[i] = *e;
}

static void set_far_day(struct sim_calendar *c)
{
    c->far_day = c->far.n ? (c->far.v[0].t >> c->shift) - c->ndays + 1 : UINT64_MAX;
}

void sim_calendar_push_slow(struct sim_calendar *c, const struct sim_event *e)
{
    uint64_t day = e->t >> c->shift;

    if (day <= c->day) {
        push_today(c, e);
        return;
    }
    c->seen_far++;
    sim_heap_push(&c->far, e);
    set_far_day(c);
}

/* The next day after `day` with events in the lists; inlist > 0. May come
 * around to `day` itself. */
static uint64_t next_busy(const struct sim_calendar *c, uint64_t day)
{
    uint64_t from = day + 1;
    uint32_t mask = c->ndays - 1, at = (uint32_t)from & mask;
    uint32_t word = at / 64;
    uint64_t bits = c->busy[word] & ~UINT64_C(0) << (at % 64);

    while (!bits) {
        word = (word + 1) & (mask / 64);
        bits = c->busy[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);

    return from + ((found - at) & mask);
}

static int by_order(const void *a, const void *b)
{
    return sim_before(a, b) ? -1 : 1;
}

/* Take the list of `day` into the empty today, sorted. */
static void open_day(struct sim_calendar *c, uint64_t day)
{
    uint32_t slot = (uint32_t)day & (c->ndays - 1), n = 0;

    for (uint32_t h = c->first[slot], next; h != WR_NIL; h = next, n++) {
        struct sim_event *e = wr_pool_at(&c->pool, h);

        next = e->next;
        __builtin_prefetch(wr_pool_at(&c->pool, next == WR_NIL ? h : next));
        if (n == c->cap) {
            c->cap = c->cap ? c->cap * 2 : 64;
            c->today = wr_realloc(c->today, c->cap, sizeof *c->today);
        }
        /* Short days are sorted while they are read. */
        uint32_t i = n;
        if (n < 32)
            for (; i && sim_before(e, &c->today[i - 1]); i--)
                c->today[i] = c->today[i - 1];
        c->today[i] = *e;
        wr_pool_give(&c->pool, h);
    }
    if (n > 32)
        qsort(c->today, n, sizeof *c->today, by_order);
    c->first[slot] = WR_NIL;
    c->busy[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    c->inlist -= n;
    c->at = 0;
    c->n = n;
    c->seen_events += n;
}

/* What was far and is now within the days goes into its list. */
static void bring_near(struct sim_calendar *c)
{
    while (c->far.n && (c->far.v[0].t >> c->shift) - c->day < c->ndays) {
        struct sim_event e;

        sim_heap_pop(&c->far, &e);
        sim_calendar_push(c, &e);
    }
    set_far_day(c);
}

static void rebuild(struct sim_calendar *c, uint32_t shift, uint32_t ndays)
{
    WR_VEC(struct sim_event) all = {0};

    for (uint32_t d = 0; d < c->ndays; d++)
        for (uint32_t h = c->first[d], next; h != WR_NIL; h = next) {
            struct sim_event *e = wr_pool_at(&c->pool, h);

            next = e->next;
            wr_vec_push(&all, *e);
            wr_pool_give(&c->pool, h);
        }
    uint64_t now = c->day << c->shift;
    struct sim_heap far = c->far;

    c->far = (struct sim_heap){0};
    c->far_day = UINT64_MAX;
    c->inlist = 0;
    c->shift = shift;
    c->day = now >> shift;
    set_days(c, ndays);
    for (size_t i = 0; i < all.n; i++)
        sim_calendar_push(c, &all.v[i]);
    for (size_t i = 0; i < far.n; i++)
        sim_calendar_push(c, &far.v[i]);
    wr_vec_fini(&all);
    sim_heap_fini(&far);
    c->retunes++;
}

/* Is there next to nothing in the later half of the days? */
static bool reaches_too_far(const struct sim_calendar *c)
{
    uint32_t words = c->ndays / 64, from = (uint32_t)(c->day % c->ndays) / 64;
    uint32_t near = 0, later = 0;

    for (uint32_t i = 0; i < words; i++) {
        uint32_t bits = (uint32_t)__builtin_popcountll(c->busy[(from + i) % words]);

        *(i < words / 2 ? &near : &later) += bits;
    }
    return later < near / 32;
}

/* The day that holds PER_DAY events at the rate seen lately, and enough days
 * that little goes to the heap. Small corrections are not worth a rebuild. */
static void look_at_width(struct sim_calendar *c)
{
    double span = (double)((c->day - c->seen_from) << c->shift);
    double want = log2(fmax(span / (c->seen_events + 1.0) * PER_DAY, 1));
    uint32_t shift = c->shift, ndays = c->ndays;

    if (want > shift + 1.5 || want < shift - 0.5)
        shift = want < MOST_SHIFT ? (uint32_t)want : MOST_SHIFT;
    /* The days reach as far as before; further when that was too short, less
     * far when it was for nothing. */
    double days = (double)ndays * exp2((double)c->shift - shift);

    if (c->seen_far > c->seen_events / 32)
        days *= 4;
    else if (reaches_too_far(c))
        days /= 2;
    for (ndays = FEWEST_DAYS; ndays < MOST_DAYS && ndays < days;)
        ndays *= 2;
    if (shift != c->shift || ndays != c->ndays)
        rebuild(c, shift, ndays);
    c->seen_days = c->seen_events = c->seen_far = 0;
    c->seen_from = c->day;
}

/* Ask for the memory that the coming days will touch: the events of the one
 * after the next, and what the events of the next are about. */
static void look_ahead(struct sim_calendar *c)
{
    if (!c->inlist)
        return;
    uint64_t next = next_busy(c, c->day);
    uint32_t mask = c->ndays - 1, h = c->first[next & mask];
    const struct sim_event *e = wr_pool_at(&c->pool, h);

    if (c->warm)
        c->warm(c->warm_ctx, e);
    uint64_t after = next_busy(c, next);

    __builtin_prefetch(wr_pool_at(&c->pool, c->first[after & mask]));
}

bool sim_calendar_turn(struct sim_calendar *c)
{
    if (c->seen_days >= LOOK_EVERY)
        look_at_width(c);
    if (c->at != c->n)
        return true;
    if (!c->inlist) {
        if (!c->far.n)
            return false;
        /* Jump over the silence; the first far event becomes yesterday's tomorrow. */
        c->day = (c->far.v[0].t >> c->shift) - 1;
        bring_near(c);
    } else if (c->day >= c->far_day)
        bring_near(c);
    uint64_t day = next_busy(c, c->day);

    c->day = day;
    c->seen_days++;
    open_day(c, day);
    look_ahead(c);
    return true;
}
