/* step_local.c -- what a rank does alone: files, delays, counters, memory, and IS ASSIGNED TO.
 *
 * State that few ranks have (positions in files, stored counters) is in struct nc_cold, allocated
 * when it is needed first.
 */
#include <assert.h>
#include <stdlib.h>

#include "step_priv.h"

static enum nc_did local_skip(struct nc_step *s)
{
    s->r->pc++;
    return NC_GO;
}

/* ---- WRITES, READS ---- */

static void local_count_io(struct ncptl_rank *r, const struct nc_ins *in, int64_t bytes)
{
    bool writes = in->yields == NCPTL_WRITE;

    if (r->warm)
        return;
    if (in->async) {
        *(writes ? &r->pending.bytes_written : &r->pending.bytes_read) += bytes;
        r->pending.ios_completed++;
    } else {
        *(writes ? &r->counters.bytes_written : &r->counters.bytes_read) += bytes;
        r->counters.ios_completed++;
    }
}

static bool local_fill_io(struct nc_step *s, bool first)
{
    const struct nc_ins *in = s->in;
    struct ncptl_event *ev = s->ev;

    ev->file = nc_int(s->e, in->e);
    ev->bytes = nc_int(s->e, in->e3);
    if (ev->bytes < 0) {
        s->e->now = in->e3;
        nc_ev_fail(s->e, NCF_NEGATIVE, ev->bytes, 0);
    }
    ev->offset = first && in->e4 ? nc_int(s->e, in->e4) : 0;
    if (ev->offset < 0) {
        s->e->now = in->e4;
        nc_ev_fail(s->e, NCF_OFFSET, ev->offset, 0);
    }
    if (s->e->bad)
        return false;
    uint64_t *next = wr_map_at(&nc_cold(s->r)->next_in_file, (uint64_t)ev->file);
    int64_t end;

    if (!first || !in->e4)
        ev->offset = (int64_t)*next;
    if (__builtin_add_overflow(ev->offset, ev->bytes, &end))
        nc_ev_fail(s->e, NCF_OVERFLOW, ev->offset, ev->bytes);
    else
        *next = (uint64_t)end;
    return !s->e->bad;
}

enum nc_did nc_step_io(struct nc_step *s)
{
    struct ncptl_rank *r = s->r;
    bool first = !r->phase;

    if (!nc_set_has(s->e, s->in->set, NC_NO_TASK, r->task))
        return local_skip(s);
    if (first)
        r->left = s->in->e2 ? nc_int(s->e, s->in->e2) : 1;
    if (s->e->bad)
        return NC_STOP;
    if (r->left <= 0) {
        r->phase = 0;
        return local_skip(s);
    }
    if (!local_fill_io(s, first))
        return NC_STOP;
    if (s->in->coll && !nc_set_group(s->e, s->in->set, NC_NO_TASK, &s->ev->group, &r->pin[1]))
        return NC_STOP;
    r->phase = 1;
    r->left--;
    local_count_io(r, s->in, s->ev->bytes);
    return nc_yield(s, s->in->yields,
                    (s->in->async ? NCPTL_F_ASYNC : 0) | (s->in->coll ? NCPTL_F_COLL : 0));
}

/* ---- counters ---- */

/* `of`: NCPTL_RECVS, NCPTL_IOS; sends counted when they were posted. */
static void local_finish_pending(struct ncptl_rank *r, uint32_t of)
{
    struct ncptl_counters *c = &r->counters;
    struct ncptl_pending *p = &r->pending;

    if (of & NCPTL_RECVS) {
        c->bytes_received += p->bytes_received;
        c->msgs_received += p->msgs_received;
        p->bytes_received = 0;
        p->msgs_received = 0;
    }
    if (of & NCPTL_IOS) {
        c->bytes_written += p->bytes_written;
        c->bytes_read += p->bytes_read;
        c->ios_completed += p->ios_completed;
        p->bytes_written = p->bytes_read = 0;
        p->ios_completed = 0;
    }
}

static void local_store_counters(struct ncptl_rank *r)
{
    struct nc_saved *saved = wr_alloc(sizeof *saved);

    *saved =
        (struct nc_saved){.next = nc_cold(r)->saved, .counters = r->counters, .at_ps = r->now_ps};
    nc_cold(r)->saved = saved;
}

static bool local_restore_counters(struct nc_step *s)
{
    struct nc_saved *saved = nc_cold(s->r)->saved;

    if (!saved) {
        nc_ev_fail(s->e, NCF_RESTORE, 0, 0);
        return false;
    }
    s->r->counters = saved->counters;
    s->r->counters.start_ps += s->r->now_ps - saved->at_ps;
    nc_cold(s->r)->saved = saved->next;
    free(saved);
    return true;
}

/* ---- TOUCHES ---- */

