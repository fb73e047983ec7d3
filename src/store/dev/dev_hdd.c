/* dev_hdd.c -- a hard disk: mechanics (hdd_mech.c) behind a cache.
 *
 *   host --interface--> write queue --the nearest next--> head, platters
 *        <------------- read segment <--- reading ahead --
 *
 * Reads go first, one after another; of those that wait, that which the head reaches first (native
 * command queueing: the owner of the queue calls hdd_reach_ps). After a read the head stays and
 * reads ahead, until it has `read_ahead` bytes more or is needed elsewhere; a read that begins
 * there waits for the platter, not for a seek. Writes are done when they are in the queue; when
 * nothing is read, the head writes the one that it can reach first. A full queue makes writes wait.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "hdd_priv.h"

enum { HDD_PURPOSE = 0x68646420 }; /* "hdd ": where the platters are at time 0 */

/* A write in the cache. */
struct hdd_dirty {
    uint64_t offset_b, bytes, in_ps; /* in_ps: when it was there */
};

/* Bytes first..base are in the segment at time base_ps; while `live` the head reads on. */
struct hdd_segment {
    uint64_t first_b, base_b, base_ps, limit_b;
    bool live;
};

/* A disk; changes with every request. */
struct hdd {
    struct hdd_mech mech;
    struct hdd_segment seg;     /* of read-ahead */
    uint64_t link_ps, wrote_ps; /* the interface is free; the last cached write is on the platter */
    uint64_t dirty_b;           /* in the cache, not written */
    uint32_t ndirty;            /* requests of them */
    struct hdd_dirty dirty[HDD_MOST_QUEUE];
};

#define HDD_ROW(struct_, field_, type_, def_, min_, max_, help_)                                \
    {                                                                                           \
        .key = #field_, .type = type_, .offset = offsetof(struct struct_, field_), .def = def_, \
        .min = min_, .max = max_, .help = help_                                                 \
    }

static const struct conf_row zone_rows[] = {
    HDD_ROW(hdd_zone_params, share, CONF_FRACTION, NULL, 1e-6, 1, "Share of the disk's bytes."),
    HDD_ROW(hdd_zone_params, rate, CONF_RATE, NULL, DEV_SLOWEST_BPS, 1e11,
            "Sustained rate in this zone; gives the bytes of a track."),
    CONF_END,
};

static const struct conf_row seek_rows[] = {
    HDD_ROW(hdd_seek_params, track, CONF_TIME, "0.7 ms", 0, DEV_LONGEST_PS,
            "To the next cylinder."),
    HDD_ROW(hdd_seek_params, average, CONF_TIME, "8.5 ms", 0, DEV_LONGEST_PS,
            "Over a third of them."),
    HDD_ROW(hdd_seek_params, full, CONF_TIME, "18 ms", 0, DEV_LONGEST_PS, "Over all of them."),
    HDD_ROW(hdd_seek_params, write, CONF_TIME, "0 ms", 0, DEV_LONGEST_PS,
            "What a write's seek takes more than a read's."),
    CONF_END,
};

static const struct conf_row hdd_rows[] = {
    HDD_ROW(hdd_params, capacity, CONF_BYTES, "2 TB", 1e6, 1e16, "Size of the disk."),
    HDD_ROW(hdd_params, rpm, CONF_U32, "7200", 600, 100000, "Turns per minute."),
    HDD_ROW(hdd_params, heads, CONF_U32, "8", 1, 64, "Tracks of a cylinder."),
    {.key = "zones",
     .type = CONF_LIST,
     .offset = offsetof(struct hdd_params, zones),
     .def = "[{share: 100 %, rate: 136 MB/s}]",
     .min = 1,
     .max = HDD_MOST_ZONES,
     .help = "Zones from the outside to the inside, each with share and rate.",
     .rows = zone_rows,
     .size = sizeof(struct hdd_zone_params)},
    {.key = "seek",
     .type = CONF_SECTION,
     .offset = offsetof(struct hdd_params, seek),
     .def = "",
     .help = "How long the head takes to another cylinder: track, average, full, write.",
     .rows = seek_rows},
    HDD_ROW(hdd_params, overhead, CONF_TIME, "100 us", 0, DEV_LONGEST_PS,
            "Time that a command takes."),
    HDD_ROW(hdd_params, interface, CONF_RATE, "600 MB/s", DEV_SLOWEST_BPS, 1e15,
            "Rate of the host's link."),
    HDD_ROW(hdd_params, cache, CONF_BYTES, "128 MiB", 0, 1e12,
            "Bytes that may wait to be written."),
    HDD_ROW(hdd_params, write_queue, CONF_U32, "32", 0, HDD_MOST_QUEUE,
            "Writes that may wait; 0: a write is done when it is on the platter."),
    HDD_ROW(hdd_params, read_queue, CONF_U32, "32", 1, HDD_MOST_QUEUE,
            "Waiting reads of which the head takes the one that it reaches first (native command "
            "queueing); 1: first come, first served."),
    HDD_ROW(hdd_params, read_ahead, CONF_BYTES, "2 MiB", 0, 1e12,
            "Bytes that are read beyond a request."),
    CONF_END,
};

