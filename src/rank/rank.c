/* rank.c -- a rank gets its next operation from its workload and executes it.
 *
 * Owns struct ranks: set-up, the event handlers, and op_table, one function per kind of operation.
 * Those return true when the rank can continue at once, false when an event or a completion will
 * wake it. Invariant: `live` counts events and messages of the ranks that are pending; 0 with ranks
 * that have not ended is a deadlock (ranks_state).
 */
#include "rank.h"

#include <assert.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "rank_priv.h"

_Static_assert(LOAD_COLLS + RANK_ACCOUNTS <= UINT8_MAX, "struct rank.account is a byte");

enum {
    POOL_CAP = 1 << 28,
    MOST_AT_ONCE = 4096, /* operations of one rank in one event, so that Ctrl-C is noticed */
};

/* ---- time ---- */

void rank_event(struct ranks *rs, struct rank *r, uint64_t t_ps, uint32_t kind, uint32_t arg)
{
    uint32_t me = rank_index(rs, r);

    wr_check(me < rs->n && kind < RANK_EV_NOTIFY && t_ps >= rs->sim->now);
    rs->live++;
    sim_at(rs->sim, t_ps, rs->wire.lp(rs->wire.ctx, r->node),
           sim_subkey(rs->kind0 + kind, me & 0xffffff), r->seq++, arg, me);
}

void rank_enter(struct ranks *rs, struct rank *r, uint32_t account)
{
    rank_update_account(rs, r);
    r->account = (uint8_t)account;
}

uint64_t rank_charge(struct ranks *rs, struct rank *r, uint64_t ps)
{
    if (r->busy_ps < rs->sim->now)
        r->busy_ps = rs->sim->now;
    r->busy_ps += ps;
    r->overhead_ps += ps;
    return r->busy_ps;
}

void rank_wake(struct ranks *rs, struct rank *r)
{
    if (r->scheduled)
        return;
    r->scheduled = true;
    rank_event(rs, r, r->busy_ps > rs->sim->now ? r->busy_ps : rs->sim->now, RANK_EV_RUN,
               rank_index(rs, r));
}

uint64_t *rank_cpu(const struct ranks *rs, const struct rank *r, uint32_t cpu)
{
    const struct rank_jobs *j = &rs->job[r->job];

    if (!j->load.cpus)
        return NULL;
    return &j->cpu[(uint64_t)(rank_index(rs, r) - j->first) * j->load.cpus + cpu % j->load.cpus];
}

/* ---- requests ---- */

uint32_t rank_new_req(struct ranks *rs, struct rank *r, enum rank_req_kind kind, uint8_t flags)
{
    uint32_t h = wr_pool_take(&rs->reqs);

    *rank_req(rs, h) = (struct rank_req){
        .rank = rank_index(rs, r), .kind = (uint8_t)kind, .flags = flags, .where = r->where};
    return h;
}

static void *rank_load(const struct ranks *rs, const struct rank *r)
{
    const struct rank_jobs *j = &rs->job[r->job];

    return j->state + (size_t)(rank_index(rs, r) - j->first) * j->load.rank_size;
}

static void rank_report(struct ranks *rs, struct rank *r, const struct rank_req *q,
                        enum load_event ev)
{
    const struct rank_jobs *j = &rs->job[r->job];

    j->load.ops->done(&j->load, rank_load(rs, r), q->id, ev, rs->sim->now - j->start_ps);
}

static bool rank_still_waits(const struct rank *r)
{
    for (int k = 0; k < REQ_KINDS; k++)
        if (r->of >> k & 1 && r->pending[k])
            return true;
    return false;
}

/* The account of a waiting rank: I/O, if it waits for accesses to files only. */
static uint32_t rank_waiting_for(const struct rank *r)
{
    bool comm = (r->of & LOAD_SENDS && r->pending[REQ_SEND]) ||
                (r->of & LOAD_RECVS && r->pending[REQ_RECV]);

    return !comm && r->of & LOAD_IOS && r->pending[REQ_IO] ? RANK_IO : RANK_WAIT;
}

