/* run.h -- writing a run file.
 *
 *   run_create ─> run_put_* ... run_flush ... run_put_* ─> run_finish
 *      │             │                                        │
 *   status           facts, in transactions that are          status 'complete',
 *   'running'        committed about once a second            'incomplete' or 'failed'
 *
 * A run file is an SQLite database. Makers (simulator, profiler, ...) write facts, each once;
 * derived values (means, percentiles, nanoseconds, totals) are views in the file.
 * docs/formats/run-file.md describes every view and column.
 *
 * After a crash: a killed process loses what was put since the last commit, and readers see a
 * 'running' file whose writer has ended. A power failure may damage the file, because commits
 * during the run do not wait for the disk; run_finish does, before the status becomes 'complete'.
 *
 * One thread at a time may use a `struct run`. After the first failed put the
 * run is broken: later puts fail with the same error.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "base/output.h"
#include "base/str.h"

enum run_status { RUN_RUNNING, RUN_COMPLETE, RUN_INCOMPLETE, RUN_FAILED };

const char *run_status_name(enum run_status status);

/* An integer that the maker does not know is stored as NULL, and so is a NaN. */
#define RUN_NULL INT64_MIN

struct run_meta {
    const char *kind;    /* what made it: "sim", "prof", "rpc", "probe", ... */
    const char *command; /* see run_command_line; NULL: unknown */
    const char *config;  /* the resolved configuration as text; NULL: none */
    uint64_t seed;
    bool force; /* replace an existing run file (nothing else is ever replaced) */
    /* The file gets its name when it is finished, not when it is created: for makers that have all
     * data at once, so that a partial file has no use. */
    bool whole;
};

struct run;

bool run_create(struct run **ret, const char *path, const struct run_meta *meta,
                struct wr_err *err);

/* Always frees the run, also when it fails: then the file stays without the
 * requested status and reads as incomplete. `reason` may be NULL when complete.
 * The summary rows wall_s and max_rss_bytes are put here. Waits up to ten minutes
 * for other programs that are reading the file. */
bool run_finish(struct run *run, enum run_status status, const char *reason, struct wr_err *err);

/* The format of run files (base/output.h). */
extern const struct wr_format run_format;

/* Frees the run and removes the file. */
void run_abandon(struct run *run);

/* Whether run_create() would succeed; for makers that measure before they create the file. */
bool run_check_path(const char *path, bool force, struct wr_err *err);

/* Commits what was put so far, so that readers see it and a kill does not lose it. If a reader
 * blocks the commit the next one includes it. Puts commit once a second; a maker calls this before
 * a longer pause. */
bool run_flush(struct run *run, struct wr_err *err);

/* Progress for readers of a run in progress: `done` of `total` (0: not known) of `of` ("simulated
 * time"). Written once a second at most, so it may be called often; removed when the run completes.
 */
bool run_put_progress(struct run *run, double done, double total, const char *of,
                      struct wr_err *err);

/* A file the run depended on, whole. */
bool run_put_input(struct run *run, const char *path, const void *content, size_t len,
                   struct wr_err *err);

/* One line of `summary`; a key put again replaces its value. `unit` is "" for
 * a count. Volatile lines (durations, memory) may differ between equal runs. */
bool run_put_count(struct run *run, const char *key, uint64_t value, const char *unit,
                   struct wr_err *err);
bool run_put_real(struct run *run, const char *key, double value, const char *unit,
                  struct wr_err *err);
bool run_put_volatile(struct run *run, const char *key, double value, const char *unit,
                      struct wr_err *err);
bool run_put_text(struct run *run, const char *key, const char *value, struct wr_err *err);

/* One more line of `meta`, such as the study of the run. Equal runs may differ in it. */
bool run_put_meta(struct run *run, const char *key, const char *value, struct wr_err *err);

/* An application (a job): its traffic and times are sums over its ranks. */
struct run_app {
    uint32_t app; /* 0, 1, ... */
    const char *name;
    uint64_t ranks;
    int64_t start_ps;      /* when its first rank may begin */
    const char *workload;  /* what it runs, or NULL */
    const char *placement; /* how its ranks were placed, or NULL */
};

