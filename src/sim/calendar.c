#include "sim/calendar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    FIRST_SHIFT = 10, /* a nanosecond or so, until the traffic is known */
    FIRST_DAYS = 1 << 12,
    FEWEST_DAYS = 1 << 10,
    MOST_DAYS = 1 << 22,
    MOST_SHIFT = 40,
    PER_DAY = 1, /* events in a day, empty ones counted */
    POOL_CAP = 1 << 28,
    AHEAD = 4,        /* events of the next day whose memory is asked for */
    MANY = 1 << 13,   /* events, beside what they touch, that are not in a processor's own cache */
    LOOK_DAYS = 4096, /* turned between two looks at the width, at most */
    LOOK_EVENTS = 16 * LOOK_DAYS,
};

static void set_days(struct sim_calendar *c, uint32_t ndays)
{
    free(c->days);
    free(c->busy);
    c->ndays = ndays;
    c->days = wr_zalloc_aligned(ndays, sizeof *c->days);
    memset(c->days, 0xff, ndays * sizeof *c->days); /* WR_NIL */
    c->busy = wr_zalloc_aligned(ndays / 64, sizeof *c->busy);
}

static void reserve_today(struct sim_calendar *c, uint32_t n)
{
    if (n <= c->cap)
        return;
    while (c->cap < n)
        c->cap = c->cap ? c->cap * 2 : 64;
    c->today = wr_realloc(c->today, c->cap, sizeof *c->today);
}

void sim_calendar_init(struct sim_calendar *c)
{
    *c = (struct sim_calendar){.next = SIM_NEVER,
                               .after = SIM_NEVER,
                               .shift = FIRST_SHIFT,
                               .far_day = UINT64_MAX,
                               .free = WR_NIL};
    wr_pool_init(&c->pool, "events", sizeof(struct sim_event), POOL_CAP);
    c->node = wr_pool_at(&c->pool, 0);
    reserve_today(c, 1);
    set_days(c, FIRST_DAYS);
}

void sim_calendar_fini(struct sim_calendar *c)
{
    free(c->days);
    free(c->busy);
    free(c->today);
    free(c->rank);
    sim_heap_fini(&c->far);
    wr_pool_fini(&c->pool);
    *c = (struct sim_calendar){0};
}

uint32_t sim_calendar_fresh(struct sim_calendar *c)
{
    return wr_pool_take(&c->pool);
}

/* Into today, which stays sorted. */
static void push_today(struct sim_calendar *c, const struct sim_event *e)
{
    uint32_t h = sim_calendar_take(c);

    if (c->at == c->n)
        c->at = c->n = 0;
    reserve_today(c, c->n + 1);
    uint32_t low = c->at, high = c->n++;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (sim_before(e, &c->node[c->today[mid]]))
            high = mid;
        else
            low = mid + 1;
    }
    memmove(c->today + low + 1, c->today + low, (c->n - 1 - low) * sizeof *c->today);
    c->today[low] = h;
    c->node[h] = *e;
}

static void set_far_day(struct sim_calendar *c)
{
    c->far_day = c->far.n ? (c->far.v[0].t >> c->shift) - c->ndays + 1 : UINT64_MAX;
}

void sim_calendar_link(struct sim_calendar *c)
{
    for (uint32_t i = 0; i < c->nlate; i++) {
        struct sim_event *e = &c->node[c->late[i]];
        uint32_t at = (uint32_t)(e->t >> c->shift) & (c->ndays - 1);

        e->next = c->days[at];
        c->days[at] = c->late[i];
        c->busy[at / 64] |= UINT64_C(1) << (at % 64);
    }
    c->nlate = 0;
}

void sim_calendar_push_slow(struct sim_calendar *c, const struct sim_event *e)
{
    if (e->t >> c->shift <= c->day) {
        push_today(c, e);
        return;
    }
    c->seen_far++;
    if (e->t < c->after)
        c->after = e->t;
    sim_heap_push(&c->far, e);
    set_far_day(c);
}

/* The next day after `day` with events in the lists; inlist > 0. May come
 * around to `day` itself. */
static inline uint64_t next_busy(const struct sim_calendar *c, uint64_t day)
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

static inline bool is_busy(const struct sim_calendar *c, uint64_t day)
{
    uint32_t at = (uint32_t)day & (c->ndays - 1);

    return day > c->day && day - c->day < c->ndays && c->busy[at / 64] >> (at % 64) & 1;
}

/* What decides the order, side by side: a full day is sorted without touching
 * the events. */
struct sim_rank {
    uint64_t t, key;
    uint32_t seq, h;
};

static inline bool rank_before(const struct sim_rank *a, const struct sim_rank *b)
{
    if (a->t != b->t)
        return a->t < b->t;
    return a->key != b->key ? a->key < b->key : (int32_t)(a->seq - b->seq) < 0;
}