/* The account of a rank that listens for any completion: by what it has pending. */
static uint32_t rank_listening_to(const struct rank *r)
{
    if (r->pending[REQ_COMPUTE])
        return RANK_COMPUTE;
    if (r->pending[REQ_SEND] || r->pending[REQ_RECV])
        return RANK_WAIT;
    return r->pending[REQ_IO] ? RANK_IO : RANK_IDLE;
}

static void rank_completed_async(struct ranks *rs, struct rank *r, const struct rank_req *q)
{
    wr_check(r->pending[q->kind]);
    r->pending[q->kind]--;
    if (q->flags & REQ_REPORT)
        rank_report(rs, r, q, LOAD_COMPLETE);
    if (r->state == RANK_LISTENING ||
        (r->state == RANK_WAITING && (r->some || !rank_still_waits(r))))
        rank_wake(rs, r);
    else if (r->state == RANK_WAITING && rank_waiting_for(r) != r->account)
        rank_enter(rs, r, rank_waiting_for(r));
}

void rank_complete(struct ranks *rs, uint32_t h)
{
    struct rank_req q = *rank_req(rs, h);
    struct rank *r = &rs->rank[q.rank];

    wr_check(q.kind < REQ_KINDS);
    wr_pool_give(&rs->reqs, h);
    if (q.flags & REQ_COLL) {
        struct rank_coll *c = wr_pool_at(&rs->colls_open, r->coll);

        if (!--c->left && !r->calling)
            rank_wake(rs, r);
    } else if (q.flags & REQ_ASYNC) {
        rank_completed_async(rs, r, &q);
    } else {
        wr_check(r->blocking == h);
        r->blocking = WR_NIL;
        if (!r->calling)
            rank_wake(rs, r);
    }
}

/* ---- operations: true when the rank can continue at once ---- */

/* The operation is done; the rank continues when its processor is free. */
static bool rank_ready(struct ranks *rs, struct rank *r)
{
    r->state = RANK_READY;
    if (r->busy_ps <= rs->sim->now)
        return true;
    rank_wake(rs, r);
    return false;
}

static uint8_t rank_req_flags(const struct load_op *op)
{
    return (uint8_t)((op->flags & LOAD_F_ASYNC ? REQ_ASYNC : 0) |
                     (op->flags & LOAD_F_REPORT ? REQ_REPORT : 0));
}

static uint32_t rank_op_request(struct ranks *rs, struct rank *r, const struct load_op *op,
                                enum rank_req_kind kind)
{
    uint32_t h = rank_new_req(rs, r, kind, rank_req_flags(op));
    struct rank_req *q = rank_req(rs, h);

    q->peer = op->peer;
    q->bytes = op->bytes;
    q->tag = op->tag;
    q->id = op->id;
    q->cpu = op->cpu;
    q->ctx = CTX_POINT;
    return h;
}

/* An asynchronous operation begins. */
static void rank_started(struct ranks *rs, struct rank *r, const struct load_op *op, uint32_t h)
{
    if (op->flags & LOAD_F_START)
        rank_report(rs, r, rank_req(rs, h), LOAD_STARTED);
}

static void rank_charge_debt(struct ranks *rs, struct rank *r)
{
    rank_catch_up(rs, r);
    if (r->debt_ps)
        rank_charge(rs, r, r->debt_ps);
    r->debt_ps = 0;
}

static bool rank_op_message(struct ranks *rs, struct rank *r, const struct load_op *op,
                            enum rank_req_kind kind)
{
    void (*begin)(struct ranks *, struct rank *, uint32_t) =
        kind == REQ_SEND ? rank_send : rank_recv;
    uint32_t h = rank_op_request(rs, r, op, kind);
    bool graph = rs->job[r->job].load.cpus;

    if (!graph)
        rank_enter(rs, r, kind == REQ_SEND ? RANK_SEND : RANK_RECV);
    r->calling = true;
    if (op->flags & LOAD_F_ASYNC) {
        r->pending[kind]++;
        rank_started(rs, r, op, h);
        rank_catch_up(rs, r);
        begin(rs, r, h);
    } else {
        r->blocking = h;
        r->state = RANK_BLOCKED;
        rank_charge_debt(rs, r);
        begin(rs, r, h);
    }
    r->calling = false;
    return (op->flags & LOAD_F_ASYNC || r->blocking == WR_NIL) && rank_ready(rs, r);
}

