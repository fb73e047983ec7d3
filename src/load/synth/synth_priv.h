/* synth_priv.h -- the lists of plug-ins of this module, and arithmetic that they share. */
#ifndef LOAD_SYNTH_SYNTH_PRIV_H
#define LOAD_SYNTH_SYNTH_PRIV_H

#include <stddef.h>

#include "load/synth/synth.h"

/* The tables: one line per plug-in, X(name) for synth_<table>_<name>. */
#define SYNTH_PATTERNS(X) \
    X(uniform)            \
    X(group)              \
    X(bit_complement)     \
    X(transpose)          \
    X(shift)              \
    X(hotspot)            \
    X(all_to_all)         \
    X(nearest)            \
    X(tornado)            \
    X(permutation)        \
    X(permutation_file)

#define SYNTH_INJECTS(X) \
    X(periodic)          \
    X(bernoulli)         \
    X(poisson)           \
    X(on_off)

#define SYNTH_SIZES(X) \
    X(constant)        \
    X(uniform)         \
    X(bimodal)         \
    X(list)            \
    X(lognormal)       \
    X(pareto)

#define SYNTH_DECLARE_PATTERN(n) extern const struct synth_pattern_ops synth_pattern_##n;
#define SYNTH_DECLARE_INJECT(n) extern const struct synth_inject_ops synth_inject_##n;
#define SYNTH_DECLARE_SIZE(n) extern const struct synth_size_ops synth_size_##n;
SYNTH_PATTERNS(SYNTH_DECLARE_PATTERN)
SYNTH_INJECTS(SYNTH_DECLARE_INJECT)
SYNTH_SIZES(SYNTH_DECLARE_SIZE)

enum synth_phase { SYNTH_PHASE_RANDOM, SYNTH_PHASE_LOCKSTEP };
extern const char *const synth_phase_names[];

/* ps in [0, 2^63). What is below a whole picosecond has 53 bits at most: 63 hold it, or
 * it is too small to matter. */
static inline struct synth_ps synth_ps_from(double ps)
{
    int64_t whole = (int64_t)ps;

    return (struct synth_ps){(uint64_t)whole, (uint64_t)(int64_t)((ps - (double)whole) * 0x1p63)
                                                  << 1};
}

struct synth_ps synth_ps_times(struct synth_ps t, uint64_t n);

/* Whole picoseconds of t plus what was owed; the rest is owed from now on. */
static inline uint64_t synth_ps_round(struct synth_ps t, struct synth_source *s)
{
    uint64_t carry = s->carry + t.frac;
    uint64_t gap = t.whole + (carry < s->carry);

    s->carry = carry;
    return gap;
}

/* A row that every pattern with fixed points has. */
#define SYNTH_SELF_ROW(params)                                                                   \
    {                                                                                            \
        .key = "self", .type = CONF_BOOL, .offset = offsetof(params, self), .def = "false",      \
        .help = "A node that is its own destination sends through its own router, or is silent." \
    }

/* A random node other than `self`. */
static inline uint32_t synth_other(uint32_t nnodes, uint32_t self, struct wr_rng *rng)
{
    uint32_t d = wr_rng_below(rng, nnodes - 1);

    return d + (d >= self);
}

/* A real number of bytes to a whole one above or below, with chances that keep
 * the mean. */
static inline uint64_t synth_size_round(double bytes, struct wr_rng *rng)
{
    uint64_t whole = (uint64_t)bytes;

    return whole + (wr_rng_u32(rng) * 0x1p-32 < bytes - (double)whole);
}

/* Refuse a range of sizes whose ends are swapped. */
bool synth_size_ordered(uint64_t low, uint64_t high, struct wr_err *err);

/* A uniformly random part of t, [0, t). */
uint64_t synth_ps_part(struct synth_ps t, struct wr_rng *rng);

#endif
