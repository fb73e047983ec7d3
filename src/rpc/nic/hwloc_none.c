/* nic/hwloc_none.c -- the build without hwloc: no NICs are known. */
#include "rpc/nic/nic.h"

bool nic_have_hwloc(void)
{
    return false;
}

bool nic_machine_open(struct nic_machine **ret, const char *xml, struct wr_err *err)
{
    (void)ret;
    (void)xml;
    return wr_fail(err, WR_INPUT,
                   "this weir was built without hwloc; install libhwloc-dev and build it again");
}
