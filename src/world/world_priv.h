/* world_priv.h -- what a world is made of. */
#ifndef WORLD_WORLD_PRIV_H
#define WORLD_WORLD_PRIV_H

#include "load/load.h"
#include "load/synth/synth.h"
#include "rank/place/place.h"
#include "rank/rank.h"
#include "sim/crew.h"
#include "store/store.h"
#include "world/world.h"

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
    char *log_fault; /* what its program logs and cannot have; NULL: nothing of the sort */
};

/* A partition: what its thread touches. */
struct world_part {
    struct world *w;
    struct sim *sim;
    struct net *net;
    struct meter *meter;
    struct ranks *rank; /* NULL: no jobs */
    struct store *store;
    /* [(app * groups + source) * groups + destination]; NULL: too few or too many groups */
    struct world_flow *flow;
    uint64_t *sent; /* [apps] bytes of each application's messages */
};

struct world {
    const struct conf *conf;
    const struct world_config *c;
    struct world_parts parts;
    struct sim *sim; /* of the first partition, as is the net */
    struct net *net;
    struct world_part *part; /* [nparts] */
    uint32_t nparts;
    uint8_t *node_part; /* [nodes] */
    struct topo_split split;
    struct sim_crew *crew;   /* NULL: one thread */
    struct sim_peers *peers; /* processes that have the others of its partitions; NULL: none */
    bool idle;               /* another process runs it alone */
    bool whole;              /* everything that other processes have counted is here */
    char why_one[160]; /* why there are not as many threads as were asked for; "": there are */
    struct synth_traffic traffic;
    double mean_gap_ps;
    struct world_source *source; /* [nodes] */
    uint32_t *group;             /* [nodes] */
    bool *down;                  /* [nodes] neither sends nor is addressed; NULL: all are up */
    uint32_t nodes_up;
    struct meter meter;        /* of all partitions, when they meet */
    struct world_running *job; /* [njobs] */
    uint32_t njobs;
    bool traffic_on;     /* nodes post synthetic traffic */
    struct ranks *rank;  /* NULL: no jobs */
    struct store *store; /* NULL: none is modelled */
    struct world_files *files;
    uint64_t end_ps;
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
void world_flow_pack(const struct world_part *part, bool all, struct wr_bytes *out);
void world_flow_take(struct world_part *part, bool all, struct wr_reader *in);
bool world_flow_write(const struct world *w, struct run *run, struct wr_err *err);
void world_flow_close(struct world *w);
/* What each application sent, slice by slice. */
bool world_sent_open(struct world *w, struct run *run, struct wr_err *err);
bool world_sent_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err);
static inline void world_flow_count(struct world_part *part, uint16_t app, uint32_t src,
                                    uint32_t dst, uint64_t bytes)
{
    const struct world *w = part->w;
    size_t n = w->parts.topo.ngroups;

    part->sent[app] += bytes;
    if (!part->flow)
        return;
    struct world_flow *f = &part->flow[(app * n + w->group[src]) * n + w->group[dst]];

    f->msgs++;
    f->bytes += bytes;
}

/* split.c */
/* As many partitions as can be had, at most `want` for each process: their clocks and networks, and
 * their meters. A client's callbacks get the partition. */
bool world_split(struct world *w, uint32_t want, struct sim_peers *peers,
                 const struct net_client *client, struct wr_err *err);
void world_split_meters(struct world *w, uint64_t from_ps, uint64_t to_ps);
void world_unsplit(struct world *w);
uint64_t world_events(const struct world *w);

static inline struct world_part *world_part_of(const struct world *w, uint32_t node)
{
    return &w->part[w->crew ? w->node_part[node] : 0];
}

/* Does this process run the node's partition? */
static inline bool world_runs(const struct world *w, uint32_t node)
{
    if (!w->peers)
        return true;
    uint32_t i = w->node_part[node] - sim_crew_first(w->crew);

    return i < sim_crew_local(w->crew);
}

/* team.c: between two stretches, when all processes stand at one time. */
/* What others have counted comes to the first: all of it, or what decides how to go on; and whether
 * somebody was interrupted. */
bool world_meet(struct world *w, bool all, bool *ret_interrupted, struct wr_err *err);
/* The first process has decided: all go on, or none does. */
bool world_follow(struct world *w, bool ok, struct wr_err *err);
/* Does this process decide? */
static inline bool world_leads(const struct world *w)
{
    return !w->idle && (!w->peers || !sim_crew_first(w->crew));
}

/* jobs.c */
enum {
    WORLD_EV_SOURCE = NET_EV_KINDS,
    WORLD_EV_RANK,
    WORLD_EV_STORE = WORLD_EV_RANK + RANK_EV_KINDS,
};

/* A message: counted and sent. */
static inline void world_part_send(struct world_part *part, uint32_t src, uint32_t dst,
                                   uint64_t bytes, uint16_t app, uint8_t cls, uint64_t user)
{
    meter_sent(part->meter, src, bytes, part->sim->now);
    world_flow_count(part, app, src, dst, bytes);
    net_send(part->net, src, dst, bytes, app, cls, user);
}

/* How a message of ranks or of storage came about. */
struct cause_trip world_trip(const struct world *w, const struct net_msg *m, bool arrived);
uint32_t world_lp(void *part, uint32_t node); /* for wires */
bool world_jobs_plan(struct world *w, const struct conf *conf, struct wr_err *err);
bool world_jobs_open(struct world *w, const struct conf *conf, struct wr_err *err);
void world_jobs_close(struct world *w);
/* Whose messages are synthetic: the application after the jobs. */
static inline uint16_t world_traffic_app(const struct world *w)
{
    return (uint16_t)w->njobs;
}
/* The run goes on; false with the end in words when it must not. */
bool world_jobs_check(const struct world *w, struct wr_err *err);
bool world_jobs_write(const struct world *w, struct run *run, struct wr_err *err);

/* files.c: storage */
/* Takes the servers' nodes before jobs are placed. */
bool world_files_plan(struct world *w, const struct conf *conf, struct place *place,
                      struct wr_err *err);
bool world_files_open(struct world *w, const struct conf *conf, struct wr_err *err);
void world_files_close(struct world *w);
void world_files_begin(void *part, const struct rank_access *io, uint64_t user);
void world_files_arrived(struct world_part *part, const struct net_msg *m);
/* After the last event: does it add up, and did everything end? */
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
