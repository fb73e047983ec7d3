/* rank_team.c -- ranks in partitions: notices between them, and the sums of their counters.
 *
 * The state of a rank (requests, queues, accounts) never leaves its partition; messages travel by
 * value (rank_far.c). So nothing is shared while partitions run, and no lock is needed. A notice
 * (sim_partition_notify) is received after the next barrier.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "rank_priv.h"

/* ---- notices ---- */

static struct sim_event team_telling(const struct ranks *rs, enum rank_notice what, uint32_t job,
                                     uint32_t arg, uint32_t arg2)
{
    return sim_event(rs->sim->now, 0, sim_subkey(rs->kind0 + RANK_EV_NOTIFY, what), job, arg, arg2);
}

static void team_notify_all(struct ranks *rs, const struct sim_event *e)
{
    for (uint32_t q = 0; q < rs->team->n; q++)
        if (q != rs->me)
            sim_partition_notify(rs->partition, q, e);
}

/* The first partition knows the state of all jobs. */
static void team_notify_first(struct ranks *rs, const struct sim_event *e)
{
    if (rs->me)
        sim_partition_notify(rs->partition, 0, e);
}

void rank_team_ended(struct ranks *rs)
{
    struct sim_event e = team_telling(rs, RANK_NOTIFY_OVER, rs->me, 0, 0);

    rs->end_ps[rs->me] = rs->sim->now;
    team_notify_all(rs, &e);
}

void rank_team_job_ended(struct ranks *rs, uint32_t job)
{
    struct sim_event e = team_telling(rs, RANK_NOTIFY_JOB, job, 0, 0);

    rs->job[job].partitions_left--;
    team_notify_first(rs, &e);
}

void rank_team_fails(struct ranks *rs)
{
    struct sim_event e = team_telling(rs, RANK_NOTIFY_FAILED, 0, 0, 0);

    team_notify_first(rs, &e);
}

/* Called by workloads (load.announce): sends a decision to the other partitions. */
static void team_announce_known(void *ctx, struct load_known what)
{
    struct rank_jobs *j = ctx;
    struct ranks *rs = j->ranks;
    struct sim_event e =
        team_telling(rs, RANK_NOTIFY_KNOWN, (uint32_t)(j - rs->job), what.number, what.answer);

    team_notify_all(rs, &e);
}

void ranks_receive(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct ranks *rs = ctx;

    (void)data;
    (void)bytes;
    assert(rs->team && sim_kind(e) == rs->kind0 + RANK_EV_NOTIFY);
    switch (sim_in_port(e)) {
    case RANK_NOTIFY_OVER:
        rs->end_ps[e->seq] = e->t;
        break;
    case RANK_NOTIFY_JOB:
        assert(rs->job[e->seq].partitions_left);
        rs->job[e->seq].partitions_left--;
        break;
    case RANK_NOTIFY_FAILED:
        rs->heard_failed = true;
        break;
    case RANK_NOTIFY_KNOWN:
        rs->job[e->seq].known[e->arg % 2] = (struct load_known){e->arg, e->arg2};
        break;
    }
}

bool ranks_ended(const struct ranks *rs, uint64_t ago_ps)
{
    uint64_t now = rs->sim->now;

    wr_check(!rs->team || rs->end_ps);
    if (rs->left || now < ago_ps || rs->ended_ps > now - ago_ps)
        return false;
    for (uint32_t q = 0; rs->team && q < rs->team->n; q++)
        if (rs->end_ps[q] > now - ago_ps)
            return false;
    return true;
}

/* ---- counters ---- */

static struct wr_hist *team_hist_of(const struct rank_jobs *j, int cls)
{
    return cls < RANK_CLASSES ? &j->latency[cls] : j->iteration;
}

const struct wr_hist *rank_team_hist(const struct ranks *rs, uint32_t job, int cls)
{
    struct wr_hist *sum = team_hist_of(&rs->team->whole->job[job], cls);

    *sum = (struct wr_hist){0};
    for (uint32_t i = 0; i < rs->team->n; i++)
        wr_hist_merge(sum, team_hist_of(&rs->team->all[i]->job[job], cls));
    return sum;
}

/* A mark and what orders it among all: the order of events. */
struct made {
    struct rank_mark m;
    uint64_t t_ps;
    uint32_t node, index;
};

static int team_by_time(const void *a, const void *b)
{
    const struct made *x = a, *y = b;

    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->index < y->index ? -1 : 1; /* a node's are all of one partition */
}

uint32_t rank_marks_made(const struct ranks *rs)
{
    return rs->marks.used; /* none is ever given back */
}

uint32_t rank_team_marks(const struct ranks *rs)
{
    struct rank_team *t = rs->team;
    uint32_t n = 0, at = 0;

    for (uint32_t i = 0; i < t->n; i++)
        n += rank_marks_made(t->all[i]);
    if (n == t->nmarks)
        return n;
    struct made *all = wr_alloc(n * sizeof *all);

    for (uint32_t i = 0; i < t->n; i++) {
        const struct ranks *partition = t->all[i];
        uint32_t mine = rank_marks_made(partition);

        for (uint32_t k = 0; k < mine; k++) {
            const struct rank_mark *m =
                wr_pool_at(&partition->marks, partition->marks.fresh - mine + k);
            const struct rank *r = &rs->rank[m->rank];

            all[at++] = (struct made){*m, m->t_ps + rs->job[r->job].start_ps, r->node, k};
        }
    }
    qsort(all, n, sizeof *all, team_by_time);
    free(t->marks);
    t->marks = wr_alloc(n * sizeof *t->marks);
    for (uint32_t i = 0; i < n; i++)
        t->marks[i] = all[i].m;
    t->nmarks = n;
    free(all);
    return n;
}

