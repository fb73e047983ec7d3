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
 *   WRITE   [room]  pull s->n  [drained: read at n]  data n->s  device   ... then ack s->n
 *   READ            pull n->s  device (or fetched)   data s->n
 *   KEEP    [room]  device     [write-through: WRITE]        n is s: a local burst buffer
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
enum store_from { FROM_OP, FROM_DRAIN, FROM_SLOT }; /* whom a request's end concerns */
enum store_msg { MSG_ASK, MSG_PULL, MSG_DATA, MSG_ACK };

/* What follows when a slot has the room or the device has the block. */
enum store_step {
    STEP_SCOUT,  /* room for the whole request */
    STEP_ROOM,   /* room for the block */
    STEP_COMMIT, /* the block is written */
    STEP_SOURCE, /* the block that is drained was read */
    STEP_SERVE,  /* the block that was asked for was read */
    STEP_STRAY,  /* a block that was read is kept: nobody waits */
};

/* What stands at a site. */
enum store_role { ROLE_BUFFER, ROLE_SLOW, ROLE_BOTH, ROLE_CLIENT };

struct store_task {
    uint64_t user;
    uint32_t next; /* of those that wait for a flush */
    uint32_t node, left;
    uint16_t app;
    uint8_t act;
    int64_t file;
    uint64_t offset, bytes;
    uint64_t seq; /* a flush waits for blocks up to this one */
    uint64_t t0_ps, mark_ps;
    uint64_t ps[CAUSES];
};

struct store_req {
    uint32_t owner; /* op, entry or slot: `from` */
    uint32_t far;   /* of a copy at its site: the request where it comes from */
    uint32_t node, site;
    uint8_t mode, from;
    bool granted; /* all of its room is reserved */
    bool small;
    uint16_t app;
    uint32_t live; /* slots */
    int64_t file;
    uint64_t at, end; /* of the site's object: still to be cut into blocks */
    uint64_t source;  /* of the drained: where it lies, less where it goes */
    uint64_t bytes;
    uint64_t mark_ps;
    uint64_t ps[CAUSES];
};

struct store_slot {
    uint32_t next; /* in the line for room */
    uint32_t req, entry, disk;
    uint32_t far; /* of a WRITE that is at its client: the copy of its request at the site */
    uint8_t step;
    bool fast, write;
    uint64_t at, bytes, room_b;
    uint64_t mark_ps; /* `ps` divides the time until then */
    uint64_t ps[CAUSES];
    /* While it waits for a device that chooses: the turn at which the device saw it first, and how
     * long the device had worked for its job when it came. */
    uint64_t turn, served_ps;
};

/* A device's work, one stretch of its time: who has it. */
struct store_span {
    uint32_t next;
    uint16_t app;
    uint64_t from_ps, to_ps;
};

struct store_share {
    uint64_t given_ps, served_ps; /* of the device's time, to one application */
};

struct store_list {
    uint32_t head, tail;
};

struct store_disk {
    struct dev dev;
    uint32_t site;
    uint32_t index;
    bool fast;
    uint64_t until_ps; /* it has work until then */
    uint64_t busy_ps, queue_ps, queue_since_ps;
    uint64_t reads, writes, read_b, written_b;
    uint32_t queue, queue_most;
    uint32_t head, tail; /* spans that are not over, in the order of time */
    struct store_share *app;
    /* Reads that wait until the device chooses one, oldest first; it has at most one at a time.
     * choice 1: it does not choose, and none ever waits here. */
    struct store_list line;
    uint32_t choice;
    bool reading;
    uint64_t turn; /* reads so far */
};

enum store_keep { ENTRY_CLEAN, ENTRY_DIRTY, ENTRY_IN_USE, ENTRY_LISTS };

/* What bytes of a block in a buffer are: also elsewhere, here alone, or on their way elsewhere. */
enum store_held { HELD_CLEAN = 1, HELD_DIRTY, HELD_SENT };

/* A block in a buffer. `ranges` says which of its bytes are there: `have` of them, of which `dirty`
 * are to be drained. `drains` requests drain `inflight` bytes; what is written meanwhile is dirty
 * and waits until they have ended. */
struct store_entry {
    uint32_t bucket, prev, next;
    uint32_t site, busy, drains;
    uint32_t ranges; /* tags: enum store_held */
    uint16_t app;
    uint8_t list;
    int64_t file;
    uint64_t block;
    uint64_t have, dirty, inflight;
    uint64_t seq, inflight_seq;
};

