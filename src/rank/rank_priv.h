/* rank_priv.h -- the state of ranks: requests, messages, collectives, accounts, partitions.
 *
 * Handles are indices of pools (base/pool.h); WR_NIL: none. Everything of a rank is touched by the
 * worker of its partition only.
 */
#ifndef RANK_RANK_PRIV_H
#define RANK_RANK_PRIV_H

#include "base/pool.h"
#include "rank.h"

enum rank_state {
    RANK_READY,     /* gets its next operation from its workload */
    RANK_DELAYED,   /* computes or sleeps */
    RANK_BLOCKED,   /* in a send, receive or access to a file: `blocking` */
    RANK_WAITING,   /* for what is outstanding */
    RANK_IN_COLL,   /* in a collective: `coll` */
    RANK_LISTENING, /* for any completion */
    RANK_OVER,
};

/* Kinds of requests, also places in rank.pending. */
enum rank_req_kind { REQ_SEND, REQ_RECV, REQ_IO, REQ_COMPUTE, REQ_KINDS };

enum {
    REQ_ASYNC = 1 << 0,
    REQ_COLL = 1 << 1,   /* belongs to the rank's collective */
    REQ_REPORT = 1 << 2, /* the workload is notified of its end */
    REQ_START = 1 << 3,  /* its next event is its start */
};

/* A request: set when it is posted; `next` and `flags` change until it completes. */
struct rank_req {
    uint32_t next;            /* in the rank's posted queue */
    uint32_t rank, peer;      /* over all jobs; within its job */
    uint8_t kind, flags, ctx; /* enum rank_req_kind, REQ_..., CTX_... */
    uint32_t cpu;             /* of a graph's operation */
    uint32_t where;           /* place in the program, for messages to the user */
    uint64_t bytes;
    int64_t tag;
    uint64_t id; /* the workload's own */
    uint64_t ps; /* computes: duration; accesses: when it began */
};

/* Communicators: messages of collectives never match others. Within CTX_COLL the tag is the
 * group's key. */
enum { CTX_POINT, CTX_COLL };

/* A rendezvous is a request to send (RTS), a clear to send (CTS) and the data. */
enum rank_msg_kind { MSG_EAGER, MSG_RTS, MSG_CTS, MSG_DATA };

enum {
    MSG_HERE = 1 << 0,   /* has arrived, but not the message before it */
    MSG_MEMORY = 1 << 1, /* does not leave the node */
    MSG_AFTER = 1 << 2,  /* an earlier message of the pair has not been matched or queued */
    MSG_FAR = 1 << 3,    /* goes to another partition: ordered by `number` */
};

/* Messages of a pair of ranks are matched in the order in which they were sent, whatever order they
 * arrive in: each has the handle of its follower. Messages in flight are found by pair in
 * buckets. */
struct rank_msg {
    uint32_t next;   /* in the unexpected or the deferred queue */
    uint32_t bucket; /* the next of its bucket */
    union {
        uint32_t follower; /* sent next from and to the same ranks */
        uint32_t number;   /* among those of its pair */
    };
    uint32_t src, dst; /* ranks */
    uint32_t sreq,
        rreq; /* requests that it completes, of the sender and the receiver; WR_NIL: none */
    uint8_t kind, ctx, flags; /* MSG_EAGER ..., CTX_..., MSG_AFTER ... */
    uint8_t holds;            /* reference count: the receiver, and the wire until it is sent */
    uint64_t bytes;           /* payload; a control message's own size is a setting */
    int64_t tag;              /* matched with a receive's */
    uint64_t t_ps;            /* when the NIC or the memory got it */
    uint32_t handshake;       /* of a rendezvous, or WR_NIL */
};

/* The attribution of a rendezvous so far, for its sender and for its receiver; for the receiver
 * only the time after it posted its receive counts. */
struct rank_side {
    uint64_t begin_ps;   /* when the send or the receive was posted */
    uint64_t ps[CAUSES]; /* since then, by cause */
};

struct rank_handshake {
    uint64_t since_ps; /* what was before is in the sides' ps */
    struct rank_side sender, receiver;
};

/* A queue by its last element, whose `next` is the first. */
struct rank_queue {
    uint32_t last;
};

