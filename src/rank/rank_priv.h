/* rank_priv.h -- what ranks are made of. */
#ifndef RANK_RANK_PRIV_H
#define RANK_RANK_PRIV_H

#include "base/pool.h"
#include "rank.h"

enum rank_state {
    RANK_READY,     /* asks its workload next */
    RANK_DELAYED,   /* computes or sleeps */
    RANK_BLOCKED,   /* in a send, receive or access to a file: `blocking` */
    RANK_WAITING,   /* for what is outstanding */
    RANK_MEETING,   /* in a collective: `coll` */
    RANK_LISTENING, /* for any completion */
    RANK_OVER,
};

/* Kinds of requests, also places in rank.pending. */
enum rank_req_kind { REQ_SEND, REQ_RECV, REQ_IO, REQ_COMPUTE, REQ_KINDS };

enum {
    REQ_ASYNC = 1 << 0,
    REQ_COLL = 1 << 1, /* belongs to the rank's collective */
    REQ_TELL = 1 << 2,
    REQ_START = 1 << 3, /* its next event is its start */
};

struct rank_req {
    uint32_t next; /* in the rank's posted queue */
    uint32_t rank, peer;
    uint8_t kind, flags, ctx;
    uint32_t cpu;
    uint32_t where;
    uint64_t bytes;
    int64_t tag;
    uint64_t id;
    uint64_t ps; /* computes: how long; accesses: since when */
};

/* Communicators: messages of collectives never meet others. Within CTX_COLL the tag
 * is the group's key. */
enum { CTX_POINT, CTX_COLL };

enum rank_msg_kind { MSG_EAGER, MSG_ASK, MSG_CLEAR, MSG_DATA };

enum {
    MSG_HERE = 1 << 0,   /* has arrived, but not its forerunner */
    MSG_MEMORY = 1 << 1, /* does not leave the node */
    MSG_AFTER = 1 << 2,  /* some earlier message of the pair has not been taken in */
    MSG_FAR = 1 << 3,    /* goes to another partition: `number` says whose turn it is */
};

/* Messages of a pair of ranks are matched in the order they were sent in, whatever order they
 * arrive in: each knows its follower. Those on the way are found by pair in buckets. */
struct rank_msg {
    uint32_t next;   /* in the unexpected or the deferred queue */
    uint32_t bucket; /* the next of its bucket */
    union {
        uint32_t follower; /* sent next from and to the same ranks */
        uint32_t number;   /* among those of its pair */
    };
    uint32_t src, dst;
    uint32_t sreq, rreq;
    uint8_t kind, ctx, flags;
    uint8_t holds;  /* who still needs it: its receiver, and the wire until it is sent */
    uint64_t bytes; /* payload; a control message's own size is a setting */
    int64_t tag;
    uint64_t t_ps;  /* the NIC has it, or the memory */
    uint32_t shake; /* of a rendezvous, or WR_NIL */
};

/* What a rendezvous took so far, as its sender sees it and as its receiver does, for whom only
 * counts what was after it wanted to receive. */
struct rank_side {
    uint64_t begin_ps, ps[CAUSES];
};

struct rank_shake {
    uint64_t since_ps; /* what was before is in the sides' ps */
    struct rank_side sender, receiver;
};

/* A queue by its last element, whose `next` is the first. */
struct rank_queue {
    uint32_t last;
};

struct rank {
    uint64_t since_ps; /* in its present account since */
    uint64_t busy_ps;  /* its processor is busy until */
    uint64_t debt_ps;  /* received while it did something else: to be paid when it waits */
    uint64_t account_ps[RANK_IO]; /* those from RANK_IO on: ranks.rare */
    uint64_t overhead_ps;
    uint64_t bytes_sent, bytes_recvd;
    uint32_t msgs_sent, msgs_recvd;
    uint32_t pending[REQ_KINDS]; /* asynchronous, not complete */
    struct rank_queue posted, unexpected, deferred;
    uint32_t node, seq, where;
    uint32_t blocking; /* the request; what it waits for */
    uint32_t coll;
    uint16_t job;
    uint8_t state, account, of;
    bool some;      /* waits for one of them */
    bool scheduled; /* a RUN event is on its way */
    bool calling;   /* in the middle of its own operation: nobody need wake it */
};

struct rank_coll {
    struct load_group group;
    const struct coll_ops *ops;
    struct coll_call call;
    uint32_t step, left; /* left: requests of the steps so far that are not complete */
    uint32_t recv_from;  /* serial: still to be received in this step, or LOAD_NOBODY */
    uint64_t recv_b;
    bool open; /* the last step said to go on */
};

