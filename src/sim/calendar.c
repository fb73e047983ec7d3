/* calendar.c -- opening, sorting and rebuilding the buckets of the calendar queue.
 *
 * Invariants: an event of a bucket's list has (t >> shift) within nbuckets of `current`, and after
 * it; an event of the heap lies beyond, until calendar_bring_near moves it. sorted[at..n-1] is in
 * the order of event.h. inlist counts the lists and the unlinked events.
 */
#include "sim/calendar.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum {
    FIRST_SHIFT = 10, /* about a nanosecond, until the rate of events is known */
    FIRST_BUCKETS = 1 << 12,
    MIN_BUCKETS = 1 << 10,
    MAX_BUCKETS = 1 << 22,
    MAX_SHIFT = 40,
    EVENTS_PER_BUCKET = 1, /* mean over all buckets, empty ones included */
    POOL_CAP = 1 << 28,
    PREFETCH_EVENTS = 4,    /* events of the next bucket whose objects are prefetched */
    OUT_OF_CACHE = 1 << 13, /* more events than this do not fit a core's own cache */
    TUNE_BUCKETS = 4096,    /* buckets opened between two calls of calendar_tune_width, at most */
    TUNE_EVENTS = 16 * TUNE_BUCKETS, /* and events */
};

static void calendar_set_buckets(struct sim_calendar *c, uint32_t nbuckets)
{
    free(c->bucket);
    free(c->occupied);
    c->nbuckets = nbuckets;
    c->bucket = wr_zalloc_aligned(nbuckets, sizeof *c->bucket);
    memset(c->bucket, 0xff, nbuckets * sizeof *c->bucket); /* WR_NIL */
    c->occupied = wr_zalloc_aligned(nbuckets / 64, sizeof *c->occupied);
}

static void calendar_reserve_current(struct sim_calendar *c, uint32_t n)
{
    if (n <= c->cap)
        return;
    while (c->cap < n)
        c->cap = c->cap ? c->cap * 2 : 64;
    c->sorted = wr_realloc(c->sorted, c->cap, sizeof *c->sorted);
}

void sim_calendar_init(struct sim_calendar *c)
{
    *c = (struct sim_calendar){.next = SIM_NEVER,
                               .after = SIM_NEVER,
                               .shift = FIRST_SHIFT,
                               .far_bucket = UINT64_MAX,
                               .free = WR_NIL};
    wr_pool_init(&c->pool, "events", sizeof(struct sim_event), POOL_CAP);
    c->node = wr_pool_at(&c->pool, 0);
    calendar_reserve_current(c, 1);
    calendar_set_buckets(c, FIRST_BUCKETS);
}

void sim_calendar_fini(struct sim_calendar *c)
{
    free(c->bucket);
    free(c->occupied);
    free(c->sorted);
    free(c->rank);
    sim_heap_fini(&c->far);
    wr_pool_fini(&c->pool);
    *c = (struct sim_calendar){0};
}

uint32_t sim_calendar_fresh(struct sim_calendar *c)
{
    return wr_pool_take(&c->pool);
}

/* Inserts into the current bucket, which stays sorted. */
static void calendar_push_current(struct sim_calendar *c, const struct sim_event *e)
{
    uint32_t h = sim_calendar_take(c);

    if (c->at == c->n)
        c->at = c->n = 0;
    calendar_reserve_current(c, c->n + 1);
    uint32_t low = c->at, high = c->n++;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (sim_before(e, &c->node[c->sorted[mid]]))
            high = mid;
        else
            low = mid + 1;
    }
    memmove(c->sorted + low + 1, c->sorted + low, (c->n - 1 - low) * sizeof *c->sorted);
    c->sorted[low] = h;
    c->node[h] = *e;
}

static void calendar_set_far_bucket(struct sim_calendar *c)
{
    c->far_bucket = c->far.n ? (c->far.v[0].t >> c->shift) - c->nbuckets + 1 : UINT64_MAX;
}