/* Changes in the events of the rank and of its messages. `node` and `job` are constant. */
struct rank {
    uint64_t since_ps; /* in its present account since */
    uint64_t busy_ps;  /* its processor is busy until */
    uint64_t debt_ps;  /* overhead of receives while it computed: charged when it waits */
    uint64_t account_ps[RANK_IO];     /* time in each account; those from RANK_IO on: ranks.cold */
    uint64_t overhead_ps;             /* processor time spent on messages, in any account */
    uint64_t bytes_sent, bytes_recvd; /* of point-to-point and collective messages */
    uint32_t msgs_sent, msgs_recvd;
    uint32_t pending[REQ_KINDS];  /* asynchronous, not complete */
    struct rank_queue posted;     /* receives without a message, in the order of posting */
    struct rank_queue unexpected; /* messages without a receive, in the order of sending */
    struct rank_queue deferred;   /* handshakes to answer when the rank is in a call of MPI */
    uint32_t node;
    uint32_t seq;      /* of its events: their order at one time */
    uint32_t where;    /* place of its operation in the program, for messages to the user */
    uint32_t blocking; /* the request that it is blocked on */
    uint32_t coll;     /* the collective that it is in */
    uint16_t job;
    uint8_t state;   /* what it does */
    uint8_t account; /* what its time since since_ps is counted as */
    uint8_t of;      /* while it waits: the kinds of requests, LOAD_SENDS | ... */
    bool some;       /* waits for one of them */
    bool scheduled;  /* a RUN event is scheduled */
    bool calling;    /* inside one of its own operations: completions need not wake it */
};

/* A collective that a rank is in. */
struct rank_coll {
    struct load_group group;    /* its members; set when it begins, as are ops and call */
    const struct coll_ops *ops; /* the algorithm */
    struct coll_call call;
    uint32_t step, left; /* steps begun; requests of the steps so far that are not complete */
    uint32_t recv_from;  /* serial: the peer still to be received from, or LOAD_NO_RANK */
    uint64_t recv_b;     /* bytes of that receive */
    bool open;           /* the last step had go_on: the next one starts without waiting */
};

/* Cold state: many ranks never use it. */
struct rank_cold {
    uint64_t accesses, read_b, written_b; /* of files */
    uint64_t io_ps, idle_ps;              /* the accounts RANK_IO and RANK_IDLE */
    uint64_t last_mark;                   /* time + 1 */
};

/* The causes to which communication is attributed; the remainder is software. */
enum { ATTRIBUTED_FIRST = CAUSE_TRANSFER, ATTRIBUTED = CAUSE_PARTNER - CAUSE_TRANSFER + 1 };

/* Communication time of a rank by cause; grows. */
struct rank_attribution {
    uint64_t ps[ATTRIBUTED];
};

/* A job, in one partition. `load`, `first`, `app` and `ranks` are set up; what the arrays hold and
 * the rest change while running. */
struct rank_jobs {
    struct load load;           /* its program */
    char *state;                /* load.rank_size bytes for each rank */
    uint64_t *cpu;              /* [ranks * load.cpus] busy until */
    uint32_t first, left;       /* its first rank; ranks that have not ended */
    uint64_t start_ps, end_ps;  /* when its ranks start; when the last one ended */
    uint16_t app;               /* number of the application in counters */
    struct wr_hist *latency;    /* [RANK_CLASSES] of messages */
    struct wr_hist *iteration;  /* times between marks of the program */
    struct ranks *ranks;        /* the partition whose counters these are */
    struct load_known known[2]; /* the last two decisions of the program for all ranks, by number */
    uint32_t partitions_left;   /* partitions with ranks that have not ended, as known here */
};

/* A pair of ranks in different partitions, in one of the two: how many messages the sender has
 * started, or the receiver has accepted in order. */
struct rank_pair {
    uint32_t next; /* with the same head */
    uint32_t src, dst;
    uint32_t count;
    uint32_t early; /* messages that arrived before an earlier one, linked by `bucket` */
};

/* The pairs of a partition: a hash table with linked lists (rank_far.c). Changes while running. */
struct rank_pairs {
    struct wr_pool pair, head; /* struct rank_pair; uint32_t, the first pair of a list */
    uint32_t n, nheads, round; /* round <= nheads < 2 * round, a power of two */
};

/* Shared by the partitions; constant while they run. */
struct rank_team {
    struct ranks **all;          /* [n] */
    uint32_t n;                  /* partitions */
    const uint8_t *partition_of; /* [nodes] */
    /* Its arrays are shared by all partitions, its pools are divided, and its histograms are sums
     * that are made when they are asked for. No rank is its own. */
    struct ranks *whole;
    struct rank_mark *marks; /* [nmarks] of all, in the order of time; likewise */
    uint32_t nmarks;
};

