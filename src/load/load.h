/* load.h -- WORKLOAD: what each rank does next.
 *
 *             open                        next                       completions
 *   program --------> load --[ a few words a rank ]--> operation --> rank/ --done--> load
 *
 * A workload decides one thing: the next operation of a rank. It sees no time but the clock that
 * is passed to it, no network and no matching; rank/ executes the operations. The same calls serve
 * two kinds of workload:
 *
 *   a sequence (coNCePTuaL, IOR)   next() gives an operation; unless it is LOAD_F_ASYNC, next()
 *                                  is not called again before it is complete. LOAD_WAIT waits
 *                                  for what is outstanding.
 *   a graph (GOAL)                 every operation is LOAD_F_ASYNC and has an id. next() gives
 *                                  what is ready, one at a time, and LOAD_LATER when nothing
 *                                  is; done() reports what has started or completed, after
 *                                  which next() is called again.
 *
 * Nothing is unrolled: memory is proportional to ranks and to what is outstanding, and a
 * long schedule is read as it is needed. next() and done() run inside event handlers: what they
 * need is allocated by open() or comes from pools; what grows there is only what the program
 * prints, and memory that a statement sets up once.
 *
 * Times are picoseconds since the job's start.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "conf/conf.h"

/* Beside each kind: the fields of struct load_op that it uses. */
enum load_kind {
    LOAD_END,     /* the rank has ended; next() is not called again */
    LOAD_LATER,   /* nothing is ready; ask again after a completion */
    LOAD_FAIL,    /* it cannot go on; fault() says why */
    LOAD_SEND,    /* peer bytes tag; cpu */
    LOAD_RECV,    /* peer (or LOAD_ANY) bytes tag (or LOAD_ANY_TAG); cpu */
    LOAD_COMPUTE, /* ps; cpu */
    LOAD_SLEEP,   /* ps */
    LOAD_WAIT,    /* of: until all of these are complete; LOAD_F_SOME: at least one */
    LOAD_COLL,    /* coll bytes group root */
    LOAD_OPEN,    /* file mode */
    LOAD_CLOSE,   /* file */
    LOAD_READ,    /* file bytes offset; LOAD_F_COLL: group */
    LOAD_WRITE,   /* file bytes offset; LOAD_F_COLL: group */
    LOAD_FLUSH,   /* file */
    LOAD_MARK,    /* mark: the rank has come to a place worth a time stamp; takes no time */
    LOAD_KINDS,
};

enum {
    LOAD_F_ASYNC = 1 << 0,  /* begin it and go on; done() when it is complete */
    LOAD_F_COLL = 1 << 1,   /* READ, WRITE: together with the group */
    LOAD_F_SOME = 1 << 2,   /* WAIT: for one of them, not all */
    LOAD_F_START = 1 << 3,  /* done(LOAD_STARTED) is wanted too, before done(LOAD_COMPLETE) */
    LOAD_F_REPORT = 1 << 4, /* done(LOAD_COMPLETE) is wanted; without it done() is not called */
};

/* What LOAD_WAIT waits for. */
enum { LOAD_SENDS = 1, LOAD_RECVS = 2, LOAD_IOS = 4, LOAD_COMPUTES = 8, LOAD_ALL = 15 };

/* Collectives. `bytes` is what MPI's count means, in bytes:
 *   bcast, reduce, allreduce, scan   the whole vector
 *   gather, allgather, scatter, alltoall   one rank's block
 *   reduce_scatter   one rank's block of the result */
enum load_coll {
    LOAD_BARRIER,
    LOAD_BCAST,
    LOAD_REDUCE,
    LOAD_ALLREDUCE,
    LOAD_ALLGATHER,
    LOAD_ALLTOALL,
    LOAD_GATHER,
    LOAD_SCATTER,
    LOAD_REDUCE_SCATTER,
    LOAD_SCAN,
    LOAD_COLLS,
};

extern const char *const load_coll_names[]; /* "barrier", ... ends with NULL */

#define LOAD_ANY UINT32_MAX
#define LOAD_NO_RANK UINT32_MAX
#define LOAD_ANY_TAG INT64_MIN

enum load_mode { LOAD_MODE_ANY, LOAD_MODE_READ, LOAD_MODE_WRITE };

/* The members of a collective: ranks of the job in ascending order, and before them `lead`
 * when that is not LOAD_NO_RANK. Of the ascending ones, number i is
 *     list ? list[j] : first + j * step,   j = i < hole ? i : i + 1
 * The list must live until next() is called again for the same rank; a collective is
 * never asynchronous, so that is long enough. */
struct load_group {
    uint32_t n, first, step, hole; /* n: without the lead; no hole: UINT32_MAX */
    uint32_t lead;                 /* a rank, not in the list; see load_group_size() */
    const uint32_t *list;
    uint64_t key; /* equal groups have equal keys, the same on all members */
};

