/* rank.h -- operations -> messages and I/O requests.
 *
 *   load --next--> rank --[eager, rendezvous, matching, collectives]--> wire (net, memory)
 *     ^              |                                                    |
 *     +----done------+<-------------------- sent, arrived ----------------+
 *
 * A rank is a few words, not a stack: what it does now, until when its processor is busy, and
 * the heads of its queues. Requests, messages and collectives under way are in
 * pools. Several jobs live side by side; their ranks are numbered through, job after
 * job. docs/models/mpi.md says what is modelled.
 *
 * A rank is in exactly one account at any time, so its accounts add up to the time from its
 * job's start to its end, to the picosecond.
 */
#ifndef RANK_RANK_H
#define RANK_RANK_H

#include "base/cause.h"
#include "base/hist.h"
#include "load/load.h"
#include "rank/coll/coll.h"
#include "sim/crew.h"

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

/* ---- who carries messages between nodes ---- */

struct rank_wire {
    void *ctx;
    /* Carry a message; then call ranks_sent and ranks_arrived with `user`. */
    void (*send)(void *ctx, uint32_t src_node, uint32_t dst_node, uint64_t bytes, uint16_t app,
                 uint8_t cls, uint64_t user);
    uint32_t (*lp)(void *ctx, uint32_t node); /* the logical process of a node */
    /* Inside ranks_sent or ranks_arrived, of the wire's message `it`: when the NIC had it, when
     * its first packet left, and how long it takes from there when alone, until it is
     * sent or until it has arrived. */
    void (*trip)(void *ctx, uint32_t it, bool arrived, struct cause_trip *ret);
};

/* ---- who keeps files ---- */

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

enum { RANK_EV_RUN, RANK_EV_POST, RANK_EV_MEMORY, RANK_EV_DONE, RANK_EV_TELL, RANK_EV_KINDS };

/* Time lines: how many ranks of each job are recorded (0: none), what is too short to be an
 * interval of its own, and the most intervals of a rank. */
struct rank_timeline {
    uint32_t ranks, most;
    uint64_t resolution_ps;
};

struct rank_setup {
    struct sim *sim;
    uint32_t first_kind; /* RANK_EV_KINDS event kinds from here on are the ranks' */
    struct rank_wire wire;
    struct rank_files files;
    const struct rank_mpi *mpi;
    const struct coll_choice *coll;
    uint64_t io_ps; /* what any access to a file takes */
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

/* The same in partitions: a `struct ranks` for each, for the ranks on its nodes, whose arrays are
 * shared. The wire calls those of the node that a message leaves or comes to. Anything else can be
 * asked of the first, while nobody runs. Closing the first closes all. */
struct rank_part {
    struct sim_part *part;
    void *wire_ctx, *files_ctx;
};

void ranks_open_parts(struct ranks **ret, const struct rank_setup *setup,
                      const struct rank_part *parts, uint32_t nparts, const uint8_t *part_of_node,
                      const struct rank_job *jobs, uint32_t njobs);
/* A message to a rank in another partition: what it is, as bytes, when it leaves; and there, the
 * word that the wire calls those ranks with, before it arrives. Returns how many bytes, a multiple
 * of 8. */
enum { RANK_MOST_PACKED = 256 };
uint32_t ranks_pack(struct ranks *rs, uint64_t user, void *buf);
uint64_t ranks_unpack(struct ranks *rs, const void *buf);
/* An event that another partition's ranks sent. */
void ranks_receive(void *rs, const struct sim_event *e, const void *data, uint32_t bytes);
/* Have all ranks of all partitions ended before now? Asked by a process of this partition; it may
 * wait for others. */
bool ranks_all_over(struct ranks *rs, uint32_t lp);

/* From the wire, inside handlers; `it` is the wire's own name of the message. */
void ranks_sent(struct ranks *rs, uint64_t user, uint32_t it);
void ranks_arrived(struct ranks *rs, uint64_t user, uint32_t it);
/* From the files; part[CAUSES] divides the time since the access began. */
void ranks_accessed(struct ranks *rs, uint64_t user, const uint64_t *part);

enum ranks_state {
    RANKS_RUNNING,
    RANKS_ENDED,  /* all of them */
    RANKS_STUCK,  /* nothing of theirs is under way, and some have not ended */
    RANKS_FAILED, /* a program could not go on; ranks_fault() says why */
};

enum ranks_state ranks_state(const struct ranks *rs);
/* As far as these ranks' partition has heard; the first hears of all. Also while others run. */
bool ranks_any_failed(const struct ranks *rs);
uint32_t ranks_jobs_ended(const struct ranks *rs);
bool ranks_fault(const struct ranks *rs, struct wr_err *err);
/* Who waits for whom, in words. Fills `err` and returns false. */
bool ranks_tell_stuck(const struct ranks *rs, struct wr_err *err);

/* ---- what was counted; any time ---- */

struct rank_stat {
    uint32_t job, rank, node;
    bool ended;
    uint64_t elapsed_ps; /* since its job's start; the sum of all accounts and collectives */
    uint64_t account_ps[RANK_ACCOUNTS];
    uint64_t coll_ps[LOAD_COLLS];
    uint32_t colls[LOAD_COLLS];
    uint64_t overhead_ps; /* of communication: the processor was busy, not waiting */
    /* Why communication and I/O took so long; each adds up to its accounts. */
    uint64_t comm_why_ps[CAUSES], io_why_ps[CAUSES];
    uint64_t msgs_sent, bytes_sent, msgs_recvd, bytes_recvd;
    uint64_t accesses, bytes_read, bytes_written;
};

uint32_t ranks_count(const struct ranks *rs); /* over all jobs */
void ranks_stat(const struct ranks *rs, uint32_t i, struct rank_stat *ret);
uint64_t ranks_job_end_ps(const struct ranks *rs, uint32_t job); /* last rank's; 0: not ended */
const struct wr_hist *ranks_latency(const struct ranks *rs, uint32_t job, enum rank_class cls);
const struct wr_hist *ranks_iterations(const struct ranks *rs, uint32_t job);
double ranks_progress(const struct ranks *rs); /* operations so far */

struct rank_mark {
    uint32_t rank; /* over all jobs: ranks_stat() */
    uint32_t mark;
    uint64_t t_ps; /* since its job's start */
};

/* A stretch of a recorded rank's time: when it began, since its job's start, and for how long the
 * rank did what in it. The next begins where it ends. */
enum rank_did { RANK_DID_COMPUTE, RANK_DID_COMM, RANK_DID_IO, RANK_DID_IDLE, RANK_DIDS };

struct rank_interval {
    uint64_t t_ps;
    uint64_t ps[RANK_DIDS];
};

/* How many a rank has, until what it did last; 0: it is not recorded. */
uint32_t ranks_intervals(const struct ranks *rs, uint32_t i, const struct rank_interval **ret);

uint32_t ranks_marks(const struct ranks *rs);
const struct rank_mark *ranks_mark(const struct ranks *rs, uint32_t i);

/* What a partition's ranks have counted, as bytes, for a process in which they were not executed:
 * there it is put into the same partition's, and then anything can be asked of the first, as if
 * all had been executed here. While nobody runs, with all clocks at one time. `all`: all that
 * there is, once and at the end; else how it stands (ranks_state). */
void ranks_pack_accounts(const struct ranks *rs, bool all, struct wr_bytes *out);
void ranks_take_accounts(struct ranks *rs, bool all, struct wr_reader *in);

/* Memory: what each rank takes beside its workload's words, and what is under way. */
size_t ranks_rank_bytes(void);
uint64_t ranks_bytes_used(const struct ranks *rs);

#endif
