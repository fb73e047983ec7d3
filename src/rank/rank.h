/* rank.h -- operations -> messages and I/O requests.
 *
 *   load --next--> rank --[eager, rendezvous, matching, collectives]--> wire (net, memory)
 *     ^              |                                                    |
 *     +----done------+<-------------------- sent, arrived ----------------+
 *
 * A rank is a resumable state machine of a few words, not a thread: what it does now, until when
 * its processor is busy, and the heads of its queues. Requests, messages and collectives in
 * progress are in pools. Several jobs run at the same time; their ranks are numbered through, job
 * after job. docs/models/mpi.md says what is modelled. Opened and called by world/jobs.c; the wire
 * (net/) and the files (store/) call back from inside event handlers.
 *
 * Invariant: a rank is in exactly one account at any time, so its accounts add up to the time from
 * its job's start to its end, to the picosecond.
 */
#ifndef RANK_RANK_H
#define RANK_RANK_H

#include "base/cause.h"
#include "base/hist.h"
#include "load/load.h"
#include "rank/coll/coll.h"
#include "sim/engine.h"

/* ---- settings: mpi: ---- */

enum rank_sendrecv { RANK_CONCURRENT, RANK_SERIAL };
enum rank_eager_done { RANK_COPIED, RANK_SENT };
enum rank_progress { RANK_PROGRESS_ALWAYS, RANK_PROGRESS_CALLS };

struct rank_mpi {
    uint64_t eager_b, control_b;
    double send_overhead_ps, recv_overhead_ps; /* the processor is busy */
    double copy_ps;                            /* per byte of an eager message, at either end */
    double send_delay_ps, send_delay_byte_ps;  /* until the NIC has it; the processor is free */
    double memory_ps, memory_byte_ps;          /* a message within a node */
    uint32_t eager_done, sendrecv, progress;
};

/* Presets: the same rows with other defaults, parameters in struct rank_mpi. */
extern const struct conf_kind *const rank_mpi_kinds[];

/* ---- the network: carries messages between nodes ---- */

struct rank_wire {
    void *ctx;
    /* Carry a message; then call ranks_sent and ranks_arrived with `user`. */
    void (*send)(void *ctx, uint32_t src_node, uint32_t dst_node, uint64_t bytes, uint16_t app,
                 uint8_t cls, uint64_t user);
    uint32_t (*lp)(void *ctx, uint32_t node); /* the logical process of a node */
    /* Called inside ranks_sent or ranks_arrived, for the wire's message `it`: when the NIC got it,
     * when its first packet left, and how long it takes from there on an idle network, until it is
     * sent or until it has arrived. */
    void (*trip)(void *ctx, uint32_t it, bool arrived, struct cause_trip *ret);
};

/* ---- storage: accesses to files ---- */

struct rank_access {
    uint32_t node, rank; /* rank: over all jobs */
    uint16_t app;
    uint8_t kind;   /* enum load_kind: LOAD_OPEN, ..., LOAD_FLUSH */
    uint8_t mode;   /* enum load_mode, of LOAD_OPEN */
    uint16_t flags; /* LOAD_F_COLL: the ranks of a group do it together */
    int64_t file;
    uint64_t offset, bytes;
};

struct rank_files {
    void *ctx;
    /* Begin the access; later, not from in here, call ranks_accessed with `user`. NULL: any
     * access takes rank_setup.io_ps. */
    void (*begin)(void *ctx, const struct rank_access *a, uint64_t user);
};

/* What a message is, for latencies and for the wire's `cls`. */
enum rank_class { RANK_POINT, RANK_COLLECTIVE, RANK_CONTROL, RANK_MEMORY, RANK_CLASSES };
extern const char *const rank_class_names[]; /* "message_point", ... */

/* ---- ranks ---- */

enum rank_account {
    RANK_COMPUTE,
    RANK_SEND,
    RANK_RECV,
    RANK_WAIT,
    RANK_IO,
    RANK_IDLE,
    RANK_ACCOUNTS,
};
extern const char *const rank_account_names[];

enum { RANK_EV_RUN, RANK_EV_POST, RANK_EV_MEMORY, RANK_EV_DONE, RANK_EV_NOTIFY, RANK_EV_KINDS };

/* Time lines: how many ranks of each job are recorded (0: none), what is too short to be an
 * interval of its own, and the most intervals of a rank. */
struct rank_timeline {
    uint32_t ranks, most;
    uint64_t resolution_ps;
};

/* What ranks_open() needs; copied. */
struct rank_setup {
    struct sim *sim;
    uint32_t first_kind; /* RANK_EV_KINDS event kinds from here on are the ranks' */
    struct rank_wire wire;
    struct rank_files files;
    const struct rank_mpi *mpi;     /* parameters of the MPI library */
    const struct coll_choice *coll; /* algorithms of collectives */
    uint64_t io_ps;                 /* what any access to a file takes */
    struct rank_timeline timeline;
};

struct rank_job {
    const struct load *load;
    const uint32_t *node; /* [load->ranks]; copied */
    uint64_t start_ps;
    uint16_t app; /* handed to the wire */
};

struct ranks;

/* All jobs are given at once; loads must outlive the ranks. */
void ranks_open(struct ranks **ret, const struct rank_setup *setup, const struct rank_job *jobs,
                uint32_t njobs);
void ranks_close(struct ranks *rs);

