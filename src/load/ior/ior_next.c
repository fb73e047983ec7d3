/* ior_next.c -- the next operation of a rank of IOR: repetitions of phases of steps of transfers.
 *
 * The only state is the position of the rank (struct ior_rank). Random orders are permutations
 * computed for any index (a Feistel network with cycle walking), not tables. load_ior.c and the
 * file-system simulation call it.
 */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "ior.h"

enum { PHASE_WRITE, PHASE_CHECK_WRITE, PHASE_READ, PHASE_CHECK_READ, PHASES };
enum {
    STEP_DELAY,
    STEP_TOGETHER,
    STEP_OPEN,
    STEP_OPENED,
    STEP_TRANSFER,
    STEP_TRANSFERRED,
    STEP_FSYNC,
    STEP_CLOSE,
    STEP_CLOSED,
    STEP_MARK,
    STEPS
};

enum { PURPOSE_SHIFT = 0x696f7230, PURPOSE_ORDER = 0x696f7231 }; /* "ior0", "ior1" */
static const uint64_t ps_per_s = 1000000000000;

void ior_rank_init(struct ior_rank *r, uint32_t rank)
{
    *r = (struct ior_rank){.rank = rank, .as = rank};
}

static bool ior_has_phase(const struct ior_test *t, uint8_t phase)
{
    const bool has[PHASES] = {t->write, t->check_write, t->read, t->check_read};

    return has[phase];
}

static uint8_t ior_first_phase(const struct ior_test *t)
{
    uint8_t phase = 0;

    assert(t->write || t->check_write || t->read || t->check_read);
    while (!ior_has_phase(t, phase))
        phase++;
    return phase;
}

/* ---- a permutation of 0..n-1, by place ---- */

static uint64_t ior_feistel(uint64_t x, unsigned half, const uint32_t key[4])
{
    uint64_t mask = (1ull << half) - 1, left = x >> half, right = x & mask;

    for (int i = 0; i < 4; i++) {
        uint64_t f = (right + key[i]) * 0x9e3779b97f4a7c15;
        uint64_t next = left ^ ((f ^ f >> 29) >> 7 & mask);

        left = right;
        right = next;
    }
    return left << half | right;
}

static uint64_t ior_permute(uint64_t place, uint64_t n, const uint32_t key[4])
{
    unsigned half = 1;

    assert(place < n);
    while (half < 31 && 1ull << 2 * half < n)
        half++;
    do
        place = ior_feistel(place, half, key);
    while (place >= n);
    return place;
}

/* ---- where ---- */

/* The rank whose data this phase accesses: with -C and -Z readers read what other ranks wrote, so
 * that no cache helps them. */
static uint32_t ior_data_owner(const struct ior_test *t, const struct ior_where *w,
                               const struct ior_rank *r)
{
    uint64_t n = w->ntasks, shift = 0;

    if (r->phase == PHASE_WRITE)
        return r->rank;
    if (t->reorder) {
        int64_t by = r->phase == PHASE_CHECK_WRITE ? 2 : t->task_offset;
        int64_t m = by % (int64_t)n * (int64_t)(w->per_node % n) % (int64_t)n;

        shift = (uint64_t)(m < 0 ? m + (int64_t)n : m);
    } else if (t->reorder_random) {
        struct wr_rng rng;

        wr_rng_init(&rng, w->seed + (uint64_t)t->seed, r->rank, PURPOSE_SHIFT);
        shift = wr_rng_below(&rng, w->ntasks);
    }
    return (uint32_t)((r->rank + shift) % n);
}

/* Files are numbers: of the test's name, then of the repetition and the task. */
static int64_t ior_file_number(const struct ior_test *t, const struct ior_where *w,
                               const struct ior_rank *r)
{
    uint32_t h = wr_hash32_text(t->file);
    uint64_t i = t->multi_file ? (uint64_t)r->rep : 0;

    if (t->file_per_task)
        i = i * w->ntasks + r->as;
    return (int64_t)((uint64_t)(h >> 4) << 32 | (i & UINT32_MAX));
}

static uint64_t ior_offset(const struct ior_test *t, const struct ior_where *w,
                           const struct ior_rank *r)
{
    uint64_t b = (uint64_t)t->block, x = (uint64_t)t->transfer, n = b / x;
    uint64_t tasks = t->file_per_task ? 1 : w->ntasks, task = t->file_per_task ? 0 : r->as;
    uint64_t place = task * n + (uint64_t)r->transfer;

    assert(t->block >= t->transfer);
    if (t->random_offset) {
        uint32_t key[4];
        struct wr_rng rng;

        /* The order in a shared file is one permutation of the transfers of all tasks. */
        wr_rng_init(&rng, w->seed + (uint64_t)t->seed + (uint64_t)t->offset_seed + 1,
                    t->file_per_task ? r->as : 0, PURPOSE_ORDER);
        for (int i = 0; i < 4; i++)
            key[i] = wr_rng_u32(&rng);
        place = ior_permute(place, n * tasks, key);
    }
    return (uint64_t)r->segment * tasks * b + place * x;
}

