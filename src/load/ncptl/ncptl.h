/* ncptl.h -- coNCePTuaL programs as resumable ranks.
 *
 *   text --ncptl_parse--> unit --ncptl_start(tasks, parameters)--> prog
 *                                                                   |
 *   rank 0..n-1, a few words each:   op = ncptl_next(prog, rank, &event)
 *
 * Nothing is unrolled: a rank is a program counter, its loop counters and its
 * message counters, and ncptl_next() computes the next operation from them. A
 * program of 1e9 operations on 1e5 ranks starts at once.
 *
 * The caller owns time. Before each ncptl_next() it writes the clock into
 * rank->now_ps; after NCPTL_TIMED_CHECK it also writes rank->again, the same
 * answer to every rank (a timed loop ends by a collective decision).
 *
 * A prog is shared by any number of threads, each stepping ranks of its own.
 * What ranks must look up and cannot compute (see set_priv.h) is kept once in
 * the prog, behind a lock.
 */
#ifndef LOAD_NCPTL_NCPTL_H
#define LOAD_NCPTL_NCPTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* ---- the text ---- */

struct ncptl_unit; /* a program that was parsed and checked */

struct ncptl_param {
    const char *name, *help;
    const char *longopt; /* with its dashes */
    char letter;
    int64_t def;
};

/* The text is copied. `name` stands for the file in messages. */
bool ncptl_parse(struct ncptl_unit **ret, const char *name, const char *text, size_t len,
                 struct wr_err *err);
bool ncptl_read(struct ncptl_unit **ret, const char *path, struct wr_err *err);
void ncptl_unit_close(struct ncptl_unit *u);

const char *ncptl_warnings(const struct ncptl_unit *u); /* lines, or "" */
size_t ncptl_nparams(const struct ncptl_unit *u);
struct ncptl_param ncptl_param(const struct ncptl_unit *u, size_t i);
void ncptl_usage(const struct ncptl_unit *u, struct wr_str *out);
void ncptl_format(const struct ncptl_unit *u, struct wr_str *out); /* `weir lang fmt` */

/* ---- a program ready to run; its unit must stay open as long ---- */

struct ncptl_prog;

struct ncptl_start {
    uint32_t ntasks;
    int seed;                /* of A RANDOM TASK and the RANDOM_* functions; 0: 1 */
    const char *const *args; /* the program's own options, as on a command line */
    size_t nargs;
};

bool ncptl_start(struct ncptl_prog **ret, const struct ncptl_unit *u, const struct ncptl_start *how,
                 struct wr_err *err);
void ncptl_close(struct ncptl_prog *p);

uint32_t ncptl_ntasks(const struct ncptl_prog *p);     /* --tasks among the options wins */
const char *ncptl_logfile(const struct ncptl_prog *p); /* --logfile, or NULL */
bool ncptl_help_wanted(const struct ncptl_prog *p);

/* ---- what a rank does ---- */

enum ncptl_op {
    NCPTL_END,     /* the program is over */
    NCPTL_FAIL,    /* it cannot go on: ncptl_fault() says why */
    NCPTL_SEND,    /* peer bytes; blocking ones are done when the buffer may be reused */
    NCPTL_RECV,    /* peer bytes */
    NCPTL_WAIT,    /* of: for what this rank began asynchronously */
    NCPTL_BARRIER, /* group */
    NCPTL_MCAST,   /* peer (the root) bytes, to group (never holds the root) */
    NCPTL_REDUCE,  /* bytes, from group to targets */
    NCPTL_COMPUTE, /* nsecs */
    NCPTL_SLEEP,   /* nsecs */
    NCPTL_TOUCH,   /* bytes (of the region) word count stride */
    NCPTL_OPEN,    /* file mode */
    NCPTL_CLOSE,   /* file */
    NCPTL_WRITE,   /* file bytes offset; NCPTL_F_COLL: group */
    NCPTL_READ,    /* file bytes offset; NCPTL_F_COLL: group */
    NCPTL_FLUSH,   /* file */
    NCPTL_OUTPUT,  /* ncptl_text() */
    NCPTL_BACKEND, /* ncptl_text() */
    NCPTL_LOG,     /* ncptl_log_value() for each column */
    NCPTL_AGGREGATE,
    NCPTL_RESET,
    NCPTL_STORE,
    NCPTL_RESTORE,
    NCPTL_TIMED_BEGIN, /* nsecs: how long to repeat */
    NCPTL_TIMED_CHECK, /* nsecs: end of an iteration; answer in rank->again */
    NCPTL_TIMED_END,
    NCPTL_NOPS,
};

