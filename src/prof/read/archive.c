/* archive.c -- packs profiles into frames and unpacks them.
 *
 * A frame is checked before it is unpacked: its sizes bound what is allocated. Writers:
 * prof_collect.c; readers: profile_job.c.
 */
#include "prof/read/archive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/mem.h"

/* Bounds on an unpacked frame: a few bytes must not allocate gigabytes. Profiles are mostly zeros,
 * so high ratios are normal. */
enum { RAW_MOST = 256 << 20, RATIO_MOST = 1000, RAW_ANY = 65536, LEVEL = 1 };

static const char archive_magic[4] = {'W', 'P', 'R', 'A'};

/* The profile in the format of form.h, with parts as long as their content. */
static char *archive_lay_out(const struct prof_file *f, size_t *ret_len)
{
    assert(f->nnames >= PROF_ROW_FIRST && f->nslots <= PROF_SLOTS);
    struct prof_head h = f->head;

    h.names_max = h.names_n = f->nnames;
    h.slots_max = h.slots_n = f->nslots;
    h.log_max = (uint32_t)f->nrec;
    h.log_n = f->nrec;
    h.children_max = h.children_n = (uint32_t)f->nchildren;
    prof_lay_out(&h);
    *ret_len = prof_file_b(&h);
    if (*ret_len > RAW_MOST)
        return NULL;
    char *to = wr_zalloc(*ret_len, 1);

    memcpy(to, &h, sizeof h);
    memcpy(to + h.names_at, f->name, f->nnames * sizeof *f->name);
    for (uint32_t i = 0; i < f->nslots; i++) {
        const struct prof_thread_slot *from = &f->slot[i];
        struct prof_slot slot = {.tid = from->tid,
                                 .in_flight = from->in_flight,
                                 .want = from->want,
                                 .from_ns = from->from_ns,
                                 .edge_ns = from->edge_ns};
        char *at = to + h.slots_at + i * h.slot_b;

        memcpy(slot.jumps, from->jumps, sizeof slot.jumps);
        memcpy(slot.unplaced, from->unplaced, sizeof slot.unplaced);
        memcpy(slot.sizes, from->sizes, sizeof slot.sizes);
        memcpy(at, &slot, sizeof slot);
        memcpy(at + h.slot_b - f->nnames * sizeof *f->row, &f->row[(size_t)i * f->nnames],
               f->nnames * sizeof *f->row);
    }
    if (f->nrec)
        memcpy(to + h.log_at, f->rec, f->nrec * sizeof *f->rec);
    if (f->nchildren)
        memcpy(to + h.children_at, f->child, f->nchildren * sizeof *f->child);
    return to;
}

bool prof_archive_add(struct wr_str *to, const struct prof_file *f)
{
    struct prof_frame_head frame = {.order = PROF_ORDER};
    size_t raw_b;
    char *raw = archive_lay_out(f, &raw_b);

    if (!raw)
        return false;
    size_t bound = ZSTD_compressBound(raw_b);
    char *packed = wr_alloc(bound);
    size_t n = ZSTD_compress(packed, bound, raw, raw_b, LEVEL);
    bool ok = !ZSTD_isError(n) && raw_b <= RAW_ANY + (uint64_t)RATIO_MOST * n;

    memcpy(frame.magic, archive_magic, sizeof frame.magic);
    frame.raw_b = (uint32_t)raw_b;
    frame.packed_b = (uint32_t)n;
    if (ok) {
        wr_str_addn(to, (const char *)&frame, sizeof frame);
        wr_str_addn(to, packed, n);
    }
    free(packed);
    free(raw);
    return ok;
}

bool prof_archive_next(struct prof_file *ret, const char *name, const char *bytes, size_t len,
                       size_t *at, struct wr_err *err)
{
    assert(*at <= len);
    struct prof_frame_head frame;

    if (len - *at < sizeof frame)
        return false;
    memcpy(&frame, bytes + *at, sizeof frame);
    if (memcmp(frame.magic, archive_magic, sizeof frame.magic) || frame.order != PROF_ORDER ||
        frame.packed_b > len - *at - sizeof frame || frame.raw_b > RAW_MOST ||
        frame.raw_b > RAW_ANY + (uint64_t)RATIO_MOST * frame.packed_b)
        return false;
    char *raw = wr_alloc(frame.raw_b + 1u);
    size_t n = ZSTD_decompress(raw, frame.raw_b, bytes + *at + sizeof frame, frame.packed_b);

    *at += sizeof frame + frame.packed_b;
    if (ZSTD_isError(n) || n != frame.raw_b)
        wr_fail(err, WR_INPUT, "%s is damaged: a profile in it cannot be unpacked; leave it out",
                name);
    else
        prof_file_parse(ret, name, raw, n, err);
    free(raw);
    return true;
}
