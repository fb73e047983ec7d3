/* size_list.c -- a list of sizes with weights, drawn in constant time.
 *
 * Vose, "A linear algorithm for generating random numbers with a given
 * distribution", 1991: n columns of equal chance, each split between at most two
 * sizes, its own and its alias.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "synth_priv.h"

struct list_item {
    uint64_t bytes;
    double weight;
};

struct list_params {
    struct conf_list sizes; /* struct list_item */
};

struct column {
    uint64_t own, alias;
    uint64_t keep; /* below this, of 2^32, the column's own size is meant */
};

static const struct conf_row item_rows[] = {
    {"bytes", CONF_BYTES, offsetof(struct list_item, bytes), NULL, .min = 1, .max = 0x1p40,
     .help = "Size of a message."},
    {"weight", CONF_REAL, offsetof(struct list_item, weight), "1", .min = 0, .max = 1e12,
     .help = "How often, against the other weights."},
    CONF_END,
};

static const struct conf_row list_rows[] = {
    {"sizes", CONF_LIST, offsetof(struct list_params, sizes), "", .rows = item_rows,
     .size = sizeof(struct list_item), .help = "The sizes and their weights."},
    CONF_END,
};

static void size_list_fill_columns(struct column *col, const struct list_item *item, uint32_t n,
                                   double total)
{
    double *chance = wr_alloc(n * sizeof *chance);
    uint32_t *small = wr_alloc(n * sizeof *small), *large = wr_alloc(n * sizeof *large);
    uint32_t nsmall = 0, nlarge = 0;

    assert(n && total > 0);
    for (uint32_t i = 0; i < n; i++) {
        col[i] = (struct column){item[i].bytes, item[i].bytes, 1ull << 32};
        chance[i] = item[i].weight / total * n;
        if (chance[i] < 1)
            small[nsmall++] = i;
        else
            large[nlarge++] = i;
    }
    while (nsmall && nlarge) {
        uint32_t s = small[--nsmall], l = large[nlarge - 1];

        col[s].alias = item[l].bytes;
        col[s].keep = (uint64_t)llround(chance[s] * 0x1p32);
        chance[l] -= 1 - chance[s];
        if (chance[l] < 1) {
            nlarge--;
            small[nsmall++] = l;
        }
    }
    free(chance);
    free(small);
    free(large);
}

static bool size_list_init(struct synth_size *z, struct wr_err *err)
{
    const struct list_params *p = z->params;
    const struct list_item *item = p->sizes.items;
    double total = 0, sum = 0;

    for (size_t i = 0; i < p->sizes.n; i++) {
        total += item[i].weight;
        sum += item[i].weight * (double)item[i].bytes;
        if (item[i].weight > 0 && item[i].bytes > z->max)
            z->max = item[i].bytes;
    }
    if (!(total > 0))
        return wr_fail(err, WR_INPUT,
                       "no size has a weight; give for example sizes: [{bytes: 4 "
                       "KiB, weight: 1}]");
    z->mean = sum / total;
    z->priv = wr_zalloc(p->sizes.n, sizeof(struct column));
    size_list_fill_columns(z->priv, item, (uint32_t)p->sizes.n, total);
    return true;
}

static void size_list_fini(struct synth_size *z)
{
    free(z->priv);
}

static uint64_t size_list_draw(const struct synth_size *z, struct wr_rng *rng)
{
    const struct list_params *p = z->params;
    const struct column *c =
        (const struct column *)z->priv + wr_rng_below(rng, (uint32_t)p->sizes.n);

    return wr_rng_u32(rng) < c->keep ? c->own : c->alias;
}

const struct synth_size_ops synth_size_list = {
    .kind = {"list", "a list of sizes with weights", list_rows, sizeof(struct list_params)},
    .init = size_list_init,
    .fini = size_list_fini,
    .draw = size_list_draw,
};