static bool hdd_open(struct dev *d, struct wr_err *err)
{
    const struct hdd_params *p = d->params;
    struct hdd_mech mech;
    struct wr_rng rng;

    if (!hdd_mech_open(&mech, p, err))
        return false;
    struct hdd *s = wr_zalloc(1, sizeof *s);

    wr_rng_init(&rng, d->seed, d->entity, HDD_PURPOSE);
    mech.phase_ps = (uint64_t)(wr_rng_unit(&rng) * (double)mech.turn_ps);
    s->mech = mech;
    d->priv = s;
    return true;
}

/* ---- reading ahead ---- */

/* Where reading ahead of a request that ends at `end_b` stops. */
static uint64_t hdd_seg_limit(const struct hdd *s, uint64_t end_b, uint64_t read_ahead)
{
    uint64_t limit = end_b + read_ahead;

    return dev_later(end_b, limit < s->mech.capacity ? limit : s->mech.capacity);
}

/* How far the segment reaches at time t. */
static uint64_t hdd_seg_reach(const struct hdd *s, uint64_t t)
{
    const struct hdd_segment *g = &s->seg;

    if (!g->live || t <= g->base_ps)
        return g->base_b;
    uint64_t all = g->limit_b - g->base_b, need = hdd_transfer_ps(&s->mech, g->base_b, all);

    if (t - g->base_ps >= need)
        return g->limit_b;
    return g->base_b + (uint64_t)((double)all * ((double)(t - g->base_ps) / (double)need));
}

/* The head leaves at time t; what was read stays. */
static void hdd_seg_cut(struct hdd *s, uint64_t t)
{
    if (!s->seg.live)
        return;
    uint64_t reach = hdd_seg_reach(s, t);

    assert(reach >= s->seg.base_b);
    s->mech.at_b = reach;
    s->seg.base_b = s->seg.limit_b = reach;
    s->seg.live = false;
}

/* Of what was read no more is kept than the cache holds. */
static void hdd_seg_forget(struct hdd_segment *g, uint64_t cache)
{
    if (g->base_b - g->first_b > cache)
        g->first_b = g->base_b - cache;
}

/* Is the head still reading on at time t? Once it has reached its limit it waits, and must be
 * placed anew. */
static bool hdd_seg_going(const struct hdd *s, uint64_t t)
{
    return s->seg.live && (hdd_seg_reach(s, t) < s->seg.limit_b || t <= s->seg.base_ps);
}

/* Does the segment serve a request at time t? */
static bool hdd_seg_has(const struct hdd *s, uint64_t t, const struct dev_req *r)
{
    const struct hdd_segment *g = &s->seg;

    return g->base_b && r->offset_b >= g->first_b && r->offset_b <= g->limit_b &&
           (r->offset_b + r->bytes <= hdd_seg_reach(s, t) || hdd_seg_going(s, t));
}

/* Does the segment serve the request? If so, *ret_at is when the platter has given all of it. */
static bool hdd_seg_serve(struct hdd *s, const struct hdd_params *p, const struct dev_req *r,
                          uint64_t *ret_at)
{
    struct hdd_segment *g = &s->seg;
    uint64_t end = r->offset_b + r->bytes, reach = hdd_seg_reach(s, r->t_ps);
    bool going = hdd_seg_going(s, r->t_ps);

    if (!hdd_seg_has(s, r->t_ps, r))
        return false;
    *ret_at = r->t_ps;
    if (end > reach) {
        *ret_at = g->base_ps + hdd_transfer_ps(&s->mech, g->base_b, end - g->base_b);
        g->base_b = end;
        g->base_ps = s->mech.free_ps = *ret_at;
        s->mech.at_b = end;
    }
    if (going)
        g->limit_b = dev_later(g->limit_b, hdd_seg_limit(s, end, p->read_ahead));
    hdd_seg_forget(g, p->cache);
    return true;
}

/* ---- writing behind ---- */

/* The write that the head reaches first, of those that are in at time t. */
static uint32_t hdd_nearest_write(const struct hdd *s, uint64_t t)
{
    uint64_t best = UINT64_MAX;
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->ndirty; i++) {
        if (s->dirty[i].in_ps > t)
            continue;
        uint64_t cost = hdd_position_ps(&s->mech, t, s->dirty[i].offset_b, true);

        if (cost < best) {
            best = cost;
            at = i;
        }
    }
    return at;
}

static uint64_t hdd_next_start(const struct hdd *s)
{
    uint64_t in = UINT64_MAX;

    for (uint32_t i = 0; i < s->ndirty; i++)
        in = s->dirty[i].in_ps < in ? s->dirty[i].in_ps : in;
    return dev_later(in, s->mech.free_ps);
}

/* Writes one; returns when the head began. */
static uint64_t hdd_write_one(struct hdd *s)
{
    uint64_t start = hdd_next_start(s);
    uint32_t i;

    assert(s->ndirty > 0);
    hdd_seg_cut(s, start);
    i = hdd_nearest_write(s, start);
    struct hdd_dirty w = s->dirty[i];

    /* In the order of arrival, so that ties are the oldest's. */
    s->ndirty--;
    memmove(&s->dirty[i], &s->dirty[i + 1], (s->ndirty - i) * sizeof w);
    s->dirty_b -= w.bytes;
    s->wrote_ps = hdd_access(&s->mech, start, w.offset_b, w.bytes, true);
    return start;
}

