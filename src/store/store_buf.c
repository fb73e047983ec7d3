/* store_buf.c -- a burst buffer: its space, its blocks, and draining.
 *
 *             claim                 written               drained
 *   free ----------------> reserved --------> dirty ----------------> clean --evicted--> free
 *                                               ^---- written again ----/
 *
 * These are states of bytes: a block has ranges in several of them, and each range is drained by a
 * request of its own.
 *
 * Space is given in the order of the requests for it. A slot that waits for space, or an operation
 * that waits for a flush, starts the drain whatever its watermarks say, and clean blocks are
 * evicted; so as long as drains end, every waiting slot gets space.
 *
 * store_xfer.c claims space and reports what was written and read; store_op.c flushes.
 */
#include <assert.h>

#include "store_priv.h"

static void buf_drain(struct store *s, uint32_t site);

/* ---- lists of entries ---- */

static void buf_list_remove(struct store *s, struct store_buf *b, uint32_t h)
{
    struct store_entry *e = store_entry(s, h);
    struct store_list *l = &b->list[e->list];

    *(e->prev == WR_NIL ? &l->head : &store_entry(s, e->prev)->next) = e->next;
    *(e->next == WR_NIL ? &l->tail : &store_entry(s, e->next)->prev) = e->prev;
}

static void buf_list_append(struct store *s, struct store_buf *b, uint32_t h, enum store_keep list)
{
    struct store_entry *e = store_entry(s, h);
    struct store_list *l = &b->list[list];

    e->list = (uint8_t)list;
    e->prev = l->tail;
    e->next = WR_NIL;
    *(l->tail == WR_NIL ? &l->head : &store_entry(s, l->tail)->next) = h;
    l->tail = h;
}

/* Moves a block to the list of its state; the block used last is evicted last. */
static void buf_list_update(struct store *s, uint32_t h)
{
    struct store_entry *e = store_entry(s, h);
    struct store_buf *b = &s->site[e->site].buf;
    enum store_keep list = e->busy || e->drains ? ENTRY_IN_USE
                           : e->dirty           ? ENTRY_DIRTY
                                                : ENTRY_CLEAN;

    if (list == e->list && list != ENTRY_CLEAN)
        return;
    buf_list_remove(s, b, h);
    buf_list_append(s, b, h, list);
}

/* ---- finding ---- */

static uint32_t *buf_bucket(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                            uint64_t block)
{
    uint64_t h = store_mix(store_hash(app, file) + store_mix(block + ((uint64_t)site << 40)));

    return &s->bucket[h & (s->nbuckets - 1)];
}

static uint32_t buf_find_entry(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                               uint64_t block)
{
    uint32_t h = *buf_bucket(s, site, app, file, block);

    for (; h != WR_NIL; h = store_entry(s, h)->bucket) {
        const struct store_entry *e = store_entry(s, h);

        if (e->block == block && e->file == file && e->app == app && e->site == site)
            break;
    }
    return h;
}

uint32_t store_buf_find(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                        uint64_t at, uint64_t bytes)
{
    uint32_t h = buf_find_entry(s, site, app, file, at / s->p.block_b);
    uint64_t lo = at % s->p.block_b;

    if (h == WR_NIL || store_range_bytes(&s->ranges, store_entry(s, h)->ranges, lo, lo + bytes,
                                         STORE_RANGE_ANY) < bytes)
        return WR_NIL;
    return h;
}

uint64_t store_buf_dirty(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                         uint64_t at, uint64_t bytes)
{
    uint32_t h = buf_find_entry(s, site, app, file, at / s->p.block_b);
    uint64_t lo = at % s->p.block_b;

    if (h == WR_NIL)
        return 0;
    return store_range_bytes(&s->ranges, store_entry(s, h)->ranges, lo, lo + bytes, HELD_DIRTY);
}

static void buf_drop_entry(struct store *s, uint32_t h)
{
    struct store_entry *e = store_entry(s, h);
    struct store_buf *b = &s->site[e->site].buf;
    uint32_t *at = buf_bucket(s, e->site, e->app, e->file, e->block);

    while (*at != h)
        at = &store_entry(s, *at)->bucket;
    *at = e->bucket;
    buf_list_remove(s, b, h);
    b->used_b -= e->have;
    if (e->have)
        store_range_set(&s->ranges, &e->ranges, 0, s->p.block_b, STORE_RANGE_ANY);
    wr_pool_give(&s->entries, h);
}

/* A block is empty when its bytes were forgotten while it was in use. */
static void buf_update_or_drop(struct store *s, uint32_t h)
{
    const struct store_entry *e = store_entry(s, h);

    if (e->have || e->busy || e->drains)
        buf_list_update(s, h);
    else
        buf_drop_entry(s, h);
}