bool run_put_app(struct run *run, const struct run_app *app, struct wr_err *err);

/* Start from run_rank_unknown(): all RUN_NULL. */
struct run_rank {
    uint32_t app;
    uint64_t rank; /* within the application */
    int64_t node;
    int64_t msgs_sent, bytes_sent, msgs_recvd, bytes_recvd;
    /* elapsed = compute + comm + io + idle; wait is the part of comm and io that is
     * only waiting */
    int64_t elapsed_ps, compute_ps, comm_ps, io_ps, wait_ps;
    int64_t bytes_read, bytes_written;
    int64_t send_ps, recv_ps, await_ps, coll_ps; /* comm is their sum */
    int64_t idle_ps;
};

static inline struct run_rank run_rank_unknown(uint32_t app, uint64_t rank)
{
    return (struct run_rank){
        .app = app,
        .rank = rank,
        .node = RUN_NULL,
        .msgs_sent = RUN_NULL,
        .bytes_sent = RUN_NULL,
        .msgs_recvd = RUN_NULL,
        .bytes_recvd = RUN_NULL,
        .elapsed_ps = RUN_NULL,
        .compute_ps = RUN_NULL,
        .comm_ps = RUN_NULL,
        .io_ps = RUN_NULL,
        .wait_ps = RUN_NULL,
        .bytes_read = RUN_NULL,
        .bytes_written = RUN_NULL,
        .send_ps = RUN_NULL,
        .recv_ps = RUN_NULL,
        .await_ps = RUN_NULL,
        .coll_ps = RUN_NULL,
        .idle_ps = RUN_NULL,
    };
}

bool run_put_rank(struct run *run, const struct run_rank *rank, struct wr_err *err);

/* How often a rank was in a collective, and for how long in all. */
bool run_put_coll(struct run *run, uint32_t app, uint64_t rank, const char *coll, uint64_t n,
                  uint64_t ps, struct wr_err *err);
/* Why a rank's communication or I/O (`during`: "comm" or "io") took so long: `cause` as
 * base/cause.h names it. A rank's causes add up to what it took; those of 0 need not be put. */
bool run_put_cause(struct run *run, uint32_t app, uint64_t rank, const char *during,
                   const char *cause, uint64_t ps, struct wr_err *err);
/* A rank came to a mark of its program (`mark`: which). Times since its job's start. */
bool run_put_mark(struct run *run, uint32_t app, uint64_t rank, uint32_t mark, uint64_t t_ps,
                  struct wr_err *err);

/* An interval of a rank's time since its job's start, divided by activity. */
struct run_interval {
    uint32_t app;
    uint64_t rank, t_ps;
    uint64_t compute_ps, comm_ps, io_ps, idle_ps;
};
bool run_put_interval(struct run *run, const struct run_interval *x, struct wr_err *err);

/* One value of a table that a program logged. */
struct run_log {
    uint32_t app, table, column;
    uint64_t rank, row;
    const char *title, *aggregate;
    double value; /* NaN: unknown */
};

bool run_put_log(struct run *run, const struct run_log *log, struct wr_err *err);
/* A line that a program printed. */
bool run_put_output(struct run *run, uint32_t app, uint64_t rank, uint64_t t_ps, const char *text,
                    struct wr_err *err);

/* One direction of one cable, named by the port it leaves. Put links in
 * ascending (src_kind, src, port): that is the order they are stored in, and
 * appending is what is fast. */
struct run_link {
    const char *src_kind, *dst_kind; /* "node", "router", ... */
    const char *cls;                 /* "inject", "local", "global", "eject", ... */
    uint32_t src, dst;
    uint16_t port; /* of src */
    uint64_t bytes, packets;
    uint64_t busy_ps;      /* sending */
    uint64_t saturated_ps; /* some packet waited for it without a credit */
    double bytes_per_s;    /* bandwidth; NaN: unknown */
};

bool run_put_link(struct run *run, const struct run_link *link, struct wr_err *err);

