/* goal_cursor.c -- executes the graph of a rank: which operation may start next.
 *
 * Owns `ready` and `missing` of a cursor, whose size is that of the front of the graph, not of the
 * graph. load_goal.c calls it from event handlers, goal_check() to verify a schedule.
 *
 * An operation is in one of these states, and only the second and third cost memory:
 *
 *   untouched  no requirement met yet      (or a root that was not taken yet)
 *   waiting    some met, some not          in `missing`, with how many are
 *   ready      all met, not handed out     in `ready`
 *   running    handed out                  counted
 *   done       completed                   counted
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goal_priv.h"

enum { SOUND, BAD_RECORD, BAD_DEPENDENT, TOO_MANY, NOT_A_ROOT, STUCK };

void goal_cursor_init(struct goal_cursor *c, const struct goal_rank *r)
{
    *c = (struct goal_cursor){.r = *r};
}

void goal_cursor_fini(struct goal_cursor *c)
{
    free(c->ready);
    wr_map_fini(&c->missing);
    c->ready = NULL;
}

static void cursor_push_ready(struct goal_cursor *c, uint32_t id)
{
    if (c->ready_n == c->ready_cap) {
        uint32_t cap = c->ready_cap ? c->ready_cap * 2 : 8;
        uint32_t *ring = wr_alloc(cap * sizeof *ring);

        for (uint32_t i = 0; i < c->ready_n; i++)
            ring[i] = c->ready[(c->ready_first + i) & (c->ready_cap - 1)];
        free(c->ready);
        c->ready = ring;
        c->ready_cap = cap;
        c->ready_first = 0;
    }
    c->ready[(c->ready_first + c->ready_n++) & (c->ready_cap - 1)] = id;
}

static void cursor_set_fault(struct goal_cursor *c, uint8_t what, uint32_t id)
{
    if (!c->fault) {
        c->fault = what;
        c->bad = id;
    }
}

/* One more requirement of `id` is met. */
static void cursor_requirement_met(struct goal_cursor *c, uint32_t id)
{
    if (id >= c->r.nops) {
        cursor_set_fault(c, BAD_DEPENDENT, id);
        return;
    }
    uint64_t *missing = wr_map_at(&c->missing, id);

    if (!*missing) {
        uint32_t needs = goal_get32(c->r.ops + (uint64_t)GOAL_RECORD * id);

        if (!needs) {
            cursor_set_fault(c, TOO_MANY, id);
            return;
        }
        *missing = needs;
    }
    if (--*missing)
        return;
    wr_map_remove(&c->missing, id);
    cursor_push_ready(c, id);
}

static void cursor_requirements_met(struct goal_cursor *c, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->fault; i++)
        cursor_requirement_met(c, goal_word(&c->r, first + i));
}

static bool cursor_take_ready(struct goal_cursor *c, uint32_t *ret_id)
{
    if (c->root < c->r.nroots) {
        *ret_id = goal_root(&c->r, c->root++);
        if (*ret_id < c->r.nops && !goal_get32(c->r.ops + (uint64_t)GOAL_RECORD * *ret_id))
            return true;
        cursor_set_fault(c, NOT_A_ROOT, *ret_id);
        return false;
    }
    if (!c->ready_n)
        return false;
    *ret_id = c->ready[c->ready_first];
    c->ready_first = (c->ready_first + 1) & (c->ready_cap - 1);
    c->ready_n--;
    return true;
}

enum goal_turn goal_cursor_next(struct goal_cursor *c, uint32_t *ret_id, struct goal_op *ret)
{
    struct wr_err ignored;

    if (c->fault)
        return GOAL_FAULT;
    if (cursor_take_ready(c, ret_id)) {
        if (c->started == c->r.nops)
            cursor_set_fault(c, TOO_MANY, *ret_id);
        else if (!goal_op_read(&c->r, *ret_id, ret, &ignored))
            cursor_set_fault(c, BAD_RECORD, *ret_id);
    } else if (!c->fault) {
        if (c->running)
            return GOAL_LATER;
        if (c->started == c->r.nops)
            return GOAL_END;
        cursor_set_fault(c, STUCK, 0);
    }
    if (c->fault)
        return GOAL_FAULT;
    c->started++;
    c->running++;
    return GOAL_START;
}

