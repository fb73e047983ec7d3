/* store_audit.c -- an account of every byte that clients write, for builds with WEIR_CHECK.
 *
 *   asked (a client)      wrote (a site)     sent              came
 *   [lo,hi) of a file --> BUFFER ----------> SENT -----------> BEYOND
 *                     \-> BEYOND             ^-- write-through: SENT at once
 *
 * Owns, for each site and each client, which bytes were ever written there and where the newest of
 * them are. Its input is what happens, never the counters of a buffer: buffers count, evict and
 * forget without it. At the end of a run
 *  1. every byte that a client asked to write was written at its site;
 *  2. what is in a buffer alone is there and dirty, and there is no more that is dirty;
 *  3. nothing is still in transfer;
 *  4. a buffer has absorbed exactly what was written again while it was there alone.
 */
#include "store_priv.h"

#ifdef WEIR_CHECK

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { AUDIT_CAP = 1 << 26, AUDIT_BUCKETS = 1 << 14, AUDIT_ASKED = 1 };

/* A block of a file at a site, or (`client`) at a node that asked. */
struct audit_block {
    uint32_t bucket, all; /* next ones */
    uint32_t place;       /* the site, or the node */
    uint32_t ranges;      /* which of its bytes are where; tags AUDIT_... */
    uint16_t app;
    bool client;
    int64_t file;
    uint64_t block;
};

/* The counters of a buffer, counted a second time. */
struct audit_site {
    uint64_t in_b, absorbed_b;
};

/* The account of a partition; changes with every block that is moved. */
struct store_audit {
    struct wr_pool blocks, ranges;
    uint32_t bucket[AUDIT_BUCKETS]; /* of blocks, by file and place */
    uint32_t all;                   /* the list of all blocks */
    bool away;                      /* another process executes the partition, and checks it */
    struct audit_site *site;        /* [nsites] */
    struct store_bytes twice; /* the first that were sent on and not in the buffer; bytes 0: none */
};

void store_audit_open(struct store *s)
{
    struct store_audit *a = s->audit = wr_zalloc(1, sizeof *a);

    wr_pool_init(&a->blocks, "blocks in the account of bytes", sizeof(struct audit_block),
                 AUDIT_CAP);
    wr_pool_init(&a->ranges, "ranges in the account of bytes", sizeof(struct store_range),
                 AUDIT_CAP);
    memset(a->bucket, 0xff, sizeof a->bucket);
    a->all = WR_NIL;
    a->site = wr_zalloc(s->nsites ? s->nsites : 1, sizeof *a->site);
}

void store_audit_close(struct store *s)
{
    if (!s->audit)
        return;
    wr_pool_fini(&s->audit->blocks);
    wr_pool_fini(&s->audit->ranges);
    free(s->audit->site);
    free(s->audit);
    s->audit = NULL;
}

void store_audit_away(struct store *s)
{
    if (s->audit)
        s->audit->away = true;
}

static struct audit_block *audit_at(const struct store_audit *a, uint32_t h)
{
    return wr_pool_at(&a->blocks, h);
}

static uint32_t *audit_bucket(struct store_audit *a, const struct audit_block *k)
{
    uint64_t h = store_hash(k->app, k->file) + store_mix(k->block * 2 + k->client) + k->place;

    return &a->bucket[store_mix(h) % AUDIT_BUCKETS];
}

static struct audit_block *audit_find(struct store_audit *a, const struct audit_block *k)
{
    for (uint32_t h = *audit_bucket(a, k); h != WR_NIL; h = audit_at(a, h)->bucket) {
        struct audit_block *b = audit_at(a, h);

        if (b->block == k->block && b->file == k->file && b->app == k->app &&
            b->place == k->place && b->client == k->client)
            return b;
    }
    return NULL;
}

static struct audit_block *audit_block(struct store_audit *a, const struct audit_block *k)
{
    struct audit_block *b = audit_find(a, k);

    if (b)
        return b;
    uint32_t h = wr_pool_take(&a->blocks), *bucket = audit_bucket(a, k);

    b = audit_at(a, h);
    *b = *k;
    b->ranges = WR_NIL;
    b->bucket = *bucket;
    *bucket = h;
    b->all = a->all;
    a->all = h;
    return b;
}

