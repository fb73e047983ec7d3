/* darshan_records.c -- records of the modules, from their decompressed regions.
 *
 * Called by darshan_log.c once for each region. Every count that a record holds is checked against
 * the bytes that are left before anything is allocated for it.
 */
#include <string.h>

#include "darshan_priv.h"

/* ---- counters ---- */

static bool records_has(const struct darshan_counter *row, uint32_t version)
{
    return row->since <= version && (!row->until || version <= row->until);
}

static size_t records_size(const struct darshan_form *f, uint32_t version)
{
    size_t n = 2;

    for (uint32_t i = 0; i < f->count_rows; i++)
        n += records_has(&f->count[i], version);
    for (uint32_t i = 0; i < f->real_rows; i++)
        n += records_has(&f->real[i], version);
    return n * 8;
}

static bool records_take(struct darshan_log *log, const struct darshan_form *f, uint32_t version,
                         struct darshan_cursor *c, struct darshan_record *ret)
{
    int64_t *count = wr_arena_alloc(&log->arena, f->ncounts * sizeof *count);
    double *real = wr_arena_alloc(&log->arena, f->nreals * sizeof *real);
    bool keep = true;
    uint32_t n = 0;

    *ret = (struct darshan_record){.id = darshan_u64(c), .count = count, .real = real};
    ret->rank = darshan_i64(c);
    for (uint32_t i = 0; i < f->count_rows; i++) {
        const struct darshan_counter *row = &f->count[i];
        int64_t v = records_has(row, version) ? darshan_i64(c) : row->absent;

        if (!row->until)
            count[n++] = v;
        else if ((int)i == f->omit && v > 0)
            keep = false;
    }
    for (uint32_t i = 0; i < f->nreals; i++)
        real[i] = records_has(&f->real[i], version) ? darshan_real(c) : f->real[i].absent;
    return keep;
}

bool darshan_read_records(struct darshan_log *log, enum darshan_module m, struct darshan_cursor *c)
{
    const struct darshan_form *f = &darshan_forms[m];
    uint32_t version = log->module_version[m];
    size_t size = records_size(f, version);
    struct darshan_record r;

    while (darshan_left(c) >= size)
        if (records_take(log, f, version, c, &r))
            wr_vec_push(&log->records[m], r);
    return !darshan_left(c);
}

/* ---- bytes by time ---- */

/* Runtimes 3.4.0 to 3.4.3 could write a bin more or less for a rank than for the first one; as in
 * Darshan's own tools all have as many as the first. */
static uint32_t records_bins(const struct darshan_log *log, double width_s, uint32_t n)
{
    if (!log->heatmaps.n || log->heatmaps.v[0].width_s != width_s)
        return n;
    uint32_t first = log->heatmaps.v[0].nbins;

    return n == first + 1 || n + 1 == first ? first : n;
}

bool darshan_read_heatmaps(struct darshan_log *log, struct darshan_cursor *c)
{
    enum { FIXED = 6 * 8 }; /* the last two were pointers in the writer's memory */

    while (darshan_left(c) >= FIXED) {
        struct darshan_heatmap h = {.id = darshan_u64(c)};

        h.rank = darshan_i64(c);
        h.width_s = darshan_real(c);
        uint64_t n = darshan_u64(c);

        darshan_skip(c, 16);
        if (n > darshan_left(c) / 16 || !(h.width_s > 0 && h.width_s < 1e9))
            return false;
        h.nbins = records_bins(log, h.width_s, (uint32_t)n);
        int64_t *write = wr_arena_alloc(&log->arena, (h.nbins + 1) * sizeof *write);
        int64_t *read = wr_arena_alloc(&log->arena, (h.nbins + 1) * sizeof *read);

        /* Both hold one bin more than is kept. */
        for (uint64_t i = 0; i < n; i++)
            write[i] = darshan_i64(c);
        for (uint64_t i = 0; i < n; i++)
            read[i] = darshan_i64(c);
        h.write = write;
        h.read = read;
        wr_vec_push(&log->heatmaps, h);
    }
    return !darshan_left(c);
}

/* ---- requests one by one ---- */

enum { RECORDS_HOST = 64, RECORDS_TRACE = 3 * 8 + RECORDS_HOST + 2 * 8 };

static void records_take_segments(struct darshan_segment *s, uint64_t n, bool offsets, bool threads,
                                  struct darshan_cursor *c)
{
    for (uint64_t i = 0; i < n; i++, s++) {
        s->offset = darshan_i64(c);
        s->length = darshan_i64(c);
        s->start_s = darshan_real(c);
        s->end_s = darshan_real(c);
        s->thread = threads ? darshan_u64(c) : 0;
        if (!offsets)
            s->offset = -1;
    }
}