struct load_op {
    uint64_t id; /* the workload's own: comes back in done() */
    uint16_t flags;
    uint8_t coll;        /* enum load_coll */
    uint8_t mode;        /* enum load_mode */
    uint8_t of;          /* LOAD_SENDS | ... */
    uint32_t cpu;        /* graphs: computes and overheads of one cpu happen one after another */
    uint32_t peer, root; /* ranks of the job; root is a rank, not a place in the group */
    uint32_t where;      /* of the program, for messages: where() puts it in words */
    uint32_t mark;
    uint64_t bytes;
    int64_t tag;
    uint64_t ps;
    int64_t file;
    uint64_t offset;
    struct load_group group;
};

enum load_event { LOAD_STARTED, LOAD_COMPLETE };

/* Parameters of a job. */
struct load_start {
    uint32_t ranks; /* 0: as many as the workload has */
    uint64_t seed;
    bool logs; /* keep what the program logs and prints; false: discard it */
};

struct load_ops;

/* A decision that one rank made for all: its number in program order, and its value. */
struct load_known {
    uint32_t number, answer;
};

/* An open workload. open() sets the first group of fields; the caller may set the second before the
 * first next(). Nothing but priv changes afterwards. */
struct load {
    const struct load_ops *ops;
    const void *params; /* as ops->kind.rows filled them */
    void *priv;
    uint32_t ranks;
    uint32_t cpus;    /* of a rank; 0: a sequence, which has no cpus of its own */
    size_t rank_size; /* bytes that each rank gets, 8-byte aligned, at most 512 or so */
    /* Set by the caller when ranks are executed in partitions, by threads or processes. What ranks
     * look up together is then locked, since some may be threads, and must be the same when it is
     * made twice, since some may be processes. `announce` sends a decision that one rank made for
     * all to the other partitions, where it is known as soon as a message could have brought it:
     * `known` holds the last two decisions, by number. */
    bool in_partitions;
    void (*announce)(void *ctx, struct load_known what);
    void *announce_ctx;
    struct load_known *known; /* [2] */
    const uint32_t
        *order; /* [ranks] of what ranks do at one time, when there are several threads */
};

/* One value of a table that the program logged. */
struct load_log {
    uint32_t rank, table, column;
    const char *title, *aggregate;
    uint64_t row;
    double value;
};

/* Receives the output of a program, value by value and line by line, and errors in its tables,
 * which leave the other tables valid. All may be NULL. */
struct load_out {
    void *ctx;
    void (*fault)(void *ctx, const struct wr_err *what);
    bool (*value)(void *ctx, const struct load_log *v, struct wr_err *err);
    bool (*text)(void *ctx, uint32_t rank, uint64_t t_ps, const char *line, struct wr_err *err);
};

struct load_ops {
    struct conf_kind kind; /* program: {kind: ncptl, ...} */
    /* Fills priv, ranks, cpus and rank_size; ops and params are set. A workload that knows
     * how many ranks it has (GOAL) refuses another number, and takes 0 as "as many as it has". */
    bool (*open)(struct load *l, const struct load_start *how, struct wr_err *err);
    void (*close)(struct load *l);
    /* All ranks are initialised before the first step of any. */
    void (*rank_init)(const struct load *l, void *rank, uint32_t i);
    void (*rank_fini)(const struct load *l, void *rank); /* may be NULL */
    /* Only the fields that the kind names are read; *ret is zeroed before the call. */
    enum load_kind (*next)(const struct load *l, void *rank, uint64_t now_ps, struct load_op *ret);
    void (*done)(const struct load *l, void *rank, uint64_t id, enum load_event ev,
                 uint64_t now_ps); /* NULL: nothing has LOAD_F_REPORT */
    /* After LOAD_FAIL: fills `err` and returns false. */
    bool (*fault)(const struct load *l, void *rank, struct wr_err *err);
    /* "line:column" or the like, for messages. NULL: places have no names. */
    void (*where)(const struct load *l, uint32_t where, char *buf, size_t n);
    /* Serialise the output of the ranks with mine[rank] for a process that did not execute them;
     * take() reads it there, once, before finish(). NULL: there is none. */
    void (*pack)(const struct load *l, const bool *mine, struct wr_bytes *out);
    void (*take)(const struct load *l, const bool *mine, struct wr_reader *in);
    /* After the last rank has ended, or the run was stopped. NULL: there is no output. */
    bool (*finish)(struct load *l, const struct load_out *out, struct wr_err *err);
    /* The tables as the language prints them. NULL: it has no such text. */
    void (*print)(const struct load *l, struct wr_str *out);
};

bool load_open(struct load *ret, const struct conf_plugin *plug, const struct load_start *how,
               struct wr_err *err);
void load_close(struct load *l);

static inline uint32_t load_group_size(const struct load_group *g)
{
    return g->n + (g->lead != LOAD_NO_RANK);
}

static inline uint32_t load_member(const struct load_group *g, uint32_t i)
{
    if (g->lead != LOAD_NO_RANK && !i--)
        return g->lead;
    uint32_t j = i < g->hole ? i : i + 1;

    return g->list ? g->list[j] : g->first + j * g->step;
}

/* The place of a rank in the group, or -1. */
int64_t load_group_index(const struct load_group *g, uint32_t rank);

/* All ranks of a job of n. */
struct load_group load_group_all(uint32_t n);

#endif