enum { SORT_RUN = 16 }; /* sorted by insertion before merging begins */

static void sort_runs(struct sim_rank *v, uint32_t n)
{
    for (uint32_t from = 0; from < n; from += SORT_RUN) {
        uint32_t to = n - from < SORT_RUN ? n : from + SORT_RUN;

        for (uint32_t k = from + 1; k < to; k++) {
            struct sim_rank r = v[k];
            uint32_t i = k;

            for (; i > from && rank_before(&r, &v[i - 1]); i--)
                v[i] = v[i - 1];
            v[i] = r;
        }
    }
}

static void merge(struct sim_rank *to, const struct sim_rank *a, const struct sim_rank *a_end,
                  const struct sim_rank *b, const struct sim_rank *b_end)
{
    while (a < a_end && b < b_end)
        *to++ = rank_before(b, a) ? *b++ : *a++;
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

/* Sort today, which is full: merge sort from the bottom up. */
static void sort_today(struct sim_calendar *c)
{
    uint32_t n = c->n;

    if (c->rank_cap < n) {
        c->rank_cap = 2 * n;
        c->rank = wr_realloc(c->rank, 2 * (size_t)c->rank_cap, sizeof *c->rank);
    }
    struct sim_rank *from = c->rank, *to = c->rank + c->rank_cap;

    for (uint32_t i = 0; i < n; i++) {
        const struct sim_event *e = &c->node[c->today[i]];

        from[i] = (struct sim_rank){e->t, e->key, e->seq, c->today[i]};
    }
    sort_runs(from, n);
    for (uint32_t width = SORT_RUN; width < n; width *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * width) {
            uint32_t mid = n - i < width ? n : i + width;
            uint32_t end = n - i < 2 * width ? n : i + 2 * width;

            merge(to + i, from + i, from + mid, from + mid, from + end);
        }
        struct sim_rank *swap = from;

        from = to;
        to = swap;
    }
    for (uint32_t i = 0; i < n; i++)
        c->today[i] = from[i].h;
}

/* The events of a day go into today, sorted when they are a few. */
static void fill_today(struct sim_calendar *c, uint32_t h)
{
    const struct sim_event *node = c->node;
    uint32_t n = 0;

    for (; h != WR_NIL; h = node[h].next) {
        uint32_t i = n++;

        reserve_today(c, n);
        for (; i && n <= SORT_RUN && sim_before(&node[h], &node[c->today[i - 1]]); i--)
            c->today[i] = c->today[i - 1];
        c->today[i] = h;
    }
    c->n = n;
    if (n > SORT_RUN)
        sort_today(c);
}

