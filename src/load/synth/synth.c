/* synth.c -- opens patterns, injection processes and size distributions; exact times.
 *
 * The lists of plug-ins are in synth_priv.h. What is opened here is read-only afterwards: all state
 * of a node is in its struct synth_source.
 */
#include "load/synth/synth.h"

#include <assert.h>
#include <stddef.h>

#include "synth_priv.h"

#define PATTERN_KIND(n) &synth_pattern_##n.kind,
#define INJECT_KIND(n) &synth_inject_##n.kind,
#define SIZE_KIND(n) &synth_size_##n.kind,

const struct conf_kind *const synth_pattern_kinds[] = {SYNTH_PATTERNS(PATTERN_KIND) NULL};
const struct conf_kind *const synth_inject_kinds[] = {SYNTH_INJECTS(INJECT_KIND) NULL};
const struct conf_kind *const synth_size_kinds[] = {SYNTH_SIZES(SIZE_KIND) NULL};

const char *const synth_phase_names[] = {
    [SYNTH_PHASE_RANDOM] = "random", [SYNTH_PHASE_LOCKSTEP] = "lockstep", NULL};

enum { SYNTH_PURPOSE = 0x73796e30 }; /* "syn0": the stream of a node's traffic */

struct synth_ps synth_ps_times(struct synth_ps t, uint64_t n)
{
    unsigned __int128 frac = (unsigned __int128)t.frac * n;

    return (struct synth_ps){t.whole * n + (uint64_t)(frac >> 64), (uint64_t)frac};
}

uint64_t synth_ps_part(struct synth_ps t, struct wr_rng *rng)
{
    return (uint64_t)(((unsigned __int128)t.whole * wr_rng_u64(rng)) >> 64);
}

bool synth_pattern_open(struct synth_pattern *ret, const struct conf_plugin *plug,
                        const struct synth_pattern *shape, struct wr_err *err)
{
    assert(plug->kind && shape);
    struct synth_pattern p = *shape;

    p.ops = (const struct synth_pattern_ops *)plug->kind;
    p.params = plug->params;
    p.priv = NULL;
    if (!p.ngroups)
        p.ngroups = 1;
    if (!p.nnodes)
        return wr_fail(err, WR_INPUT, "pattern %s: no nodes; give the machine at least two",
                       p.ops->kind.name);
    if (!p.ops->init(&p, err))
        return wr_wrap(err, "pattern %s", p.ops->kind.name);
    *ret = p;
    return true;
}

void synth_pattern_close(struct synth_pattern *p)
{
    if (p->ops && p->ops->fini)
        p->ops->fini(p);
    *p = (struct synth_pattern){0};
}

/* An hour between two messages keeps every gap, even the rarest, far from
 * the end of 64 bits. */
static const double max_gap_ps = 3.6e15;

bool synth_inject_open(struct synth_inject *ret, const struct conf_plugin *plug, double mean_ps,
                       double slot_ps, struct wr_err *err)
{
    struct synth_inject in = {.ops = (const struct synth_inject_ops *)plug->kind,
                              .params = plug->params,
                              .mean_ps = mean_ps};

    assert(plug->kind);
    if (!(mean_ps >= 1 && mean_ps <= max_gap_ps))
        return wr_fail(err, WR_INPUT,
                       "injection %s: a mean gap of %g ps between messages is outside 1 ps .. 1 h; "
                       "change the load or the message size",
                       in.ops->kind.name, mean_ps);
    if (!(slot_ps >= 1 && slot_ps <= max_gap_ps))
        return wr_fail(err, WR_INPUT,
                       "injection %s: a packet time of %g ps is outside 1 ps .. 1 h; "
                       "change the packet size or the bandwidth",
                       in.ops->kind.name, slot_ps);
    in.gap = synth_ps_from(mean_ps);
    in.slot = synth_ps_from(slot_ps);
    if (in.ops->init && !in.ops->init(&in, err))
        return wr_wrap(err, "injection %s", in.ops->kind.name);
    *ret = in;
    return true;
}

bool synth_size_open(struct synth_size *ret, const struct conf_plugin *plug, struct wr_err *err)
{
    struct synth_size z = {.ops = (const struct synth_size_ops *)plug->kind,
                           .params = plug->params};

    assert(plug->kind);
    if (!z.ops->init(&z, err))
        return wr_wrap(err, "message size %s", z.ops->kind.name);
    *ret = z;
    return true;
}

void synth_size_close(struct synth_size *z)
{
    if (z->ops && z->ops->fini)
        z->ops->fini(z);
    *z = (struct synth_size){0};
}

bool synth_size_ordered(uint64_t low, uint64_t high, struct wr_err *err)
{
    if (low > high)
        return wr_fail(err, WR_INPUT,
                       "the smallest size, %llu B, is above the largest, %llu B; swap them",
                       (unsigned long long)low, (unsigned long long)high);
    return true;
}

double synth_mean_gap_ps(double load, double mean_bytes, double rate)
{
    assert(load > 0 && mean_bytes > 0 && rate > 0);
    return mean_bytes / (load * rate) * 1e12;
}

void synth_source_init(struct synth_source *s, uint64_t seed, uint32_t node)
{
    *s = (struct synth_source){0};
    wr_rng_init(&s->rng, seed, node, SYNTH_PURPOSE);
}
