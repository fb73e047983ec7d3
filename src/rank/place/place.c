/* place.c -- the table of placements, the owners of nodes, and the placement of a job.
 *
 * Invariant: nfree, nexcluded and ndown count the nodes with such an owner; all others belong to
 * jobs below njobs.
 */
#include "rank/place/place.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/topo/fail.h"
#include "place_priv.h"

#define PLACE_OPS(n) &place_##n,
#define PLACE_KIND(n) &place_##n.kind,

const struct place_ops *const place_table[] = {PLACEMENTS(PLACE_OPS) NULL};
const struct conf_kind *const place_kinds[] = {PLACEMENTS(PLACE_KIND) NULL};

const char *const place_deal_names[] = {[PLACE_BLOCK] = "block", [PLACE_CYCLIC] = "cyclic", NULL};

enum { PLACE_PURPOSE = 0x706c6163 }; /* "plac": the stream of a job's placement */

bool place_open(struct place *ret, const struct topo *t, uint32_t rails, uint64_t seed,
                struct wr_err *err)
{
    assert(t->term && t->group);
    struct place p = {.nrouters = t->nrouters, .ngroups = t->ngroups, .rails = rails, .seed = seed};

    p.nnodes = rails ? t->nterms / rails : 0;
    if (!p.nnodes)
        return wr_fail(err, WR_INPUT, "%u terminals give no node of %u rails; lower nic.rails",
                       t->nterms, rails);
    p.router = wr_alloc(p.nnodes * sizeof *p.router);
    p.group = wr_alloc(p.nnodes * sizeof *p.group);
    p.owner = wr_alloc(p.nnodes * sizeof *p.owner);
    for (uint32_t i = 0; i < p.nnodes; i++) {
        bool up = true;

        /* As for traffic: a node that lost a rail is down. */
        for (uint32_t r = 0; t->nfailed && r < rails; r++)
            up &= topo_term_alive(t, i * rails + r);
        p.router[i] = t->term[(size_t)i * rails].router;
        p.group[i] = t->group[p.router[i]];
        p.owner[i] = up ? PLACE_FREE : PLACE_DOWN;
        p.nfree += up;
        p.ndown += !up;
    }
    *ret = p;
    return true;
}

void place_close(struct place *p)
{
    free(p->router);
    free(p->group);
    free(p->owner);
    *p = (struct place){0};
}

/* Two passes, so that a set that is refused takes nothing. */
static bool place_may_exclude(void *ctx, uint32_t node, struct wr_err *err)
{
    const struct place *p = ctx;

    if (p->owner[node] >= 0)
        return wr_fail(err, WR_INPUT, "node %u already belongs to job %d; exclude before placing",
                       node, p->owner[node]);
    return true;
}

static bool place_exclude_node(void *ctx, uint32_t node, struct wr_err *err)
{
    struct place *p = ctx;

    (void)err;
    if (p->owner[node] == PLACE_FREE) {
        p->owner[node] = PLACE_EXCLUDED;
        p->nfree--;
        p->nexcluded++;
    }
    return true;
}

bool place_exclude(struct place *p, const char *set, struct wr_err *err)
{
    return place_set_each(p, set, place_may_exclude, p, err) &&
           place_set_each(p, set, place_exclude_node, p, err);
}

static bool place_mark_node(void *ctx, uint32_t node, struct wr_err *err)
{
    bool *in = ctx;

    (void)err;
    in[node] = true;
    return true;
}

bool place_nodes(const struct place *p, const char *set, bool *in, struct wr_err *err)
{
    return place_set_each(p, set, place_mark_node, in, err);
}

static uint32_t *place_free_nodes(const struct place *p)
{
    uint32_t *v = wr_alloc((p->nfree + 1ull) * sizeof *v), n = 0;

    for (uint32_t i = 0; i < p->nnodes; i++)
        if (p->owner[i] == PLACE_FREE)
            v[n++] = i;
    assert(n == p->nfree);
    return v;
}

/* Block: ranks 0..k-1 on the first node. Cyclic: rank r on node r mod n, whose
 * shares differ by one at most and so stay within per_node. */