/* What an application sent from a group of routers to another: (app, src_group, dst_group) once. */
struct run_flow {
    uint32_t app, src_group, dst_group;
    uint64_t msgs, bytes;
};

bool run_put_flow(struct run *run, const struct run_flow *flow, struct wr_err *err);

/* A storage device: (server, device, idx) once. */
struct run_server {
    uint32_t server, node, idx; /* idx: among the devices of its sort there */
    const char *role;           /* "server", "io_node", "client" */
    const char *device, *model; /* "fast" or "slow"; the kind of device */
    uint64_t reads, writes, bytes_read, bytes_written;
    uint64_t busy_ps, seeks;
    uint64_t queue_ps; /* requests in it, summed over time */
    uint64_t queue_max;
};

bool run_put_server(struct run *run, const struct run_server *server, struct wr_err *err);

/* The buffer of a server, and its counters other than its devices'. */
struct run_buffer {
    uint32_t server, node;
    const char *role; /* server, io_node, client */
    uint64_t requests;
    uint64_t used_b, used_max_b, dirty_b; /* at the end; the most at any time; not drained */
    uint64_t in_b, out_b, absorbed_b;     /* in = out + dirty + absorbed */
    uint64_t evicted_b, hit_b, miss_b; /* clean bytes given up; read from it; read from elsewhere */
    uint64_t waits, wait_ps;           /* for space in the buffer */
};

bool run_put_buffer(struct run *run, const struct run_buffer *buffer, struct wr_err *err);

/* The server that has the data of a node's ranks; a node once. */
bool run_put_client(struct run *run, uint32_t node, uint32_t server, struct wr_err *err);

/* A latency distribution, in picoseconds, kept whole. `app` is RUN_ALL_APPS or
 * an application; `cls` is what was timed: "packet", "packet_remote", "message". */
enum { RUN_ALL_APPS = -1 };

bool run_put_latency(struct run *run, int64_t app, const char *cls, const struct wr_hist *ps,
                     struct wr_err *err);

/* Time series. A series is one metric of one entity ("router:12.5", "node:7",
 * "app:0", "class:global", "machine"); asking again for the same gives the same
 * id. `dt_ps` is the usual width of its slices (a slice of that width needs less space). Put slices
 * in ascending t_ps, each (t_ps, series) once. */
struct run_series {
    const char *entity, *metric, *unit;
    int64_t dt_ps;
};

/* A complete run with at least RUN_GATHER_FROM slices also stores sums over RUN_GATHER neighbours,
 * for charts (run/slices.h). */
enum { RUN_GATHER = 8, RUN_GATHER_FROM = 50000 };

bool run_open_series(struct run *run, const struct run_series *series, uint32_t *ret_id,
                     struct wr_err *err);
bool run_put_slice(struct run *run, uint32_t series, int64_t t_ps, int64_t dt_ps, double value,
                   struct wr_err *err);

/* One point of a load sweep. Loads are fractions of the injection bandwidth,
 * latencies nanoseconds; NaN: unknown. (series, load, seed) once. */
struct run_sweep {
    int64_t place; /* from 1: its index among the points, in any order of completion; 0: last */
    const char *series; /* what is compared: "minimal", "valiant", ... */
    double load;        /* requested */
    uint64_t seed;
    double offered, accepted; /* measured: what was injected, what arrived */
    double lat_mean_ns, lat_min_ns, lat_p50_ns, lat_p99_ns, lat_max_ns;
    double hops_mean;       /* links between routers per packet */
    double nonminimal_frac; /* of packets */
    bool saturated;         /* accepted stays behind offered */
    int64_t packets, events;
    double sim_end_ns;
    double wall_s; /* volatile */
};

bool run_put_sweep(struct run *run, const struct run_sweep *point, struct wr_err *err);

/* The software of a file system (put_stack.c). Times are nanoseconds. */
struct run_stack_state {
    const char *side, *layer, *agent, *machine, *state, *class;
    uint32_t layer_at; /* from the application down, then up the server */
    uint64_t visits, work_ns, wait_ns;
    uint64_t own_ns; /* its own cost: work, and waiting for storage or data */
    uint64_t between_ns;
    bool measured; /* its time comes from a measurement */
};

