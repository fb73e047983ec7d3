/* load_ncptl.c -- coNCePTuaL programs as a workload.
 *
 * Most operations are handed on one for one. What is not:
 *   MULTICASTS    blocking: a bcast; asynchronous: a message from the root to each member
 *   REDUCES       an allreduce, a reduce, or a reduce and a bcast among the targets
 *   FOR <time>    the end of an iteration is an allreduce: the minimum of all elapsed times
 *                 decides whether there is another
 *   LOGS, OUTPUTS are kept here until load_ncptl_finish()
 *
 * Ranks may be executed by several threads (load.h). What they share is then locked for a moment:
 * pools, lines and faults.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "load_ncptl.h"
#include "ncptl.h"
#include "ncptl_log.h"

enum { PS_PER_NS = 1000, POOL_CAP = 1 << 26, LEAST_PS = 1000 };

struct params {
    const char *file, *options;
};

static const struct conf_row rows[] = {
    {.key = "file",
     .type = CONF_PATH,
     .offset = offsetof(struct params, file),
     .help = "the program"},
    {.key = "options",
     .type = CONF_STRING,
     .offset = offsetof(struct params, options),
     .def = "",
     .help = "the program's own options, separated by blanks; `weir lang check FILE` lists them"},
    CONF_END,
};

/* What is left to be done of an operation that is handed on in parts. */
struct rest {
    struct ncptl_event ev;
    uint32_t part;
};

/* A timed loop that a rank is in. */
struct timed {
    uint32_t outer;
    uint64_t t_begin;
    uint64_t check_ps, check_ns; /* the end of the last iteration, and how long to repeat */
};

enum doing { DOING_NOTHING, DOING_STALL, DOING_CHECK, DOING_CAST, DOING_TARGETS };

/* The state of one rank, in the memory that the caller gives to it. */
struct task {
    uint32_t rest;  /* in the pool, while `doing` CAST or TARGETS */
    uint32_t timed; /* the innermost timed loop */
    uint8_t doing;
    bool broken;         /* failed outside of the interpreter: see program.faults */
    uint32_t checks;     /* ends of timed iterations so far */
    struct ncptl_rank r; /* with its slots */
};

struct line {
    uint32_t rank;
    uint64_t t_ps;
    size_t at; /* in the text */
};

struct broken {
    uint32_t rank;
    struct wr_err err;
};

/* One job. open() sets all up to nargs; the rest changes while ranks run, under `lock` if there are
 * several threads. */
struct program {
    struct ncptl_unit *unit;
    struct ncptl_prog *prog;
    struct ncptl_log *log;        /* NULL: not wanted */
    struct wr_pool rests, timeds; /* of struct rest, struct timed */
    char *options;                /* cut into words */
    const char **args;
    size_t nargs;
    /* Answers at the ends of timed iterations, by number: a task may come to the next end before
     * all have left the last one, but not to the one after that. */
    struct load_known verdict[2];
    WR_VEC(struct broken) faults; /* errors of ranks in their logs and texts */
    struct wr_str text;           /* what the ranks printed, each line ends with a NUL */
    WR_VEC(struct line) lines;    /* places in `text` */
    pthread_mutex_t lock;
};

static void load_ncptl_lock(const struct load *l)
{
    if (l->in_partitions)
        pthread_mutex_lock(&((struct program *)l->priv)->lock);
}

static void load_ncptl_unlock(const struct load *l)
{
    if (l->in_partitions)
        pthread_mutex_unlock(&((struct program *)l->priv)->lock);
}

/* ---- opening ---- */

static void load_ncptl_split_options(struct program *p, const char *text)
{
    char *save = NULL;
    size_t cap = 0;

    p->options = wr_strdup(text ? text : "");
    for (char *w = strtok_r(p->options, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save)) {
        wr_vec_grow((void **)&p->args, &cap, p->nargs + 1, sizeof *p->args);
        p->args[p->nargs++] = w;
    }
}

static void load_ncptl_close(struct load *l)
{
    struct program *p = l->priv;

    if (!p)
        return;
    ncptl_log_free(p->log);
    ncptl_close(p->prog);
    ncptl_unit_close(p->unit);
    wr_pool_fini(&p->rests);
    wr_pool_fini(&p->timeds);
    wr_str_fini(&p->text);
    wr_vec_fini(&p->lines);
    wr_vec_fini(&p->faults);
    pthread_mutex_destroy(&p->lock);
    free(p->options);
    free(p->args);
    free(p);
}