/* What many ranks never need. */
struct rank_rare {
    uint64_t accesses, read_b, written_b;
    uint64_t io_ps, idle_ps;
    uint64_t last_mark; /* time + 1 */
};

/* The causes of communication that are kept; software is the rest. */
enum { BLAME_FIRST = CAUSE_TRANSFER, BLAMES = CAUSE_PARTNER - CAUSE_TRANSFER + 1 };

struct rank_blame {
    uint64_t ps[BLAMES];
};

struct rank_jobs {
    struct load load;
    char *state;   /* load.rank_size bytes for each rank */
    uint64_t *cpu; /* [ranks * load.cpus] busy until */
    uint32_t first, left;
    uint64_t start_ps, end_ps;
    uint16_t app;
    struct wr_hist *latency; /* [RANK_CLASSES] */
    struct wr_hist *iteration;
    struct ranks *ranks; /* of the partition whose account it is */
    struct load_known known;
    uint32_t parts_left; /* partitions some of whose ranks have not ended, as heard of */
};

/* Pairs of ranks in different partitions, as one of the two sees them: how many messages the sender
 * has begun, or the receiver has taken in. */
struct rank_pair {
    uint32_t next;
    uint32_t src, dst, count;
    uint32_t early; /* messages that wait for their turn, by `bucket` */
};

struct rank_pairs {
    struct wr_pool pair, head;
    uint32_t n, nheads, round; /* round <= nheads < 2 * round, a power of two */
};

/* What the partitions share. */
struct rank_team {
    struct ranks **all;
    uint32_t n;
    const uint8_t *part_of; /* [nodes] */
    /* Its arrays are everybody's, its pools are shared out, and its histograms are sums that are
     * made when they are asked for. No rank is its own. */
    struct ranks *whole;
    struct rank_mark *marks; /* [nmarks] of all, in the order of time; likewise */
    uint32_t nmarks;
};

/* When and where a partition's last rank ended; SIM_NEVER: not yet, as far as is known. */
struct rank_end {
    uint64_t t_ps;
    uint32_t lp;
};

/* What partitions tell each other. */
enum rank_tell {
    RANK_TELL_OVER,   /* its last rank has ended */
    RANK_TELL_JOB,    /* its last rank of a job has ended */
    RANK_TELL_FAILED, /* a rank cannot go on */
    RANK_TELL_KNOWN,  /* a workload's ranks found out something for all */
};

