/* dev_table.c -- bandwidth, overhead and seek: three numbers and one head.
 *
 *   time = bytes / bandwidth + overhead + (seek, unless the request continues the one before)
 *
 * One request at a time, first come first served. The defaults are those of the
 * published multi-traffic study. The head starts at offset 0.
 */
#include "base/mem.h"
#include "dev_priv.h"

struct table_params {
    double bandwidth, overhead, seek;
    uint64_t slack;
};

struct table {
    uint64_t free_ps, end_b;
    double remainder_ps; /* it is free so much later: rounding does not add up */
};

static const struct conf_row table_rows[] = {
    {.key = "bandwidth",
     .type = CONF_RATE,
     .offset = offsetof(struct table_params, bandwidth),
     .def = "5700 MiB/s",
     .min = DEV_SLOWEST_BPS,
     .max = 1e15,
     .help = "Rate at which bytes are moved."},
    {.key = "overhead",
     .type = CONF_TIME,
     .offset = offsetof(struct table_params, overhead),
     .def = "20 us",
     .min = 0,
     .max = DEV_LONGEST_PS,
     .help = "Time that every request takes beside its bytes."},
    {.key = "seek",
     .type = CONF_TIME,
     .offset = offsetof(struct table_params, seek),
     .def = "2500 us",
     .min = 0,
     .max = DEV_LONGEST_PS,
     .help = "Time that a request takes in addition when it does not continue the one before."},
    {.key = "slack",
     .type = CONF_BYTES,
     .offset = offsetof(struct table_params, slack),
     .def = "512 B",
     .help = "A request continues the one before when it begins at most this far from its end."},
    CONF_END,
};

static bool dev_table_open(struct dev *d, struct wr_err *err)
{
    (void)err;
    d->priv = wr_zalloc(1, sizeof(struct table));
    return true;
}

static uint64_t dev_table_submit(struct dev *d, const struct dev_req *r)
{
    const struct table_params *p = d->params;
    struct table *s = d->priv;
    uint64_t gap = r->offset_b > s->end_b ? r->offset_b - s->end_b : s->end_b - r->offset_b;
    double ps = (double)r->bytes / p->bandwidth * 1e12 + p->overhead;

    bool seek = gap > p->slack, idle = r->t_ps > s->free_ps;
    double more = (seek ? ps + p->seek : ps) + (idle ? 0 : s->remainder_ps);

    s->free_ps = dev_later(s->free_ps, r->t_ps) + dev_ps(more);
    s->remainder_ps = more - (double)dev_ps(more);
    d->seeks += seek;
    s->end_b = r->offset_b + r->bytes;
    return s->free_ps;
}

static double dev_table_interface(const struct dev *d)
{
    return ((const struct table_params *)d->params)->bandwidth;
}

const struct dev_ops dev_model_table = {
    .kind = {.name = "table",
             .summary = "bandwidth, overhead and seek",
             .rows = table_rows,
             .params_size = sizeof(struct table_params)},
    .in_order = true,
    .open = dev_table_open,
    .submit = dev_table_submit,
    .interface_bps = dev_table_interface,
};
