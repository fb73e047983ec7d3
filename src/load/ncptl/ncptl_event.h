/* ncptl_event.h -- what a rank does, counts and logs: the data that the interpreter and
 * compiled programs have in common.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#ifndef LOAD_NCPTL_NCPTL_EVENT_H
#define LOAD_NCPTL_NCPTL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

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

/* "(all data)", "(harm. mean)", ... */
struct wr_str;
void ncptl_aggregate_text(const struct ncptl_column *c, uint32_t part, struct wr_str *out);

#endif
