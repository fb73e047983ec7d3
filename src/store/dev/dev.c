/* dev.c -- the table of device models, and the calls that every device goes through.
 *
 * Checks what dev.h demands of callers: requests arrive in order of time, and a device chooses
 * among no more reads than its queue has.
 */
#include "store/dev/dev.h"

#include <assert.h>
#include <stdlib.h>

#include "dev_priv.h"

#define DEV_OPS(n) &dev_model_##n,
#define DEV_KIND(n) &dev_model_##n.kind,

const struct dev_ops *const dev_table[] = {DEVICES(DEV_OPS) NULL};
const struct conf_kind *const dev_kinds[] = {DEVICES(DEV_KIND) NULL};

bool dev_open(struct dev *ret, const struct conf_plugin *plug, uint64_t seed, uint32_t entity,
              struct wr_err *err)
{
    struct dev d = {.ops = (const struct dev_ops *)plug->kind,
                    .params = plug->params,
                    .seed = seed,
                    .entity = entity};

    assert(d.ops && d.ops->submit);
    if (d.ops->open && !d.ops->open(&d, err))
        return wr_wrap(err, "device %s", d.ops->kind.name);
    *ret = d;
    return true;
}

void dev_close(struct dev *d)
{
    free(d->priv);
    *d = (struct dev){0};
}

uint64_t dev_submit(struct dev *d, const struct dev_req *r)
{
    assert(r->t_ps >= d->last_ps);
    d->last_ps = r->t_ps;
    return d->ops->submit(d, r);
}

uint64_t dev_flush(struct dev *d, uint64_t t_ps)
{
    assert(t_ps >= d->last_ps);
    d->last_ps = t_ps;
    return d->ops->flush ? d->ops->flush(d, t_ps) : t_ps;
}

void dev_assumption(const struct dev *d, struct wr_str *out)
{
    if (d->assumed && d->ops->assumption)
        d->ops->assumption(d, out);
}

uint32_t dev_queue(const struct dev *d)
{
    return d->ops->queue ? d->ops->queue(d) : 1;
}

uint32_t dev_choose(const struct dev *d, uint64_t t_ps, const struct dev_req *waiting, uint32_t n,
                    uint64_t passed)
{
    uint64_t best = UINT64_MAX;
    uint32_t at = 0;

    assert(n && n <= dev_queue(d));
    if (passed >= 2 * (uint64_t)dev_queue(d))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ps = d->ops->reach_ps(d, t_ps, &waiting[i]);

        if (ps < best) { /* of equals the oldest */
            best = ps;
            at = i;
        }
    }
    return at;
}

uint64_t dev_interface_ps(const struct dev *d, uint64_t bytes)
{
    double bps = d->ops->interface_bps ? d->ops->interface_bps(d) : 0;

    return bps > 0 ? (uint64_t)((double)bytes / bps * 1e12) : 0;
}
