/* store_priv.h -- what storage is made of.
 *
 *   op    what a rank asked for; ends when all its requests have
 *   req   a transfer between one node and one site, cut into blocks
 *   slot  one of the several blocks of a request that are under way: a chain of steps, each begun
 *         when the one before is over
 *   site  a node with devices: a server, an I/O node, a compute node with its own burst buffer
 *   entry a block in a site's buffer
 *
 * A slot's steps by the mode of its request (n: the node that asked, s: the site):
 *
 *   WRITE   [space] pull s->n  [drained: read at n]  data n->s  device   ... then ack s->n
 *   READ            pull n->s  device (or fetched)   data s->n
 *   KEEP    [space] device     [write-through: WRITE]        n is s: a local burst buffer
 *   TAKE            device, or READ
 *   MOVE            fast device, slow device                 n is s: drained within a server
 *
 * Invariants (store_check):
 *  1. Every operation, request and slot ends.
 *  2. What was written into a buffer = drained + not yet drained + written again before. Builds
 *     with WEIR_CHECK ask this of every byte, by an account of their own (store_audit.c).
 *  3. What devices wrote = what clients wrote + what was drained or written through + reads kept.
 *  4. A buffer never holds more than its capacity.
 *  5. The causes of an operation's time add up to it.
 */
#ifndef STORE_STORE_PRIV_H
#define STORE_STORE_PRIV_H

#include "base/pool.h"
#include "base/rng.h"
#include "store/dev/dev.h"
#include "store/store.h"
#include "store/store_range.h"

enum store_mode { MODE_WRITE, MODE_READ, MODE_KEEP, MODE_TAKE, MODE_MOVE, MODE_META };
enum store_from { FROM_OP, FROM_DRAIN, FROM_SLOT }; /* the owner of a request */
enum store_msg { MSG_ASK, MSG_PULL, MSG_DATA, MSG_ACK };

/* What follows when a slot has its space or the device has its block. */
enum store_step {
    STEP_SCOUT,  /* space for the whole request */
    STEP_SPACE,  /* space for the block */
    STEP_COMMIT, /* the block is written */
    STEP_SOURCE, /* the block that is drained was read */
    STEP_SERVE,  /* the block that was asked for was read */
    STEP_STRAY,  /* a block that was read is kept; no request waits */
};

/* What stands at a site. */
enum store_role { ROLE_BUFFER, ROLE_SLOW, ROLE_BOTH, ROLE_CLIENT };

/* An operation of a rank. Set up by store_begin(); `left` counts its requests, or the blocks that a
 * flush waits for; `ps` divides the time from t0_ps to mark_ps over causes. */
struct store_task {
    uint64_t user; /* the caller's name of it, given back when it ends */
    uint32_t next; /* of those that wait for a flush */
    uint32_t node, left;
    uint16_t app;
    uint8_t kind; /* enum store_op_kind */
    int64_t file;
    uint64_t offset, bytes; /* of the file */
    uint64_t seq;           /* a flush waits for blocks up to this one */
    uint64_t t0_ps, mark_ps;
    uint64_t ps[CAUSES];
};

/* A request between a node and a site. `at` advances while it is cut into blocks, `live` counts its
 * slots, `ps` divides the time until mark_ps over causes; the rest is set when it begins. */
struct store_req {
    uint32_t owner;      /* op, entry or slot: `from` */
    uint32_t far;        /* of a copy at its site: the request where it comes from */
    uint32_t node, site; /* the node that asks; the site that serves */
    uint8_t mode;        /* enum store_mode */
    uint8_t from;        /* what `owner` is */
    bool granted;        /* all of its space is reserved */
    bool small;          /* below the threshold: a site with both kinds of devices buffers it */
    uint16_t app;
    uint32_t live; /* slots */
    int64_t file;
    uint64_t at, end; /* of the site's object: still to be cut into blocks */
    uint64_t source;  /* of the drained: where it lies, less where it goes */
    uint64_t bytes;   /* of the whole request */
    uint64_t mark_ps;
    uint64_t ps[CAUSES];
};

