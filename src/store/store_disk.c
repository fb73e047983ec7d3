/* store_disk.c -- blocks at devices: when they are done, and behind whom they waited.
 *
 * A device says when a block is done. Its time is laid out as one line of spans: a block's
 * span begins when all blocks before it are done (or when it came) and ends when it is. For
 * a device that serves one block after another that is exactly its service; where blocks overlap
 * (flash, a disk's cache) it is what the block adds to the device's work. What a block
 * waits before its span is shared between its own job and the others by whose spans these are.
 */
#include "store_priv.h"

/* Spans that are over count as served. */
static void settle(struct store *s, struct store_disk *d, uint64_t now)
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
static uint64_t own_work(struct store *s, struct store_disk *d, uint16_t app, uint64_t now)
{
    uint64_t left = d->app[app].given_ps - d->app[app].served_ps;

    if (d->head == WR_NIL)
        return 0;
    const struct store_span *first = wr_pool_at(&s->spans, d->head);

    if (first->app == app && first->from_ps < now)
        left -= now - first->from_ps;
    return left;
}

static void add_span(struct store *s, struct store_disk *d, uint16_t app, uint64_t from,
                     uint64_t to)
{
    uint32_t h = wr_pool_take(&s->spans);

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

static void count_queue(struct store *s, struct store_disk *d)
{
    d->queue_ps += d->queue * (s->sim->now - d->queue_since_ps);
    d->queue_since_ps = s->sim->now;
}

/* Every file has its own stretch of the device, or all share one object. */
static uint64_t address(const struct store *s, const struct store_req *q, uint64_t at)
{
    enum { STRETCHES = 1024 };

    if (s->p.one_object)
        return at;
    return (store_hash(q->app, q->file) % STRETCHES << 30) + at;
}

void store_disk_submit(struct store *s, uint32_t disk, uint32_t slot, bool write)
{
    struct store_disk *d = &s->disk[disk];
    struct store_slot *x = store_slot(s, slot);
    const struct store_req *q = store_req(s, x->req);
    struct dev_req r = {.t_ps = s->sim->now,
                        .offset_b = address(s, q, store_slot_at(s, x)),
                        .bytes = x->bytes,
                        .write = write};
    uint64_t now = s->sim->now, done = dev_submit(&d->dev, &r);
    uint64_t from = d->until_ps > now ? d->until_ps : now,
             least = dev_interface_ps(&d->dev, x->bytes);
    uint64_t wait = (from < done ? from : done) - now;

    settle(s, d, now);
    if (done - now - wait < least) /* it overlapped with others, and was served all the same */
        wait = done - now > least ? done - now - least : 0;
    uint64_t own = own_work(s, d, q->app, now);

    own = own < wait ? own : wait;
    x->ps[CAUSE_DEVICE_QUEUE] += own;
    x->ps[CAUSE_DEVICE_OTHERS] += wait - own;
    x->ps[CAUSE_DEVICE] += done - now - wait;
    x->mark_ps = done;
    x->disk = disk;
    if (done > from)
        add_span(s, d, q->app, from, done);
    d->until_ps = done > d->until_ps ? done : d->until_ps;
    *(write ? &d->writes : &d->reads) += 1;
    *(write ? &d->written_b : &d->read_b) += x->bytes;
    count_queue(s, d);
    if (++d->queue > d->queue_most)
        d->queue_most = d->queue;
    store_event(s, s->site[d->site].node, done, STORE_EV_DISK, disk & 0xffffff, slot, disk);
}

void store_disk_ended(struct store *s, uint32_t disk)
{
    count_queue(s, &s->disk[disk]);
    s->disk[disk].queue--;
}