static void place_assign_nodes(const struct place_ask *ask, const uint32_t *picked, uint32_t *node)
{
    const struct place_job *job = ask->job;

    for (uint32_t r = 0; r < job->ranks; r++)
        node[r] = picked[job->deal == PLACE_CYCLIC ? r % ask->nodes : r / job->per_node];
}

static bool place_map_ranks(const struct place_ask *ask, const struct place_ops *ops,
                            uint32_t *node, struct wr_err *err)
{
    if (ops->map)
        return ops->map(ask, node, err);
    uint32_t *picked = wr_alloc(ask->nodes * sizeof *picked);
    bool ok = ops->pick(ask, picked, err);

    if (ok)
        place_assign_nodes(ask, picked, node);
    free(picked);
    return ok;
}

static bool place_enough(const struct place *p, const struct place_job *job, uint32_t nodes,
                         struct wr_err *err)
{
    if (nodes <= p->nfree)
        return true;
    uint32_t taken = p->nnodes - p->nfree - p->nexcluded - p->ndown;

    return wr_fail(err, WR_INPUT,
                   "%u ranks, %u per node, need %u nodes and %u are free (of %u: %u taken by "
                   "earlier jobs, %u excluded, %u down); use fewer ranks, more ranks per node or a "
                   "larger machine",
                   job->ranks, job->per_node, nodes, p->nfree, p->nnodes, taken, p->nexcluded,
                   p->ndown);
}

bool place_job(struct place *p, const struct place_job *job, uint32_t *node, struct wr_err *err)
{
    assert(p->owner && job->how.kind && node);
    const struct place_ops *ops = (const struct place_ops *)job->how.kind;
    struct wr_rng rng;
    struct place_ask ask = {
        .at = p, .params = job->how.params, .job = job, .nfree = p->nfree, .rng = &rng};

    if (!job->ranks || !job->per_node)
        return wr_fail(err, WR_INPUT,
                       "placement %s: %u ranks, %u per node; both must be at least 1",
                       ops->kind.name, job->ranks, job->per_node);
    ask.nodes = job->ranks / job->per_node + (job->ranks % job->per_node != 0);
    if (!place_enough(p, job, ask.nodes, err))
        return wr_wrap(err, "placement %s", ops->kind.name);

    uint32_t *list = place_free_nodes(p), *map = wr_alloc(job->ranks * sizeof *map);

    ask.free = list;
    wr_rng_init(&rng, p->seed, p->njobs, PLACE_PURPOSE);
    bool ok = place_map_ranks(&ask, ops, map, err);

    for (uint32_t r = 0; ok && r < job->ranks; r++) {
        int32_t *owner = &p->owner[map[r]];

        assert(*owner == PLACE_FREE || *owner == (int32_t)p->njobs);
        p->nfree -= *owner == PLACE_FREE;
        *owner = (int32_t)p->njobs;
        node[r] = map[r];
    }
    p->njobs += ok;
    free(list);
    free(map);
    return ok ? true : wr_wrap(err, "placement %s", ops->kind.name);
}

void place_shuffle(uint32_t *v, uint32_t n, struct wr_rng *rng)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = wr_rng_below(rng, i), t = v[i - 1];

        v[i - 1] = v[j];
        v[j] = t;
    }
}

void place_bins_init(struct place_bins *b, const struct place_ask *ask, const uint32_t *of,
                     uint32_t nbins)
{
    assert(nbins && ask->free);
    b->nbins = nbins;
    b->first = wr_zalloc(nbins + 2ull, sizeof *b->first);
    b->node = wr_alloc(ask->nfree * sizeof *b->node);
    /* A counting sort: first[] is one place ahead until the nodes are in. */
    for (uint32_t i = 0; i < ask->nfree; i++)
        b->first[of[ask->free[i]] + 2]++;
    for (uint32_t i = 2; i < nbins + 2; i++)
        b->first[i] += b->first[i - 1];
    for (uint32_t i = 0; i < ask->nfree; i++)
        b->node[b->first[of[ask->free[i]] + 1]++] = ask->free[i];
}

void place_bins_fini(struct place_bins *b)
{
    free(b->first);
    free(b->node);
}
