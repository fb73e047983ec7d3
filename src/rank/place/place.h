/* place.h -- placement: the node of each rank.
 *
 * A machine's nodes are assigned to jobs one after another; a node belongs to at most one job and
 * has at most `per_node` of its ranks. Called by world/jobs.c and by the verb that shows
 * placements, before a run.
 *
 *   place_open(&p, topology, rails, seed)      nodes of dead routers are down
 *   place_exclude(&p, "last 2 of every group") kept free, for burst buffers and I/O
 *   for each job, in the order of the configuration:
 *       place_job(&p, &job, node)              node[rank], from what is free
 *
 * A placement (struct place_ops) owns one decision: which free nodes, in which
 * order. It is chosen as configurations choose plug-ins:
 *
 *   {.key = "placement", .type = CONF_PLUGIN, .kinds = place_kinds, .def = "contiguous"}
 *
 * Its randomness is keyed by (seed, number of the job): the map of a job depends
 * on the seed and on the nodes that earlier jobs left, on nothing else.
 */
#ifndef RANK_PLACE_PLACE_H
#define RANK_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"
#include "conf/conf.h"
#include "net/topo/topo.h"

/* The owner of a node, besides the jobs 0, 1, ... */
enum {
    PLACE_FREE = -1,
    PLACE_EXCLUDED = -2,
    PLACE_DOWN = -3,
};

/* How ranks are assigned to the nodes that a placement picked. */
enum place_deal {
    PLACE_BLOCK,  /* the first node takes its share of ranks, then the next */
    PLACE_CYCLIC, /* one rank to each node in turn */
};
extern const char *const place_deal_names[]; /* for a CONF_CHOICE row; ends with NULL */

struct place {
    uint32_t nnodes, nrouters, ngroups, rails;
    uint32_t *router, *group; /* [nnodes], of the node's first rail */
    int32_t *owner;           /* [nnodes]: a job's number or PLACE_... */
    uint32_t nfree, nexcluded, ndown;
    uint32_t njobs; /* placed so far */
    uint64_t seed;
};

bool place_open(struct place *ret, const struct topo *t, uint32_t rails, uint64_t seed,
                struct wr_err *err);
void place_close(struct place *p);

/* Takes nodes out of use. `set` is "31", "0-3", "0-1023:32" (every 32nd), "group 4",
 * "router 7", "first|last K of every group|router", "first|last K of machine", or several of them
 * with commas between. Excluding twice is harmless; a node that a job has is refused. */
bool place_exclude(struct place *p, const char *set, struct wr_err *err);

/* The same words: marks the nodes of the set in in[nnodes]. */
bool place_nodes(const struct place *p, const char *set, bool *in, struct wr_err *err);

struct place_job {
    struct conf_plugin how; /* one of place_kinds and its parameters */
    uint32_t ranks;         /* at least 1 */
    uint32_t per_node;      /* at least 1 */
    enum place_deal deal;
};

/* Gives the next job its nodes and fills node[ranks]. On failure nothing is taken. */
bool place_job(struct place *p, const struct place_job *job, uint32_t *node, struct wr_err *err);

/* What a placement sees. */
struct place_ask {
    const struct place *at;
    const void *params;
    const struct place_job *job;
    const uint32_t *free; /* the free nodes, ascending */
    uint32_t nfree;       /* at least `nodes` */
    uint32_t nodes;       /* how many to pick: ranks / per_node, rounded up */
    struct wr_rng *rng;
};

struct place_ops {
    struct conf_kind kind;
    bool random; /* another seed gives another map */
    /* Fill picked[nodes] with free nodes, each once; ranks are dealt to them in
     * this order. */
    bool (*pick)(const struct place_ask *ask, uint32_t *picked, struct wr_err *err);
    /* Instead, for a placement that decides about every rank: fill node[ranks]. */
    bool (*map)(const struct place_ask *ask, uint32_t *node, struct wr_err *err);
};

extern const struct place_ops *const place_table[]; /* ends with NULL */
extern const struct conf_kind *const place_kinds[];

#endif