static bool rank_op_send(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    return rank_op_message(rs, r, op, REQ_SEND);
}

static bool rank_op_recv(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    return rank_op_message(rs, r, op, REQ_RECV);
}

/* On its own CPU, concurrently with the rank's other operations. */
static bool rank_compute_async(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    uint32_t h = rank_op_request(rs, r, op, REQ_COMPUTE);
    struct rank_req *q = rank_req(rs, h);
    uint64_t *cpu = rank_cpu(rs, r, op->cpu), now = rs->sim->now, from = now;

    if (cpu) {
        from = *cpu > now ? *cpu : now;
        *cpu = from + op->ps;
    }
    r->pending[REQ_COMPUTE]++;
    q->ps = op->ps;
    if (op->flags & LOAD_F_START && from > now) {
        q->flags |= REQ_START;
        rank_event(rs, r, from, RANK_EV_DONE, h);
        return true;
    }
    rank_started(rs, r, op, h);
    rank_event(rs, r, from + op->ps, RANK_EV_DONE, h);
    return true;
}

static bool rank_op_compute(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    if (op->flags & LOAD_F_ASYNC)
        return rank_compute_async(rs, r, op);
    rank_enter(rs, r, RANK_COMPUTE);
    if (!op->ps)
        return true;
    r->state = RANK_DELAYED;
    r->scheduled = true;
    rank_event(rs, r, rs->sim->now + op->ps, RANK_EV_RUN, rank_index(rs, r));
    return false;
}

static bool rank_op_sleep(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    bool on = rank_op_compute(rs, r, op);

    r->account = RANK_IDLE;
    return on;
}

static bool rank_op_wait(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    r->of = op->of;
    r->some = op->flags & LOAD_F_SOME;
    rank_enter(rs, r, rank_waiting_for(r));
    r->state = RANK_WAITING;
    rank_charge_debt(rs, r);
    return rank_still_waits(r) ? false : rank_ready(rs, r);
}

static bool rank_op_coll(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    rank_charge_debt(rs, r);
    return rank_coll_begin(rs, r, op) && rank_ready(rs, r);
}

static void rank_begin_access(struct ranks *rs, struct rank *r, const struct load_op *op,
                              enum load_kind kind, uint32_t h)
{
    struct rank_access a = {.node = r->node,
                            .rank = rank_index(rs, r),
                            .app = rs->job[r->job].app,
                            .kind = (uint8_t)kind,
                            .mode = op->mode,
                            .flags = op->flags,
                            .file = op->file,
                            .offset = op->offset,
                            .bytes = op->bytes};

    rank_req(rs, h)->ps = rs->sim->now;
    if (rs->files.begin) {
        rs->live++;
        rs->files.begin(rs->files.ctx, &a, h);
    } else {
        rank_event(rs, r, rs->sim->now + rs->io_ps, RANK_EV_DONE, h);
    }
}

void ranks_accessed(struct ranks *rs, uint64_t user, const uint64_t *cause_ps)
{
    wr_check(rank_req(rs, (uint32_t)user)->kind == REQ_IO);
    rs->live--;
    rank_attribute_access(rs, rank_req(rs, (uint32_t)user), cause_ps);
    rank_complete(rs, (uint32_t)user);
}

static bool rank_op_io(struct ranks *rs, struct rank *r, const struct load_op *op,
                       enum load_kind kind)
{
    uint32_t h = rank_op_request(rs, r, op, REQ_IO);

    rs->cold[rank_index(rs, r)].accesses++;
    if (!rs->job[r->job].load.cpus)
        rank_enter(rs, r, RANK_IO);
    rank_begin_access(rs, r, op, kind, h);
    if (op->flags & LOAD_F_ASYNC) {
        r->pending[REQ_IO]++;
        rank_started(rs, r, op, h);
        return true;
    }
    r->blocking = h;
    r->state = RANK_BLOCKED;
    return false;
}