static bool load_ncptl_open(struct load *l, const struct load_start *how, struct wr_err *err)
{
    const struct params *want = l->params;
    struct program *p = wr_zalloc(1, sizeof *p);

    l->priv = p;
    pthread_mutex_init(&p->lock, NULL);
    load_ncptl_split_options(p, want->options);
    struct ncptl_start start = {.ntasks = how->ranks,
                                .seed = (int)(how->seed & 0x7fffffff),
                                .args = p->args,
                                .nargs = p->nargs};
    bool ok = ncptl_read(&p->unit, want->file, err) && ncptl_start(&p->prog, p->unit, &start, err);

    if (ok && ncptl_help_wanted(p->prog))
        ok = wr_fail(err, WR_INPUT, "%s: --help is for `weir lang check`; remove it from options",
                     want->file);
    if (!ok) {
        load_ncptl_close(l);
        l->priv = NULL;
        return false;
    }
    if (how->logs)
        p->log = ncptl_log_new(p->prog, true);
    wr_pool_init(&p->rests, "collectives under way", sizeof(struct rest), POOL_CAP);
    wr_pool_init(&p->timeds, "timed loops", sizeof(struct timed), POOL_CAP);
    l->ranks = ncptl_ntasks(p->prog);
    l->rank_size = offsetof(struct task, r) + ncptl_rank_size(p->prog);
    return true;
}

static void load_ncptl_rank_init(const struct load *l, void *rank, uint32_t i)
{
    const struct program *p = l->priv;
    struct task *t = rank;

    assert(i < l->ranks);
    memset(t, 0, offsetof(struct task, r));
    t->rest = t->timed = WR_NIL;
    ncptl_rank_init(p->prog, &t->r, i);
}

static void load_ncptl_rank_fini(const struct load *l, void *rank)
{
    const struct program *p = l->priv;

    ncptl_rank_fini(p->prog, &((struct task *)rank)->r);
}

/* ---- collectives ---- */

static struct load_group load_ncptl_group(const struct ncptl_group *g)
{
    return (struct load_group){.n = g->n,
                               .first = g->first,
                               .step = g->step,
                               .hole = g->hole,
                               .lead = LOAD_NO_RANK,
                               .list = g->list,
                               .key = g->key};
}

/* The group and the root, which it does not hold. */
static struct load_group load_ncptl_group_with(const struct ncptl_group *g, uint32_t root)
{
    struct load_group ret = load_ncptl_group(g);
    uint32_t gap = g->list ? root : g->first + g->hole * g->step;

    ret.key = g->key * UINT64_C(0x9e3779b97f4a7c15) + root + 1;
    if (g->hole != UINT32_MAX && (g->list ? g->list[g->hole] : gap) == root) {
        ret.hole = UINT32_MAX;
        ret.n++;
    } else {
        ret.lead = root;
    }
    return ret;
}

static enum load_kind load_ncptl_collective(struct load_op *op, enum load_coll coll,
                                            struct load_group group, uint32_t root, int64_t bytes)
{
    op->coll = (uint8_t)coll;
    op->group = group;
    op->root = root;
    op->bytes = (uint64_t)bytes;
    return LOAD_COLL;
}

static struct rest *load_ncptl_keep_rest(const struct load *l, struct task *t,
                                         const struct ncptl_event *ev, enum doing doing)
{
    struct program *p = l->priv;

    assert(t->rest == WR_NIL);
    load_ncptl_lock(l);
    t->rest = wr_pool_take(&p->rests);
    load_ncptl_unlock(l);
    t->doing = (uint8_t)doing;
    struct rest *rest = wr_pool_at(&p->rests, t->rest);

    rest->ev = *ev;
    rest->part = 0;
    return rest;
}

static void load_ncptl_drop_rest(const struct load *l, struct task *t)
{
    struct program *p = l->priv;

    assert(t->rest != WR_NIL);
    load_ncptl_lock(l);
    wr_pool_give(&p->rests, t->rest);
    load_ncptl_unlock(l);
    t->rest = WR_NIL;
    t->doing = DOING_NOTHING;
}

/* The tag of multicasts is out of the way of other messages' tags. */
static int64_t load_ncptl_cast_tag(const struct ncptl_event *ev)
{
    return (int64_t)((uint64_t)ev->tag ^ UINT64_C(0x6d63617374000000));
}

static enum load_kind load_ncptl_cast_next(const struct load *l, struct task *t, struct load_op *op)
{
    const struct program *p = l->priv;
    struct rest *rest = wr_pool_at(&p->rests, t->rest);

