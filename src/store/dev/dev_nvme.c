/* dev_nvme.c -- an NVMe drive: many commands at once, one link each way.
 *
 *   arrival -> a free place in the queue -> access latency -> data over the link -> done
 *                   depth of them           all overlap        one at a time, per direction
 *
 * By Little's formula a depth of n gives n / (latency + bytes / rate) requests per second until
 * the rate is reached. Reads and writes have a direction each and so may overtake one another;
 * those of one direction are done in the order in which they came.
 */
#include <assert.h>

#include "base/mem.h"
#include "dev_priv.h"

enum { NVME_MOST = 1024 };

struct nvme_params {
    uint32_t depth;
    double read_latency, write_latency, read_rate, write_rate, interface;
};

struct nvme {
    uint64_t link_ps[2];
    uint64_t place_ps[]; /* [depth], when each place is free */
};

#define NVME_ROW(field_, type_, def_, min_, max_, help_)                               \
    {                                                                                  \
        .key = #field_, .type = type_, .offset = offsetof(struct nvme_params, field_), \
        .def = def_, .min = min_, .max = max_, .help = help_                           \
    }

static const struct conf_row nvme_rows[] = {
    NVME_ROW(depth, CONF_U32, "64", 1, NVME_MOST,
             "Commands that are worked on at once; others wait."),
    NVME_ROW(read_latency, CONF_TIME, "80 us", 0, DEV_LONGEST_PS,
             "From a read command to its first byte."),
    NVME_ROW(write_latency, CONF_TIME, "15 us", 0, DEV_LONGEST_PS,
             "From a write command to its first byte."),
    NVME_ROW(read_rate, CONF_RATE, "3.2 GB/s", DEV_SLOWEST_BPS, 1e15,
             "Rate of all reads together."),
    NVME_ROW(write_rate, CONF_RATE, "1.9 GB/s", DEV_SLOWEST_BPS, 1e15,
             "Rate of all writes together."),
    NVME_ROW(interface, CONF_RATE, "3.938 GB/s", DEV_SLOWEST_BPS, 1e15,
             "Rate of the link each way; the default is PCIe 3.0 with four lanes."),
    CONF_END,
};

static bool nvme_open(struct dev *d, struct wr_err *err)
{
    const struct nvme_params *p = d->params;

    assert(p->depth > 0 && p->depth <= NVME_MOST);
    (void)err;
    d->priv = wr_zalloc(1, sizeof(struct nvme) + p->depth * sizeof(uint64_t));
    return true;
}

static uint64_t nvme_submit(struct dev *d, const struct dev_req *r)
{
    const struct nvme_params *p = d->params;
    struct nvme *s = d->priv;
    uint32_t at = 0;

    for (uint32_t i = 1; i < p->depth; i++)
        if (s->place_ps[i] < s->place_ps[at])
            at = i;
    double rate = r->write ? p->write_rate : p->read_rate;
    uint64_t ready =
        dev_later(r->t_ps, s->place_ps[at]) + dev_ps(r->write ? p->write_latency : p->read_latency);
    uint64_t done = dev_later(ready, s->link_ps[r->write]) +
                    dev_span_ps(r->bytes, rate < p->interface ? rate : p->interface);

    s->place_ps[at] = s->link_ps[r->write] = done;
    return done;
}

static double nvme_interface(const struct dev *d)
{
    return ((const struct nvme_params *)d->params)->interface;
}

const struct dev_ops dev_model_nvme = {
    .kind = {.name = "nvme",
             .summary = "NVMe drive: latencies overlap up to the queue's depth, bytes share a link",
             .rows = nvme_rows,
             .params_size = sizeof(struct nvme_params)},
    .open = nvme_open,
    .submit = nvme_submit,
    .interface_bps = nvme_interface,
};
