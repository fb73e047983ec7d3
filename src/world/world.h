/* world.h -- builds a simulation from a configuration and runs it.
 *
 * The only module that depends on all others of the simulator. It connects them (the traffic posts
 * messages, the network carries them, the meter counts them) and decides nothing that one of them
 * could. Called by the verbs, and by study/ for each run of a study:
 *
 *   world_open... -> world_run -> world_write, world_result -> world_close
 */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "base/progress.h"
#include "meter/meter.h"
#include "run/run.h"
#include "sim/engine.h"
#include "world/config.h"
#include "world/machine.h"

struct world;

/* `conf` and `c` must outlive the world. */
bool world_open(struct world **ret, const struct conf *conf, const struct world_config *c,
                struct wr_err *err);
/* The same with up to `threads` threads; auto: as many as there are processors, if the machine is
 * large enough for a speed-up. Where partitions are not possible one thread is used, and
 * world_why_one says why; NULL: there are as many threads as the machine has partitions. */
enum { WORLD_THREADS_AUTO = 0, WORLD_MOST_THREADS = 256 };
bool world_open_threads(struct world **ret, const struct conf *conf, const struct world_config *c,
                        uint32_t threads, struct wr_err *err);
/* The same with `threads` threads in each of several processes (NULL: in this one). All processes
 * must call the same functions with the same configuration; process 0 has the run file. Where that
 * is not possible process 0 runs the simulation alone. An error in one process is returned in all.
 */
struct sim_peers;
bool world_open_shared(struct world **ret, const struct conf *conf, const struct world_config *c,
                       uint32_t threads, struct sim_peers *peers, struct wr_err *err);
uint32_t world_threads(const struct world *w);
const char *world_why_one(const struct world *w);
/* Requests to storage devices whose times are assumed; adds what is assumed, in words. */
uint64_t world_assumed(const struct world *w, struct wr_str *out);

/* What each thread did so far, its live ports (about its share of the work), and the lookahead;
 * returns the number of threads. */
struct world_profile {
    struct sim_work work;
    uint64_t ports, lookahead_ps;
};
uint32_t world_profile(const struct world *w, struct world_profile ret[WORLD_MOST_THREADS]);
void world_close(struct world *w);

/* The counters of partition `i` as bytes, for a process that does not execute it;
 * world_take_partition stores them there as if it had. Called while no partition runs, with all
 * clocks at one time; after the last partition, world_gather adds them up. `all`: everything, once,
 * before world_write or before a deadlock is reported; otherwise, any number of times, what time
 * slices and ranks_state need. */
struct wr_bytes;
void world_pack_partition(const struct world *w, uint32_t i, bool all, struct wr_bytes *out);
bool world_take_partition(struct world *w, uint32_t i, bool all, const void *data, size_t bytes,
                          struct wr_err *err);
void world_gather(struct world *w);

/* How a run ended. */
enum world_end {
    WORLD_DONE,        /* everything measured arrived */
    WORLD_DRAIN_LIMIT, /* traffic.drain passed first: the machine is saturated */
    WORLD_INTERRUPTED, /* Ctrl-C: results cover what was simulated so far */
};

/* Runs to the end. `run` gets the time series while running; it may be NULL, as may `progress`. Of
 * several processes, only the first has them, and all counters at the end. */
bool world_run(struct world *w, struct run *run, struct wr_progress *progress, enum world_end *ret,
               struct wr_err *err);

/* Writes all counters into the run file. */
bool world_write(const struct world *w, struct run *run, struct wr_err *err);

/* The headline of a run, for sweeps. */
struct world_result {
    double offered, accepted; /* fractions of the injection bandwidth */
    struct wr_hist latency;   /* of measured messages, ps */
    double packet_mean_ps;
    double hops_mean;     /* router-to-router */
    double router_visits; /* per packet */
    double nonminimal_frac;
    struct net_counts count;
    uint64_t events, sim_end_ps, measured, unfinished;
};

void world_result(const struct world *w, struct world_result *ret);

uint64_t world_horizon_ps(const struct world_config *c); /* when a run by time ends, drain aside */

/* The tables that jobs' programs logged, as text; after world_write. */
struct wr_str;
void world_print_logs(const struct world *w, struct wr_str *out);
/* An error in what a job's program logs, such as THE value of several; NULL: none. The results of
 * the run are valid all the same. After world_write. */
const char *world_log_fault(const struct world *w);

/* For benchmarks and tests. */
struct ranks;
const struct ranks *world_ranks(const struct world *w); /* NULL: no jobs */
uint32_t world_jobs(const struct world *w);             /* that run */
const char *world_job_name(const struct world *w, uint32_t job);
const struct net *world_net(const struct world *w);
const struct topo *world_topo(const struct world *w);
struct store;
const struct store *world_store(const struct world *w); /* NULL: no storage */

#endif