static uint32_t local_touch(struct nc_step *s)
{
    const struct nc_ins *in = s->in;
    struct ncptl_event *ev = s->ev;
    struct nc_ev *e = s->e;
    int64_t times = in->e4 ? nc_int(e, in->e4) : 1, each;

    if (in->buffers) {
        ev->buf = in->e ? nc_int(e, in->e) : in->buffers == NC_BUFFERS_ALL + 1 ? -1 : -2;
        return NCPTL_F_BUFFERS;
    }
    ev->word = in->e2 ? nc_int(e, in->e2) : 4;
    ev->bytes = in->e3 ? nc_int(e, in->e3) : 0;
    ev->stride = in->e5 ? nc_int(e, in->e5) : ev->word;
    if (!ev->stride) {
        e->now = in->e5;
        nc_ev_fail(e, NCF_DIV_ZERO, ev->bytes, 0);
        return 0;
    }
    each = in->e ? nc_int(e, in->e) : ev->bytes / ev->stride;
    if (!in->e && each < 0)
        each = -each;
    if (__builtin_mul_overflow(times, each, &ev->count))
        nc_ev_fail(e, NCF_OVERFLOW, times, each);
    return in->random ? NCPTL_F_RANDOM : 0;
}

/* ---- everything else ---- */

static bool local_effect(struct nc_step *s, uint32_t *flags)
{
    const struct nc_ins *in = s->in;
    struct ncptl_rank *r = s->r;

    switch (in->yields) {
    case NCPTL_WAIT:
        s->ev->of = in->mode;
        local_finish_pending(r, in->mode);
        return true;
    case NCPTL_RESET:
        r->counters = (struct ncptl_counters){.start_ps = r->now_ps};
        return true;
    case NCPTL_STORE:
        local_store_counters(r);
        return true;
    case NCPTL_RESTORE:
        return local_restore_counters(s);
    case NCPTL_COMPUTE:
    case NCPTL_SLEEP:
        s->ev->nsecs = nc_int(s->e, in->e);
        if (s->ev->nsecs < 0)
            s->ev->nsecs = 0;
        break;
    case NCPTL_TOUCH:
        *flags |= local_touch(s);
        break;
    case NCPTL_OPEN:
    case NCPTL_CLOSE:
    case NCPTL_FLUSH:
        s->ev->file = nc_int(s->e, in->e);
        s->ev->mode = in->mode;
        break;
    default:
        s->ev->column = in->column;
        s->ev->ncolumns = in->ncolumns;
        s->ev->table = in->table;
        *flags |= in->timed ? NCPTL_F_TIMED : 0;
        break;
    }
    return !s->e->bad;
}

static bool local_silent_while_warming(enum ncptl_op op)
{
    return op == NCPTL_OUTPUT || op == NCPTL_LOG || op == NCPTL_AGGREGATE;
}

enum nc_did nc_step_local(struct nc_step *s)
{
    uint32_t flags = 0;

    if ((s->r->warm && local_silent_while_warming(s->in->yields)) ||
        !nc_set_has(s->e, s->in->set, NC_NO_TASK, s->r->task))
        return local_skip(s);
    if (s->e->bad || !local_effect(s, &flags))
        return NC_STOP;
    enum nc_did did = nc_yield(s, s->in->yields, flags);
    s->r->pc++;
    return did;
}

/* ---- IS ASSIGNED TO ---- */

/* `task` moves to `proc`; the task that was there gets the old processor of `task`. */
static void local_swap_tasks(struct nc_map *m, uint32_t task, uint32_t proc)
{
    uint32_t old = m->proc[task], other = m->task[proc];

    m->proc[task] = proc;
    m->task[proc] = task;
    if (other != task) {
        m->proc[other] = old;
        m->task[old] = other;
    }
}

static bool local_reassign(void *ctx, struct nc_map *m, uint32_t n)
{
    struct nc_step *s = ctx;
    struct nc_ev *e = s->e;
    const struct nc_map *before = e->map;

    assert(m->proc && m->task);
    e->map = m; /* PROCESSOR_OF sees what was done so far */
    for (int64_t t = nc_set_next(e, s->in->set, NC_NO_TASK, 0); t != NC_NO_TASK;
         t = nc_set_next(e, s->in->set, NC_NO_TASK, t + 1)) {
        int64_t proc;

        if (s->in->random)
            proc = (int64_t)(nc_share_draw(s->p->share, s->r->draws + m->draws++) % n);
        else
            proc = nc_int(e, s->in->e);
        if (proc < 0 || proc >= n)
            nc_ev_fail(e, NCF_PROCESSOR, proc, n);
        if (e->bad)
            break;
        local_swap_tasks(m, (uint32_t)t, (uint32_t)proc);
    }
    e->map = before;
    return !e->bad;
}

enum nc_did nc_step_assign(struct nc_step *s)
{
    struct ncptl_rank *r = s->r;
    uint64_t draws;

    if (!nc_share_advance(s->p->share, r->epoch, local_reassign, s, &r->map, &draws))
        return NC_STOP;
    r->draws += draws;
    r->epoch++;
    r->task = r->map ? r->map->task[r->proc] : r->proc;
    s->e->map = r->map;
    return local_skip(s);
}