    op->where = rest->ev.stmt;
    op->flags = LOAD_F_ASYNC;
    op->peer = ncptl_member(&rest->ev.group, rest->part);
    op->bytes = (uint64_t)rest->ev.bytes;
    op->tag = load_ncptl_cast_tag(&rest->ev);
    if (++rest->part == rest->ev.group.n)
        load_ncptl_drop_rest(l, t);
    return LOAD_SEND;
}

static enum load_kind load_ncptl_multicast(const struct load *l, struct task *t,
                                           const struct ncptl_event *ev, struct load_op *op)
{
    if (!(ev->flags & NCPTL_F_ASYNC))
        return load_ncptl_collective(op, LOAD_BCAST, load_ncptl_group_with(&ev->group, ev->peer),
                                     ev->peer, ev->bytes);
    op->flags = LOAD_F_ASYNC;
    if (ev->peer == t->r.proc) {
        load_ncptl_keep_rest(l, t, ev, DOING_CAST);
        return load_ncptl_cast_next(l, t, op);
    }
    op->peer = ev->peer;
    op->bytes = (uint64_t)ev->bytes;
    op->tag = load_ncptl_cast_tag(ev);
    return LOAD_RECV;
}

static enum load_kind load_ncptl_bcast_targets(const struct load *l, struct task *t,
                                               struct load_op *op)
{
    const struct program *p = l->priv;
    struct rest *rest = wr_pool_at(&p->rests, t->rest);
    struct load_group group = load_ncptl_group(&rest->ev.targets);
    int64_t bytes = rest->ev.bytes;

    op->where = rest->ev.stmt;
    load_ncptl_drop_rest(l, t);
    return load_ncptl_collective(op, LOAD_BCAST, group, load_member(&group, 0), bytes);
}

static enum load_kind load_ncptl_reduction(const struct load *l, struct task *t,
                                           const struct ncptl_event *ev, struct load_op *op)
{
    struct load_group group = load_ncptl_group(&ev->group);
    uint32_t me = t->r.proc, root = ncptl_member(&ev->targets, 0);
    bool target = ncptl_group_index(&ev->targets, me) >= 0;

    if (ev->group.key == ev->targets.key && ev->group.n == ev->targets.n)
        return load_ncptl_collective(op, LOAD_ALLREDUCE, group, root, ev->bytes);
    if (load_group_index(&group, root) < 0)
        group = load_ncptl_group_with(&ev->group, root);
    if (target && ev->targets.n > 1)
        load_ncptl_keep_rest(l, t, ev, DOING_TARGETS);
    if (load_group_index(&group, me) >= 0)
        return load_ncptl_collective(op, LOAD_REDUCE, group, root, ev->bytes);
    return load_ncptl_bcast_targets(l, t, op);
}

/* ---- timed loops ---- */

static void load_ncptl_timed_begin(const struct load *l, struct task *t)
{
    struct program *p = l->priv;

    load_ncptl_lock(l);
    uint32_t h = wr_pool_take(&p->timeds);

    load_ncptl_unlock(l);
    *(struct timed *)wr_pool_at(&p->timeds, h) =
        (struct timed){.outer = t->timed, .t_begin = t->r.now_ps, .check_ps = t->r.now_ps};
    t->timed = h;
}

static void load_ncptl_timed_end(const struct load *l, struct task *t)
{
    struct program *p = l->priv;
    uint32_t outer = ((struct timed *)wr_pool_at(&p->timeds, t->timed))->outer;

    assert(t->timed != WR_NIL);
    load_ncptl_lock(l);
    wr_pool_give(&p->timeds, t->timed);
    load_ncptl_unlock(l);
    t->timed = outer;
}

static struct load_known *load_ncptl_verdict(const struct load *l, uint32_t number)
{
    struct program *p = l->priv;

    return &(l->known ? l->known : p->verdict)[number % 2];
}

/* A task has come to the end of an iteration. There is another if any task wants one, which is what
 * the minimum of all elapsed times says; no task leaves the allreduce before a message could have
 * brought the decision. */
static void load_ncptl_timed_vote(const struct load *l, const struct task *t)
{
    const struct program *p = l->priv;
    const struct timed *loop = wr_pool_at(&p->timeds, t->timed);
    struct load_known *verdict = load_ncptl_verdict(l, t->checks);

    assert(t->timed != WR_NIL);
    if (verdict->number != t->checks)
        *verdict = (struct load_known){.number = t->checks};
    if (verdict->answer || t->r.now_ps - loop->t_begin >= loop->check_ns * PS_PER_NS)
        return;
    verdict->answer = true;
    if (l->announce)
        l->announce(l->announce_ctx, *verdict);
}