bool darshan_read_traces(struct darshan_log *log, enum darshan_module m, struct darshan_cursor *c)
{
    uint32_t version = log->module_version[m];
    bool threads = version >= (m == DARSHAN_DXT_POSIX ? 2 : 3);
    bool offsets = m == DARSHAN_DXT_POSIX || version > 1;
    size_t size = threads ? 40 : 32;

    while (darshan_left(c) >= RECORDS_TRACE) {
        struct darshan_trace t = {.module = m, .id = darshan_u64(c)};

        t.rank = darshan_i64(c);
        darshan_skip(c, 8);
        const char *host = (const char *)c->at;

        t.host = wr_arena_strndup(&log->arena, host, strnlen(host, RECORDS_HOST));
        darshan_skip(c, RECORDS_HOST);
        t.nwrites = darshan_u64(c);
        t.nreads = darshan_u64(c);
        uint64_t most = darshan_left(c) / size;

        if (t.nwrites > most || t.nreads > most - t.nwrites)
            return false;
        uint64_t n = t.nwrites + t.nreads;
        struct darshan_segment *s = wr_arena_alloc(&log->arena, (n + 1) * sizeof *s);

        records_take_segments(s, n, offsets, threads, c);
        t.segment = s;
        wr_vec_push(&log->traces, t);
    }
    return !darshan_left(c);
}

/* ---- layouts of Lustre ---- */

enum { RECORDS_POOL = 16, RECORDS_PART = DARSHAN_STRIPE_COUNTERS * 8 + RECORDS_POOL };

static int64_t *records_take_osts(struct darshan_log *log, uint64_t n, struct darshan_cursor *c)
{
    int64_t *ost = wr_arena_alloc(&log->arena, (n + 1) * sizeof *ost);

    for (uint64_t i = 0; i < n; i++)
        ost[i] = darshan_i64(c);
    return ost;
}

/* Version 1: OSTs, MDTs, first OST, size and count of stripes, then the OSTs; one part. */
static bool records_take_old_layout(struct darshan_log *log, struct darshan_layout *l,
                                    struct darshan_cursor *c)
{
    struct darshan_layout_part *p = wr_arena_alloc(&log->arena, sizeof *p);

    darshan_skip(c, 3 * 8);
    int64_t size = darshan_i64(c);
    uint64_t n = darshan_u64(c);

    if (c->bad || n > darshan_left(c) / 8)
        return false;
    *p = (struct darshan_layout_part){
        .count = {size, (int64_t)n, -1, -1, 0, -1, -1},
        .pool = "",
    };
    l->nparts = 1;
    l->nstripes = (uint32_t)n;
    l->part = p;
    l->ost = records_take_osts(log, n, c);
    return true;
}

/* Parts of size -1 were reserved and not used. */
static bool records_count_stripes(struct darshan_layout *l, uint64_t parts, uint64_t stripes)
{
    uint64_t n = 0;

    for (l->nparts = 0; l->nparts < parts; l->nparts++) {
        const int64_t *count = l->part[l->nparts].count;

        if (count[DARSHAN_STRIPE_SIZE] == -1)
            break;
        if (count[DARSHAN_STRIPE_COUNT] < 0 || (uint64_t)count[DARSHAN_STRIPE_COUNT] > stripes - n)
            return false;
        n += (uint64_t)count[DARSHAN_STRIPE_COUNT];
    }
    l->nstripes = (uint32_t)n;
    return true;
}

static bool records_take_layout(struct darshan_log *log, struct darshan_layout *l,
                                struct darshan_cursor *c)
{
    uint64_t parts = darshan_u64(c), stripes = darshan_u64(c);
    size_t left = darshan_left(c);

    if (c->bad || parts > left / RECORDS_PART || stripes > (left - parts * RECORDS_PART) / 8)
        return false;
    struct darshan_layout_part *part = wr_arena_alloc(&log->arena, (parts + 1) * sizeof *part);

    for (uint64_t i = 0; i < parts; i++) {
        for (int k = 0; k < DARSHAN_STRIPE_COUNTERS; k++)
            part[i].count[k] = darshan_i64(c);
        const char *pool = (const char *)c->at;

        part[i].pool = wr_arena_strndup(&log->arena, pool, strnlen(pool, RECORDS_POOL));
        darshan_skip(c, RECORDS_POOL);
    }
    l->part = part;
    l->ost = records_take_osts(log, stripes, c);
    return records_count_stripes(l, parts, stripes);
}

bool darshan_read_layouts(struct darshan_log *log, struct darshan_cursor *c)
{
    while (darshan_left(c)) {
        struct darshan_layout l = {.id = darshan_u64(c)};

        l.rank = darshan_i64(c);
        if (!(log->module_version[DARSHAN_LUSTRE] == 1 ? records_take_old_layout(log, &l, c)
                                                       : records_take_layout(log, &l, c)))
            return false;
        wr_vec_push(&log->layouts, l);
    }
    return true;
}