static bool rank_op_read(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    rs->cold[rank_index(rs, r)].read_b += op->bytes;
    return rank_op_io(rs, r, op, LOAD_READ);
}

static bool rank_op_write(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    rs->cold[rank_index(rs, r)].written_b += op->bytes;
    return rank_op_io(rs, r, op, LOAD_WRITE);
}

static bool rank_op_open(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    return rank_op_io(rs, r, op, LOAD_OPEN);
}

static bool rank_op_close(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    return rank_op_io(rs, r, op, LOAD_CLOSE);
}

static bool rank_op_flush(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    return rank_op_io(rs, r, op, LOAD_FLUSH);
}

static bool rank_op_mark(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    struct rank_jobs *j = &rs->job[r->job];
    uint32_t me = rank_index(rs, r);
    uint64_t t = rs->sim->now - j->start_ps;
    struct rank_mark *m = wr_pool_at(&rs->marks, wr_pool_take(&rs->marks));

    *m = (struct rank_mark){me, op->mark, t};
    if (rs->cold[me].last_mark)
        wr_hist_add(j->iteration, t + 1 - rs->cold[me].last_mark);
    rs->cold[me].last_mark = t + 1;
    return true;
}

static bool rank_op_later(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    (void)op;
    r->state = RANK_LISTENING;
    rank_enter(rs, r, rank_listening_to(r));
    return false;
}

static bool rank_op_end(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    struct rank_jobs *j = &rs->job[r->job];

    (void)op;
    wr_check(j->left && rs->left);
    r->state = RANK_OVER;
    rank_enter(rs, r, RANK_IDLE);
    j->end_ps = rs->sim->now;
    if (!--j->left && rs->team)
        rank_team_job_ended(rs, r->job);
    if (!--rs->left) {
        rs->ended_ps = rs->sim->now;
        if (rs->team)
            rank_team_ended(rs);
    }
    return false;
}

static bool rank_op_fail(struct ranks *rs, struct rank *r, const struct load_op *op)
{
    (void)op;
    if (rs->failed == WR_NIL) {
        rs->failed_ps = rs->sim->now;
        rs->failed = rank_index(rs, r);
        if (rs->team)
            rank_team_fails(rs);
    }
    rank_enter(rs, r, RANK_IDLE);
    r->state = RANK_OVER;
    return false;
}

typedef bool op_fn(struct ranks *rs, struct rank *r, const struct load_op *op);

static op_fn *const op_table[LOAD_KINDS] = {
    [LOAD_END] = rank_op_end,     [LOAD_LATER] = rank_op_later, [LOAD_FAIL] = rank_op_fail,
    [LOAD_SEND] = rank_op_send,   [LOAD_RECV] = rank_op_recv,   [LOAD_COMPUTE] = rank_op_compute,
    [LOAD_WAIT] = rank_op_wait,   [LOAD_SLEEP] = rank_op_sleep, [LOAD_COLL] = rank_op_coll,
    [LOAD_OPEN] = rank_op_open,   [LOAD_CLOSE] = rank_op_close, [LOAD_READ] = rank_op_read,
    [LOAD_FLUSH] = rank_op_flush, [LOAD_WRITE] = rank_op_write, [LOAD_MARK] = rank_op_mark,
};

/* ---- running ---- */

static void rank_run(struct ranks *rs, struct rank *r)
{
    const struct rank_jobs *j = &rs->job[r->job];
    uint64_t now = rs->sim->now - j->start_ps;
    void *words = rank_load(rs, r);

    r->state = RANK_READY;
    for (int i = 0; i < MOST_AT_ONCE; i++) {
        struct load_op op = {0};
        enum load_kind kind = j->load.ops->next(&j->load, words, now, &op);

        rs->ops++;
        r->where = op.where;
        if (!op_table[kind](rs, r, &op))
            return;
    }
    rank_wake(rs, r);
}

static void rank_on_run(void *ctx, const struct sim_event *e)
{
    struct ranks *rs = ctx;
    struct rank *r = &rs->rank[e->arg];

    wr_check(r->scheduled);
    rs->live--;
    r->scheduled = false;
    if (r->busy_ps > rs->sim->now && r->state != RANK_DELAYED)
        rank_wake(rs, r);
    else if (r->state != RANK_IN_COLL || rank_coll_continue(rs, r))
        rank_run(rs, r);
}