/* ---- space ---- */

static bool buf_evict_until_free(struct store *s, struct store_buf *b, uint64_t bytes)
{
    while (b->capacity_b - b->used_b < bytes && b->list[ENTRY_CLEAN].head != WR_NIL) {
        uint32_t h = b->list[ENTRY_CLEAN].head;

        b->evicted_b += store_entry(s, h)->have;
        buf_drop_entry(s, h);
    }
    return b->capacity_b - b->used_b >= bytes;
}

static void buf_add_used(struct store_buf *b, uint64_t bytes)
{
    assert(!b->capacity_b || b->used_b + bytes <= b->capacity_b);
    if (!b->track)
        return;
    b->used_b += bytes;
    if (b->used_b > b->used_most_b)
        b->used_most_b = b->used_b;
}

bool store_buf_reserve(struct store *s, uint32_t site, uint64_t bytes)
{
    struct store_buf *b = &s->site[site].buf;

    if (b->capacity_b && (b->wait_list.head != WR_NIL || !buf_evict_until_free(s, b, bytes)))
        return false;
    buf_add_used(b, bytes);
    return true;
}

void store_buf_claim(struct store *s, uint32_t site, uint32_t slot, uint64_t bytes)
{
    struct store_buf *b = &s->site[site].buf;

    assert(bytes > 0);
    if (store_buf_reserve(s, site, bytes)) {
        store_slot_step(s, slot);
        return;
    }
    store_slot(s, slot)->claim_b = bytes;
    store_slot(s, slot)->next = WR_NIL;
    *(b->wait_list.head == WR_NIL ? &b->wait_list.head : &store_slot(s, b->wait_list.tail)->next) =
        slot;
    b->wait_list.tail = slot;
    b->waiting++;
    b->waits++;
    buf_drain(s, site);
}

/* Gives space to waiting slots, in their order. */
static void buf_serve_waiting(struct store *s, uint32_t site)
{
    struct store_buf *b = &s->site[site].buf;

    while (b->wait_list.head != WR_NIL) {
        uint32_t h = b->wait_list.head;
        struct store_slot *x = store_slot(s, h);

        if (!buf_evict_until_free(s, b, x->claim_b))
            return;
        buf_add_used(b, x->claim_b);
        b->wait_list.head = x->next;
        b->waiting--;
        b->wait_ps += s->sim->now - x->mark_ps;
        x->ps[CAUSE_RESERVE] += s->sim->now - x->mark_ps;
        x->mark_ps = s->sim->now;
        store_slot_step(s, h);
    }
}

/* ---- writing ---- */

static uint32_t buf_new_entry(struct store *s, uint32_t site, const struct store_req *q,
                              uint64_t block)
{
    uint32_t h = wr_pool_take(&s->entries), *bucket = buf_bucket(s, site, q->app, q->file, block);

    *store_entry(s, h) = (struct store_entry){.bucket = *bucket,
                                              .site = site,
                                              .app = q->app,
                                              .file = q->file,
                                              .block = block,
                                              .ranges = WR_NIL};
    *bucket = h;
    buf_list_append(s, &s->site[site].buf, h, ENTRY_IN_USE);
    return h;
}

static void buf_mark_dirty(struct store *s, struct store_buf *b, struct store_entry *e, uint64_t lo,
                           uint64_t hi)
{
    uint64_t was = store_range_bytes(&s->ranges, e->ranges, lo, hi, HELD_DIRTY);

    if (!e->dirty) /* a flush that begins now waits for it, whatever is added later */
        e->seq = ++b->seq;
    b->in_b += hi - lo;
    b->absorbed_b += was;
    b->dirty_b += hi - lo - was;
    e->dirty += hi - lo - was;
    store_range_set(&s->ranges, &e->ranges, lo, hi, HELD_DIRTY);
}

void store_buf_wrote(struct store *s, uint32_t site, const struct store_slot *x, bool dirty)
{
    struct store_buf *b = &s->site[site].buf;
    const struct store_req *q = store_req(s, x->req);
    uint64_t block = x->at / s->p.block_b, lo = x->at % s->p.block_b, hi = lo + x->bytes;

    if (!b->track) {
        b->in_b += x->bytes;
        b->dirty_b += x->bytes;
        return;
    }
    uint32_t h = buf_find_entry(s, site, q->app, q->file, block);

    if (h == WR_NIL)
        h = buf_new_entry(s, site, q, block);
    struct store_entry *e = store_entry(s, h);
    uint64_t had = store_range_bytes(&s->ranges, e->ranges, lo, hi, STORE_RANGE_ANY);

    e->have += x->bytes - had;
    b->used_b -= had; /* space claimed for bytes that were in the buffer already is free again */
    if (dirty)
        buf_mark_dirty(s, b, e, lo, hi);
    else
        store_range_fill(&s->ranges, &e->ranges, lo, hi, HELD_CLEAN);
    buf_list_update(s, h);
    buf_serve_waiting(s, site);
    buf_drain(s, site);
}