/* All tasks have come to the end of the iteration. */
static void load_ncptl_timed_follow(const struct load *l, struct task *t)
{
    const struct program *p = l->priv;
    struct timed *loop = wr_pool_at(&p->timeds, t->timed);
    const struct load_known *verdict = load_ncptl_verdict(l, t->checks);

    assert(verdict->number == t->checks);
    t->r.again = verdict->answer;
    loop->check_ps = t->r.now_ps;
    t->doing = DOING_NOTHING;
}

/* As coNCePTuaL's C and MPI back end does: an allreduce of the elapsed time, a 64-bit number. */
static enum load_kind load_ncptl_timed_allreduce(const struct load *l, struct task *t,
                                                 struct load_op *op)
{
    const struct program *p = l->priv;

    t->doing = DOING_CHECK;
    t->checks++;
    load_ncptl_timed_vote(l, t);
    return load_ncptl_collective(op, LOAD_ALLREDUCE, load_group_all(ncptl_ntasks(p->prog)), 0,
                                 sizeof(uint64_t));
}

static enum load_kind load_ncptl_timed_check(const struct load *l, struct task *t,
                                             const struct ncptl_event *ev, struct load_op *op)
{
    const struct program *p = l->priv;
    struct timed *loop = wr_pool_at(&p->timeds, t->timed);

    loop->check_ns = (uint64_t)ev->nsecs;
    if (t->r.now_ps != loop->check_ps)
        return load_ncptl_timed_allreduce(l, t, op);
    /* An iteration that takes no time would be repeated forever. */
    t->doing = DOING_STALL;
    op->ps = LEAST_PS;
    return LOAD_COMPUTE;
}

/* ---- what is kept ---- */

static enum load_kind load_ncptl_fail(const struct load *l, struct task *t,
                                      const struct wr_err *err)
{
    struct program *p = l->priv;
    struct broken broken = {t->r.proc, *err};

    t->broken = true;
    load_ncptl_lock(l);
    wr_vec_push(&p->faults, broken);
    load_ncptl_unlock(l);
    return LOAD_FAIL;
}

/* LOAD_KINDS: it takes no time. */
static enum load_kind load_ncptl_keep_text(const struct load *l, struct task *t,
                                           const struct ncptl_event *ev)
{
    struct program *p = l->priv;
    struct wr_err err;

    if (!p->log)
        return LOAD_KINDS;
    load_ncptl_lock(l);
    struct line line = {t->r.proc, t->r.now_ps, p->text.n};
    bool ok = ncptl_text(p->prog, &t->r, ev, &p->text, &err);

    if (ok) {
        wr_str_addn(&p->text, "", 1);
        wr_vec_push(&p->lines, line);
    }
    load_ncptl_unlock(l);
    return ok ? LOAD_KINDS : load_ncptl_fail(l, t, &err);
}

static enum load_kind load_ncptl_keep_log(const struct load *l, struct task *t,
                                          const struct ncptl_event *ev, struct load_op *op)
{
    struct program *p = l->priv;
    struct wr_err err;

    if (p->log && !ncptl_log_add(p->log, &t->r, ev, &err))
        return load_ncptl_fail(l, t, &err);
    op->mark = ev->table;
    return LOAD_MARK;
}

/* ---- the next operation ---- */

static enum load_kind load_ncptl_message(struct load_op *op, const struct ncptl_event *ev,
                                         enum load_kind kind)
{
    op->peer = ev->peer;
    op->bytes = (uint64_t)ev->bytes;
    op->tag = ev->tag;
    op->flags = ev->flags & NCPTL_F_ASYNC ? LOAD_F_ASYNC : 0;
    return kind;
}

static enum load_kind load_ncptl_file_access(struct load_op *op, const struct ncptl_event *ev,
                                             enum load_kind kind)
{
    op->file = ev->file;
    op->bytes = (uint64_t)ev->bytes;
    op->offset = (uint64_t)ev->offset;
    op->mode = (uint8_t)ev->mode;
    op->flags = ev->flags & NCPTL_F_ASYNC ? LOAD_F_ASYNC : 0;
    if (ev->flags & NCPTL_F_COLL) {
        op->flags |= LOAD_F_COLL;
        op->group = load_ncptl_group(&ev->group);
    }
    return kind;
}

