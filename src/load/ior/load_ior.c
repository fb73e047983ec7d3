/* load_ior.c -- an IOR command line as a workload.
 *
 * Translates the events of ior_next() one by one; the state of a rank is a struct ior_rank.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ior.h"
#include "load_ior.h"

struct params {
    const char *command;
    uint32_t per_node;
};

static const struct conf_row rows[] = {
    {.key = "command",
     .type = CONF_STRING,
     .offset = offsetof(struct params, command),
     .help = "as for the benchmark: ior -a MPIIO -b 16m -t 1m -F; `weir lang ior` looks at it"},
    {.key = "tasks_per_node",
     .type = CONF_U32,
     .offset = offsetof(struct params, per_node),
     .def = "1",
     .min = 1,
     .max = 1e6,
     .help = "ranks of a node, neighbours in number: -C reads what a rank so far away wrote"},
    CONF_END,
};

static const uint64_t ps_per_s = 1000000000000;

struct priv {
    struct ior_test test;
    struct ior_where where;
};

static bool load_ior_open(struct load *l, const struct load_start *how, struct wr_err *err)
{
    const struct params *par = l->params;
    struct priv *p = wr_zalloc(1, sizeof *p);

    if (!how->ranks) {
        free(p);
        return wr_fail(err, WR_INPUT, "how many ranks run IOR? Set the job's ranks");
    }
    if (!ior_parse(&p->test, par->command, how->ranks, err)) {
        free(p);
        return false;
    }
    p->where = (struct ior_where){
        .ntasks = p->test.tasks ? (uint32_t)p->test.tasks : how->ranks,
        .per_node = par->per_node,
        .seed = how->seed,
    };
    l->priv = p;
    l->ranks = how->ranks;
    l->rank_size = sizeof(struct ior_rank);
    return true;
}

static void load_ior_close(struct load *l)
{
    struct priv *p = l->priv;

    ior_fini(&p->test);
    free(p);
}

static void load_ior_rank_init(const struct load *l, void *rank, uint32_t i)
{
    assert(i < l->ranks);
    (void)l;
    ior_rank_init(rank, i);
}

static enum load_kind load_ior_next(const struct load *l, void *rank, uint64_t now_ps,
                                    struct load_op *ret)
{
    static const enum load_kind kinds[] = {
        [IOR_END] = LOAD_END,     [IOR_BARRIER] = LOAD_COLL, [IOR_OPEN] = LOAD_OPEN,
        [IOR_WRITE] = LOAD_WRITE, [IOR_READ] = LOAD_READ,    [IOR_FLUSH] = LOAD_FLUSH,
        [IOR_CLOSE] = LOAD_CLOSE, [IOR_SLEEP] = LOAD_SLEEP,  [IOR_MARK] = LOAD_MARK,
    };
    const struct priv *p = l->priv;
    struct ior_event ev;
    enum ior_op op = ior_next(&p->test, &p->where, rank, now_ps, &ev);

    ret->file = ev.file;
    ret->mode = ev.writes ? LOAD_MODE_WRITE : LOAD_MODE_READ;
    ret->bytes = ev.bytes;
    ret->offset = ev.offset;
    ret->ps = ev.seconds * ps_per_s;
    ret->mark = ev.mark;
    if (op == IOR_BARRIER) {
        ret->coll = LOAD_BARRIER;
        ret->group = load_group_all(p->where.ntasks);
    }
    if (p->test.collective && (op == IOR_WRITE || op == IOR_READ)) {
        ret->flags = LOAD_F_COLL;
        ret->group = load_group_all(p->where.ntasks);
    }
    return kinds[op];
}

const struct load_ops load_ior = {
    .kind = {"ior", "command lines of the IOR benchmark", rows, sizeof(struct params)},
    .open = load_ior_open,
    .close = load_ior_close,
    .rank_init = load_ior_rank_init,
    .next = load_ior_next,
};
