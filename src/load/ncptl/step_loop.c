/* step_loop.c -- loops.
 *
 * A counted loop keeps two words: 2 * (iterations left) + (warming up?), and the
 * number of operations this rank had done when the iteration began. A rank that
 * did nothing in an iteration of a steady loop does nothing in the others either,
 * and leaves the loop at once.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "step_priv.h"

enum { WARMING = 1 };

static const int64_t most_iterations = (int64_t)1 << 61;

/* ---- warming up: counters and clock stand still ---- */

static void loop_warm_begin(struct ncptl_rank *r)
{
    if (r->warm++)
        return;
    struct nc_saved *frozen = wr_alloc(sizeof *frozen);

    *frozen = (struct nc_saved){.counters = r->counters, .at_ps = r->now_ps};
    nc_cold(r)->frozen = frozen;
}

static void loop_warm_end(struct ncptl_rank *r)
{
    assert(r->warm && (r->warm > 1 || nc_cold(r)->frozen));
    if (--r->warm)
        return;
    struct nc_saved *frozen = nc_cold(r)->frozen;

    r->counters = frozen->counters;
    r->counters.start_ps += r->now_ps - frozen->at_ps;
    free(frozen);
    nc_cold(r)->frozen = NULL;
}

/* The synchronization after the warmup; not part of it in event dumps. */
static enum nc_did loop_all_barrier(struct nc_step *s)
{
    enum nc_did did;

    assert(s->r->warm);
    s->r->warm--;
    did = nc_yield(s, NCPTL_BARRIER, 0);
    s->r->warm++;
    s->ev->group =
        (struct ncptl_group){.n = s->p->n, .step = 1, .hole = UINT32_MAX, .key = s->p->all_key};
    return did;
}

/* ---- FOR n REPETITIONS ---- */

static void loop_set_left(struct nc_step *s, int64_t left, int64_t warming)
{
    if (left > most_iterations)
        left = most_iterations;
    if (s->r->fold && s->in->steady) {
        s->r->weight *= (double)left;
        left = 1;
    }
    s->r->slot[s->in->slot] = left * 2 + warming;
    s->r->slot[s->in->slot + 1] = (int64_t)s->r->nops;
}

/* In: at the head or at the end of the loop. */
static enum nc_did loop_enter(struct nc_step *s, const struct nc_ins *head, int64_t left,
                              int64_t warming)
{
    struct ncptl_rank *r = s->r;
    uint32_t at = (uint32_t)(head - s->p->code);

    r->phase = 0;
    if (left <= 0) {
        r->pc = head->jump;
        return NC_GO;
    }
    loop_set_left(s, left, warming);
    r->pc = at + 1;
    return NC_GO;
}

/* The warmup (of any length, also none) is over. */
static enum nc_did loop_after_warmup(struct nc_step *s, const struct nc_ins *head)
{
    if (s->in->sync && !s->r->phase) {
        s->r->phase = 1;
        return loop_all_barrier(s);
    }
    loop_warm_end(s->r);
    return loop_enter(s, head, nc_int(s->e, s->in->e), 0);
}

enum nc_did nc_step_loop(struct nc_step *s)
{
    int64_t warmups;

    if (!s->in->e2)
        return loop_enter(s, s->in, nc_int(s->e, s->in->e), 0);
    if (s->r->phase)
        return loop_after_warmup(s, s->in);
    loop_warm_begin(s->r);
    warmups = nc_int(s->e, s->in->e2);
    return warmups > 0 ? loop_enter(s, s->in, warmups, WARMING) : loop_after_warmup(s, s->in);
}

static void loop_unfold(struct nc_step *s, bool warming)
{
    int64_t n = nc_int(s->e, warming ? s->in->e2 : s->in->e);

    if (s->r->fold && s->in->steady)
        s->r->weight /= (double)(n > most_iterations ? most_iterations : n);
}

enum nc_did nc_step_loop_end(struct nc_step *s)
{
    struct ncptl_rank *r = s->r;
    int64_t *word = &r->slot[s->in->slot], left = *word >> 1;
    bool warming = *word & WARMING;

    if (r->phase)
        return loop_after_warmup(s, &s->p->code[s->in->jump]);
    if (s->in->steady && (uint64_t)word[1] == r->nops)
        left = 1;
    if (--left > 0) {
        word[0] = left * 2 + warming;
        word[1] = (int64_t)r->nops;
        r->pc = s->in->jump + 1;
        return NC_GO;
    }
    loop_unfold(s, warming);
    if (warming)
        return loop_after_warmup(s, &s->p->code[s->in->jump]);
    r->pc++;
    return NC_GO;
}

/* ---- FOR EACH ---- */

struct list_job {
    struct nc_ev *e;
    const struct nc_ins *in;
    struct nc_pin *pin;
    size_t cap;
};

static bool loop_add_value(void *ctx, int64_t value)
{
    struct list_job *job = ctx;
    struct nc_pin *pin = job->pin;

    wr_vec_grow((void **)&pin->values, &job->cap, pin->nvalues + 1, sizeof *pin->values);
    pin->values[pin->nvalues++] = value;
    return false;
}

static void loop_make_list(void *ctx, struct nc_pin *pin)
{
    struct list_job *job = ctx;

    job->pin = pin;
    nc_values(job->e, job->in->ranges, job->in->nranges, loop_add_value, job);
    pin->bytes += job->cap * sizeof *pin->values;
    pin->bad = job->e->bad;
    pin->where = job->e->where;
    pin->x = job->e->x;
    pin->y = job->e->y;
}

/* Everything a list may depend on: the slots in use before the loop, and the
 * processors of tasks. */
