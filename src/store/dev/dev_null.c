/* dev_null.c -- a device that takes no time, to see what a system costs without its devices.
 */
#include "dev_priv.h"

static uint64_t dev_null_submit(struct dev *d, const struct dev_req *r)
{
    (void)d;
    return r->t_ps;
}

const struct dev_ops dev_model_null = {
    .kind = {.name = "null", .summary = "takes no time"},
    .in_order = true,
    .submit = dev_null_submit,
};