static enum load_kind load_ncptl_delay(struct load_op *op, const struct ncptl_event *ev,
                                       enum load_kind kind)
{
    op->ps = ev->nsecs > 0 ? (uint64_t)ev->nsecs * PS_PER_NS : 0;
    return kind;
}

/* LOAD_KINDS: it takes no time and needs no other rank. */
static enum load_kind load_ncptl_translate(const struct load *l, struct task *t,
                                           const struct ncptl_event *ev, struct load_op *op)
{
    op->where = ev->stmt;
    switch (ev->op) {
    case NCPTL_END:
        return LOAD_END;
    case NCPTL_FAIL:
        return LOAD_FAIL;
    case NCPTL_SEND:
        return load_ncptl_message(op, ev, LOAD_SEND);
    case NCPTL_RECV:
        return load_ncptl_message(op, ev, LOAD_RECV);
    case NCPTL_WAIT:
        op->of = (ev->of & NCPTL_SENDS ? LOAD_SENDS : 0) | (ev->of & NCPTL_RECVS ? LOAD_RECVS : 0) |
                 (ev->of & NCPTL_IOS ? LOAD_IOS : 0);
        return LOAD_WAIT;
    case NCPTL_BARRIER:
        return load_ncptl_collective(op, LOAD_BARRIER, load_ncptl_group(&ev->group), 0, 0);
    case NCPTL_MCAST:
        return load_ncptl_multicast(l, t, ev, op);
    case NCPTL_REDUCE:
        return load_ncptl_reduction(l, t, ev, op);
    case NCPTL_COMPUTE:
        return load_ncptl_delay(op, ev, LOAD_COMPUTE);
    case NCPTL_SLEEP:
        return load_ncptl_delay(op, ev, LOAD_SLEEP);
    case NCPTL_OPEN:
        return load_ncptl_file_access(op, ev, LOAD_OPEN);
    case NCPTL_CLOSE:
        return load_ncptl_file_access(op, ev, LOAD_CLOSE);
    case NCPTL_WRITE:
        return load_ncptl_file_access(op, ev, LOAD_WRITE);
    case NCPTL_READ:
        return load_ncptl_file_access(op, ev, LOAD_READ);
    case NCPTL_FLUSH:
        return load_ncptl_file_access(op, ev, LOAD_FLUSH);
    case NCPTL_LOG:
    case NCPTL_AGGREGATE:
        return load_ncptl_keep_log(l, t, ev, op);
    case NCPTL_OUTPUT:
        return load_ncptl_keep_text(l, t, ev);
    case NCPTL_TIMED_BEGIN:
        load_ncptl_timed_begin(l, t);
        return LOAD_KINDS;
    case NCPTL_TIMED_CHECK:
        return load_ncptl_timed_check(l, t, ev, op);
    case NCPTL_TIMED_END:
        load_ncptl_timed_end(l, t);
        return LOAD_KINDS;
    default:
        return LOAD_KINDS;
    }
}

static enum load_kind load_ncptl_next(const struct load *l, void *rank, uint64_t now_ps,
                                      struct load_op *ret)
{
    struct program *p = l->priv;
    struct task *t = rank;
    struct ncptl_event ev;

    t->r.now_ps = now_ps;
    if (t->doing == DOING_CAST)
        return load_ncptl_cast_next(l, t, ret);
    if (t->doing == DOING_TARGETS)
        return load_ncptl_bcast_targets(l, t, ret);
    if (t->doing == DOING_STALL)
        return load_ncptl_timed_allreduce(l, t, ret);
    if (t->doing == DOING_CHECK)
        load_ncptl_timed_follow(l, t);
    for (;;) {
        ncptl_next(p->prog, &t->r, &ev);
        enum load_kind kind = load_ncptl_translate(l, t, &ev, ret);

        if (kind == LOAD_MARK && ev.op == NCPTL_AGGREGATE)
            continue;
        if (kind != LOAD_KINDS)
            return kind;
    }
}

static bool load_ncptl_fault(const struct load *l, void *rank, struct wr_err *err)
{
    const struct program *p = l->priv;
    const struct task *t = rank;

    if (!t->broken)
        return ncptl_fault(p->prog, &t->r, err);
    for (size_t i = 0; i < p->faults.n; i++)
        if (p->faults.v[i].rank == t->r.proc)
            *err = p->faults.v[i].err;
    return false;
}

static void load_ncptl_where(const struct load *l, uint32_t stmt, char *buf, size_t n)
{
    const struct program *p = l->priv;

    ncptl_where(p->prog, stmt, buf, n);
}

