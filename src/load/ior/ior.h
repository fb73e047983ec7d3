/* ior.h -- command lines of the IOR benchmark as what they make each rank do.
 *
 *   "ior -a MPIIO -b 205m -t 1m -F -s 4" --ior_parse--> test --> next operation of a rank
 *
 * A segment is a block of every task one after another; a block is written or read in
 * transfers. Of transfer j of segment i, the offset is
 *     i*b + j*t                 in a file per task
 *     i*N*b + r*b + j*t         in a shared file, r = (rank + shift) mod N
 * docs/models/ior.md says what is and what is not as in IOR.
 */
#ifndef LOAD_IOR_IOR_H
#define LOAD_IOR_IOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { IOR_NAME_MAX = 256 };

struct ior_test {
    char api[16];            /* in capitals */
    char file[IOR_NAME_MAX]; /* -o */
    int64_t block, transfer; /* -b -t */
    int64_t segments, reps;  /* -s -i */
    int64_t tasks;           /* -N; 0: all there are */
    int64_t delay_s;         /* -d: seconds between repetitions */
    int64_t deadline_s;      /* -D: a phase begins no transfer after so many seconds */
    int64_t least_s;         /* minTimeDuration: a phase begins again until then */
    int64_t most_min;        /* -T: kept and not obeyed */
    int64_t task_offset;     /* -Q */
    int64_t seed;            /* -X */
    int64_t offset_seed;     /* --random-offset-seed: of -z; -1: none was given */
    int64_t stamp;           /* -G: what a later check knows the data by */
    bool file_per_task;      /* -F */
    bool collective;         /* -c */
    bool reorder;            /* -C */
    bool reorder_random;     /* -Z */
    bool random_offset;      /* -z */
    bool multi_file;         /* -m */
    bool barriers;           /* -g */
    bool shared_pointer;     /* -P: refused, as IOR does */
    bool file_view;          /* -V: as IOR uses it, it touches the same bytes */
    bool fsync, fsync_each;  /* -e -Y */
    bool existing, keep;     /* -E -k */
    bool write, read, check_write, check_read; /* -w -r -W -R */
    struct wr_str notes;                       /* lines: what IOR would warn about */
};

/* Words separated by blanks, quotes as in a shell; the first may be the program's name. On
 * success free with ior_fini. `ntasks` is how many ranks there are. */
bool ior_parse(struct ior_test *ret, const char *command, uint32_t ntasks, struct wr_err *err);
void ior_fini(struct ior_test *t);

enum ior_op {
    IOR_END,
    IOR_BARRIER, /* of the first `tasks` ranks */
    IOR_OPEN,    /* file, writes */
    IOR_WRITE,   /* file bytes offset */
    IOR_READ,    /* file bytes offset */
    IOR_FLUSH,   /* file */
    IOR_CLOSE,   /* file */
    IOR_SLEEP,   /* seconds */
    IOR_MARK,    /* mark: a phase has ended */
};

struct ior_event {
    enum ior_op op;
    bool writes;
    bool together; /* with all tasks; IOR says so for the whole test (-c) */
    int64_t file;
    uint64_t bytes, offset, seconds;
    uint32_t mark;
};

/* How ranks lie on nodes, for -C: a reader takes what the next node wrote. */
struct ior_where {
    uint32_t ntasks;   /* of the test */
    uint32_t per_node; /* ranks of a node, neighbours in number; 1: they are dealt in turn */
    uint64_t seed;
};

struct ior_rank {
    uint32_t rank, as; /* as: the rank whose data this phase accesses */
    uint8_t phase, step;
    bool flush_next, began;
    uint32_t mark;
    int64_t rep, segment, transfer;
    uint64_t t_start_ps; /* of the phase's transfers */
    uint64_t t_pass_ps;  /* when they began again */
};

void ior_rank_init(struct ior_rank *r, uint32_t rank);
enum ior_op ior_next(const struct ior_test *t, const struct ior_where *w, struct ior_rank *r,
                     uint64_t now_ps, struct ior_event *ret);

/* The lines that IOR prints about its options. */
void ior_describe(const struct ior_test *t, const struct ior_where *w, struct wr_str *out);

#endif