/* A block of a request in progress. `at` and `bytes` are those of its current block, `step` is what
 * follows when it has waited. Belongs to one partition at a time: it travels with its message. */
struct store_slot {
    uint32_t next;      /* in the wait list of a buffer or device */
    uint32_t req;       /* the request that it is of */
    uint32_t entry;     /* the block in the buffer; WR_NIL: none */
    uint32_t disk;      /* the device that it is at */
    uint32_t far;       /* of a WRITE that is at its client: the copy of its request at the site */
    uint8_t step;       /* STEP_... */
    bool fast, write;   /* to a device of the buffer; direction at the device */
    uint64_t at, bytes; /* of the site's object */
    uint64_t claim_b;   /* space in the buffer that it waits for */
    uint64_t mark_ps;   /* `ps` divides the time until then */
    uint64_t ps[CAUSES];
    /* While it waits for a device that chooses: the turn at which the device saw it first, and how
     * long the device had worked for its job when it came. */
    uint64_t turn, served_ps;
};

/* A span of a device's time, and the application that it works for. */
struct store_span {
    uint32_t next; /* of its device, later */
    uint16_t app;
    uint64_t from_ps, to_ps;
};

/* Time of one device for one application; grows. */
struct store_share {
    uint64_t given_ps;  /* of all work that was submitted */
    uint64_t served_ps; /* of the spans that are over */
};

struct store_list {
    uint32_t head, tail; /* handles; WR_NIL: empty */
};

/* A device of a site. The first four fields are set up; the counters grow with every block; head
 * and tail are the work that is not over. Times are in ps. */
struct store_disk {
    struct dev dev; /* its model */
    uint32_t site;
    uint32_t index;    /* among the devices of its site */
    bool fast;         /* belongs to the buffer */
    uint64_t until_ps; /* it has work until then */
    uint64_t busy_ps;  /* time in which it worked */
    uint64_t queue_ps; /* integral of `queue` over time, up to queue_since_ps */
    uint64_t queue_since_ps;
    uint64_t reads, writes, read_b, written_b;
    uint32_t queue, queue_most; /* requests at it now; the most so far */
    uint32_t head, tail;        /* spans that are not over, in the order of time */
    struct store_share *app;    /* [napps] */
    /* Reads that wait until the device chooses one, oldest first; it has at most one at a time.
     * choice 1: it does not choose, and none ever waits here. */
    struct store_list wait_list;
    uint32_t choice;
    bool reading;  /* it has one */
    uint64_t turn; /* reads so far */
};

enum store_keep { ENTRY_CLEAN, ENTRY_DIRTY, ENTRY_IN_USE, ENTRY_LISTS };

/* What bytes of a block in a buffer are: also elsewhere, here alone, or on their way elsewhere. */
enum store_held { HELD_CLEAN = 1, HELD_DIRTY, HELD_SENT };

/* A block in a buffer. `ranges` says which of its bytes are there: `have` of them, of which `dirty`
 * are to be drained. `drains` requests drain `inflight` bytes; what is written meanwhile is dirty
 * and waits until they have ended. */
struct store_entry {
    uint32_t bucket;     /* the next of its bucket */
    uint32_t prev, next; /* in the list of its buffer that `list` names */
    uint32_t site;
    uint32_t busy;   /* slots that read it */
    uint32_t drains; /* requests that drain it */
    uint32_t ranges; /* tags: enum store_held */
    uint16_t app;
    uint8_t list;                   /* enum store_keep */
    int64_t file;                   /* with `app` and `block`: which block it is */
    uint64_t block;                 /* number in the site's object */
    uint64_t have, dirty, inflight; /* bytes */
    uint64_t seq, inflight_seq;     /* of its last write; of the last one that is being drained */
};

