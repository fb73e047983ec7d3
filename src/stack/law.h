/* law.h -- how long a state takes.
 *
 *   constant + per_byte * x                      a state's own work, and its waiting
 *   ... + per_byte_after * (x - knee)            beyond the knee, where there is one
 *   p0 + p1 X + p2 X^2 + ...                     the published equations, X in GiB
 *
 * x are the bytes of the operation, or of the file when the operation moves none. All but the
 * polynomials only grow; a time is never negative. Laws come from a file beside the machines, so
 * the same machines can be asked how they behave with the times of another place. A flow's law
 * holds where `at` says; elsewhere the flows share the network as engine.h tells.
 */
#ifndef STACK_LAW_H
#define STACK_LAW_H

#include "stack/fs.h"

enum { STACK_POLY = 5 };

struct stack_law {
    bool given, poly;
    double constant_ns, per_byte_ns;
    double knee_b, after_ns; /* knee_b 0: none */
    double term[STACK_POLY]; /* seconds per GiB^i */
    double most_x; /* GiB up to which a curve was measured; beyond, it stays as it is there */
};

/* Of ten samples eight took between these times what the laws say; high 0: nobody knows. */
struct stack_band {
    double low, high;
};

/* Laws without one say that nothing is ever longer or shorter than told. */
static inline bool stack_band_known(struct stack_band b)
{
    return b.high > 0 && b.high > b.low;
}

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

struct stack_laws {
    const char *name, *title, *source;
    struct conf *conf;
    struct stack_laws_file *file;
    uint32_t servers, clients; /* where flows were measured */
    uint32_t medium;
    double latency_ns, ns_per_b; /* of the network */
    uint64_t buffer_b[2];        /* [reading, writing] bytes of a flow that sockets may have */
    double buffer_part;          /* and what part of it at most */
    double queue_ns[2];          /* [reading, writing] a message waits behind data on a link */
    bool queues;                 /* one of them is not 0 */
    double between_ns[2];        /* [client, server] from one state to the next */
    double stagger_ns[2];  /* [reading, writing] from the first process's first access after an open
                            * to the last one's */
    uint64_t from_b, to_b; /* sizes per process that were measured; 0: none were */
    struct stack_band io;  /* reads and writes */
    struct stack_law *exec[2], *wait[2]; /* [0 reading, 1 writing][states]; stack_way */
    struct stack_law *total[2];          /* [machines] a whole activity takes at least so long */
    struct stack_band *band[3];          /* [reads, writes, neither][machines] whole activities */
    double
        *stretch; /* [machines] clients wait, servers work and wait, so many times longer; 0: not */
    bool *assumed; /* [states] nobody measured it */
    WR_VEC(struct stack_function) function;
    WR_VEC(uint16_t) missing; /* states that take time and have no law: they take none */
};

/* `name` is shipped for this file system ("pvfs2-published" is "published" there), or a file. */
bool stack_laws_open(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                     struct wr_err *err);
bool stack_laws_open_text(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                          const char *text, size_t len, struct wr_err *err);
void stack_laws_close(struct stack_laws *laws);
const struct stack_shipped *stack_shipped_laws(void);

/* A run that differs from what is told as measured ones do (vary.c); of laws without a band there
 * is none. */
bool stack_laws_vary(struct stack_laws *laws, const struct stack_fs *fs, uint64_t seed,
                     struct wr_err *err);

/* `all_b`: of all processes together, for polynomials. */
uint64_t stack_law_ns(const struct stack_law *law, double x_b, double all_b);

/* By name or file; NULL or "": the default ones. */
bool stack_laws_for(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                    struct wr_err *err);

/* What says "not measured" of itself is not. */
bool stack_laws_measured(const struct stack_laws *laws);
/* Nor is a state that says it is assumed, in laws that are. */
bool stack_state_measured(const struct stack_laws *laws, uint16_t state);

static inline uint64_t stack_ns(double ns)
{
    return !(ns > 0) ? 0 : ns >= 9e18 ? (uint64_t)9e18 : (uint64_t)(ns + 0.5);
}

#endif