/* ---- steps ---- */

/* DUMMY does everything but I/O. */
static bool ior_is_dummy(const struct ior_test *t)
{
    return !strcmp(t->api, "DUMMY");
}

static bool ior_transfers_left(const struct ior_test *t, const struct ior_rank *r, uint64_t now_ps)
{
    if (r->segment >= t->segments || !t->block || ior_is_dummy(t))
        return false;
    return !t->deadline_s || now_ps - r->t_start_ps < (uint64_t)t->deadline_s * ps_per_s;
}

static void ior_advance(const struct ior_test *t, struct ior_rank *r)
{
    if (++r->transfer < t->block / t->transfer)
        return;
    r->transfer = 0;
    r->segment++;
}

/* All is done before the time that a phase takes at least: it begins again, unless no time passes.
 */
static bool ior_restart_phase(const struct ior_test *t, struct ior_rank *r, uint64_t now_ps)
{
    if (r->segment < t->segments || now_ps <= r->t_pass_ps ||
        (now_ps - r->t_start_ps) / ps_per_s >= (uint64_t)t->least_s)
        return false;
    r->segment = r->transfer = 0;
    r->t_pass_ps = now_ps;
    return true;
}

/* The operation of the current step, or IOR_END when it has none; the rank stays on a
 * step while it has more to do. */
static enum ior_op ior_step(const struct ior_test *t, const struct ior_where *w, struct ior_rank *r,
                            uint64_t now_ps, struct ior_event *ev)
{
    bool writes = r->phase == PHASE_WRITE;

    switch (r->step) {
    case STEP_DELAY:
        ev->seconds = (uint64_t)t->delay_s;
        r->step++;
        return r->rep && t->delay_s && r->phase == ior_first_phase(t) ? IOR_SLEEP : IOR_END;
    case STEP_OPENED:
    case STEP_TRANSFERRED:
        r->step++;
        return t->barriers ? IOR_BARRIER : IOR_END;
    case STEP_TOGETHER:
    case STEP_CLOSED:
        r->step++;
        return IOR_BARRIER;
    case STEP_OPEN:
        r->segment = r->transfer = 0;
        r->began = false;
        r->step++;
        return IOR_OPEN;
    case STEP_TRANSFER:
        if (r->flush_next) {
            r->flush_next = false;
            return IOR_FLUSH;
        }
        if (!r->began)
            r->t_start_ps = r->t_pass_ps = now_ps;
        r->began = true;
        if (!ior_transfers_left(t, r, now_ps) &&
            (!ior_restart_phase(t, r, now_ps) || !ior_transfers_left(t, r, now_ps))) {
            r->step++;
            return IOR_END;
        }
        ev->bytes = (uint64_t)t->transfer;
        ev->offset = ior_offset(t, w, r);
        ior_advance(t, r);
        r->flush_next = writes && t->fsync_each;
        return writes ? IOR_WRITE : IOR_READ;
    case STEP_FSYNC:
        r->step++;
        return writes && t->fsync ? IOR_FLUSH : IOR_END;
    case STEP_CLOSE:
        r->step++;
        return IOR_CLOSE;
    default:
        ev->mark = r->mark++;
        r->step = STEPS;
        return IOR_MARK;
    }
}

/* To the next phase that the test has; false when there is none. */
static bool ior_next_phase(const struct ior_test *t, struct ior_rank *r)
{
    do {
        r->step = 0;
        if (++r->phase == PHASES) {
            r->phase = 0;
            r->rep++;
        }
        if (r->rep >= t->reps)
            return false;
    } while (!ior_has_phase(t, r->phase));
    return true;
}

enum ior_op ior_next(const struct ior_test *t, const struct ior_where *w, struct ior_rank *r,
                     uint64_t now_ps, struct ior_event *ev)
{
    assert(w->ntasks && t->transfer > 0);
    *ev = (struct ior_event){0};
    if (r->rank >= w->ntasks || r->rep >= t->reps)
        return IOR_END;
    for (;;) {
        if (r->step == STEPS || !ior_has_phase(t, r->phase)) {
            if (!ior_next_phase(t, r)) {
                r->rep = t->reps;
                return IOR_END;
            }
        }
        r->as = ior_data_owner(t, w, r);
        ev->file = ior_file_number(t, w, r);
        ev->writes = r->phase == PHASE_WRITE;
        ev->op = ior_step(t, w, r, now_ps, ev);
        if (ev->op == IOR_END)
            continue;
        if (ior_is_dummy(t) && ev->op >= IOR_OPEN && ev->op <= IOR_CLOSE)
            continue;
        return ev->op;
    }
}
