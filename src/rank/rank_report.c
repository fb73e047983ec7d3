/* rank_report.c -- the counters of ranks, their state, and the report of a deadlock.
 *
 * Called by world/ between events, with the first `struct ranks` of all partitions.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "rank_priv.h"

/* ---- counters ---- */

uint32_t ranks_count(const struct ranks *rs)
{
    return rs->n;
}

/* The remainder of each sum is software. */
static void report_cause(const struct ranks *rs, uint32_t i, struct rank_stat *s)
{
    uint64_t comm = s->account_ps[RANK_SEND] + s->account_ps[RANK_RECV] + s->account_ps[RANK_WAIT];
    uint64_t io = s->account_ps[RANK_IO];

    for (int c = 0; c < LOAD_COLLS; c++)
        comm += s->coll_ps[c];
    for (int k = 0; k < ATTRIBUTED; k++) {
        s->comm_why_ps[ATTRIBUTED_FIRST + k] = rs->attribution[i].ps[k];
        comm -= rs->attribution[i].ps[k];
    }
    for (int k = 0; rs->io_attribution && k < CAUSES; k++) {
        s->io_why_ps[k] = rs->io_attribution[i][k];
        io -= rs->io_attribution[i][k];
    }
    s->comm_why_ps[CAUSE_SOFTWARE] = comm;
    s->io_why_ps[rs->io_attribution ? CAUSE_SOFTWARE : CAUSE_DEVICE] += io;
}

void ranks_stat(const struct ranks *rs, uint32_t i, struct rank_stat *ret)
{
    assert(i < rs->n);
    const struct rank *r = &rs->rank[i];
    const struct rank_jobs *j = &rs->job[r->job];
    bool over = r->state == RANK_OVER;
    uint64_t now = rs->sim->now > j->start_ps ? rs->sim->now : j->start_ps;
    uint64_t end = over ? r->since_ps : now, rest = end - r->since_ps;

    *ret = (struct rank_stat){
        .job = r->job,
        .rank = i - j->first,
        .node = r->node,
        .ended = over,
        .elapsed_ps = end - j->start_ps,
        .overhead_ps = r->overhead_ps,
        .msgs_sent = r->msgs_sent,
        .bytes_sent = r->bytes_sent,
        .msgs_recvd = r->msgs_recvd,
        .bytes_recvd = r->bytes_recvd,
        .accesses = rs->cold[i].accesses,
        .bytes_read = rs->cold[i].read_b,
        .bytes_written = rs->cold[i].written_b,
    };
    for (int k = 0; k < RANK_IO; k++)
        ret->account_ps[k] = r->account_ps[k];
    ret->account_ps[RANK_IO] = rs->cold[i].io_ps;
    ret->account_ps[RANK_IDLE] = rs->cold[i].idle_ps;
    if (r->account < RANK_ACCOUNTS)
        ret->account_ps[r->account] += rest;
    for (int c = 0; c < LOAD_COLLS; c++) {
        ret->coll_ps[c] = rs->coll_ps[c][i] + (r->account == RANK_ACCOUNTS + c ? rest : 0);
        ret->colls[c] = rs->colls[c][i];
    }
    report_cause(rs, i, ret);
}

uint64_t ranks_job_end_ps(const struct ranks *rs, uint32_t job)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < rank_npartitions(rs); i++) {
        const struct rank_jobs *j = &rank_each(rs, i)->job[job];

        if (j->left)
            return 0;
        last = j->end_ps > last ? j->end_ps : last;
    }
    return last;
}

const struct wr_hist *ranks_latency(const struct ranks *rs, uint32_t job, enum rank_class cls)
{
    assert(job < rs->njobs && cls < RANK_CLASSES);
    return rs->team ? rank_team_hist(rs, job, (int)cls) : &rs->job[job].latency[cls];
}

const struct wr_hist *ranks_iterations(const struct ranks *rs, uint32_t job)
{
    return rs->team ? rank_team_hist(rs, job, RANK_CLASSES) : rs->job[job].iteration;
}

uint32_t ranks_marks(const struct ranks *rs)
{
    return rs->team ? rank_team_marks(rs) : rs->marks.fresh; /* none is ever given back */
}

