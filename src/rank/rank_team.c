/* rank_team.c -- ranks in partitions: what they tell each other, and what they counted together.
 *
 * What belongs to a rank (requests, queues, accounts) never leaves its partition; messages travel
 * by value (rank_far.c). So nothing is shared while partitions run, and nobody locks.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "rank_priv.h"

/* ---- what partitions tell each other ---- */

static struct sim_event telling(const struct ranks *rs, enum rank_tell what, uint32_t job,
                                uint32_t arg, uint32_t arg2)
{
    return sim_event(rs->sim->now, 0, sim_lane(rs->kind0 + RANK_EV_TELL, what), job, arg, arg2);
}

static void tell_all(struct ranks *rs, const struct sim_event *e)
{
    for (uint32_t q = 0; q < rs->team->n; q++)
        if (q != rs->me)
            sim_part_send(rs->part, q, e, NULL, 0);
}

/* The first partition keeps an eye on how it goes. */
static void tell_first(struct ranks *rs, const struct sim_event *e)
{
    if (rs->me)
        sim_part_send(rs->part, 0, e, NULL, 0);
}

void rank_team_ended(struct ranks *rs, const struct rank *r)
{
    uint32_t lp = rs->wire.lp(rs->wire.ctx, r->node);
    struct sim_event e = telling(rs, RANK_TELL_OVER, rs->me, lp, 0);

    rs->end[rs->me] = (struct rank_end){rs->sim->now, lp};
    tell_all(rs, &e);
}

void rank_team_job_ended(struct ranks *rs, uint32_t job)
{
    struct sim_event e = telling(rs, RANK_TELL_JOB, job, 0, 0);

    rs->job[job].parts_left--;
    tell_first(rs, &e);
}

void rank_team_fails(struct ranks *rs)
{
    struct sim_event e = telling(rs, RANK_TELL_FAILED, 0, 0, 0);

    tell_first(rs, &e);
}

/* For workloads. */
static void tell_known(void *ctx, struct load_known what)
{
    struct rank_jobs *j = ctx;
    struct ranks *rs = j->ranks;
    struct sim_event e =
        telling(rs, RANK_TELL_KNOWN, (uint32_t)(j - rs->job), what.number, what.answer);

    tell_all(rs, &e);
}

void ranks_receive(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct ranks *rs = ctx;

    (void)data;
    (void)bytes;
    switch (sim_door(e)) {
    case RANK_TELL_OVER:
        rs->end[e->seq] = (struct rank_end){e->t, e->arg};
        break;
    case RANK_TELL_JOB:
        rs->job[e->seq].parts_left--;
        break;
    case RANK_TELL_FAILED:
        rs->heard_failed = true;
        break;
    case RANK_TELL_KNOWN:
        rs->job[e->seq].known = (struct load_known){e->arg, e->arg2};
        break;
    }
}

/* Had they ended before (t, lp)? */
static bool over(const struct rank_end *end, uint64_t t, uint32_t lp)
{
    return end->t_ps < t || (end->t_ps == t && end->lp < lp);
}

/* As long as ranks of its own are left a partition need ask nobody; then it follows one of those
 * that have some. */
bool ranks_all_over(struct ranks *rs, uint32_t lp)
{
    const struct rank_team *t = rs->team;
    uint64_t now = rs->sim->now;

    if (!t || rs->left)
        return !rs->left;
    for (uint32_t q = 0; q < t->n; q++) {
        if (q == rs->me || over(&rs->end[q], now, lp))
            continue;
        if (rs->end[q].t_ps != SIM_NEVER)
            return false;
        sim_part_settle(rs->part, q, lp);
        if (!over(&rs->end[q], now, lp))
            return false;
    }
    return true;
}

/* For workloads: all that others do before now is done, and what they told is known. */
static void settle(void *ctx, uint32_t rank)
{
    const struct rank_jobs *j = ctx;
    struct ranks *rs = j->ranks;
    uint32_t lp = rs->wire.lp(rs->wire.ctx, rs->rank[j->first + rank].node);

    for (uint32_t q = 0; q < rs->team->n; q++)
        if (q != rs->me)
            sim_part_settle(rs->part, q, lp);
}

/* ---- what was counted ---- */

static struct wr_hist *hist_of(const struct rank_jobs *j, int cls)
{
    return cls < RANK_CLASSES ? &j->latency[cls] : j->iteration;
}

const struct wr_hist *rank_team_hist(const struct ranks *rs, uint32_t job, int cls)
{
    struct wr_hist *sum = hist_of(&rs->team->whole->job[job], cls);

    *sum = (struct wr_hist){0};
    for (uint32_t i = 0; i < rs->team->n; i++)
        wr_hist_merge(sum, hist_of(&rs->team->all[i]->job[job], cls));
    return sum;
}

/* A mark and when it was made, in the order of events. */
struct made {
    struct rank_mark m;
    uint64_t t_ps;
    uint32_t node, index;
};

