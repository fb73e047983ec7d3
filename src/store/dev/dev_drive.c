/* dev_drive.c -- a closed loop around one device: `depth` requests are always outstanding.
 *
 * `weir dev` and the fit of a device (store/fit/) call it. Random records are keyed by the device's
 * seed, so the same device and load give the same times.
 */
#include "store/dev/dev_drive.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/rng.h"

enum { DRIVE_PURPOSE = 0x64726976 }; /* "driv": which record is next */

const struct dev_load dev_loads[DEV_LOADS] = {
    {"sequential read", 512 << 10, false, false},
    {"sequential write", 512 << 10, true, false},
    {"random read", 4 << 10, false, true},
    {"random write", 4 << 10, true, true},
};

const struct conf_text dev_shipped[] = {
#include "device_sets.inc"
    {NULL, NULL},
};

static const struct conf_row file_rows[] = {
    {.key = "size",
     .type = CONF_BYTES,
     .offset = offsetof(struct dev_file, size),
     .def = "512 MB",
     .min = 512 << 10,
     .max = 1e11,
     .help = "Size of the file that is read and written; at least one record of 512 KiB."},
    {.key = "extents",
     .type = CONF_U32,
     .offset = offsetof(struct dev_file, extents),
     .def = "1",
     .min = 1,
     .max = 1024,
     .help = "Pieces of the same size that the file is in."},
    {.key = "apart",
     .type = CONF_BYTES,
     .offset = offsetof(struct dev_file, apart),
     .def = "0 B",
     .min = 0,
     .max = 1e15,
     .help = "From the beginning of one piece to that of the next; 0: without a gap."},
    CONF_END,
};

const struct conf_row dev_set_rows[] = {
    {.key = "title",
     .type = CONF_STRING,
     .offset = offsetof(struct dev_set, title),
     .def = "",
     .help = "What the device is called in words."},
    {.key = "device",
     .type = CONF_PLUGIN,
     .offset = offsetof(struct dev_set, device),
     .kinds = dev_kinds,
     .files = &dev_files,
     .help = "The device's model and its parameters."},
    {.key = "file",
     .type = CONF_SECTION,
     .offset = offsetof(struct dev_set, file),
     .def = "",
     .help = "Where the records lie that `weir dev` reads and writes.",
     .rows = file_rows},
    CONF_END,
};

const struct conf_files dev_files = {
    .key = "device",
    .rows = dev_set_rows,
    .shipped = dev_shipped,
    .help = "`weir dev fit DEVICE MEASURED -o FILE` writes one, and a model of `weir state fit` is "
            "`{kind: state, model: FILE}`",
};

static uint64_t drive_extent_b(const struct dev_file *f)
{
    return f->size / f->extents;
}

bool dev_file_check(const struct dev_file *f, struct wr_err *err)
{
    if (f->extents > 1 && f->apart && f->apart < drive_extent_b(f))
        return wr_fail(err, WR_INPUT,
                       "pieces of %llu B do not fit %llu B apart; raise file.apart or "
                       "file.extents",
                       (unsigned long long)drive_extent_b(f), (unsigned long long)f->apart);
    if (drive_extent_b(f) < 512 << 10)
        return wr_fail(err, WR_INPUT,
                       "%u pieces of the file have less than one record of 512 KiB each; lower "
                       "file.extents",
                       f->extents);
    return true;
}

/* Records do not cross from one piece to the next: each holds whole ones. */
static uint64_t drive_record_offset(const struct dev_file *f, uint64_t record_b, uint64_t nth)
{
    uint64_t each = drive_extent_b(f) / record_b, apart = f->apart ? f->apart : each * record_b;

    assert(each > 0);
    return nth / each * apart + nth % each * record_b;
}

static uint32_t drive_earliest(const uint64_t *done, uint32_t n)
{
    uint32_t at = 0;

    for (uint32_t i = 1; i < n; i++)
        if (done[i] < done[at])
            at = i;
    return at;
}