/* Make `number`, which has events, today. */
static void open_day(struct sim_calendar *c, uint64_t number)
{
    uint32_t slot = (uint32_t)number & (c->ndays - 1), h = c->days[slot];

    c->at = 0;
    if (c->node[h].next == WR_NIL) {
        c->today[0] = h;
        c->n = 1;
    } else
        fill_today(c, h);
    c->days[slot] = WR_NIL;
    c->busy[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    c->inlist -= c->n;
    c->day = number;
}

/* What was far and is now within the days goes into its list. */
static void bring_near(struct sim_calendar *c)
{
    while (c->far.n && (c->far.v[0].t >> c->shift) - c->day < c->ndays) {
        struct sim_event e;

        sim_heap_pop(&c->far, &e);
        sim_calendar_push(c, &e);
    }
    sim_calendar_link(c);
    set_far_day(c);
}

static void rebuild(struct sim_calendar *c, uint32_t shift, uint32_t ndays)
{
    uint32_t *all = wr_alloc((c->inlist + 1) * sizeof *all), n = 0;
    struct sim_heap far = c->far;
    uint64_t now = c->day << c->shift;

    for (uint32_t d = 0; d < c->ndays; d++)
        for (uint32_t h = c->days[d]; h != WR_NIL; h = c->node[h].next)
            all[n++] = h;
    c->far = (struct sim_heap){0};
    c->far_day = UINT64_MAX;
    c->inlist = 0;
    c->ahead[0] = c->ahead[1] = 0;
    c->shift = shift;
    c->day = now >> shift;
    set_days(c, ndays);
    for (uint32_t i = 0; i < n; i++) {
        struct sim_event e = c->node[all[i]];

        sim_calendar_give(c, all[i]);
        sim_calendar_push(c, &e);
    }
    for (size_t i = 0; i < far.n; i++)
        sim_calendar_push(c, &far.v[i]);
    sim_calendar_link(c);
    sim_heap_fini(&far);
    free(all);
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
    double events = (double)(c->popped - c->seen_events) + 1;
    double span = (double)((c->day - c->seen_from) << c->shift);
    double want = log2(fmax(span / events * PER_DAY, 1));
    uint32_t shift = c->shift, ndays = c->ndays;

    if (want > shift + 1.5 || want < shift - 0.5)
        shift = want < MOST_SHIFT ? (uint32_t)want : MOST_SHIFT;
    /* The days reach as far as before; further when that was too short, less
     * far when it was for nothing. */
    double days = (double)ndays * exp2((double)c->shift - shift);

    if (c->seen_far > events / 32)
        days *= 4;
    else if (reaches_too_far(c))
        days /= 2;
    /* Rather full days than a full heap. */
    for (; days > MOST_DAYS && shift < MOST_SHIFT; days /= 2)
        shift++;
    for (ndays = FEWEST_DAYS; ndays < MOST_DAYS && ndays < days;)
        ndays *= 2;
    if (shift != c->shift || ndays != c->ndays)
        rebuild(c, shift, ndays);
    c->seen_days = c->seen_far = 0;
    c->seen_events = c->popped;
    c->seen_from = c->day;
}

/* Inlined always: where it is not, GCC takes a function that only prefetches for one without
 * effect, and leaves out its calls. */
static inline __attribute__((always_inline)) void ask_for_thing(const struct sim_calendar *c,
                                                                const struct sim_event *e)
{
    const struct sim_warm *w = &c->warm[sim_kind(e)];

    if (w->thing)
        __builtin_prefetch(w->thing + e->arg * w->size);
}

/* Ask for memory, one step in each turn, so that nothing is waited for: an event three days ahead,
 * the thing it names and the event behind it two days ahead, what that leads to one day ahead. An
 * event that comes between them later is asked for all at once, as are all where there are few. */
static inline void look_ahead(struct sim_calendar *c, uint64_t number)
{
    uint32_t mask = c->ndays - 1, h = c->days[number & mask];
    bool known = number == c->ahead[0];

    if (c->pool.fresh < MANY)
        __builtin_prefetch(&c->node[c->days[next_busy(c, number) & mask]]);
    else if (number >= c->ahead[0] || c->ahead[0] - number > mask) {
        uint64_t second = c->ahead[1] - number - 1 < mask ? c->ahead[1] : next_busy(c, number);
        uint32_t later = c->days[second & mask];

        c->ahead[0] = second;
        c->ahead[1] = next_busy(c, second);
        __builtin_prefetch(&c->node[c->days[c->ahead[1] & mask]]);
        if (later != WR_NIL) {
            ask_for_thing(c, &c->node[later]);
            if (c->node[later].next != WR_NIL)
                __builtin_prefetch(&c->node[c->node[later].next]);
        }
    }
    for (uint32_t i = 0; i < AHEAD && h != WR_NIL; i++) {
        const struct sim_event *e = &c->node[h];
        const struct sim_warm *w = &c->warm[sim_kind(e)];

        h = e->next;
        if (i || !known)
            ask_for_thing(c, e);
        if (w->more)
            w->more(w->ctx, e);
    }
}

bool sim_calendar_turn(struct sim_calendar *c)
{
    sim_calendar_link(c);
    if (c->seen_days >= LOOK_DAYS || c->popped - c->seen_events >= LOOK_EVENTS)
        look_at_width(c);
    if (c->at != c->n)
        return true;
    if (!c->inlist) {
        if (!c->far.n)
            return false;
        /* Jump over the silence: the first far event is tomorrow's. */
        c->day = (c->far.v[0].t >> c->shift) - 1;
        bring_near(c);
    } else if (c->day >= c->far_day)
        bring_near(c);
    c->seen_days++;
    uint64_t number = c->after >> c->shift; /* the next, unless days have another width now */

    open_day(c, is_busy(c, number) ? number : next_busy(c, c->day));
    if (c->inlist) {
        number = next_busy(c, c->day);
        c->after = number << c->shift;
        look_ahead(c, number);
    } else
        c->after = c->far.n ? c->far.v[0].t : SIM_NEVER;
    return true;
}

uint64_t sim_calendar_count(const struct sim_calendar *c)
{
    return c->inlist + c->far.n + (c->n - c->at);
}

void sim_calendar_each(const struct sim_calendar *c,
                       void (*fn)(void *ctx, const struct sim_event *e), void *ctx)
{
    for (uint32_t i = c->at; i < c->n; i++)
        fn(ctx, &c->node[c->today[i]]);
    for (uint32_t d = 0; d < c->ndays; d++)
        for (uint32_t h = c->days[d]; h != WR_NIL; h = c->node[h].next)
            fn(ctx, &c->node[h]);
    for (uint32_t i = 0; i < c->nlate; i++)
        fn(ctx, &c->node[c->late[i]]);
    for (size_t i = 0; i < c->far.n; i++)
        fn(ctx, &c->far.v[i]);
}