static void rank_on_post(void *ctx, const struct sim_event *e)
{
    struct ranks *rs = ctx;

    rs->live--;
    rank_post(rs, e->arg);
}

static void rank_on_memory(void *ctx, const struct sim_event *e)
{
    struct ranks *rs = ctx;
    struct rank_msg *m = rank_msg(rs, e->arg);

    rs->live--;
    if (m->sreq != WR_NIL) {
        rank_attribute_message(rs, rank_req(rs, m->sreq), m);
        rank_complete(rs, m->sreq);
        m->sreq = WR_NIL;
    }
    rank_arrive(rs, e->arg);
}

static void rank_on_done(void *ctx, const struct sim_event *e)
{
    struct ranks *rs = ctx;
    struct rank_req *q = rank_req(rs, e->arg);
    struct rank *r = &rs->rank[q->rank];

    rs->live--;
    if (!(q->flags & REQ_START)) {
        rank_complete(rs, e->arg);
        return;
    }
    q->flags &= (uint8_t)~REQ_START;
    rank_event(rs, r, rs->sim->now + q->ps, RANK_EV_DONE, e->arg);
    rank_report(rs, r, q, LOAD_STARTED);
    if (r->state == RANK_LISTENING)
        rank_wake(rs, r);
}

/* ---- setting up ---- */

static void rank_open_job(struct ranks *rs, uint32_t i, const struct rank_job *job)
{
    struct rank_jobs *j = &rs->job[i];
    uint32_t n = job->load->ranks;

    assert(n && job->node && job->load->ops->next && job->load->ops->rank_init);
    j->load = *job->load;
    j->left = n;
    j->start_ps = job->start_ps;
    j->app = job->app;
    j->state = wr_zalloc(n, j->load.rank_size);
    if (j->load.cpus)
        j->cpu = wr_zalloc((size_t)n * j->load.cpus, sizeof *j->cpu);
    j->latency = wr_zalloc(RANK_CLASSES, sizeof *j->latency);
    j->iteration = wr_zalloc(1, sizeof *j->iteration);
    for (uint32_t k = 0; k < n; k++) {
        rs->rank[j->first + k] = (struct rank){.since_ps = job->start_ps,
                                               .posted = {WR_NIL},
                                               .unexpected = {WR_NIL},
                                               .deferred = {WR_NIL},
                                               .node = job->node[k],
                                               .blocking = WR_NIL,
                                               .coll = WR_NIL,
                                               .job = (uint16_t)i,
                                               .account = RANK_IDLE,
                                               .scheduled = true};
        rs->node[j->first + k] = job->node[k];
        j->load.ops->rank_init(&j->load, j->state + k * j->load.rank_size, k);
    }
}

uint32_t *rank_open_buckets(uint32_t n)
{
    uint32_t *bucket = wr_alloc(n * sizeof *bucket);

    for (uint32_t i = 0; i < n; i++)
        bucket[i] = WR_NIL;
    return bucket;
}

static void rank_open_columns(struct ranks *rs)
{
    uint32_t n = rs->n;

    for (int c = 0; c < LOAD_COLLS; c++) {
        rs->coll_ps[c] = wr_zalloc(n, sizeof *rs->coll_ps[c]);
        rs->colls[c] = wr_zalloc(n, sizeof *rs->colls[c]);
    }
    rs->cold = wr_zalloc(n, sizeof *rs->cold);
    rs->attribution = wr_zalloc(n, sizeof *rs->attribution);
    if (rs->files.begin)
        rs->io_attribution = wr_zalloc(n, sizeof *rs->io_attribution);
    for (rs->nbuckets = 64; rs->nbuckets < n; rs->nbuckets *= 2)
        ;
    rs->bucket = rank_open_buckets(rs->nbuckets);
}