const struct rank_mark *ranks_mark(const struct ranks *rs, uint32_t i)
{
    return rs->team ? &rs->team->marks[i] : wr_pool_at(&rs->marks, i);
}

size_t ranks_rank_bytes(void)
{
    return sizeof(struct rank) + sizeof(uint32_t); /* and a bucket */
}

uint64_t ranks_bytes_used(const struct ranks *rs)
{
    uint64_t sum = rs->n * (uint64_t)ranks_rank_bytes() + rank_timeline_bytes(rs);

    for (uint32_t i = 0; i < rank_npartitions(rs); i++) {
        const struct ranks *p = rank_each(rs, i);

        sum += p->reqs.peak * p->reqs.size + p->msgs.peak * p->msgs.size +
               p->colls_open.peak * p->colls_open.size + p->pairs.n * sizeof(struct rank_pair);
    }
    for (uint32_t i = 0; i < rs->njobs; i++)
        sum += (uint64_t)rs->job[i].load.ranks * rs->job[i].load.rank_size;
    return sum;
}

/* ---- state ---- */

static uint32_t report_all_left(const struct ranks *rs)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < rank_npartitions(rs); i++)
        left += rank_each(rs, i)->left;
    return left;
}

static const struct ranks *report_failed(const struct ranks *rs)
{
    if (rs->team)
        return rank_team_failed(rs);
    return rs->failed != WR_NIL ? rs : NULL;
}

/* A message is added to `live` where it is sent, and subtracted where it arrives: only the sum over
 * all partitions is meaningful. */
enum ranks_state ranks_state(const struct ranks *rs)
{
    uint64_t live = 0;

    if (report_failed(rs))
        return RANKS_FAILED;
    if (!report_all_left(rs))
        return RANKS_ENDED;
    for (uint32_t i = 0; i < rank_npartitions(rs); i++)
        live += rank_each(rs, i)->live;
    return live ? RANKS_RUNNING : RANKS_STUCK;
}

bool ranks_any_failed(const struct ranks *rs)
{
    return rs->failed != WR_NIL || rs->heard_failed;
}

uint32_t ranks_jobs_ended(const struct ranks *rs)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < rs->njobs; i++)
        n += rs->team ? !rs->job[i].partitions_left : !rs->job[i].left;
    return n;
}

bool ranks_fault(const struct ranks *rs, struct wr_err *err)
{
    return rank_fault(report_failed(rs), err);
}

bool rank_fault(const struct ranks *rs, struct wr_err *err)
{
    assert(rs && rs->failed != WR_NIL);
    uint32_t i = rs->failed;
    const struct rank *r = &rs->rank[i];
    const struct rank_jobs *j = &rs->job[r->job];

    if (rs->fault) {
        *err = *rs->fault;
        return false;
    }
    j->load.ops->fault(&j->load, j->state + (i - j->first) * j->load.rank_size, err);
    return wr_wrap(err, "job %u, rank %u", r->job, i - j->first);
}

enum { SHOWN = 6, LONGEST = 8 }; /* lines of a deadlock report; of one chain or cycle */

static void report_add_name(const struct ranks *rs, uint32_t i, struct wr_str *out)
{
    const struct rank *r = &rs->rank[i];

    if (rs->njobs > 1)
        wr_str_addf(out, "rank %u of job %u", i - rs->job[r->job].first, r->job);
    else
        wr_str_addf(out, "rank %u", i - rs->job[r->job].first);
}

static void report_add_where(const struct ranks *rs, const struct rank *r, struct wr_str *out)
{
    const struct rank_jobs *j = &rs->job[r->job];
    char where[64];

    if (!j->load.ops->where)
        return;
    j->load.ops->where(&j->load, r->where, where, sizeof where);
    wr_str_addf(out, " at %s", where);
}

/* A request that keeps the rank waiting: of a posted receive, else of any send. */
uint32_t rank_lacks(const struct ranks *rs, const struct rank *r)
{
    if (r->state == RANK_BLOCKED)
        return r->blocking;
    if (r->posted.last != WR_NIL)
        return rank_req(rs, r->posted.last)->next;
    return WR_NIL;
}

/* A rendezvous send waits for its receiver, which has its RTS unmatched. Returns, for each rank,
 * the receiver of such an RTS or WR_NIL; free() it. */