/* The burst buffer of a site. The first two lines are set up (high_b and low_b: watermarks), the
 * rest changes while running; used_b = reserved + in it <= capacity_b. */
struct store_buf {
    bool track; /* its blocks are kept track of; false: it is never drained */
    uint64_t capacity_b, high_b, low_b; /* bytes */
    uint64_t used_b, used_most_b;       /* reserved and in it; the most so far */
    uint64_t dirty_b, inflight_b;       /* to be drained; being drained */
    /* clean, least recently used first; dirty, oldest first; being read or drained */
    struct store_list list[ENTRY_LISTS];
    struct store_list wait_list; /* slots that wait for space */
    uint32_t waiting, streams;   /* slots in that list; requests that drain */
    uint32_t flush;              /* operations that wait until blocks are drained */
    bool hot;                    /* it drains: above the high watermark, until below the low one */
    bool tick;                   /* an event for a scheduled drain is under way */
    uint64_t seq;                /* writes so far */
    /* Counters: written into it, drained, overwritten before that, evicted, read from it, read
     * from elsewhere; how often and how long writers waited for space. */
    uint64_t in_b, out_b, absorbed_b, evicted_b, hit_b, miss_b, waits, wait_ps;
};

/* A node with devices. Only requests and buf change while running. */
struct store_site {
    uint32_t node;
    uint8_t role;                      /* enum store_role */
    bool io;                           /* an I/O node, behind the buffers */
    uint32_t fast, nfast, slow, nslow; /* in store.disk: the first of its devices, and how many */
    uint64_t requests;                 /* so far */
    uint32_t inside;  /* requests that wait for the server's processors or are served */
    uint64_t crowded; /* requests so far that met more than the service was measured with */
    struct store_buf buf;
};

/* A server's processors and NIC, with a measured service. */
struct store_service {
    uint64_t *free_ps; /* [concurrency] when each processor is free */
    uint64_t nic_free_ps;
    struct wr_rng rng;
};

/* Counters of one application; all grow, except those of operations in progress. */
struct store_app {
    uint64_t calls[STORE_OP_KINDS],
        ended_ps[STORE_OP_KINDS];        /* begun; durations of those that ended */
    uint64_t since_ps[STORE_OP_KINDS];   /* sum of the starts of those under way */
    uint32_t inflight[STORE_OP_KINDS];   /* how many those are */
    uint64_t read_b, written_b, asked_b; /* moved so far; requested */
    struct wr_hist *latency;             /* [STORE_CLASSES] */
};

/* One partition of the storage, or all of it. Up to `app` set up by store_open(); shared between
 * partitions: site, disk, share, home, local, seq, rng; a partition changes those of its nodes. */
struct store {
    struct sim *sim;
    uint32_t kind0;         /* first of the kinds of events that are the storage's */
    struct store_wire wire; /* sends messages between nodes */
    store_done *done;       /* called when an operation has ended */
    void *done_ctx;
    struct store_params p;
    enum store_arch arch; /* where the buffers are */
    uint64_t seed;
    uint32_t napps, nodes, nservers, nio, nsites, ndisks; /* sizes of the arrays below */
    struct store_site *site;                              /* servers, I/O nodes, compute nodes */
    struct store_disk *disk;                              /* [ndisks] */
    struct store_share *share;                            /* [ndisks * napps] */
    uint32_t *home;  /* [nodes] the site that its files are at, under the policies that have one */
    uint32_t *local; /* [nodes] its own site, or WR_NIL */
    uint32_t *seq;   /* [nodes] of its events */
    struct wr_rng *rng;            /* [nodes] of its random times; NULL: no jitter */
    struct store_service *service; /* [nservers]; NULL: none was given */
    struct store_app *app;         /* [napps] */
    struct wr_pool tasks, reqs, slots, spans, entries, ranges; /* struct store_task ... */
    uint32_t *bucket;           /* [nbuckets] blocks in buffers, by file and block */
    uint32_t nbuckets;          /* a power of two */
    uint64_t through_b, kept_b; /* written through a buffer; put into one after a read */
    uint64_t look_ps;           /* counters are reported as of then, when that is later than now */
    struct store_partition_set *partitions; /* NULL: one partition */
    struct store_audit *audit;              /* NULL in builds without WEIR_CHECK */
    uint32_t me;                            /* number of the partition */
};

