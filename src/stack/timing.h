/* timing.h -- how long a state takes.
 *
 *   constant + per_byte * x                      a state's own work, and its waiting
 *   ... + per_byte_after * (x - knee)            beyond the knee, where there is one
 *   constant + a line through points             pieces with rates of their own
 *   p0 + p1 X + p2 X^2 + ...                     the published equations, X in GiB
 *
 * x are the bytes of the operation, or of the file when the operation moves none. All but the
 * polynomials only grow; a time is never negative. Timing models come from a file beside the
 * machines, so the same machines can be asked how they behave with the times of another place. A
 * flow's timing model holds where `at` says; elsewhere the flows share the network as in
 * stack_engine.h.
 */
#ifndef STACK_TIMING_H
#define STACK_TIMING_H

#include "stack/fs.h"

enum { STACK_POLY = 5, STACK_PIECES = 16 };

struct stack_timing {
    bool given, poly;
    double constant_ns, per_byte_ns;
    double per_message_ns;   /* of a state that sends: for each message */
    double knee_b, after_ns; /* knee_b 0: none */
    uint32_t pieces;         /* instead of per_byte_ns: from 0 through these points, the last on */
    double piece_b[STACK_PIECES], piece_ns[STACK_PIECES];
    double term[STACK_POLY]; /* seconds per GiB^i */
    double most_x; /* GiB up to which a curve was measured; beyond, it stays as it is there */
};

/* Eight of ten samples lie between `low` and `high` times the prediction; high 0: unknown. */
struct stack_band {
    double low, high;
};

/* A band of width 0 means that the timing models do not know how runs differ. */
static inline bool stack_band_known(struct stack_band b)
{
    return b.high > 0 && b.high > b.low;
}

/* What tests do: files of their own, one file, random offsets, collective calls. */
enum { STACK_OWN_FILES, STACK_ONE_FILE, STACK_RANDOM, STACK_COLLECTIVE, STACK_PATTERNS };

enum stack_medium { STACK_SWITCHED, STACK_SHARED };

/* A function of the published model, for tables. */
struct stack_function {
    const char *name;
    uint8_t cls[2]; /* of the two ways to assign it to a class */
    uint16_t state; /* or STACK_NONE: the whole of `machine` */
    uint16_t machine;
    uint8_t writes; /* 0 reading, 1 writing, 2 either */
    bool waits;     /* its waiting is meant, not its work */
};

/* The timing models of a file system's states, and of its network. Constant after opening, but for
 * stack_timings_vary(). Times are ns of doubles. */
struct stack_timings {
    const char *name, *title, *source;
    struct conf *conf;               /* of the file: places of values */
    struct stack_timings_file *file; /* the text, typed */
    uint32_t servers, clients;       /* where flows were measured: the most of each */
    uint32_t medium;                 /* enum stack_medium */
    bool alone; /* a flow's timing model is of one that has the medium for itself, its constant
                   included */
    double latency_ns, ns_per_b; /* of the network */
    uint64_t buffer_b[2];        /* [reading, writing] bytes of a flow that sockets may have */
    double buffer_part;          /* and what part of it at most */
    double queue_ns[2];          /* [reading, writing] a message waits behind data on a link */
    bool queues;                 /* one of them is not 0 */
    double parallel; /* of a shared medium: n flows together are n to this power as fast as one */
    /* [reading, writing] the first flow of a call gets so much more than the mean, the last less */
    double apart[2];
    double buffer_wait_ns;       /* between two buffers of a flow */
    bool device;                 /* servers keep data in a page cache, and beyond it on a disk */
    uint64_t cache_b;            /* of a server's page cache */
    double cache_ns, disk_ns[2]; /* of a byte; [reading, writing] */
    double between_ns[2];        /* [client, server] from one state to the next */
    double stagger_ns[2]; /* [reading, writing] from the first process's first access after an open
                           * to the last one's, with `clients` processes */
    uint32_t servers_from, clients_from;   /* the fewest of each */
    uint64_t from_b, to_b;                 /* bytes of a call that were measured; 0: none were */
    uint64_t process_from_b, process_to_b; /* and of a process */
    uint32_t patterns;                     /* a bit for each of STACK_PATTERNS that was measured */
    double trust[3];      /* mean errors at sizes, set-ups and patterns left out; 0: unknown */
    struct stack_band io; /* reads and writes */
    double together;      /* correlation of a run's reads and writes: the state it found */
    struct stack_timing *exec[2], *wait[2]; /* [0 reading, 1 writing][states]; stack_way */
    struct stack_timing *total[2];          /* [machines] a whole activity takes at least so long */
    struct stack_band *band[3]; /* [reads, writes, neither][machines] whole activities */
    /* [reading, writing][machines] factor on the waits of clients, and on the work and waits of
     * servers; 0: none */
    double *slowdown[2];
    bool *assumed;                          /* [states] its time is assumed */
    WR_VEC(struct stack_function) function; /* of the published model; none: other models */
    WR_VEC(uint16_t) missing; /* states that take time and have no timing model: they take none */
};

/* `name` is shipped for this file system ("pvfs2-published" is "published" there), or a file. */
bool stack_timings_open(struct stack_timings **ret, const struct stack_fs *fs, const char *name,
                        struct wr_err *err);
bool stack_timings_open_text(struct stack_timings **ret, const struct stack_fs *fs,
                             const char *name, const char *text, size_t len, struct wr_err *err);
void stack_timings_close(struct stack_timings *timings);
const struct stack_shipped *stack_shipped_timings(void);

/* Draws a run as different from the prediction as measured runs are (vary.c). Fails for timing
 * models without a band. */
bool stack_timings_vary(struct stack_timings *timings, const struct stack_fs *fs, uint64_t seed,
                        struct wr_err *err);

/* `all_b`: of all processes together, for polynomials. */
uint64_t stack_timing_ns(const struct stack_timing *timing, double x_b, double all_b);

/* By name or file; NULL or "": the default ones. */
bool stack_timings_for(struct stack_timings **ret, const struct stack_fs *fs, const char *name,
                       struct wr_err *err);

/* What says "not measured" of itself is not. */
bool stack_timings_measured(const struct stack_timings *timings);
/* Nor is a state that says it is assumed, in timing models that are. */
bool stack_state_measured(const struct stack_timings *timings, uint16_t state);

/* The conditions of a test, to be compared with those of the measurement. */
struct stack_requested {
    uint32_t servers, clients;
    uint64_t call_b, process_b; /* 0: unknown */
    bool one_file, random, collective;
    bool fabric; /* messages travel over a simulated fabric */
};

/* Whether measured models are asked about what they were not fitted on; adds the reasons, parted by
 * semicolons. Assumed ones were fitted on nothing: they are never extrapolated. */
bool stack_timings_beyond(const struct stack_timings *timings, const struct stack_requested *asked,
                          struct wr_str *out);

static inline uint64_t stack_ns(double ns)
{
    return !(ns > 0) ? 0 : ns >= 9e18 ? (uint64_t)9e18 : (uint64_t)(ns + 0.5);
}

#endif
