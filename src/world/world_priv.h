/* world_priv.h -- the state of a simulation: partitions, traffic sources, jobs, storage, series.
 *
 * Set up by world_open_shared. While partitions run, a worker touches its own struct
 * world_partition and the elements of shared arrays that belong to its nodes; everything else
 * changes between runs of the engine only.
 */
#ifndef WORLD_WORLD_PRIV_H
#define WORLD_WORLD_PRIV_H

#include "load/load.h"
#include "load/synth/synth.h"
#include "rank/place/place.h"
#include "rank/rank.h"
#include "sim/engine.h"
#include "store/store.h"
#include "world/world.h"

/* The traffic source of a node; touched by the node's partition only. */
struct world_source {
    _Alignas(64) struct synth_source synth;
    struct synth_msg next; /* what it posts when its event comes */
    uint64_t posted;
};

/* A job of the configuration, opened. */
struct world_running {
    const struct world_job *c;
    struct load load;
    uint32_t *node;  /* of each rank */
    char *log_fault; /* an error in what its program logs; NULL: none */
};

/* A partition: the state that its worker touches. Partitions share no cache line. */
struct world_partition {
    _Alignas(128) struct world *w;
    struct sim *sim;
    struct net *net;
    struct meter *meter;
    struct ranks *rank; /* NULL: no jobs */
    struct store *store;
    /* [(app * groups + source) * groups + destination]; NULL: too few or too many groups */
    struct world_flow *flow;
    uint64_t arrival_ps; /* of the last message */
    uint64_t *sent;      /* [apps] bytes of each application's messages */
};

struct world {
    const struct conf *conf;
    const struct world_config *c;
    struct world_network network;
    struct sim *sim; /* of the first partition, as are net, rank and store */
    struct net *net;
    struct world_partition *partition; /* [npartitions] */
    uint32_t npartitions;
    uint8_t *node_partition; /* [nodes] */
    struct topo_split split;
    struct sim_engine *engine; /* NULL: one thread */
    struct sim_peers *peers;   /* processes that have the others of its partitions; NULL: none */
    bool idle;                 /* process 0 runs the simulation alone, and this is another */
    bool whole;                /* all counters of other processes have been gathered */
    char why_one[160];         /* why there are fewer threads than requested; "": there are not */
    struct synth_traffic traffic;
    double mean_gap_ps;
    struct world_source *source; /* [nsources], of each node */
    uint32_t nsources;
    uint32_t *group; /* [nodes] */
    bool *down;      /* [nodes] neither sends nor is addressed; NULL: all are up */
    uint32_t nodes_up;
    struct meter meter;        /* sum over all partitions; updated by world_gather */
    struct world_running *job; /* [njobs] */
    uint32_t njobs;
    bool traffic_on;     /* nodes post synthetic traffic */
    struct ranks *rank;  /* NULL: no jobs */
    struct store *store; /* NULL: none is modelled */
    struct world_files *files;
    uint64_t end_ps;
    uint64_t longest_ps; /* the delay of the slowest link between routers */
    /* time series: what was counted at the last slice's end */
    uint32_t series[TOPO_MAX_CLASSES + 4];
    uint64_t before[TOPO_MAX_CLASSES + 4];
    struct world_pair *pair; /* of groups; NULL: too few or too many of them */
    uint32_t *sent_series;   /* [apps] */
    uint64_t *sent_before;
};

struct world_flow {
    uint64_t msgs, bytes;
};

/* flow.c */
void world_flow_open(struct world *w);
void world_flow_pack(const struct world_partition *partition, bool all, struct wr_bytes *out);
void world_flow_take(struct world_partition *partition, bool all, struct wr_reader *in);
bool world_flow_write(const struct world *w, struct run *run, struct wr_err *err);
void world_flow_close(struct world *w);
/* What each application sent, slice by slice. */
bool world_sent_open(struct world *w, struct run *run, struct wr_err *err);
bool world_sent_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err);
static inline void world_flow_count(struct world_partition *partition, uint16_t app, uint32_t src,
                                    uint32_t dst, uint64_t bytes)
{
    const struct world *w = partition->w;
    size_t n = w->network.topo.ngroups;

    partition->sent[app] += bytes;
    if (!partition->flow)
        return;
    struct world_flow *f = &partition->flow[(app * n + w->group[src]) * n + w->group[dst]];

    f->msgs++;
    f->bytes += bytes;
}