struct ranks {
    struct sim *sim;
    uint32_t kind0;
    struct rank_wire wire;
    struct rank_mpi mpi;
    struct coll_choice choice;
    struct rank_files files;
    uint64_t io_ps;
    uint32_t n, njobs, left; /* left: have not ended */
    uint32_t failed;         /* a rank, or WR_NIL */
    uint64_t live;           /* events and messages under way */
    uint64_t ops;
    struct rank *rank;
    uint32_t *node; /* by rank, also of ranks elsewhere: nobody writes beside it */
    struct rank_jobs *job;
    /* By rank, touched only by those who need them. */
    uint64_t *coll_ps[LOAD_COLLS];
    uint32_t *colls[LOAD_COLLS];
    struct rank_rare *rare;
    struct rank_blame *blame;
    uint64_t (*io_blame)[CAUSES]; /* NULL: all of an access is the device's */
    struct rank_lines *lines;     /* time lines; NULL: no rank is recorded */
    uint32_t trip;                /* the wire's message that is being handled, or WR_NIL */
    bool trip_arrived;
    struct wr_pool reqs, msgs, meetings, marks, shakes;
    uint32_t *bucket;
    uint32_t nbuckets; /* a power of two */
    /* Partitions (rank_team.c): */
    struct rank_team *team; /* NULL: there are none */
    struct sim_part *part;
    uint32_t me;
    uint64_t failed_ps;
    bool heard_failed;    /* here or elsewhere */
    struct wr_err *fault; /* of `failed`, when these ranks are executed by another process */
    struct rank_end *end; /* [parts] as known here */
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
/* Everything but events and their handlers. */
struct ranks *rank_build(const struct rank_setup *setup, const struct rank_job *jobs,
                         uint32_t njobs);
void rank_join(struct ranks *rs, struct sim *sim);
void rank_start(struct ranks *rs, uint32_t rank); /* its first event */
void rank_unbuild(struct ranks *rs);
uint32_t *rank_open_buckets(uint32_t n);
void rank_event(struct ranks *rs, struct rank *r, uint64_t t_ps, uint32_t kind, uint32_t arg);
void rank_enter(struct ranks *rs, struct rank *r, uint32_t account);
/* Its processor works for `ps` from when it is free; returns when it is done. */
uint64_t rank_charge(struct ranks *rs, struct rank *r, uint64_t ps);
void rank_wake(struct ranks *rs, struct rank *r);
void rank_complete(struct ranks *rs, uint32_t req);
uint32_t rank_new_req(struct ranks *rs, struct rank *r, enum rank_req_kind kind, uint8_t flags);
uint64_t *rank_cpu(const struct ranks *rs, const struct rank *r, uint32_t cpu);

/* rank_why.c */
/* The time until now goes to the account that the rank is in. */
void rank_settle(struct ranks *rs, struct rank *r);
/* A request is about to complete. If its rank waited for it, say why it took so long: because
 * of its message, which is being handled; or because of an access, divided by `part`. */
void rank_blame_message(struct ranks *rs, const struct rank_req *q, const struct rank_msg *m);
void rank_blame_access(struct ranks *rs, const struct rank_req *q, const uint64_t *part);
/* A rendezvous begins with the message; one of its first two messages has arrived; it was held up
 * by a rank until now; its receiver wants it only from now on. */
void rank_shake_begin(struct ranks *rs, struct rank_msg *m, uint64_t begin_ps);
void rank_shake_arrived(struct ranks *rs, const struct rank_msg *m);
void rank_shake_held(struct ranks *rs, const struct rank_msg *m);
void rank_shake_wanted(struct ranks *rs, const struct rank_msg *m);

/* rank_timeline.c: what recorded ranks did, and when */
void rank_timeline_open(struct ranks *rs, const struct rank_timeline *how);
void rank_timeline_close(struct ranks *rs);
uint64_t rank_timeline_bytes(const struct ranks *rs);
void rank_timeline_add(struct ranks *rs, const struct rank *r, uint64_t ps); /* since_ps on */
void rank_timeline_pack(const struct ranks *rs, uint32_t i, struct wr_bytes *out);
void rank_timeline_take(struct ranks *rs, uint32_t i, struct wr_reader *in);

/* rank_msg.c */
uint64_t rank_memory_ps(const struct ranks *rs, const struct rank_msg *m);
/* What the sender's processor and its way to the NIC take. */
uint64_t rank_software_ps(const struct ranks *rs, const struct rank_msg *m);
void rank_send(struct ranks *rs, struct rank *r, uint32_t req);
void rank_recv(struct ranks *rs, struct rank *r, uint32_t req);
void rank_post(struct ranks *rs, uint32_t msg);
void rank_arrive(struct ranks *rs, uint32_t msg);
void rank_drop(struct ranks *rs, uint32_t msg);       /* one of its holders needs it no more */
void rank_catch_up(struct ranks *rs, struct rank *r); /* handshakes that waited for a call */

void rank_put_msg(struct ranks *rs, struct rank_queue *q, uint32_t msg);
void rank_take_in(struct ranks *rs, uint32_t msg); /* its turn has come */

/* rank_far.c: messages between partitions */
static inline bool rank_is_far(const struct ranks *rs, uint32_t node)
{
    return rs->team && rs->team->part_of[node] != rs->me;
}
void rank_far_begin(struct ranks *rs, struct rank_msg *m);
void rank_far_arrive(struct ranks *rs, uint32_t msg);
void rank_far_open(struct rank_pairs *t);
void rank_far_close(struct rank_pairs *t);

/* rank_team.c: partitions */
void rank_team_ended(struct ranks *rs, const struct rank *r);
void rank_team_job_ended(struct ranks *rs, uint32_t job);
void rank_team_fails(struct ranks *rs);
void rank_team_close(struct ranks *rs);
/* Latencies of a class, RANK_CLASSES: iterations. All partitions' together. */
const struct wr_hist *rank_team_hist(const struct ranks *rs, uint32_t job, int cls);
uint32_t rank_team_marks(const struct ranks *rs);             /* how many; then they are in order */
const struct ranks *rank_team_failed(const struct ranks *rs); /* whose `failed`; NULL: none */
uint32_t rank_marks_made(const struct ranks *rs);             /* by these alone */

/* rank_tell.c */
/* A request that keeps the rank waiting, or WR_NIL. */
uint32_t rank_lacks(const struct ranks *rs, const struct rank *r);
bool rank_fault(const struct ranks *rs, struct wr_err *err); /* of these ranks' own `failed` */

/* The partition's ranks, or the only ones there are. */
static inline const struct ranks *rank_each(const struct ranks *rs, uint32_t i)
{
    return rs->team ? rs->team->all[i] : rs;
}

static inline uint32_t rank_parts(const struct ranks *rs)
{
    return rs->team ? rs->team->n : 1;
}

/* rank_coll.c: false while the rank is in it. */
bool rank_meet(struct ranks *rs, struct rank *r, const struct load_op *op);
bool rank_meet_on(struct ranks *rs, struct rank *r);

#endif