static void hdd_write_until(struct hdd *s, uint64_t t)
{
    while (s->ndirty && hdd_next_start(s) < t)
        hdd_write_one(s);
}

/* ---- requests ---- */

static bool hdd_is_dirty(const struct hdd *s, const struct dev_req *r)
{
    for (uint32_t i = 0; i < s->ndirty; i++) {
        const struct hdd_dirty *w = &s->dirty[i];

        if (r->offset_b >= w->offset_b && r->offset_b + r->bytes <= w->offset_b + w->bytes)
            return true;
    }
    return false;
}

/* The overhead of a command in the drive's queue passes while others are served. */
static uint64_t hdd_read(struct hdd *s, const struct hdd_params *p, const struct dev_req *r)
{
    uint64_t begin = dev_later(r->t_ps, r->t_ps - r->waited_ps + dev_ps(p->overhead));
    uint64_t over = dev_later(begin, s->link_ps) + dev_span_ps(r->bytes, p->interface);
    uint64_t at = r->t_ps, end = r->offset_b + r->bytes;

    if (!hdd_is_dirty(s, r) && !hdd_seg_serve(s, p, r, &at)) {
        hdd_seg_cut(s, dev_later(r->t_ps, s->mech.free_ps));
        at = hdd_access(&s->mech, begin, r->offset_b, r->bytes, false);
        s->seg =
            (struct hdd_segment){r->offset_b, end, at, hdd_seg_limit(s, end, p->read_ahead), true};
        hdd_seg_forget(&s->seg, p->cache);
    }
    s->link_ps = over;
    return dev_later(over, at);
}

static uint64_t hdd_write(struct hdd *s, const struct hdd_params *p, const struct dev_req *r)
{
    uint64_t space = r->t_ps, end = r->offset_b + r->bytes;

    if (r->offset_b < s->seg.limit_b && end > s->seg.first_b) {
        hdd_seg_cut(s, dev_later(r->t_ps, s->mech.free_ps));
        s->seg = (struct hdd_segment){0};
    }
    while (s->ndirty && (s->ndirty >= p->write_queue || s->dirty_b + r->bytes > p->cache))
        space = dev_later(space, hdd_write_one(s));
    uint64_t over = dev_later(dev_later(r->t_ps + dev_ps(p->overhead), space), s->link_ps) +
                    dev_span_ps(r->bytes, p->interface);

    s->link_ps = over;
    s->dirty[s->ndirty++] = (struct hdd_dirty){r->offset_b, r->bytes, over};
    s->dirty_b += r->bytes;
    if (p->write_queue && r->bytes <= p->cache)
        return over;
    hdd_write_one(s);
    return s->wrote_ps;
}

static uint64_t hdd_submit(struct dev *d, const struct dev_req *r)
{
    const struct hdd_params *p = d->params;
    struct hdd *s = d->priv;
    struct dev_req in = *r;

    /* Handlers never fail: what is beyond the end is taken from the beginning. */
    in.offset_b %= p->capacity;
    hdd_write_until(s, in.t_ps);
    uint64_t done = in.write ? hdd_write(s, p, &in) : hdd_read(s, p, &in);

    d->seeks = s->mech.seeks;
    return done;
}

static uint64_t hdd_flush(struct dev *d, uint64_t t_ps)
{
    struct hdd *s = d->priv;

    while (s->ndirty)
        hdd_write_one(s);
    return dev_later(t_ps, s->wrote_ps);
}

static uint32_t hdd_queue(const struct dev *d)
{
    return ((const struct hdd_params *)d->params)->read_queue;
}

/* Seek and rotation, or none where no platter or the one under the head is asked. */
static uint64_t hdd_reach_ps(const struct dev *d, uint64_t t_ps, const struct dev_req *r)
{
    const struct hdd_params *p = d->params;
    const struct hdd *s = d->priv;
    struct dev_req in = *r;

    in.offset_b %= p->capacity;
    if (hdd_is_dirty(s, &in) || hdd_seg_has(s, t_ps, &in))
        return 0;
    return hdd_position_ps(&s->mech, dev_later(t_ps, s->mech.free_ps), in.offset_b, false);
}

static double hdd_interface(const struct dev *d)
{
    return ((const struct hdd_params *)d->params)->interface;
}

const struct dev_ops dev_model_hdd = {
    .kind = {.name = "hdd",
             .summary = "hard disk: seek curve, zones, rotation, read-ahead, write queue, after "
                        "Parsons and Pai",
             .rows = hdd_rows,
             .params_size = sizeof(struct hdd_params)},
    .open = hdd_open,
    .submit = hdd_submit,
    .flush = hdd_flush,
    .interface_bps = hdd_interface,
    .queue = hdd_queue,
    .reach_ps = hdd_reach_ps,
};