/* Partitions. A site, its devices and what is in its buffer belong to its node's; so do operations,
 * and requests to the partition of the node that asks. A site elsewhere has copies, which
 * travel by value (store_far.c). */
struct store_partition_set {
    struct store **all; /* [n] */
    uint32_t n;
    const uint8_t *partition_of; /* [nodes] */
    struct store *whole; /* has the arrays and the pools' space, and sums when they are asked for */
};

/* The partition's, or the only one there is. */
static inline const struct store *store_each(const struct store *s, uint32_t i)
{
    return s->partitions ? s->partitions->all[i] : s;
}

static inline uint32_t store_partitions(const struct store *s)
{
    return s->partitions ? s->partitions->n : 1;
}

static inline struct store_task *store_task(const struct store *s, uint32_t h)
{
    return wr_pool_at(&s->tasks, h);
}

static inline struct store_req *store_req(const struct store *s, uint32_t h)
{
    return wr_pool_at(&s->reqs, h);
}

static inline struct store_slot *store_slot(const struct store *s, uint32_t h)
{
    return wr_pool_at(&s->slots, h);
}

/* Where its block lies on the device that it goes to now. */
static inline uint64_t store_slot_at(const struct store *s, const struct store_slot *x)
{
    return x->at + (x->step == STEP_SOURCE ? store_req(s, x->req)->source : 0);
}

static inline struct store_entry *store_entry(const struct store *s, uint32_t h)
{
    return wr_pool_at(&s->entries, h);
}

static inline uint64_t store_mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static inline uint64_t store_hash(uint16_t app, int64_t file)
{
    return store_mix(store_mix((uint64_t)file + UINT64_C(0x9e3779b97f4a7c15)) + app);
}

static inline uint64_t store_ps(double ps)
{
    return (uint64_t)(ps + 0.5);
}

/* store.c: an event at a node */
void store_event(struct store *s, uint32_t node, uint64_t t_ps, uint32_t kind, uint32_t key,
                 uint32_t arg, uint32_t arg2);

/* A random time, of a node's own. */
uint64_t store_jitter(struct store *s, uint32_t node);

/* store_op.c */
void store_op_start(struct store *s, uint32_t task);
void store_op_request_ended(struct store *s, uint32_t task, const uint64_t *ps);
void store_op_flushed(struct store *s, uint32_t task, const uint64_t *ps);
/* The site that has the block at `offset` of a file, and where in its object. */
uint32_t store_place(const struct store *s, uint32_t node, uint16_t app, int64_t file,
                     uint64_t offset, uint64_t *ret_at);

/* store_xfer.c */
uint32_t store_req_new(struct store *s, const struct store_req *like);
void store_req_begin(struct store *s, uint32_t req);
void store_req_serve(struct store *s, uint32_t req); /* after the server's software */
void store_pull_serve(struct store *s, uint32_t slot);
void store_slot_answer(struct store *s, uint32_t slot); /* the client sends what was pulled */
void store_slot_step(struct store *s, uint32_t slot);   /* what it waited for is there */
void store_slot_passed(struct store *s, uint32_t slot); /* its bytes have passed the server's NIC */
void store_slot_slow(struct store *s, uint32_t slot);   /* the storage-area network is behind it */

/* store_service.c */
void store_service_open(struct store *s);
void store_service_close(struct store *s);
/* What the bytes of an operation cost a client beside what every operation does. */
uint64_t store_service_client_ps(const struct store *s, uint64_t bytes);
/* A request comes to a server, or bytes to its NIC: when it has been served, or they have passed.
 */
