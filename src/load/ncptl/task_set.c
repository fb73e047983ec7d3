/* task_set.c -- sets of tasks: iteration over members, and sets as groups of processors.
 *
 * solve.c finds candidates without trying all tasks; this file tests them. Groups without closed
 * form and tables of pairs are computed once and kept in ncptl_share.c, where the rank pins them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "share_priv.h"

/* Beyond this many pairs (per task, and in all) trying is better than keeping. */
enum { PAIRS_EACH = 64, PAIRS_MIN = 1 << 22 };

static int64_t taskset_solve(struct nc_ev *e, const struct nc_set *s, int64_t x)
{
    int64_t v;

    switch (s->kind) {
    case NC_ONE:
        v = nc_int(e, s->e);
        return v >= x ? v : NC_NO_TASK;
    case NC_SUCH:
        return nc_solve(e, s->e, s->tmp, x);
    default:
        return x;
    }
}

bool nc_set_has(struct nc_ev *e, const struct nc_set *s, int64_t self, int64_t task)
{
    if (s->tmp >= 0)
        e->tmp[s->tmp] = task;
    switch (s->kind) {
    case NC_ONE:
        return nc_int(e, s->e) == task;
    case NC_SUCH:
        return nc_true(e, s->e);
    case NC_OTHERS:
        return task != self;
    default:
        return true;
    }
}

int64_t nc_set_next(struct nc_ev *e, const struct nc_set *s, int64_t self, int64_t x)
{
    for (;; x++) {
        x = taskset_solve(e, s, x);
        if (x == NC_NO_TASK || x >= e->p->n || e->bad)
            return NC_NO_TASK;
        if (nc_set_has(e, s, self, x))
            return e->bad ? NC_NO_TASK : x;
    }
}

/* A lower bound for the outer members >= x that see `inner`. */
static int64_t taskset_solve_inner(struct nc_ev *e, const struct nc_pair *pair, int64_t inner,
                                   int64_t x)
{
    const struct nc_set *in = &pair->inner;
    int tmp = pair->outer.tmp;
    bool depends = tmp >= 0 && (in->tmps >> tmp & 1);

    if (in->tmp >= 0)
        e->tmp[in->tmp] = inner;
    if (!depends)
        return x;
    if (in->kind == NC_ONE)
        return nc_solve_equal(e, in->e, inner, tmp, x);
    return in->kind == NC_SUCH ? nc_solve(e, in->e, tmp, x) : x;
}

/* When the inner set does not depend on the outer member, one look is enough. */
static bool taskset_never_sees(struct nc_ev *e, const struct nc_pair *pair, int64_t inner)
{
    return pair->inner.kind != NC_OTHERS && !pair->inner.tmps &&
           !nc_set_has(e, &pair->inner, NC_NO_TASK, inner);
}

int64_t nc_pair_next(struct nc_ev *e, const struct nc_pair *pair, int64_t inner, int64_t x)
{
    if (taskset_never_sees(e, pair, inner))
        return NC_NO_TASK;
    for (;; x++) {
        int64_t a = taskset_solve(e, &pair->outer, x);
        int64_t b = a == NC_NO_TASK ? a : taskset_solve_inner(e, pair, inner, a);

        if (b == NC_NO_TASK || b >= e->p->n || e->bad)
            return NC_NO_TASK;
        x = b;
        if (nc_set_has(e, &pair->outer, NC_NO_TASK, x) && nc_set_has(e, &pair->inner, x, inner))
            return e->bad ? NC_NO_TASK : x;
        if (e->bad)
            return NC_NO_TASK;
    }
}

/* ---- groups ---- */

static struct ncptl_group taskset_one_processor(uint32_t proc)
{
    return (struct ncptl_group){
        .n = 1, .first = proc, .step = 1, .hole = UINT32_MAX, .key = nc_mix(proc)};
}

static int taskset_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* From `n` processors in any order, which it sorts. Keeps the list only when they
 * are no progression. */
static void taskset_make_group(struct nc_pin *pin, uint32_t *list, uint32_t n, bool sorted)
{
    struct ncptl_group g = {.n = n, .step = 1, .hole = UINT32_MAX};
    uint32_t same = 1;

    if (!sorted)
        qsort(list, n, sizeof *list, taskset_by_number);
    for (uint32_t i = 0; i < n; i++)
        g.key += nc_mix(list[i]);
    g.first = n ? list[0] : 0;
    g.step = n > 1 ? list[1] - list[0] : 1;
    while (same < n && list[same] - list[same - 1] == g.step)
        same++;
    if (same < n) {
        g.list = pin->list = list;
        pin->bytes += n * sizeof *list;
    } else {
        free(list);
    }
    pin->group = g;
}

