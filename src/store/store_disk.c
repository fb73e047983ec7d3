/* store_disk.c -- blocks at devices: when they are done, and which jobs they waited for.
 *
 * A device says when a block is done. Its time is laid out as one line of spans: a block's
 * span begins when all blocks before it are done (or when it came) and ends when it is. For
 * a device that serves one block after another that is exactly its service; where blocks overlap
 * (flash, a disk's cache) it is what the block adds to the device's work. What a block
 * waits before its span is attributed to its own job or to others, by the jobs of those spans.
 *
 *   block --> dev_submit ------------------------> done       devices that do not choose; writes
 *         \-> reads that wait --dev_choose--> dev_submit -> done    those that do, one at a time
 */
#include <assert.h>

#include "store_priv.h"

/* Spans that are over count as served. */
static void disk_retire_spans(struct store *s, struct store_disk *d, uint64_t now)
{
    while (d->head != WR_NIL) {
        struct store_span *x = wr_pool_at(&s->spans, d->head);
        uint32_t h = d->head;

        if (x->to_ps > now)
            return;
        d->app[x->app].served_ps += x->to_ps - x->from_ps;
        d->head = x->next;
        wr_pool_give(&s->spans, h);
    }
}

/* How much of the device's work to come is of one application. */
static uint64_t disk_own_work_ps(struct store *s, struct store_disk *d, uint16_t app, uint64_t now)
{
    uint64_t left = d->app[app].given_ps - d->app[app].served_ps;

    if (d->head == WR_NIL)
        return 0;
    const struct store_span *first = wr_pool_at(&s->spans, d->head);

    if (first->app == app && first->from_ps < now)
        left -= now - first->from_ps;
    return left;
}

static void disk_add_span(struct store *s, struct store_disk *d, uint16_t app, uint64_t from,
                          uint64_t to)
{
    uint32_t h = wr_pool_take(&s->spans);

    assert(from < to);
    *(struct store_span *)wr_pool_at(&s->spans, h) =
        (struct store_span){.next = WR_NIL, .app = app, .from_ps = from, .to_ps = to};
    if (d->head == WR_NIL)
        d->head = h;
    else
        ((struct store_span *)wr_pool_at(&s->spans, d->tail))->next = h;
    d->tail = h;
    d->app[app].given_ps += to - from;
    d->busy_ps += to - from;
}

static void disk_count_queue(struct store *s, struct store_disk *d)
{
    d->queue_ps += d->queue * (s->sim->now - d->queue_since_ps);
    d->queue_since_ps = s->sim->now;
}

/* The address of a byte on the device: every file has its own GiB-aligned region, or all share one
 * object. */
static uint64_t disk_address(const struct store *s, const struct store_req *q, uint64_t at)
{
    enum { REGIONS = 1024 };

    if (s->p.one_object)
        return at;
    return (store_hash(q->app, q->file) % REGIONS << 30) + at;
}

static struct dev_req disk_request(const struct store *s, const struct store_slot *x, bool write)
{
    return (struct dev_req){.t_ps = s->sim->now,
                            .offset_b = disk_address(s, store_req(s, x->req), store_slot_at(s, x)),
                            .bytes = x->bytes,
                            .write = write};
}

/* The device takes it now. */
static void disk_take(struct store *s, uint32_t disk, uint32_t slot, const struct dev_req *r)
{
    struct store_disk *d = &s->disk[disk];
    struct store_slot *x = store_slot(s, slot);
    const struct store_req *q = store_req(s, x->req);
    uint64_t now = s->sim->now, done = dev_submit(&d->dev, r);
    uint64_t from = d->until_ps > now ? d->until_ps : now,
             least = dev_interface_ps(&d->dev, x->bytes);
    uint64_t wait = (from < done ? from : done) - now;

    disk_retire_spans(s, d, now);
    if (done - now - wait < least) /* it overlapped with others, and was served all the same */
        wait = done - now > least ? done - now - least : 0;
    uint64_t own = disk_own_work_ps(s, d, q->app, now);

    own = own < wait ? own : wait;
    x->ps[CAUSE_DEVICE_QUEUE] += own;
    x->ps[CAUSE_DEVICE_OTHERS] += wait - own;
    x->ps[CAUSE_DEVICE] += done - now - wait;
    x->mark_ps = done;
    if (done > from)
        disk_add_span(s, d, q->app, from, done);
    d->until_ps = done > d->until_ps ? done : d->until_ps;
    store_event(s, s->site[d->site].node, done, STORE_EV_DISK, disk & 0xffffff, slot, disk);
}

