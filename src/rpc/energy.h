/* energy.h -- what the processors' packages used, through the kernel's powercap where it lets us.
 */
#ifndef RPC_ENERGY_H
#define RPC_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

enum { RPC_PACKAGES = 16 };

struct rpc_energy {
    uint32_t npackages;
    struct {
        char path[300];
        uint64_t range_uj; /* a counter goes up to here and begins again at 0 */
        uint64_t last_uj;
    } package[RPC_PACKAGES];
    double joules; /* since it was opened */
};

/* `root`: as /sys/class/powercap. False: nothing to read there. */
bool rpc_energy_open(struct rpc_energy *ret, const char *root);
/* Joules since it was opened. To be asked at least once a minute. */
double rpc_energy_read(struct rpc_energy *e);

#endif
