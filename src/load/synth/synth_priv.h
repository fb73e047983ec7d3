/* synth_priv.h -- what the plug-ins of this room share. */
#ifndef LOAD_SYNTH_SYNTH_PRIV_H
#define LOAD_SYNTH_SYNTH_PRIV_H

#include "load/synth/synth.h"

/* The tables: one line per plug-in, X(name) for synth_<table>_<name>. */
#define SYNTH_PATTERNS(X) X(uniform)

#define SYNTH_INJECTS(X) \
    X(periodic)          \
    X(bernoulli)

#define SYNTH_SIZES(X) X(constant)

#define SYNTH_DECLARE_PATTERN(n) extern const struct synth_pattern_ops synth_pattern_##n;
#define SYNTH_DECLARE_INJECT(n) extern const struct synth_inject_ops synth_inject_##n;
#define SYNTH_DECLARE_SIZE(n) extern const struct synth_size_ops synth_size_##n;
SYNTH_PATTERNS(SYNTH_DECLARE_PATTERN)
SYNTH_INJECTS(SYNTH_DECLARE_INJECT)
SYNTH_SIZES(SYNTH_DECLARE_SIZE)

enum synth_phase { SYNTH_PHASE_RANDOM, SYNTH_PHASE_LOCKSTEP };
extern const char *const synth_phase_names[];

struct synth_ps synth_ps_from(double ps);
struct synth_ps synth_ps_times(struct synth_ps t, uint64_t n);

/* Whole picoseconds of t plus what was owed; the rest is owed from now on. */
static inline uint64_t synth_ps_round(struct synth_ps t, struct synth_source *s)
{
    uint64_t carry = s->carry + t.frac;
    uint64_t gap = t.whole + (carry < s->carry);

    s->carry = carry;
    return gap;
}

/* A uniformly random part of t, [0, t). */
uint64_t synth_ps_part(struct synth_ps t, struct wr_rng *rng);

#endif