struct run_stack_message {
    const char *message;
    uint64_t requests, request_b, answers, answer_b;
};

struct run_stack_phase {
    uint32_t phase;
    const char *access; /* write, read */
    int64_t rep;
    uint64_t transfers, bytes, open_ns, io_ns, close_ns, total_ns, busy_ns;
};

/* A visit of a state ("state") or a message ("request", "answer", "data") of one operation. */
struct run_stack_step {
    const char *operation, *kind, *side, *layer, *what, *class;
    uint64_t t_ns;
    int64_t node, peer, work_ns, wait_ns, bytes;
    int64_t op, parent;
};

/* Measured and simulated times of reads and writes ("io"), functions, classes of time or states.
 * NaN: not known. */
struct run_stack_check {
    const char *kind, *name;
    uint64_t bytes, n; /* of a transfer; measured times */
    double p10_s, measured_s, p90_s, simulated_s;
    double low_s, high_s; /* predicted range of 80 % of the times */
};

bool run_put_stack_check(struct run *run, const struct run_stack_check *c, struct wr_err *err);
bool run_put_stack_state(struct run *run, const struct run_stack_state *s, struct wr_err *err);
bool run_put_stack_message(struct run *run, const struct run_stack_message *m, struct wr_err *err);
bool run_put_stack_phase(struct run *run, const struct run_stack_phase *p, struct wr_err *err);
bool run_put_stack_param(struct run *run, const char *name, int64_t value, const char *source,
                         const char *help, struct wr_err *err);
bool run_put_stack_step(struct run *run, const struct run_stack_step *s, struct wr_err *err);

/* A process of a profiled job. Times from the beginning of the run; RUN_NULL: not known. */
struct run_process {
    uint32_t app, rank;
    const char *host, *command, *counted_by;
    int64_t pid, ppid, threads;
    int64_t start_ps, end_ps, io_start_ps, io_end_ps; /* its life, and its I/O */
    int64_t library_read, library_written;            /* by the library, storage or not */
    int64_t kernel_read, kernel_written;              /* by the kernel's counters */
    int64_t start_read;                               /* of these, before the library was ready */
    int64_t unexplained_read, unexplained_written;    /* by the kernel's counters alone */
    int64_t booked_read, booked_written; /* counted as storage from the kernel's counters */
    int64_t images, mpi_rank;            /* programs that it executed */
};

bool run_put_process(struct run *run, const struct run_process *p, struct wr_err *err);

/* What a process did on a mount or a file ("mount:/scratch"). */
struct run_use {
    uint32_t app, rank;
    const char *entity;
    int64_t bytes_read, bytes_written, reads, writes, syncs, opens, metas;
};

bool run_put_use(struct run *run, const struct run_use *u, struct wr_err *err);

/* Calls of a job ("read" or "write") that requested low..high bytes, high excluded. */
struct run_access {
    uint32_t app;
    const char *op;
    int64_t low_b, high_b, calls;
};

bool run_put_access(struct run *run, const struct run_access *a, struct wr_err *err);

/* `n` requests of one kind of a rank to one file, in the order in which the rank made them: request
 * k began at t + k * dt / n since the job's start. */
struct run_io_phase {
    uint32_t app, rank;
    uint64_t seq;       /* from 0 for each rank */
    const char *op;     /* "read", "write", "open", "sync" */
    const char *entity; /* "file:/scratch/a" */
    const char *source; /* "measured": each was recorded; how the order was assumed otherwise */
    int64_t t_ps, dt_ps;
    int64_t offset_b; /* of the first; RUN_NULL: not known */
    int64_t bytes, n;
    int64_t io_ps; /* time in them, all together */
};

bool run_put_io_phase(struct run *run, const struct run_io_phase *p, struct wr_err *err);

/* A command line, quoted for a shell. */
void run_command_line(struct wr_str *out, int argc, char **argv);
void run_command_word(struct wr_str *out, const char *word); /* one word of it */

#endif