/* What a range is in: it lies within one block. */
static struct audit_block audit_key(const struct store *s, const struct store_bytes *b, bool client)
{
    return (struct audit_block){.place = b->place,
                                .app = b->app,
                                .client = client,
                                .file = b->file,
                                .block = b->at / s->p.block_b};
}

/* ---- what happens ---- */

void store_audit_asked(struct store *s, const struct store_task *t)
{
    for (uint64_t at = t->offset, end = t->offset + t->bytes; at < end;) {
        uint64_t lo = at % s->p.block_b, rest = s->p.block_b - lo;
        struct store_bytes b = {t->node, t->app, t->file, at, end - at < rest ? end - at : rest};
        struct audit_block k = audit_key(s, &b, true);

        store_range_set(&s->audit->ranges, &audit_block(s->audit, &k)->ranges, lo, lo + b.bytes,
                        AUDIT_ASKED);
        at += b.bytes;
    }
}

void store_audit_wrote(struct store *s, const struct store_bytes *b, enum store_whereabouts to)
{
    struct store_audit *a = s->audit;
    struct audit_block k = audit_key(s, b, false), *at = audit_block(a, &k);
    uint64_t lo = b->at % s->p.block_b, hi = lo + b->bytes;

    a->site[b->place].in_b += to == AUDIT_BUFFER ? b->bytes : 0;
    a->site[b->place].absorbed_b += store_range_bytes(&a->ranges, at->ranges, lo, hi, AUDIT_BUFFER);
    store_range_set(&a->ranges, &at->ranges, lo, hi, to);
}

void store_audit_sent(struct store *s, const struct store_bytes *b)
{
    struct store_audit *a = s->audit;
    struct audit_block k = audit_key(s, b, false), *at = audit_block(a, &k);
    uint64_t lo = b->at % s->p.block_b, hi = lo + b->bytes;

    if (store_range_bytes(&a->ranges, at->ranges, lo, hi, AUDIT_BUFFER) < b->bytes &&
        !a->twice.bytes)
        a->twice = *b;
    store_range_turn(&a->ranges, &at->ranges, lo, hi, AUDIT_BUFFER, AUDIT_SENT);
}

void store_audit_came(struct store *s, const struct store_bytes *b)
{
    struct audit_block k = audit_key(s, b, false);
    uint64_t lo = b->at % s->p.block_b;

    store_range_turn(&s->audit->ranges, &audit_block(s->audit, &k)->ranges, lo, lo + b->bytes,
                     AUDIT_SENT, AUDIT_BEYOND);
}

/* ---- whether it adds up ---- */

static bool audit_fail(const struct store *s, const struct audit_block *b,
                       const struct store_range *r, const char *what, struct wr_err *err)
{
    uint64_t at = b->block * s->p.block_b;

    return wr_fail(err, WR_BUG,
                   "storage: bytes %" PRIu64 " to %" PRIu64 " of file %" PRId64
                   " of job %u, written at node %u, %s; please report it",
                   at + r->lo, at + r->hi, b->file, b->app,
                   b->client ? b->place : s->site[b->place].node, what);
}

/* The bytes of a site's object that have a record; all of them, where it was not executed. */
static uint64_t audit_written(const struct store *s, const struct store_bytes *b)
{
    const struct store *at =
        s->partitions ? s->partitions->all[s->partitions->partition_of[s->site[b->place].node]] : s;
    struct audit_block k = audit_key(s, b, false), *found = audit_find(at->audit, &k);
    uint64_t lo = b->at % s->p.block_b;

    if (at->audit->away)
        return b->bytes;
    return found ? store_range_bytes(&at->audit->ranges, found->ranges, lo, lo + b->bytes,
                                     STORE_RANGE_ANY)
                 : 0;
}