static int by_time(const void *a, const void *b)
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
        const struct ranks *part = t->all[i];
        uint32_t mine = rank_marks_made(part);

        for (uint32_t k = 0; k < mine; k++) {
            const struct rank_mark *m = wr_pool_at(&part->marks, part->marks.fresh - mine + k);
            const struct rank *r = &rs->rank[m->rank];

            all[at++] = (struct made){*m, m->t_ps + rs->job[r->job].start_ps, r->node, k};
        }
    }
    qsort(all, n, sizeof *all, by_time);
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
        const struct ranks *part = rs->team->all[i];

        if (part->failed == WR_NIL)
            continue;
        if (!first || part->failed_ps < first->failed_ps ||
            (part->failed_ps == first->failed_ps &&
             rs->rank[part->failed].node < rs->rank[first->failed].node))
            first = part;
    }
    return first;
}

/* ---- setting up ---- */

/* Partitions with ranks of a job; or of all, marked in `ret`. */
static uint32_t find_parts(const struct ranks *rs, uint32_t first, uint32_t n,
                           bool ret[SIM_MAX_PARTS])
{
    uint32_t parts = 0;

    for (uint32_t i = 0; i < SIM_MAX_PARTS; i++)
        ret[i] = false;
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t part = rs->team->part_of[rs->rank[i].node];

        parts += !ret[part];
        ret[part] = true;
    }
    return parts;
}

static uint32_t count_parts(const struct ranks *rs, const struct rank_jobs *j)
{
    bool has[SIM_MAX_PARTS];

    return find_parts(rs, j->first, j->load.ranks, has);
}

/* Who has no ranks has ended before all. */
static void open_ends(struct ranks *rs)
{
    bool has[SIM_MAX_PARTS];

    find_parts(rs, 0, rs->n, has);
    rs->end = wr_zalloc(rs->team->n, sizeof *rs->end);
    for (uint32_t q = 0; q < rs->team->n; q++)
        rs->end[q].t_ps = has[q] ? SIM_NEVER : 0;
}

/* A partition's own account of the jobs, of which it has some ranks. */
static void share_jobs(struct ranks *rs, const struct ranks *whole)
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
        j->load.settle = settle;
        j->load.tell = tell_known;
        j->load.settle_ctx = j;
        j->load.known = &j->known;
        j->parts_left = count_parts(rs, j);
        j->ranks = rs;
    }
}

static struct ranks *open_part(const struct ranks *whole, uint32_t i, const struct rank_part *part)
{
    struct rank_team *team = whole->team;
    struct ranks *rs = wr_zalloc_aligned(1, sizeof *rs);

    *rs = *whole;
    rs->me = i;
    rs->part = part->part;
    rs->wire.ctx = part->wire_ctx;
    rs->files.ctx = part->files_ctx;
    rs->reqs = wr_pool_share(&whole->reqs, i, team->n);
    rs->msgs = wr_pool_share(&whole->msgs, i, team->n);
    rs->meetings = wr_pool_share(&whole->meetings, i, team->n);
    rs->marks = wr_pool_share(&whole->marks, i, team->n);
    rs->shakes = wr_pool_share(&whole->shakes, i, team->n);
    rs->bucket = rank_open_buckets(rs->nbuckets);
    rank_far_open(&rs->pairs);
    share_jobs(rs, whole);
    open_ends(rs);
    rank_join(rs, rs->part->sim);
    return rs;
}

void ranks_open_parts(struct ranks **ret, const struct rank_setup *setup,
                      const struct rank_part *parts, uint32_t nparts, const uint8_t *part_of_node,
                      const struct rank_job *jobs, uint32_t njobs)
{
    struct rank_team *team = wr_zalloc(1, sizeof *team);
    struct ranks *whole = rank_build(setup, jobs, njobs);

    whole->team = team;
    team->whole = whole;
    team->n = nparts;
    team->part_of = part_of_node;
    team->all = wr_zalloc(nparts, sizeof(struct ranks *));
    for (uint32_t i = 0; i < nparts; i++)
        team->all[i] = ret[i] = open_part(whole, i, &parts[i]);
    for (uint32_t i = 0; i < whole->n; i++)
        rank_start(ret[part_of_node[whole->rank[i].node]], i);
}

static void close_part(struct ranks *rs)
{
    for (uint32_t i = 0; i < rs->njobs; i++) {
        free(rs->job[i].latency);
        free(rs->job[i].iteration);
    }
    rank_far_close(&rs->pairs);
    free(rs->job);
    free(rs->bucket);
    free(rs->end);
    free(rs->fault);
    free(rs);
}

void rank_team_close(struct ranks *rs)
{
    struct rank_team *team = rs->team;

    for (uint32_t i = 0; i < team->n; i++)
        close_part(team->all[i]);
    rank_unbuild(team->whole);
    free(team->marks);
    free(team->all);
    free(team);
}