void goal_cursor_started(struct goal_cursor *c, uint32_t id)
{
    const uint8_t *p = c->r.ops + (uint64_t)GOAL_RECORD * id;

    assert(id < c->r.nops && c->running);
    cursor_requirements_met(c, goal_get32(p + 35), goal_get32(p + 31));
}

void goal_cursor_done(struct goal_cursor *c, uint32_t id)
{
    const uint8_t *p = c->r.ops + (uint64_t)GOAL_RECORD * id;

    assert(id < c->r.nops && c->running);
    c->running--;
    cursor_requirements_met(c, goal_get32(p + 27), goal_get32(p + 23));
}

bool goal_cursor_fault(const struct goal_cursor *c, struct wr_err *err)
{
    const struct goal_rank *r = &c->r;
    const char *name = r->g->name;
    struct goal_op op;

    switch (c->fault) {
    case BAD_RECORD:
        if (!goal_op_read(r, c->bad, &op, err))
            return false;
        break;
    case BAD_DEPENDENT:
        return wr_fail(err, WR_INPUT,
                       "%s: byte %llu: in rank %u, operation %u is to be started and there are "
                       "%u; the file is damaged",
                       name, (unsigned long long)(r->words - r->g->bytes), r->rank, c->bad,
                       r->nops);
    case TOO_MANY:
        return wr_fail(err, WR_INPUT,
                       "%s: byte %llu: operation %u of rank %u is started more often than it "
                       "has requirements; the file is damaged",
                       name, (unsigned long long)goal_op_at(r, c->bad), c->bad, r->rank);
    case NOT_A_ROOT:
        return wr_fail(err, WR_INPUT,
                       "%s: byte %llu: rank %u begins with operation %u, which does not exist or "
                       "has requirements; the file is damaged",
                       name, (unsigned long long)(r->roots - r->g->bytes), r->rank, c->bad);
    case STUCK:
        return wr_fail(err, WR_INPUT,
                       "%s: rank %u ends with %u of its %u operations never started: they require "
                       "each other, or something that is not there; mend the schedule",
                       name, r->rank, r->nops - c->started, r->nops);
    default:
        break;
    }
    return wr_fail(err, WR_BUG, "%s: rank %u has no fault", name, r->rank);
}

/* ---- looking at all of it ---- */

static void cursor_count_op(struct goal_totals *t, const struct goal_op *op)
{
    t->ops++;
    t->sends += op->type == GOAL_SEND;
    t->recvs += op->type == GOAL_RECV;
    t->calcs += op->type == GOAL_CALC;
    t->requires += op->nafter;
    t->starts += op->nafter_start;
    t->bytes_sent += op->type == GOAL_SEND ? op->size : 0;
    t->bytes_received += op->type == GOAL_RECV ? op->size : 0;
    t->calc_ns += op->type == GOAL_CALC ? op->size : 0;
}

static bool cursor_check_rank(const struct goal *g, uint32_t rank, struct goal_totals *t,
                              struct wr_err *err)
{
    struct goal_cursor c;
    struct goal_rank r;
    struct goal_op op;
    uint32_t id;
    enum goal_turn turn;

    if (!goal_rank_open(&r, g, rank, err))
        return false;
    goal_cursor_init(&c, &r);
    while ((turn = goal_cursor_next(&c, &id, &op)) == GOAL_START) {
        cursor_count_op(t, &op);
        goal_cursor_started(&c, id);
        goal_cursor_done(&c, id);
    }
    bool ok = turn == GOAL_END || goal_cursor_fault(&c, err);

    goal_cursor_fini(&c);
    if (r.nops > t->longest)
        t->longest = r.nops;
    return ok;
}

bool goal_check(const struct goal *g, struct goal_totals *ret, struct wr_err *err)
{
    struct goal_totals t = {0};

    for (uint32_t i = 0; i < g->nranks; i++)
        if (!cursor_check_rank(g, i, &t, err))
            return false;
    *ret = t;
    return true;
}