/* ---- from one process to another ---- */

static void load_ncptl_pack(const struct load *l, const bool *mine, struct wr_bytes *out)
{
    const struct program *p = l->priv;
    size_t n = 0;

    if (!p->log)
        return;
    for (uint32_t i = 0; i < l->ranks; i++)
        if (mine[i])
            ncptl_log_pack(p->log, i, out);
    for (size_t i = 0; i < p->lines.n; i++)
        n += mine[p->lines.v[i].rank];
    wr_bytes_u64(out, n);
    for (size_t i = 0; n && i < p->lines.n; i++)
        if (mine[p->lines.v[i].rank]) {
            wr_bytes_u64(out, p->lines.v[i].rank);
            wr_bytes_u64(out, p->lines.v[i].t_ps);
            wr_bytes_text(out, p->text.s + p->lines.v[i].at);
        }
}

static void load_ncptl_take(const struct load *l, const bool *mine, struct wr_reader *in)
{
    struct program *p = l->priv;

    if (!p->log)
        return;
    for (uint32_t i = 0; i < l->ranks; i++)
        if (mine[i])
            ncptl_log_take(p->log, i, in);
    for (size_t n = wr_read_count(in, 3); n; n--) {
        uint32_t rank = (uint32_t)wr_read_below(in, l->ranks);
        struct line line = {rank, wr_read_u64(in), p->text.n};
        char *text = wr_read_text(in);

        wr_str_addn(&p->text, text, strlen(text) + 1);
        wr_vec_push(&p->lines, line);
        free(text);
    }
}

/* ---- the end ---- */

struct giving {
    const struct program *p;
    const struct load_out *out;
    struct wr_err *err;
    bool ok;
};

static void load_ncptl_give_value(void *ctx, uint32_t proc, uint32_t column, uint32_t part,
                                  uint64_t row, double value)
{
    struct giving *g = ctx;
    const struct ncptl_column *c = ncptl_column(g->p->prog, column);
    struct wr_str aggregate = {0};

    if (!g->ok)
        return;
    ncptl_aggregate_text(c, part, &aggregate);
    struct load_log v = {.rank = proc,
                         .table = c->table,
                         .column = column,
                         .title = c->title,
                         .aggregate = wr_str_get(&aggregate),
                         .row = row,
                         .value = value};
    g->ok = g->out->value(g->out->ctx, &v, g->err);
    wr_str_fini(&aggregate);
}

/* In the order in which they were printed: threads do not keep it, a thread does. */
static int load_ncptl_by_time(const void *a, const void *b, void *ctx)
{
    const struct line *x = a, *y = b;
    const uint32_t *order = ctx;

    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    if (order[x->rank] != order[y->rank])
        return order[x->rank] < order[y->rank] ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

static bool load_ncptl_finish(struct load *l, const struct load_out *out, struct wr_err *err)
{
    struct program *p = l->priv;
    struct giving g = {p, out, err, true};

    if (!p->log)
        return true;
    if (l->order && p->lines.n)
        qsort_r(p->lines.v, p->lines.n, sizeof *p->lines.v, load_ncptl_by_time, (void *)l->order);
    struct wr_err fault;

    if (!ncptl_log_finish(p->log, &fault) && out->fault)
        out->fault(out->ctx, &fault);
    if (out->value)
        ncptl_log_each(p->log, load_ncptl_give_value, &g);
    for (size_t i = 0; g.ok && out->text && i < p->lines.n; i++)
        g.ok = out->text(out->ctx, p->lines.v[i].rank, p->lines.v[i].t_ps,
                         p->text.s + p->lines.v[i].at, err);
    return g.ok;
}

static void load_ncptl_print(const struct load *l, struct wr_str *out)
{
    const struct program *p = l->priv;

    if (p->log)
        ncptl_log_print(p->log, out);
}

const struct load_ops load_ncptl = {
    .kind = {.name = "ncptl",
             .summary = "a coNCePTuaL program, executed by every rank",
             .rows = rows,
             .params_size = sizeof(struct params)},
    .open = load_ncptl_open,
    .close = load_ncptl_close,
    .rank_init = load_ncptl_rank_init,
    .rank_fini = load_ncptl_rank_fini,
    .next = load_ncptl_next,
    .fault = load_ncptl_fault,
    .where = load_ncptl_where,
    .pack = load_ncptl_pack,
    .take = load_ncptl_take,
    .finish = load_ncptl_finish,
    .print = load_ncptl_print,
};