struct ranks *rank_build(const struct rank_setup *setup, const struct rank_job *jobs,
                         uint32_t njobs)
{
    assert(setup->mpi && setup->coll && setup->wire.send && setup->wire.lp && setup->wire.trip);
    assert(njobs && njobs <= UINT16_MAX && setup->first_kind + RANK_EV_KINDS <= SIM_KINDS);
    struct ranks *rs = wr_zalloc_aligned(1, sizeof *rs);

    rs->kind0 = setup->first_kind;
    rs->wire = setup->wire;
    rs->files = setup->files;
    rs->trip = WR_NIL;
    rs->mpi = *setup->mpi;
    rs->choice = *setup->coll;
    rs->io_ps = setup->io_ps;
    rs->failed = WR_NIL;
    rs->njobs = njobs;
    rs->job = wr_zalloc(njobs, sizeof *rs->job);
    for (uint32_t i = 0; i < njobs; i++) {
        rs->job[i].first = rs->n;
        rs->n += jobs[i].load->ranks;
    }
    rs->left = rs->n;
    rs->rank = wr_zalloc_aligned(rs->n, sizeof *rs->rank);
    rs->node = wr_alloc(rs->n * sizeof *rs->node);
    rank_open_columns(rs);
    wr_pool_init(&rs->reqs, "requests", sizeof(struct rank_req), POOL_CAP);
    wr_pool_init(&rs->msgs, "messages of ranks", sizeof(struct rank_msg), POOL_CAP);
    wr_pool_init(&rs->colls_open, "collectives", sizeof(struct rank_coll), POOL_CAP);
    wr_pool_init(&rs->handshakes, "handshakes", sizeof(struct rank_handshake), POOL_CAP);
    wr_pool_init(&rs->marks, "marks", sizeof(struct rank_mark), POOL_CAP);
    for (uint32_t i = 0; i < njobs; i++)
        rank_open_job(rs, i, &jobs[i]);
    rank_timeline_open(rs, &setup->timeline);
    return rs;
}

void rank_join(struct ranks *rs, struct sim *sim)
{
    static sim_handler *const handler[] = {rank_on_run, rank_on_post, rank_on_memory, rank_on_done};

    assert(sim && !rs->sim);
    rs->sim = sim;
    for (uint32_t k = 0; k < sizeof handler / sizeof *handler; k++)
        sim_handle(sim, rs->kind0 + k, handler[k], rs);
}

void rank_start(struct ranks *rs, uint32_t rank)
{
    assert(rank < rs->n && rs->rank[rank].scheduled);
    struct rank *r = &rs->rank[rank];

    rank_event(rs, r, rs->job[r->job].start_ps, RANK_EV_RUN, rank);
}

void ranks_open(struct ranks **ret, const struct rank_setup *setup, const struct rank_job *jobs,
                uint32_t njobs)
{
    struct ranks *rs = rank_build(setup, jobs, njobs);

    rank_join(rs, setup->sim);
    for (uint32_t i = 0; i < rs->n; i++)
        rank_start(rs, i);
    *ret = rs;
}

static void rank_close_job(struct rank_jobs *j)
{
    for (uint32_t k = 0; j->load.ops->rank_fini && k < j->load.ranks; k++)
        j->load.ops->rank_fini(&j->load, j->state + k * j->load.rank_size);
    free(j->state);
    free(j->cpu);
    free(j->latency);
    free(j->iteration);
}

void rank_unbuild(struct ranks *rs)
{
    for (uint32_t i = 0; i < rs->njobs; i++)
        rank_close_job(&rs->job[i]);
    for (int c = 0; c < LOAD_COLLS; c++) {
        free(rs->coll_ps[c]);
        free(rs->colls[c]);
    }
    wr_pool_fini(&rs->reqs);
    wr_pool_fini(&rs->msgs);
    wr_pool_fini(&rs->colls_open);
    wr_pool_fini(&rs->marks);
    wr_pool_fini(&rs->handshakes);
    rank_timeline_close(rs);
    free(rs->attribution);
    free(rs->io_attribution);
    free(rs->cold);
    free(rs->bucket);
    free(rs->rank);
    free(rs->node);
    free(rs->job);
    free(rs);
}

void ranks_close(struct ranks *rs)
{
    if (!rs)
        return;
    if (rs->team)
        rank_team_close(rs);
    else
        rank_unbuild(rs);
}