/* 1: cut where stripes and blocks of the site's object end. */
static bool audit_check_asked(const struct store *s, const struct audit_block *b,
                              const struct store_range *r, struct wr_err *err)
{
    uint64_t at = b->block * s->p.block_b + r->lo, end = b->block * s->p.block_b + r->hi;

    while (at < end) {
        struct store_bytes x = {s->local[b->place], b->app, b->file, at, end - at};
        uint64_t stripe = s->p.stripe.size_b - at % s->p.stripe.size_b, rest;

        if (s->arch != STORE_LOCAL)
            x.place = store_place(s, b->place, b->app, b->file, at, &x.at);
        rest = s->p.block_b - x.at % s->p.block_b;
        x.bytes = x.bytes < stripe ? x.bytes : stripe;
        x.bytes = x.bytes < rest ? x.bytes : rest;
        if (audit_written(s, &x) < x.bytes)
            return audit_fail(s, b, r, "were not all written by storage", err);
        at += x.bytes;
    }
    return true;
}

/* 2 and 3 */
static bool audit_check_range(const struct store *s, const struct audit_block *b,
                              const struct store_range *r, struct wr_err *err)
{
    if (r->tag == AUDIT_SENT)
        return audit_fail(s, b, r, "never came to where they were sent", err);
    if (r->tag == AUDIT_BUFFER &&
        store_buf_dirty(s, b->place, b->app, b->file, b->block * s->p.block_b + r->lo,
                        r->hi - r->lo) < r->hi - r->lo)
        return audit_fail(s, b, r, "are neither on a device beyond its buffer nor dirty in it",
                          err);
    return true;
}

static bool audit_check_blocks(const struct store *s, uint64_t *dirty_b, struct wr_err *err)
{
    const struct store_audit *a = s->audit;

    for (uint32_t h = a->all; h != WR_NIL; h = audit_at(a, h)->all) {
        const struct audit_block *b = audit_at(a, h);

        for (uint32_t i = b->ranges; i != WR_NIL; i = store_range(&a->ranges, i)->next) {
            const struct store_range *r = store_range(&a->ranges, i);

            if (!(b->client ? audit_check_asked : audit_check_range)(s, b, r, err))
                return false;
            if (!b->client && r->tag == AUDIT_BUFFER)
                dirty_b[b->place] += r->hi - r->lo;
        }
    }
    return true;
}

/* 2 and 4 */
static bool audit_check_site(const struct store *s, uint32_t i, uint64_t dirty_b,
                             struct wr_err *err)
{
    const struct store_buf *b = &s->site[i].buf;
    const struct audit_site *a = &s->audit->site[i];

    if (!b->track || (s->partitions && s->partitions->partition_of[s->site[i].node] != s->me))
        return true;
    if (b->dirty_b != dirty_b || b->inflight_b || b->absorbed_b != a->absorbed_b ||
        (!s->p.buffer.write_through && b->in_b != a->in_b))
        return wr_fail(err, WR_BUG,
                       "storage: the buffer of node %u counts %" PRIu64 " B in, %" PRIu64
                       " B dirty and %" PRIu64 " B absorbed; byte by byte they are %" PRIu64
                       ", %" PRIu64 " and %" PRIu64 "; please report it",
                       s->site[i].node, b->in_b, b->dirty_b + b->inflight_b, b->absorbed_b, a->in_b,
                       dirty_b, a->absorbed_b);
    return true;
}

static bool audit_check_partition(const struct store *s, struct wr_err *err)
{
    const struct store_bytes *twice = &s->audit->twice;
    uint64_t *dirty_b = wr_zalloc(s->nsites ? s->nsites : 1, sizeof *dirty_b);
    bool ok = audit_check_blocks(s, dirty_b, err);

    for (uint32_t i = 0; ok && i < s->nsites; i++)
        ok = audit_check_site(s, i, dirty_b[i], err);
    free(dirty_b);
    if (ok && twice->bytes)
        return wr_fail(err, WR_BUG,
                       "storage: node %u drained bytes %" PRIu64 " to %" PRIu64 " of file %" PRId64
                       " of job %u, which were not dirty in its buffer; please report it",
                       s->site[twice->place].node, twice->at, twice->at + twice->bytes, twice->file,
                       twice->app);
    return ok;
}

bool store_audit_check(const struct store *s, struct wr_err *err)
{
    for (uint32_t i = 0; i < store_partitions(s); i++)
        if (!store_each(s, i)->audit->away && !audit_check_partition(store_each(s, i), err))
            return false;
    return true;
}

#else

/* A file has something in it. */
typedef int store_audit_is_off;

#endif
