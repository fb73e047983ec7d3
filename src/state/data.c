/* data.c -- turns series of latencies into the arrays that the recursions of state/hmm read.
 *
 * A struct state_data owns its arrays from init to fini. Steps are cut where the part of the day
 * changes; at such a cut nothing was observed (x is NaN).
 */
#include "state/data.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"

struct filler {
    struct state_data *to;
    const struct state_data_opts *opts;
    size_t cap;
};

static void data_put(struct filler *f, double x, double dt, uint8_t block)
{
    struct state_data *d = f->to;
    size_t at = d->data.n++;

    if (at >= f->cap) {
        f->cap = f->cap ? 2 * f->cap : 1024;
        d->x = wr_realloc(d->x, f->cap, sizeof *d->x);
        d->dt = wr_realloc(d->dt, f->cap, sizeof *d->dt);
        d->block = wr_realloc(d->block, f->cap, 1);
    }
    d->x[at] = x;
    d->dt[at] = dt;
    d->block[at] = block;
}

static double data_part_length(const struct state_data_opts *o)
{
    return (double)HMM_DAY_S / o->nblocks;
}

static uint8_t data_block_of(const struct state_data_opts *o, double t)
{
    assert(o->nblocks >= 1 && o->nblocks <= HMM_BLOCKS);
    double day = fmod(t + o->day_offset_s, HMM_DAY_S);

    return (uint8_t)wr_index((day < 0 ? day + HMM_DAY_S : day) / data_part_length(o),
                             (size_t)o->nblocks - 1);
}

/* A step that crosses a boundary between parts of the day is cut there; nothing is seen at the
 * cut. Steps of many days would be cut thousands of times: beyond this, the rest of the
 * step has the rates of the part that it begins in. */
enum { MOST_CUTS = 4096 };

static void data_put_step(struct filler *f, double from, double to, double x)
{
    const struct state_data_opts *o = f->opts;

    for (int cuts = 0; o->nblocks > 1 && cuts < MOST_CUTS; cuts++) {
        double len = data_part_length(o);
        double next = (floor((from + o->day_offset_s) / len) + 1) * len - o->day_offset_s;

        if (!(next > from) || next >= to)
            break;
        data_put(f, NAN, next - from, data_block_of(o, from));
        from = next;
    }
    data_put(f, x, to - from, o->nblocks > 1 ? data_block_of(o, from) : 0);
}

/* The bounds of a rounded value. The lowest values could reach 0, whose logarithm does not end. */
static void data_set_bounds(struct state_data *d, double width)
{
    size_t n = d->data.n;

    d->lo = wr_alloc((n + 1) * sizeof *d->lo);
    d->hi = wr_alloc((n + 1) * sizeof *d->hi);
    for (size_t i = 0; i < n; i++) {
        double y = exp(d->x[i]);

        d->lo[i] = isnan(y) ? NAN : log(fmax(y - width / 2, y / 16));
        d->hi[i] = isnan(y) ? NAN : log(y + width / 2);
    }
}

void state_data_init(struct state_data *ret, const struct state_series *s, size_t nseries,
                     const struct state_data_opts *opts)
{
    struct state_data_opts o = *opts;
    struct filler f = {.to = ret, .opts = &o};

    o.nblocks = o.nblocks > 1 ? o.nblocks : 1;
    memset(ret, 0, sizeof *ret);
    for (size_t k = 0; k < nseries; k++)
        for (size_t i = 0; i < s[k].n; i++) {
            double x = log(s[k].latency[i]);

            ret->data.jacobian -= x;
            ret->seen++;
            if (i)
                data_put_step(&f, s[k].t[i - 1], s[k].t[i], x);
            else
                data_put(&f, x, -1, data_block_of(&o, s[k].t[0]));
        }
    if (o.rounding_s > 0)
        data_set_bounds(ret, o.rounding_s);
    ret->data.x = ret->x;
    ret->data.dt = ret->dt;
    ret->data.lo = ret->lo;
    ret->data.hi = ret->hi;
    ret->data.block = o.nblocks > 1 ? ret->block : NULL;
}

void state_data_fini(struct state_data *d)
{
    free(d->x);
    free(d->dt);
    free(d->lo);
    free(d->hi);
    free(d->block);
    memset(d, 0, sizeof *d);
}