static void taskset_save_failure(struct nc_pin *pin, const struct nc_ev *e)
{
    pin->bad = e->bad;
    pin->where = e->where;
    pin->x = e->x;
    pin->y = e->y;
}

static bool taskset_pass_failure(struct nc_ev *e, const struct nc_pin *pin)
{
    if (!pin->bad)
        return true;
    e->bad = pin->bad;
    e->where = pin->where;
    e->x = pin->x;
    e->y = pin->y;
    return false;
}

struct set_job {
    struct nc_ev *e;
    const struct nc_set *set;
    const struct nc_pair *pair;
    int64_t self;
};

static void taskset_make_members(void *ctx, struct nc_pin *pin)
{
    struct set_job *job = ctx;
    struct nc_ev *e = job->e;
    WR_VEC(uint32_t) list = {0};

    for (int64_t t = nc_set_next(e, job->set, job->self, 0); t != NC_NO_TASK;
         t = nc_set_next(e, job->set, job->self, t + 1))
        wr_vec_push(&list, (uint32_t)nc_ev_proc_of(e, t));
    taskset_save_failure(pin, e);
    taskset_make_group(pin, list.v, (uint32_t)list.n, !e->map);
}

static uint32_t taskset_slot_key(const struct nc_ev *e, const uint16_t *slots, uint32_t n,
                                 int64_t *key)
{
    uint32_t k = 0;

    assert(n < NC_PIN_KEYS);
    for (; k < n; k++) /* NC_MOST_SLOTS of them at most */
        key[k] = e->slot[slots[k]];
    key[k++] = e->map ? (int64_t)e->r->epoch : 0;
    return k;
}

void nc_release(const struct ncptl_prog *p, struct nc_pin **pin)
{
    if (*pin)
        nc_share_unpin(p->share, *pin);
    *pin = NULL;
}

static struct nc_pin *taskset_hold_pin(struct nc_ev *e, struct nc_pin **pin, struct nc_pin *now)
{
    nc_release(e->p, pin);
    *pin = now;
    return now;
}

static bool taskset_listed_group(struct nc_ev *e, const struct nc_set *s, int64_t self,
                                 struct ncptl_group *ret, struct nc_pin **pin)
{
    struct set_job job = {.e = e, .set = s, .self = self};
    int64_t key[NC_PIN_KEYS];
    uint32_t n = taskset_slot_key(e, s->slots, s->nslots, key);

    for (int t = 0; t < NC_TMPS; t++)
        if (s->tmps >> t & 1)
            key[n++] = e->tmp[t];
    taskset_hold_pin(e, pin, nc_share_pin(e->p->share, s->id, key, n, taskset_make_members, &job));
    *ret = (*pin)->group;
    return taskset_pass_failure(e, *pin);
}

static struct ncptl_group taskset_all_processors(const struct ncptl_prog *p)
{
    return (struct ncptl_group){.n = p->n, .step = 1, .hole = UINT32_MAX, .key = p->all_key};
}

bool nc_set_group(struct nc_ev *e, const struct nc_set *s, int64_t self, struct ncptl_group *ret,
                  struct nc_pin **pin)
{
    int64_t t;

    assert(s->kind != NC_OTHERS || (self >= 0 && self < e->p->n));
    switch (s->kind) {
    case NC_ALL:
        *ret = taskset_all_processors(e->p);
        return true;
    case NC_OTHERS:
        t = nc_ev_proc_of(e, self);
        *ret = taskset_all_processors(e->p);
        ret->n--;
        ret->hole = (uint32_t)t;
        ret->key -= nc_mix((uint64_t)t);
        return true;
    case NC_ONE:
        t = nc_int(e, s->e);
        if (t < 0 || t >= e->p->n)
            *ret = (struct ncptl_group){.step = 1, .hole = UINT32_MAX};
        else
            *ret = taskset_one_processor((uint32_t)nc_ev_proc_of(e, t));
        return !e->bad;
    default:
        return taskset_listed_group(e, s, self, ret, pin);
    }
}

/* One bit per task: union of what all outer members see. */
static void taskset_make_union(void *ctx, struct nc_pin *pin)
{
    struct set_job *job = ctx;
    const struct nc_pair *pair = job->pair;
    struct nc_ev *e = job->e;
    uint8_t *seen = wr_zalloc(e->p->n, 1);
    uint32_t n = 0;

    for (int64_t s = nc_set_next(e, &pair->outer, NC_NO_TASK, 0); s != NC_NO_TASK;
         s = nc_set_next(e, &pair->outer, NC_NO_TASK, s + 1))
        for (int64_t d = nc_set_next(e, &pair->inner, s, 0); d != NC_NO_TASK;
             d = nc_set_next(e, &pair->inner, s, d + 1)) {
            uint8_t *bit = &seen[nc_ev_proc_of(e, d)];

            n += !*bit;
            *bit = 1;
        }
    uint32_t *list = wr_alloc((n ? n : 1) * sizeof *list), k = 0;
    for (uint32_t i = 0; i < e->p->n; i++)
        if (seen[i])
            list[k++] = i;
    free(seen);
    taskset_save_failure(pin, e);
    taskset_make_group(pin, list, n, true);
}