/* split.c */
/* Divides the machine into partitions, at most `want` for each process, and opens their clocks and
 * networks; then their meters. A client's callbacks get the partition. */
bool world_split(struct world *w, uint32_t want, struct sim_peers *peers,
                 const struct net_client *client, struct wr_err *err);
void world_split_meters(struct world *w, uint64_t from_ps, uint64_t to_ps);
void world_unsplit(struct world *w);
uint64_t world_events(const struct world *w);

static inline struct world_partition *world_partition_of(const struct world *w, uint32_t node)
{
    return &w->partition[w->engine ? w->node_partition[node] : 0];
}

/* Does this process run the node's partition? */
static inline bool world_runs(const struct world *w, uint32_t node)
{
    if (!w->peers)
        return true;
    uint32_t i = w->node_partition[node] - sim_engine_first(w->engine);

    return i < sim_engine_local(w->engine);
}

/* team.c: between two runs of the engine, when all clocks are at one time. */
/* Gathers the counters of the other processes in process 0: all, or those needed to decide how to
 * continue; and whether a process was interrupted. */
bool world_meet(struct world *w, bool all, bool *ret_interrupted, struct wr_err *err);
/* Broadcasts the decision of process 0: all processes continue, or none does. */
bool world_follow(struct world *w, bool ok, struct wr_err *err);
/* Does this process decide? */
static inline bool world_leads(const struct world *w)
{
    return !w->idle && (!w->peers || !sim_engine_first(w->engine));
}

/* jobs.c */
enum {
    WORLD_EV_SOURCE = NET_EV_KINDS,
    WORLD_EV_RANK,
    WORLD_EV_STORE = WORLD_EV_RANK + RANK_EV_KINDS,
};

/* A message: counted and sent. */
static inline void world_partition_send(struct world_partition *partition, uint32_t src,
                                        uint32_t dst, uint64_t bytes, uint16_t app, uint8_t cls,
                                        uint64_t user)
{
    meter_sent(partition->meter, src, bytes, partition->sim->now);
    world_flow_count(partition, app, src, dst, bytes);
    net_send(partition->net, src, dst, bytes, app, cls, user);
}

/* The times of a message of ranks or of storage, for the attribution of waiting time. */
struct cause_trip world_trip(const struct world *w, const struct net_msg *m, bool arrived);
uint32_t world_lp(void *partition, uint32_t node); /* for wires */
bool world_jobs_plan(struct world *w, const struct conf *conf, struct wr_err *err);
bool world_jobs_open(struct world *w, const struct conf *conf, struct wr_err *err);
void world_jobs_close(struct world *w);
/* The application number of synthetic traffic: after those of the jobs. */
static inline uint16_t world_traffic_app(const struct world *w)
{
    return (uint16_t)w->njobs;
}
/* False with the reason in `err` when the run must end: a deadlock, or a program failed. */
bool world_jobs_check(const struct world *w, struct wr_err *err);
bool world_jobs_write(const struct world *w, struct run *run, struct wr_err *err);

/* files.c: storage */
/* Takes the nodes of servers out of use, before jobs are placed. */
bool world_files_plan(struct world *w, const struct conf *conf, struct place *place,
                      struct wr_err *err);
bool world_files_open(struct world *w, const struct conf *conf, struct wr_err *err);
void world_files_close(struct world *w);
void world_files_begin(void *partition, const struct rank_access *io, uint64_t user);
void world_files_arrived(struct world_partition *partition, const struct net_msg *m);
/* After the last event: are all bytes accounted for, and are all requests complete? */
bool world_files_check(const struct world *w, struct wr_err *err);
bool world_files_write(const struct world *w, struct run *run, struct wr_err *err);
bool world_files_slices_open(struct world *w, struct run *run, struct wr_err *err);
bool world_files_slices_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err);

/* links.c */
void world_links_open(struct world *w);
bool world_links_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err);
void world_links_close(struct world *w);

bool world_slices_open(struct world *w, struct run *run, struct wr_err *err);
bool world_slices_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err);

/* auto.c */
uint32_t world_auto_threads(const struct world *w); /* as many as there are processors, at most */
bool world_threads_pay(const struct world *w, uint32_t threads, uint64_t lookahead_ps);

#endif