/* ---- devices that choose ---- */

/* How long a device has worked for one application until now. */
static uint64_t disk_served_ps(struct store *s, struct store_disk *d, uint16_t app)
{
    disk_retire_spans(s, d, s->sim->now);
    return d->app[app].given_ps - disk_own_work_ps(s, d, app, s->sim->now);
}

static void disk_wait(struct store *s, struct store_disk *d, uint32_t slot)
{
    struct store_slot *x = store_slot(s, slot);

    x->next = WR_NIL;
    x->turn = UINT64_MAX;
    x->served_ps = disk_served_ps(s, d, store_req(s, x->req)->app);
    *(d->wait_list.head == WR_NIL ? &d->wait_list.head : &store_slot(s, d->wait_list.tail)->next) =
        slot;
    d->wait_list.tail = slot;
}

/* Takes the one that the device wants next out of those that wait. It sees the oldest `choice` of
 * them; being overtaken counts from there. */
static uint32_t disk_choose(struct store *s, struct store_disk *d, struct dev_req *ret)
{
    struct dev_req wait[DEV_MOST_QUEUE];
    uint32_t n = 0, *at = &d->wait_list.head, before = WR_NIL;

    for (uint32_t h = d->wait_list.head; h != WR_NIL && n < d->choice; h = store_slot(s, h)->next) {
        if (store_slot(s, h)->turn == UINT64_MAX)
            store_slot(s, h)->turn = d->turn;
        wait[n++] = disk_request(s, store_slot(s, h), false);
    }
    uint32_t i = dev_choose(&d->dev, s->sim->now, wait, n, d->turn - store_slot(s, *at)->turn);

    *ret = wait[i];
    for (; i; i--) {
        before = *at;
        at = &store_slot(s, before)->next;
    }
    uint32_t h = *at;

    *at = store_slot(s, h)->next;
    if (d->wait_list.tail == h)
        d->wait_list.tail = before;
    return h;
}

/* Divides the wait between the own job and others by what the device did meanwhile. */
static void disk_read_next(struct store *s, uint32_t disk)
{
    struct store_disk *d = &s->disk[disk];
    struct dev_req r;

    if (d->wait_list.head == WR_NIL)
        return;
    uint32_t h = disk_choose(s, d, &r);
    struct store_slot *x = store_slot(s, h);
    uint64_t wait = s->sim->now - x->mark_ps;
    uint64_t own = disk_served_ps(s, d, store_req(s, x->req)->app) - x->served_ps;

    own = own < wait ? own : wait;
    x->ps[CAUSE_DEVICE_QUEUE] += own;
    x->ps[CAUSE_DEVICE_OTHERS] += wait - own;
    x->mark_ps = s->sim->now;
    r.waited_ps = wait;
    d->reading = true;
    d->turn++;
    disk_take(s, disk, h, &r);
}

/* ---- the way in, and out ---- */

void store_disk_submit(struct store *s, uint32_t disk, uint32_t slot, bool write)
{
    struct store_disk *d = &s->disk[disk];
    struct store_slot *x = store_slot(s, slot);

    assert(disk < s->ndisks && x->bytes > 0);
    x->disk = disk;
    x->write = write;
    *(write ? &d->writes : &d->reads) += 1;
    *(write ? &d->written_b : &d->read_b) += x->bytes;
    disk_count_queue(s, d);
    if (++d->queue > d->queue_most)
        d->queue_most = d->queue;
    if (write || d->choice == 1) {
        struct dev_req r = disk_request(s, x, write);

        disk_take(s, disk, slot, &r);
        return;
    }
    disk_wait(s, d, slot);
    if (!d->reading)
        disk_read_next(s, disk);
}

void store_disk_ended(struct store *s, uint32_t disk, uint32_t slot)
{
    struct store_disk *d = &s->disk[disk];

    assert(d->queue > 0);
    disk_count_queue(s, d);
    d->queue--;
    if (d->choice == 1 || store_slot(s, slot)->write)
        return;
    d->reading = false;
    disk_read_next(s, disk);
}
