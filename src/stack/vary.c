/* vary.c -- one of the runs that laws with bands speak of, instead of the one in the middle.
 *
 * Runs of one size differ, mostly as wholes: what else the machine did then made all creates of a
 * run slow, or all its reads. So a run draws once how many times longer its reads, its writes and
 * each kind of operation take. A drawn run is a sample: it has no band of its own.
 */
#include <math.h>

#include "base/rng.h"
#include "stack/law.h"

enum { RNG_VARY = 0x7661 }; /* what random numbers are for */

/* Eight of ten draws lie in the band, one below it and one above; half of them are less than
 * told. */
static double draw(struct stack_band band, uint64_t seed, uint32_t what)
{
    static const double tenth = 1.2815515655446004; /* standard deviations from the middle */
    struct wr_rng r;

    wr_rng_init(&r, seed, what, RNG_VARY);
    double z = wr_rng_normal(&r) / tenth;

    return exp(z < 0 ? -z * log(fmin(band.low, 1)) : z * log(fmax(band.high, 1)));
}

/* A band wider than this is of calls of two kinds, from a cache and over the network: neither is
 * ever like the other. */
static bool varies(struct stack_band band)
{
    return stack_band_known(band) && band.low > 0 && band.high < 100 * band.low;
}

static void vary_data(struct stack_laws *l, const struct stack_fs *fs, bool writes, double by)
{
    for (size_t i = 0; i < fs->state.n; i++) {
        struct stack_law *law = &l->wait[writes][i];

        if (fs->state.v[i].does != STACK_FLOW)
            continue;
        law->constant_ns *= by;
        law->per_byte_ns *= by;
        law->after_ns *= by;
    }
}

bool stack_laws_vary(struct stack_laws *l, const struct stack_fs *fs, uint64_t seed,
                     struct wr_err *err)
{
    bool any = varies(l->io);

    for (int w = 0; any && w < 2; w++)
        vary_data(l, fs, w, draw(l->io, seed, (uint32_t)w));
    for (uint32_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *of = &fs->machine.v[m];
        struct stack_band band = l->band[2][m];

        if (of->kind != STACK_MACHINE || of->side != STACK_CLIENT || of->moves || !varies(band))
            continue;
        l->stretch[m] = (l->stretch[m] > 0 ? l->stretch[m] : 1) * draw(band, seed, m + 2);
        any = true;
    }
    if (!any)
        return wr_fail(err, WR_INPUT,
                       "%s say not how much runs differ; take laws that `weir stack calibrate` "
                       "made of several sizes",
                       l->title);
    l->io = (struct stack_band){0, 0};
    for (int io = 0; io < 3; io++)
        for (size_t m = 0; m < fs->machine.n; m++)
            l->band[io][m] = (struct stack_band){0, 0};
    return true;
}
