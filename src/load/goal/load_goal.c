/* load_goal.c -- a GOAL schedule as a workload: a graph whose operations have ids.
 *
 * The state of a rank is a cursor (goal_cursor.c). open() checks the extents of all ranks, so that
 * rank_init() cannot fail; records are checked as they are executed.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goal.h"
#include "load_goal.h"

struct params {
    const char *file;
};

static const struct conf_row rows[] = {
    {.key = "file",
     .type = CONF_PATH,
     .offset = offsetof(struct params, file),
     .help = "the schedule, text or binary; `weir lang goal FILE` looks at it"},
    CONF_END,
};

enum { PS_PER_NS = 1000 };

static bool load_goal_open(struct load *l, const struct load_start *how, struct wr_err *err)
{
    const struct params *par = l->params;
    struct goal *g = wr_alloc(sizeof *g);

    if (!goal_open(g, par->file, err)) {
        free(g);
        return false;
    }
    if (how->ranks && how->ranks != g->nranks) {
        wr_fail(err, WR_INPUT, "%s has %u ranks and the job %u; set the job's ranks to %u",
                par->file, g->nranks, how->ranks, g->nranks);
    } else {
        struct goal_rank r;
        bool ok = true;

        /* The ranks' places in the file, so that load_goal_rank_init cannot fail. */
        for (uint32_t i = 0; ok && i < g->nranks; i++)
            ok = goal_rank_open(&r, g, i, err);
        if (ok) {
            l->priv = g;
            l->ranks = g->nranks;
            l->cpus = g->max_cpu + 1u;
            l->rank_size = sizeof(struct goal_cursor);
            return true;
        }
    }
    goal_close(g);
    free(g);
    return false;
}

static void load_goal_close(struct load *l)
{
    goal_close(l->priv);
    free(l->priv);
}

static void load_goal_rank_init(const struct load *l, void *rank, uint32_t i)
{
    struct goal_rank r = {.g = l->priv, .rank = i};
    struct wr_err ignored;

    assert(i < l->ranks);
    (void)goal_rank_open(&r, l->priv, i, &ignored);
    goal_cursor_init(rank, &r);
}

static void load_goal_rank_fini(const struct load *l, void *rank)
{
    (void)l;
    goal_cursor_fini(rank);
}

static enum load_kind load_goal_translate(const struct goal_op *g, struct load_op *op)
{
    op->flags = LOAD_F_ASYNC | LOAD_F_REPORT | (g->nafter_start ? LOAD_F_START : 0);
    op->cpu = g->cpu;
    if (g->type == GOAL_CALC) {
        op->ps = g->size * PS_PER_NS;
        return LOAD_COMPUTE;
    }
    op->peer = g->peer == GOAL_ANY ? LOAD_ANY : g->peer;
    op->bytes = g->size;
    op->tag = g->tag;
    return g->type == GOAL_SEND ? LOAD_SEND : LOAD_RECV;
}

static enum load_kind load_goal_next(const struct load *l, void *rank, uint64_t now_ps,
                                     struct load_op *ret)
{
    struct goal_cursor *c = rank;
    struct goal_op op;
    uint32_t id;

    (void)l;
    (void)now_ps;
    switch (goal_cursor_next(c, &id, &op)) {
    case GOAL_START:
        ret->id = ret->where = id;
        return load_goal_translate(&op, ret);
    case GOAL_LATER:
        return LOAD_LATER;
    case GOAL_END:
        return LOAD_END;
    default:
        return LOAD_FAIL;
    }
}

static void load_goal_done(const struct load *l, void *rank, uint64_t id, enum load_event ev,
                           uint64_t now_ps)
{
    (void)l;
    (void)now_ps;
    if (ev == LOAD_STARTED)
        goal_cursor_started(rank, (uint32_t)id);
    else
        goal_cursor_done(rank, (uint32_t)id);
}

static bool load_goal_fault(const struct load *l, void *rank, struct wr_err *err)
{
    (void)l;
    return goal_cursor_fault(rank, err);
}

static void load_goal_where(const struct load *l, uint32_t at, char *buf, size_t n)
{
    (void)l;
    snprintf(buf, n, "operation %u", at);
}

const struct load_ops load_goal = {
    .kind = {"goal", "GOAL schedules (LogGOPSim, ATLAHS), text or binary", rows,
             sizeof(struct params)},
    .open = load_goal_open,
    .close = load_goal_close,
    .rank_init = load_goal_rank_init,
    .rank_fini = load_goal_rank_fini,
    .next = load_goal_next,
    .done = load_goal_done,
    .fault = load_goal_fault,
    .where = load_goal_where,
};