uint64_t store_service_cpu_ps(struct store *s, uint32_t site);
uint64_t store_service_nic_ps(struct store *s, uint32_t site, uint64_t bytes);
void store_service_served(struct store *s, uint32_t site);
/* Requests that met more others than were measured; adds it in words. */
uint64_t store_service_crowded(const struct store *s, struct wr_str *out);

/* store_disk.c: a block of a slot goes to a device; store_slot_step when it is done. */
void store_disk_submit(struct store *s, uint32_t disk, uint32_t slot, bool write);
void store_disk_ended(struct store *s, uint32_t disk, uint32_t slot);

/* store_buf.c */
bool store_buf_reserve(struct store *s, uint32_t site, uint64_t bytes); /* at once, or not at all */
void store_buf_claim(struct store *s, uint32_t site, uint32_t slot, uint64_t bytes);
uint32_t store_buf_find(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                        uint64_t at, uint64_t bytes);
void store_buf_hold(struct store *s, uint32_t entry);
void store_buf_release(struct store *s, uint32_t entry);
/* Space of `bytes` was claimed and the block is on the device. */
void store_buf_wrote(struct store *s, uint32_t site, const struct store_slot *slot, bool dirty);
/* The newest of these bytes are elsewhere now. */
void store_buf_forget(struct store *s, uint32_t site, const struct store_slot *slot);
void store_buf_mark_slow(struct store *s, uint32_t site, uint16_t app, int64_t file);
bool store_buf_is_slow(const struct store *s, uint32_t site, uint16_t app, int64_t file);
void store_buf_drained(struct store *s, const struct store_req *drain);
/* How many of these bytes are there and not yet drained. */
uint64_t store_buf_dirty(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                         uint64_t at, uint64_t bytes);
void store_buf_tick(struct store *s, uint32_t site);
/* False: nothing of the file is to be drained. Else the operation waits. */
bool store_buf_flush(struct store *s, uint32_t site, uint32_t task);

/* store_audit.c: where the newest of every byte is, in builds with WEIR_CHECK. */
enum store_whereabouts { AUDIT_BUFFER = 1, AUDIT_SENT, AUDIT_BEYOND };
struct store_bytes { /* of a site's object; of a file, where a client asks */
    uint32_t place;  /* site or node */
    uint16_t app;
    int64_t file;
    uint64_t at, bytes;
};

#ifdef WEIR_CHECK
void store_audit_open(struct store *s);
void store_audit_close(struct store *s);
/* A client's write has begun; its bytes were written at a site; they go on; they have come. */
void store_audit_asked(struct store *s, const struct store_task *t);
void store_audit_wrote(struct store *s, const struct store_bytes *b, enum store_whereabouts to);
void store_audit_sent(struct store *s, const struct store_bytes *b);
void store_audit_came(struct store *s, const struct store_bytes *b);
void store_audit_away(struct store *s); /* was executed in another process */
bool store_audit_check(const struct store *s, struct wr_err *err);
#else
static inline void store_audit_open(struct store *s)
{
    (void)s;
}
static inline void store_audit_close(struct store *s)
{
    (void)s;
}
static inline void store_audit_asked(struct store *s, const struct store_task *t)
{
    (void)s, (void)t;
}
static inline void store_audit_wrote(struct store *s, const struct store_bytes *b,
                                     enum store_whereabouts to)
{
    (void)s, (void)b, (void)to;
}
static inline void store_audit_sent(struct store *s, const struct store_bytes *b)
{
    (void)s, (void)b;
}
static inline void store_audit_came(struct store *s, const struct store_bytes *b)
{
    (void)s, (void)b;
}
static inline void store_audit_away(struct store *s)
{
    (void)s;
}
static inline bool store_audit_check(const struct store *s, struct wr_err *err)
{
    (void)s, (void)err;
    return true;
}
#endif

#endif
