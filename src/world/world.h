/* world.h -- a configuration becomes a machine that runs.
 *
 * The only room that sees all of the simulator's others. It joins them (the
 * traffic posts messages, the network carries them, the meter counts them) and
 * decides nothing that one of them could.
 */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "base/progress.h"
#include "meter/meter.h"
#include "run/run.h"
#include "sim/crew.h"
#include "world/config.h"
#include "world/machine.h"

struct world;

/* `conf` and `c` must outlive the world. */
bool world_open(struct world **ret, const struct conf *conf, const struct world_config *c,
                struct wr_err *err);
/* The same, run by up to so many threads; auto: as many as there are processors, if the machine is
 * large enough to gain by it. Where that is not possible it is run by one, and
 * world_why_one says why: NULL when there are as many as the machine has parts. */
enum { WORLD_THREADS_AUTO = 0, WORLD_MOST_THREADS = 256 };
bool world_open_threads(struct world **ret, const struct conf *conf, const struct world_config *c,
                        uint32_t threads, struct wr_err *err);
/* The same, by so many threads of each of several processes (NULL: of this one), all of which must
 * call the same functions with the same configuration; process 0 has the run file. Where that is
 * not possible process 0 runs it alone, and the others have nothing to do. An error of one is one
 * of all. */
struct sim_peers;
bool world_open_shared(struct world **ret, const struct conf *conf, const struct world_config *c,
                       uint32_t threads, struct sim_peers *peers, struct wr_err *err);
uint32_t world_threads(const struct world *w);
const char *world_why_one(const struct world *w);

/* What each thread did so far, its live ports (about its share of the work), and how far ahead of
 * the nearest other it may be; returns how many threads there are. */
struct world_profile {
    struct sim_work work;
    uint64_t ports, lookahead_ps;
};
uint32_t world_profile(const struct world *w, struct world_profile ret[WORLD_MOST_THREADS]);
void world_close(struct world *w);

/* What partition `i` has counted, as bytes, for a process in which it was not run: there
 * world_take_part puts it where it would have been counted. While nobody runs, all clocks at one
 * time; after the last partition's, world_gather adds them all up. `all`: everything, once, before
 * world_write or before it is told who waits for whom; else, as often as wanted, what slices and
 * the look at how it stands need. */
struct wr_bytes;
void world_pack_part(const struct world *w, uint32_t i, bool all, struct wr_bytes *out);
bool world_take_part(struct world *w, uint32_t i, bool all, const void *data, size_t bytes,
                     struct wr_err *err);
void world_gather(struct world *w);

/* How a run ended. */
enum world_end {
    WORLD_DONE,        /* everything measured arrived */
    WORLD_DRAIN_LIMIT, /* traffic.drain passed first: the machine is saturated */
    WORLD_INTERRUPTED, /* Ctrl-C: what was simulated so far stands */
};

/* Runs to the end. `run` gets the time series as they come and may be NULL, as
 * may `progress`; of several processes, only the first has them, and everything that was counted.
 */
bool world_run(struct world *w, struct run *run, struct wr_progress *progress, enum world_end *ret,
               struct wr_err *err);

/* Everything that was counted, into the run file. */
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
/* What a job's program asks of its log and cannot have, such as THE value of several; NULL: nothing
 * of the sort. It takes nothing from the run. After world_write. */
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