const char *ncptl_op_name(enum ncptl_op op); /* as in event dumps: "SEND" */

enum {
    NCPTL_F_ASYNC = 1 << 0,
    NCPTL_F_WARMUP = 1 << 1,
    NCPTL_F_UNSUSP = 1 << 2,
    NCPTL_F_UNIQUE = 1 << 3,
    NCPTL_F_TOUCH = 1 << 4,
    NCPTL_F_VERIFY = 1 << 5,
    NCPTL_F_ALIGN = 1 << 6,    /* `align` is set */
    NCPTL_F_MISALIGN = 1 << 7, /* `align` is set */
    NCPTL_F_OFS = 1 << 8,      /* `ofs` is set */
    NCPTL_F_BUF = 1 << 9,      /* `buf` is set */
    NCPTL_F_TAG = 1 << 10,     /* `tag` is not 0 */
    NCPTL_F_COLL = 1 << 11,
    NCPTL_F_TIMED = 1 << 12,   /* the text depends on elapsed_usecs */
    NCPTL_F_RANDOM = 1 << 13,  /* TOUCH with random stride */
    NCPTL_F_BUFFERS = 1 << 14, /* TOUCH of message buffers, not of a region */
};

/* A set of processors in ascending order. Member i is
 *     list ? list[j] : first + j * step,   j = i < hole ? i : i + 1
 * The list lives until the rank's next ncptl_next(). */
struct ncptl_group {
    uint32_t n, first, step, hole;
    const uint32_t *list;
    uint64_t key; /* equal sets have equal keys */
};

static inline uint32_t ncptl_member(const struct ncptl_group *g, uint32_t i)
{
    uint32_t j = i < g->hole ? i : i + 1;

    return g->list ? g->list[j] : g->first + j * g->step;
}

/* The place of a processor in the group, or -1. */
int64_t ncptl_group_index(const struct ncptl_group *g, uint32_t proc);

enum { NCPTL_MODE_ANY, NCPTL_MODE_READ, NCPTL_MODE_WRITE };

/* What AWAITS COMPLETION waits for. */
enum { NCPTL_SENDS = 1, NCPTL_RECVS = 2, NCPTL_IOS = 4, NCPTL_EVERYTHING = 7 };

/* Only the fields that the operation names above are set, and `flags`, `stmt`. */
struct ncptl_event {
    enum ncptl_op op;
    uint32_t flags;
    uint32_t peer;
    uint32_t stmt; /* where in the program; the same on every rank */
    int64_t bytes;
    int64_t tag;          /* 0 without NCPTL_F_TAG */
    const char *tag_text; /* a tag given as a string (`tag` is its hash), or NULL */
    int64_t nsecs;
    int64_t align, ofs, buf;
    int64_t file, offset;
    uint32_t mode;
    uint32_t of; /* NCPTL_SENDS | ... */
    int64_t word, count, stride;
    uint32_t column, ncolumns; /* LOG: columns [column, column + ncolumns) */
    uint32_t table;            /* LOG, AGGREGATE: the sentence they belong to */
    struct ncptl_group group, targets;
};