/* No flush waits for what is dropped here: only local buffers are flushed, and their writes do not
 * bypass them. A drain in progress goes on; the server keeps the order of writes to the same bytes.
 */
void store_buf_forget(struct store *s, uint32_t site, const struct store_slot *x)
{
    struct store_buf *b = &s->site[site].buf;
    const struct store_req *q = store_req(s, x->req);
    uint32_t h = buf_find_entry(s, site, q->app, q->file, x->at / s->p.block_b);
    uint64_t lo = x->at % s->p.block_b, hi = lo + x->bytes;

    assert(b->flush == WR_NIL);
    if (h == WR_NIL)
        return;
    struct store_entry *e = store_entry(s, h);
    uint64_t had = store_range_bytes(&s->ranges, e->ranges, lo, hi, STORE_RANGE_ANY);
    uint64_t dirty = store_range_bytes(&s->ranges, e->ranges, lo, hi, HELD_DIRTY);

    store_range_set(&s->ranges, &e->ranges, lo, hi, STORE_RANGE_ANY);
    e->have -= had;
    e->dirty -= dirty;
    b->used_b -= had;
    b->dirty_b -= dirty;
    b->absorbed_b += dirty;
    buf_update_or_drop(s, h);
}

/* A file of which this site's large devices have something is marked by an entry in no list. */
enum { WHOLE_FILE = -1 };

bool store_buf_is_slow(const struct store *s, uint32_t site, uint16_t app, int64_t file)
{
    return buf_find_entry(s, site, app, file, (uint64_t)WHOLE_FILE) != WR_NIL;
}

void store_buf_mark_slow(struct store *s, uint32_t site, uint16_t app, int64_t file)
{
    uint32_t *bucket = buf_bucket(s, site, app, file, (uint64_t)WHOLE_FILE);

    if (store_buf_is_slow(s, site, app, file))
        return;
    uint32_t h = wr_pool_take(&s->entries);

    *store_entry(s, h) = (struct store_entry){
        .bucket = *bucket, .site = site, .app = app, .file = file, .block = (uint64_t)WHOLE_FILE};
    *bucket = h;
}

/* A block that is being read is not evicted. */
void store_buf_hold(struct store *s, uint32_t h)
{
    store_entry(s, h)->busy++;
    buf_list_update(s, h);
}

void store_buf_release(struct store *s, uint32_t h)
{
    uint32_t site = store_entry(s, h)->site;

    assert(store_entry(s, h)->busy > 0);
    store_entry(s, h)->busy--;
    buf_update_or_drop(s, h);
    buf_serve_waiting(s, site);
    buf_drain(s, site);
}

/* ---- draining ---- */

static bool buf_wants_drain(const struct store *s, struct store_buf *b)
{
    const struct store_buffer *p = &s->p.buffer;

    if (p->drain == STORE_DRAIN_AT_ONCE || b->wait_list.head != WR_NIL || b->flush != WR_NIL)
        return true;
    if (p->drain == STORE_DRAIN_WATERMARKS && b->dirty_b > b->high_b)
        b->hot = true;
    if (b->dirty_b <= b->low_b)
        b->hot = false;
    return b->hot;
}

/* The next period's beginning sets a scheduled drain to work. */
static void buf_schedule_tick(struct store *s, uint32_t site)
{
    struct store_buf *b = &s->site[site].buf;
    uint64_t period = store_ps(s->p.buffer.period_ps);

    if (s->p.buffer.drain != STORE_DRAIN_SCHEDULE || b->tick || b->hot || !b->dirty_b)
        return;
    b->tick = true;
    store_event(s, s->site[site].node, (s->sim->now / period + 1) * period, STORE_EV_TICK, 0, site,
                0);
}

void store_buf_tick(struct store *s, uint32_t site)
{
    s->site[site].buf.tick = false;
    s->site[site].buf.hot = true;
    buf_drain(s, site);
}

/* One range of a block, by a request of its own. */
static void buf_drain_range(struct store *s, uint32_t h, const struct store_range *r)
{
    const struct store_entry *e = store_entry(s, h);
    const struct store_site *t = &s->site[e->site];
    uint64_t source = e->block * s->p.block_b + r->lo, at = source;
    struct store_req q = {.owner = h,
                          .node = t->node,
                          .site = e->site,
                          .mode = MODE_WRITE,
                          .from = FROM_DRAIN,
                          .app = e->app,
                          .file = e->file,
                          .bytes = r->hi - r->lo,
                          .mark_ps = s->sim->now};

    if (t->role == ROLE_CLIENT)
        q.site = store_place(s, t->node, e->app, e->file, at, &at);
    else if (t->role == ROLE_BUFFER)
        q.site = s->nservers + (uint32_t)(store_hash(e->app, e->file + (int64_t)e->block) % s->nio);
    else
        q.mode = MODE_MOVE;
    q.at = at;
    q.source = source - at;
    q.end = at + q.bytes;
    store_audit_sent(s, &(struct store_bytes){e->site, e->app, e->file, source, q.bytes});
    store_req_begin(s, store_req_new(s, &q));
}