/* The same with partitions: one `struct ranks` for each, for the ranks on its nodes; their arrays
 * are shared. The wire calls that of the node that a message leaves or reaches. All other functions
 * take the first, and are called while no partition runs. Closing the first closes all. */
struct rank_partition {
    struct sim_partition *partition;
    void *wire_ctx, *files_ctx;
};

void ranks_open_partitions(struct ranks **ret, const struct rank_setup *setup,
                           const struct rank_partition *partitions, uint32_t npartitions,
                           const uint8_t *partition_of_node, const struct rank_job *jobs,
                           uint32_t njobs);
/* A message to a rank in another partition. ranks_pack writes it into `buf` when it leaves, and
 * returns the number of bytes, a multiple of 8. ranks_unpack, in the other partition and before it
 * arrives, returns the word `user` with which the wire calls ranks_arrived there. */
enum { RANK_MOST_PACKED = 256 };
uint32_t ranks_pack(struct ranks *rs, uint64_t user, void *buf);
uint64_t ranks_unpack(struct ranks *rs, const void *buf);
/* An event that another partition's ranks sent. */
void ranks_receive(void *rs, const struct sim_event *e, const void *data, uint32_t bytes);
/* Had all ranks of all partitions ended by now - ago_ps? ago_ps must be at least the lookahead of
 * the partitions: then it is known in this one. */
bool ranks_ended(const struct ranks *rs, uint64_t ago_ps);

/* Called by the wire, inside handlers; `it` is the wire's handle of the message. */
void ranks_sent(struct ranks *rs, uint64_t user, uint32_t it);
void ranks_arrived(struct ranks *rs, uint64_t user, uint32_t it);
/* Called by the storage; cause_ps[CAUSES] divides the time since the access began over its causes.
 */
void ranks_accessed(struct ranks *rs, uint64_t user, const uint64_t *cause_ps);

enum ranks_state {
    RANKS_RUNNING,
    RANKS_ENDED,  /* all of them */
    RANKS_STUCK,  /* deadlock: no event or message is pending, and some have not ended */
    RANKS_FAILED, /* a program could not go on; ranks_fault() says why */
};

enum ranks_state ranks_state(const struct ranks *rs);
/* As known in this partition; all are known in the first. May be called while others run. */
bool ranks_any_failed(const struct ranks *rs);
uint32_t ranks_jobs_ended(const struct ranks *rs);
bool ranks_fault(const struct ranks *rs, struct wr_err *err);
/* Says in `err` which rank waits for which message of which rank. Returns false. */
bool ranks_report_deadlock(const struct ranks *rs, struct wr_err *err);

/* ---- what was counted; any time ---- */

/* Counters of a rank. */
struct rank_stat {
    uint32_t job, rank, node; /* rank: within its job */
    bool ended;
    uint64_t elapsed_ps; /* since its job's start; the sum of all accounts and collectives */
    uint64_t account_ps[RANK_ACCOUNTS]; /* without collectives */
    uint64_t coll_ps[LOAD_COLLS];       /* time in collectives of each kind ... */
    uint32_t colls[LOAD_COLLS];         /* ... and how many */
    uint64_t overhead_ps;               /* of communication: the processor was busy, not waiting */
    /* Attribution of the time of communication and of I/O; each adds up to its accounts. */
    uint64_t comm_why_ps[CAUSES], io_why_ps[CAUSES];
    uint64_t msgs_sent, bytes_sent, msgs_recvd, bytes_recvd;
    uint64_t accesses, bytes_read, bytes_written;
};

uint32_t ranks_count(const struct ranks *rs); /* over all jobs */
void ranks_stat(const struct ranks *rs, uint32_t i, struct rank_stat *ret);
uint64_t ranks_job_end_ps(const struct ranks *rs, uint32_t job); /* last rank's; 0: not ended */
const struct wr_hist *ranks_latency(const struct ranks *rs, uint32_t job, enum rank_class cls);
const struct wr_hist *ranks_iterations(const struct ranks *rs, uint32_t job);

struct rank_mark {
    uint32_t rank; /* over all jobs: ranks_stat() */
    uint32_t mark;
    uint64_t t_ps; /* since its job's start */
};

/* An interval of a recorded rank's time: when it began, since its job's start, and for how long the
 * rank did each activity in it. The next interval begins where it ends. */
enum rank_did { RANK_DID_COMPUTE, RANK_DID_COMM, RANK_DID_IO, RANK_DID_IDLE, RANK_DIDS };

struct rank_interval {
    uint64_t t_ps;
    uint64_t ps[RANK_DIDS];
};

/* How many a rank has, until what it did last; 0: it is not recorded. */
uint32_t ranks_intervals(const struct ranks *rs, uint32_t i, const struct rank_interval **ret);

uint32_t ranks_marks(const struct ranks *rs);
const struct rank_mark *ranks_mark(const struct ranks *rs, uint32_t i);

/* The counters of a partition's ranks as bytes, for a process that does not execute them.
 * ranks_take_accounts puts them into the same partition there; then the functions of the first
 * `struct ranks` cover all ranks. Called while no partition runs, with all clocks at one time.
 * `all`: everything, once at the end; otherwise only what ranks_state needs. */
void ranks_pack_accounts(const struct ranks *rs, bool all, struct wr_bytes *out);
void ranks_take_accounts(struct ranks *rs, bool all, struct wr_reader *in);

/* Memory: what each rank takes beside its workload's words, and what is under way. */
size_t ranks_rank_bytes(void);
uint64_t ranks_bytes_used(const struct ranks *rs);

#endif