struct ncptl_counters {
    uint64_t start_ps; /* when the clock of elapsed_usecs read zero */
    int64_t bytes_sent, bytes_received, msgs_sent, msgs_received;
    int64_t bytes_written, bytes_read, ios_completed;
};

/* What was begun asynchronously and not yet waited for. */
struct ncptl_pending {
    int64_t bytes_received, bytes_written, bytes_read;
    uint32_t msgs_received, ios_completed;
};

/* 8 bytes more for each changing variable and 16 for each loop around the current
 * statement: below 320 bytes for up to 10 words of them. */
struct ncptl_rank {
    uint64_t now_ps; /* written by the caller */
    double weight;   /* how many times the operation happens; 1 unless `fold` */
    bool again;      /* written by the caller after NCPTL_TIMED_CHECK */
    bool fold;       /* written by the caller before the first step: run counted loops once */

    /* The rest is the machine's own. */
    uint8_t phase, fault;
    uint32_t pc, proc, task, epoch;
    uint32_t warm;  /* how many loops around us are warming up */
    uint64_t nops;  /* operations so far */
    uint64_t draws; /* random tasks drawn so far */
    int64_t cur, left;
    const void *culprit;      /* the expression that failed */
    const struct nc_map *map; /* who runs where; NULL: task i on processor i */
    struct nc_pin *pin[3];    /* what the statement looks up, and the groups of its operation */
    struct nc_rare *rare;     /* files, stored counters; NULL: none so far */
    struct ncptl_counters counters;
    struct ncptl_pending pending;
    int64_t slot[];
};

/* Initialise all ranks of a run before the first step of any. */
size_t ncptl_rank_size(const struct ncptl_prog *p); /* bytes to give each rank */
void ncptl_rank_init(const struct ncptl_prog *p, struct ncptl_rank *r, uint32_t proc);
void ncptl_rank_fini(const struct ncptl_prog *p, struct ncptl_rank *r);

enum ncptl_op ncptl_next(const struct ncptl_prog *p, struct ncptl_rank *r, struct ncptl_event *ret);

/* After NCPTL_FAIL: fills `err` and returns false. */
bool ncptl_fault(const struct ncptl_prog *p, const struct ncptl_rank *r, struct wr_err *err);

/* The text of an OUTPUT or BACKEND operation just returned. */
bool ncptl_text(const struct ncptl_prog *p, struct ncptl_rank *r, const struct ncptl_event *ev,
                struct wr_str *out, struct wr_err *err);

/* ---- what LOGS write ---- */

enum ncptl_aggregate {
    NCPTL_ALL_DATA,
    NCPTL_ONLY,
    NCPTL_MEAN,
    NCPTL_HARMONIC_MEAN,
    NCPTL_GEOMETRIC_MEAN,
    NCPTL_MEDIAN,
    NCPTL_MAD,
    NCPTL_STDEV,
    NCPTL_VARIANCE,
    NCPTL_SUM,
    NCPTL_MINIMUM,
    NCPTL_MAXIMUM,
    NCPTL_FINAL,
    NCPTL_PERCENTILE,
    NCPTL_HISTOGRAM,
};

struct ncptl_column {
    const char *title;
    enum ncptl_aggregate aggregate;
    double param;    /* PERCENTILE */
    uint32_t table;  /* the sentence it belongs to */
    bool timed;      /* depends on elapsed_usecs */
    uint32_t source; /* byte offset in the text */
};

uint32_t ncptl_ncolumns(const struct ncptl_prog *p);
const struct ncptl_column *ncptl_column(const struct ncptl_prog *p, uint32_t i);

/* The value that a LOG operation just returned gives to one of its columns. */
bool ncptl_log_value(const struct ncptl_prog *p, struct ncptl_rank *r, uint32_t column, double *ret,
                     struct wr_err *err);

/* "line:column" of a statement, for messages; writes at most n bytes. */
void ncptl_where(const struct ncptl_prog *p, uint32_t stmt, char *buf, size_t n);

#endif