/* The first that failed, in the order of events. */
const struct ranks *rank_team_failed(const struct ranks *rs)
{
    const struct ranks *first = NULL;

    for (uint32_t i = 0; i < rs->team->n; i++) {
        const struct ranks *partition = rs->team->all[i];

        if (partition->failed == WR_NIL)
            continue;
        if (!first || partition->failed_ps < first->failed_ps ||
            (partition->failed_ps == first->failed_ps &&
             rs->rank[partition->failed].node < rs->rank[first->failed].node))
            first = partition;
    }
    return first;
}

/* ---- setting up ---- */

/* Partitions with ranks of a job; or of all, marked in `ret`. */
static uint32_t team_find_partitions(const struct ranks *rs, uint32_t first, uint32_t n,
                                     bool ret[SIM_MAX_PARTITIONS])
{
    uint32_t partitions = 0;

    for (uint32_t i = 0; i < SIM_MAX_PARTITIONS; i++)
        ret[i] = false;
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t partition = rs->team->partition_of[rs->rank[i].node];

        partitions += !ret[partition];
        ret[partition] = true;
    }
    return partitions;
}

static uint32_t team_count_partitions(const struct ranks *rs, const struct rank_jobs *j)
{
    bool has[SIM_MAX_PARTITIONS];

    return team_find_partitions(rs, j->first, j->load.ranks, has);
}

/* A partition without ranks counts as ended from the start. */
static void team_open_ends(struct ranks *rs)
{
    bool has[SIM_MAX_PARTITIONS];

    team_find_partitions(rs, 0, rs->n, has);
    rs->end_ps = wr_zalloc(rs->team->n, sizeof *rs->end_ps);
    for (uint32_t q = 0; q < rs->team->n; q++)
        rs->end_ps[q] = has[q] ? SIM_NEVER : 0;
}

/* A partition's own counters of the jobs, of which it has some ranks. */
static void team_share_jobs(struct ranks *rs, const struct ranks *whole)
{
    rs->job = wr_alloc(whole->njobs * sizeof *rs->job);
    rs->left = 0;
    for (uint32_t i = 0; i < whole->njobs; i++) {
        struct rank_jobs *j = &rs->job[i];

        *j = whole->job[i];
        j->left = 0;
        for (uint32_t k = 0; k < j->load.ranks; k++)
            j->left += !rank_is_far(rs, rs->rank[j->first + k].node);
        rs->left += j->left;
        j->latency = wr_zalloc(RANK_CLASSES, sizeof *j->latency);
        j->iteration = wr_zalloc(1, sizeof *j->iteration);
        j->load.in_partitions = true;
        j->load.announce = team_announce_known;
        j->load.announce_ctx = j;
        j->load.known = j->known;
        j->partitions_left = team_count_partitions(rs, j);
        j->ranks = rs;
    }
}

static struct ranks *team_open_partition(const struct ranks *whole, uint32_t i,
                                         const struct rank_partition *partition)
{
    struct rank_team *team = whole->team;
    struct ranks *rs = wr_zalloc_aligned(1, sizeof *rs);

    *rs = *whole;
    rs->me = i;
    rs->partition = partition->partition;
    rs->wire.ctx = partition->wire_ctx;
    rs->files.ctx = partition->files_ctx;
    rs->reqs = wr_pool_share(&whole->reqs, i, team->n);
    rs->msgs = wr_pool_share(&whole->msgs, i, team->n);
    rs->colls_open = wr_pool_share(&whole->colls_open, i, team->n);
    rs->marks = wr_pool_share(&whole->marks, i, team->n);
    rs->handshakes = wr_pool_share(&whole->handshakes, i, team->n);
    rs->bucket = rank_open_buckets(rs->nbuckets);
    rank_far_open(&rs->pairs);
    team_share_jobs(rs, whole);
    team_open_ends(rs);
    rank_join(rs, rs->partition->sim);
    return rs;
}

void ranks_open_partitions(struct ranks **ret, const struct rank_setup *setup,
                           const struct rank_partition *partitions, uint32_t npartitions,
                           const uint8_t *partition_of_node, const struct rank_job *jobs,
                           uint32_t njobs)
{
    assert(npartitions && npartitions <= SIM_MAX_PARTITIONS && partition_of_node);
    struct rank_team *team = wr_zalloc(1, sizeof *team);
    struct ranks *whole = rank_build(setup, jobs, njobs);

    whole->team = team;
    team->whole = whole;
    team->n = npartitions;
    team->partition_of = partition_of_node;
    team->all = wr_zalloc(npartitions, sizeof(struct ranks *));
    for (uint32_t i = 0; i < npartitions; i++)
        team->all[i] = ret[i] = team_open_partition(whole, i, &partitions[i]);
    for (uint32_t i = 0; i < whole->n; i++)
        rank_start(ret[partition_of_node[whole->rank[i].node]], i);
}

static void team_close_partition(struct ranks *rs)
{
    for (uint32_t i = 0; i < rs->njobs; i++) {
        free(rs->job[i].latency);
        free(rs->job[i].iteration);
    }
    rank_far_close(&rs->pairs);
    free(rs->job);
    free(rs->bucket);
    free(rs->end_ps);
    free(rs->fault);
    free(rs);
}

void rank_team_close(struct ranks *rs)
{
    struct rank_team *team = rs->team;

    for (uint32_t i = 0; i < team->n; i++)
        team_close_partition(team->all[i]);
    rank_unbuild(team->whole);
    free(team->marks);
    free(team->all);
    free(team);
}
