/* synth.h -- synthetic traffic: destination, time and size of each message.
 *
 * Three independent decisions, each a table of plug-ins, none of which knows a
 * network:
 *
 *   pattern   src, nth message -> destination     uniform, group, transpose, ...
 *   inject    mean gap         -> gap to the next periodic, poisson, ...
 *   size                       -> bytes           constant, lognormal, ...
 *
 * What a node remembers is struct synth_source, one cache line. All of a node's
 * randomness comes from its own stream, so its traffic depends on the seed and
 * on the node alone, not on the order of calls.
 *
 *   for each node            synth_source_init(&s, seed, node);
 *   at the start, and when   m = synth_next(&traffic, &s, node);
 *   a message has been sent  wait m.gap_ps, then send m.bytes to m.dest
 *
 * Everything opened here is read-only afterwards: any thread may use it.
 */
#ifndef LOAD_SYNTH_SYNTH_H
#define LOAD_SYNTH_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "conf/conf.h"

/* What a pattern returns when a node has no destination this time: the node sends
 * nothing. A destination equal to the source is a real message, from
 * a node through its own router back to itself. */
#define SYNTH_SKIP UINT32_MAX

/* A time in picoseconds, exact to 2^-64: gaps are whole picoseconds, and what a
 * gap rounds away is owed to the next one, so that rates never drift. */
struct synth_ps {
    uint64_t whole, frac; /* frac counts 2^-64 ps */
};

struct synth_source {
    struct wr_rng rng;
    uint64_t nth;   /* messages asked for so far */
    uint64_t carry; /* what is owed to the next gap, in 2^-64 ps */
};

struct synth_pattern {
    const struct synth_pattern_ops *ops;
    const void *params;
    uint32_t nnodes;       /* nodes are 0..nnodes-1 */
    uint32_t ngroups;      /* at least 1 */
    const uint32_t *group; /* [nnodes], or NULL: all in group 0; the caller's */
    uint64_t seed;         /* for what a pattern draws once, for all nodes */
    void *priv;
};

struct synth_pattern_ops {
    struct conf_kind kind; /* first, so that a kind leads back to its table entry */
    /* Accept the machine (set priv) or refuse with a reason and what would do. */
    bool (*init)(struct synth_pattern *p, struct wr_err *err);
    void (*fini)(struct synth_pattern *p); /* priv only; may be NULL */
    /* Where the nth (0, 1, ...) message of `src` goes: a node or SYNTH_SKIP. */
    uint32_t (*dest)(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng, uint64_t nth);
};

struct synth_inject {
    const struct synth_inject_ops *ops;
    const void *params;
    double mean_ps;       /* mean gap between two messages of a node */
    struct synth_ps gap;  /* the same, exact */
    struct synth_ps slot; /* the time of a packet on the injection link */
    double own[4];        /* the process's constants, computed once */
};

struct synth_inject_ops {
    struct conf_kind kind;
    bool (*init)(struct synth_inject *in, struct wr_err *err); /* may be NULL */
    /* Picoseconds from the previous message of this node to its next, or, when
     * s->nth is 0, from the start to its first. */
    uint64_t (*gap)(const struct synth_inject *in, struct synth_source *s);
};

struct synth_size {
    const struct synth_size_ops *ops;
    const void *params;
    double mean;  /* bytes; turns a load into a gap */
    uint64_t max; /* no message is larger */
    double own[4];
    void *priv;
};

struct synth_size_ops {
    struct conf_kind kind;
    bool (*init)(struct synth_size *z, struct wr_err *err); /* sets mean and max */
    void (*fini)(struct synth_size *z);                     /* priv only; may be NULL */
    uint64_t (*draw)(const struct synth_size *z, struct wr_rng *rng);
};

/* The plug-ins of each table (SYNTH_PATTERNS, ... in synth_priv.h), for configuration rows; each
 * array ends with NULL. A kind is the first member of its operations table. */
extern const struct conf_kind *const synth_pattern_kinds[];
extern const struct conf_kind *const synth_inject_kinds[];
extern const struct conf_kind *const synth_size_kinds[];

/* `kind` and `params` as a configuration's struct conf_plugin holds them; both
 * must outlive what is opened. `shape` gives nnodes, ngroups, group and seed. */
bool synth_pattern_open(struct synth_pattern *ret, const struct conf_plugin *plug,
                        const struct synth_pattern *shape, struct wr_err *err);
void synth_pattern_close(struct synth_pattern *p);

/* `slot_ps`: the time of one packet on the injection link. */
bool synth_inject_open(struct synth_inject *ret, const struct conf_plugin *plug, double mean_ps,
                       double slot_ps, struct wr_err *err);

bool synth_size_open(struct synth_size *ret, const struct conf_plugin *plug, struct wr_err *err);
void synth_size_close(struct synth_size *z);

/* The mean gap at which messages of `mean_bytes` load a link of `rate` bytes
 * per second to the fraction `load`. */
double synth_mean_gap_ps(double load, double mean_bytes, double rate);

void synth_source_init(struct synth_source *s, uint64_t seed, uint32_t node);

struct synth_traffic {
    struct synth_pattern pattern;
    struct synth_inject inject;
    struct synth_size size;
};

struct synth_msg {
    uint64_t gap_ps;
    uint64_t bytes;
    uint32_t dest; /* or SYNTH_SKIP: wait, then ask again */
};

static inline struct synth_msg synth_next(const struct synth_traffic *t, struct synth_source *s,
                                          uint32_t node)
{
    struct synth_msg m = {.gap_ps = t->inject.ops->gap(&t->inject, s)};

    m.bytes = t->size.ops->draw(&t->size, &s->rng);
    m.dest = t->pattern.ops->dest(&t->pattern, node, &s->rng, s->nth);
    s->nth++;
    return m;
}

#endif