bool nc_pair_group(struct nc_ev *e, const struct nc_pair *pair, struct ncptl_group *ret,
                   struct nc_pin **pin)
{
    struct set_job job = {.e = e, .pair = pair};
    int64_t key[NC_PIN_KEYS];

    if (!pair->inner.tmps && pair->inner.kind != NC_OTHERS)
        return nc_set_group(e, &pair->inner, NC_NO_TASK, ret, pin);
    uint32_t n = taskset_slot_key(e, pair->slots, pair->nslots, key);
    taskset_hold_pin(e, pin, nc_share_pin(e->p->share, pair->id, key, n, taskset_make_union, &job));
    *ret = (*pin)->group;
    return taskset_pass_failure(e, *pin);
}

/* ---- pairs without closed form ---- */

static void taskset_invert_pairs(struct nc_pin *pin, uint32_t n, uint64_t npairs)
{
    assert(pin->out_at && pin->out_at[n] == npairs);
    pin->in_at = wr_zalloc((size_t)n + 1, sizeof *pin->in_at);
    pin->in = wr_alloc((npairs ? npairs : 1) * sizeof *pin->in);
    for (uint64_t i = 0; i < npairs; i++)
        pin->in_at[pin->out[i] + 1]++;
    for (uint32_t d = 0; d < n; d++)
        pin->in_at[d + 1] += pin->in_at[d];
    for (uint32_t s = 0; s < n; s++) /* sources ascend, so every list does */
        for (uint64_t i = pin->out_at[s]; i < pin->out_at[s + 1]; i++)
            pin->in[pin->in_at[pin->out[i]]++] = s;
    memmove(pin->in_at + 1, pin->in_at, n * sizeof *pin->in_at);
    pin->in_at[0] = 0;
    pin->bytes += 2 * ((size_t)n + 1) * sizeof *pin->in_at + 2 * npairs * sizeof *pin->in;
}

static void taskset_make_pairs(void *ctx, struct nc_pin *pin)
{
    struct set_job *job = ctx;
    const struct nc_pair *pair = job->pair;
    struct nc_ev *e = job->e;
    uint32_t n = e->p->n, done = 0;
    uint64_t most = (uint64_t)n * PAIRS_EACH > PAIRS_MIN ? (uint64_t)n * PAIRS_EACH : PAIRS_MIN;
    WR_VEC(uint32_t) out = {0};

    pin->out_at = wr_zalloc((size_t)n + 1, sizeof *pin->out_at);
    for (int64_t s = nc_set_next(e, &pair->outer, NC_NO_TASK, 0); s != NC_NO_TASK && out.n <= most;
         s = nc_set_next(e, &pair->outer, NC_NO_TASK, s + 1)) {
        while (done <= s)
            pin->out_at[done++] = out.n;
        for (int64_t d = nc_set_next(e, &pair->inner, s, 0); d != NC_NO_TASK && out.n <= most;
             d = nc_set_next(e, &pair->inner, s, d + 1))
            wr_vec_push(&out, (uint32_t)d);
    }
    while (done <= n)
        pin->out_at[done++] = out.n;
    taskset_save_failure(pin, e);
    pin->out = out.v;
    pin->dense = out.n > most;
    if (pin->bad || pin->dense) {
        free(pin->out_at);
        free(pin->out);
        pin->out_at = NULL;
        pin->out = NULL;
        return;
    }
    taskset_invert_pairs(pin, n, out.n);
}

struct nc_pin *nc_pair_pin(struct nc_ev *e, const struct nc_pair *pair, struct nc_pin **pin)
{
    struct set_job job = {.e = e, .pair = pair};
    int64_t key[NC_PIN_KEYS];
    uint32_t n = taskset_slot_key(e, pair->slots, pair->nslots, key);

    taskset_hold_pin(e, pin, nc_share_pin(e->p->share, pair->id, key, n, taskset_make_pairs, &job));
    if (!taskset_pass_failure(e, *pin) || (*pin)->dense)
        nc_release(e->p, pin);
    return *pin;
}

int64_t ncptl_group_index(const struct ncptl_group *g, uint32_t proc)
{
    uint32_t lo = 0, hi = g->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (ncptl_member(g, mid) < proc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < g->n && ncptl_member(g, lo) == proc ? (int64_t)lo : -1;
}