/* All that is dirty of a block. */
static void buf_drain_entry(struct store *s, uint32_t h)
{
    struct store_entry *e = store_entry(s, h);
    struct store_buf *b = &s->site[e->site].buf;

    assert(e->dirty > 0 && !e->drains);
    store_range_turn(&s->ranges, &e->ranges, 0, s->p.block_b, HELD_DIRTY, HELD_SENT);
    for (uint32_t r = e->ranges; r != WR_NIL; r = store_range(&s->ranges, r)->next)
        e->drains += store_range(&s->ranges, r)->tag == HELD_SENT;
    e->inflight = e->dirty;
    e->inflight_seq = e->seq;
    b->dirty_b -= e->dirty;
    b->inflight_b += e->dirty;
    e->dirty = 0;
    b->streams++;
    buf_list_update(s, h);
    for (uint32_t r = e->ranges; r != WR_NIL; r = store_range(&s->ranges, r)->next)
        if (store_range(&s->ranges, r)->tag == HELD_SENT)
            buf_drain_range(s, h, store_range(&s->ranges, r));
}

static void buf_drain(struct store *s, uint32_t site)
{
    struct store_buf *b = &s->site[site].buf;

    if (!b->track || s->p.buffer.drain == STORE_DRAIN_NEVER)
        return;
    while (b->streams < s->p.buffer.streams && b->list[ENTRY_DIRTY].head != WR_NIL &&
           buf_wants_drain(s, b))
        buf_drain_entry(s, b->list[ENTRY_DIRTY].head);
    if (b->list[ENTRY_DIRTY].head == WR_NIL && !b->dirty_b)
        b->hot = false;
    buf_schedule_tick(s, site);
}

/* ---- flushing ---- */

static bool buf_flush_waits_for(const struct store_task *t, const struct store_entry *e,
                                uint64_t seq)
{
    return e->app == t->app && e->file == t->file && seq <= t->seq;
}

bool store_buf_flush(struct store *s, uint32_t site, uint32_t task)
{
    struct store_buf *b = &s->site[site].buf;
    struct store_task *t = store_task(s, task);

    t->seq = b->seq;
    t->left = 0;
    for (int l = ENTRY_DIRTY; l <= ENTRY_IN_USE; l++)
        for (uint32_t h = b->list[l].head; h != WR_NIL; h = store_entry(s, h)->next) {
            const struct store_entry *e = store_entry(s, h);

            t->left += e->dirty && buf_flush_waits_for(t, e, e->seq);
            t->left += e->drains && buf_flush_waits_for(t, e, e->inflight_seq);
        }
    if (!t->left)
        return false;
    t->next = b->flush;
    b->flush = task;
    buf_drain(s, site);
    return true;
}

static void buf_notify_flushes(struct store *s, uint32_t site, const struct store_entry *e,
                               const uint64_t *ps)
{
    uint32_t *at = &s->site[site].buf.flush;

    while (*at != WR_NIL) {
        uint32_t h = *at;
        struct store_task *t = store_task(s, h);

        if (buf_flush_waits_for(t, e, e->inflight_seq) && !--t->left) {
            *at = t->next;
            store_op_flushed(s, h, ps);
        } else {
            at = &t->next;
        }
    }
}

void store_buf_drained(struct store *s, const struct store_req *q)
{
    struct store_entry *e = store_entry(s, q->owner), was;
    struct store_buf *b = &s->site[e->site].buf;
    uint64_t from = q->end - q->bytes + q->source, lo = from % s->p.block_b;

    store_audit_came(s, &(struct store_bytes){e->site, e->app, e->file, from, q->bytes});
    store_range_turn(&s->ranges, &e->ranges, lo, lo + q->bytes, HELD_SENT, HELD_CLEAN);
    b->inflight_b -= q->bytes;
    b->out_b += q->bytes;
    e->inflight -= q->bytes;
    if (--e->drains)
        return;
    assert(!e->inflight);
    b->streams--;
    was = *e;
    buf_update_or_drop(s, q->owner);
    buf_notify_flushes(s, was.site, &was, q->ps);
    buf_serve_waiting(s, was.site);
    buf_drain(s, was.site);
}