static uint32_t *report_request(const struct ranks *rs)
{
    uint32_t *requested = wr_alloc(rs->n * sizeof *requested);

    for (uint32_t i = 0; i < rs->n; i++)
        requested[i] = WR_NIL;
    for (uint32_t i = 0; i < rs->n; i++) {
        uint32_t last = rs->rank[i].unexpected.last;

        for (uint32_t h = last; h != WR_NIL;) {
            const struct rank_msg *m = rank_msg(rs, h);

            if (m->kind == MSG_RTS)
                requested[m->src] = i;
            h = m->next == last ? WR_NIL : m->next;
        }
    }
    return requested;
}

/* The rank that this one waits for; WR_NIL: a message of any rank would match. */
static uint32_t report_waits_for(const struct ranks *rs, const uint32_t *requested, uint32_t i)
{
    const struct rank *r = &rs->rank[i];
    uint32_t h = rank_lacks(rs, r);

    if (h == WR_NIL)
        return requested[i];
    if (rank_req(rs, h)->peer == LOAD_ANY)
        return WR_NIL;
    return rank_req(rs, h)->peer + rs->job[r->job].first;
}

static void report_add_wait(const struct ranks *rs, const uint32_t *requested, uint32_t i,
                            struct wr_str *out)
{
    const struct rank *r = &rs->rank[i];
    uint32_t h = rank_lacks(rs, r), to = report_waits_for(rs, requested, i);

    report_add_name(rs, i, out);
    report_add_where(rs, r, out);
    if (r->state == RANK_IN_COLL && r->account >= RANK_ACCOUNTS)
        wr_str_addf(out, " is in a %s and", load_coll_names[r->account - RANK_ACCOUNTS]);
    if (h != WR_NIL && rank_req(rs, h)->kind == REQ_RECV)
        wr_str_addf(out, " waits for a message of %" PRIu64 " B (tag %" PRId64 ") from ",
                    rank_req(rs, h)->bytes,
                    rank_req(rs, h)->ctx == CTX_COLL ? 0 : rank_req(rs, h)->tag);
    else
        wr_str_add(out, " cannot send before it is received by ");
    if (to == WR_NIL)
        wr_str_add(out, "any rank");
    else
        report_add_name(rs, to, out);
    if (to != WR_NIL && rs->rank[to].state == RANK_OVER)
        wr_str_add(out, ", which has ended");
}

/* Follows the wait-for graph from `i`; the visited ranks are marked with `round`. Returns a rank
 * on a cycle, or the last of the chain. */
static uint32_t report_follow(const struct ranks *rs, const uint32_t *requested, uint32_t i,
                              uint32_t *mark, uint32_t round)
{
    for (;;) {
        uint32_t to = report_waits_for(rs, requested, i);

        mark[i] = round;
        if (to == WR_NIL || rs->rank[to].state == RANK_OVER || mark[to])
            return to != WR_NIL && mark[to] == round ? to : i;
        i = to;
    }
}

bool ranks_report_deadlock(const struct ranks *rs, struct wr_err *err)
{
    uint32_t *mark = wr_zalloc(rs->n, sizeof *mark), *requested = report_request(rs), shown = 0;
    struct wr_str text = {0};

    for (uint32_t i = 0; i < rs->n && shown < SHOWN; i++) {
        if (rs->rank[i].state == RANK_OVER || mark[i])
            continue;
        uint32_t at = report_follow(rs, requested, i, mark, i + 1), first = at;

        for (int k = 0; k < LONGEST && shown < SHOWN; k++, shown++) {
            wr_str_add(&text, "\n  ");
            report_add_wait(rs, requested, at, &text);
            at = report_waits_for(rs, requested, at);
            if (at == WR_NIL || at == first || rs->rank[at].state == RANK_OVER)
                break;
        }
    }
    wr_fail(err, WR_INPUT,
            "deadlock after %.3f us: %u of %u ranks wait for ever; correct "
            "the program:%s",
            (double)rs->sim->now / 1e6, report_all_left(rs), rs->n, wr_str_get(&text));
    wr_str_fini(&text);
    free(mark);
    free(requested);
    return false;
}