struct store_buf {
    bool track;
    uint64_t capacity_b, high_b, low_b;
    uint64_t used_b, used_most_b, dirty_b, inflight_b;
    /* clean, least recently used first; dirty, oldest first; being read or drained */
    struct store_list list[ENTRY_LISTS];
    struct store_list line; /* slots that wait for room */
    uint32_t waiting, streams;
    uint32_t flush; /* operations that wait until blocks are drained */
    bool hot, tick;
    uint64_t seq;
    uint64_t in_b, out_b, absorbed_b, evicted_b, hit_b, miss_b, waits, wait_ps;
};

struct store_site {
    uint32_t node, seq;
    uint8_t role;
    bool io;
    uint32_t fast, nfast, slow, nslow; /* disks */
    uint64_t requests;
    struct store_buf buf;
};

struct store_app {
    uint64_t calls[STORE_ACTS], ended_ps[STORE_ACTS];
    uint64_t since_ps[STORE_ACTS]; /* sum of the starts of those under way */
    uint32_t inflight[STORE_ACTS];
    uint64_t read_b, written_b, asked_b;
    struct wr_hist *latency; /* [STORE_CLASSES] */
};

struct store {
    struct sim *sim;
    uint32_t kind0;
    struct store_wire wire;
    store_done *done;
    void *done_ctx;
    struct store_params p;
    enum store_arch arch;
    uint64_t seed;
    uint32_t napps, nodes, nservers, nio, nsites, ndisks;
    struct store_site *site; /* servers, I/O nodes, compute nodes */
    struct store_disk *disk;
    struct store_share *share;
    uint32_t *home;  /* [nodes] */
    uint32_t *local; /* [nodes] its own site, or WR_NIL */
    uint32_t *seq;   /* [nodes] of its events */
    struct wr_rng *rng;
    struct store_app *app;
    struct wr_pool tasks, reqs, slots, spans, entries, ranges;
    uint32_t *bucket;
    uint32_t nbuckets;
    uint64_t through_b, kept_b;
    uint64_t look_ps;          /* what is told is as of then, when that is later than now */
    struct store_team *team;   /* NULL: one partition */
    struct store_audit *audit; /* NULL in builds without WEIR_CHECK */
    uint32_t me;
};

/* Partitions. A site, its devices and what is in its buffer belong to its node's; so do operations,
 * and requests to the partition of the node that asks. A site elsewhere has copies, which
 * travel by value (store_far.c). */
struct store_team {
    struct store **all;
    uint32_t n;
    const uint8_t *part_of; /* [nodes] */
    struct store *whole; /* has the arrays and the pools' space, and sums when they are asked for */
};

/* The partition's, or the only one there is. */
static inline const struct store *store_each(const struct store *s, uint32_t i)
{
    return s->team ? s->team->all[i] : s;
}

static inline uint32_t store_parts(const struct store *s)
{
    return s->team ? s->team->n : 1;
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
void store_event(struct store *s, uint32_t node, uint64_t t_ps, uint32_t kind, uint32_t door,
                 uint32_t arg, uint32_t arg2);

/* A random time, of a node's own. */
uint64_t store_jitter(struct store *s, uint32_t node);

/* store_op.c */
void store_op_start(struct store *s, uint32_t task);
void store_op_part(struct store *s, uint32_t task, const uint64_t *ps);
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
void store_slot_slow(struct store *s, uint32_t slot);   /* the storage-area network is behind it */

/* store_disk.c: a block of a slot goes to a device; store_slot_step when it is done. */
void store_disk_submit(struct store *s, uint32_t disk, uint32_t slot, bool write);
void store_disk_ended(struct store *s, uint32_t disk, uint32_t slot);

/* store_buf.c */
bool store_buf_room(struct store *s, uint32_t site, uint64_t bytes); /* at once, or not at all */
void store_buf_claim(struct store *s, uint32_t site, uint32_t slot, uint64_t bytes);
uint32_t store_buf_find(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                        uint64_t at, uint64_t bytes);
void store_buf_hold(struct store *s, uint32_t entry);
void store_buf_release(struct store *s, uint32_t entry);
/* Room of `bytes` was claimed and the block is on the device. */
void store_buf_wrote(struct store *s, uint32_t site, const struct store_slot *slot, bool dirty);
/* The newest of these bytes are elsewhere now. */
void store_buf_forget(struct store *s, uint32_t site, const struct store_slot *slot);
void store_buf_mark_slow(struct store *s, uint32_t site, uint16_t app, int64_t file);
bool store_buf_is_slow(const struct store *s, uint32_t site, uint16_t app, int64_t file);
void store_buf_drained(struct store *s, const struct store_req *drain);
/* How many of these bytes are there and not yet drained. */
uint64_t store_buf_dirty(const struct store *s, uint32_t site, uint16_t app, int64_t file,
                         uint64_t at, uint64_t bytes);
void store_buf_drain(struct store *s, uint32_t site);
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