static struct nc_pin *loop_pin_list(struct nc_step *s)
{
    struct list_job job = {.e = s->e, .in = s->in};
    int64_t key[NC_PIN_KEYS];
    uint32_t n = 0;

    assert(s->in->listed && s->in->slot < NC_PIN_KEYS);
    while (n < s->in->slot) {
        key[n] = s->r->slot[n];
        n++;
    }
    key[n++] = s->e->map ? s->r->epoch : 0;
    struct nc_pin *pin = nc_share_pin(s->p->share, s->in->id, key, n, loop_make_list, &job);
    if (pin->bad) {
        s->e->bad = pin->bad;
        s->e->where = pin->where;
        s->e->x = pin->x;
        s->e->y = pin->y;
    }
    return pin;
}

static bool loop_listed_value(int64_t *state, int64_t *ret)
{
    const struct nc_pin *pin = (const struct nc_pin *)(intptr_t)state[1];

    if ((uint64_t)state[0] >= pin->nvalues)
        return false;
    *ret = pin->values[state[0]++];
    return true;
}

/* state[0]: which range, above bit 40, and which of its elements comes next */
static bool loop_next_value(struct nc_step *s, int64_t *state, int64_t *value)
{
    const struct nc_ins *in = s->in;

    if (in->listed)
        return loop_listed_value(state, value);
    while (state[0] >> 40 < in->nranges && !s->e->bad) {
        const struct nc_rng *r = &in->ranges[state[0] >> 40];
        int64_t i = state[0] & (((int64_t)1 << 40) - 1);
        struct nc_seq seq;

        if (nc_seq_of(s->e, r, &seq) && nc_seq_at(s->e, r, &seq, i, *value, value)) {
            state[0]++;
            return true;
        }
        state[0] = ((state[0] >> 40) + 1) << 40;
    }
    return false;
}

static void loop_leave_each(struct nc_step *s, int64_t *state)
{
    struct nc_pin *pin = (struct nc_pin *)(intptr_t)state[1];

    if (s->in->listed && pin)
        nc_share_unpin(s->p->share, pin);
    state[1] = 0;
}

enum nc_did nc_step_each(struct nc_step *s)
{
    int64_t *state = &s->r->slot[s->in->state];

    state[0] = state[1] = 0;
    if (s->in->listed)
        state[1] = (int64_t)(intptr_t)loop_pin_list(s);
    if (!s->e->bad && loop_next_value(s, state, &s->r->slot[s->in->slot])) {
        s->r->pc++;
        return NC_GO;
    }
    loop_leave_each(s, state);
    s->r->pc = s->in->jump;
    return NC_GO;
}

enum nc_did nc_step_each_end(struct nc_step *s)
{
    int64_t *state = &s->r->slot[s->in->state];

    if (loop_next_value(s, state, &s->r->slot[s->in->slot])) {
        s->r->pc = s->in->jump + 1;
        return NC_GO;
    }
    loop_leave_each(s, state);
    s->r->pc++;
    return NC_GO;
}

/* ---- FOR 3 SECONDS ----
 *
 *   TIMED      phase 0: begin the warmup, or the synchronization, or the loop
 *              phase 1: after the synchronization, begin the loop
 *   TIMED_END  phase 0: ask whether to repeat      phase 1: repeat, or report the end
 *              phase 2: after the warmup's end, synchronize or begin the loop
 *              phase 3: after the synchronization, begin the loop
 */

static enum nc_did loop_timed_begin(struct nc_step *s, uint32_t head, int64_t nsecs,
                                    int64_t warming)
{
    s->r->slot[s->in->slot] = warming;
    s->r->phase = 0;
    s->r->pc = head + 1;
    s->ev->nsecs = nsecs > 0 ? nsecs : 0;
    return nc_yield(s, NCPTL_TIMED_BEGIN, 0);
}

static enum nc_did loop_timed_main(struct nc_step *s, uint32_t head)
{
    loop_warm_end(s->r);
    return loop_timed_begin(s, head, nc_int(s->e, s->in->e), 0);
}

enum nc_did nc_step_timed(struct nc_step *s)
{
    struct ncptl_rank *r = s->r;
    int64_t nsecs;

    if (!s->in->e2)
        return loop_timed_begin(s, r->pc, nc_int(s->e, s->in->e), 0);
    if (r->phase)
        return loop_timed_main(s, r->pc);
    loop_warm_begin(r);
    nsecs = nc_int(s->e, s->in->e2);
    if (nsecs > 0)
        return loop_timed_begin(s, r->pc, nsecs, WARMING);
    if (!s->in->sync)
        return loop_timed_main(s, r->pc);
    r->phase = 1;
    return loop_all_barrier(s);
}

enum nc_did nc_step_timed_end(struct nc_step *s)
{
    struct ncptl_rank *r = s->r;
    bool warming = r->slot[s->in->slot];

    switch (r->phase) {
    case 0:
        r->phase = 1;
        r->again = false;
        s->ev->nsecs = nc_int(s->e, warming ? s->in->e2 : s->in->e);
        return nc_yield(s, NCPTL_TIMED_CHECK, 0);
    case 1:
        if (r->again) {
            r->phase = 0;
            r->pc = s->in->jump + 1;
            return NC_GO;
        }
        r->phase = 2;
        return nc_yield(s, NCPTL_TIMED_END, 0);
    case 2:
        if (!warming) {
            r->phase = 0;
            r->pc++;
            return NC_GO;
        }
        if (!s->in->sync)
            return loop_timed_main(s, s->in->jump);
        r->phase = 3;
        return loop_all_barrier(s);
    default:
        return loop_timed_main(s, s->in->jump);
    }
}