void dev_drive(struct dev *d, const struct dev_file *f, const struct dev_load *load, uint32_t depth,
               struct dev_result *ret)
{
    dev_drive_some(d, f, load, depth, UINT64_MAX, ret);
}

/* A loop under way: the next record, and how many are still to come. */
struct drive {
    struct dev *d;
    const struct dev_file *f;
    const struct dev_load *load;
    uint32_t depth;        /* requests in flight */
    uint64_t records;      /* of the file */
    uint64_t requests, at; /* still to come; the next record of a sequential load */
    struct wr_rng rng;     /* of a random one */
    struct wr_hist *latency_ps;
};

static struct dev_req drive_next(struct drive *v, uint64_t t_ps)
{
    uint64_t nth = v->load->random ? wr_rng_below(&v->rng, (uint32_t)v->records) : v->at;

    v->at++;
    return (struct dev_req){.t_ps = t_ps,
                            .offset_b = drive_record_offset(v->f, v->load->record_b, nth),
                            .bytes = v->load->record_b,
                            .write = v->load->write};
}

/* The device says at once when each is done. Returns when the last one is. */
static uint64_t drive_in_turn(struct drive *v)
{
    uint64_t done[DEV_MOST_DEPTH] = {0}, last = 0;

    while (v->at < v->requests) {
        uint64_t *slot = &done[drive_earliest(done, v->depth)];
        struct dev_req r = drive_next(v, *slot);

        *slot = dev_submit(v->d, &r);
        last = *slot > last ? *slot : last;
        wr_hist_add(v->latency_ps, *slot - r.t_ps);
    }
    return last;
}

/* The device chooses the next of the oldest that wait, each time when one is done. */
static uint64_t drive_by_choice(struct drive *v)
{
    struct dev_req wait[DEV_MOST_DEPTH];
    uint64_t now = 0, seen[DEV_MOST_DEPTH]; /* at which turn the device saw it first */
    uint32_t n = 0, shown = 0, queue = dev_queue(v->d);

    for (uint64_t turn = 0;; turn++) {
        while (n < v->depth && v->at < v->requests)
            wait[n++] = drive_next(v, now);
        if (!n)
            return now;
        while (shown < n && shown < queue)
            seen[shown++] = turn;
        uint32_t i = dev_choose(v->d, now, wait, shown, turn - seen[0]);
        struct dev_req r = wait[i];

        n--;
        shown--;
        memmove(&wait[i], &wait[i + 1], (n - i) * sizeof *wait);
        memmove(&seen[i], &seen[i + 1], (shown - i) * sizeof *seen);
        r.waited_ps = now - r.t_ps;
        r.t_ps = now;
        now = dev_submit(v->d, &r);
        wr_hist_add(v->latency_ps, now - r.t_ps + r.waited_ps);
    }
}

void dev_drive_some(struct dev *d, const struct dev_file *f, const struct dev_load *load,
                    uint32_t depth, uint64_t most, struct dev_result *ret)
{
    uint64_t records = drive_extent_b(f) / load->record_b * f->extents;
    struct drive v = {.d = d,
                      .f = f,
                      .load = load,
                      .depth = depth,
                      .records = records,
                      .requests = records < most ? records : most,
                      .latency_ps = &ret->latency_ps};
    bool choice = !load->write && depth > 1 && dev_queue(d) > 1;

    assert(f->extents > 0 && load->record_b > 0);
    assert(depth && depth <= DEV_MOST_DEPTH && records && records <= UINT32_MAX);
    memset(ret, 0, sizeof *ret);
    wr_rng_init(&v.rng, d->seed, d->entity, DRIVE_PURPOSE);
    uint64_t last = choice ? drive_by_choice(&v) : drive_in_turn(&v);

    ret->requests = v.requests;
    ret->bytes = v.requests * load->record_b;
    ret->elapsed_ps = load->write ? dev_flush(d, last) : last;
}
