/* step_next.c -- executes one rank up to its next operation.
 *
 * ncptl_next() runs instructions from rank->pc until one yields an event, the program ends or an
 * evaluation fails. Loops are in step_loop.c, messages and collectives in step_comm.c, everything
 * that a task does alone in step_local.c.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "step_priv.h"

size_t ncptl_rank_size(const struct ncptl_prog *p)
{
    return sizeof(struct ncptl_rank) + p->nslots * sizeof(int64_t);
}

void ncptl_rank_init(const struct ncptl_prog *p, struct ncptl_rank *r, uint32_t proc)
{
    assert(proc < p->n);
    *r = (struct ncptl_rank){.weight = 1, .proc = proc, .task = proc, .cur = -1};
    for (uint32_t i = 0; i < p->nslots; i++)
        r->slot[i] = 0;
    nc_share_enter(p->share);
}

struct nc_cold *nc_cold(struct ncptl_rank *r)
{
    if (!r->cold)
        r->cold = wr_zalloc(1, sizeof *r->cold);
    return r->cold;
}

void ncptl_rank_fini(const struct ncptl_prog *p, struct ncptl_rank *r)
{
    for (struct nc_saved *s = r->cold ? r->cold->saved : NULL, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    if (r->cold) {
        free(r->cold->frozen);
        wr_map_fini(&r->cold->next_in_file);
        free(r->cold);
    }
    for (int i = 0; i < 3; i++)
        nc_release(p, &r->pin[i]);
    nc_share_leave(p->share, r->epoch);
}

enum nc_did nc_yield(struct nc_step *s, enum ncptl_op op, uint32_t flags)
{
    s->ev->op = op;
    s->ev->flags = flags | (s->r->warm ? NCPTL_F_WARMUP : 0);
    s->ev->stmt = (uint32_t)(s->in - s->p->code);
    s->r->nops++;
    return NC_YIELD;
}

/* ---- small instructions ---- */

static enum nc_did step_let(struct nc_step *s)
{
    s->r->slot[s->in->slot] = nc_int(s->e, s->in->e);
    s->r->pc++;
    return NC_GO;
}

/* A number is drawn only if there is a choice, as in coNCePTuaL. */
static enum nc_did step_random(struct nc_step *s)
{
    int64_t last = (int64_t)s->p->n - 1;
    int64_t lo = s->in->e ? nc_int(s->e, s->in->e) : 0;
    int64_t hi = s->in->e2 ? nc_int(s->e, s->in->e2) : last;
    int64_t but = s->in->e3 ? nc_int(s->e, s->in->e3) : -1, task = -1;

    lo = lo > 0 ? lo : 0;
    hi = hi < last ? hi : last;
    if (lo <= hi && (but < lo || but > hi)) {
        uint64_t word = nc_share_draw(s->p->share, s->r->draws++);

        task = lo + (int64_t)(word % (uint64_t)(hi - lo + 1));
    } else if (lo < hi) {
        uint64_t word = nc_share_draw(s->p->share, s->r->draws++);

        task = lo + (but - lo + 1 + (int64_t)(word % (uint64_t)(hi - lo))) % (hi - lo + 1);
    }
    s->r->slot[s->in->slot] = task;
    s->r->pc++;
    return NC_GO;
}

static enum nc_did step_if(struct nc_step *s)
{
    s->r->pc = nc_true(s->e, s->in->e) ? s->r->pc + 1 : s->in->jump;
    return NC_GO;
}

static enum nc_did step_assert(struct nc_step *s)
{
    if (!nc_true(s->e, s->in->e) && !s->e->bad)
        nc_ev_fail(s->e, NCF_ASSERT, 0, 0);
    s->r->pc++;
    return NC_GO;
}