void sim_calendar_link(struct sim_calendar *c)
{
    for (uint32_t i = 0; i < c->nunlinked; i++) {
        struct sim_event *e = &c->node[c->unlinked[i]];
        uint32_t at = (uint32_t)(e->t >> c->shift) & (c->nbuckets - 1);

        e->next = c->bucket[at];
        c->bucket[at] = c->unlinked[i];
        c->occupied[at / 64] |= UINT64_C(1) << (at % 64);
    }
    c->nunlinked = 0;
}

void sim_calendar_push_slow(struct sim_calendar *c, const struct sim_event *e)
{
    if (e->t >> c->shift <= c->current) {
        calendar_push_current(c, e);
        return;
    }
    c->tune_far++;
    if (e->t < c->after)
        c->after = e->t;
    sim_heap_push(&c->far, e);
    calendar_set_far_bucket(c);
}

/* The next bucket after `number` with events in its list; inlist > 0. May come around to `number`
 * itself. */
static inline uint64_t calendar_next_occupied(const struct sim_calendar *c, uint64_t number)
{
    uint64_t from = number + 1;
    uint32_t mask = c->nbuckets - 1, at = (uint32_t)from & mask;
    uint32_t word = at / 64;
    uint64_t bits = c->occupied[word] & ~UINT64_C(0) << (at % 64);

    while (!bits) {
        word = (word + 1) & (mask / 64);
        bits = c->occupied[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);

    return from + ((found - at) & mask);
}

static inline bool calendar_is_occupied(const struct sim_calendar *c, uint64_t number)
{
    uint32_t at = (uint32_t)number & (c->nbuckets - 1);

    return number > c->current && number - c->current < c->nbuckets &&
           c->occupied[at / 64] >> (at % 64) & 1;
}

/* The sort key of an event and its handle, contiguous: a full bucket is sorted without touching
 * the events. */
struct sim_rank {
    uint64_t t, key;
    uint32_t seq, h;
};

static inline bool calendar_rank_before(const struct sim_rank *a, const struct sim_rank *b)
{
    if (a->t != b->t)
        return a->t < b->t;
    return a->key != b->key ? a->key < b->key : (int32_t)(a->seq - b->seq) < 0;
}

enum { SORT_RUN = 16 }; /* sorted by insertion before merging begins */

static void calendar_sort_runs(struct sim_rank *v, uint32_t n)
{
    for (uint32_t from = 0; from < n; from += SORT_RUN) {
        uint32_t to = n - from < SORT_RUN ? n : from + SORT_RUN;

        for (uint32_t k = from + 1; k < to; k++) {
            struct sim_rank r = v[k];
            uint32_t i = k;

            for (; i > from && calendar_rank_before(&r, &v[i - 1]); i--)
                v[i] = v[i - 1];
            v[i] = r;
        }
    }
}

static void calendar_merge(struct sim_rank *to, const struct sim_rank *a,
                           const struct sim_rank *a_end, const struct sim_rank *b,
                           const struct sim_rank *b_end)
{
    while (a < a_end && b < b_end)
        *to++ = calendar_rank_before(b, a) ? *b++ : *a++;
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

/* Sorts a full current bucket: bottom-up merge sort. */
static void calendar_sort_current(struct sim_calendar *c)
{
    uint32_t n = c->n;

    if (c->rank_cap < n) {
        c->rank_cap = 2 * n;
        c->rank = wr_realloc(c->rank, 2 * (size_t)c->rank_cap, sizeof *c->rank);
    }
    struct sim_rank *from = c->rank, *to = c->rank + c->rank_cap;

    for (uint32_t i = 0; i < n; i++) {
        const struct sim_event *e = &c->node[c->sorted[i]];

        from[i] = (struct sim_rank){e->t, e->key, e->seq, c->sorted[i]};
    }
    calendar_sort_runs(from, n);
    for (uint32_t width = SORT_RUN; width < n; width *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * width) {
            uint32_t mid = n - i < width ? n : i + width;
            uint32_t end = n - i < 2 * width ? n : i + 2 * width;

            calendar_merge(to + i, from + i, from + mid, from + mid, from + end);
        }
        struct sim_rank *swap = from;

        from = to;
        to = swap;
    }
    for (uint32_t i = 0; i < n; i++)
        c->sorted[i] = from[i].h;
}

/* The events of a list become the current bucket; a few are sorted by insertion. */
static void calendar_fill_current(struct sim_calendar *c, uint32_t h)
{
    const struct sim_event *node = c->node;
    uint32_t n = 0;

    for (; h != WR_NIL; h = node[h].next) {
        uint32_t i = n++;

        calendar_reserve_current(c, n);
        for (; i && n <= SORT_RUN && sim_before(&node[h], &node[c->sorted[i - 1]]); i--)
            c->sorted[i] = c->sorted[i - 1];
        c->sorted[i] = h;
    }
    c->n = n;
    if (n > SORT_RUN)
        calendar_sort_current(c);
}

/* Bucket `number`, which has events, becomes the current one. */
static void calendar_open_bucket(struct sim_calendar *c, uint64_t number)
{
    uint32_t slot = (uint32_t)number & (c->nbuckets - 1), h = c->bucket[slot];

    wr_check(h != WR_NIL && number > c->current);
    c->at = 0;
    if (c->node[h].next == WR_NIL) {
        c->sorted[0] = h;
        c->n = 1;
    } else
        calendar_fill_current(c, h);
    c->bucket[slot] = WR_NIL;
    c->occupied[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    c->inlist -= c->n;
    c->current = number;
}

/* Moves events of the heap that are now within the buckets into their lists. */
static void calendar_bring_near(struct sim_calendar *c)
{
    while (c->far.n && (c->far.v[0].t >> c->shift) - c->current < c->nbuckets) {
        struct sim_event e;

        sim_heap_pop(&c->far, &e);
        sim_calendar_push(c, &e);
    }
    sim_calendar_link(c);
    calendar_set_far_bucket(c);
}

static void calendar_rebuild(struct sim_calendar *c, uint32_t shift, uint32_t nbuckets)
{
    uint32_t *all = wr_alloc((c->inlist + 1) * sizeof *all), n = 0;
    struct sim_heap far = c->far;
    uint64_t now = c->current << c->shift;

    assert(!c->nunlinked && shift <= MAX_SHIFT && !(nbuckets & (nbuckets - 1)));
    for (uint32_t d = 0; d < c->nbuckets; d++)
        for (uint32_t h = c->bucket[d]; h != WR_NIL; h = c->node[h].next)
            all[n++] = h;
    c->far = (struct sim_heap){0};
    c->far_bucket = UINT64_MAX;
    c->inlist = 0;
    c->ahead[0] = c->ahead[1] = 0;
    c->shift = shift;
    c->current = now >> shift;
    calendar_set_buckets(c, nbuckets);
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

/* Is the later half of the buckets nearly empty? */
static bool calendar_reaches_too_far(const struct sim_calendar *c)
{
    uint32_t words = c->nbuckets / 64, from = (uint32_t)(c->current % c->nbuckets) / 64;
    uint32_t near = 0, later = 0;

    for (uint32_t i = 0; i < words; i++) {
        uint32_t bits = (uint32_t)__builtin_popcountll(c->occupied[(from + i) % words]);

        *(i < words / 2 ? &near : &later) += bits;
    }
    return later < near / 32;
}

/* The width that gives EVENTS_PER_BUCKET events at the recent rate, and enough buckets
 * that little goes to the heap. Small corrections are not worth a rebuild. */
static void calendar_tune_width(struct sim_calendar *c)
{
    double events = (double)(c->popped - c->tune_events) + 1;
    double span = (double)((c->current - c->tune_from) << c->shift);
    double want = log2(fmax(span / events * EVENTS_PER_BUCKET, 1));
    uint32_t shift = c->shift, nbuckets = c->nbuckets;

    if (want > shift + 1.5 || want < shift - 0.5)
        shift = want < MAX_SHIFT ? (uint32_t)want : MAX_SHIFT;
    /* The buckets reach as far as before; further when that was too short, less
     * far when it was for nothing. */
    double want_buckets = (double)nbuckets * exp2((double)c->shift - shift);

    if (c->tune_far > events / 32)
        want_buckets *= 4;
    else if (calendar_reaches_too_far(c))
        want_buckets /= 2;
    /* Full buckets cost less than a full heap. */
    for (; want_buckets > MAX_BUCKETS && shift < MAX_SHIFT; want_buckets /= 2)
        shift++;
    for (nbuckets = MIN_BUCKETS; nbuckets < MAX_BUCKETS && nbuckets < want_buckets;)
        nbuckets *= 2;
    if (shift != c->shift || nbuckets != c->nbuckets)
        calendar_rebuild(c, shift, nbuckets);
    c->tune_buckets = c->tune_far = 0;
    c->tune_events = c->popped;
    c->tune_from = c->current;
}

/* always_inline: GCC treats a function that only prefetches as one without effect, and removes
 * calls of it. */
static inline __attribute__((always_inline)) void calendar_prefetch_object(
    const struct sim_calendar *c, const struct sim_event *e)
{
    const struct sim_prefetch *w = &c->prefetch[sim_kind(e)];

    if (w->thing)
        __builtin_prefetch(w->thing + e->arg * w->size);
}

/* Prefetches one step per opened bucket, so that each step's address is in the cache: an event
 * three buckets ahead, its object and the event behind it two buckets ahead, what the object points
 * to one bucket ahead. For an event that is pushed in between, all steps are done at once; so they
 * are for all events when there are few (OUT_OF_CACHE). */
static inline void calendar_prefetch_ahead(struct sim_calendar *c, uint64_t number)
{
    uint32_t mask = c->nbuckets - 1, h = c->bucket[number & mask];
    bool known = number == c->ahead[0];

    if (c->pool.fresh < OUT_OF_CACHE)
        __builtin_prefetch(&c->node[c->bucket[calendar_next_occupied(c, number) & mask]]);
    else if (number >= c->ahead[0] || c->ahead[0] - number > mask) {
        uint64_t second =
            c->ahead[1] - number - 1 < mask ? c->ahead[1] : calendar_next_occupied(c, number);
        uint32_t later = c->bucket[second & mask];

        c->ahead[0] = second;
        c->ahead[1] = calendar_next_occupied(c, second);
        __builtin_prefetch(&c->node[c->bucket[c->ahead[1] & mask]]);
        if (later != WR_NIL) {
            calendar_prefetch_object(c, &c->node[later]);
            if (c->node[later].next != WR_NIL)
                __builtin_prefetch(&c->node[c->node[later].next]);
        }
    }
    for (uint32_t i = 0; i < PREFETCH_EVENTS && h != WR_NIL; i++) {
        const struct sim_event *e = &c->node[h];
        const struct sim_prefetch *w = &c->prefetch[sim_kind(e)];

        h = e->next;
        if (i || !known)
            calendar_prefetch_object(c, e);
        if (w->more)
            w->more(w->ctx, e);
    }
}

bool sim_calendar_advance(struct sim_calendar *c)
{
    sim_calendar_link(c);
    if (c->tune_buckets >= TUNE_BUCKETS || c->popped - c->tune_events >= TUNE_EVENTS)
        calendar_tune_width(c);
    if (c->at != c->n)
        return true;
    if (!c->inlist) {
        if (!c->far.n)
            return false;
        /* Skip the empty time: the heap's first event is in the next bucket. */
        c->current = (c->far.v[0].t >> c->shift) - 1;
        calendar_bring_near(c);
    } else if (c->current >= c->far_bucket)
        calendar_bring_near(c);
    c->tune_buckets++;
    uint64_t number = c->after >> c->shift; /* the next, unless the width has changed */

    calendar_open_bucket(
        c, calendar_is_occupied(c, number) ? number : calendar_next_occupied(c, c->current));
    if (c->inlist) {
        number = calendar_next_occupied(c, c->current);
        c->after = number << c->shift;
        calendar_prefetch_ahead(c, number);
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
        fn(ctx, &c->node[c->sorted[i]]);
    for (uint32_t d = 0; d < c->nbuckets; d++)
        for (uint32_t h = c->bucket[d]; h != WR_NIL; h = c->node[h].next)
            fn(ctx, &c->node[h]);
    for (uint32_t i = 0; i < c->nunlinked; i++)
        fn(ctx, &c->node[c->unlinked[i]]);
    for (size_t i = 0; i < c->far.n; i++)
        fn(ctx, &c->far.v[i]);
}