/* What partitions notify each other of. */
enum rank_notice {
    RANK_NOTIFY_OVER,   /* its last rank has ended */
    RANK_NOTIFY_JOB,    /* its last rank of a job has ended */
    RANK_NOTIFY_FAILED, /* a rank cannot go on */
    RANK_NOTIFY_KNOWN,  /* a workload's ranks found out something for all */
};

/* The ranks of a partition, or all. */
struct ranks {
    /* Set up by ranks_open(), then constant: */
    struct sim *sim;
    uint32_t kind0;            /* first of the kinds of events that are the ranks' */
    struct rank_wire wire;     /* sends messages: the network */
    struct rank_mpi mpi;       /* parameters of the MPI library */
    struct coll_choice choice; /* algorithms of collectives */
    struct rank_files files;   /* accesses files: the storage */
    uint64_t io_ps;            /* duration of an access where no storage is modelled */
    /* While running: */
    uint32_t n, njobs, left; /* left: have not ended */
    uint32_t failed;         /* a rank, or WR_NIL */
    uint64_t ended_ps;       /* when the last rank here ended */
    uint64_t live;           /* events and messages under way */
    uint64_t ops;            /* operations that programs have begun */
    struct rank *rank;       /* [n]; a partition changes its own */
    uint32_t *node; /* [n], of all partitions; apart from `rank`, so that it is never written */
    struct rank_jobs *job; /* [njobs] */
    /* By rank, touched only by ranks that use them: */
    uint64_t *coll_ps[LOAD_COLLS]; /* time in collectives of each kind */
    uint32_t *colls[LOAD_COLLS];   /* how many of them */
    struct rank_cold *cold;
    struct rank_attribution *attribution;
    uint64_t (*io_attribution)[CAUSES]; /* NULL: all of an access is the device's */
    struct rank_lines *lines;           /* time lines; NULL: no rank is recorded */
    uint32_t trip;                      /* the wire's message that is being handled, or WR_NIL */
    bool trip_arrived;                  /* it has arrived; false: its last packet leaves */
    /* struct rank_req, rank_msg, rank_coll, rank_mark, rank_handshake: */
    struct wr_pool reqs, msgs, colls_open, marks, handshakes;
    uint32_t *bucket;  /* [nbuckets] messages in flight within the partition, by pair of ranks */
    uint32_t nbuckets; /* a power of two */
    /* Partitions (rank_team.c): */
    struct rank_team *team;          /* NULL: there are none */
    struct sim_partition *partition; /* constant, as is `me`, its number */
    uint32_t me;
    uint64_t failed_ps;   /* when `failed` did */
    bool heard_failed;    /* here or elsewhere */
    struct wr_err *fault; /* of `failed`, when these ranks are executed by another process */
    uint64_t
        *end_ps; /* [npartitions] when the last rank ended; SIM_NEVER: not yet, as known here */
    struct rank_pairs pairs;
};

static inline struct rank_req *rank_req(const struct ranks *rs, uint32_t h)
{
    return wr_pool_at(&rs->reqs, h);
}

static inline struct rank_msg *rank_msg(const struct ranks *rs, uint32_t h)
{
    return wr_pool_at(&rs->msgs, h);
}

static inline uint32_t rank_index(const struct ranks *rs, const struct rank *r)
{
    return (uint32_t)(r - rs->rank);
}

static inline uint64_t rank_ps(double ps)
{
    return (uint64_t)(ps + 0.5);
}

/* rank.c */
/* Allocates and initialises everything but events and their handlers. */
struct ranks *rank_build(const struct rank_setup *setup, const struct rank_job *jobs,
                         uint32_t njobs);
void rank_join(struct ranks *rs, struct sim *sim);
void rank_start(struct ranks *rs, uint32_t rank); /* its first event */
void rank_unbuild(struct ranks *rs);
uint32_t *rank_open_buckets(uint32_t n);
void rank_event(struct ranks *rs, struct rank *r, uint64_t t_ps, uint32_t kind, uint32_t arg);
void rank_enter(struct ranks *rs, struct rank *r, uint32_t account);
/* Occupies its processor for `ps` from when it is free; returns when that ends. */
uint64_t rank_charge(struct ranks *rs, struct rank *r, uint64_t ps);
void rank_wake(struct ranks *rs, struct rank *r);
void rank_complete(struct ranks *rs, uint32_t req);
uint32_t rank_new_req(struct ranks *rs, struct rank *r, enum rank_req_kind kind, uint8_t flags);
uint64_t *rank_cpu(const struct ranks *rs, const struct rank *r, uint32_t cpu);