static enum nc_did step_dispatch(struct nc_step *s)
{
    switch (s->in->op) {
    case NI_JUMP:
        s->r->pc = s->in->jump;
        return NC_GO;
    case NI_LET:
        return step_let(s);
    case NI_RANDOM:
        return step_random(s);
    case NI_IF:
        return step_if(s);
    case NI_ASSERT:
        return step_assert(s);
    case NI_LOOP:
        return nc_step_loop(s);
    case NI_LOOP_END:
        return nc_step_loop_end(s);
    case NI_EACH:
        return nc_step_each(s);
    case NI_EACH_END:
        return nc_step_each_end(s);
    case NI_TIMED:
        return nc_step_timed(s);
    case NI_TIMED_END:
        return nc_step_timed_end(s);
    case NI_ASSIGN:
        return nc_step_assign(s);
    case NI_SEND:
        return nc_step_send(s);
    case NI_RECV:
        return nc_step_recv(s);
    case NI_RECV_PULL:
        return nc_step_recv_pull(s);
    case NI_MCAST:
        return nc_step_mcast(s);
    case NI_REDUCE:
        return nc_step_reduce(s);
    case NI_BARRIER:
        return nc_step_barrier(s);
    case NI_IO:
        return nc_step_io(s);
    default:
        return nc_step_local(s);
    }
}

static enum ncptl_op step_fail(struct nc_step *s, uint32_t at)
{
    struct ncptl_rank *r = s->r;

    r->fault = (uint8_t)s->e->bad;
    r->culprit = s->e->where;
    r->cur = s->e->x;
    r->left = s->e->y;
    r->pc = at;
    s->ev->op = NCPTL_FAIL;
    s->ev->stmt = at;
    return NCPTL_FAIL;
}

enum ncptl_op ncptl_next(const struct ncptl_prog *p, struct ncptl_rank *r, struct ncptl_event *ret)
{
    struct nc_ev e;
    struct nc_step s = {.p = p, .r = r, .ev = ret, .e = &e};

    if (r->fault)
        return NCPTL_FAIL;
    for (int i = 1; i < 3; i++)
        if (r->pin[i])
            nc_release(p, &r->pin[i]);
    nc_ev_init(&e, p, r);
    for (;;) {
        uint32_t at = r->pc;

        s.in = &p->code[at];
        if (s.in->op == NI_END) {
            ret->op = NCPTL_END;
            return NCPTL_END;
        }
        enum nc_did did = step_dispatch(&s);
        if (did == NC_STOP || e.bad)
            return step_fail(&s, at);
        if (did == NC_YIELD)
            return ret->op;
    }
}

/* ---- text and values ---- */

static bool step_explain_failure(const struct ncptl_prog *p, const struct nc_ev *e, uint32_t at,
                                 struct wr_err *err)
{
    return !e->bad || nc_explain(p, e->bad, e->where ? e->where->at : at, e->x, e->y, NULL, err);
}

bool ncptl_text(const struct ncptl_prog *p, struct ncptl_rank *r, const struct ncptl_event *ev,
                struct wr_str *out, struct wr_err *err)
{
    const struct nc_ins *in = &p->code[ev->stmt];
    struct nc_ev e;
    size_t i = 0;

    assert(ev->op == NCPTL_OUTPUT || ev->op == NCPTL_BACKEND);
    nc_ev_init(&e, p, r);
    if (in->set->tmp >= 0)
        e.tmp[in->set->tmp] = r->task;
    for (const struct nc_item *it = in->items; it; it = it->next, i++) {
        if (it->e)
            wr_str_addf(out, "%.10g", nc_real(&e, in->item_nodes[i]));
        else if (!it->value_of) /* no key has a value in a simulation */
            wr_str_add(out, it->text);
    }
    return step_explain_failure(p, &e, in->at, err);
}

const struct ncptl_column *ncptl_column(const struct ncptl_prog *p, uint32_t i)
{
    assert(i < p->ncolumns);
    return &p->columns[i].info;
}

bool ncptl_log_value(const struct ncptl_prog *p, struct ncptl_rank *r, uint32_t column, double *ret,
                     struct wr_err *err)
{
    const struct nc_column_code *c = &p->columns[column];
    struct nc_ev e;

    assert(column < p->ncolumns);
    nc_ev_init(&e, p, r);
    e.drawn = column; /* each column its own random numbers */
    if (c->tmp >= 0)
        e.tmp[c->tmp] = r->task;
    double value = nc_real(&e, c->e);
    if (!e.bad && c->info.aggregate == NCPTL_PERCENTILE &&
        !(c->info.param >= 0 && c->info.param <= 100))
        nc_ev_fail(&e, NCF_PERCENTILE, nc_trunc(c->info.param), 0);
    if (!step_explain_failure(p, &e, c->info.source, err))
        return false;
    *ret = value;
    return true;
}
