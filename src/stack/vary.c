/* vary.c -- draws one of the runs that timing models with bands describe, instead of the median
 * run.
 *
 * Runs of one test differ mostly as wholes: the state of devices and machine makes the reads and
 * writes of a run slow together, and other load makes all its creates slow, or all its reads. So a
 * run draws its state, and then the factors by which its reads, its writes and each kind of
 * operation are longer. A drawn run is a sample: it has no band of its own. stack_job.c calls it
 * before the run.
 */
#include <assert.h>
#include <math.h>

#include "base/rng.h"
#include "stack/timing.h"

enum { RNG_VARY = 0x7661 };      /* what random numbers are for */
enum { STATE = UINT16_MAX + 1 }; /* beside the numbers of machines */

/* high / low of a band beyond which it covers two kinds of calls: from a cache, and over the
 * network. */
#define VARY_TWO_KINDS 100

static double vary_normal(uint64_t seed, uint32_t what)
{
    struct wr_rng r;

    wr_rng_init(&r, seed, what, RNG_VARY);
    return wr_rng_normal(&r);
}

/* Eight of ten draws lie in the band, one below it and one above; half of them are less than
 * predicted. `z` is normal. */
static double vary_factor(struct stack_band band, double z)
{
    static const double tenth = 1.2815515655446004; /* standard deviations from the middle */

    assert(band.low > 0 && band.high >= band.low);
    z /= tenth;
    return exp(z < 0 ? -z * log(fmin(band.low, 1)) : z * log(fmax(band.high, 1)));
}

/* Reads and writes of a run find devices and machine in one state, and differ beside that. */
static double vary_draw_data(const struct stack_timings *l, uint64_t seed, uint32_t writes)
{
    assert(l->together >= 0 && l->together <= 1);
    return vary_factor(l->io, sqrt(l->together) * vary_normal(seed, STATE) +
                                  sqrt(1 - l->together) * vary_normal(seed, writes));
}

/* Whether a band describes variation. A wider one mixes calls from a cache with calls over the
 * network, and neither varies into the other. */
static bool vary_is_possible(struct stack_band band)
{
    return stack_band_known(band) && band.low > 0 && band.high < VARY_TWO_KINDS * band.low;
}

static void vary_data(struct stack_timings *l, const struct stack_fs *fs, bool writes, double by)
{
    for (size_t i = 0; i < fs->state.n; i++) {
        struct stack_timing *timing = &l->wait[writes][i];

        if (fs->state.v[i].does != STACK_FLOW)
            continue;
        timing->constant_ns *= by;
        timing->per_byte_ns *= by;
        timing->after_ns *= by;
        for (uint32_t k = 0; k < timing->pieces; k++)
            timing->piece_ns[k] *= by;
    }
}

bool stack_timings_vary(struct stack_timings *l, const struct stack_fs *fs, uint64_t seed,
                        struct wr_err *err)
{
    assert(fs);
    bool any = vary_is_possible(l->io);

    for (int w = 0; any && w < 2; w++)
        vary_data(l, fs, w, vary_draw_data(l, seed, (uint32_t)w));
    for (uint32_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *of = &fs->machine.v[m];
        struct stack_band band = l->band[2][m];

        if (of->kind != STACK_MACHINE || of->side != STACK_CLIENT || of->moves ||
            !vary_is_possible(band))
            continue;
        double by = vary_factor(band, vary_normal(seed, m + 2));

        for (int w = 0; w < 2; w++)
            l->slowdown[w][m] = (l->slowdown[w][m] > 0 ? l->slowdown[w][m] : 1) * by;
        any = true;
    }
    if (!any)
        return wr_fail(
            err, WR_INPUT,
            "%s say not how much runs differ; take timing models that `weir stack calibrate` "
            "made of several sizes",
            l->title);
    l->io = (struct stack_band){0, 0};
    for (int io = 0; io < 3; io++)
        for (size_t m = 0; m < fs->machine.n; m++)
            l->band[io][m] = (struct stack_band){0, 0};
    return true;
}