/* rank_why.c */
/* Adds the time until now to the account that the rank is in. */
void rank_update_account(struct ranks *rs, struct rank *r);
/* A request is about to complete. If its rank waited for it, attributes that time: to the stages of
 * its message, which is being handled; or to those of an access, divided by `cause_ps`. */
void rank_attribute_message(struct ranks *rs, const struct rank_req *q, const struct rank_msg *m);
void rank_attribute_access(struct ranks *rs, const struct rank_req *q, const uint64_t *cause_ps);
/* A rendezvous begins with the message; its RTS or CTS has arrived; it was delayed by a rank until
 * now; its receiver posts the receive now. */
void rank_handshake_begin(struct ranks *rs, struct rank_msg *m, uint64_t begin_ps);
void rank_handshake_arrived(struct ranks *rs, const struct rank_msg *m);
void rank_handshake_held(struct ranks *rs, const struct rank_msg *m);
void rank_handshake_wanted(struct ranks *rs, const struct rank_msg *m);

/* rank_timeline.c: what recorded ranks did, and when */
void rank_timeline_open(struct ranks *rs, const struct rank_timeline *how);
void rank_timeline_close(struct ranks *rs);
uint64_t rank_timeline_bytes(const struct ranks *rs);
void rank_timeline_add(struct ranks *rs, const struct rank *r, uint64_t ps); /* since_ps on */
void rank_timeline_pack(const struct ranks *rs, uint32_t i, struct wr_bytes *out);
void rank_timeline_take(struct ranks *rs, uint32_t i, struct wr_reader *in);

/* rank_msg.c */
uint64_t rank_memory_ps(const struct ranks *rs, const struct rank_msg *m);
/* The time on the sender's processor and on the way to its NIC. */
uint64_t rank_software_ps(const struct ranks *rs, const struct rank_msg *m);
void rank_send(struct ranks *rs, struct rank *r, uint32_t req);
void rank_recv(struct ranks *rs, struct rank *r, uint32_t req);
void rank_post(struct ranks *rs, uint32_t msg);
void rank_arrive(struct ranks *rs, uint32_t msg);
void rank_drop(struct ranks *rs, uint32_t msg);       /* releases one reference */
void rank_catch_up(struct ranks *rs, struct rank *r); /* handshakes that waited for a call */

void rank_put_msg(struct ranks *rs, struct rank_queue *q, uint32_t msg);
void rank_take_in(struct ranks *rs, uint32_t msg); /* next in order: match it or queue it */

/* rank_far.c: messages between partitions */
static inline bool rank_is_far(const struct ranks *rs, uint32_t node)
{
    return rs->team && rs->team->partition_of[node] != rs->me;
}
void rank_far_begin(struct ranks *rs, struct rank_msg *m);
void rank_far_arrive(struct ranks *rs, uint32_t msg);
void rank_far_open(struct rank_pairs *t);
void rank_far_close(struct rank_pairs *t);

/* rank_team.c: partitions */
void rank_team_ended(struct ranks *rs);
void rank_team_job_ended(struct ranks *rs, uint32_t job);
void rank_team_fails(struct ranks *rs);
void rank_team_close(struct ranks *rs);
/* Latencies of a class, RANK_CLASSES: iterations. All partitions' together. */
const struct wr_hist *rank_team_hist(const struct ranks *rs, uint32_t job, int cls);
uint32_t rank_team_marks(const struct ranks *rs);             /* how many; then they are in order */
const struct ranks *rank_team_failed(const struct ranks *rs); /* whose `failed`; NULL: none */
uint32_t rank_marks_made(const struct ranks *rs);             /* by these alone */

/* rank_report.c */
/* A request that keeps the rank waiting, or WR_NIL. */
uint32_t rank_lacks(const struct ranks *rs, const struct rank *r);
bool rank_fault(const struct ranks *rs, struct wr_err *err); /* of these ranks' own `failed` */

/* The partition's ranks, or the only ones there are. */
static inline const struct ranks *rank_each(const struct ranks *rs, uint32_t i)
{
    return rs->team ? rs->team->all[i] : rs;
}

static inline uint32_t rank_npartitions(const struct ranks *rs)
{
    return rs->team ? rs->team->n : 1;
}

/* rank_coll.c: false while the rank is in it. */
bool rank_coll_begin(struct ranks *rs, struct rank *r, const struct load_op *op);
bool rank_coll_continue(struct ranks *rs, struct rank *r);

#endif
