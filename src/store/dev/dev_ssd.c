/* dev_ssd.c -- a flash drive of channels and ways, after Yoo et al. ("Analytical model of SSD
 * parallelism", SIMULTECH 2014).
 *
 *   host --interface--> controller --channel 0--> chip chip chip   (ways)
 *                                  --channel 1--> chip chip chip
 *
 * A request is cut in pages, which go to channel after channel, then to the next way. The
 * controller takes `issue` from one page to the next, a channel moves a page to or from a chip's
 * register in `transfer`, a chip reads in `read` and programs in `program`. T_wait is the time
 * for which a written page waits until its chip and channel are free; reads have no such term:
 *
 *   write: T = overhead + page/interface + (n-1) issue + sum T_wait + transfer (+ program)
 *   read:  T = overhead + (n-1) issue + read + transfer + page/interface
 *
 * The recurrences below give the same for idle drives and go on where requests overlap: reads
 * share the controller and the interface. With `read_wait` they wait for chips and channels, too.
 * With `write_back`, a write is done when its pages are in registers or power-safe buffers and
 * programming goes on behind; a chip that still programs makes later pages wait.
 */
#include <assert.h>

#include "base/mem.h"
#include "dev_priv.h"

enum { SSD_MOST_CHANNELS = 64, SSD_MOST_WAYS = 64 };

/* The rows below explain each; times in ps. */
struct ssd_params {
    uint32_t channels, ways;
    uint64_t page;
    double read, program, transfer, issue_read, issue_write, overhead_read, overhead_write;
    double interface;
    bool write_back, read_wait;
};

/* When each part is free; changes with every request. */
struct ssd {
    uint64_t link_ps[2], controller_ps; /* [read, write] of the link to the host */
    uint64_t programmed_ps;             /* all pages written so far are */
    uint64_t next; /* where the next written page goes: flash is written as a log */
    uint64_t channel_ps[SSD_MOST_CHANNELS];
    uint64_t chip_ps[SSD_MOST_CHANNELS * SSD_MOST_WAYS];
};

#define SSD_ROW(field_, type_, def_, min_, max_, help_)                                            \
    {                                                                                              \
        .key = #field_, .type = type_, .offset = offsetof(struct ssd_params, field_), .def = def_, \
        .min = min_, .max = max_, .help = help_                                                    \
    }
#define SSD_TIME(field_, def_, help_) \
    SSD_ROW(field_, CONF_TIME, def_, 0, DEV_LONGEST_PS / 10, help_)

static const struct conf_row ssd_rows[] = {
    SSD_ROW(channels, CONF_U32, "8", 1, SSD_MOST_CHANNELS, "Channels that work side by side."),
    SSD_ROW(ways, CONF_U32, "8", 1, SSD_MOST_WAYS, "Chips on each channel."),
    SSD_ROW(page, CONF_BYTES, "4 KiB", 512, 1048576,
            "Bytes that a chip reads or programs at once."),
    SSD_TIME(read, "80 us", "From the cells to a chip's register."),
    SSD_TIME(program, "600 us", "From a chip's register to the cells."),
    SSD_TIME(transfer, "10.24 us", "A page over a channel."),
    SSD_TIME(issue_read, "9.6 us", "The controller's time from one page read to the next."),
    SSD_TIME(issue_write, "10 us", "The controller's time from one page written to the next."),
    SSD_TIME(overhead_read, "20 us", "Before a read's first page."),
    SSD_TIME(overhead_write, "50 us", "Before a write's first page."),
    SSD_ROW(interface, CONF_RATE, "600 MB/s", DEV_SLOWEST_BPS, 1e15,
            "Rate of the link to the host."),
    SSD_ROW(write_back, CONF_BOOL, "true", 0, 0,
            "Are writes done when they are in power-safe buffers, before they are programmed?"),
    SSD_ROW(
        read_wait, CONF_BOOL, "false", 0, 0,
        "Do reads wait for chips and channels that are busy? The published equation has no such "
        "term."),
    CONF_END,
};

static bool ssd_open(struct dev *d, struct wr_err *err)
{
    assert(((const struct ssd_params *)d->params)->page > 0);
    (void)err;
    d->priv = wr_zalloc(1, sizeof(struct ssd));
    return true;
}

/* Channel after channel, then the next way. */
static uint32_t ssd_channel(const struct ssd_params *p, uint64_t page)
{
    return (uint32_t)(page % p->channels);
}

static uint64_t *ssd_chip(const struct ssd_params *p, struct ssd *s, uint64_t page)
{
    return &s->chip_ps[ssd_channel(p, page) * SSD_MOST_WAYS + page / p->channels % p->ways];
}

/* The page has come over the interface at `in`; when is it in its chip's register? */
static uint64_t ssd_write_page(const struct ssd_params *p, struct ssd *s, uint64_t in)
{
    uint64_t *chip = ssd_chip(p, s, s->next), *channel = &s->channel_ps[ssd_channel(p, s->next)];
    uint64_t start = dev_later(dev_later(in, s->controller_ps), dev_later(*channel, *chip));

    s->next++;
    s->controller_ps = start + dev_ps(p->issue_write);
    *channel = start + dev_ps(p->transfer);
    *chip = *channel + dev_ps(p->program);
    s->programmed_ps = dev_later(s->programmed_ps, *chip);
    return p->write_back ? *channel : *chip;
}

/* Asked for at `t`; when is it in the controller? */
static uint64_t ssd_read_page(const struct ssd_params *p, struct ssd *s, uint64_t page, uint64_t t)
{
    uint64_t *chip = ssd_chip(p, s, page), *channel = &s->channel_ps[ssd_channel(p, page)];
    uint64_t issue = dev_later(t, s->controller_ps);

    s->controller_ps = issue + dev_ps(p->issue_read);
    if (!p->read_wait)
        return issue + dev_ps(p->read) + dev_ps(p->transfer);
    *channel = dev_later(dev_later(issue, *chip) + dev_ps(p->read), *channel) + dev_ps(p->transfer);
    *chip = *channel;
    return *channel;
}

static uint64_t ssd_submit(struct dev *d, const struct dev_req *r)
{
    const struct ssd_params *p = d->params;
    struct ssd *s = d->priv;
    uint64_t t = r->t_ps + dev_ps(r->write ? p->overhead_write : p->overhead_read), done = t;
    uint64_t first = r->offset_b / p->page, left = r->bytes, at = r->offset_b % p->page;
    uint64_t *link = &s->link_ps[r->write];

    for (uint64_t i = 0; left; i++) {
        uint64_t piece = left < p->page - at ? left : p->page - at;
        uint64_t over = dev_span_ps(piece, p->interface);

        if (r->write) {
            *link = dev_later(*link, t) + over;
            done = dev_later(done, ssd_write_page(p, s, *link));
        } else {
            *link = dev_later(*link, ssd_read_page(p, s, first + i, t)) + over;
            done = dev_later(done, *link);
        }
        left -= piece;
        at = 0;
    }
    return done;
}

static uint64_t ssd_flush(struct dev *d, uint64_t t_ps)
{
    const struct ssd *s = d->priv;

    return dev_later(t_ps, s->programmed_ps);
}

static double ssd_interface(const struct dev *d)
{
    return ((const struct ssd_params *)d->params)->interface;
}

const struct dev_ops dev_model_ssd = {
    .kind = {.name = "ssd",
             .summary = "flash drive of channels and ways, after Yoo et al.",
             .rows = ssd_rows,
             .params_size = sizeof(struct ssd_params)},
    .open = ssd_open,
    .submit = ssd_submit,
    .flush = ssd_flush,
    .interface_bps = ssd_interface,
};
